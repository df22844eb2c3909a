# SPDX-License-Identifier: BSD-3-Clause
"""The plan that `wirerate perf` stands for: a port and a flow for each location, in OTG's words.

The result is a document as `wirerate run` reads it (docs/design/0003-plans.md), and what
``wirerate perf --show-plan`` prints. Called by the perf command; pure.
Sources: RFC 2544 appendix C.2.2 (addresses), RFC 863 (discard), RFC 6864 (identification).

What is in a frame, and why:

* Ethernet addresses are locally administered (02:…): they belong to no manufacturer, so they cannot
  be a real station's, as pktperf's 00:aa:bb:… could. 57:52 is "WR"; then 00 for the source, unless
  the port has an address of its own, 01 for the destination, and the port's index.
* Sources are 198.18.0.1 onward, the destination is 198.19.0.1: both in 198.18.0.0/15, reserved for
  benchmarks by RFC 2544 appendix C.2.2. (pktperf sends 192.18.0.1, which is somebody's.)
* Destination port 9, discard: a host that gets such a frame answers with nothing but, at most, an
  ICMP error. Source ports start at 1024, above the well-known ones.
* DF with identification 0 (an atomic datagram), TTL 64. TCP is a bare ACK: a SYN would fill the
  DUT's connection table, a FIN or RST would clear it.
* The payload counts octets 00 01 02 … from its start: a shifted or cut frame shows in any dump.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.plan.location import parse_location
from wirerate.plan.rate_document import plan_rate

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from wirerate.plan.location import Location
    from wirerate.plan.perf_settings import PerfSettings

_SRC_IPV4 = "198.18.0.1"
_DST_IPV4 = "198.19.0.1"
_SRC_PORT = 1024
_DST_PORT = 9
_SRC_PORTS = 65536 - _SRC_PORT
_NS_PER_S = 1_000_000_000


def perf_document(
    settings: PerfSettings,
    ports: Sequence[tuple[int, str, int]],
    receiving: Collection[int] | None = None,
) -> dict[str, Any]:
    """The plan for ``ports``: (index, location, Tx queues); those without Tx queues send nothing.

    Port and flow number i are called ``p<i>``. What is measured may come back on the ports
    ``receiving``, None = on all of them, as what is not measured. Of a number of frames and a
    duration the plan has the frames; the duration is then the caller's to keep. Raises PlanError
    for a rate that a plan cannot say, and when nobody receives what is to be measured.
    """
    if settings.measure and receiving is not None and not receiving:
        raise PlanError(
            "--measure: the lcore map lets no port receive; add an lcore that receives, 1:2.0 say"
        )
    names = [f"p{index}" for index, _, _ in ports]
    document: dict[str, Any] = {
        "ports": [
            {"name": name, "location": location}
            for name, (_, location, _) in zip(names, ports, strict=True)
        ]
    }
    if not settings.promiscuous:
        document["layer1"] = [{"name": "ports", "port_names": names, "promiscuous": False}]
    receivers = [
        name
        for name, (index, _, _) in zip(names, ports, strict=True)
        if not settings.measure or receiving is None or index in receiving
    ]
    document["flows"] = [
        _flow(settings, index, parse_location(location), receivers)
        for index, location, tx_queues in ports
        if tx_queues
    ]
    return document


def _flow(
    settings: PerfSettings, index: int, location: Location, receivers: Sequence[str]
) -> dict[str, Any]:
    """What a port sends; it may come back on any of the receivers."""
    name = f"p{index}"
    flow = {
        "name": name,
        "tx_rx": {"choice": "port", "port": {"tx_name": name, "rx_names": list(receivers)}},
        "packet": [
            _ethernet(index, location),
            _ipv4(settings.flows),
            _layer4(settings),
        ],
        "payload": {"choice": "increment_byte"},
        "size": {"choice": "fixed", "fixed": settings.frame_size},
        "rate": plan_rate(settings.rate, Fraction(settings.frame_size)),
        "duration": _duration(settings),
    }
    if settings.measure:
        flow["metrics"] = {"enable": True, "loss": True, "latency": {"enable": True}}
    return flow


def _value(value: int | str) -> dict[str, Any]:
    return {"choice": "value", "value": value}


def _increment(start: int | str, step: int | str, count: int) -> dict[str, Any]:
    if count == 1:
        return _value(start)
    return {"choice": "increment", "increment": {"start": start, "step": step, "count": count}}


def _ethernet(index: int, location: Location) -> dict[str, Any]:
    """A NIC sends from its own address (`auto` is ours, not OTG's), others from a made-up one."""
    src, dst = (
        (b"\x02\x57\x52" + end + index.to_bytes(2, "big")).hex(":") for end in (b"\0", b"\1")
    )
    own = {"choice": "auto"} if location.needs_pci else _value(src)
    return {"choice": "ethernet", "ethernet": {"dst": _value(dst), "src": own}}


def _ipv4(flows: int) -> dict[str, Any]:
    fields = {
        "src": _increment(_SRC_IPV4, "0.0.0.1", flows),
        "dst": _value(_DST_IPV4),
        "dont_fragment": _value(1),
        "time_to_live": _value(64),
    }
    return {"choice": "ipv4", "ipv4": fields}


def _layer4(settings: PerfSettings) -> dict[str, Any]:
    """UDP or TCP; the ports advance in lock-step with the addresses.

    The address takes a new value in every frame, so it alone makes the flows distinct. The port may
    therefore repeat, but only after a divisor of their number, else the period, and the number of
    flows, would grow.
    """
    flows = settings.flows
    count = next(n for n in range(min(flows, _SRC_PORTS), 0, -1) if flows % n == 0)
    fields = {"src_port": _increment(_SRC_PORT, 1, count), "dst_port": _value(_DST_PORT)}
    kind = settings.protocol.name.lower()
    if kind == "tcp":
        fields |= {
            "seq_num": _value(1),
            "ack_num": _value(1),
            "data_offset": _value(5),
            "ctl_ack": _value(1),
            "window": _value(65535),
        }
    return {"choice": kind, kind: fields}


def _duration(settings: PerfSettings) -> dict[str, Any]:
    if settings.frames is not None:
        return {"choice": "fixed_packets", "fixed_packets": {"packets": settings.frames}}
    if settings.duration_ns is not None:
        seconds = settings.duration_ns / _NS_PER_S
        return {"choice": "fixed_seconds", "fixed_seconds": {"seconds": seconds}}
    return {"choice": "continuous", "continuous": {}}
