# SPDX-License-Identifier: BSD-3-Clause
"""One element of OTG's ``flows`` to a Flow; when it is sent is `wirerate.plan.decode_schedule`'s.

What a flow has besides OTG is `wirerate.plan.decode_extension`'s. Called by `wirerate.plan.decode`;
pure, files are not opened.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.plan.decode_ends import decode_ends
from wirerate.plan.decode_extension import decode_extension
from wirerate.plan.decode_schedule import decode_duration, decode_rate
from wirerate.plan.headers import decode_header
from wirerate.plan.model import Flow, Metrics, Payload
from wirerate.plan.reader import EXTENSION, Reader
from wirerate.plan.sizes import decode_sizes
from wirerate.units import FRAME_SIZE_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wirerate.plan.device_flow import Named
    from wirerate.plan.model import Trace

_PAYLOADS = ("fixed", "increment_byte", "decrement_byte", "increment_word", "decrement_word")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")


def decode_flow(
    reader: Reader,
    port_names: Sequence[str],
    flow_names: dict[str, str],
    base: Path | None,
    named: Mapping[str, tuple[Named, ...]],
) -> Flow:
    """Read a flow; ``flow_names`` (name to path) are those before it, ``named`` ends of devices.

    Raises PlanError.
    """
    name = reader.unique_name("name", flow_names)
    ends = decode_ends(reader, port_names, named)
    extension = decode_extension(reader, base)
    trace = extension.trace
    if trace is not None:
        _check_trace_alone(reader)
    reader.unsupported("egress_packet", "egress tracking")
    metrics = _decode_metrics(reader.branch("metrics"))
    traffic = ends.traffic(() if trace else tuple(decode_header(part) for part in _packet(reader)))
    if metrics.enabled:
        _check_measurable(reader, traffic.rx_ports, trace)
    flow = Flow(
        name=name,
        path=reader.path,
        tx_port=traffic.tx_port,
        rx_ports=traffic.rx_ports,
        packet=traffic.packet,
        trace=trace,
        sizes=None if trace else decode_sizes(reader.branch("size")),
        payload=_decode_payload(reader.branch("payload")),
        rate=decode_rate(reader.branch("rate")),
        duration=decode_duration(reader.branch("duration")),
        metrics=metrics,
        ramp=extension.ramp,
        whole_bursts=extension.whole_bursts,
    )
    traffic.check_sizes(flow.sizes)
    if trace is not None and trace.speed is not None:
        _check_own_times(reader, flow)
    reader.done()
    return flow


def _packet(reader: Reader) -> list[Reader]:
    """Return the headers; OTG puts one Ethernet header where there is none."""
    parts = reader.children("packet")
    return parts or [Reader({"choice": "ethernet"}, f"{reader.place('packet')}[0]")]


def _decode_payload(reader: Reader) -> Payload:
    kind: Any = reader.choice(_PAYLOADS, "fixed")
    pattern, repeat = b"\x00", True
    for other in _PAYLOADS[1:]:
        if other in reader:
            reader.fail(other, f"it is a word, not a key; write choice: {other}")
    if kind == "fixed":
        fixed = reader.branch("fixed")
        text = fixed.text("pattern", "00")
        if _HEX.fullmatch(text) is None or len(text) > 2 * FRAME_SIZE_MAX:
            fixed.fail(
                "pattern",
                f"it is not 1 to {FRAME_SIZE_MAX} octets of two hexadecimal digits each, such as "
                "'00ff'",
            )
        pattern, repeat = bytes.fromhex(text), fixed.boolean("repeat", default=True)
        fixed.done()
    reader.done()
    return Payload(kind, pattern, repeat)


def _decode_metrics(reader: Reader) -> Metrics:
    latency = reader.branch("latency")
    tags = reader.branch("predefined_metric_tags")
    metrics = Metrics(
        enabled=reader.boolean("enable", default=False),
        loss=reader.boolean("loss", default=False),
        timestamps=reader.boolean("timestamps", default=False),
        latency=latency.boolean("enable", default=False),
        rx_name=tags.boolean("rx_name", default=False),
    )
    for part, key in (
        (reader, "loss"),
        (reader, "timestamps"),
        (latency, "enable"),
        (tags, "rx_name"),
    ):
        if part.boolean(key, default=False) and not metrics.enabled:
            part.fail(key, f"only measured flows have it; set {reader.place('enable')} to true")
    mode = latency.one_of("mode", ("store_forward", "cut_through"), "store_forward")
    if metrics.latency and mode == "cut_through":
        latency.fail(
            "mode",
            "software knows no times of first bits, so there is no cut_through; use store_forward",
        )
    reader.unsupported("rx_tx_ratio", "ratios of frames expected; each frame sent is expected once")
    for part in (latency, tags, reader):
        part.done()
    return metrics


def _check_measurable(reader: Reader, rx_ports: Sequence[str], trace: Trace | None) -> None:
    """Refuse to measure what has no stamps, or what nobody receives."""
    place = f"{reader.place('metrics')}.enable"
    if trace is not None:
        raise PlanError(
            f"{place}: the frames of a trace have no room for stamps, so they are not measured; "
            "leave metrics out"
        )
    if not rx_ports:
        raise PlanError(
            f"{place}: no port is to receive the flow, so there is nothing to measure; name the "
            f"receivers in {reader.place('tx_rx')} (rx_names), or leave metrics out"
        )


def _check_trace_alone(reader: Reader) -> None:
    for key in ("packet", "size", "payload"):
        if key in reader and reader.raw(key) not in ([], {}):
            reader.fail(
                key, f"{EXTENSION}.trace says what the frames are; leave out one of the two"
            )
        reader.raw(key, None)


def _check_own_times(reader: Reader, flow: Flow) -> None:
    """Refuse what contradicts a trace that is sent at its own times."""
    if "rate" in reader:
        raise PlanError(
            f"{reader.place('rate')}: the trace is sent at its own times; leave out the rate or "
            f"{EXTENSION}.trace.speed"
        )
    if flow.duration.burst is not None:
        raise PlanError(
            f"{reader.place('duration')}.burst: the trace is sent at its own times; leave out the "
            f"bursts or {EXTENSION}.trace.speed"
        )
