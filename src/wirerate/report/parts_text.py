# SPDX-License-Identifier: BSD-3-Clause
"""Lines that the reports of several commands have in common. Pure text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.placement import memory_lines, placement_lines
from wirerate.units import format_engineering, l1_bps, l2_bps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.report.view import Setup
    from wirerate.trial.cpu_lost import LcoreTime
    from wirerate.trial.result import RunResult
    from wirerate.trial.verdict import Verdict

_GIGA = 1e9
_WHOLE_FPS = 1000.0
_SHORT_S = 0.1
_REASONS_SHOWN = 20
LCORES_SHOWN = 16
"""Of more lcores than this the range is shown."""


def map_line(setup: Setup) -> str:
    """The lcore map and the memory, in a line; before it a line per port where nodes matter."""
    chosen = "" if setup.settings.lcore_map else " (chosen; -m sets it)"
    line = f"Lcore map: {setup.lcore_map}{chosen}. Memory: {setup.memory.text}."
    return "\n".join([*placement_lines(setup.placements), line])


def engine_lines(result: RunResult) -> list[str]:
    """What the engine took of the machine; with --cpu-saver in detail."""
    final = result.final
    lines = [
        (
            f"  engine          {final.cpu_ns / _GIGA:.2f} s of CPU time, "
            f"{final.resident_max_octets / (1 << 20):.0f} MiB resident at most"
        )
    ]
    if result.cpu.times:
        lines.append(f"  CPU lost        {cpu_lost_text(result.cpu.times)}")
    placements = result.ready.placements.values()
    lines += [f"  NUMA            {line}" for line in memory_lines(placements)]
    if result.ready.settings.cpu_saver_ns and result.cpu.share is not None:
        busy = "".join(
            f", lcore {lcore} busy {100 * share:.1f} %" for lcore, share in result.cpu.busy
        )
        lines.append(
            f"  CPU             {100 * result.cpu.share:.1f} % of one core by getrusage{busy}"
        )
    return lines


def cpu_lost_text(times: Sequence[LcoreTime]) -> str:
    """For what share of the time each lcore had no CPU."""
    longest_ms = 1000 * max(time.longest_s for time in times)
    if len(times) > LCORES_SHOWN:
        shares = [time.share for time in times]
        each = f"{len(times)} lcores {_percent(min(shares))} to {_percent(max(shares))}"
    else:
        each = ", ".join(f"lcore {time.lcore} {_percent(time.share)}" for time in times)
    return f"{each} of the time (longest {longest_ms:.3g} ms)"


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def load_text(fps: float | None, frame_size: float) -> str:
    """A load in frames/s and in bits/s of both layers; ``frame_size`` may be a mean."""
    if fps is None:
        return "-"
    number = f"{fps:,.0f}" if fps >= _WHOLE_FPS else f"{fps:.4g}"
    return (
        f"{number} frames/s = {format_engineering(l1_bps(fps, frame_size), 'bit/s')} at L1, "
        f"{format_engineering(l2_bps(fps, frame_size), 'bit/s')} at L2"
    )


def seconds_text(seconds: float) -> str:
    """A time with three decimals."""
    return f"{seconds:.3f} s" if seconds >= _SHORT_S else f"{1000 * seconds:.3f} ms"


def time_text(seconds: float) -> str:
    """As `3 min 2 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def verdict_lines(verdict: Verdict) -> list[str]:
    """The verdict, its reasons (not thousands of them) and notes."""
    lines = [f"Verdict: {verdict}"]
    lines += [f"  - {reason}" for reason in verdict.reasons[:_REASONS_SHOWN]]
    more = len(verdict.reasons) - _REASONS_SHOWN
    if more > 0:
        lines.append(f"  - and {more:,} more reasons: --json has all")
    return lines + [f"  note: {note}" for note in verdict.notes]
