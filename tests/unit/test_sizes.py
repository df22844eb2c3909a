# SPDX-License-Identifier: BSD-3-Clause
"""Sizes: every choice of OTG's, exact weights, and what does not fit."""

from collections import Counter
from fractions import Fraction

import pytest

from wirerate.errors import PlanError
from wirerate.plan.reader import Reader
from wirerate.plan.sizes import RANDOM_SIZES, SEQUENCE_MAX, decode_sizes

PATH = "flows[2].size"


def sizes(document):
    return decode_sizes(Reader(document, PATH)).sequence


def custom(*pairs):
    return {"weight_pairs": {"custom": [{"size": size, "weight": w} for size, w in pairs]}}


def test_fixed():
    assert sizes({}) == (64,)
    assert sizes({"choice": "fixed"}) == (64,)
    assert sizes({"fixed": "9000"}) == (9000,)
    assert decode_sizes(Reader({}, PATH)).path == PATH


def test_increment():
    assert sizes({"increment": {"start": 64, "end": 70, "step": 4}}) == (64, 68)
    assert sizes({"increment": {"start": 64, "end": 64}}) == (64,)
    assert sizes({"choice": "increment"}) == tuple(range(64, 1519))


def test_random_is_repeatable_and_fills_its_range():
    first = sizes({"random": {"min": 100, "max": 110}})
    assert first == sizes({"random": {"min": 100, "max": 110}})
    assert len(first) == RANDOM_SIZES
    assert set(first) == set(range(100, 111))
    assert sum(sizes({"choice": "random"})) / RANDOM_SIZES == pytest.approx(791, rel=0.01)


def test_imix():
    sequence = sizes({"weight_pairs": {}})
    assert sequence == sizes({"choice": "weight_pairs"})
    assert Counter(sequence) == {64: 7, 570: 4, 1518: 1}
    assert decode_sizes(Reader({"weight_pairs": {}})).mean == Fraction(7 * 64 + 4 * 570 + 1518, 12)
    assert sequence[:3] != (64, 64, 64)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("ipsec_imix", {90: 5867, 92: 200, 594: 2366, 1418: 1567}),
        ("ipv6_imix", {64: 5867, 496: 200, 594: 2366, 1518: 1567}),
        ("standard_imix", {64: 6067, 594: 2366, 1518: 1567}),
        ("tcp_imix", {90: 5867, 92: 200, 594: 2366, 1518: 1567}),
    ],
)
def test_other_predefined_mixes(name, counts):
    assert Counter(sizes({"weight_pairs": {"predefined": name}})) == counts


def test_custom_weights_are_decimal_and_reduced():
    assert Counter(sizes(custom((64, 58.67), (1518, 41.33)))) == {64: 5867, 1518: 4133}
    assert Counter(sizes(custom((64, 0.1), (128, 0.2)))) == {64: 1, 128: 2}
    assert Counter(sizes(custom((64, 50), (128, 100), (64, 50)))) == {64: 1, 128: 1}
    assert sizes({"weight_pairs": {"custom": [{}]}}) == (64,)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"fixed": 63}, r"size\.fixed: 63 is not between 64 and 16384"),
        ({"fixed": 16385}, r"size\.fixed: 16385"),
        ({"fixed": 64.5}, r"size\.fixed: 64\.5 is not an integer"),
        ({"fixed": True}, r"size\.fixed: True"),
        ({"fixed": 64, "random": {}}, r"size: fixed and random are both there"),
        ({"choice": "random", "fixed": 64}, r"size\.choice: it says random, but fixed is there"),
        ({"choice": "quad"}, r"size\.choice: 'quad' is not one of"),
        ({"fixd": 64}, r"size\.fixd: .* is it fixed"),
        ({"increment": {"start": 1}}, r"size\.increment\.start: 1 is not"),
        ({"increment": {"step": 0}}, r"size\.increment\.step: 0 is not"),
        ({"increment": {"start": 70, "end": 64}}, r"size\.increment\.start: 70 is above end, 64"),
        ({"increment": {"count": 1}}, r"size\.increment\.count: there is no such key"),
        ({"increment": 5}, r"size\.increment: 5 is not an object"),
        ({"random": {"min": 200, "max": 100}}, r"size\.random\.min: 200 is above max, 100"),
        ({"random": {"seed": 1}}, r"size\.random\.seed: there is no such key"),
        ({"weight_pairs": {"predefined": "x"}}, r"weight_pairs\.predefined: 'x' is not one of"),
        ({"weight_pairs": {"custom": []}}, r"weight_pairs\.custom: it has no pairs"),
        (custom((60, 1)), r"custom\[0\]\.size: 60 is not"),
        (custom((64, 1), (65, 0)), r"custom\[1\]\.weight: 0 means"),
        (custom((64, -1)), r"custom\[0\]\.weight: -1 is not between"),
        (custom((64, float("nan"))), r"custom\[0\]\.weight: nan is not a number"),
        (custom((64, "x")), r"custom\[0\]\.weight: 'x' is not a number"),
        (custom((64, 1), (65, SEQUENCE_MAX)), rf"weight_pairs: .*than {SEQUENCE_MAX:,} frames"),
        (custom((64, 1e-300), (65, 1e9)), r"weight_pairs: .*round them"),
        ({"weight_pairs": {"custom": [{"weightx": 1}]}}, r"weightx: .* is it weight"),
    ],
)
def test_refused_with_the_place(document, says):
    with pytest.raises(PlanError, match=says) as caught:
        sizes(document)
    assert str(caught.value).startswith(PATH)


def test_longest_sequence():
    assert len(sizes(custom((64, 1), (65, SEQUENCE_MAX - 1)))) == SEQUENCE_MAX
