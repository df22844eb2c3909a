# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate flows`: make a plan of a BiTester file and the options, run it, show it."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wirerate.cli import flows_args
from wirerate.cli.common_args import plan_text
from wirerate.cli.engine_session import warn
from wirerate.cli.execute import execute
from wirerate.errors import ExitCode
from wirerate.host.numa import cpu_nodes, pci_node
from wirerate.plan.decode import decode_plan
from wirerate.plan.flows_document import flows_document
from wirerate.plan.flows_map import flows_map, ordered_lcores
from wirerate.plan.flows_settings import Mode
from wirerate.plan.program import uses_of
from wirerate.report import flows_json, flows_text
from wirerate.report.flows_live import look_at
from wirerate.session.engine_start import idle_lcores

if TYPE_CHECKING:
    import argparse

    from wirerate.plan.flows_settings import FlowsSettings
    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.model import Flow, Plan, PlanPort
    from wirerate.report.flows_live import Look
    from wirerate.report.view import Setup
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.result import RunResult
    from wirerate.trial.snapshot import Snapshot


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    parser = flows_args.add_parser(subparsers)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Measure and report; see `wirerate.cli.execute`."""
    settings, warnings = flows_args.settings_from_args(args)
    for text in warnings:
        warn(text)
    document = flows_document(settings)
    plan = decode_plan(document)
    if settings.lcore_map is None:
        settings = replace(settings, lcore_map=_lcore_map(plan, settings))
    if args.show_plan:
        more = () if args.maps else ("-m", str(settings.lcore_map))
        searches = settings.converge is not None
        text = plan_text(document, args, settings.eal, with_duration=searches, more=more)
        sys.stdout.write(text)
        return ExitCode.PASS
    return execute(plan, settings, FlowsView(settings))


def _lcore_map(plan: Plan, settings: FlowsSettings) -> LcoreMap:
    """A core for each queue, or two, as the mode asks. Raises PlanError when there are too few."""
    node = pci_node(settings.locations[settings.tx_port])
    lcores = ordered_lcores(idle_lcores(settings), cpu_nodes(), node, settings.eal.main_lcore)
    separate = settings.traffic.mode is Mode.TWO_CORES
    return flows_map(uses_of(plan), settings.queues, lcores, separate=separate)


class FlowsView:
    """What `wirerate flows` shows: queues, flows, latencies, and the tables of BiTester's document.

    Keeps every look, for the JSON document.
    """

    def __init__(self, settings: FlowsSettings) -> None:
        self._settings = settings
        self._looks: list[Look] = []

    def port_title(self, index: int, port: PlanPort) -> str:
        """``port 0``."""
        del port
        return f"port {index}"

    def flow_title(self, index: int, flow: Flow) -> str:
        """``flows`` or ``probe``."""
        del index
        return flow.name

    def setup(self, setup: Setup) -> str:
        """What is sent where, lcore map, memory."""
        return flows_text.setup_text(setup, self._settings)

    def tick(self, ready: ReadyPlan, now: Snapshot, before: Snapshot | None, number: int) -> str:
        """Rows of queues, and how many flows there are."""
        del number
        look = look_at(ready, self._settings, now, before)
        self._looks.append(look)
        return flows_text.table(look, self._settings)

    def summary(self, result: RunResult) -> str:
        """Flows, the tables, and the verdict."""
        return flows_text.summary(result, self._settings)

    def document(self, result: RunResult) -> dict[str, Any]:
        """Schema wirerate-flows/1."""
        return flows_json.document(result, self._settings, self._looks)
