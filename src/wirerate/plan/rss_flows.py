# SPDX-License-Identifier: BSD-3-Clause
"""Flow sets that load the Rx queues of a device as asked: evenly, skewed, or as chance has it.

Which queue a flow goes to is known beforehand (`wirerate.plan.rss_hash`), so flows are drawn until
each queue has its share. Addresses are those set aside for benchmarks: 198.18.0.0/15 (RFC 2544
appendix C.2.2) and 2001:2::/48 (RFC 5180 section 8). Pure.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Literal

from wirerate.errors import PlanError
from wirerate.plan.rss_hash import Layer4, RssFlow
from wirerate.units import parse_ratio

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.plan.rss_hash import Rss

FLOWS_MAX = 1_000_000
_SOURCES = {4: int(IPv4Address("198.18.0.0")), 6: int(IPv6Address("2001:2::"))}
_DESTINATIONS = {4: int(IPv4Address("198.19.0.0")), 6: int(IPv6Address("2001:2:0:1::"))}
_HOSTS = (1, 65_534)
"""The low 16 bits of an address that are drawn."""
_PORTS = (1024, 65_535)
_DISCARD = 9
_FRUITLESS_MAX = 20_000
"""So many flows drawn without one that is wanted: 1 in 2,048 (the largest table) comes before."""


class SpreadKind(Enum):
    """How flows are shared out; the value is the word for it."""

    EVEN = "even"
    RANDOM = "random"
    SKEWED = "skewed"


@dataclass(frozen=True)
class Spread:
    """``share`` of the flows go to the first queue where skewed, the rest evenly to the others."""

    kind: SpreadKind
    share: float = 0.0

    def __str__(self) -> str:
        """As it is written on the command line."""
        return f"skewed:{self.share:g}" if self.kind is SpreadKind.SKEWED else self.kind.value


@dataclass(frozen=True)
class FlowKind:
    """Which packets the flows of a set have."""

    version: Literal[4, 6] = 4
    layer4: Layer4 = Layer4.UDP

    def __str__(self) -> str:
        """As `IPv4 UDP`."""
        return f"IPv{self.version} {self.layer4.name if self.layer4.value else 'without ports'}"


def parse_spread(text: str) -> Spread:
    """Read ``even``, ``random``, ``skewed:0.5``. Raises PlanError."""
    word, colon, share = text.partition(":")
    if colon and word == SpreadKind.SKEWED.value:
        return Spread(SpreadKind.SKEWED, parse_ratio(share, "--spread"))
    if text in {SpreadKind.EVEN.value, SpreadKind.RANDOM.value}:
        return Spread(SpreadKind(text))
    raise PlanError(
        f"--spread {text!r}: write even, random, or skewed:0.5 (the share of the first queue)"
    )


def shares(count: int, queues: Sequence[int], spread: Spread) -> dict[int, int]:
    """How many of ``count`` flows each queue gets; of an even share no two differ by more than one.

    Skewed: the first of ``queues`` has its share, rounded.
    """
    first = round(count * spread.share) if spread.kind is SpreadKind.SKEWED else None
    if first is None or len(queues) == 1:
        return _dealt(count, queues)
    return {queues[0]: first} | _dealt(count - first, queues[1:])


def _dealt(count: int, queues: Sequence[int]) -> dict[int, int]:
    each, left = divmod(count, len(queues))
    return {queue: each + (place < left) for place, queue in enumerate(queues)}


def flow_set(
    count: int, rss: Rss | None, kind: FlowKind, spread: Spread, seed: int
) -> list[RssFlow]:
    """``count`` different flows that a device spreads as asked over the queues in its table.

    The same seed and settings give the same flows. Raises PlanError where a queue gets none of the
    flows that can be drawn: the device does not hash such packets, or a poor key reaches only some.
    """
    drawn = _drawn(kind, random.Random(seed))  # noqa: S311 -- no secret
    if spread.kind is SpreadKind.RANDOM:
        return [next(drawn) for _ in range(count)]
    if rss is None or not rss.complete:
        raise PlanError(
            f"--spread {spread}: the device does not say how it spreads flows, so they cannot be "
            "chosen by queue; use --spread random"
        )
    wanted = shares(count, sorted(set(rss.reta)), spread)
    flows: list[RssFlow] = []
    fruitless = 0
    while len(flows) < count:
        flow = next(drawn)
        queue = rss.queue_of(rss.hash_of(flow))
        if wanted.get(queue, 0):
            wanted[queue] -= 1
            flows.append(flow)
            fruitless = 0
        else:
            fruitless += 1
        if fruitless > _FRUITLESS_MAX:
            missing = ", ".join(str(queue) for queue, left in wanted.items() if left)
            raise PlanError(
                f"--spread {spread}: no flow of {kind} goes to queue {missing} with this key, "
                "these fields and this table; change those, or use --spread random"
            )
    return flows


def _drawn(kind: FlowKind, chance: random.Random) -> Iterator[RssFlow]:
    """Flows by chance, no two alike."""
    address = IPv4Address if kind.version == 4 else IPv6Address
    source, destination = _SOURCES[kind.version], _DESTINATIONS[kind.version]
    seen = set()
    while True:
        numbers = chance.randint(*_HOSTS), chance.randint(*_HOSTS), chance.randint(*_PORTS)
        ports = (0, 0) if kind.layer4 is Layer4.NONE else (numbers[2], _DISCARD)
        flow = RssFlow(
            address(source + numbers[0]), address(destination + numbers[1]), kind.layer4, *ports
        )
        if flow not in seen:
            seen.add(flow)
            yield flow
