# SPDX-License-Identifier: BSD-3-Clause
"""By which clock frames arrived: the host's, at their burst, or their device's own.

A device whose times are of no use is measured by the host's clock (engine/measure/rx_times.h): that
is worth a note. Some of both are figures of two clocks, and no result. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.trial.result import PortResult
    from wirerate.trial.snapshot import Port, Snapshot


def rx_clock(opened: str, port: Port) -> str:
    """`tsc`, `device`, or `mixed`; ``opened`` is what the engine said before anything arrived."""
    own, bad = _times(port)
    if bad == 0:
        return opened
    return "tsc" if own == 0 else "mixed"


def time_reasons(snapshot: Snapshot, ports: Sequence[PortResult]) -> Iterator[str]:
    """Ports whose frames were measured by two clocks."""
    for port in ports:
        counted = snapshot.port(port.plan.name)
        if rx_clock("tsc", counted) == "mixed":
            yield (
                f"{port.plan.title}: {_without_time(counted)}: their arrival is by the host's "
                "clock at the burst, that of the others by the device's, and latencies of two "
                "clocks do not go together; look for what sets the device's clock (ptp4l, phc2sys)"
            )


def time_notes(port: Port) -> Iterator[str]:
    """All by the host's clock, although the device has one."""
    own, bad = _times(port)
    if bad > 0 and own == 0:
        yield (
            f"{_without_time(port)}, so latencies end by the host's clock at the burst: its times "
            "do not follow the clock that its driver lets one read"
        )


def _times(port: Port) -> tuple[int, int]:
    own = sum(queue.own_times for queue in port.rx)
    return own, sum(queue.bad_times for queue in port.rx)


def _without_time(port: Port) -> str:
    own, bad = _times(port)
    return (
        f"{format_count(bad)} of {format_count(own + bad)} measured frames had no usable time of "
        "the device"
    )
