# SPDX-License-Identifier: BSD-3-Clause
"""Plans: every default and branch of OTG outside the headers, every error with its place."""

import copy
from pathlib import Path

import pytest

from fuzz.fuzz_plan import SEEDS
from wirerate.errors import PlanError
from wirerate.plan.decode import decode_plan
from wirerate.plan.document import dump_document, load_document
from wirerate.plan.location import parse_location
from wirerate.plan.model import Burst, Duration, Metrics, Payload, PlanPort, Trace
from wirerate.units import Rate, RateKind


def plan(**flow):
    flow = {"name": "f", "tx_rx": {"port": {"tx_name": "a"}}, **flow}
    return {
        "ports": [{"name": "a", "location": "null:a"}, {"name": "b", "location": "null:b"}],
        "flows": [{key: value for key, value in flow.items() if value is not None}],
    }


def flow_of(**flow):
    return decode_plan(plan(**flow)).flows[0]


def test_defaults():
    flow = flow_of()
    assert (flow.name, flow.path, flow.tx_port, flow.rx_ports) == ("f", "flows[0]", "a", ())
    assert [header.kind for header in flow.packet] == ["ethernet"]
    assert flow.packet[0].path.startswith("flows[0].packet[0]")
    assert flow.trace is None
    assert flow.sizes.sequence == (64,)
    assert flow.payload == Payload("fixed", b"\x00", repeat=True)
    assert flow.rate == Rate(RateKind.FPS, 1000)
    assert flow.duration == Duration()


def test_branches_chosen_without_content_have_their_defaults():
    assert flow_of(rate={"choice": "gbps"}).rate == Rate(RateKind.L2_BPS, 1e9)
    assert flow_of(rate={"choice": "percentage"}).rate == Rate(RateKind.PERCENT, 100)
    assert flow_of(duration={"choice": "fixed_packets"}).duration.frames == 1
    assert flow_of(duration={"choice": "fixed_seconds"}).duration.duration_ns == 10**9
    assert flow_of(duration={"choice": "burst"}).duration == Duration(burst=Burst(1, 0.0, 12.0))
    assert flow_of(size={"choice": "weight_pairs"}).sizes.mean == pytest.approx(353.83, abs=0.01)


def test_ports_and_layer1():
    document = plan()
    document["layer1"] = [
        {
            "name": "l",
            "port_names": ["b"],
            "speed": "speed_25_gbps",
            "mtu": 9000,
            "promiscuous": False,
        }
    ]
    ports = decode_plan(document).ports
    assert ports[0] == PlanPort("a", parse_location("null:a"), "ports[0]")
    assert ports[1] == PlanPort(
        "b", parse_location("null:b"), "ports[1]", 25 * 10**9, 9000, promiscuous=False
    )
    assert decode_plan(document).port_index("b") == 1


@pytest.mark.parametrize(
    ("tx_rx", "rx_ports"),
    [
        ({"port": {"tx_name": "a", "rx_name": "b"}}, ("b",)),
        ({"choice": "port", "port": {"tx_name": "a", "rx_names": ["b", "a"]}}, ("b", "a")),
        ({"port": {"tx_name": "a", "rx_names": []}}, ()),
    ],
)
def test_receivers(tx_rx, rx_ports):
    assert flow_of(tx_rx=tx_rx).rx_ports == rx_ports


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        ({"pps": "18446744073709551615"}, Rate(RateKind.FPS, float(2**64 - 1))),
        ({"choice": "pps", "pps": 7}, Rate(RateKind.FPS, 7)),
        ({"bps": 672}, Rate(RateKind.L2_BPS, 672)),
        ({"kbps": "5"}, Rate(RateKind.L2_BPS, 5e3)),
        ({"mbps": 5}, Rate(RateKind.L2_BPS, 5e6)),
        ({"gbps": 100}, Rate(RateKind.L2_BPS, 1e11)),
        ({"percentage": 0.5}, Rate(RateKind.PERCENT, 0.5)),
    ],
)
def test_rates(rate, expected):
    assert flow_of(rate=rate).rate == expected


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        ({"continuous": {"gap": 12, "delay": {"nanoseconds": 7}}}, Duration(delay_ns=7)),
        ({"continuous": {"delay": {"microseconds": 1.5}}}, Duration(delay_ns=1500)),
        ({"continuous": {"delay": {"bytes": 64.5}}}, Duration(delay_octets=64.5)),
        ({"fixed_packets": {"packets": 9, "delay": {}}}, Duration(9)),
        ({"fixed_seconds": {"seconds": 0.25}}, Duration(duration_ns=250_000_000)),
        ({"burst": {"bursts": 3, "packets": 5}}, Duration(15, burst=Burst(5, 0.0, 12.0))),
        (
            {"burst": {"packets": 5, "inter_burst_gap": {"choice": "nanoseconds"}}},
            Duration(burst=Burst(5, 96.0)),
        ),
        (
            {"burst": {"packets": 5, "inter_burst_gap": {"microseconds": 1.5}}},
            Duration(burst=Burst(5, 1500.0)),
        ),
        (
            {"burst": {"packets": 5, "inter_burst_gap": {"nanoseconds": 1e6}}},
            Duration(burst=Burst(5, 1e6)),
        ),
    ],
)
def test_durations(duration, expected):
    assert flow_of(duration=duration).duration == expected


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({}, Payload("fixed", b"\x00")),
        (
            {"fixed": {"pattern": "C0ffee", "repeat": False}},
            Payload("fixed", b"\xc0\xff\xee", repeat=False),
        ),
        ({"choice": "decrement_word"}, Payload("decrement_word", b"\x00")),
    ],
)
def test_payloads(payload, expected):
    assert flow_of(payload=payload).payload == expected


def trace_file(document, base):
    trace = decode_plan(document, base=base).flows[0].trace
    assert trace is not None
    return trace.file


def test_trace():
    trace = {
        "file": "t/a.pcap",
        "speed": 2.5,
        "strict": True,
        "overwrite": [
            {"offset": 6, "octets": "02:57:52:00:00:01"},
            {"offset": 0, "octets": "00FF"},
        ],
    }
    document = plan(**{"x-wirerate": {"trace": trace}}, packet=[], size={})
    flow = decode_plan(document, base=Path("/plans")).flows[0]
    assert flow.trace == Trace(
        Path("/plans/t/a.pcap"), 2.5, ((6, b"\x02WR\x00\x00\x01"), (0, b"\x00\xff")), strict=True
    )
    assert (flow.packet, flow.sizes) == ((), None)
    assert trace_file(document, None) == Path("t/a.pcap")
    trace["file"] = "/abs/a.pcap"
    assert trace_file(document, Path("/plans")) == Path("/abs/a.pcap")
    bare = flow_of(**{"x-wirerate": {"trace": {"file": "a"}}}, rate={"pps": 5})
    assert bare.trace == Trace(Path("a"))
    assert flow_of(**{"x-wirerate": {}}).trace is None


def test_harmless_options_are_read():
    document = plan(metrics={"loss": False, "latency": {"mode": "cut_through"}})
    document["options"] = {
        "port_options": {"location_preemption": False, "frame_ordering_mode": {}},
        "protocol_options": {"auto_start_all": True},
        "flow_options": {"packet_loss_duration": False},
        "per_port_options": [],
    }
    document.update(devices=[], captures=[], lags=None)
    assert decode_plan(document).flows[0].name == "f"


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"enable": True}, Metrics(enabled=True)),
        (
            {
                "enable": True,
                "loss": True,
                "timestamps": True,
                "latency": {"enable": True, "mode": "store_forward"},
                "predefined_metric_tags": {"rx_name": True},
            },
            Metrics(enabled=True, loss=True, timestamps=True, latency=True, rx_name=True),
        ),
        ({"enable": False, "loss": False}, Metrics()),
        (None, Metrics()),
    ],
)
def test_metrics(metrics, expected):
    flow = flow_of(tx_rx=RECEIVED, metrics=metrics)
    assert flow.metrics == expected
    assert flow.measured is expected.enabled


@pytest.mark.parametrize("index", range(len(SEEDS)))
def test_a_plan_reads_the_same_from_yaml(index, tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(dump_document(SEEDS[index]))
    assert decode_plan(load_document(path)) == decode_plan(SEEDS[index])


def trace_plan(**trace):
    return {"x-wirerate": {"trace": {"file": "a", **trace}}}


PORT = {"tx_name": "a"}
RECEIVED = {"port": {"tx_name": "a", "rx_names": ["b"]}}
CUT_THROUGH = {"enable": True, "mode": "cut_through"}
FLOW_ERRORS = [
    ({"name": None}, r"flows\[0\]\.name: it is missing"),
    ({"name": ""}, r"flows\[0\]\.name: '' is not a name"),
    ({"name": "a\nb"}, r"flows\[0\]\.name: 'a\\nb' is not a name"),
    ({"name": 5}, r"flows\[0\]\.name: 5 is not a string; put it in quotes"),
    ({"namex": "x"}, r"flows\[0\]\.namex: there is no such key; is it name\?"),
    ({"tx_rx": None}, r"flows\[0\]\.tx_rx: it is missing"),
    ({"tx_rx": {}}, r"tx_rx\.port\.tx_name: it is missing"),
    ({"tx_rx": {"port": {"tx_name": "aa"}}}, r"tx_name: there is no port 'aa'; is it a\?"),
    (
        {"tx_rx": {"port": {"tx_name": "xyz"}}},
        r"there is no port 'xyz'; the ports are \['a', 'b'\]",
    ),
    ({"tx_rx": {"port": {**PORT, "rx_names": ["b", "c"]}}}, r"rx_names\[1\]: there is no port 'c'"),
    ({"tx_rx": {"port": {**PORT, "rx_names": ["b", "b"]}}}, r"rx_names\[1\]: .* twice"),
    ({"tx_rx": {"port": {**PORT, "rx_name": "b", "rx_names": ["b"]}}}, r"port\.rx_name: rx_names"),
    ({"tx_rx": {"device": {}}}, r"tx_rx\.device\.tx_names: it is missing"),
    ({"tx_rx": {"port": PORT, "device": {}}}, r"tx_rx: port and device are both there"),
    ({"packet": {}}, r"flows\[0\]\.packet: {} is not a list"),
    ({"packet": [{"ethernet": {}}, 5]}, r"flows\[0\]\.packet\[1\]: 5 is not an object"),
    ({"packet": [{"ethernet": {"x": 1}}]}, r"flows\[0\]\.packet\[0\]\.ethernet\.x: there is no"),
    ({"size": {"fixed": 60}}, r"flows\[0\]\.size\.fixed: 60 is not between"),
    ({"rate": {"pps": 0}}, r"rate\.pps: 0 is not between 1 and"),
    ({"rate": {"pps": 1.5}}, r"rate\.pps: 1\.5 is not an integer"),
    ({"rate": {"pps": "9" * 5000}}, r"rate\.pps: '999.* is not an integer"),
    ({"rate": {"bps": 671}}, r"rate\.bps: 671 is not between 672"),
    ({"rate": {"percentage": 101}}, r"rate\.percentage: 101 is not between 0 and 100"),
    ({"rate": {"percentage": 0}}, r"rate\.percentage: 0 sends nothing"),
    ({"rate": {"pps": 1, "gbps": 1}}, r"flows\[0\]\.rate: pps and gbps are both there"),
    ({"rate": {"choice": "gbps", "pps": 1}}, r"rate\.choice: it says gbps, but pps is there"),
    ({"duration": {"fixed_packets": {"packets": 0}}}, r"fixed_packets\.packets: 0 is not"),
    ({"duration": {"fixed_packets": {"packets": 2**63}}}, r"packets: 9223372036854775808 is not"),
    ({"duration": {"continuous": {"gap": 20}}}, r"continuous\.gap: 20: the rate of the flow says"),
    ({"duration": {"burst": {"gap": 0}}}, r"duration\.burst\.gap: 0: the rate"),
    ({"duration": {"burst": {"delay": {}}}}, r"duration\.burst\.delay: there is no such key"),
    ({"duration": {"fixed_seconds": {"seconds": 0}}}, r"fixed_seconds\.seconds: .*nothing"),
    ({"duration": {"fixed_seconds": {"seconds": 1e9}}}, r"fixed_seconds\.seconds: 1000000000\.0"),
    ({"duration": {"continuous": {"delay": {"bytes": -1}}}}, r"continuous\.delay\.bytes: -1"),
    ({"duration": {"continuous": {"delay": {"nanoseconds": 1e18}}}}, r"delay\.nanoseconds: 1e\+18"),
    ({"payload": {"fixed": {"pattern": "abc"}}}, r"payload\.fixed\.pattern: it is not 1 to"),
    ({"payload": {"fixed": {"pattern": ""}}}, r"payload\.fixed\.pattern: it is not 1 to"),
    ({"payload": {"fixed": {"pattern": "00" * 16385}}}, r"payload\.fixed\.pattern: it is not 1 to"),
    ({"payload": {"fixed": {"pattern": 0}}}, r"pattern: 0 is not a string; put it in quotes"),
    ({"payload": {"increment_byte": {}}}, r"payload\.increment_byte: it is a word"),
    ({"metrics": {"loss": True}}, r"metrics\.loss: only measured .* set flows\[0\]\.metrics\.en"),
    ({"metrics": {"timestamps": True}}, r"metrics\.timestamps: only measured"),
    ({"metrics": {"latency": {"enable": True}}}, r"metrics\.latency\.enable: only measured"),
    ({"metrics": {"predefined_metric_tags": {"rx_name": True}}}, r"tags\.rx_name: only measured"),
    ({"metrics": {"rx_tx_ratio": {"value": 2}}}, r"metrics\.rx_tx_ratio: wirerate does not do"),
    ({"metrics": {"enable": 1}}, r"metrics\.enable: 1 is not true or false"),
    ({"metrics": {"enabled": True}}, r"metrics\.enabled: there is no such key; is it enable"),
    ({"metrics": {"latency": {"mod": 1}}}, r"metrics\.latency\.mod: there is no such key"),
    (
        {"metrics": {"enable": True}},
        r"flows\[0\]\.metrics\.enable: no port is to receive the flow, .* flows\[0\]\.tx_rx",
    ),
    (
        {"tx_rx": RECEIVED, "metrics": {"enable": True, "latency": CUT_THROUGH}},
        r"metrics\.latency\.mode: software knows .* use store_forward",
    ),
    (
        {**trace_plan(), "tx_rx": RECEIVED, "metrics": {"enable": True}},
        r"metrics\.enable: the frames of a trace have no room for stamps",
    ),
    ({"egress_packet": [{"ethernet": {}}]}, r"egress_packet: wirerate does not do egress tracking"),
    ({"x-wirerate": {"tracks": 1}}, r"x-wirerate\.tracks: there is no such key; is it trace"),
    ({"x-wirerate": {"trace": {}}}, r"x-wirerate\.trace\.file: it is missing"),
    (trace_plan(file=""), r"trace\.file: it is not the name of a file"),
    (trace_plan(speed=0), r"trace\.speed: 0 is not between"),
    (trace_plan(overwrite=[{"offset": 0, "octets": "0"}]), r"overwrite\[0\]\.octets: they are not"),
    (trace_plan(overwrite=[{"offset": 16379, "octets": "0000"}]), r"octets: they end behind"),
    (trace_plan(overwrite=[{"offset": 16380, "octets": "00"}]), r"offset: 16380 is not between"),
    ({**trace_plan(), "packet": [{"ethernet": {}}]}, r"flows\[0\]\.packet: .*leave out one"),
    ({**trace_plan(), "size": {"fixed": 64}}, r"flows\[0\]\.size: .*leave out one"),
    ({**trace_plan(), "payload": {"choice": "fixed"}}, r"flows\[0\]\.payload: .*leave out one"),
    (
        {**trace_plan(speed=1), "rate": {"pps": 1}},
        r"flows\[0\]\.rate: the trace is sent at its own",
    ),
    ({**trace_plan(speed=1), "duration": {"burst": {}}}, r"duration\.burst: the trace is sent at"),
]


@pytest.mark.parametrize(("flow", "says"), FLOW_ERRORS)
def test_flow_refused_with_the_place(flow, says):
    with pytest.raises(PlanError, match=says) as caught:
        flow_of(**flow)
    assert str(caught.value).startswith("flows[0]")
    assert str(caught.value).isprintable()


def layer1(**entry):
    return {"layer1": [{"name": "l", "port_names": ["a"], **entry}]}


CONFIG_ERRORS = [
    ({"ports": None}, r"ports: there is none"),
    ({"ports": []}, r"ports: there is none"),
    ({"ports": {}}, r"ports: {} is not a list"),
    ({"ports": [{"name": "a"}]}, r"ports\[0\]\.location: it is missing"),
    ({"ports": [{"location": "null:a"}]}, r"ports\[0\]\.name: it is missing"),
    ({"ports": [{"name": "a", "location": "nul:a"}]}, r"ports\[0\]\.location: location 'nul:a'"),
    ({"ports": [{"name": "a", "location": "\x1b"}]}, r"ports\[0\]\.location: '\\x1b' holds"),
    ({"ports": [{"name": "a", "location": "null:a"}] * 2}, r"ports\[1\]\.name: ports\[0\] has"),
    ({"ports": [{"name": "a", "location": "null:a", "speed": 1}]}, r"ports\[0\]\.speed: there is"),
    ({"flows": 5}, r"flows: 5 is not a list"),
    ({"flow": []}, r"flow: there is no such key; is it flows\?"),
    ({"a\nb": 1}, r"'a\\nb': there is no such key"),
    ({"devices": [{}]}, r"devices\[0\]\.name: it is missing"),
    ({"captures": [{}]}, r"captures\[0\]\.name: it is missing"),
    ({"lags": [{}]}, r"lags: wirerate does not do"),
    ({"lldp": [{}]}, r"lldp: wirerate does not do"),
    ({"events": {"enable": True}}, r"events: wirerate does not do"),
    ({"stateful_flows": {"x": 1}}, r"stateful_flows: wirerate does not do"),
    ({"egress_only_tracking": [{}]}, r"egress_only_tracking: wirerate does not do"),
    (layer1(port_names=["a", "c"]), r"layer1\[0\]\.port_names: there is no port 'c'"),
    (layer1(port_names=["a", "a"]), r"layer1\[0\]\.port_names\[1\]: port a is in layer1\[0\]"),
    (layer1(port_names=[5]), r"layer1\[0\]\.port_names\[0\]: 5 is not a string"),
    (layer1(port_names=None), r"layer1\[0\]\.port_names: it is missing"),
    (layer1(name=None), r"layer1\[0\]\.name: it is missing"),
    (layer1(mtu=63), r"layer1\[0\]\.mtu: 63 is not between 64 and 14000"),
    (layer1(speed="speed_11_gbps"), r"layer1\[0\]\.speed: 'speed_11_gbps' is not one of"),
    (layer1(speed="speed_10_hd_mbps"), r"layer1\[0\]\.speed: .*half duplex"),
    (layer1(promiscuous="yes"), r"layer1\[0\]\.promiscuous: 'yes' is not true or false"),
    (layer1(media="fiber"), r"layer1\[0\]\.media: wirerate does not do"),
    (layer1(flow_control={"x": 1}), r"layer1\[0\]\.flow_control: wirerate does not do"),
    ({"options": {"port_options": {"data_integrity": True}}}, r"options\.port_options\.data_int"),
    (
        {"options": {"port_options": {"frame_ordering_mode": {"choice": "rfc2889"}}}},
        r"options\.port_options\.frame_ordering_mode\.choice: wirerate does not do RFC 2889",
    ),
    ({"options": {"flow_options": {"packet_loss_duration": True}}}, r"options\.flow_options\.pac"),
    ({"options": {"per_port_options": [{}]}}, r"options\.per_port_options: wirerate does not"),
    ({"options": {"x": {}}}, r"options\.x: there is no such key"),
]


@pytest.mark.parametrize(("changes", "says"), CONFIG_ERRORS)
def test_config_refused_with_the_place(changes, says):
    with pytest.raises(PlanError, match=rf"^{says}") as caught:
        decode_plan({**plan(), **changes})
    assert str(caught.value).isprintable()


def test_names_of_flows_are_unique():
    document = plan()
    document["flows"].append(copy.deepcopy(document["flows"][0]))
    with pytest.raises(PlanError, match=r"^flows\[1\]\.name: flows\[0\] has the name 'f' already"):
        decode_plan(document)


@pytest.mark.parametrize(
    ("first", "second"),
    [("ring:x", "ring:x"), ("03:00.0", "0000:03:00.0,a=1"), ("pcap:,a.pcap", "pcap:,a.pcap")],
)
def test_a_device_is_one_port(first, second):
    ports = [{"name": "east", "location": first}, {"name": "west", "location": second}]
    with pytest.raises(PlanError, match=r"^ports\[1\]\.location: .* is port east already"):
        decode_plan({"ports": ports})


def test_a_socket_may_have_several_interfaces():
    ports = [{"name": f"m{n}", "location": f"memif:/run/a,id={n}"} for n in range(2)]
    assert len(decode_plan({"ports": ports}).ports) == 2
