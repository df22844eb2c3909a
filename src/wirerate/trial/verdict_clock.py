# SPDX-License-Identifier: BSD-3-Clause
"""Doubts about the clocks by which everything is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.trial.rx_times import time_reasons

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.trial.result import PortResult
    from wirerate.trial.snapshot import Snapshot

CLOCK_STEP_NS = 1_000_000
"""How far the TSC and the kernel's raw clock may come apart in one step [ns]. The engine has taken
off what its readings' own width explains, and CLOCK_DRIFT_PPM of the time between them."""
CLOCK_DRIFT_PPM = 200
"""How far they may drift apart over the run [ppm]: a fifth of what the offered load may be off."""
CLOCK_DRIFT_NS_MIN = 20_000
"""A drift by less proves nothing [ns]: CPUs' TSCs may differ by microseconds between sockets."""
TIME_JUMP_NS = 10_000_000
"""How far the time of day may be set [ns]: NTP corrects less at a time."""


def clock_reasons(snapshot: Snapshot, ports: Sequence[PortResult] = ()) -> Iterator[str]:
    """The TSC was unsteady, the time of day was set, or two clocks timed what a port received."""
    yield from time_reasons(snapshot, ports)
    step_ns, drift_ns = snapshot.clock_error_ns, snapshot.clock_drift_ns
    watched_ns = max(1, snapshot.clock_watched_ns)
    drift_ppm = 1e6 * drift_ns / watched_ns
    if step_ns > CLOCK_STEP_NS:
        yield (
            f"clock unsteady: the TSC and the kernel's clock came {step_ns / 1e6:.3g} ms apart "
            "in one step: rates and latencies are wrong by as much; look for a "
            "hypervisor that moves or stops this machine"
        )
    elif drift_ppm > CLOCK_DRIFT_PPM and drift_ns > CLOCK_DRIFT_NS_MIN:
        yield (
            f"clock unsteady: the TSC ran {drift_ppm:,.0f} ppm off the frequency by which frames "
            f"were paced, over {watched_ns / 1e9:.3g} s of the kernel's clock: rates and latencies "
            "are wrong by as much; look for a hypervisor that moves this machine (wirerate doctor)"
        )
    if snapshot.time_jump_ns > TIME_JUMP_NS:
        yield (
            f"the system's clock was set during the run, by {snapshot.time_jump_ns / 1e6:.3g} ms: "
            "times of captures and logs do not fit together; stop what sets it, and repeat"
        )
