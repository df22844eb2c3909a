# SPDX-License-Identifier: BSD-3-Clause
"""The options of a sweep of `wirerate rss`. Text in, checked settings out."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from wirerate.cli.common_args import eal_request, run_settings, whole
from wirerate.cli.output_args import add_output_files, output_file, values_of_list
from wirerate.cli.rss_sweep import Outputs
from wirerate.errors import PlanError
from wirerate.methods.rss_settings import Link, SweepSettings, WorkUnit
from wirerate.plan.forward_settings import WORK_MAX_CYCLES
from wirerate.plan.location import parse_location
from wirerate.plan.rss_flows import FlowKind
from wirerate.plan.rss_hash import DEFAULT_KEY
from wirerate.units import (
    FRAME_SIZE_MAX,
    FRAME_SIZE_MIN,
    FRAME_SIZE_ORDINARY,
    parse_duration_ns,
    parse_line_rate,
)

if TYPE_CHECKING:
    import argparse

    from wirerate.plan.eal_args import EalRequest
    from wirerate.plan.location import Location

QUEUES = (1, 2, 4)
WORKS = (100.0, 200.0, 300.0, 400.0)
SIZES = (64, 128, 256, 512, 1024)
FLOWS = 1024
SWEEP_FLOWS_MAX = 65_536
"""A field of a stream has so many values at most (docs/design/0002-engine-interface.md)."""
_LINE_BPS = 10**10
_REPEATS_MAX = 1000
_NS_PER_S = 1_000_000_000
_CELLS_MAX = 10_000
_MAC = re.compile(r"[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}")
_SIDE_MAX = 2
"""Ports of the generator, and of the forwarder."""


def add_sweep(group: argparse._ArgumentGroup) -> None:
    """What is swept, and how."""
    add = group.add_argument
    add(
        "--work",
        type=_works,
        metavar="LIST",
        help="work per frame (default 100,200,300,400); of a forwarder elsewhere, what was set "
        "there",
    )
    add(
        "--work-unit",
        choices=[unit.value for unit in WorkUnit],
        default=WorkUnit.CYCLES.value,
        help="cycles of the TSC, ns, or iterations of the reference's loop, 7.07 cycles each "
        "(default cycles)",
    )
    add(
        "--sizes",
        type=_sizes,
        default=SIZES,
        metavar="LIST",
        help="frame sizes with FCS (default 64,128,256,512,1024)",
    )
    add("--no-baseline", action="store_true", help="leave out the row without work")
    add(
        "--trial-time",
        type=_trial_time,
        default="1",
        metavar="TIME",
        help="of each trial (default 1s)",
    )
    add(
        "--repeats",
        type=whole("--repeats", 1, _REPEATS_MAX),
        default=3,
        metavar="N",
        help="trials of each cell (default %(default)s)",
    )
    add(
        "--line-rate",
        type=_line_rate,
        default=_LINE_BPS,
        metavar="BPS",
        dest="sweep_line_bps",
        help="load offered: this line filled; none is as fast as it goes (default 10G)",
    )
    add(
        "--link",
        choices=[link.value for link in Link],
        help="what joins generator and forwarder (default memif)",
    )
    add(
        "--dut-here",
        nargs="+",
        default=[],
        metavar="LOCATION",
        help="forward on these ports of this machine: where it receives and where it sends, one "
        "location where they are the same; without, the forwarder is elsewhere",
    )
    add(
        "--dst-mac",
        type=_mac,
        metavar="MAC",
        help="whom frames are for, of a forwarder elsewhere (default 02:57:52:00:01:00, nobody)",
    )


def add_outputs(group: argparse._ArgumentGroup) -> None:
    """Files beside what is printed."""
    add = group.add_argument
    add_output_files(group, "trial")
    add(
        "--resume",
        type=output_file("--resume"),
        metavar="FILE",
        help="keep cells there as they are done, and go on where a sweep before was stopped",
    )


def _sizes(text: str) -> tuple[int, ...]:
    found = values_of_list(text, "--sizes", whole("--sizes", FRAME_SIZE_MIN, FRAME_SIZE_MAX))
    beyond = [size for size in found if size > FRAME_SIZE_ORDINARY]
    if beyond:
        raise PlanError(
            f"--sizes: {beyond[0]} octets are above the MTU of the link, which takes frames of "
            f"{FRAME_SIZE_ORDINARY}; give {FRAME_SIZE_MIN} to {FRAME_SIZE_ORDINARY}"
        )
    return found


def _works(text: str) -> tuple[float, ...]:
    return values_of_list(text, "--work", _work)


def _work(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text) is None or not 0 < float(text) <= WORK_MAX_CYCLES:
        raise PlanError(
            f"--work {text!r}: give numbers above 0, up to {WORK_MAX_CYCLES:,}; the baseline "
            "without work is measured anyway"
        )
    return float(text)


def _mac(text: str) -> str:
    if _MAC.fullmatch(text) is None:
        raise PlanError(f"--dst-mac {text!r}: write six octets in hex, 02:00:00:00:00:01 say")
    return text.lower()


def _trial_time(text: str) -> float:
    return parse_duration_ns(text, "--trial-time") / _NS_PER_S


def _line_rate(text: str) -> int | None:
    return None if text == "none" else parse_line_rate(text)


def outputs_of(args: argparse.Namespace) -> Outputs:
    """Where results go."""
    return Outputs(args.json, args.csv, args.resume, args.report, args.plots)


def sweep_settings_of(args: argparse.Namespace) -> SweepSettings:
    """Check what the parser read. Raises PlanError."""
    eal = eal_request(args)
    locations, dut = _locations_of(args, eal)
    foreign = bool(locations) and not dut
    queues = args.queues or QUEUES
    works = WORKS if args.work is None else args.work
    if foreign:
        _check_labels(args)
        works = args.work or ()
    elif args.dst_mac is not None:
        raise PlanError(
            "--dst-mac: is of a forwarder elsewhere; the one here is known, leave it out"
        )
    flows = args.flows or FLOWS
    if flows > SWEEP_FLOWS_MAX:
        raise PlanError(f"--flows {flows:,}: a sweep sends {SWEEP_FLOWS_MAX:,} at most")
    if flows < max(queues):
        raise PlanError(
            f"--flows {flows}: fewer than {max(queues)} queues; each needs one at least"
        )
    asked = {
        "--steer": args.steer,
        "--fields": args.fields,
        "--reta": args.reta,
    }
    for option, value in asked.items():
        if value:
            raise PlanError(f"{option}: belongs to --check; a sweep has no device to set")
    common = vars(run_settings(args, eal, 0)) | {"line_rate_bps": args.sweep_line_bps}
    settings = SweepSettings(
        **common,
        queues=queues,
        works=works,
        work_unit=WorkUnit(args.work_unit),
        sizes=args.sizes,
        baseline=not works if foreign else not args.no_baseline,
        repeats=args.repeats,
        trial_s=args.trial_time,
        link=Link(args.link or Link.MEMIF),
        key=args.key or DEFAULT_KEY,
        flows=flows,
        kind=FlowKind(6 if args.ipv6 else 4, args.layer4),
        spread=args.spread,
        seed=args.seed,
        locations=locations,
        dut_locations=dut,
        key_given=args.key is not None,
        dst_mac=args.dst_mac,
    )
    cells = len(queues) * (len(works) + 1) * len(args.sizes)
    if cells > _CELLS_MAX:
        raise PlanError(f"{cells:,} cells: a sweep has {_CELLS_MAX:,} at most; give fewer values")
    return settings


def _locations_of(
    args: argparse.Namespace, eal: EalRequest
) -> tuple[tuple[Location, ...], tuple[Location, ...]]:
    """The generator's and the forwarder's; none: the sweep joins both itself. Raises PlanError."""
    locations = (*eal.locations, *map(parse_location, args.locations))
    dut = tuple(map(parse_location, args.dut_here))
    if not locations:
        if dut:
            raise PlanError("--dut-here: says where to forward; give TX and RX before it, too")
        return (), ()
    if len(locations) > _SIDE_MAX or len(dut) > _SIDE_MAX:
        raise PlanError(
            f"{len(locations)} locations and {len(dut)} of --dut-here: a sweep takes one or two "
            "of each, where to send and where to receive; put --dut-here behind the others"
        )
    if dut and len(dut) != len(locations):
        raise PlanError(
            f"{len(locations)} of the generator, but {len(dut)} of --dut-here: each port is joined "
            "to one of the other side; give as many"
        )
    if args.link is not None:
        raise PlanError("--link: is what joins a sweep without locations; leave it out")
    names = [at.value if at.needs_pci else at.text for at in (*locations, *dut)]
    for name, times in Counter(names).items():
        if times > 1:
            raise PlanError(f"location {name!r} is given {times} times; a device is one port")
    return locations, dut


def _check_labels(args: argparse.Namespace) -> None:
    """Of a forwarder elsewhere, queues and work are what was set there. Raises PlanError."""
    why = "without --dut-here the forwarder is elsewhere"
    if args.queues is None or len(args.queues) != 1:
        raise PlanError(f"-q: {why}: give one number, of the queues that it was set to")
    if args.work is not None and len(args.work) != 1:
        raise PlanError(f"--work: {why}: give one value, which it was set to, or leave it out")
