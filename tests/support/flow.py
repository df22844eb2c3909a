# SPDX-License-Identifier: BSD-3-Clause
"""Flows as plans are decoded to, made of header objects in the plan's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.plan.compile import CompiledFlow, PortFacts, compile_flow
from wirerate.plan.eal_args import EalRequest
from wirerate.plan.fields import Field, Fixed, Header
from wirerate.plan.headers import decode_header
from wirerate.plan.model import Duration, Flow, Metrics, Payload, Sizes
from wirerate.plan.reader import Reader
from wirerate.plan.run_settings import RunSettings
from wirerate.units import Rate, RateKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.plan.fields import Content
    from wirerate.plan.model import Trace

SRC_MAC, DST_MAC = "02:57:52:00:00:03", "02:00:00:00:00:01"
ETHERNET = {"ethernet": {"src": {"choice": "auto"}, "dst": {"value": DST_MAC}}}
"""From the port's own address; that of `PORT` is SRC_MAC."""

COUNTING = Payload("increment_byte")
PORT = PortFacts(3, None, 10**10)


def settings(**other: Any) -> RunSettings:
    """Settings of a run as the options' defaults have them, on lcores 0 to 7."""
    usual: dict[str, Any] = {
        "eal": EalRequest(),
        "lcores": tuple(range(8)),
        "lcore_map": None,
        "burst": 32,
        "line_rate_bps": None,
        "rx_descriptors": 0,
        "tx_descriptors": 0,
        "mbufs": 8192,
        "jumbo": False,
        "period_ns": 10**9,
        "duration_ns": None,
        "cpu_saver_ns": 0,
        "verbose": False,
        "json": False,
    }
    return RunSettings(**(usual | other))


def fixed(value: Any) -> dict[str, Any]:
    """A pattern of one value."""
    return {"value": value}


def increment(start: Any, step: Any, count: int) -> dict[str, Any]:
    """A pattern that counts."""
    return {"increment": {"start": start, "step": step, "count": count}}


def ipv4(src: Mapping[str, Any], dst: str = "198.19.0.1") -> dict[str, dict[str, Any]]:
    """An IPv4 element with a pattern of sources."""
    return {"ipv4": {"src": src, "dst": fixed(dst)}}


def one_field(bits: int, content: Content, before: int = 112) -> tuple[Header, ...]:
    """A stack of one header: ``before`` bits 0, a field, and 1 bits that fill up its octet."""
    after = -(before + bits) % 8
    fields = [Field("before", before, Fixed(0)), Field("value", bits, content)]
    if after:
        fields.append(Field("after", after, Fixed(2**after - 1)))
    return (Header("custom", "flows[0].packet[0].custom", tuple(fields)),)


def headers(*elements: Mapping[str, Any]) -> tuple[Header, ...]:
    """The stack of ``flows[0]``; an element is ``{"ipv4": {…}}``."""
    return tuple(
        decode_header(Reader(dict(element), f"flows[0].packet[{index}]"))
        for index, element in enumerate(elements)
    )


def make_flow(
    packet: Sequence[Header] = (),
    sizes: Sequence[int] = (64,),
    *,
    payload: Payload = COUNTING,
    rate: Rate | None = None,
    duration: Duration | None = None,
    trace: Trace | None = None,
    measured: bool = False,
) -> Flow:
    """A flow called f at ``flows[0]``, 1,000 frames/s for ever unless said otherwise."""
    return Flow(
        name="f",
        path="flows[0]",
        tx_port="p0",
        rx_ports=("p1",) if measured else (),
        packet=tuple(packet),
        trace=trace,
        sizes=None if trace else Sizes(tuple(sizes), "flows[0].size"),
        payload=payload,
        rate=rate or Rate(RateKind.FPS, 1000),
        duration=duration or Duration(),
        metrics=Metrics(enabled=measured),
    )


def compiled(
    *elements: Mapping[str, Any], sizes: Sequence[int] = (64,), payload: Payload = COUNTING
) -> CompiledFlow:
    """A compiled flow of header objects, sent by port number 3, which is virtual."""
    return compile_flow(make_flow(headers(*elements), sizes, payload=payload), "s7", PORT)
