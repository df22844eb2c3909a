# SPDX-License-Identifier: BSD-3-Clause
"""Patterns of a header's field: every branch, its defaults, and errors with their place."""

import pytest

from wirerate.errors import PlanError
from wirerate.plan.fields import (
    Checksum,
    Fixed,
    Length,
    NextHeader,
    PortMac,
    Random,
    Steps,
    Values,
)
from wirerate.plan.headers.patterns import decode_pattern, parse_number
from wirerate.plan.reader import Reader

SEVEN = Fixed(7)


def pattern(value, bits=16, default=SEVEN, **options):
    return decode_pattern(Reader({"f": value}, "p"), "f", bits, default, **options)


def pattern_refusal(value, bits=16, default=SEVEN, **options):
    with pytest.raises(PlanError) as caught:
        pattern(value, bits, default, **options)
    return str(caught.value)


class TestPatterns:
    def test_absent_or_empty_is_the_default(self):
        default = Length(3)
        assert decode_pattern(Reader({}, "p"), "f", 16, default) is default
        assert pattern({}, default=default) is default

    def test_value(self):
        assert pattern({"choice": "value", "value": 65535}) == Fixed(65535)
        assert pattern({"value": "65535"}) == Fixed(65535)

    def test_a_choice_without_its_branch_has_the_model_s_defaults(self):
        assert pattern({"choice": "value"}) == Fixed(7)
        assert pattern({"choice": "increment"}) == Steps(7, 1, 1)
        assert pattern({"choice": "increment"}, default=Length(), plain=46) == Steps(46, 1, 1)
        assert pattern({"choice": "random"}) == Random(0, 65535, 1, 1)

    def test_values(self):
        assert pattern({"values": [3, "1", 3]}) == Values((3, 1, 3))

    def test_steps(self):
        steps = {"start": 10, "step": 3, "count": "1000000"}
        assert pattern({"increment": steps}) == Steps(10, 3, 1_000_000)
        assert pattern({"decrement": steps}) == Steps(10, -3, 1_000_000)
        assert pattern({"increment": {"step": 0}}) == Steps(7, 0, 1)

    def test_steps_of_addresses(self):
        step = {"start": "10.0.0.255", "step": "0.0.1.0", "count": 4}
        assert pattern({"increment": step}, 32, kind="ipv4") == Steps(0x0A0000FF, 256, 4)
        step = {"start": "2001:db8::", "step": "::1:0", "count": 2}
        assert pattern({"decrement": step}, 128, kind="ipv6") == Steps(0x20010DB8 << 96, -65536, 2)
        step = {"start": "00-00-00-00-00-ff", "count": 2}
        assert pattern({"increment": step}, 48, kind="mac") == Steps(255, 1, 2)

    def test_random(self):
        drawn = {"min": 5, "max": 9, "seed": 3, "count": 100}
        assert pattern({"random": drawn}) == Random(5, 9, 3, 100)

    def test_seed_zero_is_another_one_each_time_and_known(self):
        seeds = {pattern({"random": {"seed": 0}}).seed for _ in range(5)}
        assert len(seeds) > 1
        assert all(1 <= seed < 1 << 32 for seed in seeds)

    def test_auto(self):
        default = NextHeader({}, 5)
        assert pattern({"choice": "auto", "auto": 5}, default=default) is default
        assert pattern({"choice": "auto"}, automatic=PortMac()) == PortMac()
        assert "knows no automatic value" in pattern_refusal({"choice": "auto"})

    def test_signed(self):
        assert pattern({"value": -1}, 32, kind="signed") == Fixed(0xFFFFFFFF)
        assert "is not between -128 and 127" in pattern_refusal({"value": 128}, 8, kind="signed")
        assert "unsigned" in pattern_refusal({"random": {}}, 8, kind="signed")

    def test_checksum(self):
        right = Checksum("pseudo", 17, zero_as_ones=True)
        assert pattern({"choice": "generated", "generated": "good"}, default=right) is right
        assert pattern({}, default=right) is right
        assert pattern({"generated": "bad"}, default=right) == Checksum(
            "pseudo", 17, zero_as_ones=True, bad=True
        )
        assert pattern({"custom": 0}, default=right) == Fixed(0)
        assert pattern_refusal({"custom": 65536}, default=right).startswith("p.f.custom: 65536 is")
        assert pattern_refusal({"value": 1}, default=right).startswith("p.f.value: there is no")
        assert pattern_refusal({"generated": "ugly"}, default=right).startswith("p.f.generated: ")

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            (5, "p.f: 5 is not a pattern; write {value: 5}"),
            ([5], "p.f: [5] is not a pattern, an object such as {value: …}"),
            ({"value": 65536}, "p.f.value: 65536 is not between 0 and 65535"),
            ({"value": -1}, "p.f.value: -1 is not between 0 and 65535"),
            ({"value": True}, "p.f.value: True is not an integer"),
            ({"values": []}, "p.f.values: 0 entries; give 1 to 65536"),
            ({"values": [0] * 65537}, "p.f.values: 65537 entries; give 1 to 65536"),
            ({"values": [1, 65536]}, "p.f.values[1]: 65536 is not between 0 and 65535"),
            ({"increment": {"start": 65536}}, "p.f.increment.start: 65536 is not between 0 and"),
            ({"increment": {"step": 65536}}, "p.f.increment.step: 65536 is not between 0 and"),
            ({"increment": {"count": 0}}, "p.f.increment.count: 0 is not between 1 and"),
            ({"decrement": {"count": 2**48 + 1}}, "p.f.decrement.count: 281474976710657 is not"),
            ({"decrement": {"stop": 3}}, "p.f.decrement.stop: there is no such key"),
            ({"random": {"min": 3, "max": 2}}, "p.f.random.min: it is greater than max"),
            ({"random": {"seed": -1}}, "p.f.random.seed: -1 is not between 0 and"),
            ({"value": 1, "values": [1]}, "p.f: value and values are both there"),
            ({"choice": "values", "value": 1}, "p.f.choice: it says values, but value is there"),
            ({"value": 1, "metric_tags": [{"name": "a"}]}, "p.f.metric_tags: wirerate does not"),
            ({"vale": 1}, "p.f.vale: there is no such key; is it value?"),
        ],
    )
    def test_errors(self, value, said):
        assert pattern_refusal(value).startswith(said)

    def test_random_is_for_64_bits(self):
        assert pattern_refusal({"random": {}}, 128, kind="ipv6").startswith("p.f.random: ")

    @pytest.mark.parametrize(
        ("kind", "bits", "text", "number"),
        [
            ("mac", 48, "02:57:52:00:00:0A", 0x02575200000A),
            ("mac", 48, "02-57-52-00-00-0a", 0x02575200000A),
            ("ipv4", 32, "198.18.0.1", 0xC6120001),
            ("ipv6", 128, "::0", 0),
            ("ipv6", 128, "2001:db8::1", 0x20010DB8000000000000000000000001),
            ("hex", 16, "0xBeef", 0xBEEF),
            ("hex", 16, "beef", 0xBEEF),
        ],
    )
    def test_texts(self, kind, bits, text, number):
        assert parse_number(text, "p", bits, kind) == number

    @pytest.mark.parametrize(
        ("kind", "bits", "value"),
        [
            ("mac", 48, "02:57:52:00:00"),
            ("mac", 48, "02:57-52:00:00:00"),
            ("mac", 48, "02:57:52:00:00:0g"),
            ("mac", 48, 5),
            ("ipv4", 32, "198.18.0"),
            ("ipv4", 32, "198.18.0.256"),
            ("ipv4", 32, 5),
            ("ipv6", 128, "198.18.0.1"),
            ("ipv6", 128, "fe80::1%eth0"),
            ("ipv6", 128, 5),
            ("hex", 16, "0x"),
            ("hex", 16, "12 34"),
            ("hex", 16, "1beef"),
        ],
    )
    def test_texts_that_are_none(self, kind, bits, value):
        with pytest.raises(PlanError, match=r"^p: "):
            parse_number(value, "p", bits, kind)
