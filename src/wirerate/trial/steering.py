# SPDX-License-Identifier: BSD-3-Clause
"""Steering rules, tried before anybody relies on them: some drivers take rules and do nothing.

Frames that match a rule are sent before it is given and after it was taken; what tells is where
they land (docs/design/0006-descriptor-loop.md, "Steering").
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from wirerate.plan.rss_hash import Layer4, RssFlow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from ipaddress import IPv4Address, IPv6Address

    from wirerate.trial.probes import Landing, Probe

PROBES = 16
"""Frames for each rule, of different source ports: by RSS over two queues, all of them land on one
and the same by chance once in 32,768 times."""
_SOURCE_PORTS = range(1024, 65_536)


@dataclass(frozen=True)
class Rule:
    """What goes to an address, and to that port of UDP if there is one, is received on ``queue``.

    ``source`` is where probes are said to come from.
    """

    queue: int
    destination: IPv4Address | IPv6Address
    source: IPv4Address | IPv6Address
    udp_port: int | None = None

    @property
    def params(self) -> dict[str, Any]:
        """As `ports.steer` takes it."""
        params = {f"ipv{self.destination.version}_dst": str(self.destination), "queue": self.queue}
        return params if self.udp_port is None else params | {"udp_dst": self.udp_port}


class Outcome(Enum):
    """What became of a rule."""

    STEERS = "steers"
    IGNORED = "ignored"
    REFUSED = "refused"
    UNDECIDED = "undecided"
    """Its frames land on that queue without it, too, or none arrive."""


@dataclass(frozen=True)
class Steering:
    """A rule that was tried. ``reason`` is the driver's where it refused, else ours, or empty.

    ``before`` and ``after`` say how many probes landed on which queue without the rule and with it.
    """

    rule: Rule
    outcome: Outcome
    reason: str
    before: Mapping[int, int]
    after: Mapping[int, int]


def try_rules(probe: Probe, rules: Sequence[Rule]) -> list[Steering]:
    """Give the receiving port these rules, in place of all others, and see which of them steer.

    They stay; `remove_rules` takes them back. Raises EngineRefusedError.
    """
    remove_rules(probe)
    flows = [_flows(rule) for rule in rules]
    before = [_landed(probe.send(some)) for some in flows]
    said = _steer(probe, rules)
    tried = []
    for rule, some, was, accepted, reason in zip(
        rules, flows, before, said["accepted"], said["reasons"], strict=True
    ):
        now = _landed(probe.send(some)) if accepted else Counter[int]()
        outcome, why = _judged(rule, was, now) if accepted else (Outcome.REFUSED, reason)
        tried.append(Steering(rule, outcome, why, was, now))
    return tried


def remove_rules(probe: Probe) -> None:
    """Take back all rules of the receiving port. Raises EngineRefusedError."""
    _steer(probe, ())


def _steer(probe: Probe, rules: Sequence[Rule]) -> dict[str, Any]:
    params = {"port": probe.receiver["name"], "rules": [rule.params for rule in rules]}
    return probe.engine.call("ports.steer", params)


def _flows(rule: Rule) -> list[RssFlow]:
    """Flows that match a rule and differ in their source ports; the same each time."""
    chance = random.Random(rule.queue)  # noqa: S311 -- no secret
    port = 9 if rule.udp_port is None else rule.udp_port
    return [
        RssFlow(rule.source, rule.destination, Layer4.UDP, source_port, port)
        for source_port in chance.sample(_SOURCE_PORTS, PROBES)
    ]


def _landed(landings: Sequence[Landing | None]) -> Counter[int]:
    return Counter(landing.queue for landing in landings if landing is not None)


def _judged(rule: Rule, before: Counter[int], after: Counter[int]) -> tuple[Outcome, str]:
    if not before or not after:
        return Outcome.UNDECIDED, "its frames do not arrive; is the link up?"
    if set(after) != {rule.queue}:
        queues = ", ".join(str(queue) for queue in sorted(after))
        return Outcome.IGNORED, f"frames land on queue {queues}"
    if set(before) == {rule.queue}:
        return Outcome.UNDECIDED, "its frames land on that queue without it, too"
    return Outcome.STEERS, ""
