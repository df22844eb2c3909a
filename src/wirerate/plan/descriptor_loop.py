# SPDX-License-Identifier: BSD-3-Clause
"""The descriptor loop: which plans it can send, and what of them the engine is told otherwise.

A device's Tx ring is filled once with the ready frames of a flow, and only its tail is moved from
then on (docs/design/0006-descriptor-loop.md). So a port has one flow, on one queue, whose frames
never change and are all in the ring. What a device's ring can hold is the engine's to say. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.plan.memory import READY_PERIOD_MAX, frames_period
from wirerate.plan.program import port_name
from wirerate.plan.run_settings import ENGINE_LOOP
from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.plan.compile import CompiledFlow
    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.model import Plan
    from wirerate.plan.run_settings import RunSettings

_LAP_MAX = 65_536
"""Frames that the engine is told of at most; a device's ring holds fewer (often 4,096)."""
NORMAL = "the normal engine does that: leave --engine out"


def loop_frames(
    plan: Plan, settings: RunSettings, lcore_map: LcoreMap, flows: Sequence[CompiledFlow]
) -> dict[str, int]:
    """Frames of one lap, by the engine's names of the ports that loop; none with another engine.

    Raises PlanError for what a descriptor loop cannot send, before anything is opened.
    """
    if settings.engine != ENGINE_LOOP:
        return {}
    if settings.tx_descriptors:
        raise PlanError(
            f"-d: {settings.tx_descriptors} Tx descriptors asked, but the descriptor loop chooses "
            "the Tx ring by the frames it has to hold; leave -d out"
        )
    if settings.warm_up_ns:
        raise PlanError("--warm-up: a descriptor loop has nothing to warm; leave it out")
    laps = {}
    for entry in lcore_map.ports:
        if not entry.tx:
            continue
        name = plan.ports[entry.port].name
        own = [flow for flow in flows if flow.flow.tx_port == name]
        if len(own) > 1:
            raise PlanError(
                f"{own[1].flow.path}: port {name} sends {len(own)} flows, but a descriptor loop "
                f"sends one; use a port for each, or put them into one capture file; {NORMAL}"
            )
        if len(entry.tx) > 1:
            raise PlanError(
                f"map {lcore_map}: port {entry.port} has {len(entry.tx)} Tx lcores, but a "
                "descriptor loop uses one Tx queue, which costs its lcore next to nothing; give "
                f"it one (:{entry.tx[0]}.{entry.port})"
            )
        laps[port_name(entry.port)] = _lap(own[0])
    return laps


def _lap(flow: CompiledFlow) -> int:
    """Frames after which a flow begins anew; raises PlanError where they are not all ready."""
    path = flow.flow.path
    if flow.measured:
        raise PlanError(
            f"{path}.metrics: a measured flow has a stamp in each frame, but a descriptor loop "
            f"sends frames that never change; leave metrics (--measure) out; {NORMAL}"
        )
    if flow.stream.get("burst") is not None:
        raise PlanError(f"{path}.duration: a descriptor loop sends no bursts with gaps; {NORMAL}")
    trace = flow.stream.get("trace")
    if trace is not None and trace["speed"] is not None:
        raise PlanError(
            f"{path}: a descriptor loop sends at a rate or as fast as the device does, not at the "
            f"times of a capture file; leave --timing out, or give --rate; {NORMAL}"
        )
    if flow.scan is not None:
        frames: int = flow.scan["frames"]
        if frames > _LAP_MAX:
            raise PlanError(
                f"{path}: a trace of {frames:,} frames, but a descriptor loop holds all of them in "
                f"the device's Tx ring, which is often of 4,096; use a shorter trace; {NORMAL}"
            )
        return frames
    if flow.flow.ramp is not None:
        raise PlanError(
            f"{path}.x-wirerate.ramp: flows become more while frames are sent, but a descriptor "
            f"loop sends frames that never change; leave the ramp out; {NORMAL}"
        )
    period = frames_period(flow.stream)
    if period > READY_PERIOD_MAX:
        raise PlanError(
            f"{path}.packet: its frames repeat after {format_count(period)}, too many to be ready "
            f"in a device's ring; use patterns with fewer values (perf: --flows); {NORMAL}"
        )
    return period


def loop_port(params: Mapping[str, Any], laps: Mapping[str, int]) -> dict[str, Any]:
    """A PORT object, with the frames its ring is to hold where it loops."""
    frames = laps.get(params["name"])
    return dict(params) if frames is None else {**params, "tx_loop_frames": frames}


def loop_program(program: Mapping[str, Any], laps: Mapping[str, int]) -> dict[str, Any]:
    """Params of `program.load` in which the ports of ``laps`` loop."""
    return {
        **program,
        "workers": [
            {**worker, "tasks": [_loop_task(task, laps) for task in worker["tasks"]]}
            for worker in program["workers"]
        ],
    }


def _loop_task(task: dict[str, Any], laps: Mapping[str, int]) -> dict[str, Any]:
    if task["kind"] != "tx" or task["port"] not in laps:
        return task
    return {"kind": "loop"} | {name: task[name] for name in ("port", "queue", "stream")}


def loop_notes(
    titles: Mapping[str, str], infos: Mapping[str, Mapping[str, Any]], laps: Mapping[str, int]
) -> tuple[str, ...]:
    """What to say of rings that loop: how often they hold a lap, and which are untried.

    ``titles`` and ``infos`` (PORT_INFOs): by the engine's names of the ports.
    """
    notes = []
    for name, frames in laps.items():
        ring = infos[name]["tx_loop"]
        held = f"{ring['descriptors']:,} descriptors"
        times = "once" if ring["laps"] == 1 else f"{ring['laps']:,} times"
        notes.append(
            f"{titles[name]}: descriptor loop ({ring['driver']}), the Tx ring of {held} holds "
            f"its {format_count(frames)} frames {times}"
        )
        if not ring["proven"]:
            notes.append(
                f"{titles[name]}: the descriptor loop of {ring['driver']} was written from the "
                "datasheet and has not yet been run on hardware; compare with the normal engine"
            )
    return tuple(notes)
