# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate reflect`: what a port receives goes back where it came from, or is only counted."""

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
from wirerate.plan.forward_settings import Rewrite, Way
from wirerate.plan.forward_values import check_impairs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection

    from wirerate.plan.forward_settings import ForwardSettings

DESCRIPTION = """\
Send back what ports receive, each frame on the queue it came from: the other end of a measurement.
"""

EPILOG = f"""\
--reverse is the default, for switches, routers and kernels between here and the sender let such
frames pass: each is addressed to who sent it. No checksum changes. What is neither IPv4 nor IPv6
has its Ethernet addresses exchanged.

{MAPS_HELP}
{IMPAIRMENTS_HELP}
examples:
  wirerate reflect memif:/run/dut.sock,role=server
      a peer for wirerate perf memif:/run/dut.sock
  sudo wirerate reflect 03:00.0 -m [2-5].0 --address 10.0.0.2 --address fd00::2
      four queues; the port answers ARP, neighbour solicitations and ping, so that routers find it
  sudo wirerate reflect af_packet:right --mac-swap --delay 1ms --duration 10
  sudo wirerate reflect af_xdp:right --rx-only --json
      count, and send nothing
  wirerate reflect memif:/run/dut.sock,role=server --rx-only --count-flows --listen 8080
      count flows too; curl http://127.0.0.1:8080/counters tells the counters at any time

{EXIT_CODES_HELP.format(what="options")}"""


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    texts = ("LOCATION...", DESCRIPTION, EPILOG)
    parser, frames = new_parser(subparsers, "reflect", "send back what ports receive", texts)
    which = frames.add_mutually_exclusive_group()
    for option, rewrite, text in (
        ("--reverse", Rewrite.REVERSE, "exchange Ethernet and IP addresses and UDP or TCP ports "),
        ("--mac-swap", Rewrite.MAC_SWAP, "exchange the Ethernet addresses"),
        ("--as-is", Rewrite.NONE, "send back what came, octet for octet"),
    ):
        default = " (default)" if rewrite is Rewrite.REVERSE else ""
        which.add_argument(
            option,
            action="store_const",
            const=rewrite,
            dest="rewrite",
            default=Rewrite.REVERSE,
            help=f"{text.strip()}{default}",
        )
    which.add_argument("--rx-only", action="store_true", help="count what comes, send nothing")
    add_impairments(frames)
    add_ports_and_run(parser)
    parser.set_defaults(run=run)
    return parser


def settings_of(
    args: argparse.Namespace, usable_lcores: Collection[int] | None = None
) -> ForwardSettings:
    """Check what the parser read. Raises PlanError."""
    eal, locations = request_of(args)
    ports = range(len(locations))
    ways = [Way(port, None if args.rx_only else port) for port in ports]
    settings = settings_from_args(
        args, eal, locations, ways=ways, rewrite=args.rewrite, usable_lcores=usable_lcores
    )
    if args.rx_only:
        check_impairs(settings.impairments)
    return settings


def run(args: argparse.Namespace) -> int:
    """Reflect and report; see `wirerate.cli.forward_session.execute_forward`."""
    return execute_forward(settings_of(args))
