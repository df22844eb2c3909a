# SPDX-License-Identifier: BSD-3-Clause
"""Which lcores may sleep when nothing is due (--cpu-saver).

A frame that arrives while its receiver sleeps waits: that wait would be in its latency, and the
tester cannot tell it from the device's. So who receives measured flows polls. Who only sends may
sleep: a frame gets its time stamp when it leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def sleep_ns(asked_ns: int, tasks: Iterable[Mapping[str, Any]]) -> int:
    """How long a worker with these tasks sleeps, when asked to; 0: never."""
    return 0 if any(task.get("measure") for task in tasks) else asked_ns


def awake_notes(asked_ns: int, workers: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """That workers of a program do not sleep though it was asked for."""
    awake = [str(worker["lcore"]) for worker in workers if asked_ns and not worker["sleep_ns"]]
    if not awake:
        return ()
    what, do, they = ("lcore", "does", "it receives")
    if len(awake) > 1:
        what, do, they = ("lcores", "do", "they receive")
    others = (
        "nothing is left of --cpu-saver; give receiving lcores of its own (-m)"
        if len(awake) == len(workers)
        else "those that only send do"
    )
    note = (
        f"{what} {', '.join(awake)} {do} not sleep (--cpu-saver): {they} measured flows, whose "
        f"latencies would have the sleep in them; {others}"
    )
    return (note,)


def asleep_note(asked_ns: int) -> str:
    """That workers which others measure through sleep."""
    return (
        f"lcores sleep for {format_duration_ns(asked_ns)} when no frame comes (--cpu-saver): a "
        "frame may wait as long, and who measures through here measures that, too"
    )
