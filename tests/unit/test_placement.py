# SPDX-License-Identifier: BSD-3-Clause
"""NUMA nodes of ports, lcores and memory: what is said, warned of, and left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.made_up import flow, port, ready, result, snapshot
from wirerate.cli.main import parse
from wirerate.cli.perf_args import settings_from_args
from wirerate.engine.eal import Memory
from wirerate.plan.lcore_map import choose_map, parse_maps
from wirerate.plan.model import Plan
from wirerate.plan.placement import (
    memory_lines,
    nodes_of,
    place,
    placement_lines,
    with_memory,
)
from wirerate.report import perf_json, perf_text
from wirerate.report.view import Setup

TWO_NODES = {cpu: cpu // 4 for cpu in range(8)}
ONE_NODE = dict.fromkeys(range(8), 0)


def placed(node, lcores, nodes=TWO_NODES, usable=range(8)):
    return place("port 0", node, lcores, usable, nodes)


def test_all_on_the_ports_node_is_shown_and_not_warned_of():
    placement = placed(1, [6, 5, 6])
    assert placement_lines([placement]) == [
        "NUMA: port 0 is on node 1, lcores 5-6 of node 1",
    ]
    assert placement.warnings() == []
    assert placement.document() == {
        "lcores": [{"lcore": 5, "numa_node": 1}, {"lcore": 6, "numa_node": 1}],
        "memory_nodes": [],
        "local": True,
    }


def test_lcores_of_another_node_are_warned_of_by_number():
    placement = placed(1, [2, 5])
    (text,) = placement.warnings()
    assert text == (
        "port 0 is on NUMA node 1, but lcore 2 is on another: its frames cross between nodes; "
        "choose among lcores 4-7 (-m)"
    )
    assert placement_lines([placement]) == [
        "NUMA: port 0 is on node 1, lcore 2 of node 0; lcore 5 of node 1",
    ]
    assert placement.document()["local"] is False


def test_where_no_lcore_of_the_node_may_be_used_none_is_offered():
    (text,) = placed(1, [2, 3], usable=range(4)).warnings()
    assert "lcores 2-3 are on another" in text
    assert text.endswith("none of that node may be used")


def test_memory_of_another_node_is_warned_of():
    told = with_memory({"p0": placed(1, [5])}, [{"port": "p0", "nodes": [0, 1]}])
    (text,) = told["p0"].warnings()
    assert "memory of its frames is on node 0: free memory (hugepages) on node 1" in text
    assert told["p0"].document()["local"] is False
    assert memory_lines(told.values()) == ["port 0 on node 1: frames in memory of nodes 0, 1"]


@pytest.mark.parametrize(
    ("node", "nodes"), [(-1, TWO_NODES), (0, ONE_NODE), (0, {}), (1, {})], ids=str
)
def test_where_there_is_no_choice_nothing_is_said(node, nodes):
    told = with_memory({"p0": placed(node, [2], nodes)}, [{"port": "p0", "nodes": [max(node, 0)]}])
    placement = told["p0"]
    assert placement.warnings() == []
    assert placement_lines([placement]) == memory_lines([placement]) == []
    assert nodes_of([placement]) == ()


def test_nobody_knows_is_not_the_same_as_local():
    assert placed(-1, [2]).document()["local"] is None
    assert placed(1, [2], {}).document()["local"] is None
    assert placed(0, [2], ONE_NODE).document()["local"] is True


def test_memory_is_wanted_on_the_nodes_of_ports_and_lcores():
    assert nodes_of([placed(1, [5]), placed(1, [6])]) == (1,)
    assert nodes_of([placed(1, [2])]) == (1, 0), "the port's first"
    assert nodes_of([placed(-1, [2])]) == ()


def test_what_wirerate_chooses_is_local_on_both_nodes():
    chosen = choose_map([1, 0], range(8), TWO_NODES)
    for entry, node in zip(chosen.ports, (1, 0), strict=True):
        placement = placed(node, (*entry.rx, *entry.tx))
        assert placement.far_lcores == ()
        assert len(placement.lcores) == 2


def made(words, placement):
    """A finished run of a port with this placement."""
    settings = settings_from_args(parse(words), range(8))
    made_port = port(())
    of = ready([made_port], [flow()], settings)
    of = of.placed({} if placement is None else {made_port.name: placement})
    return settings, result(of, snapshot(made_port))


def test_text_json_and_verdict_tell_of_a_bad_placement():
    settings, run = made(["perf", "ring:a"], replace(placed(1, [2]), memory=(1,)))
    assert any("lcore 2 is on another" in note for note in run.verdict.notes)
    summary = perf_text.summary(run, settings)
    assert "NUMA            port 0 on node 1: frames in memory of node 1" in summary
    document = perf_json.document(run, 64)["ports"][0]["placement"]
    assert document["local"] is False
    assert document["memory_nodes"] == [1]


def test_without_a_placement_nothing_is_told():
    settings, run = made(["perf", "ring:a"], None)
    assert "NUMA" not in perf_text.summary(run, settings)
    assert perf_json.document(run, 64)["ports"][0]["placement"] is None


def test_it_is_printed_before_the_start():
    settings = settings_from_args(parse(["perf", "ring:a"]), range(8))
    lcore_map = parse_maps(["5:6.0"], 1, range(8))
    text = perf_text.setup_text(
        Setup(Plan((), ()), settings, lcore_map, Memory((), "none"), (), (placed(1, [5, 6]),)),
        settings,
    )
    assert "NUMA: port 0 is on node 1, lcores 5-6 of node 1\n" in text
