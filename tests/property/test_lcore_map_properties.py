# SPDX-License-Identifier: BSD-3-Clause
"""Lcore maps: text and map are one thing in two forms, and a choice is always a fair one."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from wirerate.errors import PlanError
from wirerate.plan.lcore_map import LcoreMap, PortLcores, choose_map, parse_maps

LCORES = range(32)
PORTS = 6

lists = st.lists(st.sampled_from(LCORES), unique=True, max_size=8).map(tuple)
port_lcores = st.builds(PortLcores, st.integers(0, PORTS - 1), lists, lists).filter(
    lambda entry: entry.rx or entry.tx
)
maps = st.lists(port_lcores, unique_by=lambda entry: entry.port, min_size=1, max_size=PORTS).map(
    lambda entries: LcoreMap(tuple(sorted(entries, key=lambda entry: entry.port)))
)


@given(maps)
def test_text_reads_back(lcore_map):
    assert parse_maps([lcore_map.text], PORTS, LCORES) == lcore_map
    assert parse_maps(lcore_map.text.split("/"), PORTS, LCORES) == lcore_map
    assert parse_maps([lcore_map.text], PORTS, LCORES).text == lcore_map.text


@given(maps)
def test_every_queue_belongs_to_one_lcore(lcore_map):
    tasks = [task for lcore in lcore_map.lcores for task in lcore_map.of_lcore(lcore)]
    assert len(tasks) == len(set(tasks)) == sum(len(e.rx) + len(e.tx) for e in lcore_map.ports)


@given(st.text(alphabet="0123456789.:,/-[]{} x", max_size=24))
def test_any_text_is_a_map_or_a_plan_error(text):
    try:
        lcore_map = parse_maps([text], PORTS, LCORES)
    except PlanError as error:
        message = str(error)
    else:
        message = f"{text!r} was read"
        assert parse_maps([lcore_map.text], PORTS, LCORES) == lcore_map
    assert repr(text) in message


cpu_sets = st.sets(st.integers(0, 63), min_size=1, max_size=24)
port_nodes = st.lists(st.integers(-1, 2), min_size=1, max_size=10)


@given(port_nodes, cpu_sets, st.dictionaries(st.integers(0, 63), st.integers(0, 2)))
def test_choice_is_complete_fair_and_printable(nodes, cpus, numa):
    lcore_map = choose_map(nodes, cpus, numa)
    assert [entry.port for entry in lcore_map.ports] == list(range(len(nodes)))
    assert parse_maps([lcore_map.text], len(nodes), cpus) == lcore_map
    if len(cpus) > 1:
        assert min(cpus) not in lcore_map.lcores
    used = Counter(lcore for entry in lcore_map.ports for lcore in {*entry.rx, *entry.tx})
    data = max(1, len(cpus) - 1)
    assert max(used.values()) <= -(-len(nodes) // data)
    assert {(len(entry.rx), len(entry.tx)) for entry in lcore_map.ports} == {(1, 1)}
    shared = {entry.rx == entry.tx for entry in lcore_map.ports}
    assert shared == {data < 2 * len(nodes)}
