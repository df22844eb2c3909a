# SPDX-License-Identifier: BSD-3-Clause
"""Patterns in windows: what the engine renders from the pieces is the pattern's value."""

import pytest

from support.flow import ETHERNET, PORT, compiled, fixed, increment, ipv4, make_flow, one_field
from support.render import render
from wirerate.errors import PlanError
from wirerate.plan.compile import compile_flow
from wirerate.plan.fields import Random, Steps


def read(frame, bits, before=112):
    whole = int.from_bytes(frame, "big")
    return whole >> (8 * len(frame) - before - bits) & (2**bits - 1)


def values_of(bits, content, number, before=112):
    stream = compile_flow(make_flow(one_field(bits, content, before)), "s0", PORT).stream
    after = -(before + bits) % 8
    frames = [render(stream, i) for i in range(number)]
    for frame in frames:
        assert read(frame, before, 0) == 0
        assert read(frame, after, before + bits) == 2**after - 1
    return [read(frame, bits, before) for frame in frames], stream


@pytest.mark.parametrize("before", [112, 113, 119])
@pytest.mark.parametrize("bits", [1, 3, 8, 12, 57, 63, 64, 65, 120, 121, 127, 128])
@pytest.mark.parametrize("step", [1, -1, 3, -(2**40), 2**63, 2**64, 2**64 + 1, 2**127 - 1])
def test_steps_of_any_width_and_place(bits, before, step):
    first = 2**64 - 2 if bits > 64 else 2**bits - 2 if bits > 1 else 1
    step %= 2**bits if step > 0 else 2**129
    values, _ = values_of(bits, Steps(first, step, 7), 9, before)
    assert values == [(first + step * (i % 7)) % 2**bits for i in range(9)]


def test_wide_steps_without_a_carry_have_no_limit_of_count():
    upward, stream = values_of(128, Steps(5 << 64 | 7, 1, 10**9), 3)
    assert upward == [(5 << 64) + 7, (5 << 64) + 8, (5 << 64) + 9]
    assert len(stream["fields"]) == 1
    downward, stream = values_of(128, Steps((5 << 64) + 10**10, -1, 10**9), 2)
    assert downward == [(5 << 64) + 10**10, (5 << 64) + 10**10 - 1]
    assert len(stream["fields"]) == 1
    both, stream = values_of(128, Steps(1 << 64, (3 << 64) + 1, 10**9), 2)
    assert both == [1 << 64, (4 << 64) + 1]
    assert len(stream["fields"]) == 2


@pytest.mark.parametrize(("first", "step"), [(2**64 - 6, 1), (2**64 + 5, -1), (2**64 - 7, 1)])
def test_wide_steps_that_only_just_carry_or_not(first, step):
    values, _ = values_of(128, Steps(first, step, 7), 7)
    assert values == [first + step * i for i in range(7)]


def test_wide_steps_with_a_carry_are_done_up_to_65536():
    first = 2**64 - 65535
    values, _ = values_of(128, Steps(first, 1, 65536), 1)
    assert values == [first]
    with pytest.raises(PlanError, match=r"flows\[0\]\.packet\[0\]\.custom\.value: 65,537 steps"):
        values_of(128, Steps(first, 1, 65537), 1)


def test_steps_that_wrap_repeat_as_soon_as_they_do():
    _, stream = values_of(8, Steps(3, 2, 1024), 1)
    assert stream["fields"][0]["count"] == 128


def test_random_of_all_64_bits():
    values, stream = values_of(64, Random(0, 2**64 - 1, 2**63 - 1, 1000), 200)
    assert stream["fields"][0]["random"]["max"] == -1
    assert max(values) > 2**63 > min(values)
    assert len(set(values)) == 200


@pytest.mark.parametrize(
    ("least", "most"),
    [(5 << 64, (5 << 64) + 9), (0, 2**128 - 1), (7 << 70, (7 << 70) + 2**70 - 1)],
)
def test_wide_random_in_a_block(least, most):
    values, _ = values_of(128, Random(least, most, 7, 300), 301)
    assert least <= min(values) <= max(values) <= most
    assert values[300] == values[0]
    assert len(set(values)) == min(most - least + 1, 300)
    if most - least >= 2**64:
        assert len({value >> 64 for value in values}) > 50
        assert sum(value >> 64 == value % 2**64 for value in values) == 0


def test_wide_random_over_half_a_block_is_refused():
    with pytest.raises(PlanError, match=r"custom\.value: .* must be a whole block"):
        values_of(128, Random(2**64 - 1, 2**64, 1, 2), 1)


def test_random_of_one_value_is_that_value():
    values, stream = values_of(16, Random(100, 60000, 99, 1), 2)
    assert stream["fields"] == []
    again, stream = values_of(16, Random(100, 60000, 99, 2), 2)
    assert len(stream["fields"]) == 1
    assert values == [again[0]] * 2


def test_patterns_advance_in_lock_step_each_at_its_own_count():
    stream = compiled(
        ETHERNET,
        ipv4({"values": ["198.18.0.1", "198.18.0.9", "198.18.0.5"]}),
        {"udp": {"src_port": increment(10, 1, 2), "dst_port": increment(65535, 2, 5)}},
        sizes=(64, 70),
    ).stream
    for i in range(60):
        frame = render(stream, i)
        assert frame[29] == (1, 9, 5)[i % 3]
        assert int.from_bytes(frame[34:36], "big") == 10 + i % 2
        assert int.from_bytes(frame[36:38], "big") == (65535 + 2 * (i % 5)) % 65536
        assert len(frame) == (60, 66)[i % 2]


def test_random_is_the_contracts_generator():
    stream = compiled(
        ETHERNET,
        ipv4(fixed("10.0.0.1")),
        {"udp": {"src_port": {"random": {"min": 5, "max": 9, "seed": 0x1234, "count": 1000}}}},
    ).stream
    ports = [int.from_bytes(render(stream, i)[34:36], "big") for i in range(1001)]
    assert set(ports) == {5, 6, 7, 8, 9}
    assert ports[1000] == ports[0]


def test_the_generator_is_splitmix64():
    """Against outputs published for the seed 1234567 (rosettacode.org, Pseudo-random numbers)."""
    values, _ = values_of(64, Random(0, 2**64 - 1, 1234567, 3), 3)
    assert values == [6457827717110365317, 3203168211198807973, 9817491932198370423]
