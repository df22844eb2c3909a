# SPDX-License-Identifier: BSD-3-Clause
"""Flow sets have the spread that was asked, for any key and table; Toeplitz's hash is linear."""

from __future__ import annotations

from collections import Counter

from hypothesis import assume, given
from hypothesis import strategies as st

from wirerate.errors import PlanError
from wirerate.plan.rss_flows import FlowKind, Spread, SpreadKind, flow_set, shares
from wirerate.plan.rss_hash import FIELDS, Layer4, Rss, imbalance, toeplitz

KEYS = st.binary(min_size=40, max_size=52)
TABLES = st.sampled_from([64, 128, 512])
KINDS = st.builds(FlowKind, st.sampled_from([4, 6]), st.sampled_from(Layer4))
FLOWS = 200


def plain_toeplitz(key: bytes, octets: bytes) -> int:
    """Bit by bit, as the specification says it."""
    bits = "".join(f"{octet:08b}" for octet in key)
    result = 0
    for at, bit in enumerate("".join(f"{octet:08b}" for octet in octets)):
        if bit == "1":
            result ^= int(bits[at : at + 32], 2)
    return result


def queues_of(key: bytes, size: int, kind: FlowKind, spread: Spread) -> list[int]:
    """Flows on each of four queues; keys that reach only some queues are left out."""
    rss = Rss(key, frozenset(FIELDS), tuple(entry % 4 for entry in range(size)))
    try:
        flows = flow_set(FLOWS, rss, kind, spread, 1)
    except PlanError:
        assume(False)  # noqa: FBT003
        raise
    assert len(set(flows)) == FLOWS
    counts = Counter(rss.queue_of(rss.hash_of(flow)) for flow in flows)
    return [counts[queue] for queue in range(4)]


@given(KEYS, st.binary(max_size=36))
def test_the_hash_is_the_specifications(key: bytes, octets: bytes) -> None:
    assert toeplitz(key, octets) == plain_toeplitz(key, octets)


@given(KEYS, TABLES, KINDS)
def test_even_is_even_for_any_key(key: bytes, size: int, kind: FlowKind) -> None:
    index = imbalance(queues_of(key, size, kind, Spread(SpreadKind.EVEN)))
    assert index is not None
    assert index.max_over_mean <= 1.01


@given(KEYS, TABLES, KINDS, st.integers(0, 100))
def test_skewed_is_skewed_for_any_key(key: bytes, size: int, kind: FlowKind, percent: int) -> None:
    counts = queues_of(key, size, kind, Spread(SpreadKind.SKEWED, percent / 100))
    assert counts[0] == 2 * percent
    assert max(counts[1:]) - min(counts[1:]) <= 1


@given(st.integers(1, 10_000), st.integers(1, 64), st.floats(0, 1))
def test_shares_are_of_all_flows(count: int, queues: int, share: float) -> None:
    for spread in (Spread(SpreadKind.EVEN), Spread(SpreadKind.SKEWED, share)):
        got = shares(count, range(queues), spread)
        assert sum(got.values()) == count
        assert min(got.values()) >= 0
        others = list(got.values())[1 if spread.kind is SpreadKind.SKEWED else 0 :]
        assert not others or max(others) - min(others) <= 1
