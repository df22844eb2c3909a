# SPDX-License-Identifier: BSD-3-Clause
"""Lcore maps: pktperf's and Pktgen's examples, and a message for every mistake."""

import pytest

from wirerate.errors import PlanError
from wirerate.plan.lcore_map import Direction, PortLcores, QueueTask, choose_map, parse_maps

ALL = range(64)


def ports_of(*texts, ports=4, lcores=ALL):
    return {entry.port: (entry.rx, entry.tx) for entry in parse_maps(texts, ports, lcores).ports}


@pytest.mark.parametrize(
    ("text", "rx", "tx"),
    [
        ("2-5:6-9.0", (2, 3, 4, 5), (6, 7, 8, 9)),
        ("[2-5:6-9].0", (2, 3, 4, 5), (6, 7, 8, 9)),
        ("[2-5]:[6-9].0", (2, 3, 4, 5), (6, 7, 8, 9)),
        ("{2-5:6-9}.0", (2, 3, 4, 5), (6, 7, 8, 9)),
        ("[2,4:6-7].0", (2, 4), (6, 7)),
        ("2,4:6-7.0", (2, 4), (6, 7)),
        ("{2}.0", (2,), (2,)),
        ("2.0", (2,), (2,)),
        ("4-5,2.0", (4, 5, 2), (4, 5, 2)),
        ("[2/4-5].0", (2, 4, 5), (2, 4, 5)),  # Pktgen's list
        ("1:1.0", (1,), (1,)),
        ("1:.0", (1,), ()),
        (":1.0", (), (1,)),
        (" 1:2.0 ", (1,), (2,)),
        ("01:002.0", (1,), (2,)),
    ],
)
def test_one_map(text, rx, tx):
    assert ports_of(text) == {0: (rx, tx)}


@pytest.mark.parametrize(
    "texts",
    [("2-3:4.0", "5:6.1"), ("2-3:4.0/5:6.1",), ("2-3:4.0,5:6.1",), ("[2,3:4].0 / {5:6}.1",)],
)
def test_several_maps(texts):
    assert ports_of(*texts) == {0: ((2, 3), (4,)), 1: ((5,), (6,))}


def test_one_lcore_for_several_ports():
    assert ports_of("1.[0-2]") == {0: ((1,), (1,)), 1: ((1,), (1,)), 2: ((1,), (1,))}
    assert ports_of("1.0/1.2") == {0: ((1,), (1,)), 2: ((1,), (1,))}


def test_maps_of_one_port_add_up_in_order_of_appearance():
    assert ports_of("3:4.0", "9:8.1", "1:2.0") == {0: ((3, 1), (4, 2)), 1: ((9,), (8,))}


def test_queues_of_an_lcore():
    lcore_map = parse_maps(["1-2:2.0/2.1"], 2, ALL)
    assert lcore_map.of_lcore(2) == (
        QueueTask("rx", 0, 1),
        QueueTask("tx", 0, 0),
        QueueTask("rx", 1, 0),
        QueueTask("tx", 1, 0),
    )
    assert lcore_map.lcores == (1, 2)
    assert lcore_map.of_port(1) == PortLcores(1, (2,), (2,))
    assert lcore_map.of_port(3) == PortLcores(3)


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("5-2:6.0", 1, "runs backwards; write 2-5"),
        ("2:9-6.0", 3, "runs backwards; write 6-9"),
        ("2-5:6-9", 8, "the port is missing"),
        ("2-5.", 5, "not a port"),
        ("2-5.x", 5, "'x' is not a port"),
        ("2-5.-1", 5, "'-1' is not a port"),
        (".0", 1, "no lcores"),
        (":.0", 1, "no lcores"),
        ("[].0", 1, "no lcores"),
        ("", 1, "a map is missing"),
        ("  ", 1, "a map is missing"),
        ("1.0/", 5, "a map is missing"),
        ("1.0//2.1", 5, "a number is missing"),
        ("1,,2.0", 3, "a number is missing"),
        ("-1.0", 1, "'-1' is neither a number nor a range"),
        ("1-.0", 1, "'1-' is neither"),
        ("1-2-3.0", 1, "'1-2-3' is neither"),
        ("a.0", 1, "'a' is neither"),
        ("1:b.0", 3, "'b' is neither"),
        ("[1.0", 1, "'[1' is neither"),
        ("1].0", 1, "'1]' is neither"),
        ("[1}.0", 1, "'[1}' is neither"),
        ("٣.0", 1, "neither"),
        ("0x2.0", 1, "'0x2' is neither"),
        ("1:2:3.0", 4, "second colon"),
        ("1.0-1", 4, "follows the port"),
        ("1.0x", 4, "'x' follows the port"),
        ("1.0.1", 4, "follows the port"),
        ("1.[0-]", 4, "'0-' is neither"),
        ("1.[1-0]", 4, "runs backwards"),
        ("99999999999999999999.0", 1, "too large"),
        ("0-99999999999999999999.0", 1, "too large"),
        ("0-1024.0", 1, "too large"),
        ("1.4", 3, "port 4 does not exist; ports are 0-3"),
        ("1.99999", 3, "too large"),
        ("1:64.0", 3, "lcore 64 is not one this process may use; usable: 0-63"),
        ("2,2.0", 3, "lcore 2 receives on port 0 already"),
        ("2:3,3.0", 5, "lcore 3 transmits on port 0 already"),
        ("2.0/1-2:3.0", 5, "lcore 2 receives on port 0 already"),
    ],
)
def test_mistakes(text, at, says):
    with pytest.raises(PlanError) as caught:
        parse_maps([text], 4, ALL)
    assert f"lcore map {text!r}, character {at}: " in str(caught.value)
    assert says in str(caught.value)


def test_the_same_lcore_in_two_texts():
    with pytest.raises(PlanError, match=r"lcore map '3:2\.0', character 3: lcore 2 transmits"):
        parse_maps(["1:2.0", "3:2.0"], 1, ALL)


def test_usable_lcores_are_named():
    with pytest.raises(PlanError, match=r"usable: 0,2-3 "):
        parse_maps(["1.0"], 1, {3, 2, 0})


@pytest.mark.parametrize(
    "text", ["2-5:6-9.0", "[2,4:6-7].0", "2.0", "1:2.0/3:4.1", "[4,2].0", "1:.0/:1.1"]
)
def test_text_is_kept(text):
    assert parse_maps([text], 2, ALL).text == text


@pytest.mark.parametrize(
    ("ports", "cpus", "text"),
    [
        ([-1], [0], "0.0"),
        ([-1], [0, 1], "1.0"),
        ([-1], [0, 1, 2], "1:2.0"),
        ([-1], range(16), "1:2.0"),
        ([-1], [4, 6, 9], "6:9.0"),
        ([-1, -1], [0], "0.0/0.1"),
        ([-1, -1], [0, 1], "1.0/1.1"),
        ([-1, -1], [0, 1, 2], "1.0/2.1"),
        ([-1, -1], [0, 1, 2, 3], "1.0/2.1"),
        ([-1, -1], [0, 1, 2, 3, 4], "1:2.0/3:4.1"),
        ([-1] * 5, [0, 1, 2], "1.0/2.1/1.2/2.3/1.4"),
        ([], [0, 1], ""),
    ],
)
def test_choice_on_one_node(ports, cpus, text):
    assert choose_map(ports, cpus, {}).text == text


NODES = dict.fromkeys(range(4), 0) | dict.fromkeys(range(4, 8), 1)


@pytest.mark.parametrize(
    ("ports", "cpus", "text"),
    [
        ([1], range(8), "4:5.0"),
        ([0], range(8), "1:2.0"),
        ([-1, 0], range(8), "3:4.0/1:2.1"),
        ([1, 1, 1], range(8), "4:5.0/6:7.1/1:2.2"),
        ([1, 0], [0, 1, 4], "4.0/1.1"),
        ([1, 1, 0, 0], [0, 1, 4], "4.0/4.1/1.2/1.3"),
        ([1, 1, 1, 1], [0, 1, 4], "4.0/4.1/1.2/1.3"),
    ],
)
def test_choice_prefers_the_ports_node(ports, cpus, text):
    assert choose_map(ports, cpus, NODES).text == text


def test_choice_keeps_the_cpu_for_control_free():
    assert choose_map([-1], [1, 2, 3], {}, control=2).text == "1:3.0"
    assert choose_map([-1], [1], {}, control=1).text == "1.0"


RX: tuple[Direction, ...] = ("rx",)
TX: tuple[Direction, ...] = ("tx",)
BOTH = RX + TX


@pytest.mark.parametrize(
    ("uses", "cpus", "text"),
    [
        ([TX], range(8), ":1.0"),
        ([RX], range(8), "1:.0"),
        ([TX, RX], [0, 1, 2], ":1.0/2:.1"),
        ([TX, BOTH], range(4), ":1.0/2:3.1"),
        ([TX, BOTH], range(3), ":1.0/2.1"),
        ([BOTH, BOTH, TX], range(4), "1.0/2.1/:3.2"),
        ([TX, RX], [0], ":0.0/0:.1"),
    ],
)
def test_a_direction_that_is_not_used_takes_no_lcore(uses, cpus, text):
    assert choose_map([-1] * len(uses), cpus, {}, uses=uses).text == text


def test_twenty_ports_share_one_lcore():
    chosen = choose_map([-1] * 20, [0, 1], {}, uses=[TX] * 20)
    assert chosen.lcores == (1,)
    assert [entry.tx for entry in chosen.ports] == [(1,)] * 20
    assert all(entry.rx == () for entry in chosen.ports)


def test_choice_without_a_cpu():
    with pytest.raises(PlanError, match="no CPU"):
        choose_map([-1], [], {})
