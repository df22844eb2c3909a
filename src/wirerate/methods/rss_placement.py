# SPDX-License-Identifier: BSD-3-Clause
"""Which queue each flow of an RSS sweep goes to, and who sees to that. Pure.

The forwarder's device does where it has RSS; between queues that are joined one to one (memif,
vhost) the generator does, by the same hash. Source: docs/design/0008-rss-sweep.md.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from wirerate.errors import PlanError
from wirerate.methods.rss_settings import PAIRED
from wirerate.plan.rss_flows import flow_set
from wirerate.plan.rss_hash import FIELDS, Rss, imbalance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.methods.rss_figures import CellFigures
    from wirerate.methods.rss_settings import SweepSettings
    from wirerate.plan.rss_hash import RssFlow

RETA_ENTRIES = 128
"""Of the table that the generator goes by, as many devices have it."""


@dataclass(frozen=True)
class Placement:
    """Who chooses the queue of each flow for a number of queues.

    ``rss`` is by what; None or not complete: the device does not say.
    """

    queues: int
    by: Literal["generator", "device"]
    rss: Rss | None

    @property
    def sender_rss(self) -> Rss | None:
        """By what the generator chooses its Tx queue; None: it sends all on one."""
        return self.rss if self.by == "generator" else None


def generator_placement(settings: SweepSettings, queues: int) -> Placement:
    """The generator stands in for the device's RSS."""
    reta = tuple(entry % queues for entry in range(RETA_ENTRIES))
    return Placement(queues, "generator", Rss(settings.key, frozenset(FIELDS), reta))


def placement_of(
    settings: SweepSettings, queues: int, receiver: Mapping[str, Any] | None
) -> Placement:
    """Who places flows; ``receiver``: PORT_INFO of the port where a forwarder of ours receives.

    Raises PlanError where nobody can, or where the device goes by another key than the user's.
    """
    if not settings.locations or queues == 1:
        return generator_placement(settings, queues)
    rss = None if receiver is None else Rss.of_info(receiver)
    if rss is not None:
        if settings.key_given and rss.key[: len(settings.key)] != settings.key:
            raise PlanError(
                f"--key: {settings.dut_locations[0]} spreads flows by its own key, {rss.key.hex()};"
                " leave the option out"
            )
        return Placement(queues, "device", rss)
    sender = settings.locations[0]
    joined = all(location.kind in PAIRED for location in (sender, *settings.dut_locations[:1]))
    if joined:
        return generator_placement(settings, queues)
    if settings.foreign:
        return Placement(queues, "device", None)
    raise PlanError(
        f"-q {queues}: {settings.dut_locations[0]} has no RSS, and queues of {sender} are not "
        "joined one to one with its own, so that nobody can place flows on them; use -q 1, or memif"
    )


def placed_flows(settings: SweepSettings, placement: Placement) -> tuple[RssFlow, ...]:
    """The flows, chosen for the spread that is asked for. Raises PlanError where they cannot be."""
    kind, spread = settings.kind, settings.spread
    return tuple(flow_set(settings.flows, placement.rss, kind, spread, settings.seed))


def placement_document(
    settings: SweepSettings, placements: Sequence[Placement], figures: Sequence[CellFigures]
) -> dict[str, Any]:
    """``rss`` of the JSON document; ``placements``: one for each number of queues.

    ``reta`` of a device is that of the greatest number of queues.
    """
    by_device = [one for one in placements if one.by == "device"]
    found: dict[str, Any] = {"key": settings.key.hex(), "fields": list(FIELDS)}
    found["reta"] = "entry modulo queues"
    if by_device:
        rss = max(by_device, key=lambda one: one.queues).rss
        found = {"key": None, "fields": None, "reta": None}
        if rss is not None:
            found = {
                "key": rss.key.hex() or None,
                "fields": [name for name in FIELDS if name in rss.fields],
                "reta": list(rss.reta) or None,
            }
    return {
        **found,
        "spread": str(settings.spread),
        "placed_by": "device" if by_device else "generator",
        "per_queue_flows": [
            _load_of(settings, placement) | {"observed": _observed(placement.queues, figures)}
            for placement in placements
        ],
    }


def _load_of(settings: SweepSettings, placement: Placement) -> dict[str, Any]:
    """Flows of each queue as predicted; null where the device does not say how it spreads them."""
    rss = placement.rss
    if rss is None or not rss.complete:
        return {"queues": placement.queues} | dict.fromkeys(("flows", "max_over_mean", "jain"))
    counts = [0] * placement.queues
    for flow in placed_flows(settings, placement):
        counts[rss.queue_of(rss.hash_of(flow))] += 1
    uneven = imbalance(counts)
    assert uneven is not None
    return {"queues": placement.queues, "flows": counts} | asdict(uneven)


def _observed(queues: int, figures: Sequence[CellFigures]) -> list[float] | None:
    """The share of frames that each of the forwarder's queues received, by its own counters.

    Of the cell with that many queues that lost least, for loss makes shares alike; None without.
    """
    own = [one for one in figures if one.ok and one.cell.queues == queues]
    if not own:
        return None
    best = min(own, key=lambda one: min(trial.loss_ratio for trial in one.trials))
    rates = [sum(column) for column in zip(*(t.per_queue_fps for t in best.trials), strict=True)]
    total = sum(rates)
    return [rate / total for rate in rates] if total else None
