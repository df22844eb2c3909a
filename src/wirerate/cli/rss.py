# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate rss`: how a device spreads flows over its Rx queues, predicted and observed."""

from __future__ import annotations

import argparse
import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from wirerate.cli.common_args import EXIT_CODES_HELP
from wirerate.cli.engine_session import notices
from wirerate.cli.rss_args import RUN_DEFAULTS, add_flows, add_settings, settings_of
from wirerate.cli.rss_sweep import run_sweep
from wirerate.cli.rss_sweep_args import add_outputs, add_sweep, outputs_of, sweep_settings_of
from wirerate.engine.eal import choose_memory
from wirerate.errors import EngineDiedError, EngineRefusedError, ExitCode
from wirerate.host.environment import environment
from wirerate.plan.rss_settings import (
    RECEIVER,
    SENDER,
    rss_memory_octets,
    rss_ports,
    rss_refusal,
)
from wirerate.report import rss_json
from wirerate.report.rss_text import rss_text
from wirerate.session.engine_start import open_engine, report_ports
from wirerate.trial.rss_check import check_rss

if TYPE_CHECKING:
    from wirerate.engine.process import Engine
    from wirerate.plan.rss_settings import RssSettings

TITLES = {SENDER: "the sender", RECEIVER: "the receiver"}

DESCRIPTION = """\
Measure how a forwarder scales with queues, work per frame and frame size: a trial for each of them
together, with a generator and a forwarder joined on this machine, or on the ports that are given;
tables as in the reference, the limit of each cell, a fit, charts.

--check: check that a device spreads flows over its Rx queues as its key, fields and table (RETA)
say: a frame of each flow is sent from one port, and the queue where it arrives at the other is
compared with the Toeplitz hash's.
"""

EPILOG = f"""\
what the device has is shown as it says itself, after it was set; a setting that it does not keep is
an error. --steer tries a rule for each queue and tells the ones that steer from those which the
driver accepts and ignores.

spreads:
  random           as chance has it
  even             queues get the same number of flows, give or take one; whatever the key is
  skewed:0.5       half of the flows go to the first queue, the others evenly to the rest
queues are those in the table.

examples:
  wirerate rss
      1, 2 and 4 queues, work of 100 to 400 cycles, 64 to 1,024 octets: some 7 minutes
  wirerate rss -q 1,2 --sizes 64 --repeats 1 --report page.html
  wirerate rss -q 1,2 --work 100,200 --work-unit ns --resume cells.jsonl
      after Ctrl-C, the same command goes on where it was stopped
  sudo wirerate rss 03:00.0 03:00.1 --dut-here 04:00.0 04:00.1
      between real ports: those of the generator, and where the forwarder receives and sends
  sudo wirerate rss 03:00.0 03:00.1 -q 4 --work 100
      a forwarder elsewhere, which was set to 4 queues and that work
  sudo wirerate rss --check 03:00.0 03:00.1 -q 4
      two ports of a NIC with a cable between: what it has
  sudo wirerate rss --check 03:00.0 03:00.1 -q 4 --key symmetric --spread even --flows 10000
      another key, and 2,500 flows for each queue
  sudo wirerate rss --check 03:00.0 03:00.1 -q 4 --fields ipv6-tcp --ipv6 --tcp --steer --json

{EXIT_CODES_HELP.format(what="options")}  1 a cell failed, or not all flows arrived as predicted,
  130 a sweep was stopped by Ctrl-C, with the tables of what is done
"""


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    parser = subparsers.add_parser(
        "rss",
        help="how forwarding scales with queues, work and frame size; how flows are spread",
        usage="wirerate rss [EAL OPTIONS --] [OPTIONS] [[--check] TX [RX]]",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("locations", nargs="*", metavar="LOCATION", help="who sends, who receives")
    parser.add_argument(
        "--check",
        action="store_true",
        help="no sweep: compare the queue of each flow with the prediction",
    )
    add_sweep(parser.add_argument_group("the sweep"))
    add_settings(parser.add_argument_group("the receiver"))
    add_flows(parser.add_argument_group("flows"))
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print the result as JSON")
    add_outputs(output)
    output.add_argument("-v", "--verbose", action="store_true", help="engine and ports in full")
    parser.set_defaults(run=run, **RUN_DEFAULTS)
    return parser


def run(args: argparse.Namespace) -> int:
    """Sweep, or check; 1 when a cell failed or not all is as predicted. Raises WirerateError."""
    if not args.check:
        return run_sweep(sweep_settings_of(args), outputs_of(args))
    settings = settings_of(args)
    ports = [
        (TITLES[SENDER], settings.locations[SENDER], 1),
        (TITLES[RECEIVER], settings.locations[RECEIVER], settings.queues),
    ]
    memory = choose_memory(
        rss_memory_octets(settings), settings.eal.passthrough, allow_hugepages=True
    )
    said = notices(verbose=settings.verbose)
    with open_engine(settings, ports, (), memory, said) as engine:
        return _check(engine, settings)


def _check(engine: Engine, settings: RssSettings) -> int:
    started = datetime.now(timezone.utc)
    about = engine.call("engine.info")
    try:
        infos = engine.call("ports.open", {"ports": rss_ports(settings)})["ports"]
    except EngineRefusedError as error:
        titled = list(zip(TITLES.values(), settings.locations, strict=True))
        raise rss_refusal(error, titled) from error
    opened = list(zip(TITLES.values(), infos, strict=True))
    report_ports(engine, settings, about, opened, notices(verbose=settings.verbose))
    result = check_rss(engine, settings, about, infos)
    death = engine.end()
    if death:
        raise EngineDiedError(death)
    if settings.json:
        facts = environment(about["dpdk"], started)
        print(json.dumps(rss_json.document(result, facts), indent=2), flush=True)
    else:
        print(rss_text(result), flush=True)
    return ExitCode.PASS if result.passed else ExitCode.CRITERION_FAILED
