# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate forward`: what comes in at one port of a pair leaves by the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.cli.common_args import EXIT_CODES_HELP
from wirerate.cli.forward_args import (
    IMPAIRMENTS_HELP,
    MAPS_HELP,
    add_impairments,
    add_ports_and_run,
    new_parser,
    request_of,
    settings_from_args,
)
from wirerate.cli.forward_session import execute_forward
from wirerate.plan.forward_settings import REWRITES
from wirerate.plan.forward_values import pair_ways

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection

    from wirerate.plan.forward_settings import ForwardSettings

DESCRIPTION = """\
Forward frames between pairs of ports, both ways: a device under test with a known cost per frame
and known faults, counted to the frame.
"""

EPILOG = f"""\
ports are pairs: A B C D forwards between A and B, and between C and D; see wirerate perf --help for
what a location is. Each queue of A has one lcore, which receives on A and sends on B.

{MAPS_HELP}
{IMPAIRMENTS_HELP}
examples:
  wirerate forward memif:/run/a.sock,role=server memif:/run/b.sock,role=server
      between two memif peers, until Ctrl-C
  wirerate forward pcap:in.pcap, pcap:,out.pcap --one-way --drop 1% --seed 7 --duration 1
      what is left of a capture file: no NIC, no root, no hugepages
  sudo wirerate forward 03:00.0 82:00.0 -m [2-5].0 -m [14-17].1 --work 400cycles
      two NICs, four queues each, at a cost of 400 cycles per frame
  sudo wirerate forward af_packet:left af_packet:right --delay 1ms --reorder 0.1% --json

{EXIT_CODES_HELP.format(what="options")}"""


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    texts = ("A B [C D ...]", DESCRIPTION, EPILOG)
    parser, frames = new_parser(subparsers, "forward", "forward between pairs of ports", texts)
    frames.add_argument(
        "--rewrite",
        choices=sorted(REWRITES),
        default="none",
        help="mac-swap exchanges the Ethernet addresses; reverse also IPv4 or IPv6 addresses and "
        "UDP or TCP ports (default none)",
    )
    frames.add_argument(
        "--one-way", action="store_true", help="forward from A to B only, nothing comes back"
    )
    add_impairments(frames)
    add_ports_and_run(parser)
    parser.set_defaults(run=run)
    return parser


def settings_of(
    args: argparse.Namespace, usable_lcores: Collection[int] | None = None
) -> ForwardSettings:
    """Check what the parser read. Raises PlanError."""
    eal, locations = request_of(args)
    ways = pair_ways(len(locations), one_way=args.one_way)
    return settings_from_args(
        args,
        eal,
        locations,
        ways=ways,
        rewrite=REWRITES[args.rewrite],
        usable_lcores=usable_lcores,
    )


def run(args: argparse.Namespace) -> int:
    """Forward and report; see `wirerate.cli.forward_session.execute_forward`."""
    return execute_forward(settings_of(args))
