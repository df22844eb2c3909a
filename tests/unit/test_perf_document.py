# SPDX-License-Identifier: BSD-3-Clause
"""The plan of `wirerate perf`: decoded and compiled it gives exactly the frames that were asked."""

import math

import pytest

from support.render import field_value, ones_complement_sum, render
from wirerate.errors import PlanError
from wirerate.plan.compile import PortFacts, compile_flow
from wirerate.plan.decode import decode_plan
from wirerate.plan.eal_args import EalRequest
from wirerate.plan.location import parse_location
from wirerate.plan.model import Metrics
from wirerate.plan.perf_document import perf_document
from wirerate.plan.perf_settings import PerfSettings, Protocol
from wirerate.units import RateKind, parse_rate

SIZES = [64, 65, 67, 128, 1517, 1518, 9618, 16383, 16384]


USUAL = {
    "eal": EalRequest(),
    "lcores": (0,),
    "lcore_map": None,
    "burst": 32,
    "line_rate_bps": None,
    "rx_descriptors": 0,
    "tx_descriptors": 0,
    "mbufs": 8192,
    "jumbo": False,
    "period_ns": 10**9,
    "duration_ns": None,
    "cpu_saver_ns": 0,
    "verbose": False,
    "json": False,
    "locations": (parse_location("ring:a"),),
    "frame_size": 64,
    "rate": parse_rate("100%"),
    "frames": None,
    "flows": 1,
    "protocol": Protocol.UDP,
    "promiscuous": True,
}


def settings(**changes):
    return PerfSettings(**{**USUAL, **changes})


def decoded(asked, ports=((0, "ring:a", 1),)):
    return decode_plan(perf_document(asked, ports))


def stream_of(asked, index=0, mac=None):
    """What port number ``index`` of eight sends."""
    where = "null:n{}" if mac is None else "0000:0{}:00.0"
    plan = decoded(asked, [(number, where.format(number), 1) for number in range(8)])
    return compile_flow(plan.flows[index], f"s{index}", PortFacts(index, mac, None)).stream


@pytest.fixture(scope="module")
def scapy():
    return pytest.importorskip("scapy.all", reason="scapy is the second builder")


def scapy_frame(scapy, asked, index, flow):
    """What frame ``flow`` should be, built from nothing by scapy."""
    layer4 = {
        Protocol.UDP: scapy.UDP(sport=1024 + flow, dport=9),
        Protocol.TCP: scapy.TCP(sport=1024 + flow, dport=9, flags="A", seq=1, ack=1, window=65535),
    }[asked.protocol]
    ethernet = scapy.Ether(src=f"02:57:52:00:00:{index:02x}", dst=f"02:57:52:01:00:{index:02x}")
    ip = scapy.IP(src=f"198.18.0.{1 + flow}", dst="198.19.0.1", id=0, flags="DF", ttl=64)
    room = asked.frame_size - 4 - len(ethernet / ip / layer4)
    return bytes(ethernet / ip / layer4 / bytes(octet % 256 for octet in range(room)))


def rebuilt(scapy, frame):
    """The same frame with lengths and checksums by scapy."""
    packet = scapy.Ether(frame)
    ip = packet[scapy.IP]
    layer4 = ip.payload
    del ip.chksum, ip.len, layer4.chksum
    if layer4.haslayer(scapy.UDP):
        del layer4.len
    return bytes(packet)


@pytest.mark.parametrize("protocol", Protocol)
@pytest.mark.parametrize("frame_size", SIZES)
def test_frames_are_scapys(scapy, protocol, frame_size):
    asked = settings(frame_size=frame_size, protocol=protocol, flows=5)
    stream = stream_of(asked, 3)
    for flow in range(5):
        frame = render(stream, flow)
        assert len(frame) == frame_size - 4
        assert frame == scapy_frame(scapy, asked, 3, flow)


@pytest.mark.parametrize("protocol", Protocol)
def test_every_flow_has_the_checksums_of_scapy(scapy, protocol):
    stream = stream_of(settings(protocol=protocol, flows=1000))
    frames = [render(stream, flow) for flow in range(1000)]
    assert len(set(frames)) == 1000
    assert frames == [rebuilt(scapy, frame) for frame in frames]
    assert render(stream, 1000) == frames[0]


def five_tuple(stream, i):
    """Source address and port of frame ``i``; the rest of the 5-tuple never changes."""
    return tuple(field_value(field, i) for field in stream["fields"])


def udp_sum(stream, i):
    """Ones' complement sum that the UDP checksum of a 64-octet frame complements."""
    frame = bytearray.fromhex(stream["template"])
    address, port = five_tuple(stream, i)
    frame[26:30], frame[34:36] = address.to_bytes(4, "big"), port.to_bytes(2, "big")
    frame[40:42] = bytes(2)
    return ones_complement_sum(frame[26:] + bytes([0, 17 + 26]))


def test_a_udp_checksum_of_zero_is_sent_as_all_ones():
    """Zero on the wire would mean that there is no checksum; one of so many flows comes to it."""
    stream = stream_of(settings(flows=65536))
    zero = next(i for i in range(65536) if udp_sum(stream, i) == 0xFFFF)
    assert render(stream, zero)[40:42] == b"\xff\xff"


@pytest.mark.parametrize(
    "flows",
    [1, 2, 3, 7, 255, 256, 1000, 1024, 64511, 64512, 64513, 64514, 65521, 65535, 65536],
)
def test_exactly_so_many_flows(flows):
    stream = stream_of(settings(flows=flows))
    assert math.lcm(*(field["count"] for field in stream["fields"])) == flows
    assert len({five_tuple(stream, i) for i in range(flows)}) == flows


@pytest.mark.parametrize("flows", [2, 1024, 64512, 64513, 65536])
def test_sources_stay_in_the_benchmark_range(flows):
    address, *ports = stream_of(settings(flows=flows))["fields"]
    assert address["first"] + flows - 1 < int.from_bytes(bytes([198, 19, 0, 1]), "big")
    for port in ports:
        assert port["first"] == 1024
        assert port["first"] + port["count"] - 1 <= 65535


def test_a_nic_sends_from_its_own_address():
    frame = render(stream_of(settings(), 2, mac="0a:00:00:00:00:01"), 0)
    assert frame[:12].hex(":") == "02:57:52:01:00:02:0a:00:00:00:00:01"


def test_a_port_and_a_flow_for_each_location():
    plan = decoded(settings(), [(0, "null:a", 2), (1, "pcap:,out.pcap", 1), (2, "null:b", 0)])
    assert [(port.name, port.location.text) for port in plan.ports] == [
        ("p0", "null:a"),
        ("p1", "pcap:,out.pcap"),
        ("p2", "null:b"),
    ]
    assert [(flow.name, flow.tx_port) for flow in plan.flows] == [("p0", "p0"), ("p1", "p1")]
    assert {flow.rx_ports for flow in plan.flows} == {("p0", "p1", "p2")}


@pytest.mark.parametrize("promiscuous", [True, False])
def test_promiscuous(promiscuous):
    document = perf_document(settings(promiscuous=promiscuous), [(0, "null:a", 1)])
    assert ("layer1" in document) is not promiscuous
    assert decode_plan(document).ports[0].promiscuous is promiscuous


@pytest.mark.parametrize(
    ("asked", "frames", "duration_ns"),
    [
        ({}, None, None),
        ({"frames": 20000}, 20000, None),
        ({"duration_ns": 1_500_000_001}, None, 1_500_000_001),
        ({"frames": 7, "duration_ns": 10**9}, 7, None),
    ],
)
def test_ends(asked, frames, duration_ns):
    duration = decoded(settings(**asked)).flows[0].duration
    assert (duration.frames, duration.duration_ns) == (frames, duration_ns)


@pytest.mark.parametrize(
    ("rate", "kind", "value"),
    [
        ("100%", RateKind.PERCENT, 100),
        ("12.5%", RateKind.PERCENT, 12.5),
        ("14.88Mpps", RateKind.FPS, 14_880_000),
        ("1pps", RateKind.FPS, 1),
        ("1.5pps", RateKind.L2_BPS, 768),
        ("5Gbps:L2", RateKind.L2_BPS, 5 * 10**9),
        ("672Mbps:L1", RateKind.L2_BPS, 512 * 10**6),
    ],
)
def test_rates(rate, kind, value):
    found = decoded(settings(rate=parse_rate(rate))).flows[0].rate
    assert (found.kind, found.value) == (kind, value)


def test_a_rate_that_a_plan_cannot_say():
    with pytest.raises(PlanError, match=r"rate 0\.5pps: 256 bit/s .* no less than 672 bit/s"):
        perf_document(settings(rate=parse_rate("0.5pps")), [(0, "null:a", 1)])


@pytest.mark.parametrize("size", [64, 1518])
@pytest.mark.parametrize("rate", ["1.5Mpps", "7Gbps:L1", "3Gbps:L2", "33.3%"])
def test_rates_come_out_as_asked(rate, size):
    flow = decoded(settings(frame_size=size, rate=parse_rate(rate))).flows[0]
    fps = compile_flow(flow, "s0", PortFacts(0, None, 10**11)).fps
    assert fps == pytest.approx(parse_rate(rate).to_fps(size, 10**11), rel=1e-9)


def test_nothing_is_measured_unless_asked():
    for flow in perf_document(settings(), [(0, "null:a", 1)])["flows"]:
        assert "metrics" not in flow


@pytest.mark.parametrize(
    ("receiving", "names"), [(None, ("p0", "p1", "p2")), ([2, 0], ("p0", "p2")), ([1], ("p1",))]
)
def test_measured_frames_come_back_where_the_map_receives(receiving, names):
    ports = [(0, "null:a", 2), (1, "null:b", 1), (2, "null:c", 0)]
    plan = decode_plan(perf_document(settings(measure=True), ports, receiving))
    for flow in plan.flows:
        assert flow.measured
        assert flow.metrics == Metrics(enabled=True, loss=True, latency=True)
        assert flow.rx_ports == names
    other = decode_plan(perf_document(settings(), ports, receiving))
    assert {flow.rx_ports for flow in other.flows} == {("p0", "p1", "p2")}


def test_nobody_receives_what_is_to_be_measured():
    with pytest.raises(PlanError, match=r"^--measure: the lcore map lets no port receive"):
        perf_document(settings(measure=True), [(0, "null:a", 1)], [])


@pytest.mark.parametrize(("protocol", "least"), [(Protocol.UDP, 64), (Protocol.TCP, 74)])
def test_the_smallest_measured_frames(protocol, least):
    flow = decoded(settings(measure=True, protocol=protocol, frame_size=least)).flows[0]
    assert compile_flow(flow, "s0", PortFacts(0, None, None)).measured
    if least > 64:
        flow = decoded(settings(measure=True, protocol=protocol, frame_size=least - 1)).flows[0]
        with pytest.raises(PlanError, match=f"needs {least} with FCS"):
            compile_flow(flow, "s0", PortFacts(0, None, None))
