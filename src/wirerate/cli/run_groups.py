# SPDX-License-Identifier: BSD-3-Clause
"""Groups of options that commands which run plans have alike, in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.cli.common_args import add_latency, add_run, add_show_plan, add_trial
from wirerate.cli.converge_args import add_converge
from wirerate.cli.engine_args import add_engine
from wirerate.cli.peer_args import add_peer

if TYPE_CHECKING:
    import argparse


def add_promiscuous(group: argparse._ArgumentGroup) -> None:
    """The option that leaves others' frames alone."""
    group.add_argument(
        "-P",
        "--no-promiscuous",
        action="store_false",
        dest="promiscuous",
        help="do not receive what is addressed to others",
    )


def add_run_groups(parser: argparse.ArgumentParser, *, engine: bool = True) -> None:
    """How long, what is printed and measured, and the search; ``engine``: a choice of engines."""
    output = parser.add_argument_group("run and output")
    add_run(output)
    if engine:
        add_engine(output)
    add_trial(output)
    add_latency(output)
    add_peer(output)
    add_converge(parser.add_argument_group("search"))
    add_show_plan(output)
