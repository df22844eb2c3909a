# SPDX-License-Identifier: BSD-3-Clause
"""The options of a search for a rate: `add_converge` adds them, `converge_from_args` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.converge_settings import TOLERANCE_DEFAULT, Converge, ConvergeTo
from wirerate.units import parse_duration_ns, parse_ratio

if TYPE_CHECKING:
    import argparse

TOLERANCE_MIN = 0.0001

CONVERGE_HELP = """\
searching for a rate:
  --converge loss  the highest rate at which no more than --max-loss of all frames is lost: a trial
                   of --duration (default 2s) for each step, confirmed by a repeat
  --converge cpu   the rate that keeps the sender's workers busy for 95 % of the time (BiTester's
                   rule): the rate of one trial is changed each --duration (default 1s)
  The highest rate that is tried is the one asked for; without one it is what the device takes.
"""


def add_converge(group: argparse._ArgumentGroup) -> None:
    """Options of commands that can search; `CONVERGE_HELP` belongs into their epilog."""
    add = group.add_argument
    add(
        "--converge",
        choices=[to.value for to in ConvergeTo],
        help="search for the highest rate instead of sending at one, see below",
    )
    add(
        "--max-loss",
        type=_max_loss,
        metavar="RATIO",
        help="with --converge loss: so much loss is allowed, 0.1%% or 0.001 (default 0)",
    )
    add(
        "--tolerance",
        type=_tolerance,
        metavar="RATIO",
        help="end when the bounds are no further apart, 0.01%%-50%% of the upper one (default 1%%)",
    )
    add(
        "--max-time",
        type=_max_time_ns,
        metavar="TIME",
        dest="max_time_ns",
        help="begin no step later than that after the first (default: no such end)",
    )
    add(
        "--follow",
        action="store_true",
        help="with --converge cpu: go on until Ctrl-C or --max-time, search anew when conditions "
        "change",
    )


def converge_from_args(args: argparse.Namespace) -> Converge | None:
    """What the parser read; None without --converge. Raises PlanError for what does not fit."""
    to = None if args.converge is None else ConvergeTo(args.converge)
    only = {
        "--max-loss": (args.max_loss is not None, {ConvergeTo.LOSS}),
        "--follow": (args.follow, {ConvergeTo.CPU}),
        "--tolerance": (args.tolerance is not None, set(ConvergeTo)),
        "--max-time": (args.max_time_ns is not None, set(ConvergeTo)),
    }
    for option, (given, kinds) in only.items():
        if given and to not in kinds:
            which = f" {next(iter(kinds)).value}" if len(kinds) == 1 else ""
            raise PlanError(
                f"{option}: there is no such search; add --converge{which}, or leave it out"
            )
    if to is None:
        return None
    return Converge(
        to,
        args.max_loss or 0.0,
        TOLERANCE_DEFAULT if args.tolerance is None else args.tolerance,
        args.max_time_ns,
        args.follow,
    )


def converge_words(converge: Converge | None) -> list[str]:
    """The same as words of a command line."""
    if converge is None:
        return []
    words = ["--converge", converge.to.value]
    if converge.max_loss:
        words += ["--max-loss", f"{converge.max_loss:.17g}"]
    if converge.tolerance != TOLERANCE_DEFAULT:
        words += ["--tolerance", f"{converge.tolerance:.17g}"]
    if converge.max_time_ns is not None:
        words += ["--max-time", f"{converge.max_time_ns / 1000:.17g}us"]
    return [*words, "--follow"] if converge.follow else words


def _max_loss(text: str) -> float:
    ratio = parse_ratio(text, "--max-loss")
    if ratio == 1:
        raise PlanError(f"--max-loss {text!r}: nothing would have to arrive; give less than 100%")
    return ratio


def _tolerance(text: str) -> float:
    ratio = parse_ratio(text, "--tolerance")
    if not TOLERANCE_MIN <= ratio <= 1 / 2:
        raise PlanError(f"--tolerance {text!r}: not between 0.01% and 50%; 1% is usual")
    return ratio


def _max_time_ns(text: str) -> int:
    return parse_duration_ns(text, "--max-time")
