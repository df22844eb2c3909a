# SPDX-License-Identifier: BSD-3-Clause
"""Which queue sends which flow, how large ports' frames are, and how refusals are worded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from wirerate.errors import EngineRefusedError, PlanError
from wirerate.plan.compile import CompiledFlow
from wirerate.plan.converge_settings import Converge, ConvergeTo
from wirerate.plan.eal_args import EalRequest
from wirerate.plan.fields import Header
from wirerate.plan.lcore_map import parse_maps
from wirerate.plan.location import parse_location
from wirerate.plan.model import (
    Burst,
    Duration,
    Flow,
    Metrics,
    Payload,
    Plan,
    PlanPort,
    Sizes,
    Trace,
)
from wirerate.plan.pools import memory_octets
from wirerate.plan.port_params import frame_size_max, port_params
from wirerate.plan.program import (
    fit_map,
    make_program,
    mean_fps,
    named_refusal,
    plan_flow,
    plan_ports,
    queues_of,
    uses_of,
)
from wirerate.plan.run_settings import RunSettings
from wirerate.plan.stamps import first_stamps
from wirerate.units import Rate, RateKind

SETTINGS = RunSettings(
    eal=EalRequest(),
    lcores=tuple(range(8)),
    lcore_map=None,
    burst=32,
    line_rate_bps=None,
    rx_descriptors=0,
    tx_descriptors=0,
    mbufs=8192,
    jumbo=False,
    period_ns=10**9,
    duration_ns=None,
    cpu_saver_ns=0,
    verbose=False,
    json=False,
)
BURST = Duration(burst=Burst(frames=10, gap_ns=1000.0))


def port(index, **other):
    made = PlanPort(f"n{index}", parse_location(f"null:{index}"), f"ports[{index}]")
    return replace(made, **other)


def flow(index, tx=0, rx=(), size=64, **other):
    made = Flow(
        name=f"f{index}",
        path=f"flows[{index}]",
        tx_port=f"n{tx}",
        rx_ports=tuple(f"n{n}" for n in rx),
        packet=(),
        trace=None,
        sizes=Sizes((size,), f"flows[{index}].size"),
        payload=Payload(),
        rate=Rate(RateKind.FPS, 1000.0),
        duration=Duration(),
    )
    return replace(made, **other)


def plan_of(*flows, ports=1):
    return Plan(tuple(port(index) for index in range(ports)), flows)


def compiled(plan, **stream):
    return [
        CompiledFlow(
            flow=one,
            name=f"s{index}",
            stream={"name": f"s{index}", "fps": 1000.0, "lengths": [], "fields": [], **stream},
            fps=1000.0,
            mean_size=64.0,
            frame_size_max=64,
            splittable=one.duration.burst is None,
            notes=(),
            scan={"memory_octets": 1000, "frames": 1000} if one.trace else None,
        )
        for index, one in enumerate(plan.flows)
    ]


def lcore_map(text, ports=1):
    return parse_maps([text], ports, range(64))


def tx_tasks(plan, text, settings=SETTINGS):
    """(lcore, port, queue, stream, part, parts) of all tx tasks."""
    program = make_program(plan, settings, lcore_map(text, len(plan.ports)), compiled(plan))
    return [
        (worker["lcore"], *(task[key] for key in ("port", "queue", "stream", "part", "parts")))
        for worker in program["workers"]
        for task in worker["tasks"]
        if task["kind"] == "tx"
    ]


def test_more_flows_than_queues_are_dealt_whole():
    plan = plan_of(*(flow(index) for index in range(5)))
    assert sorted(tx_tasks(plan, "1:2-3.0")) == [
        (2, "p0", 0, "s0", 0, 1),
        (2, "p0", 0, "s2", 0, 1),
        (2, "p0", 0, "s4", 0, 1),
        (3, "p0", 1, "s1", 0, 1),
        (3, "p0", 1, "s3", 0, 1),
    ]


def test_as_many_flows_as_queues_are_not_split():
    plan = plan_of(flow(0), flow(1))
    assert tx_tasks(plan, "1:2-3.0") == [(2, "p0", 0, "s0", 0, 1), (3, "p0", 1, "s1", 0, 1)]


def test_fewer_flows_than_queues_are_split_over_all():
    plan = plan_of(flow(0), flow(1))
    tasks = tx_tasks(plan, "1:2-4.0")
    assert tasks == [
        (2 + queue, "p0", queue, stream, queue, 3) for queue in range(3) for stream in ("s0", "s1")
    ]


@pytest.mark.parametrize("whole", [{"duration": BURST}, {"trace": Trace(Path("/a.pcap"))}])
def test_bursts_and_traces_keep_their_order(whole):
    plan = plan_of(flow(0), flow(1, **whole))
    tasks = [task for task in tx_tasks(plan, "1:2-4.0") if task[3] == "s1"]
    assert tasks == [(3, "p0", 1, "s1", 0, 1)]
    assert queues_of(plan, lcore_map("1:2-4.0"), compiled(plan)) == [3, 1]


def test_flows_stay_on_their_port():
    plan = plan_of(flow(0, tx=1), flow(1, tx=0), ports=2)
    assert tx_tasks(plan, "1.0/2.1") == [(1, "p0", 0, "s1", 0, 1), (2, "p1", 0, "s0", 0, 1)]


def test_workers_sleep_and_receive_as_told():
    settings = replace(SETTINGS, cpu_saver_ns=10**6, burst=300)
    program = make_program(
        plan_of(flow(0)), settings, lcore_map("1:2.0"), compiled(plan_of(flow(0)))
    )
    rx, tx = program["workers"]
    assert (rx["sleep_ns"], tx["sleep_ns"]) == (10**6, 10**6)
    assert rx["tasks"] == [{"kind": "rx", "port": "p0", "queue": 0, "burst": 512}]
    assert tx["tasks"][0]["burst"] == 300


def test_twenty_ports_on_one_lcore():
    plan = plan_of(*(flow(index, tx=index) for index in range(20)), ports=20)
    tasks = tx_tasks(plan, ":1.[0-19]")
    assert tasks == [(1, f"p{n}", 0, f"s{n}", 0, 1) for n in range(20)]


def test_ports_are_used_as_flows_say():
    plan = plan_of(flow(0, tx=0, rx=(1, 2)), flow(1, tx=1, rx=()), ports=4)
    assert [sorted(use) for use in uses_of(plan)] == [["tx"], ["rx", "tx"], ["rx"], ["rx"]]


@pytest.mark.parametrize(
    ("flows", "fitted"),
    [
        ([flow(0)], "1:2-4.0"),
        ([flow(0, duration=BURST)], "1:2.0"),
        ([flow(0, duration=BURST), flow(1, trace=Trace(Path("/a.pcap")))], "1:2-3.0"),
        ([flow(0, duration=BURST), flow(1)], "1:2-4.0"),
        ([], "1:.0"),
    ],
)
def test_queues_without_work_are_left_out(flows, fitted):
    assert fit_map(plan_of(*flows), lcore_map("1:2-4.0")).text == fitted


def test_a_flow_needs_an_lcore_to_send_it():
    plan = plan_of(flow(0, tx=1), ports=2)
    for text in ("1.0", "1:.1/1.0"):
        with pytest.raises(
            PlanError, match=r"^flows\[0\]\.tx_rx: port n1 sends it, but .*:LCORE\.1"
        ):
            fit_map(plan, lcore_map(text, 2))


def test_a_port_is_opened_for_what_it_sends_and_receives():
    plan = plan_of(flow(0, 0, (1,)), flow(1, 1, (2,)), ports=4)
    sizes = (9000, 2000)
    assert [frame_size_max(plan, n, sizes) for n in range(4)] == [9000, 9000, 2000, 1518]
    assert frame_size_max(plan, 3, sizes, jumbo=True) == 9618


def with_mtu(mtu, *flows):
    return Plan((port(0, mtu=mtu),), flows)


def test_the_mtu_decides():
    assert frame_size_max(with_mtu(9000, flow(0)), 0, [64]) == 9018
    assert frame_size_max(with_mtu(1000, flow(0)), 0, [64]) == 1018
    with pytest.raises(PlanError, match=r"flows\[0\]\.size: frames of 1519 octets, .*MTU of 1500"):
        frame_size_max(with_mtu(1500, flow(0)), 0, [1519])


def test_the_mtu_does_not_count_tags():
    tagged = flow(0, packet=(Header("ethernet", "e"), Header("vlan", "v"), Header("vlan", "v")))
    assert frame_size_max(with_mtu(1500, tagged), 0, [1526]) == 1518
    with pytest.raises(PlanError, match="MTU"):
        frame_size_max(with_mtu(1500, tagged), 0, [1527])


def test_ports_for_the_engine():
    plan = Plan((port(0), port(1, promiscuous=False)), (flow(0, 1, (0,)),))
    [entry] = port_params(plan, SETTINGS, lcore_map("1:2-3.1", 2), [64])
    assert entry == {
        "name": "p1",
        "location": "null:1",
        "rx_queues": 1,
        "tx_queues": 2,
        "rx_descriptors": 0,
        "tx_descriptors": 0,
        "mbufs": 8192,
        "frame_size_max": 1518,
        "promiscuous": False,
        "one_pool": True,
        "rx_times": False,
    }


def test_times_are_asked_for_where_something_is_measured():
    flows = (flow(0, 1, (0,)), flow(0, 1, (0,), metrics=Metrics(enabled=True)))
    plan = Plan((port(0), port(1)), flows)
    ports = port_params(plan, SETTINGS, lcore_map("1.[0-1]", 2), [64, 64])
    assert [each["rx_times"] for each in ports] == [True, False]
    ports = port_params(replace(plan, flows=flows[:1]), SETTINGS, lcore_map("1.0", 2), [64])
    assert [each["rx_times"] for each in ports] == [False]


@pytest.mark.parametrize(
    ("given", "link", "asked", "line"),
    [
        (None, None, None, None),
        (None, None, 10**9, 10**9),
        (None, 10**10, None, 10**10),
        (None, 10**10, 10**10, 10**10),
        (10**11, 10**10, 10**10, 10**11),
    ],
)
def test_whose_line_rate_counts(given, link, asked, line):
    plan = Plan((port(0, speed_bps=asked),), ())
    settings = replace(SETTINGS, line_rate_bps=given)
    infos = [{"link_speed_bps": link, "rx_descriptors": 512}]
    [found] = plan_ports(plan, settings, lcore_map("1.0"), infos, ["port 0"])
    assert (found.line_rate_bps, found.title, found.name) == (line, "port 0", "p0")


def test_a_link_of_another_speed_than_planned():
    plan = Plan((port(0, speed_bps=10**11),), ())
    infos = [{"link_speed_bps": 25 * 10**9, "rx_descriptors": 512}]
    with pytest.raises(PlanError, match=r"ports\[0\]: .*100 Gbit/s.*has 25 Gbit/s"):
        plan_ports(plan, SETTINGS, lcore_map("1.0"), infos, ["port 0"])


def test_the_mean_rate_of_bursts():
    assert mean_fps(None, None) is None
    assert mean_fps(1e6, None) == 1e6
    assert mean_fps(1e6, {"frames": 10, "gap_ns": 90_000.0}) == pytest.approx(1e5)


@pytest.mark.parametrize(
    ("stream", "unpaced", "traced", "burst_frames"),
    [
        ({}, False, False, 1),
        ({"fps": None}, True, False, 1),
        ({"burst": {"frames": 10, "gap_ns": 0.0}}, False, False, 10),
        ({"fps": None, "trace": {"speed": 1.0}}, False, True, 1),
        ({"fps": None, "trace": {"speed": None}}, True, False, 1),
    ],
)
def test_what_a_flow_is_judged_by(stream, unpaced, traced, burst_frames):
    [one] = compiled(plan_of(flow(0)), **stream)
    found = plan_flow(0, "flow f0", {"n0": 0}, one)
    assert (found.unpaced, found.traced, found.burst_frames) == (unpaced, traced, burst_frames)
    assert (found.name, found.label, found.title) == ("s0", "f0", "flow f0")
    assert (found.expected, found.measured, found.rx_ports) == (False, False, ())


@pytest.mark.parametrize(
    ("path", "text", "says"),
    [
        ("ports[0].tx_queues", "4 asked", "port b: 4 asked 1:2-5.1"),
        ("ports[0]", "busy", "port b: busy"),
        ("streams[0].template", "too long", "flows[0] (f0): too long"),
        ("workers[0].lcore", "no such", "workers[0].lcore: no such"),
    ],
)
def test_refusals_name_what_the_user_knows(path, text, says):
    plan = plan_of(flow(0, 1), ports=2)
    error = EngineRefusedError(f"{path}: {text}", path=path, errno_name="EINVAL")
    found = named_refusal(error, plan, lcore_map("1:2-5.1", 2), ["port a", "port b"])
    assert str(found) == says
    assert (found.path, found.errno_name) == (path, "EINVAL")


def test_memory_grows_with_queues_and_sizes():
    plan = plan_of(flow(0))
    flows = compiled(plan)
    one, four = (
        memory_octets(plan, SETTINGS, lcore_map(text), flows) for text in (":1.0", ":1-4.0")
    )
    assert 0 < one < four < 5 * one
    received = memory_octets(plan, SETTINGS, lcore_map("1:2.0"), flows)
    assert received > one + SETTINGS.mbufs * 2048
    warm = replace(SETTINGS, warm_up_ns=1)
    assert memory_octets(plan, warm, lcore_map("1:2.0"), flows) == received
    search = replace(SETTINGS, converge=Converge(ConvergeTo.LOSS))
    assert memory_octets(plan, search, lcore_map(":1.0"), flows) == one, "null holds none"
    nic = replace(plan, ports=(replace(plan.ports[0], location=parse_location("01:00.0")),))
    first = memory_octets(nic, SETTINGS, lcore_map(":1.0"), flows)
    for settings in (warm, search):
        assert memory_octets(nic, settings, lcore_map(":1.0"), flows) == 2 * first
    jumbo = replace(SETTINGS, jumbo=True)
    assert memory_octets(plan, jumbo, lcore_map("1:2.0"), flows) > 2 * received


def test_a_ring_always_receives():
    ring = port(0, location=parse_location("ring:a"))
    plan = Plan((ring, port(1)), (flow(0), flow(1, tx=1)))
    assert [sorted(use) for use in uses_of(plan)] == [["rx", "tx"], ["tx"]]


def test_a_memif_client_without_a_server():
    memif = port(0, location=parse_location("memif:/run/a.sock,role=client"))
    text = "ports[0]: not configured; memif_connect_client(): Failed to connect socket: /run/a."
    error = EngineRefusedError(text, path="ports[0]", errno_name="EPERM")
    found = named_refusal(error, Plan((memif,), (flow(0),)), lcore_map("1.0"), ["port east"])
    assert str(found) == (
        "port east: memif:/run/a.sock,role=client: nobody listens at /run/a.sock; start the other "
        "side first, or use role=server"
    )
    assert found.exit_code == 3


# --- measured flows ---

ENABLED = Metrics(enabled=True)


def measured(*receivers, **other):
    """A measured flow of port n0; it is renumbered by `measured_plan`."""
    return flow(0, rx=receivers, metrics=ENABLED, **other)


def measured_plan(*flows, ports=2):
    return plan_of(
        *(replace(one, name=f"f{n}", path=f"flows[{n}]") for n, one in enumerate(flows)),
        ports=ports,
    )


def stamps_of(plan, text):
    program = make_program(plan, SETTINGS, lcore_map(text, len(plan.ports)), compiled(plan))
    return [stream.get("stamp") for stream in program["streams"]]


def test_measured_flows_take_an_id_for_each_queue():
    plan = measured_plan(measured(1), flow(0), measured(1, duration=BURST), measured(1))
    assert stamps_of(plan, "1:2.0") == [0, None, 1, 2]
    assert stamps_of(plan, "1:2-6.0") == [0, None, 5, 6]
    assert stamps_of(measured_plan(flow(0)), "1:2.0") == [None]


def test_the_stream_of_a_flow_that_is_not_measured_has_no_stamp():
    plan = measured_plan(flow(0), measured(0))
    first, second = make_program(plan, SETTINGS, lcore_map("1:2.0", 2), compiled(plan))["streams"]
    assert "stamp" not in first
    assert second["stamp"] == 0


def test_all_receivers_measure_when_a_flow_is_measured():
    for one, expected in ((measured(1), [True, True]), (flow(0, rx=(1,)), [None, None])):
        plan = measured_plan(one)
        program = make_program(plan, SETTINGS, lcore_map("1:2.0/3:.1", 2), compiled(plan))
        tasks = [task for worker in program["workers"] for task in worker["tasks"]]
        assert [task.get("measure") for task in tasks if task["kind"] == "rx"] == expected
        assert all("measure" not in task for task in tasks if task["kind"] == "tx")


def test_there_are_65535_stamps():
    plan = measured_plan(measured(1), ports=2)
    [one] = compiled(plan)
    assert first_stamps([one] * 3, [65533, 1, 1]) == [0, 65533, 65534]
    with pytest.raises(PlanError, match=r"^flows: the measured ones take 65,536 stamps, .* 65,535"):
        first_stamps([one] * 3, [65533, 1, 2])


def test_a_measured_flow_needs_an_lcore_at_each_receiver():
    plan = measured_plan(measured(0, 1))
    assert fit_map(plan, lcore_map("1:2.0/3:.1", 2)).text == "1:2.0/3:.1"
    with pytest.raises(PlanError, match=r"^flows\[0\]\.tx_rx: port n1 .* on port 1; add LCORE:\.1"):
        fit_map(plan, lcore_map("1:2.0", 2))
    assert fit_map(measured_plan(flow(0, rx=(0, 1))), lcore_map("1:2.0", 2)).text == "1:2.0"


def test_a_measured_flow_knows_where_it_is_received():
    plan = measured_plan(measured(2, 0), ports=3)
    [one] = compiled(plan)
    found = plan_flow(0, "flow f0", {f"n{n}": n for n in range(3)}, one)
    assert (found.expected, found.measured, found.rx_ports) == (True, True, (2, 0))


def test_memory_of_what_receivers_know_of_each_stamp():
    def need(one, text):
        plan = measured_plan(one)
        return memory_octets(plan, SETTINGS, lcore_map(text, 2), compiled(plan))

    # Two Rx queues or more have a window together: of 4 Mi frames in all, two bits for each.
    for text, states, copies in (
        ("1:2.0", 1, 0),
        ("1-2:3.0", 2, 1 << 20),
        ("1-2:3-5.0/6:.1", 9, 3 << 18),
    ):
        more = need(measured(1), text) - need(flow(0, rx=(1,)), text)
        assert more == states * 8320 + copies


def test_receivers_are_named_where_not_every_port_is_one():
    plan = measured_plan(measured(1), measured(0, 1), ports=2)
    streams = make_program(plan, SETTINGS, lcore_map("1:2.0/3:.1", 2), compiled(plan))["streams"]
    assert [stream.get("receivers") for stream in streams] == [["p1"], None]
