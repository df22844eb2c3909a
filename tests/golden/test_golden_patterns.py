# SPDX-License-Identifier: BSD-3-Clause
"""What golden files alone do not show: long runs, walks against ready frames, seeds, weights."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from golden.plans import REBUILT
from golden.rebuild_schedule import lock_step
from golden.rebuild_sizes import IMIX, WEIGHTED
from support.golden import PLANS, preview, read

PORTS = "ports: [{name: p0, location: 'null:p0'}]\n"


def frames_of(text, directory, frames):
    """The octets of so many frames of a plan."""
    plan = directory / "plan.yaml"
    plan.write_text(text)
    return [frame.octets for frame in preview(plan, directory / "out.pcapng", frames)]


def test_a_seed_is_repeatable_and_another_differs(tmp_path):
    text = (PLANS / "random_seeded.yaml").read_text()
    first = frames_of(text, tmp_path, 100)
    assert frames_of(text, tmp_path, 100) == first
    assert "seed: 4," in text
    other = frames_of(text.replace("seed: 4,", "seed: 5,"), tmp_path, 100)
    source = slice(14 + 4 + 12, 14 + 4 + 16)
    assert sum(a[source] == b[source] for a, b in zip(first, other, strict=True)) < 5
    # The others' seeds are as they were.
    assert all(a[:18] == b[:18] for a, b in zip(first, other, strict=True))


def test_seed_0_is_another_one_each_time(tmp_path):
    text = (PLANS / "ipv6_flow_label.yaml").read_text()
    assert "seed: 42" in text
    made = [frames_of(text.replace("seed: 42", "seed: 0"), tmp_path, 16) for _ in range(2)]
    assert made[0] != made[1]


def test_patterns_advance_in_lock_step(tmp_path):
    # Counts of 2, 3, 4, 5, 6 and three sizes: everything together repeats after 60 frames.
    text = (PLANS / "lock_step.yaml").read_text()
    frames = frames_of(text, tmp_path, 180)
    assert frames == [lock_step(i) for i in range(180)]
    assert frames[:60] == frames[60:120] == frames[120:]
    assert len(set(frames)) == 60


@pytest.mark.parametrize(
    ("name", "sizes", "weights"),
    [
        ("size_imix", IMIX, {64: 7, 570: 4, 1518: 1}),
        ("size_weights", WEIGHTED, {100: Fraction(3, 2), 64: 1, 301: Fraction(1, 2)}),
    ],
)
def test_weights_are_exact_and_evenly_spread(name, sizes, weights):
    sent = [len(frame.octets) + 4 for frame in read(REBUILT[name].stored)]
    assert tuple(sent) == sizes * (len(sent) // len(sizes))
    share = {size: Fraction(weight) / sum(weights.values()) for size, weight in weights.items()}
    for size in weights:
        assert sizes.count(size) == share[size] * len(sizes)
        for number in range(len(sizes)):
            assert abs(sizes[:number].count(size) - share[size] * number) < 1


UDP = """\
  - ethernet: {dst: {value: '02:00:00:00:00:01'}}
  - vlan: {id: {increment: {start: 1, count: %d}}, priority: {values: [0, 5]}}
  - ipv4: {src: {random: {min: 10.0.0.0, max: 10.9.255.255, count: %d}}, dst: {value: 198.19.0.1}}
  - udp: {src_port: {decrement: {start: 65535, step: 3, count: %d}}, dst_port: {value: 9}}
"""
VXLAN = """\
  - ethernet: {dst: {value: '02:00:00:00:00:01'}}
  - ipv6: {dst: {increment: {start: '2001:db8::ffff:ffff:ffff:f000', step: '::1', count: %d}}}
  - udp: {src_port: {value: 49152}, dst_port: {value: 4789}}
  - vxlan: {vni: {increment: {start: 16777000, step: 1, count: %d}}}
  - ethernet: {dst: {value: '02:00:00:00:00:01'}}
  - ipv4: {src: {value: 10.0.0.1}, dst: {increment: {start: 10.0.0.1, step: 0.0.1.1, count: %d}}}
  - tcp: {seq_num: {value: 5}}
"""
READY, WALK = 8190, 8194
"""Periods that are rendered before the start, and that are not (docs/design/0002)."""


@pytest.mark.parametrize("stack", [UDP, VXLAN], ids=["udp", "vxlan"])
@pytest.mark.parametrize("sizes", ["fixed: 140", "increment: {start: 140, end: 142}"])
def test_a_walk_makes_the_frames_that_are_rendered(tmp_path, stack, sizes):
    head = f"{PORTS}flows:\n- name: f\n  tx_rx: {{port: {{tx_name: p0}}}}\n  packet:\n"
    tail = f"  size: {{{sizes}}}\n  payload: {{choice: increment_byte}}\n"
    ready, walk = (
        frames_of(head + stack % (count, count, count) + tail, tmp_path, READY + 4)
        for count in (READY, WALK)
    )
    assert len(set(ready)) == READY
    assert ready[READY:] == ready[:4]
    assert walk[:READY] == ready[:READY]
    assert not any(itertools.starmap(bytes.__eq__, zip(walk[READY:], ready[READY:], strict=True)))


@pytest.mark.parametrize("stack", [UDP, VXLAN], ids=["udp", "vxlan"])
@pytest.mark.parametrize("sizes", ["fixed: 150", "increment: {start: 150, end: 152}"])
def test_a_stamp_changes_nothing_else(tmp_path, stack, sizes):
    """Of ready and of written frames: with the same zeros at the end they have the same octets."""
    for count in (READY, WALK):
        made = []
        for receivers, metrics in (("", ""), (", rx_names: [p0]", "  metrics: {enable: true}\n")):
            head = f"{PORTS}flows:\n- name: f\n  tx_rx: {{port: {{tx_name: p0{receivers}}}}}\n"
            tail = f"  size: {{{sizes}}}\n"
            text = f"{head}{metrics}  packet:\n{stack % (count, count, count)}{tail}"
            made.append(frames_of(text, tmp_path, WALK + 8))
        plain, measured = made
        assert [frame[-16:] for frame in plain] == [bytes(16)] * len(plain)
        assert [frame[:-16] for frame in measured] == [frame[:-16] for frame in plain]
        stamps = [frame[-16:] for frame in measured]
        assert not any(ones_complement_sum(stamp) for stamp in stamps)
        assert [int.from_bytes(stamp[6:10], "big") for stamp in stamps] == [*range(len(plain))]


def ones_complement_sum(octets):
    """RFC 1071, as one number: 2^16 is 1 modulo 2^16 - 1."""
    return int.from_bytes(octets + bytes(len(octets) % 2), "big") % 0xFFFF


def test_every_udp_checksum_of_a_walk_is_right_and_none_is_0(tmp_path):
    plan = f"""{PORTS}flows:
- name: f
  tx_rx: {{port: {{tx_name: p0}}}}
  packet:
  - ethernet: {{}}
  - ipv4: {{src: {{value: 198.18.0.1}}, dst: {{value: 198.19.0.1}}}}
  - udp: {{src_port: {{increment: {{start: 0, step: 1, count: 65536}}}}, dst_port: {{value: 9}}}}
"""
    udp = slice(14 + 20, None)
    checksum = slice(14 + 20 + 6, 14 + 20 + 8)
    frames = frames_of(plan, tmp_path, 65536)
    assert len({frame[34:36] for frame in frames}) == 65536
    addresses = frames[0][14 + 12 : 14 + 20]
    pseudo = ones_complement_sum(addresses) + 17 + len(frames[0][udp])
    wrong = [i for i, f in enumerate(frames) if (pseudo + ones_complement_sum(f[udp])) % 0xFFFF]
    assert wrong == []
    assert not any(frame[checksum] == b"\0\0" for frame in frames)
    # 65,536 ports have 65,535 sums, so that all of these are there: that of 0 too, as 0xffff.
    assert len({frame[checksum] for frame in frames}) == 65535
