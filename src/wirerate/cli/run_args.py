# SPDX-License-Identifier: BSD-3-Clause
"""The options of `wirerate run`. Text in, checked settings out; nothing is opened here."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from wirerate.cli.capture_args import add_captures
from wirerate.cli.common_args import (
    EXIT_CODES_HELP,
    LCORE_MAPS_HELP,
    add_ports,
    eal_request,
    run_settings,
)
from wirerate.cli.converge_args import CONVERGE_HELP
from wirerate.cli.run_groups import add_run_groups
from wirerate.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Collection

    from wirerate.plan.run_settings import RunSettings

USAGE = "wirerate run [EAL OPTIONS --] [OPTIONS] PLAN"

DESCRIPTION = """\
Send what a plan says: ports and flows in the words of OTG (Open Traffic Generator), YAML or JSON.
Each flow has headers, patterns, sizes, a rate and an end of its own; docs/run.md has all of it.
"""

EPILOG = f"""\
a plan:
  ports: [{{name: p1, location: "ring:demo"}}]
  flows:
    - name: web
      tx_rx: {{port: {{tx_name: p1, rx_names: [p1]}}}}
      packet:
        - ethernet: {{dst: {{value: "02:00:00:00:00:01"}}}}
        - ipv4:
            src: {{increment: {{start: 198.18.0.1, count: 100}}}}
            dst: {{value: 198.19.0.1}}
        - udp: {{dst_port: {{value: 9}}}}
      size: {{fixed: 512}}
      rate: {{pps: 100000}}
      duration: {{fixed_seconds: {{seconds: 5}}}}

{LCORE_MAPS_HELP.format(ports="plan's ports")}
examples:
  wirerate run plan.yaml
      until all flows have ended, or Ctrl-C
  wirerate run plan.yaml --duration 10 --json
      all flows end after 10 s at the latest
  wirerate run plan.yaml --cpu-saver
      lcores sleep when nothing is due, and the CPU time that was really used is told
  wirerate run plan.yaml --peer 192.0.2.2:8080
      wirerate reflect --listen at the other end tells where frames were lost
  sudo wirerate run plan.yaml -m 2:3.0/4:5.1
  wirerate perf ring:demo -r 1Mpps --show-plan | wirerate run -

{CONVERGE_HELP}
{EXIT_CODES_HELP.format(what="plan or options")}"""


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command `run` to the program's parser; the caller sets what it runs."""
    parser = subparsers.add_parser(
        "run",
        help="send the flows of a plan, each with its own headers, sizes, rate and end",
        usage=USAGE,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("plan", metavar="PLAN", help="the plan's file; - is standard input")
    add_ports(parser.add_argument_group("ports and lcores"))
    add_run_groups(parser)
    add_captures(parser.add_argument_group("captures"))
    return parser


def settings_from_args(
    args: argparse.Namespace, ports: int, usable_lcores: Collection[int] | None = None
) -> RunSettings:
    """Check what the parser read, for a plan with so many ports.

    ``usable_lcores`` replaces the CPUs of this process where EAL's ``-l`` names none. Raises
    PlanError.
    """
    eal = eal_request(args)
    if eal.locations:
        raise PlanError(
            f"EAL device {eal.locations[0]}: the plan says where its ports are; leave -a and "
            "--vdev out, and write the location into the plan's ports"
        )
    return run_settings(args, eal, ports, usable_lcores)
