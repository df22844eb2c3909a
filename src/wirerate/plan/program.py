# SPDX-License-Identifier: BSD-3-Clause
"""From a plan and a map of lcores to what the engine is told: which queue sends which flow.

Two steps, because rates in percent need the line rate that only an open port knows: `port_params`
before, `make_program` after. Both as docs/design/0002-engine-interface.md says. The engine knows
port number i of the plan as ``p<i>`` and flow number i as ``s<i>``. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineRefusedError, PlanError
from wirerate.plan.answers import answers, check_receivers, must_receive, reply_task, rx_words
from wirerate.plan.lcore_map import LcoreMap, PortLcores
from wirerate.plan.location import LocationKind
from wirerate.plan.sleep import sleep_ns
from wirerate.plan.stamps import first_stamps
from wirerate.units import format_engineering

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from wirerate.plan.compile import CompiledFlow
    from wirerate.plan.lcore_map import Direction
    from wirerate.plan.location import Location
    from wirerate.plan.model import Flow, Plan
    from wirerate.plan.run_settings import RunSettings

BURST_MAX = 512
_MEMIF_ALONE = "Failed to connect socket"
"""What DPDK 22.11's rte_eth_memif.c (memif_connect_client) says to a client without a server."""
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class PortPlan:
    """What one open port is to do.

    ``index`` is its place in the plan, ``name`` the engine's name, ``title`` what messages call it.
    ``line_rate_bps`` None = no line. ``rx_descriptors`` of each Rx queue, 0 = not known.
    """

    index: int
    name: str
    title: str
    location: str
    rx_lcores: tuple[int, ...]
    tx_lcores: tuple[int, ...]
    line_rate_bps: int | None
    rx_descriptors: int = 0


@dataclass(frozen=True)
class FlowPlan:
    """What one flow is to do, as far as results are judged by it.

    ``name`` is the engine's name of its stream, ``label`` the plan's name of the flow, ``port`` the
    place of its port in the plan. ``intended_fps`` is the mean over bursts and the gaps between
    them; None = as fast as the device takes frames, or ``traced``: at a trace's own times.
    ``frames``, ``duration_ns`` None = no such end; ``burst_frames`` 1 = evenly spaced.
    ``mean_size`` [octets, with FCS]. ``expected``: some port is to receive it, namely those at
    the places ``rx_ports``; ``measured``: each of its frames is known when it arrives there.
    ``ramped``: a queue without an active flow sends nothing, so that less than all may be due.
    """

    index: int
    name: str
    title: str
    label: str
    port: int
    intended_fps: float | None
    mean_size: float
    frames: int | None = None
    duration_ns: int | None = None
    delay_ns: int = 0
    burst_frames: int = 1
    traced: bool = False
    expected: bool = True
    measured: bool = False
    rx_ports: tuple[int, ...] = ()
    ramped: bool = False

    @property
    def unpaced(self) -> bool:
        """Nothing is due at any time."""
        return self.intended_fps is None and not self.traced


def port_name(index: int) -> str:
    """The engine's name of port number ``index``."""
    return f"p{index}"


def stream_name(index: int) -> str:
    """The engine's name of flow number ``index``."""
    return f"s{index}"


def uses_of(plan: Plan) -> tuple[frozenset[Direction], ...]:
    """The directions in which each port is used.

    It transmits when it has flows, and receives when a flow names it as a receiver or when it has
    nothing to send: what else would it be there for? A ring always receives, for it gives back what
    it is sent, and would be full soon. So does a port that answers for devices, or is recorded.
    """
    uses = []
    for index, port in enumerate(plan.ports):
        found: set[Direction] = set()
        if any(flow.tx_port == port.name for flow in plan.flows):
            found.add("tx")
        is_ring = port.location.kind is LocationKind.RING
        if not found or is_ring or any(port.name in flow.rx_ports for flow in plan.flows):
            found.add("rx")
        if must_receive(plan, index):
            found.add("rx")
        uses.append(frozenset(found))
    return tuple(uses)


def fit_map(plan: Plan, lcore_map: LcoreMap) -> LcoreMap:
    """The map that the user gave, without Tx queues that would have nothing to send.

    Raises PlanError where a flow has nobody to send it, a measured one nobody to receive it at one
    of its ports (what arrives there would count as lost), or a port nobody to receive what it must.
    """
    ports = []
    for entry in lcore_map.ports:
        flows = _flows_of(plan, entry.port)
        fitted = PortLcores(entry.port, entry.rx, entry.tx[: _queues(flows, len(entry.tx))])
        if fitted.rx or fitted.tx:
            ports.append(fitted)
    sending = {entry.port for entry in ports if entry.tx}
    receiving = {entry.port for entry in ports if entry.rx}
    for flow in plan.flows:
        index = plan.port_index(flow.tx_port)
        if index not in sending:
            raise PlanError(
                f"{flow.path}.tx_rx: port {flow.tx_port} sends it, but the lcore map {lcore_map} "
                f"has no lcore to transmit on port {index}; add :LCORE.{index}"
            )
        for name in flow.rx_ports if flow.measured else ():
            index = plan.port_index(name)
            if index not in receiving:
                raise PlanError(
                    f"{flow.path}.tx_rx: port {name} is to receive and measure it, but the lcore "
                    f"map {lcore_map} has no lcore to receive on port {index}; add LCORE:.{index}"
                )
    check_receivers(plan, receiving, str(lcore_map))
    return LcoreMap(tuple(ports))


def check_measurable(plan: Plan) -> None:
    """Refuse to measure what cannot arrive: a null port receives nothing. Raises PlanError."""
    for flow in plan.flows:
        ends = [plan.ports[plan.port_index(name)] for name in flow.rx_ports]
        if flow.measured and all(end.location.kind is LocationKind.NULL for end in ends):
            raise PlanError(
                f"{flow.path}.tx_rx: a null port receives nothing that could be measured; name "
                "another port in rx_names, or leave out metrics (perf: --measure)"
            )


def _flows_of(plan: Plan, port: int) -> list[Flow]:
    return [flow for flow in plan.flows if flow.tx_port == plan.ports[port].name]


def _queues(flows: Sequence[Flow], offered: int) -> int:
    """How many of the Tx queues that a port may have are of use to its flows."""
    if any(flow.duration.burst is None and flow.trace is None for flow in flows):
        return offered
    return min(len(flows), offered)


def named_refusal(
    error: EngineRefusedError, plan: Plan, lcore_map: LcoreMap, titles: Sequence[str]
) -> EngineRefusedError:
    """The engine's refusal of a port, stream or capture in the user's words.

    ``titles`` are those of the plan's ports. A port is named with its map, a stream by its flow, a
    capture by its place in the plan or its option.
    """
    path = error.path or ""
    text = str(error).removeprefix(f"{path}: ")
    port = re.match(r"ports\[(\d+)\](\.\w+)?", path)
    stream = re.match(r"streams\[(\d+)\]", path)
    capture = re.match(r"captures\[(\d+)\]", path)
    if port is not None:
        entry = lcore_map.ports[int(port[1])]
        if port[2] in {".rx_queues", ".tx_queues"}:
            text = f"{text} {entry.text}"
        text = port_refusal(text, titles[entry.port], plan.ports[entry.port].location)
    elif stream is not None:
        flow = plan.flows[int(stream[1])]
        text = f"{flow.path} ({flow.name}): {text}"
    elif capture is not None:
        text = f"{plan.captures[int(capture[1])].path}: {text}"
    else:
        return error
    return EngineRefusedError(text, path=error.path, errno_name=error.errno_name)


def port_refusal(text: str, title: str, location: Location) -> str:
    """The engine's refusal to open a port, with the port's title, and what DPDK hides."""
    if _MEMIF_ALONE in text:
        text = (
            f"{location}: nobody listens at {location.value}; start the other side first, or "
            "use role=server"
        )
    return f"{title}: {text}"


def plan_ports(
    plan: Plan,
    settings: RunSettings,
    lcore_map: LcoreMap,
    infos: Sequence[Mapping[str, Any]],
    titles: Sequence[str],
) -> tuple[PortPlan, ...]:
    """Settle the line rate of each open port (same order as the map); ``titles``: all ports'.

    --line-rate is stronger than the device's, and that than what layer1 says. Raises PlanError when
    the plan asks for another speed than the link has.
    """
    plans = []
    for entry, info in zip(lcore_map.ports, infos, strict=True):
        port = plan.ports[entry.port]
        linked = info["link_speed_bps"]
        if port.speed_bps is not None and linked is not None and port.speed_bps != linked:
            raise PlanError(
                f"{port.path}: layer1 asks port {port.name} for "
                f"{format_engineering(port.speed_bps, 'bit/s')}, but its link has "
                f"{format_engineering(linked, 'bit/s')}; correct the plan, or the link"
            )
        plans.append(
            PortPlan(
                index=entry.port,
                name=port_name(entry.port),
                title=titles[entry.port],
                location=port.location.text,
                rx_lcores=entry.rx,
                tx_lcores=entry.tx,
                line_rate_bps=settings.line_rate_bps or linked or port.speed_bps,
                rx_descriptors=info["rx_descriptors"],
            )
        )
    return tuple(plans)


def plan_flow(
    index: int, title: str, places: Mapping[str, int], compiled: CompiledFlow
) -> FlowPlan:
    """What a compiled flow is to do; number ``index`` of the plan; ``places`` of ports by name."""
    flow = compiled.flow
    stream = compiled.stream
    burst = stream.get("burst")
    trace = stream.get("trace")
    return FlowPlan(
        index=index,
        name=stream["name"],
        title=title,
        label=flow.name,
        port=places[flow.tx_port],
        intended_fps=mean_fps(stream["fps"], burst),
        mean_size=float(compiled.mean_size),
        frames=stream.get("frames"),
        duration_ns=stream.get("duration_ns"),
        delay_ns=stream.get("delay_ns", 0),
        burst_frames=1 if burst is None else burst["frames"],
        traced=trace is not None and trace.get("speed") is not None,
        expected=bool(flow.rx_ports),
        measured=compiled.measured,
        rx_ports=tuple(places[name] for name in flow.rx_ports),
        ramped=flow.ramp is not None,
    )


def mean_fps(fps: float | None, burst: Mapping[str, Any] | None) -> float | None:
    """Frames per second over bursts and the gaps between them."""
    if fps is None or burst is None:
        return fps
    frames: int = burst["frames"]
    gap_ns: float = burst["gap_ns"]
    return frames / (frames / fps + gap_ns / _NS_PER_S)


def make_program(
    plan: Plan, settings: RunSettings, lcore_map: LcoreMap, flows: Sequence[CompiledFlow]
) -> dict[str, Any]:
    """Params of `program.load`; ``flows`` are the plan's, in order, by the names of `stream_name`.

    A port with as many flows as Tx queues or more deals whole flows to its queues in turn. With
    fewer, each queue sends its share of every flow, except of those that have an order to keep: a
    trace, and bursts. A ramp is shared out always: each queue has flows of its own there. Where any
    flow is measured, every Rx queue measures: it counts what is not its own as foreign or strange.
    Answers for devices leave by the first Tx queue of their port.
    Raises PlanError when there are too many measured flows.
    """
    stamps = first_stamps(flows, queues_of(plan, lcore_map, flows))
    measure = {"measure": True} if any(stamp is not None for stamp in stamps) else {}
    shares = {
        entry.port: _shares(plan, entry.port, len(entry.tx), flows) for entry in lcore_map.ports
    }
    workers = []
    for lcore in lcore_map.lcores:
        tasks = []
        for task in lcore_map.of_lcore(lcore):
            queue = {"kind": task.direction, "port": port_name(task.port), "queue": task.queue}
            if task.direction == "rx":
                # As pktperf: receive up to twice what is sent, so that receiving keeps up.
                words = {"burst": min(BURST_MAX, 2 * settings.burst)} | measure
                if settings.distinct_max:
                    words["distinct_max"] = settings.distinct_max
                tasks.append(queue | words | rx_words(plan, task.port))
                continue
            queue["burst"] = settings.burst
            tasks += [queue | share for share in shares[task.port][task.queue]]
        tasks += [
            reply_task(plan, entry.port, port_name(entry.port))
            for entry in lcore_map.ports
            if lcore == (entry.tx or entry.rx)[0] and answers(plan, entry.port)
        ]
        if tasks:
            sleeps = sleep_ns(settings.cpu_saver_ns, tasks)
            workers.append({"lcore": lcore, "sleep_ns": sleeps, "tasks": tasks})
    receiving = {entry.port for entry in lcore_map.ports if entry.rx}
    streams = [
        flow.stream if stamp is None else _stamped(plan, flow, stamp, receiving)
        for flow, stamp in zip(flows, stamps, strict=True)
    ]
    captures = [
        capture.params(port_name(plan.port_index(capture.port))) for capture in plan.captures
    ]
    return {"workers": workers, "streams": streams} | ({"captures": captures} if captures else {})


def _stamped(
    plan: Plan, flow: CompiledFlow, stamp: int, receiving: AbstractSet[int]
) -> dict[str, Any]:
    """A measured stream: what ``receiving`` ports are to have it, where not all are."""
    ports = {plan.port_index(name) for name in flow.flow.rx_ports}
    named = {"receivers": [port_name(index) for index in sorted(ports)]}
    return flow.stream | {"stamp": stamp} | (named if ports and ports < receiving else {})


def queues_of(plan: Plan, lcore_map: LcoreMap, flows: Sequence[CompiledFlow]) -> list[int]:
    """How many Tx queues send each flow."""
    counts: Counter[str] = Counter()
    for entry in lcore_map.ports:
        for queue in _shares(plan, entry.port, len(entry.tx), flows):
            counts.update(share["stream"] for share in queue)
    return [counts[flow.stream["name"]] for flow in flows]


def _shares(
    plan: Plan, port: int, queues: int, flows: Sequence[CompiledFlow]
) -> list[list[dict[str, Any]]]:
    """The shares of streams that each Tx queue of a port sends."""
    shares: list[list[dict[str, Any]]] = [[] for _ in range(queues)]
    name = plan.ports[port].name
    own = [flow for flow in flows if flow.flow.tx_port == name]
    for number, flow in enumerate(own):
        stream = flow.stream["name"]
        few = len(own) < queues or flow.flow.ramp is not None
        if few and flow.splittable and flow.flow.trace is None:
            for part in range(queues):
                shares[part].append({"stream": stream, "part": part, "parts": queues})
        else:
            shares[number % queues].append({"stream": stream, "part": 0, "parts": 1})
    return shares
