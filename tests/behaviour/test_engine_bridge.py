# SPDX-License-Identifier: BSD-3-Clause
"""A bridge task between capture files, by the engine's own interface (docs/design/0009).

What comes from the kernel's port has the sum of its pseudo-header for a checksum, as Linux leaves
it to a device; tshark says whether what goes out is right.
"""

from __future__ import annotations

import struct
from ipaddress import ip_address
from itertools import product

import pytest

from support.captures import write_pcap
from support.host import CPUS
from support.program import wait_for
from support.read_captures import read_pcap
from support.tshark import dissect_frames
from wirerate.engine.eal import Memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.errors import EngineRefusedError

MS = 1_000_000
OURS, PEERS, OTHERS = ("10.0.0.1", "fd00::1"), ("10.0.0.9", "fd00::9"), ("10.9.0.2", "fd09::2")
TCP, UDP = 6, 17
FCS = 4


def total(octets):
    """The sum of 16-bit words, folded (RFC 1071)."""
    octets += bytes(len(octets) % 2)
    value = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while value >> 16:
        value = (value & 0xFFFF) + (value >> 16)
    return value


def frame(source, destination, protocol, payload, tags=0):
    """An IP frame with the sum of the pseudo-header for a checksum; padded to 60 octets."""
    addresses = ip_address(source).packed + ip_address(destination).packed
    octets = (20 if protocol == TCP else 8) + payload
    pseudo = total(addresses + struct.pack(">HH", protocol, octets))
    if protocol == TCP:
        l4 = struct.pack(">HHIIBBHHH", 1000, 2000, 1, 1, 5 << 4, 0x10, 512, pseudo, 0)
    else:
        l4 = struct.pack(">HHHH", 1000, 2000, octets, pseudo)
    if len(addresses) == 8:
        head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + octets, 1, 0, 64, protocol, 0) + addresses
        head = head[:10] + struct.pack(">H", ~total(head) & 0xFFFF) + head[12:]
        kind = 0x0800
    else:
        head = struct.pack(">IHBB", 6 << 28, octets, protocol, 64) + addresses
        kind = 0x86DD
    vlans = b"".join(struct.pack(">HH", 0x8100, 7 + tag) for tag in range(tags))
    ethernet = bytes.fromhex("020000000002 020000000001") + vlans + struct.pack(">H", kind)
    data = bytes(i % 251 for i in range(payload))
    return (ethernet + head + l4 + data).ljust(60, b"\x5a")


def frames(sources, destinations):
    """Both protocols over both versions of IP, with none to two tags, of many lengths."""
    kinds = product((0, 1), (TCP, UDP), (0, 1, 2), (1, 5, 33, 1000, 1399))
    return [
        frame(sources[ip], destinations[ip], protocol, payload, tags)
        for ip, protocol, tags, payload in kinds
    ]


def port(name, folder, received):
    write_pcap(folder / f"{name}-in.pcap", [(0, octets, None) for octets in received])
    location = f"pcap:{folder}/{name}-in.pcap,{folder}/{name}-out.pcap"
    base = {"name": name, "location": location, "rx_queues": 1, "tx_queues": 1, "mbufs": 2048}
    base |= {"rx_descriptors": 0, "tx_descriptors": 0, "frame_size_max": 1518}
    return base | {"promiscuous": True}


def bridge(source, **more):
    kind = {"port": source, "queue": 0} if source in {"p0", "k0"} else {"ring": source}
    return {"kind": "bridge", "from": kind, "burst": 32, **more}


def to(name, **more):
    return {"to": {"port": name, "queues": [0]}, **more}


def program(*tasks, **more):
    worker = {"lcore": CPUS[-1], "sleep_ns": MS // 10, "tasks": list(tasks)}
    return {"workers": [worker], "streams": [], **more}


SHARED = program(
    bridge(
        "p0",
        addresses=list(OURS),
        kernel={"to": {"ring": "kernel"}},
        fast=to("p0", rewrite="reverse", checksums="complete"),
    ),
    bridge("kernel", kernel=to("k0")),
    bridge("k0", kernel=to("p0", checksums="complete")),
    rings=[{"name": "kernel", "frames": 2048}],
)


def run(folder, wire, kernel, params, done):
    """Frames into p0 and k0, until ``done`` of the bridge's counters; the counters at the end."""
    memory = Memory(("--no-huge", "-m", "128"), "")
    with Engine(eal_arguments([], [CPUS[-1]], memory, []), [CPUS[-1]]) as engine:
        ports = [port("p0", folder, wire), port("k0", folder, kernel)]
        engine.call("ports.open", {"ports": ports})
        counters = engine.load(params)
        tasks = counters.of_kind("bridge")
        wait_for("all frames", lambda: done(*tasks))
        engine.call("program.unload")
        for task in tasks:
            sums = ("kernel_frames", "kernel_lost", "fast_frames", "fast_lost", "held")
            assert task["rx_frames"] == sum(task[word] for word in sums)
    return tasks


def sent(folder, name):
    return [octets for _, octets in read_pcap(folder / f"{name}-out.pcap")]


def test_frames_go_their_way_and_get_their_checksums(tmp_path):
    ours, others = frames(PEERS, OURS), frames(PEERS, OTHERS)
    back = frames(OURS, PEERS)
    wire = [octets for pair in zip(ours, others, strict=True) for octets in pair]
    n = len(ours)
    tasks = run(
        tmp_path,
        wire,
        back,
        SHARED,
        lambda d, k, b: (d["fast_frames"], k["kernel_frames"], b["kernel_frames"]) == (n, n, n),
    )
    data, kernel, wireward = tasks
    assert sent(tmp_path, "k0") == ours, "as they came, in order"
    out = sent(tmp_path, "p0")
    assert len(out) == 2 * n
    found = dissect_frames(out)
    for octets, one in zip(out, found, strict=True):
        assert not one.bad, one
        assert not one.wrong, one
        assert {"tcp", "udp"} & {name for name, _ in one.checksums}, one
        assert octets.endswith(b"\x5a") == (len(octets) == 60), "padding is as it was"
    assert data["addressed"] == data["kernel_frames"] == n
    assert data["completed"] == wireward["completed"] == n
    assert data["untouchable"] == wireward["untouchable"] == kernel["completed"] == 0
    assert data["rx_octets"] == sum(len(octets) + FCS for octets in wire)
    assert wireward["kernel_octets"] == sum(len(octets) + FCS for octets in back)


def test_what_cannot_be_completed_passes(tmp_path):
    whole = frame(OURS[0], PEERS[0], TCP, 100)
    arp = bytes.fromhex("ffffffffffff 020000000001 0806").ljust(60, b"\0")
    back = [whole[:-1], arp, whole]
    (task,) = run(
        tmp_path,
        [whole],
        back,
        program(bridge("k0", kernel=to("p0", checksums="complete"))),
        lambda task: task["kernel_frames"] == len(back),
    )
    out = sent(tmp_path, "p0")
    assert out[:2] == back[:2]
    assert out[2] != whole
    assert not dissect_frames(out[2:])[0].bad
    assert (task["completed"], task["untouchable"]) == (1, 1)


def test_sinks_and_labels(tmp_path):
    ours, others = frames(PEERS, OURS), frames(PEERS, OTHERS)
    (task,) = run(
        tmp_path,
        ours + others,
        [],
        program(bridge("p0", addresses=["10.0.0.1"], kernel={"to": None}, fast=None)),
        lambda task: task["rx_frames"] == len(ours + others),
    )
    assert task.labels == {"lcore": CPUS[-1], "from": "p0", "queue": 0}
    assert task["addressed"] == task["kernel_frames"] == len(ours) // 2
    assert task["fast_octets"] == sum(
        len(octets) + FCS for octets in ours[len(ours) // 2 :] + others
    )
    assert sent(tmp_path, "p0") == []


def test_what_is_refused(tmp_path):
    memory = Memory(("--no-huge", "-m", "64"), "")
    with Engine(eal_arguments([], [CPUS[-1]], memory, []), [CPUS[-1]]) as engine:
        engine.call("ports.open", {"ports": [port("p0", tmp_path, [])]})
        for params, parts in (
            (program(bridge("p0", kernel=to("k0"))), ("kernel.to", 'called "k0"')),
            (program(bridge("r", kernel=to("p0"))), ("from.ring", 'no ring "r"')),
            (program(bridge("p0", kernel=to("p0", checksums="yes"))), ("checksums", '"complete"')),
        ):
            with pytest.raises(EngineRefusedError) as error:
                engine.call("program.load", params)
            for part in parts:
                assert part in str(error.value)
