# SPDX-License-Identifier: BSD-3-Clause
"""Ask for the MAC addresses of gateways, between opening the ports and loading the program.

All gateways of a port at once, up to three times, a second each. Asking tells the gateways who the
devices are, so those that no flow needs are asked too, but not waited for: what a router is to
forward to a device must not wait for it to ask. Called by `wirerate.session`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from wirerate.errors import HostSetupError
from wirerate.plan.device_flow import wanted_neighbors
from wirerate.plan.devices import interfaces_on, ip_text
from wirerate.plan.fields import Neighbor
from wirerate.plan.neighbor_frames import answer_filter, parse_answer, request_frame
from wirerate.plan.program import port_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from wirerate.plan.devices import Address, Interface
    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.model import Plan
    from wirerate.plan.neighbor_frames import Answer

TRIES = 3
TRY_NS = 1_000_000_000

_ANNOUNCED_NS = 1_000_000
"""How long an exchange waits that wants no answer."""
_PROTOCOLS = {4: "ARP", 6: "neighbour discovery"}


@dataclass(frozen=True)
class _Question:
    """An interface asks for its gateway."""

    interface: Interface
    address: Address

    @property
    def neighbor(self) -> Neighbor:
        return Neighbor(self.address.name, self.address.gateway)

    @property
    def frame(self) -> str:
        return request_frame(self.interface, self.address, self.address.gateway).hex()

    def answered_by(self, answer: Answer) -> bool:
        """It came from whom was asked, and on the same VLAN."""
        asked = (self.address.version, self.address.gateway)
        vlans = tuple(tag.id for tag in self.interface.tags)
        return (answer.version, answer.address) == asked and answer.vlans == vlans


class Caller(Protocol):
    """Whoever hands methods to the engine (`wirerate.engine.process.Engine`)."""

    def call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of a method."""


def resolve_neighbors(engine: Caller, plan: Plan, lcore_map: LcoreMap) -> dict[Neighbor, int]:
    """The MAC addresses that the flows need. Raises HostSetupError naming who did not answer."""
    wanted = {neighbor for flow in plan.flows for neighbor in wanted_neighbors(flow.packet)}
    found: dict[Neighbor, int] = {}
    for entry in lcore_map.ports:
        port = plan.ports[entry.port].name
        questions = list(_questions(plan, port))
        if questions:
            exchange = _Exchange(engine, port_name(entry.port), questions)
            found |= exchange.ask(port, wanted)
    return found


def _questions(plan: Plan, port: str) -> Iterator[_Question]:
    """What the devices of a port ask: each address its gateway."""
    for interface in interfaces_on(plan.devices, port):
        for address in interface.addresses:
            yield _Question(interface, address)


class _Exchange:
    """The questions of one port, as many as it has addresses: an exchange takes that many frames.

    ``name`` is the engine's of the port.
    """

    def __init__(self, engine: Caller, name: str, questions: Sequence[_Question]) -> None:
        self._engine = engine
        self._name = name
        self._questions = questions
        depths = {len(question.interface.tags) for question in questions}
        self._depths = sorted(depths)
        self._filter = answer_filter(depths)

    def ask(self, port: str, wanted: Collection[Neighbor]) -> dict[Neighbor, int]:
        """Ask until all that is wanted is known. Raises HostSetupError."""
        missing = [question for question in self._questions if question.neighbor in wanted]
        others = [question for question in self._questions if question.neighbor not in wanted]
        if others:
            self._call([question.frame for question in others], 1, 0)
        found: dict[Neighbor, int] = {}
        for _ in range(TRIES):
            if missing:
                found |= self._try(missing)
                missing = [question for question in missing if question.neighbor not in found]
        if missing:
            raise HostSetupError(_silence(missing, port))
        return found

    def _try(self, missing: Sequence[_Question]) -> dict[Neighbor, int]:
        """Ask once and listen for a second, or until all have answered."""
        found: dict[Neighbor, int] = {}
        frames = [question.frame for question in missing]
        deadline_ns = time.monotonic_ns() + TRY_NS
        while True:
            left_ns = deadline_ns - time.monotonic_ns()
            open_questions = [question for question in missing if question.neighbor not in found]
            if not open_questions or left_ns <= 0:
                return found
            got = self._call(frames, len(open_questions), left_ns)
            frames = []
            found |= dict(self._matched(open_questions, got))

    def _call(self, frames: Sequence[str], answers: int, timeout_ns: int) -> list[bytes]:
        params = {
            "port": self._name,
            "queue": 0,
            "frames": list(frames),
            "filter": self._filter,
            "answers": answers,
            "timeout_ns": max(timeout_ns, _ANNOUNCED_NS),
        }
        got = self._engine.call("ports.exchange", params)["frames"]
        return [bytes.fromhex(text) for text in got]

    def _matched(
        self, questions: Sequence[_Question], frames: Sequence[bytes]
    ) -> Iterator[tuple[Neighbor, int]]:
        for frame in frames:
            for depth in self._depths:
                answer = parse_answer(frame, depth)
                if answer is None:
                    continue
                for question in questions:
                    if question.answered_by(answer):
                        yield question.neighbor, answer.mac


def _silence(missing: Sequence[_Question], port: str) -> str:
    first = missing[0]
    version = first.address.version
    more = "" if len(missing) == 1 else f" (nor did {len(missing) - 1} more on this port)"
    return (
        f"gateway {ip_text(first.address.gateway, version)} of device {first.interface.device} "
        f"(port {port}) did not answer {_PROTOCOLS[version]} within "
        f"{TRIES * TRY_NS // 1_000_000_000} s{more}; check its address, the VLAN and the link, or "
        "give gateway_mac"
    )
