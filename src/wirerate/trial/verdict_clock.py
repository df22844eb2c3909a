# SPDX-License-Identifier: BSD-3-Clause
"""Doubts about the clocks by which everything is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirerate.trial.snapshot import Snapshot

CLOCK_ERROR_NS = 1_000_000
"""How far TSC and kernel's clock may come apart between two looks, 100 ms [ns]: a wrong idea of the
TSC's frequency stays below, a jump does not."""
TIME_JUMP_NS = 10_000_000
"""How far the time of day may be set [ns]: NTP corrects less at a time."""


def clock_reasons(snapshot: Snapshot) -> Iterator[str]:
    """The TSC was unsteady, or the time of day was set during the run."""
    error_ns = snapshot.clock_error_ns
    if error_ns > CLOCK_ERROR_NS:
        yield (
            f"clock unsteady: the TSC and the kernel's clock came {error_ns / 1e6:.3g} ms apart "
            "within a tenth of a second: rates and latencies are wrong by as much; look for a "
            "hypervisor that moves or stops this machine"
        )
    if snapshot.time_jump_ns > TIME_JUMP_NS:
        yield (
            f"the system's clock was set during the run, by {snapshot.time_jump_ns / 1e6:.3g} ms: "
            "times of captures and logs do not fit together; stop what sets it, and repeat"
        )
