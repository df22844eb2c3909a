# SPDX-License-Identifier: BSD-3-Clause
"""The plan that `wirerate flows` stands for, in OTG's words where it has them.

The result is a document as `wirerate run` reads it (docs/design/0003-plans.md), and what
``wirerate flows --show-plan`` prints. Flow k has the source address ``src_ip`` + k / 65536 and the
source port (``src_port`` + k) mod 65536, as BiTester has it. That flows come one after the other,
and that an address is kept for 65,536 of them, are extensions. Called by the command; pure.

Frames for latencies have TOS 0x20 (class selector 1, RFC 2474), by which BiTester's steer them.
DF with identification 0 is an atomic datagram (RFC 6864); TTL 64. The payload counts octets from 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from wirerate.plan.flows_settings import PORT_FLOWS
from wirerate.plan.rate_document import plan_rate
from wirerate.plan.reader import EXTENSION

if TYPE_CHECKING:
    from wirerate.plan.flows_settings import FlowsSettings, FlowTraffic
    from wirerate.units import Rate

MAIN = "flows"
PROBE = "probe"
"""Names of the plan's flows."""

_NS_PER_S = 1_000_000_000
_DSCP = 8
_TRAFFIC_CLASS = 0x20


def flows_document(settings: FlowsSettings) -> dict[str, Any]:
    """The plan; port number i is called ``p<i>``. Raises PlanError for a rate it cannot say."""
    names = [f"p{index}" for index in range(len(settings.locations))]
    document: dict[str, Any] = {
        "ports": [
            {"name": name, "location": location.text}
            for name, location in zip(names, settings.locations, strict=True)
        ]
    }
    if not settings.promiscuous:
        document["layer1"] = [{"name": "ports", "port_names": names, "promiscuous": False}]
    document["flows"] = [_main(settings, names)]
    if settings.probe is not None:
        document["flows"].append(_probe(settings, settings.probe, names))
    return document


def _main(settings: FlowsSettings, names: list[str]) -> dict[str, Any]:
    traffic = settings.traffic
    flow = _flow(settings, MAIN, settings.rate, names, measured=settings.measured)
    flow["packet"] = _packet(traffic, traffic.flow_num, steered=traffic.mode.measures)
    if settings.ramped:
        flow[EXTENSION] = {"ramp": _ramp(settings)}
    return flow


def _probe(settings: FlowsSettings, rate: Rate, names: list[str]) -> dict[str, Any]:
    """Frames of flow 0, so that there is no 5-tuple besides those of the flows."""
    flow = _flow(settings, PROBE, rate, names, measured=True)
    flow["packet"] = _packet(settings.traffic, 1, steered=True)
    return flow


def _flow(
    settings: FlowsSettings, name: str, rate: Rate, names: list[str], *, measured: bool
) -> dict[str, Any]:
    size = settings.traffic.frame_size
    receivers = [names[settings.rx_port]] if settings.receives else []
    flow: dict[str, Any] = {
        "name": name,
        "tx_rx": {
            "choice": "port",
            "port": {"tx_name": names[settings.tx_port], "rx_names": receivers},
        },
        "packet": [],
        "payload": {"choice": "increment_byte"},
        "size": {"choice": "fixed", "fixed": size},
        "rate": plan_rate(rate, Fraction(size)),
        "duration": _duration(settings),
    }
    if measured:
        flow["metrics"] = {"enable": True, "loss": True, "latency": {"enable": True}}
    return flow


def _duration(settings: FlowsSettings) -> dict[str, Any]:
    if settings.duration_ns is None:
        return {"choice": "continuous", "continuous": {}}
    seconds = settings.duration_ns / _NS_PER_S
    return {"choice": "fixed_seconds", "fixed_seconds": {"seconds": seconds}}


def _ramp(settings: FlowsSettings) -> dict[str, Any]:
    traffic = settings.traffic
    ramp: dict[str, Any] = {
        "flows": traffic.flow_num,
        "per_second": traffic.cps,
        "start": 1 if settings.ramp else traffic.flow_num,
    }
    if settings.ramp_down:
        ramp |= {"hold_seconds": settings.hold_ns / _NS_PER_S, "down": True}
    return ramp


def _packet(traffic: FlowTraffic, flows: int, *, steered: bool) -> list[dict[str, Any]]:
    own: dict[str, Any] = {"choice": "auto"}
    ethernet = {
        "dst": _value(traffic.dst_mac),
        "src": own if traffic.src_mac is None else _value(traffic.src_mac),
    }
    ports = min(flows, PORT_FLOWS)
    udp = {
        "src_port": _increment(traffic.src_port, 1, ports),
        "dst_port": _value(traffic.dst_port),
    }
    return [
        {"choice": "ethernet", "ethernet": ethernet},
        _ip(traffic, flows, steered=steered),
        {"choice": "udp", "udp": udp},
    ]


def _ip(traffic: FlowTraffic, flows: int, *, steered: bool) -> dict[str, Any]:
    addresses = -(-flows // PORT_FLOWS)
    is_ipv4 = traffic.src_ip.version == 4
    source = _increment(str(traffic.src_ip), "0.0.0.1" if is_ipv4 else "::1", addresses)
    if addresses > 1:
        source[EXTENSION] = {"every": PORT_FLOWS}
    fields: dict[str, Any] = {"src": source, "dst": _value(str(traffic.dst_ip))}
    if is_ipv4:
        if steered:
            fields["priority"] = {"choice": "dscp", "dscp": {"phb": _value(_DSCP)}}
        fields |= {"dont_fragment": _value(1), "time_to_live": _value(64)}
        return {"choice": "ipv4", "ipv4": fields}
    if steered:
        fields["traffic_class"] = _value(_TRAFFIC_CLASS)
    return {"choice": "ipv6", "ipv6": fields | {"hop_limit": _value(64)}}


def _value(value: int | str) -> dict[str, Any]:
    return {"choice": "value", "value": value}


def _increment(start: int | str, step: int | str, count: int) -> dict[str, Any]:
    if count == 1:
        return _value(start)
    return {"choice": "increment", "increment": {"start": start, "step": step, "count": count}}
