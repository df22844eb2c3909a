# SPDX-License-Identifier: BSD-3-Clause
"""Does a device spread flows as its key, fields and table say? One frame of each flow tells.

Predictions are the engine's (`rss.hash`: DPDK's own code), on what the device says of itself after
it was started. Called by `wirerate.cli.rss`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from wirerate.plan.rss_flows import flow_set
from wirerate.plan.rss_hash import Imbalance, Rss, hash_input, imbalance
from wirerate.plan.rss_settings import RECEIVER, SENDER
from wirerate.trial.probes import Probe
from wirerate.trial.steering import Rule, remove_rules, try_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.plan.rss_flows import FlowKind
    from wirerate.plan.rss_hash import RssFlow
    from wirerate.plan.rss_settings import RssSettings
    from wirerate.trial.neighbors import Caller
    from wirerate.trial.probes import Landing
    from wirerate.trial.steering import Steering

_HASHES_MAX = 65_536
"""Inputs that `rss.hash` takes at once."""
_PROBE_ADDRESSES = {
    4: ("198.18.255.1", "198.19.255.{}"),
    6: ("2001:2::ff01", "2001:2:0:1::ff{:02x}"),
}
_PROBE_PORT = 9


@dataclass(frozen=True)
class Checked:
    """A flow, where it was to go and where it went.

    ``hash`` None: the device hashes nothing of such packets. ``queue`` None: it does not say enough
    to tell. ``landing`` None: the frame never arrived.
    """

    flow: RssFlow
    hash: int | None
    queue: int | None
    landing: Landing | None

    @property
    def as_predicted(self) -> bool:
        """It arrived, on the queue that was predicted."""
        return self.landing is not None and self.landing.queue == self.queue

    @property
    def hash_differs(self) -> bool:
        """The device gave a hash, and another one."""
        return (
            self.landing is not None
            and self.landing.hash is not None
            and self.hash is not None
            and self.landing.hash != self.hash
        )


@dataclass(frozen=True)
class RssResult:
    """What came of a check; ``infos`` are the PORT_INFOs of sender and receiver.

    ``rss`` None: the device has none.
    """

    settings: RssSettings
    about: Mapping[str, Any]
    infos: tuple[Mapping[str, Any], ...]
    rss: Rss | None
    checked: tuple[Checked, ...]
    steering: tuple[Steering, ...]

    @property
    def predicted(self) -> list[int] | None:
        """Flows that each queue was to get."""
        if self.rss is None or not self.rss.complete:
            return None
        return self._by_queue(Counter(one.queue for one in self.checked))

    @property
    def observed(self) -> list[int]:
        """Flows that each queue got."""
        return self._by_queue(Counter(one.landing.queue for one in self.checked if one.landing))

    def _by_queue(self, counts: Mapping[Any, int]) -> list[int]:
        return [counts.get(queue, 0) for queue in range(self.settings.queues)]

    @property
    def lost(self) -> int:
        """Flows whose frame never arrived."""
        return sum(one.landing is None for one in self.checked)

    @property
    def misplaced(self) -> list[Checked]:
        """Flows that arrived on another queue than predicted."""
        return [one for one in self.checked if one.landing and one.landing.queue != one.queue]

    @property
    def hashes(self) -> tuple[int, int]:
        """How many hashes the device gave, and how many of them are others than predicted."""
        given = sum(
            one.landing is not None and one.landing.hash is not None for one in self.checked
        )
        return given, sum(one.hash_differs for one in self.checked)

    @property
    def passed(self) -> bool:
        """All flows arrived where predicted, with the hash predicted where there is one."""
        return (
            self.predicted is not None
            and all(one.as_predicted for one in self.checked)
            and not self.hashes[1]
        )

    def imbalances(self) -> tuple[Imbalance | None, Imbalance | None]:
        """Of what was predicted, and of what was observed."""
        predicted = self.predicted
        return None if predicted is None else imbalance(predicted), imbalance(self.observed)


def check_rss(
    engine: Caller,
    settings: RssSettings,
    about: Mapping[str, Any],
    infos: Sequence[Mapping[str, Any]],
) -> RssResult:
    """Send each flow, and try rules if asked; the ports are open. Raises PlanError, EngineError."""
    rss = Rss.of_info(infos[RECEIVER])
    flows = flow_set(settings.flows, rss, settings.kind, settings.spread, settings.seed)
    probe = Probe(engine, infos[SENDER], infos[RECEIVER])
    hashes = _hashes(engine, rss, flows)
    landings = probe.send(flows)
    checked = tuple(
        Checked(flow, hashed, _queue(rss, hashed), landing)
        for flow, hashed, landing in zip(flows, hashes, landings, strict=True)
    )
    steering: list[Steering] = []
    if settings.steer:
        steering = try_rules(probe, rules_of(settings.queues, settings.kind))
        remove_rules(probe)
    return RssResult(settings, about, tuple(infos), rss, checked, tuple(steering))


def _queue(rss: Rss | None, hashed: int | None) -> int | None:
    return None if rss is None or not rss.complete else rss.queue_of(hashed)


def _hashes(engine: Caller, rss: Rss | None, flows: Sequence[RssFlow]) -> list[int | None]:
    if rss is None or not rss.complete:
        return [None] * len(flows)
    inputs = [hash_input(flow, rss.fields) for flow in flows]
    there = [octets.hex() for octets in inputs if octets is not None]
    got: list[int] = []
    for at in range(0, len(there), _HASHES_MAX):
        params = {"key": rss.key.hex(), "inputs": there[at : at + _HASHES_MAX]}
        got += engine.call("rss.hash", params)["hashes"]
    following = iter(got)
    return [None if octets is None else next(following) for octets in inputs]


def rules_of(queues: int, kind: FlowKind) -> list[Rule]:
    """A rule for each queue: what goes to an address of its own, and the port discard there."""
    source, destination = _PROBE_ADDRESSES[kind.version]
    return [
        Rule(
            queue,
            ip_address(destination.format(queue % 254 + 1)),
            ip_address(source),
            _PROBE_PORT + queue // 254,
        )
        for queue in range(queues)
    ]
