# SPDX-License-Identifier: BSD-3-Clause
"""Doubts about the clocks by which everything is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirerate.trial.snapshot import Snapshot

CLOCK_ERROR_NS = 1_000_000
"""How far the TSC may come away from the kernel's clock in a short run [ns]."""
CLOCK_ERROR_PPM = 200.0
"""And in a long one, in which the error of DPDK's idea of its frequency adds up [ppm]."""
TIME_JUMP_NS = 10_000_000
"""How far the time of day may be set [ns]: NTP corrects less at a time."""
_NS_PER_S = 1_000_000_000


def clock_reasons(snapshot: Snapshot) -> Iterator[str]:
    """The TSC was unsteady, or the time of day was set during the run."""
    run_ns = max(1, snapshot.now_tsc - snapshot.start_tsc) * _NS_PER_S / snapshot.tsc_hz
    error_ns = snapshot.clock_error_ns
    if error_ns > max(CLOCK_ERROR_NS, run_ns * CLOCK_ERROR_PPM / 1e6):
        yield (
            f"clock unsteady: the TSC and the kernel's clock came {error_ns / 1e6:.3g} ms apart "
            f"({1e6 * error_ns / run_ns:.3g} ppm of the run): rates and latencies are wrong by as "
            "much; look for a hypervisor that moves this machine, or a wrong TSC frequency"
        )
    if snapshot.time_jump_ns > TIME_JUMP_NS:
        yield (
            f"the system's clock was set during the run, by {snapshot.time_jump_ns / 1e6:.3g} ms: "
            "times of captures and logs do not fit together; stop what sets it, and repeat"
        )
