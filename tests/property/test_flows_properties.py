# SPDX-License-Identifier: BSD-3-Clause
"""Flows: the plan's patterns are BiTester's formula everywhere, and its files are never a crash."""

from __future__ import annotations

import ipaddress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wirerate.errors import PlanError
from wirerate.plan.compile import PortFacts, compile_flow
from wirerate.plan.decode import decode_plan
from wirerate.plan.flows_conf import KEYS, Given, read_conf
from wirerate.plan.flows_document import flows_document
from wirerate.plan.flows_settings import FlowsSettings, flow_traffic
from wirerate.plan.location import parse_location
from wirerate.plan.memory import flow_memory_octets
from wirerate.units import Rate, RateKind

ADDRESS_AT = {4: (26, 4), 6: (22, 16)}
PORT_AT = {4: 34, 6: 54}


def settings(texts, *, ramp, queues=1):
    given = {key: Given(text, key) for key, text in texts.items()}
    common: dict[str, Any] = dict.fromkeys(FlowsSettings.__dataclass_fields__) | {
        "traffic": flow_traffic(given, jumbo=False, stamped=False),
        "locations": (parse_location("ring:x"),),
        "rx_port": 0,
        "tx_port": 0,
        "queues": queues,
        "rate": Rate(RateKind.PERCENT, 100.0),
        "ramp": ramp,
        "ramp_down": False,
        "promiscuous": True,
    }
    return FlowsSettings(**common)


def frame_of(stream, k):
    """The frame of flow k, by the contract of FIELD."""
    frame = bytearray.fromhex(stream["template"])
    for field in stream["fields"]:
        step = k // field.get("every", 1)
        if "values" in field:
            value = field["values"][step % len(field["values"])]
        else:
            value = field["first"] + field["step"] * (step % field["count"])
        at, octets = field["offset"], field["octets"]
        frame[at : at + octets] = (value % (1 << 8 * octets)).to_bytes(octets, "big")
    return bytes(frame)


ADDRESSES = st.one_of(
    st.tuples(st.just(4), st.integers(1 << 24, (224 << 24) - (1 << 16) - 1)),
    st.tuples(st.just(6), st.integers(1, (0xFF << 120) - (1 << 16) - 1)),
)


@given(ADDRESSES, st.integers(0, 65535), st.integers(1, 1 << 32), st.data(), st.booleans())
def test_flow_k_is_bitesters(address, port, flows, data, ramp):
    version, number = address
    source = (ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address)(number)
    texts = {"src_ip": str(source), "src_port": str(port), "flow_num": str(flows)}
    document = flows_document(settings(texts, ramp=ramp))
    compiled = compile_flow(decode_plan(document).flows[0], "s0", PortFacts(0, None, None))
    k = data.draw(st.integers(0, flows - 1))
    frame = frame_of(compiled.stream, k)
    at, octets = ADDRESS_AT[version]
    assert int.from_bytes(frame[at : at + octets], "big") == number + k // 65536
    at = PORT_AT[version]
    assert int.from_bytes(frame[at : at + 2], "big") == (port + k) % 65536
    assert ("ramp" in compiled.stream) == (flows > 1 and (ramp or flows > 65536))
    assert flow_memory_octets(compiled, 1, 32, 1536) < 64 << 20


@given(st.binary(max_size=300))
def test_any_octets_are_read_or_refused(octets):
    refusal = ""
    try:
        conf = read_conf(octets, "a.conf")
        flow_traffic(conf.values, jumbo=False, stamped=False)
    except PlanError as error:
        refusal = str(error)
    assert refusal.startswith(("a.conf", "default of ")) or not refusal
    assert "\n" not in refusal


WORDS = st.text("0123456789abcdef.:-%xyz\u6d41", min_size=1, max_size=8)
BLANKS = st.sampled_from([" ", "\t", " \t "])
COMMENTS = st.sampled_from(["", "#", "# \u6d41 1", "#0:throughput #1"])


@given(
    st.dictionaries(st.sampled_from(KEYS), WORDS),
    st.data(),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_what_is_written_is_read(values, data, end):
    lines = []
    for key, text in values.items():
        lines += data.draw(st.lists(st.sampled_from(["", "  ", "# cps 5", "_cps 5"]), max_size=2))
        lines.append(f"{key}{data.draw(BLANKS)}{text}{data.draw(BLANKS)}{data.draw(COMMENTS)}")
    conf = read_conf(end.join(lines).encode(), "a.conf")
    assert {key: found.text for key, found in conf.values.items()} == values
    assert conf.warnings == ()
    for key, found in conf.values.items():
        number = int(found.place.removeprefix("a.conf:").partition(":")[0])
        assert lines[number - 1].startswith(key)
