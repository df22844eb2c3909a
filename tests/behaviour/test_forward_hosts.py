# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate reflect` and `forward` as hosts that answer, and what they capture."""

from __future__ import annotations

import signal
import sys

from support.captures import frame_octets, write_pcap
from support.host import run
from support.read_captures import read_pcap, read_pcapng

FRAMES = 5000
ADDRESSES = ("10.99.0.2", "fd99::2")
PING = """
import socket, struct
def checksum(octets):
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
for family, protocol, kind, to in (
    (socket.AF_INET, socket.IPPROTO_ICMP, 8, "10.99.0.2"),
    (socket.AF_INET6, socket.IPPROTO_ICMPV6, 128, "fd99::2"),
):
    sender = socket.socket(family, socket.SOCK_RAW, protocol)
    sender.settimeout(5)
    echo = struct.pack("!BBHHH", kind, 0, 0, 7, 1) + b"wirerate"
    sender.sendto(echo[:2] + struct.pack("!H", checksum(echo)) + echo[4:], (to, 0))
    while not sender.recv(200).endswith(b"wirerate"):
        pass
print("both answered")
"""


def document_of(program, *words):
    done = program.run(*words, "--json")
    assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
    return done.document


def test_the_kernel_finds_and_pings_a_port(program, veth):
    """ARP and neighbour discovery by the kernel, an echo request of each kind by a raw socket."""
    ip = ("ip", "-n", veth.namespace)
    setting = f"net.ipv6.conf.{veth.right}.disable_ipv6=0"
    run(*veth.inside, "sysctl", "-qw", setting)
    run(*ip, "link", "set", veth.right, "arp", "on")
    run(*ip, "address", "add", "10.99.0.1/24", "dev", veth.right)
    run(*ip, "address", "add", "fd99::1/64", "dev", veth.right, "nodad")
    program.prefix = veth.inside
    words = [word for address in ADDRESSES for word in ("--address", address)]
    with program.start("reflect", f"af_packet:{veth.left}", *words, "--json") as reflector:
        reflector.sending()
        assert "both answered" in run(*veth.inside, sys.executable, "-c", PING)
        neighbours = run(*ip, "neighbour", "show")
        reflector.signal(signal.SIGINT)
        done = reflector.finish()
    assert neighbours.count("02:57:52:00:00:00") == 2
    (port,) = done.document["ports"]
    assert port["addresses"] == list(ADDRESSES)
    answers = port["answers"]
    assert answers["echoes"] == 2
    assert answers["arp"] >= 1
    assert answers["neighbors"] >= 1
    assert (answers["not_taken"], answers["overflowed"]) == (0, 0)
    (way,) = done.document["ways"]
    answered = answers["arp"] + answers["neighbors"] + answers["echoes"]
    assert way["rx_frames"] == way["tx_frames"] + answered, "what is answered is not sent back"


def numbered(tmp_path):
    frames = [(i, frame_octets(60 + i % 2, i), None) for i in range(FRAMES)]
    return write_pcap(tmp_path / "in.pcap", frames)


def test_a_capture_has_frames_as_they_came(program, tmp_path):
    source, file = numbered(tmp_path), tmp_path / "seen.pcapng"
    words = ["--mac-swap", "--drop", "50%", "--capture", str(file), "--duration", "500ms"]
    document = document_of(program, "reflect", f"pcap:{source},{tmp_path}/out.pcap", *words)
    assert document["captures"] == [{"port": 0, "path": str(file), "frames": FRAMES}]
    came = [octets for _, octets in read_pcap(source)]
    assert [octets for _, _, octets in read_pcapng(file).frames] == came


def test_a_capture_is_filtered(program, tmp_path):
    source, file = numbered(tmp_path), tmp_path / "seen.pcap"
    words = ["--rx-only", "--capture", f"0={file},less 60", "--duration", "500ms"]
    document = document_of(program, "reflect", f"pcap:{source},", *words)
    assert document["captures"][0]["frames"] == FRAMES // 2 == len(read_pcap(file))


def test_a_capture_that_is_full_is_told(program, tmp_path):
    source, file = numbered(tmp_path), tmp_path / "seen.pcap"
    words = ["--capture", str(file), "--capture-frames", "100", "--duration", "500ms"]
    document = document_of(
        program, "forward", f"pcap:{source},", f"pcap:,{tmp_path}/out.pcap", "--one-way", *words
    )
    assert document["captures"][0]["frames"] == 100
    missed = f"port 0: {FRAMES - 100:,} frames found no room in the capture"
    assert any(note.startswith(missed) for note in document["verdict"]["notes"])
