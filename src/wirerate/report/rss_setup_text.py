# SPDX-License-Identifier: BSD-3-Clause
"""What an RSS sweep says before it begins: who runs where, what joins what, how long. Pure text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.methods.rss_settings import places
from wirerate.report.parts_text import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.methods.rss_placement import Placement
    from wirerate.methods.rss_settings import SweepSettings

_OVERHEAD_S = 0.4
"""Of a trial beside its time, to begin with: loading, the lead, unloading."""


def setup_text(
    settings: SweepSettings, placements: Sequence[Placement], cells: int, done: int
) -> str:
    """All lines; ``done`` of the ``cells`` were measured before."""
    lines = [_lcores(settings, queues) for queues in settings.queues]
    if settings.locations:
        lines += [*_ports(settings), _placing(placements)]
    else:
        lines.append(
            f"Link: {settings.link.value}; the generator sends each flow on the queue that its "
            "hash selects, for the link has no RSS"
        )
    trials = (cells - done) * settings.repeats
    seconds = trials * (settings.trial_s + _OVERHEAD_S)
    kept = f", {done} done before" if done else ""
    lines.append(
        f"{cells} cells{kept}: {trials} trials of {settings.trial_s:g} s, some {time_text(seconds)}"
    )
    return "\n".join(lines)


def _lcores(settings: SweepSettings, queues: int) -> str:
    where = places(queues, settings.lcores, foreign=settings.foreign)
    head = f"{queues} queue{'s' if queues > 1 else ''}"
    if settings.foreign:
        return f"{head}: as you say, forwarder elsewhere; generator on lcore {where.generator}"
    lcores = ",".join(map(str, where.forwarder))
    shared = "; they share CPUs, so this says nothing about scaling" if where.shared else ""
    return f"{head}: forwarder on lcore {lcores}, generator on lcore {where.generator}{shared}"


def _ports(settings: SweepSettings) -> list[str]:
    """Whose ports are which."""
    sender, receiver = settings.locations[0], settings.locations[-1]
    lines = [f"Generator: sends on {sender}, receives on {receiver}"]
    if settings.foreign:
        work = f"{settings.works[0]:g} {settings.work_unit.value}" if settings.works else "not told"
        return [*lines, f"Forwarder: elsewhere, work per frame {work}; its CPU is not known"]
    dut = settings.dut_locations
    return [*lines, f"Forwarder: here, receives on {dut[0]}, sends on {dut[-1]}"]


def _placing(placements: Sequence[Placement]) -> str:
    by_device = [one for one in placements if one.by == "device"]
    if not by_device:
        return "RSS: the generator sends each flow on the queue that its hash selects"
    if by_device[0].rss is None:
        return "RSS: by the forwarder's device, which is not known; all flows are sent on one queue"
    return "RSS: by the forwarder's device, with its own key and table; flows are sent on one queue"
