# SPDX-License-Identifier: BSD-3-Clause
"""The option that names the forwarder at the other end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.peer_address import parse_peer

if TYPE_CHECKING:
    import argparse


def add_peer(group: argparse._ArgumentGroup) -> None:
    """Add --peer; `wirerate.cli.common_args.run_settings` reads it."""
    group.add_argument(
        "--peer",
        type=parse_peer,
        metavar="HOST:PORT",
        help="ask wirerate reflect --listen there for its counters before and after, and say where "
        "frames were lost: not sent, between, at its queues, in its forwarding, on the way back",
    )
