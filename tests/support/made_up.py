# SPDX-License-Identifier: BSD-3-Clause
"""Counters, snapshots and results made up for tests that need no engine."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from wirerate.engine.counters import Histogram
from wirerate.plan.location import parse_location
from wirerate.plan.model import Duration, Flow, Payload, Plan, PlanPort
from wirerate.plan.placement import place
from wirerate.plan.program import FlowPlan, PortPlan
from wirerate.trial.cpu import CpuUse
from wirerate.trial.ready_plan import ReadyPlan
from wirerate.trial.result import RunResult, flow_results, port_results, total_received
from wirerate.trial.snapshot import (
    Device,
    FlowQueue,
    Port,
    Replies,
    RxQueue,
    Snapshot,
    TxQueue,
    Worker,
)
from wirerate.trial.verdict import Ending, judge
from wirerate.units import Rate, RateKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wirerate.plan.run_settings import RunSettings

HZ = 1_000_000_000
"""One cycle is one nanosecond."""
START = 5 * HZ
SUB_BITS = 5
FRAME = 64
ENVIRONMENT = {
    "cpu": "A CPU",
    "cpus": 2,
    "numa_nodes": 1,
    "kernel": "6.1.0",
    "os": "An OS",
    "hypervisor": True,
    "governor": None,
    "isolated_cpus": [],
    "hugepages": [{"node": 0, "size_octets": 2 << 20, "pages": 8, "free_pages": 8}],
    "wirerate": "0.1.0",
    "dpdk": "DPDK 22.11",
    "python": "3.11.2",
    "command": ["wirerate", "run", "plan.yaml"],
    "started": "2026-01-02T03:04:05.678+00:00",
}
REPLIES = Replies(1, 3, 3 * FRAME, 1, 1, 1, 0, 0, 100)
ENGINE = {"version": "0.1.0", "dpdk": "DPDK 22.11", "transmit": "static", "hugepages": False}


def histogram(*values: int, sub_bits: int = SUB_BITS) -> Histogram:
    """The histogram of values, as the engine would count them."""
    counts = [0] * (bucket_of(max(values, default=0), sub_bits) + 2)
    for value in values:
        counts[bucket_of(value, sub_bits)] += 1
    return Histogram.of_words(counts, sub_bits)


def bucket_of(value: int, sub_bits: int) -> int:
    """The bucket, word for word as docs/design/0002-engine-interface.md has it."""
    if value < 2 ** (sub_bits + 1):
        return value
    highest = value.bit_length() - 1
    return ((highest - sub_bits) << sub_bits) + (value >> (highest - sub_bits))


def tx_queue(queue: int = 0, *, frames: int = 1000, seconds: float = 1.0, **other: Any) -> TxQueue:
    """A queue that has sent frames evenly."""
    made = TxQueue(
        queue=queue,
        lcore=queue + 1,
        stream="s0",
        frames=frames,
        octets=frames * FRAME,
        frames_unsent=0,
        frames_due=frames,
        bursts_short=0,
        busy_cycles=frames * 50,
        first_tsc=START,
        last_tsc=START + int(seconds * HZ),
        lateness_max_cycles=900,
        done=True,
        burst_cycles=histogram(20, 20, 30),
        lateness_cycles=histogram(10, 10, 40),
    )
    return replace(made, **other)


def rx_queue(queue: int = 0, *, frames: int = 1000, **other: Any) -> RxQueue:
    """A queue that has received frames over one second."""
    made = RxQueue(
        queue=queue,
        lcore=queue + 1,
        frames=frames,
        octets=frames * FRAME,
        busy_cycles=frames * 40,
        first_frames=0,
        first_tsc=START,
        last_tsc=START + HZ,
        foreign_frames=0,
        strange_frames=0,
        damaged_frames=0,
    )
    return replace(made, **other)


def flow_queue(*latencies: int, stream: str = "s0", **other: Any) -> FlowQueue:
    """A queue that has received a frame of each latency [cycles], one after the other in 1 s."""
    made = FlowQueue(
        queue=0,
        lcore=1,
        stream=stream,
        frames=len(latencies),
        octets=len(latencies) * FRAME,
        duplicates=0,
        reordered=0,
        too_late=0,
        copies=0,
        impossible=0,
        first_tsc=START,
        last_tsc=START + HZ,
        latency_count=len(latencies),
        latency_min_cycles=min(latencies, default=0),
        latency_max_cycles=max(latencies, default=0),
        latency_sum_cycles=sum(latencies),
        ipdv_sum_cycles=sum(abs(a - b) for a, b in pairwise(latencies)),
        latency_cycles=histogram(*latencies, sub_bits=10),
    )
    return replace(made, **other)


def worker(lcore: int = 1, **other: Any) -> Worker:
    """A worker that had its CPU all the time, over one second."""
    made = Worker(
        lcore=lcore,
        now_tsc=START + HZ,
        stalls=0,
        stall_cycles=0,
        stall_max_cycles=0,
        began_ns=START,
        sampled_ns=START + HZ,
        cpu_lost_ns=0,
        cpu_lost_max_ns=0,
        stopped=True,
    )
    return replace(made, **other)


def port(
    tx: tuple[TxQueue, ...] = (),
    rx: tuple[RxQueue, ...] = (),
    name: str = "p0",
    flows: tuple[FlowQueue, ...] = (),
    **device: Any,
) -> Port:
    """A port whose device agrees with the queues, except for what is given."""
    own = Device(
        ipackets=sum(queue.frames for queue in rx),
        opackets=sum(queue.frames for queue in tx),
        ibytes=sum(queue.octets for queue in rx),
        obytes=sum(queue.octets for queue in tx),
        imissed=0,
        ierrors=0,
        oerrors=0,
        rx_nombuf=0,
        socket_drops=0,
        pause_frames=0,
        link_up=True,
        link_changes=0,
        resets=0,
    )
    return Port(name, rx, tx, replace(own, **device), flows)


def snapshot(*ports: Port, seconds: float = 1.0, **other: Any) -> Snapshot:
    """A look at ports after a trial of seconds."""
    end = START + int(seconds * HZ)
    made = Snapshot(
        tsc_hz=HZ,
        schedule_hz=other.get("tsc_hz", HZ),
        now_tsc=end,
        heartbeat_tsc=end,
        start_tsc=START,
        stop_tsc=end,
        cpu_ns=2 * HZ,
        resident_max_octets=20 << 20,
        clock_error_ns=0,
        clock_drift_ns=0,
        clock_watched_ns=int(seconds * 10**9),
        time_jump_ns=0,
        ports=ports,
        workers=(worker(now_tsc=end),),
    )
    return replace(made, **other)


def plan(of: Port, line_rate_bps: int | None = None) -> PortPlan:
    """What the port was to do."""
    index = int(of.name[1:])
    return PortPlan(
        index=index,
        name=of.name,
        title=f"port {index}",
        location="ring:made-up",
        rx_lcores=tuple(dict.fromkeys(queue.lcore for queue in of.rx)),
        tx_lcores=tuple(dict.fromkeys(queue.lcore for queue in of.tx)),
        line_rate_bps=line_rate_bps,
        rx_descriptors=1024,
    )


def flow(index: int = 0, fps: float | None = 1000.0, **other: Any) -> FlowPlan:
    """What flow number index was to do; port 0 sends it, and it is called as that is."""
    made = FlowPlan(
        index=index,
        name=f"s{index}",
        title="port 0",
        label=f"f{index}",
        port=0,
        intended_fps=fps,
        mean_size=FRAME,
    )
    return replace(made, **other)


def plan_of(ports: Sequence[Port], flows: Sequence[FlowPlan]) -> Plan:
    """The plan, as far as reports look into it."""
    names = [f"port{port.name[1:]}" for port in ports]
    location = parse_location("ring:made-up")
    return Plan(
        ports=tuple(
            PlanPort(name, location, f"ports[{index}]") for index, name in enumerate(names)
        ),
        flows=tuple(
            Flow(
                name=flow.label,
                path=f"flows[{flow.index}]",
                tx_port=names[flow.port],
                rx_ports=(),
                packet=(),
                trace=None,
                sizes=None,
                payload=Payload(),
                rate=Rate(RateKind.PERCENT, 100),
                duration=Duration(),
            )
            for flow in flows
        ),
    )


def ready(
    ports: Sequence[Port],
    flows: Sequence[FlowPlan],
    settings: RunSettings,
    line_rate_bps: int | None = None,
    **about: Any,
) -> ReadyPlan:
    """A run of these ports and flows; ``about``: what else the engine tells of each port."""
    return ReadyPlan(
        plan=plan_of(ports, flows),
        settings=settings,
        ports=tuple(plan(port, line_rate_bps) for port in ports),
        flows=tuple(flows),
        infos={port.name: info(**about) for port in ports},
        about=ENGINE,
        placements={port.name: place(port.name, -1, [1], [1], {1: 0}) for port in ports},
    )


def result(of: ReadyPlan, look: Snapshot, ending: Ending | None = None, **other: Any) -> RunResult:
    """What a run came to that ended with a look at the counters."""
    floor_ns = of.settings.floor_ns
    flows = flow_results(look, of.flows, floor_ns)
    ports = port_results(look, of.ports, of.flows)
    verdict = judge(look, flows, ports, ending or Ending(), of.notes)
    total = total_received(look, flows, floor_ns)
    made = RunResult(of, flows, ports, verdict, look, CpuUse(None, ()), total, ENVIRONMENT)
    return replace(made, **other)


def info(**other: Any) -> dict[str, Any]:
    """What the engine tells of an open port."""
    made = {
        "driver": "net_ring",
        "mac": "02:00:00:00:00:00",
        "link_up": True,
        "link_speed_bps": None,
        "full_duplex": True,
        "autoneg": False,
        "socket": -1,
        "firmware": "",
        "rx_clock": "tsc",
        "tx_loop": {"driver": "igb", "proven": True, "descriptors": 8, "laps": 2},
        "flow_control": None,
        "rx_descriptors": 1024,
        "tx_descriptors": 1024,
    }
    return {**made, **other}


def segment(path: Path, blocks: list[dict[str, Any]], words: dict[int, list[int]]) -> None:
    """Write a counters segment; words by their block's offset."""
    description = json.dumps({"version": 1, "tsc_hz": HZ, "blocks": blocks}).encode()
    at = max(offset + 8 * len(values) for offset, values in words.items())
    content = bytearray(at)
    for offset, values in words.items():
        struct.pack_into(f"={len(values)}Q", content, offset, *values)
    content += description
    struct.pack_into("=8sQQQ", content, 0, b"WRCNTRS1", len(content), at, len(description))
    path.write_bytes(content)
