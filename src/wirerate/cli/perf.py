# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate perf`: make a plan of the options, run it, show it as pktperf does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from wirerate.cli import perf_args
from wirerate.cli.common_args import plan_text
from wirerate.cli.execute import execute
from wirerate.errors import ExitCode
from wirerate.plan.decode import decode_plan
from wirerate.plan.perf_document import perf_document
from wirerate.report import perf_json, perf_text

if TYPE_CHECKING:
    import argparse

    from wirerate.plan.model import Flow, PlanPort
    from wirerate.plan.perf_settings import PerfSettings
    from wirerate.report.view import Setup
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.result import RunResult
    from wirerate.trial.snapshot import Snapshot


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    parser = perf_args.add_parser(subparsers)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Measure and report; see `wirerate.cli.execute`."""
    settings = perf_args.settings_from_args(args)
    document = plan_document(settings)
    if args.show_plan:
        both = settings.frames is not None and settings.duration_ns is not None
        sys.stdout.write(plan_text(document, args, settings.eal, with_duration=both))
        return ExitCode.PASS
    return execute(decode_plan(document), settings, PerfView(settings))


def plan_document(settings: PerfSettings) -> dict[str, Any]:
    """The plan: all locations are its ports, those that the map lets transmit have a flow."""
    ports = []
    given = settings.lcore_map
    for index, location in enumerate(settings.locations):
        queues = 1 if given is None else len(given.of_port(index).tx)
        ports.append((index, location.text, queues))
    receiving = None if given is None else [entry.port for entry in given.ports if entry.rx]
    return perf_document(settings, ports, receiving)


class PerfView:
    """What `wirerate perf` shows: ports by number, a flow is its port."""

    def __init__(self, settings: PerfSettings) -> None:
        self._settings = settings

    def port_title(self, index: int, port: PlanPort) -> str:
        """``port 0``."""
        del port
        return f"port {index}"

    def flow_title(self, index: int, flow: Flow) -> str:
        """The title of its port: pktperf has no flows."""
        del index
        return f"port {flow.tx_port.removeprefix('p')}"

    def setup(self, setup: Setup) -> str:
        """Ports, lcore map, memory."""
        return perf_text.setup_text(setup, self._settings)

    def tick(self, ready: ReadyPlan, now: Snapshot, before: Snapshot | None, number: int) -> str:
        """The rows of pktperf."""
        return perf_text.table(ready, self._settings, now, before, number)

    def summary(self, result: RunResult) -> str:
        """All ports, and the verdict."""
        return perf_text.summary(result, self._settings)

    def document(self, result: RunResult) -> dict[str, Any]:
        """Schema wirerate-perf/1."""
        return perf_json.document(result, self._settings.frame_size)
