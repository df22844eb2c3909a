# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate replay` as people and programs see it; the JSON schema is wirerate-replay/1."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from wirerate.host.numa import UNKNOWN, cpu_nodes, pci_node
from wirerate.report import parts_json
from wirerate.report import replay_text as text
from wirerate.report.columns import terminal_columns, wrapped
from wirerate.report.parts_measured import device_facts
from wirerate.report.parts_text import map_line, verdict_lines
from wirerate.units import FCS_OCTETS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wirerate.plan.location import Location
    from wirerate.plan.model import Flow, PlanPort
    from wirerate.plan.replay_document import TraceFacts
    from wirerate.report.view import Setup
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.result import PortResult, RunResult
    from wirerate.trial.snapshot import Snapshot

SCHEMA = "wirerate-replay/1"
_GIGA = 1e9


@dataclass(frozen=True)
class ReplayView:
    """Shows the run of a replay plan; ``by_times``: frames leave by the file's own times."""

    file: Path
    facts: TraceFacts
    by_times: bool

    def port_title(self, index: int, port: PlanPort) -> str:
        """``port 0``."""
        del port
        return f"port {index}"

    def flow_title(self, index: int, flow: Flow) -> str:
        """The flow of a port: there is one for each, which the user did not name."""
        del flow
        return f"the trace on port {index}"

    def setup(self, setup: Setup) -> str:
        """The file, the ports with lcore and NUMA node, the memory."""
        lines = text.trace_lines(self.file, self.facts)
        lines += [f"  {warning}" for warning in self.warnings]
        lcores = {entry.port: entry.tx for entry in setup.lcore_map.ports}
        for index, port in enumerate(setup.plan.ports):
            if index in lcores:
                shown = _placed(port.location, lcores[index])
                lines.append(text.port_line(index, shown))
            else:
                lines.append(f"Port {index}: {port.location} (not mapped: left alone)")
        return wrapped("\n".join([*lines, map_line(setup), ""]), terminal_columns())

    @property
    def warnings(self) -> list[str]:
        """What of the file is not sent as it was on the wire."""
        return text.trace_warnings(self.facts, by_times=self.by_times)

    def tick(self, ready: ReadyPlan, now: Snapshot, before: Snapshot | None, number: int) -> str:
        """A row per port."""
        del number
        ports = {port.index: port.name for port in ready.ports}
        return text.table(now, before, ports, self.facts.frames)

    def summary(self, result: RunResult) -> str:
        """The rows of the whole run, loadgen's table, how well the times were kept, the verdict."""
        blocks = [
            "Summary",
            text.final_table(result, self.facts.frames),
            "",
            *text.performance(result, _numa(result)),
            "",
            *text.cpu_lines(result),
            *text.pacing_lines(result),
            *verdict_lines(result.verdict),
        ]
        return wrapped("\n".join(blocks), terminal_columns())

    def document(self, result: RunResult) -> dict[str, Any]:
        """All figures; octets of frames count the FCS."""
        return {
            "schema": SCHEMA,
            "verdict": parts_json.verdict_document(result.verdict),
            "environment": dict(result.environment),
            "trace": self._trace(),
            "ports": [self._port_document(port, result) for port in result.ports],
            "total": self._total(result),
            "engine": parts_json.engine_document(result),
        }

    def _trace(self) -> dict[str, Any]:
        facts = self.facts
        return {
            "file": str(self.file),
            "format": facts.format,
            "frames": facts.frames,
            "octets": facts.octets + FCS_OCTETS * facts.frames,
            "frame_size_min": facts.shortest + FCS_OCTETS,
            "frame_size_mean": float(facts.mean_size),
            "frame_size_max": facts.longest + FCS_OCTETS,
            "span_ns": facts.span_ns,
            "truncated_frames": facts.truncated,
            "short_frames": facts.short,
            "backwards_frames": facts.backwards,
            "memory_octets": facts.memory_octets,
            "warnings": self.warnings,
        }

    def _port_document(self, port: PortResult, result: RunResult) -> dict[str, Any]:
        info = result.ready.infos[port.plan.name]
        shown = _shown(port, result)
        return {
            "port": port.plan.index,
            "location": port.plan.location,
            "driver": info["driver"],
            "mac": info["mac"],
            **device_facts(info, result.final.port(port.plan.name)),
            "placement": parts_json.placement_document(result.ready, port.plan.name),
            "lcore": shown.lcore,
            "numa": shown.numa,
            "line_rate_bps": port.plan.line_rate_bps,
            "intended_fps": port.intended_fps,
            "offered_fps": port.offered_fps,
            "offered_l1_bps": text.load_of(port).l1_gbps * _GIGA,
            "per_cpu_second_fps": port.per_cpu_second_fps,
            "seconds": port.seconds,
            "tx_frames": port.tx_frames,
            "tx_octets": port.tx_octets,
            "tx_frames_unsent": port.tx_frames_unsent,
            "laps": port.tx_frames / self.facts.frames,
            "cycles_per_frame": port.cycles_per_frame,
            "pacing_error_ns": parts_json.lateness_document(
                port.lateness_cycles, result.final.tsc_hz
            ),
            "device": asdict(port.device),
        }

    def _total(self, result: RunResult) -> dict[str, Any]:
        fps = sum(port.offered_fps for port in result.ports)
        return {
            "ports": len(result.ports),
            "numa": _numa(result),
            "offered_fps": fps,
            "offered_fps_per_port": fps / max(1, len(result.ports)),
            "offered_l1_bps": sum(text.load_of(port).l1_gbps for port in result.ports) * _GIGA,
            "tx_frames": sum(port.tx_frames for port in result.ports),
            "cpu_share": result.cpu.share,
            "lcores_busy": _by_lcore(dict(result.cpu.busy)),
            "lcores_cpu_lost": _by_lcore({time.lcore: time.share for time in result.cpu.times}),
        }


def _placed(location: Location, lcores: Sequence[int]) -> text.ReplayPort:
    """A port and the lcore that sends on it, and whether they are of one NUMA node."""
    lcore = lcores[0] if lcores else None
    node = UNKNOWN if lcore is None else cpu_nodes().get(lcore, UNKNOWN)
    return text.ReplayPort(location.text, lcore, text.numa_word(pci_node(location), node))


def _shown(port: PortResult, result: RunResult) -> text.ReplayPort:
    location = result.ready.plan.ports[port.plan.index].location
    return _placed(location, port.plan.tx_lcores)


def _numa(result: RunResult) -> str:
    """The NUMA word for all ports together."""
    return text.numa_of_all([_shown(port, result).numa for port in result.ports])


def _by_lcore(busy: Mapping[int, float]) -> dict[str, float]:
    """JSON has text as keys."""
    return {str(lcore): share for lcore, share in busy.items()}
