# SPDX-License-Identifier: BSD-3-Clause
"""Ports with addresses before the Linux kernel: it resolves and pings them, and is resolved.

The kernel at the other end of the wire checks what it gets by its own code: a reply with a wrong
checksum, hop limit or identifier never reaches its ping sockets or its table of neighbours.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from scapy.layers.inet6 import ICMPv6ND_NS, ICMPv6NDOptSrcLLAddr, IPv6
from scapy.layers.l2 import ARP, Ether

from support.host import ONE, Wire, run
from support.program import sandbox, wait_for
from wirerate.engine.eal import choose_memory, eal_arguments
from wirerate.engine.process import Engine, find_engine
from wirerate.errors import EngineRefusedError
from wirerate.plan.location import parse_location

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OURS = "02:57:52:00:00:01"
LCORE = int(ONE)
SIZES = (0, 1, 56, 1400)
ADDRESSES = (
    {"mac": OURS, "ipv4": "10.0.0.1"},
    {"mac": OURS, "ipv6": "fd00::1"},
)
PING = """
import socket, sys
address, sizes = sys.argv[1], [int(word) for word in sys.argv[2:]]
six = ":" in address
family = socket.AF_INET6 if six else socket.AF_INET
protocol = socket.IPPROTO_ICMPV6 if six else socket.IPPROTO_ICMP
ask, reply = (128, 129) if six else (8, 0)
with socket.socket(family, socket.SOCK_DGRAM, protocol) as pinging:
    pinging.settimeout(10)
    for number, size in enumerate(sizes):
        rest = bytes([0, number]) + bytes(i % 251 for i in range(size))
        pinging.sendto(bytes([ask, 0, 0, 0, 0, 0]) + rest, (address, 0))
        answer, peer = pinging.recvfrom(4096)
        assert (answer[0], answer[1], answer[6:], peer[0]) == (reply, 0, rest, address), answer
"""


def task(kind: str, **more: object) -> dict[str, object]:
    return {"kind": kind, "port": "p0", "queue": 0, "burst": 32, **more}


PROGRAM = {
    "workers": [
        {
            "lcore": LCORE,
            "sleep_ns": 100_000,
            "tasks": [task("rx", answer=True), task("reply", addresses=ADDRESSES)],
        }
    ],
    "streams": [],
}


@pytest.fixture
def kernel(veth: Wire) -> Wire:
    """The right end is the kernel's, with addresses."""
    inside, right = veth.inside, veth.right
    run(*inside, "sysctl", "-qw", f"net.ipv6.conf.{right}.disable_ipv6=0")
    run(*inside, "sysctl", "-qw", "net.ipv4.ping_group_range=0 0")
    run(*inside, "ip", "link", "set", right, "arp", "on")
    run(*inside, "ip", "address", "add", "10.0.0.9/24", "dev", right)
    run(*inside, "ip", "address", "add", "fd00::9/64", "dev", right, "nodad")
    return veth


@pytest.fixture
def engine(kernel: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine in the kernel's namespace with the left end open as p0."""
    wrapper = tmp_path / "engine"
    wrapper.write_text(f'#!/bin/sh\nexec {" ".join(kernel.inside)} {find_engine()} "$@"\n')
    wrapper.chmod(0o755)
    location = parse_location(f"af_packet:{kernel.left}")
    memory = choose_memory(64 << 20, (), allow_hugepages=False)
    with sandbox() as program:
        for name, value in program.environ().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("WIRERATE_ENGINE", str(wrapper))
        with Engine(eal_arguments([location], {LCORE}, memory, ())) as made:
            made.call("ports.open", {"ports": [port_of(location.text)]})
            yield made


def port_of(location: str) -> dict[str, object]:
    return {
        "name": "p0",
        "location": location,
        "rx_queues": 1,
        "tx_queues": 1,
        "rx_descriptors": 0,
        "tx_descriptors": 0,
        "mbufs": 2048,
        "frame_size_max": 1518,
        "promiscuous": True,
    }


def ping(kernel: Wire, address: str) -> None:
    run(*kernel.inside, sys.executable, "-c", PING, address, *map(str, SIZES))


def neighbour(kernel: Wire, address: str) -> str:
    return run(*kernel.inside, "ip", "neigh", "show", "to", address)


def test_the_kernel_pings(engine: Engine, kernel: Wire) -> None:
    counters = engine.load(PROGRAM)
    reply = counters.of_kind("reply")[0]
    addresses = [entry.get("ipv4", entry.get("ipv6", "")) for entry in ADDRESSES]
    for address in addresses:
        ping(kernel, address)
        assert OURS in neighbour(kernel, address)
    wait_for("all echoes", lambda: reply["echoes"] >= len(addresses) * len(SIZES))
    engine.call("program.unload")
    assert reply["echoes"] == len(addresses) * len(SIZES)
    assert reply["arp"] >= 1
    assert reply["neighbors"] >= 1
    assert (reply["not_taken"], reply["overflowed"]) == (0, 0)
    assert reply["frames"] == reply["echoes"] + reply["arp"] + reply["neighbors"]
    assert reply["octets"] >= 64 * reply["frames"]


def test_an_address_of_nobody_is_not_answered(engine: Engine, kernel: Wire) -> None:
    counters = engine.load(PROGRAM)
    with pytest.raises(AssertionError, match=r"No route to host|timed out"):
        ping(kernel, "10.0.0.2")
    engine.call("program.unload")
    assert counters.of_kind("reply")[0]["frames"] == 0
    assert counters.of_kind("rx")[0]["frames"] > 0


def exchange(
    engine: Engine, frame: Ether, expression: str, timeout_ns: int = 2_000_000_000
) -> list[Ether]:
    params = {
        "port": "p0",
        "queue": 0,
        "frames": [bytes(frame).hex()],
        "filter": expression,
        "answers": 1,
        "timeout_ns": timeout_ns,
    }
    result = engine.call("ports.exchange", params)
    assert result["sent"] == 1
    return [Ether(bytes.fromhex(text)) for text in result["frames"]]


def test_the_kernel_is_resolved(engine: Engine, kernel: Wire) -> None:
    theirs = run(*kernel.inside, "cat", f"/sys/class/net/{kernel.right}/address").strip()
    ask = Ether(src=OURS, dst="ff:ff:ff:ff:ff:ff") / ARP(
        hwsrc=OURS, psrc="10.0.0.1", pdst="10.0.0.9"
    )
    (answer,) = exchange(engine, ask, "arp[6:2] = 2 and arp src host 10.0.0.9")
    assert answer[ARP].hwsrc == theirs
    ask = (
        Ether(src=OURS, dst="33:33:ff:00:00:09")
        / IPv6(src="fd00::1", dst="ff02::1:ff00:9", hlim=255)
        / ICMPv6ND_NS(tgt="fd00::9")
        / ICMPv6NDOptSrcLLAddr(lladdr=OURS)
    )
    (answer,) = exchange(engine, ask, "icmp6 and ip6[40] = 136")
    assert answer.src == theirs
    assert answer[IPv6].src == "fd00::9"
    ask[IPv6].dst = "ff02::1:ff00:8"
    ask[ICMPv6ND_NS].tgt = "fd00::8"
    assert exchange(engine, ask, "icmp6 and ip6[40] = 136", 200_000_000) == []


def test_no_exchange_beside_a_program(engine: Engine) -> None:
    engine.load(PROGRAM)
    with pytest.raises(EngineRefusedError, match="a program is loaded"):
        exchange(engine, Ether(src=OURS), "")
    engine.call("program.unload")
    with pytest.raises(EngineRefusedError, match="is no filter"):
        exchange(engine, Ether(src=OURS), "no such thing")
