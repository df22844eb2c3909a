# SPDX-License-Identifier: BSD-3-Clause
"""Histograms against sorted lists: no percentile is off by more than a bucket's width."""

import math

from hypothesis import given
from hypothesis import strategies as st

from support.made_up import bucket_of, histogram
from wirerate.engine.counters import Histogram, merge

sub_bits = st.integers(1, 8)
values = st.integers(0, 2**36)
lists = st.lists(values, min_size=1, max_size=60)


@given(values, sub_bits)
def test_a_value_lies_in_its_bucket(value, bits):
    bucket = bucket_of(value, bits)
    scale = Histogram((), (), bits)
    assert scale.lower_bound(bucket) <= value < scale.lower_bound(bucket + 1)
    assert scale.bucket_of(value) == bucket


@given(st.integers(0, 2000), sub_bits)
def test_a_bucket_begins_with_its_lower_bound(bucket, bits):
    scale = Histogram((), (), bits)
    assert bucket_of(scale.lower_bound(bucket), bits) == bucket
    width = scale.lower_bound(bucket + 1) - scale.lower_bound(bucket)
    assert 1 <= width <= max(1, scale.lower_bound(bucket) / 2**bits)


@given(lists, sub_bits, st.integers(1, 100))
def test_percentiles_agree_with_a_sorted_list(counted, bits, percent):
    exact = sorted(counted)[math.ceil(len(counted) * percent / 100) - 1]
    told = histogram(*counted, sub_bits=bits).percentile(percent)
    assert told is not None
    bucket = bucket_of(exact, bits)
    scale = Histogram((), (), bits)
    assert scale.lower_bound(bucket) <= told <= scale.lower_bound(bucket + 1)
    assert abs(told - exact) <= exact / 2**bits


@given(lists, sub_bits)
def test_percentiles_do_not_fall(counted, bits):
    made = histogram(*counted, sub_bits=bits)
    told = [made.percentile(percent) for percent in (0, 1, 50, 99, 99.9, 100)]
    assert told == sorted(told, key=lambda value: value or 0)


@given(lists, lists)
def test_what_is_merged_can_be_taken_away(first, second):
    one, two = histogram(*first), histogram(*second)
    both = merge([one, two])
    assert both.total == len(first) + len(second)
    assert both.minus(two) == one
