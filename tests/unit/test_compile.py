# SPDX-License-Identifier: BSD-3-Clause
"""Compiled flows: the STREAM, rates, schedules, traces, notes and memory."""

import time
from pathlib import Path
from typing import Any

import pytest

from support.flow import (
    ETHERNET,
    PORT,
    compiled,
    fixed,
    headers,
    increment,
    ipv4,
    make_flow,
    one_field,
)
from wirerate.errors import PlanError
from wirerate.plan.compile import PortFacts, check_flow, compile_again, compile_flow
from wirerate.plan.fields import Fixed, Random, Steps
from wirerate.plan.location import parse_location
from wirerate.plan.memory import flow_memory_octets, frames_held_max
from wirerate.plan.model import Burst, Duration, Trace
from wirerate.units import Rate, RateKind, parse_rate


def test_the_stream_as_the_contract_shows_it():
    flow = compiled(
        ETHERNET,
        ipv4(increment("198.18.0.1", "0.0.0.1", 4096)),
        {"udp": {"src_port": increment(1024, 1, 4096), "dst_port": fixed(9)}},
        sizes=(64, 64, 594),
    )
    assert flow.stream == {
        "name": "s7",
        "template": flow.stream["template"],
        "lengths": [60, 60, 590],
        "length_fields": [
            {"offset": 16, "octets": 2, "less": 14},
            {"offset": 38, "octets": 2, "less": 34},
        ],
        "fields": [
            {"offset": 26, "octets": 4, "first": 0xC6120001, "step": 1, "count": 4096},
            {"offset": 34, "octets": 2, "first": 1024, "step": 1, "count": 4096},
        ],
        "checksums": [
            {
                "offset": 40,
                "ranges": [[26, 8], [34, None]],
                "add": 17,
                "add_length_less": 34,
                "udp": True,
            },
            {"offset": 24, "ranges": [[14, 20]], "add": 0, "udp": False},
        ],
        "fps": 1000.0,
        "frames": None,
        "delay_ns": 0,
        "duration_ns": None,
        "burst": None,
    }
    assert (flow.mean_size, flow.frame_size_max, flow.splittable) == (722 / 3, 594, True)


def test_what_never_changes_is_left_to_the_template():
    flow = compiled(
        ETHERNET, ipv4(increment("198.18.0.1", "0.0.0.1", 1)), {"udp": {}}, sizes=(99, 99)
    )
    for key in ("lengths", "length_fields", "fields", "checksums"):
        assert flow.stream[key] == []
    inner = compiled(
        ETHERNET, ipv4(fixed("10.0.0.1")), {"udp": {"src_port": increment(1, 1, 2)}}
    ).stream
    assert [entry["offset"] for entry in inner["checksums"]] == [40]


# --- room for stamps ---

UDP_IPV4: list[dict[str, Any]] = [ETHERNET, ipv4(fixed("198.18.0.1")), {"udp": {}}]
TCP_IPV6: list[dict[str, Any]] = [ETHERNET, {"vlan": {}}, {"ipv6": {}}, {"tcp": {}}]


@pytest.mark.parametrize(("stack", "least"), [(UDP_IPV4, 62), (TCP_IPV6, 98)])
def test_a_measured_flow_needs_room_for_its_stamp(stack, least):
    check_flow(make_flow(headers(*stack), (1518, least), measured=True))
    check_flow(make_flow(headers(*stack), (1518, least - 16)))
    says = (
        rf"^flows\[0\]\.size: {least - 1} octets leave no room for the stamp .* it needs {least} "
        "with FCS; raise the size, or do not measure"
    )
    with pytest.raises(PlanError, match=says):
        check_flow(make_flow(headers(*stack), (1518, least - 1), measured=True))
    with pytest.raises(PlanError, match=rf"too few .* which need {least - 16} with FCS$"):
        check_flow(make_flow(headers(*stack), (least - 17,), measured=True))


def test_only_measured_flows_end_with_zeros():
    whole, stamped = (
        compile_flow(make_flow(headers(*UDP_IPV4), (128,), measured=measured), "s0", PORT)
        for measured in (False, True)
    )
    assert (whole.measured, stamped.measured) == (False, True)
    before, after = (bytes.fromhex(flow.stream["template"]) for flow in (whole, stamped))
    assert before[42:] == bytes(range(82))
    assert after[42:] == bytes(range(66)) + bytes(16)
    assert before[40:42] != after[40:42]


# --- rates and schedules ---


def scheduled(rate="1000pps", line=10**10, sizes=(64,), **duration):
    flow = make_flow(
        headers(ETHERNET),
        sizes,
        rate=parse_rate(rate) if isinstance(rate, str) else rate,
        duration=Duration(**duration),
    )
    return compile_flow(flow, "s0", PortFacts(0, None, line))


@pytest.mark.parametrize(
    ("rate", "sizes", "fps"),
    [
        ("1000pps", (64,), 1000),
        ("50%", (64,), 5e9 / 672),
        ("100%", (64, 1518), 1e10 / 8 / (811)),
        ("1Gbps:L2", (64, 64, 594), 1e9 / 8 / (722 / 3)),
    ],
)
def test_rates_by_the_mean_size(rate, sizes, fps):
    flow = scheduled(rate, sizes=sizes)
    assert flow.fps == pytest.approx(fps, rel=1e-12)
    assert flow.stream["fps"] == flow.fps


def test_all_of_no_line_is_unpaced():
    flow = scheduled("100%", line=None)
    assert flow.fps is None
    assert flow.stream["fps"] is None


@pytest.mark.parametrize(
    ("rate", "line", "says"),
    [
        ("50%", None, r"^flows\[0\]\.rate: rate 50%: .*--line-rate"),
        ("20Mpps", 10**10, r"^flows\[0\]\.rate: rate 20Mpps: .* carries 14.88 Mfps"),
        (Rate(RateKind.FPS, 1e13), None, r"^flows\[0\]\.rate: .* frames/s; give a rate"),
    ],
)
def test_rates_that_cannot_be(rate, line, says):
    with pytest.raises(PlanError, match=says):
        scheduled(rate, line)


def test_schedules():
    flow = scheduled(frames=99, delay_ns=5)
    assert flow.stream["frames"] == 99
    assert flow.stream["delay_ns"] == 5
    assert scheduled(duration_ns=10**9).stream["duration_ns"] == 10**9
    assert scheduled(delay_octets=1250).stream["delay_ns"] == 1000
    burst = scheduled(burst=Burst(10, 0, gap_octets=12))
    assert burst.stream["burst"] == {"frames": 10, "gap_ns": pytest.approx(9.6)}
    assert not burst.splittable
    assert scheduled(line=None, burst=Burst(10, 7.5)).stream["burst"]["gap_ns"] == 7.5


@pytest.mark.parametrize(
    ("duration", "says"),
    [
        ({"delay_octets": 1.0}, r"flows\[0\]\.duration: delay is given in bytes"),
        ({"burst": Burst(2, 0, 12)}, r"duration\.burst: inter_burst_gap is given in bytes"),
        ({"delay_ns": 367 * 86400 * 10**9}, r"duration: the delay is longer than 366 days"),
    ],
)
def test_schedules_that_cannot_be(duration, says):
    with pytest.raises(PlanError, match=says):
        scheduled(line=None, **duration)


def test_bursts_need_a_rate():
    with pytest.raises(PlanError, match=r"duration\.burst: bursts need a rate"):
        scheduled("100%", line=None, burst=Burst(10, 1.0))


def test_seeds_drawn_from_the_system_are_told():
    packet = one_field(16, Random(0, 9, 4711, 100, chosen=True))
    assert compile_flow(make_flow(packet), "s0", PORT).notes == (
        "flow f: random seeds: flows[0].packet[0].custom.value 4711",
    )
    assert compile_flow(make_flow(one_field(16, Random(0, 9, 4711, 100))), "s0", PORT).notes == ()


# --- traces ---

SCAN = {
    "format": "pcap",
    "frames": 1000,
    "octets": 590_000,
    "shortest": 60,
    "longest": 1514,
    "truncated": 0,
    "short": 0,
    "backwards": 0,
    "first_ns": 0,
    "last_ns": 10**9,
    "memory_octets": 2_000_000,
}


def traced(trace=None, scan=SCAN, rate="1000pps", **duration):
    flow = make_flow(
        trace=trace or Trace(Path("/a/b.pcap")),
        rate=parse_rate(rate),
        duration=Duration(**duration),
    )
    assert check_flow(flow, scan) == scan["longest"] + 4
    return compile_flow(flow, "s0", PORT, scan)


def test_traces():
    flow = traced(Trace(Path("/a/b.pcap"), overwrite=((6, b"\x02\0"),)), rate="50%", frames=7)
    assert flow.stream == {
        "name": "s0",
        "trace": {
            "path": "/a/b.pcap",
            "overwrite": [{"offset": 6, "octets": "0200"}],
            "speed": None,
        },
        "fps": pytest.approx(5e9 / 8 / (594 + 20)),
        "frames": 7,
        "delay_ns": 0,
        "duration_ns": None,
        "burst": None,
    }
    assert (flow.mean_size, flow.frame_size_max) == (594, 1518)
    by_times = traced(Trace(Path("/a/b.pcap"), speed=2.5))
    assert by_times.fps is None
    assert by_times.stream["fps"] is None
    assert by_times.stream["trace"]["speed"] == 2.5


@pytest.mark.parametrize(
    ("key", "value", "trace", "says"),
    [
        ("frames", 0, Trace(Path("/a")), r"flows\[0\]: /a has no frames"),
        ("longest", 16381, Trace(Path("/a")), "a frame of 16,385 octets"),
        ("truncated", 3, Trace(Path("/a"), strict=True), "3 of the 1,000 frames in /a are trunc"),
        ("short", 0, Trace(Path("/a"), overwrite=((0, b"\0"),) * 17), "17 overwrites"),
    ],
)
def test_traces_that_cannot_be(key, value, trace, says):
    with pytest.raises(PlanError, match=says):
        traced(trace, SCAN | {key: value})


def test_bursts_of_a_trace_by_its_own_times_are_refused():
    with pytest.raises(PlanError, match=r"flows\[0\]\.duration\.burst: .* own times"):
        traced(Trace(Path("/a"), speed=1.0), burst=Burst(2, 1.0))


def test_what_is_not_as_captured_is_told():
    scan = SCAN | {"truncated": 2, "short": 3, "backwards": 4}
    notes = traced(Trace(Path("/a"), speed=1.0), scan).notes
    assert [note.partition(" of ")[0] for note in notes] == [
        "trace /a: 2",
        "trace /a: 3",
        "trace /a: 4",
    ]
    assert len(traced(Trace(Path("/a")), scan).notes) == 2


# --- memory ---


def memory(content, sizes=(64,), queues=1, burst=32, held=0, **flow):
    made = compile_flow(make_flow(one_field(32, content), sizes, **flow), "s0", PORT)
    return flow_memory_octets(made, queues, burst, held)


@pytest.mark.parametrize(
    ("content", "sizes", "frames"),
    [
        (Fixed(1), (64,), 64),
        (Steps(0, 1, 7), (64,), 70),
        (Steps(0, 1, 7), (64, 64, 64, 65), 84),
        (Steps(0, 1, 8192), (64,), 8192),
        (Steps(0, 1, 8193), (64,), 16384 + 1),
        (Steps(0, 1, 8191), (64, 68), 16384 + 2),
        (Random(0, 9, 1, 2**40), (64,), 16384 + 1),
    ],
)
def test_memory_of_ready_frames(content, sizes, frames):
    stride = 64 + 128 + 128 + 64
    assert memory(content, sizes) == frames * stride
    assert memory(content, sizes, queues=3) == 3 * frames * stride


def test_memory_of_bursts_and_sizes():
    assert memory(Fixed(1), burst=512) == 512 * 384
    assert memory(Fixed(1), (1518,)) == 64 * (320 + 1536)


def test_memory_of_traces():
    assert flow_memory_octets(traced(), 2, 32, 0) == 4_000_000
    short = traced(scan=SCAN | {"frames": 10, "memory_octets": 100})
    assert flow_memory_octets(short, 1, 32, 0) == 1300
    assert flow_memory_octets(short, 1, 32, 1536) == 1300


@pytest.mark.parametrize(
    ("content", "sizes", "held", "frames"),
    [
        (Fixed(1), (64,), 0, 64),
        (Fixed(1), (64,), 1536, 1536 + 32),
        (Steps(0, 1, 7), (64,), 1536, 7 * 224),
        (Steps(0, 1, 8192), (64,), 1536, 8192),
        (Steps(0, 1, 8193), (64,), 1536, 16384 + 1),
        (Steps(0, 1, 8193), (64,), 20000, 20000 + 32 + 1),
    ],
)
def test_memory_of_stamped_frames_is_beyond_what_the_device_holds(content, sizes, held, frames):
    assert memory(content, sizes, held=held, measured=True) == frames * 384
    if frames < 8192:
        assert memory(content, sizes, held=held) < 100 * 384


@pytest.mark.parametrize(
    ("location", "descriptors", "frames"),
    [
        ("null:a", 4096, 0),
        ("af_packet:eth0", 0, 0),
        ("memif:/a.sock", 0, 0),
        ("memif:/a.sock,zero-copy=yes", 0, 1536),
        ("memif:/a.sock,zero-copy=yes,rsize=14", 0, 16896),
        ("memif:/a.sock,rsize=12,zero-copy=yes", 8192, 4608),
        ("virtio-user:/a.sock,queue_size=4096", 0, 4608),
        ("virtio-user:/a.sock", 0, 1536),
        ("0000:03:00.0", 64, 1536),
        ("0000:03:00.0", 1100, 2560),
        ("vdev:net_anything0", 3000, 4608),
        ("ring:a", 0, 1536),
        ("ring:a", 256, 768),
        ("0000:03:00.0", 8192, 8704),
    ],
)
def test_what_devices_hold(location, descriptors, frames):
    assert frames_held_max(parse_location(location), descriptors) == frames


def test_a_thousand_flows_compile_in_no_time():
    packet = headers(
        ETHERNET,
        {"vlan": {"id": increment(1, 1, 10)}},
        ipv4(increment("198.18.0.1", "0.0.0.1", 1000)),
        {"udp": {"src_port": increment(1024, 1, 1000)}},
        {"custom": {"bytes": "00" * 32}},
    )
    flows = [make_flow(packet, (1518, 128)) for _ in range(1000)]
    begin = time.process_time()
    for flow in flows:
        compile_flow(flow, "s0", PORT)
    assert time.process_time() - begin < 0.5


# --- again, with the port open ---

OPEN = PortFacts(3, "02:00:00:00:00:99", 10**9)
ELSEWHERE = one_field(32, Steps(0, 1, 7))


def again(flow, before, port, scan=None):
    return compile_again(compile_flow(flow, "s0", before, scan), before, port)


@pytest.mark.parametrize(
    "flow",
    [
        make_flow(headers(ETHERNET), (64,)),
        make_flow(ELSEWHERE, (64, 65)),
        make_flow(ELSEWHERE, (64, 65), rate=parse_rate("50%")),
        make_flow(ELSEWHERE, (64,), duration=Duration(delay_octets=1e6)),
        make_flow(
            ELSEWHERE,
            (64,),
            duration=Duration(burst=Burst(frames=2, gap_ns=0, gap_octets=1e6)),
        ),
    ],
)
def test_compiled_again_is_compiled_anew(flow):
    for before in (PORT, PortFacts(3, None, 10**14), OPEN):
        assert again(flow, before, OPEN) == compile_flow(flow, "s0", OPEN)


def test_a_trace_compiled_again():
    flow = traced(Trace(Path("/a"))).flow
    assert again(flow, PORT, OPEN, SCAN) == compile_flow(flow, "s0", OPEN, SCAN)


def test_frames_stay_where_the_port_is_not_in_them():
    draft = compile_flow(make_flow(ELSEWHERE, (64,)), "s0", PORT)
    assert compile_again(draft, PORT, PortFacts(3, OPEN.mac, PORT.line_rate_bps)) is draft
    found = compile_again(draft, PORT, OPEN)
    assert found.stream["fields"] is draft.stream["fields"]


def test_what_the_open_port_refuses():
    flow = make_flow(ELSEWHERE, (64,), rate=parse_rate("5Gbps:L1"))
    with pytest.raises(PlanError, match=r"^flows\[0\]\.rate: "):
        again(flow, PORT, OPEN)
