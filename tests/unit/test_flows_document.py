# SPDX-License-Identifier: BSD-3-Clause
"""The plan that `wirerate flows` stands for: BiTester's tuples, ramps, and what the engine gets."""

import ipaddress
import shlex
from typing import TYPE_CHECKING

import pytest

from wirerate.cli import flows_args
from wirerate.cli.main import parse
from wirerate.errors import PlanError
from wirerate.plan.compile import PortFacts, compile_flow
from wirerate.plan.decode import decode_plan
from wirerate.plan.document import dump_document, parse_document
from wirerate.plan.flows_document import flows_document
from wirerate.plan.flows_map import flows_map, ordered_lcores
from wirerate.plan.model import Ramp
from wirerate.plan.program import make_program

if TYPE_CHECKING:
    from wirerate.plan.lcore_map import Direction

PORT = PortFacts(0, None, None)
SRC_IP, SRC_PORT = 26, 34


def settings(line=""):
    args = parse(["flows", *shlex.split(line)])
    return flows_args.settings_from_args(args, range(1, 9))[0]


def plan(line=""):
    return decode_plan(flows_document(settings(line)))


def stream(line="", number=0):
    return compile_flow(plan(line).flows[number], f"s{number}", PORT).stream


def value_of(field, k):
    """What a FIELD has in a frame of flow k, by the contract (docs/design/0002, 0007)."""
    step = k // field.get("every", 1) % field["count"]
    return (field["first"] + field["step"] * step) % (1 << 8 * field["octets"])


def field_at(of, offset):
    """The FIELD there, and what the template has where there is none."""
    for field in of["fields"]:
        if field["offset"] == offset:
            return field
    octets = 2 if offset == SRC_PORT else 4
    first = int(of["template"][2 * offset : 2 * (offset + octets)], 16)
    return {"first": first, "step": 0, "count": 1, "octets": octets}


@pytest.mark.parametrize("flows", [1, 2, 1000, 65_536, 65_537, 300_000, 1 << 32])
@pytest.mark.parametrize("port", [0, 7788, 65_535])
def test_flow_k_is_bitesters(flows, port):
    made = stream(f"--flow-num {flows} --src-ip 10.0.0.250 --src-port {port}")
    base = int(ipaddress.IPv4Address("10.0.0.250"))
    for k in {0, 1, 65_535, 65_536, 131_071, flows // 2, flows - 1}:
        if k < flows:
            assert value_of(field_at(made, SRC_IP), k) == base + k // 65_536
            assert value_of(field_at(made, SRC_PORT), k) == (port + k) % 65_536


def test_ipv6_carries_over_every_octet():
    made = stream("--flow-num 300000 --src-ip 2001:2::ffff:ffff:ffff:fffd")
    fields = [field for field in made["fields"] if field["offset"] < 38]
    found = []
    for k in (0, 65_536, 131_072, 196_608, 262_144):
        address = bytearray.fromhex(made["template"])[22:38]
        for field in fields:
            at = field["offset"] - 22
            if "values" in field:
                value = field["values"][k // field["every"] % len(field["values"])]
            else:
                value = value_of(field, k)
            address[at : at + field["octets"]] = value.to_bytes(field["octets"], "big")
        found.append(str(ipaddress.IPv6Address(bytes(address))))
    first = int(ipaddress.IPv6Address("2001:2::ffff:ffff:ffff:fffd"))
    assert found == [str(ipaddress.IPv6Address(first + add)) for add in range(5)]


def test_the_ramp_the_engine_gets():
    assert stream("--flow-num 300000 --cps 10000")["ramp"] == {
        "flows": 300_000,
        "per_second": 10_000.0,
        "start": 1,
        "hold_ns": None,
        "down": False,
    }
    assert stream("--flow-num 9 --cps 3 --ramp-down --hold 1.5")["ramp"] == {
        "flows": 9,
        "per_second": 3.0,
        "start": 1,
        "hold_ns": 1_500_000_000,
        "down": True,
    }
    assert stream("--flow-num 300000 --no-ramp")["ramp"]["start"] == 300_000


@pytest.mark.parametrize(
    "line", ["", "--flow-num 9 --no-ramp", "--flow-num 65536 --no-ramp", "--flow-num 3 -n 4"]
)
def test_what_otg_can_say_needs_no_extension(line):
    assert "x-wirerate" not in str(flows_document(settings(line)))
    assert "ramp" not in stream(line)


def test_every_is_there_only_behind_65536_flows():
    assert [field.get("every") for field in stream("--flow-num 65537")["fields"]] == [65_536, None]
    assert [field.get("every") for field in stream("--flow-num 65536")["fields"]] == [None]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--flow-num 300000 --ramp-down --hold 0.25 --duration 3",
        "--flow-num 300000 --src-ip 2001:2::1 --mode 2 -s 0.1",
        "--flow-num 5 --probe -s 10% -P --src-mac 02:00:00:00:00:07",
        "ring:a ring:b -r 1 -t 0 --oneway --payload 1472",
    ],
)
def test_the_text_of_the_plan_says_the_same(line):
    document = flows_document(settings(line))
    assert parse_document(dump_document(document).encode()) == document
    assert decode_plan(parse_document(dump_document(document).encode())) == decode_plan(document)


def test_ends():
    [flow] = plan("ring:a ring:b -r 1 -t 0").flows
    assert (flow.tx_port, flow.rx_ports) == ("p0", ("p1",))
    [flow] = plan("ring:a --oneway").flows
    assert (flow.tx_port, flow.rx_ports) == ("p0", ("p0",))
    [flow] = plan("ring:a --oneway --peer 127.0.0.1:1").flows
    assert (flow.tx_port, flow.rx_ports) == ("p0", ())
    assert not plan("ring:a -P").ports[0].promiscuous


def test_modes_measure():
    assert not plan("--mode 0").flows[0].measured
    for mode in (1, 2):
        [flow] = plan(f"--mode {mode}").flows
        assert flow.measured
        assert str(flow.rate) == "50kpps"
        assert stream(f"--mode {mode}")["template"][30:32] == "20"  # TOS


def test_the_probe_is_a_frame_of_flow_0():
    main, probe = plan("--flow-num 300000 --probe=0.1").flows
    assert (main.measured, probe.measured) == (False, True)
    assert str(probe.rate) == "100kpps"
    own, other = (bytes.fromhex(stream("--flow-num 9 --probe", n)["template"]) for n in (0, 1))
    assert own[26:38] == other[26:38]
    assert (own[15], other[15]) == (0, 0x20)


def test_probes_leave_the_ramp_on_all_queues():
    line = "--flow-num 300000 --probe -m [1-2].0 ring:a"
    asked, made = settings(line), plan(line)
    compiled = [compile_flow(flow, f"s{n}", PORT) for n, flow in enumerate(made.flows)]
    workers = make_program(made, asked, asked.lcore_map, compiled)["workers"]
    tasks = [task for own in workers for task in own["tasks"]]
    parts = [(task["queue"], task["part"]) for task in tasks if task.get("stream") == "s0"]
    assert parts == [(0, 0), (1, 1)]
    assert {task["distinct_max"] for task in tasks if task["kind"] == "rx"} == {301_024}


def test_a_ramp_has_frames_of_one_size():
    document = flows_document(settings("--flow-num 9"))
    document["flows"][0]["size"] = {"choice": "weight_pairs"}
    [flow] = decode_plan(document).flows
    with pytest.raises(PlanError, match=r"^flows\[0\]\.x-wirerate\.ramp: its frames are of one"):
        compile_flow(flow, "s0", PORT)


def extended(**extension):
    document = flows_document(settings("--flow-num 9"))
    document["flows"][0]["x-wirerate"] = extension
    return decode_plan(document).flows[0]


def test_the_extension_is_read_strictly():
    ramp = {"flows": 9, "per_second": 2}
    assert extended(ramp=ramp).ramp == Ramp(9, 2.0)
    assert extended(whole_bursts=True).whole_bursts
    for wrong, part in (
        ({"ramp": {"flows": 9}}, "ramp.per_second: it is missing"),
        ({"ramp": ramp | {"start": 10}}, "ramp.start: 10 is not between 1 and 9"),
        ({"ramp": ramp | {"flows": 0}}, "ramp.flows"),
        ({"ramp": ramp | {"per_second": 0}}, "ramp.per_second"),
        ({"ramp": ramp | {"down": True}}, "ramp.down: how long all flows stay"),
        ({"ramp": ramp | {"hold_seconds": 1}}, "ramp.hold_seconds: nothing comes after it"),
        ({"ramp": ramp | {"upward": 1}}, "ramp.upward: there is no such key"),
        ({"ramp": ramp, "trace": {"file": "a"}}, "x-wirerate.ramp: a trace has its own"),
        ({"ramps": ramp}, "x-wirerate.ramps: there is no such key; is it ramp?"),
    ):
        with pytest.raises(PlanError) as error:
            extended(**wrong)
        assert part in str(error.value)


def test_every_is_read_strictly():
    def with_source(source):
        document = flows_document(settings("--flow-num 9"))
        document["flows"][0]["packet"][1]["ipv4"]["src"] = source
        return compile_flow(decode_plan(document).flows[0], "s0", PORT).stream["fields"][0]

    steps = {"increment": {"start": "1.0.0.0", "count": 4}}
    assert with_source(steps | {"x-wirerate": {"every": 7}})["every"] == 7
    assert "every" not in with_source(steps | {"x-wirerate": {"every": 1}})
    assert with_source({"values": ["1.0.0.0", "1.0.0.1"], "x-wirerate": {"every": 2}})["every"] == 2
    for source, part in (
        (steps | {"x-wirerate": {"every": 0}}, "src.x-wirerate.every: 0 is not between 1"),
        (steps | {"x-wirerate": {"ever": 2}}, "src.x-wirerate.ever: there is no such key"),
        ({"value": "1.0.0.0", "x-wirerate": {"every": 2}}, "the field has one value"),
    ):
        with pytest.raises(PlanError) as error:
            with_source(source)
        assert part in str(error.value)


def test_lcores():
    both: frozenset[Direction] = frozenset({"rx", "tx"})
    tx: frozenset[Direction] = frozenset({"tx"})
    rx: frozenset[Direction] = both - tx
    assert str(flows_map([both], 2, [1, 2, 3, 4], separate=False)) == "1-2.0"
    assert str(flows_map([both], 2, [1, 2, 3, 4], separate=True)) == "1-2:3-4.0"
    assert str(flows_map([tx, rx], 1, [5, 6], separate=True)) == ":6.0/5:.1"
    assert str(flows_map([tx], 2, [5, 6], separate=True)) == ":5-6.0"
    with pytest.raises(PlanError, match=r"-n 3: 3 queues need 6 lcores .* but 4 may be used"):
        flows_map([both], 3, [1, 2, 3, 4], separate=True)
    assert ordered_lcores([0, 1, 2, 3], {0: 0, 1: 0, 2: 1, 3: 1}, 1, None) == [2, 3, 1, 0]
    assert ordered_lcores([4, 5, 6], {}, -1, 5) == [4, 6, 5]
