# SPDX-License-Identifier: BSD-3-Clause
"""Frames: the engine's rendering rules done again here, and scapy as the second builder."""

import math

import pytest

from wirerate.errors import PlanError
from wirerate.plan.frames import FrameSpec, Protocol, build_frame, internet_checksum, make_stream

SIZES = [64, 65, 67, 128, 1517, 1518, 9618, 16383, 16384]


def ones_complement_sum(data):
    """Add 16-bit words one by one, as RFC 1071 describes it; slower than the code under test."""
    total = 0
    for at in range(0, len(data), 2):
        total += data[at] << 8 | (data[at + 1] if at + 1 < len(data) else 0)
        total = (total & 0xFFFF) + (total >> 16)
    return total


def render(stream, index):
    """Frame ``index`` of a stream, by docs/design/0002-engine-interface.md alone."""
    frame = bytearray.fromhex(stream["template"])
    for field in stream["fields"]:
        octets = field["octets"]
        value = field["first"] + field["step"] * (index % field["count"])
        frame[field["offset"] : field["offset"] + octets] = (value % 2 ** (8 * octets)).to_bytes(
            octets, "big"
        )
    for checksum in stream["checksums"]:
        at = checksum["offset"]
        frame[at : at + 2] = bytes(2)
        total = checksum["add"]
        for offset, octets in checksum["ranges"]:
            total += ones_complement_sum(frame[offset : offset + octets])
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        value = ~total & 0xFFFF
        if checksum["udp"] and value == 0:
            value = 0xFFFF
        frame[at : at + 2] = value.to_bytes(2, "big")
    return bytes(frame)


def five_tuple(stream, index):
    """Source address and port of frame ``index``; the rest of the 5-tuple never changes."""
    return tuple(field["first"] + index % field["count"] for field in stream["fields"])


@pytest.fixture(scope="module")
def scapy():
    return pytest.importorskip("scapy.all", reason="scapy is the second builder")


def rebuilt(scapy, frame):
    """The same frame with lengths and checksums by scapy."""
    packet = scapy.Ether(frame)
    ip = packet[scapy.IP]
    layer4 = ip.payload
    del ip.chksum, ip.len, layer4.chksum
    if layer4.haslayer(scapy.UDP):
        del layer4.len
    return bytes(packet)


def scapy_frame(scapy, spec, flow):
    """What frame ``flow`` should be, built from nothing by scapy."""
    layer4 = {
        Protocol.UDP: scapy.UDP(sport=1024 + flow, dport=9),
        Protocol.TCP: scapy.TCP(sport=1024 + flow, dport=9, flags="A", seq=1, ack=1, window=65535),
    }[spec.protocol]
    ethernet = scapy.Ether(
        src=f"02:57:52:00:00:{spec.port:02x}", dst=f"02:57:52:01:00:{spec.port:02x}"
    )
    ip = scapy.IP(src=f"198.18.0.{1 + flow}", dst="198.19.0.1", id=0, flags="DF", ttl=64)
    room = spec.frame_size - 4 - len(ethernet / ip / layer4)
    return bytes(ethernet / ip / layer4 / bytes(octet % 256 for octet in range(room)))


@pytest.mark.parametrize("protocol", Protocol)
@pytest.mark.parametrize("frame_size", SIZES)
def test_frames_are_scapys(scapy, protocol, frame_size):
    spec = FrameSpec(frame_size, protocol, flows=5, port=3)
    stream = make_stream("s0", spec)
    for flow in range(5):
        frame = render(stream, flow)
        assert len(frame) == frame_size - 4
        assert frame == scapy_frame(scapy, spec, flow)
        assert frame == rebuilt(scapy, frame)


@pytest.mark.parametrize("protocol", Protocol)
def test_every_flow_has_the_checksums_of_scapy(scapy, protocol):
    stream = make_stream("s0", FrameSpec(protocol=protocol, flows=1000))
    frames = [render(stream, flow) for flow in range(1000)]
    assert len(set(frames)) == 1000
    assert frames == [rebuilt(scapy, frame) for frame in frames]
    assert render(stream, 1000) == frames[0]


def test_a_udp_checksum_of_zero_is_sent_as_all_ones():
    """Zero on the wire would mean that there is no checksum; one of so many flows comes to it."""
    stream = make_stream("s0", FrameSpec(flows=65536))
    zero = next(index for index in range(65536) if udp_sum(stream, index) == 0xFFFF)
    assert render(stream, zero)[40:42] == b"\xff\xff"


def udp_sum(stream, index):
    """Ones' complement sum that the UDP checksum of a 64-octet frame complements."""
    frame = bytearray.fromhex(stream["template"])
    address, port = five_tuple(stream, index)
    frame[26:30], frame[34:36] = address.to_bytes(4, "big"), port.to_bytes(2, "big")
    frame[40:42] = bytes(2)
    return ones_complement_sum(frame[26:] + bytes([0, 17 + 26]))


@pytest.mark.parametrize("protocol", Protocol)
@pytest.mark.parametrize("frame_size", SIZES)
def test_the_template_is_frame_0(protocol, frame_size):
    spec = FrameSpec(frame_size, protocol, flows=7)
    assert bytes.fromhex(make_stream("s0", spec)["template"]) == build_frame(spec)
    assert render(make_stream("s0", spec), 0) == build_frame(spec)


@pytest.mark.parametrize(
    "flows",
    [1, 2, 3, 7, 255, 256, 1000, 1024, 64511, 64512, 64513, 64514, 65521, 65535, 65536],
)
def test_exactly_so_many_flows(flows):
    fields = make_stream("s0", FrameSpec(flows=flows))["fields"]
    period = math.lcm(*(field["count"] for field in fields))
    assert period == flows
    stream = {"fields": fields}
    assert len({five_tuple(stream, index) for index in range(flows)}) == flows


@pytest.mark.parametrize("flows", [2, 1024, 64512, 64513, 65536])
def test_sources_stay_in_the_benchmark_range(flows):
    address, *ports = make_stream("s0", FrameSpec(flows=flows))["fields"]
    assert address["first"] + flows - 1 < int.from_bytes(bytes([198, 19, 0, 1]), "big")
    for port in ports:
        assert port["first"] == 1024
        assert port["first"] + port["count"] - 1 <= 65535


def test_the_stream_as_the_contract_shows_it():
    assert make_stream("p0", FrameSpec(flows=4096), fps=1e6, frames=20000) == {
        "name": "p0",
        "template": build_frame(FrameSpec(flows=4096)).hex(),
        "fields": [
            {"offset": 26, "octets": 4, "first": 0xC6120001, "step": 1, "count": 4096},
            {"offset": 34, "octets": 2, "first": 1024, "step": 1, "count": 4096},
        ],
        "checksums": [
            {"offset": 24, "ranges": [[14, 20]], "add": 0, "udp": False},
            {"offset": 40, "ranges": [[26, 8], [34, 26]], "add": 43, "udp": True},
        ],
        "fps": 1e6,
        "frames": 20000,
    }


def test_one_flow_varies_nothing_and_has_no_limits():
    stream = make_stream("p0", FrameSpec())
    assert stream["fields"] == []
    assert stream["fps"] is None
    assert stream["frames"] is None


def test_ethernet_addresses():
    frame = build_frame(FrameSpec(port=258))
    assert frame[:12].hex(":") == "02:57:52:01:01:02:02:57:52:00:01:02"
    given = build_frame(FrameSpec(src_mac="02:00:00:00:00:01", dst_mac="AA:bb:cc:dd:ee:0f"))
    assert given[:12].hex(":") == "aa:bb:cc:dd:ee:0f:02:00:00:00:00:01"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (FrameSpec(63), "frame size 63: not between 64 and 16384"),
        (FrameSpec(16385), "frame size 16385"),
        (FrameSpec(flows=0), "flows 0: not between 1 and 65,536"),
        (FrameSpec(flows=65537), "flows 65,537: .* sources 198.18.0.1 onward must end"),
        (FrameSpec(port=-1), "port index -1"),
        (FrameSpec(port=65536), "port index 65536"),
        (FrameSpec(src_mac="02:00"), "Ethernet address '02:00'"),
        (FrameSpec(dst_mac="02:00:00:00:00:100"), "Ethernet address"),
        (FrameSpec(dst_mac="zz:00:00:00:00:00"), "Ethernet address"),
    ],
)
def test_what_is_refused(spec, says):
    with pytest.raises(PlanError, match=says):
        make_stream("s0", spec)


def test_checksum_of_rfc_1071():
    # The example of RFC 1071 section 3: the sum of these octets is ddf2.
    assert internet_checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2
    assert internet_checksum(b"\x01") == internet_checksum(b"\x01\x00")
    assert internet_checksum(b"") == 0xFFFF
