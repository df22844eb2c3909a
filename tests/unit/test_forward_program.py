# SPDX-License-Identifier: BSD-3-Clause
"""Who forwards which queue, and what the engine is told."""

import pytest

from support.forwarders import lanes_of, settings_of
from wirerate.errors import PlanError
from wirerate.plan.forward_lanes import Lane, chosen_lanes, map_text
from wirerate.plan.forward_program import (
    delayed_fps_max,
    forward_memory_octets,
    forward_ports,
    forward_program,
)

PAIR = ("forward", "null:a", "null:b")
MAC = "02:00:00:00:00:99"
HZ = 2_000_000_000


def lanes(*words):
    return lanes_of(settings_of(*words))


def refusal(*words):
    with pytest.raises(PlanError) as caught:
        lanes(*words)
    return str(caught.value)


def program_of(*words):
    """Params of program.load."""
    settings = settings_of(*words)
    lanes = lanes_of(settings)
    infos = [{"mac": MAC} for _ in settings.locations]
    return forward_program(settings, lanes, infos, HZ)


def tasks_of(*words):
    """Tasks by lcore."""
    return {worker["lcore"]: worker["tasks"] for worker in program_of(*words)["workers"]}


def test_who_receives_sends_on_the_other_port():
    assert lanes(*PAIR, "-m", "[1-2].0", "-m", "3.1") == (
        Lane(0, 1, 0, 1),
        Lane(0, 1, 1, 2),
        Lane(1, 0, 0, 3),
    )


def test_queues_as_many_as_receive():
    settings = settings_of(*PAIR, "-m", "[1-2].0", "-m", "3.1")
    ports = forward_ports(settings, lanes_of(settings))
    assert [(port["rx_queues"], port["tx_queues"]) for port in ports] == [(2, 1), (1, 2)]
    assert [port["name"] for port in ports] == ["p0", "p1"]


def test_one_way_needs_one_queue_each():
    settings = settings_of(*PAIR, "--one-way", "-m", "1.0")
    ports = forward_ports(settings, lanes_of(settings))
    assert [(port["rx_queues"], port["tx_queues"]) for port in ports] == [(1, 0), (0, 1)]


@pytest.mark.parametrize(
    "maps", ["1.0/2.1", "1:2.0/2:1.1", "1:.0/2:.1", "1:2.0/2.1", "1:1.0/2:2.1"]
)
def test_transmitters_that_are_right_may_be_named(maps):
    assert lanes(*PAIR, "-m", maps) == (Lane(0, 1, 0, 1), Lane(1, 0, 0, 2))


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ([*PAIR, "-m", "1:3.0/2.1"], ["1:3.0", "lcore 2 will transmit on port 0", "[1].0"]),
        ([*PAIR, "-m", "1.0"], ["port 1 has no lcore to receive", "LCORE.1"]),
        ([*PAIR, "-m", ":1.0/2.1"], ["port 0 has no lcore to receive"]),
        ([*PAIR, "--one-way", "-m", "1.0/2.1"], ["2.1", "port 1 receives nothing here"]),
        ([*PAIR, "--one-way", "-m", "1.0/:2.1"], ["lcore 1 will transmit on port 1"]),
        ([*PAIR, "--one-way", "-m", "1:2.0"], ["nobody transmits on port 0"]),
        (["reflect", "null:a", "-m", "1:2.0"], ["lcore 1 will transmit on port 0"]),
        (["reflect", "null:a", "-m", "[1-3].0", "-q", "2"], ["-q 2", "3 lcores"]),
    ],
)
def test_maps_that_do_not_fit(words, parts):
    text = refusal(*words)
    assert [part for part in parts if part not in text] == [], text


@pytest.mark.parametrize("maps", ["1.0", "1.0/1.1", "1.0/:1.1"])
def test_the_receiver_of_one_way_may_be_named(maps):
    assert lanes(*PAIR, "--one-way", "-m", maps) == (Lane(0, 1, 0, 1),)


def test_more_queues_than_lcores_take_turns():
    found = lanes("reflect", "null:a", "-m", "[1-2].0", "-q", "3")
    assert [(lane.queue, lane.lcore) for lane in found] == [(0, 1), (1, 2), (2, 1)]
    assert map_text(found) == "[1,2,1].0"


@pytest.mark.parametrize(
    ("cpus", "queues", "lcores"),
    [
        ([0, 1, 2, 3, 4], "2", [1, 2, 3, 4]),
        ([0, 1, 2], "1", [1, 2]),
        ([0, 1], "2", [1, 1, 1, 1]),
        ([5], "1", [5, 5]),
    ],
)
def test_lcores_are_chosen(cpus, queues, lcores):
    settings = settings_of(*PAIR, "-q", queues)
    lanes = chosen_lanes(settings, cpus, [-1, -1], {})
    assert [lane.lcore for lane in lanes] == lcores
    assert [lane.queue for lane in lanes] == [*range(int(queues))] * 2


def test_the_lcore_is_on_the_node_of_the_port_that_receives():
    settings = settings_of(*PAIR)
    lanes = chosen_lanes(settings, [0, 1, 2, 3], [1, 0], {0: 0, 1: 0, 2: 1, 3: 1})
    assert [lane.lcore for lane in lanes] == [2, 1]


def test_a_forward_task():
    tasks = tasks_of(
        *PAIR,
        *("-m", "1.0/2.1", "--rewrite", "mac-swap", "--work", "150ns", "--drop", "0.1%"),
        *("--duplicate", "0.2%", "--reorder", "0.3%", "--delay", "1ms", "--seed", "7"),
        *("-b", "64"),
    )
    assert tasks[1] == [
        {
            "kind": "forward",
            "port": "p0",
            "queue": 0,
            "burst": 64,
            "to_port": "p1",
            "to_queue": 0,
            "rewrite": "mac_swap",
            "work_cycles": 300,
            "drop": 0.001,
            "duplicate": 0.002,
            "reorder": 0.003,
            "delay_ns": 1_000_000,
            "seed": 7,
        }
    ]
    assert (tasks[2][0]["port"], tasks[2][0]["to_port"]) == ("p1", "p0")


def test_an_rx_task():
    assert tasks_of("reflect", "null:a", "--rx-only", "-m", "1.0") == {
        1: [{"kind": "rx", "port": "p0", "queue": 0, "burst": 32}]
    }


def test_tasks_that_count_flows():
    for words in (("--rx-only",), ()):
        tasks = tasks_of("reflect", "null:a", *words, "-m", "1.0", "--count-flows=77")
        assert tasks[1][0]["distinct_max"] == 77


def test_a_port_with_addresses_answers():
    words = ["--address", "10.0.0.2", "--address", "fd00::2"]
    (tasks,) = tasks_of("reflect", "null:a", "-m", "1.0", *words).values()
    assert [task["kind"] for task in tasks] == ["forward", "reply"]
    assert tasks[0]["answer"] is True
    assert tasks[1] == {
        "kind": "reply",
        "port": "p0",
        "queue": 0,
        "burst": 32,
        "addresses": [
            {"mac": "02:57:52:00:00:00", "ipv4": "10.0.0.2"},
            {"mac": "02:57:52:00:00:00", "ipv6": "fd00::2"},
        ],
    }


def test_a_nic_answers_with_its_own_address():
    tasks = tasks_of("reflect", "null:a", "03:00.0", "-m", "1.0/2.1", "--address", "1=10.0.0.2")
    assert tasks[2][1]["addresses"] == [{"mac": MAC, "ipv4": "10.0.0.2"}]
    assert "answer" not in tasks[1][0]


def test_who_sends_on_a_port_answers_there():
    """Tx queue 0 of port 0 is that of the lcore which receives on port 1."""
    tasks = tasks_of(*PAIR, "-m", "1.0/2.1", "--address", "10.0.0.2")
    assert [task["kind"] for task in tasks[1]] == ["forward"]
    assert tasks[1][0]["answer"] is True
    assert [task["kind"] for task in tasks[2]] == ["forward", "reply"]
    assert "answer" not in tasks[2][0]


@pytest.mark.parametrize(
    "words", [("reflect", "null:a", "--rx-only"), ("forward", "null:a", "null:b", "--one-way")]
)
def test_an_answer_needs_a_tx_queue(words):
    words = [*words, "-m", "1.0", "--address", "10.0.0.2"]
    settings = settings_of(*words)
    lanes = lanes_of(settings)
    assert forward_ports(settings, lanes)[0]["tx_queues"] == 1
    assert [task["kind"] for task in tasks_of(*words)[1]][-1] == "reply"


def test_captures_and_sleep():
    program = program_of(
        "reflect", "null:a", "-m", "1.0", "--capture", "/x.pcap,udp", "--cpu-saver=1ms"
    )
    assert program["captures"] == [
        {"port": "p0", "path": "/x.pcap", "format": "pcap", "frames": 1_000_000, "filter": "udp"}
    ]
    assert program["workers"][0]["sleep_ns"] == 1_000_000
    whole = program_of("reflect", "null:a", "-m", "1.0", "--capture", "/x.pcapng")
    assert whole["captures"] == [
        {"port": "p0", "path": "/x.pcapng", "format": "pcapng", "frames": 1_000_000}
    ]
    assert "captures" not in program_of("reflect", "null:a", "-m", "1.0")


def test_memory_grows_with_the_delay():
    def octets(*words):
        settings = settings_of(*words)
        return forward_memory_octets(settings, lanes_of(settings))

    plain = octets(*PAIR, "-m", "1.0/2.1")
    late = octets(*PAIR, "-m", "1.0/2.1", "--delay", "1ms")
    assert late - plain > 2 * (10_000 * 2048 + 250_000 * 16)
    assert octets(*PAIR, "-m", "1.0/2.1", "-j") > 2 * plain


def test_memory_grows_with_the_flows_counted():
    """Slots of 16 octets, a power of two of them and twice as many as flows; addresses of 32."""

    def octets(*words):
        settings = settings_of("reflect", "null:a", "-m", "1-2.0", *words)
        return forward_memory_octets(settings, lanes_of(settings))

    assert octets("--count-flows") - octets() == 2 * ((2 << 20) * 16 + (1 << 20) * 32)
    assert octets("--count-flows=1000") - octets() == 2 * (2048 * 16 + 1000 * 32)
    assert octets("--count-flows=1") - octets() == 2 * (2 * 16 + 32)


def test_what_rate_can_be_delayed():
    settings = settings_of(*PAIR, "--delay", "1ms", "-M", "5000")
    assert delayed_fps_max(settings, 1) == 5e6
    many = settings_of(*PAIR, "--delay", "10ms", "-M", "1000000")
    assert delayed_fps_max(many, 1) == pytest.approx(262_144 / 0.01)
    assert delayed_fps_max(many, 2) == pytest.approx(2 * 262_144 / 0.01)
