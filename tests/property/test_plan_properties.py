# SPDX-License-Identifier: BSD-3-Clause
"""Plans: documents read back, sizes keep their weights, and any document is a plan or an error."""

import json
import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.fuzz_plan import NAMES, NASTY, SEEDS, make_input, mutate
from wirerate.errors import PlanError
from wirerate.plan.decode import decode_plan
from wirerate.plan.document import dump_document, parse_document
from wirerate.plan.model import Plan
from wirerate.plan.reader import Reader
from wirerate.plan.sizes import decode_sizes, weighted_sequence
from wirerate.plan.yaml_text import TextError

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["10:11:22:33:44:55", "no", "0x1f", "0o7", "1e3", "1_0", "~", "", "- a", "a: b", "#", "=", "<<"]
)
scalars = st.none() | st.booleans() | st.integers(-(2**128), 2**128) | texts
values = st.recursive(
    scalars | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
documents = st.dictionaries(texts, values, max_size=5)


@given(documents)
def test_a_document_reads_back_from_yaml(document):
    loaded = parse_document(dump_document(document).encode())
    assert loaded == document
    assert json.dumps(loaded) == json.dumps(document)  # types and order too


@given(documents, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_a_document_reads_back_from_json(document, ensure_ascii, indent):
    text = json.dumps(document, ensure_ascii=ensure_ascii, indent=indent)
    assert parse_document(text.encode()) == document


@given(
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode(errors="replace"))
)
def test_any_text_is_a_document_or_an_error(data):
    try:
        document = parse_document(data)
    except TextError:
        return
    assert isinstance(document, dict)


counts = st.dictionaries(st.integers(64, 16384), st.integers(1, 200), min_size=1, max_size=8)


@given(counts)
def test_weights_are_kept_exactly_and_evenly(counts):
    sequence = weighted_sequence(list(counts.items()))
    assert Counter(sequence) == counts
    period = len(sequence)
    sent: Counter[int] = Counter()
    for place, size in enumerate(sequence, start=1):
        sent[size] += 1
        for other, count in counts.items():
            assert abs(sent[other] - Fraction(place * count, period)) < 1


@given(st.lists(st.tuples(st.integers(64, 1518), st.integers(1, 9999)), min_size=1, max_size=5))
def test_decimal_weights_are_exact(pairs):
    custom = [{"size": size, "weight": weight / 100} for size, weight in pairs]
    sizes = decode_sizes(Reader({"weight_pairs": {"custom": custom}}, "size"))
    total = sum(weight for _, weight in pairs)
    for size, sent in Counter(sizes.sequence).items():
        share = sum(weight for other, weight in pairs if other == size)
        assert Fraction(sent, len(sizes.sequence)) == Fraction(share, total)
    assert sizes.mean == Fraction(sum(size * weight for size, weight in pairs), total)


def is_plan_or_error(document):
    try:
        return isinstance(decode_plan(document), Plan)
    except PlanError as error:
        return str(error).isprintable()


keys = st.sampled_from(NAMES) | st.text(max_size=5)
nasty = st.sampled_from(NASTY) | scalars
plan_like = st.recursive(
    nasty,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=30,
)


@given(st.dictionaries(keys, plan_like, max_size=6))
def test_any_document_is_a_plan_or_an_error(document):
    assert is_plan_or_error(document)


@given(plan_like)
def test_any_flow_is_a_plan_or_an_error(value):
    for key in ("packet", "size", "rate", "duration", "payload", "x-wirerate", "tx_rx"):
        flow = {"name": "f", "tx_rx": {"port": {"tx_name": "a"}}, key: value}
        assert is_plan_or_error({"ports": [{"name": "a", "location": "null:a"}], "flows": [flow]})


@given(plan_like)
def test_any_devices_and_captures_are_a_plan_or_an_error(value):
    for key in ("devices", "captures"):
        for entry in (value, [value], [{"name": "x", "ethernets": [value], "filters": [value]}]):
            plan = {"ports": [{"name": "a", "location": "null:a"}], key: entry}
            assert is_plan_or_error(plan)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32), st.integers(0, len(SEEDS) - 1), st.integers(1, 4))
def test_any_damaged_plan_is_a_plan_or_an_error(seed, index, changes):
    document = json.loads(json.dumps(SEEDS[index]))
    mutate(document, random.Random(seed), changes)
    assert is_plan_or_error(document)


@given(st.integers(0, 2**32))
def test_any_damaged_text_is_a_document_or_an_error(seed):
    try:
        document = parse_document(make_input(random.Random(seed)))
    except TextError:
        return
    assert is_plan_or_error(document)


def test_the_seeds_are_plans():
    for seed in SEEDS:
        assert isinstance(decode_plan(seed), Plan)
    with pytest.raises(PlanError):
        decode_plan({})
