# SPDX-License-Identifier: BSD-3-Clause
"""Asking gateways for their MAC addresses: the frames, the answers, and who stays silent."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import pytest
from scapy.layers.inet6 import (
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.utils6 import in6_getnsma, in6_getnsmac

from support.devices import EAST_MAC, routed_plan, two_hosts
from support.libpcap import offline_filter
from wirerate.errors import HostSetupError
from wirerate.plan.decode import decode_plan
from wirerate.plan.fields import Neighbor
from wirerate.plan.lcore_map import parse_maps
from wirerate.plan.neighbor_frames import Answer, answer_filter, parse_answer, request_frame
from wirerate.trial import neighbors
from wirerate.trial.neighbors import resolve_neighbors

ROUTER = "02:00:00:00:00:aa"
VLANS = [{"name": "s", "id": 7, "priority": 5}, {"name": "c", "id": 8}]
FOUR, SIX = Neighbor("d1.4", 0x0A000001), Neighbor("d1.6", 0xFD00 << 112 | 1)


def plan_of(vlans=(), **words):
    devices = two_hosts()
    devices[0]["ethernets"][0]["vlans"] = list(vlans)
    return decode_plan(routed_plan(devices, **words))


def interface_of(vlans=()):
    return plan_of(vlans).devices[0].interfaces[0]


def tags(vlans):
    stack = Ether(src=EAST_MAC)
    for vlan in vlans:
        stack /= Dot1Q(vlan=vlan["id"], prio=vlan.get("priority", 0))
    return stack


@pytest.mark.parametrize("vlans", [[], VLANS[:1], VLANS])
def test_arp_requests_are_scapys(vlans):
    interface = interface_of(vlans)
    expected = tags(vlans) / ARP(
        op="who-has", hwsrc=EAST_MAC, psrc="10.0.0.2", hwdst="00:00:00:00:00:00", pdst="10.0.0.1"
    )
    expected[Ether].dst = "ff:ff:ff:ff:ff:ff"
    frame = request_frame(interface, interface.addresses[0], FOUR.target)
    assert frame == bytes(expected).ljust(60, b"\0")


@pytest.mark.parametrize("vlans", [[], VLANS[:1], VLANS])
@pytest.mark.parametrize("target", ["fd00::1", "fe80::1:2:fffe:dcba"])
def test_neighbour_solicitations_are_scapys(vlans, target):
    interface = interface_of(vlans)
    group = in6_getnsma(socket.inet_pton(socket.AF_INET6, target))
    expected = tags(vlans) / (
        IPv6(src="fd00::2", dst=socket.inet_ntop(socket.AF_INET6, group), hlim=255)
        / ICMPv6ND_NS(tgt=target)
        / ICMPv6NDOptSrcLLAddr(lladdr=EAST_MAC)
    )
    expected[Ether].dst = in6_getnsmac(group)
    number = int(ipaddress.IPv6Address(target))
    assert request_frame(interface, interface.addresses[1], number) == bytes(expected)


def reply(vlans=(), address="10.0.0.1", op="is-at"):
    answer = ARP(op=op, hwsrc=ROUTER, psrc=address, hwdst=EAST_MAC, pdst="10.0.0.2")
    frame = tags(vlans) / answer
    frame[Ether].src, frame[Ether].dst = ROUTER, EAST_MAC
    return bytes(frame).ljust(60, b"\0")


def advertisement(vlans=(), *, option=True, hop_limit=255, chksum=None):
    body = IPv6(src="fd00::1", dst="fd00::2", hlim=hop_limit)
    body /= ICMPv6ND_NA(tgt="fd00::1", R=1, S=1, cksum=chksum)
    if option:
        body /= ICMPv6NDOptDstLLAddr(lladdr=ROUTER)
    frame = tags(vlans) / body
    frame[Ether].src, frame[Ether].dst = ROUTER, EAST_MAC
    return bytes(frame).ljust(60, b"\0")


MAC = int(ROUTER.replace(":", ""), 16)
ANSWERS = [
    (reply(), 0, Answer((), 4, FOUR.target, MAC)),
    (reply(VLANS), 2, Answer((7, 8), 4, FOUR.target, MAC)),
    (advertisement(), 0, Answer((), 6, SIX.target, MAC)),
    (advertisement(VLANS[:1]), 1, Answer((7,), 6, SIX.target, MAC)),
    (advertisement(option=False), 0, Answer((), 6, SIX.target, MAC)),
]
NO_ANSWERS = [
    (reply(op="who-has"), 0),
    (reply()[:41], 0),
    (reply(VLANS), 0),
    (reply(), 1),
    (advertisement(hop_limit=254), 0),
    (advertisement(chksum=1), 0),
    (advertisement()[:60], 0),
    (b"", 0),
    (b"", 2),
    (bytes(60), 0),
]


@pytest.mark.parametrize(("frame", "depth", "answer"), ANSWERS)
def test_answers_are_read(frame, depth, answer):
    assert parse_answer(frame, depth) == answer
    assert offline_filter(answer_filter([depth, 0]), frame)


@pytest.mark.parametrize(("frame", "depth"), NO_ANSWERS)
def test_what_is_no_answer(frame, depth):
    assert parse_answer(frame, depth) is None


@pytest.mark.parametrize("frame", [reply(op="who-has"), reply(VLANS), advertisement(VLANS[:1])])
def test_the_filter_lets_no_other_frame_pass(frame):
    assert not offline_filter(answer_filter([0]), frame)


class FakeEngine:
    """An engine whose ports hear these frames, a list for each exchange that awaits any."""

    def __init__(self, *heard):
        self.heard = list(heard)
        self.calls = []

    def call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        assert params is not None
        assert method == "ports.exchange"
        self.calls.append(params)
        awaited = params["timeout_ns"] > 1_000_000
        frames = self.heard.pop(0) if awaited and self.heard else []
        return {"frames": [frame.hex() for frame in frames], "sent": len(params["frames"])}


@pytest.fixture(autouse=True)
def short_tries(monkeypatch):
    """A try that nobody answers ends soon."""
    monkeypatch.setattr(neighbors, "TRY_NS", 20_000_000)


MAP = parse_maps(["0.0/0.1"], 2, [0])


def test_gateways_of_a_port_are_asked_until_known():
    engine = FakeEngine([reply(address="10.0.0.9")], [reply()])
    assert resolve_neighbors(engine, plan_of(), MAP) == {FOUR: MAC}
    announced, asked, again, others = engine.calls
    # What no flow needs only tells who is there.
    assert [announced["port"], announced["timeout_ns"], len(announced["frames"])] == [
        "p0",
        1_000_000,
        1,
    ]
    assert (asked["port"], asked["queue"], asked["answers"]) == ("p0", 0, 1)
    assert len(asked["frames"]) == 1
    assert again["frames"] == []
    assert (others["port"], len(others["frames"])) == ("p1", 2)


def test_an_answer_of_another_vlan_is_none():
    plan = plan_of(VLANS[:1])
    with pytest.raises(HostSetupError):
        resolve_neighbors(FakeEngine([reply()], [reply(VLANS)]), plan, MAP)
    assert resolve_neighbors(FakeEngine([reply(VLANS[:1])]), plan, MAP) == {FOUR: MAC}


def test_who_stays_silent_is_named():
    engine = FakeEngine()
    message = r"^gateway 10\.0\.0\.1 of device d1 \(port east\) did not answer ARP within .* s"
    with pytest.raises(HostSetupError, match=message):
        resolve_neighbors(engine, plan_of(), MAP)
    asked = [call for call in engine.calls if call["timeout_ns"] > 1_000_000 and call["frames"]]
    assert len(asked) == neighbors.TRIES
    six: list[dict[str, Any]] = [{"ethernet": {}}, {"ipv6": {}}]
    with pytest.raises(HostSetupError, match=r"gateway fd00::1 .* answer neighbour discovery"):
        resolve_neighbors(FakeEngine(), plan_of(packet=six), MAP)


def test_nobody_is_asked_without_devices():
    plan = decode_plan({"ports": [{"name": "a", "location": "null:a"}]})
    assert resolve_neighbors(FakeEngine(), plan, parse_maps(["0.0"], 1, [0])) == {}
