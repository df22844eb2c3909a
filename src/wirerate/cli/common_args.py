# SPDX-License-Identifier: BSD-3-Clause
"""Options that every command which runs a plan has, spelt alike. Text in, checked settings out.

`add_ports` and `add_run` add them to a command's parser, `run_settings` reads what came of it.
Nothing here starts or opens anything; what a device can do is checked by the engine.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from wirerate.cli.converge_args import converge_from_args, converge_words
from wirerate.cli.engine_args import engine_words, loop_sleep_ns
from wirerate.cli.latency_args import floor_ns
from wirerate.cli.output_args import output_file
from wirerate.errors import PlanError
from wirerate.plan.document import dump_document
from wirerate.plan.eal_args import allowed_lcores, parse_eal_args
from wirerate.plan.lcore_map import parse_maps
from wirerate.plan.program import BURST_MAX
from wirerate.plan.run_settings import (
    BURST_DEFAULT,
    BURST_SLEEPING,
    CPU_SAVER_DEFAULT_NS,
    CPU_SAVER_MAX_NS,
    DESCRIPTORS_MAX,
    MBUFS_DEFAULT,
    MBUFS_MAX,
    PERIOD_MAX_NS,
    PERIOD_MIN_NS,
    SETTLE_DEFAULT_NS,
    RunSettings,
)
from wirerate.units import (
    FRAME_SIZE_JUMBO,
    format_duration_ns,
    parse_duration_ns,
    parse_line_rate,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Sequence

    from wirerate.plan.eal_args import EalRequest

LCORE_MAPS_HELP = """\
lcore maps, RX:TX.PORT, where PORT counts the {ports} from 0:
  2-5:6-9.0        lcores 2-5 receive and 6-9 transmit on port 0, a queue for each
  2-5.0            lcores 2-5 do both
  [2,4:6-7].0      lists; brackets are optional
  1:2.0/3:4.1      two maps in one -m
  :2.0/1:.1        port 0 only transmits, port 1 only receives
"""

EXIT_CODES_HELP = """\
exit codes:
  0 measured, 2 wrong {what}, 3 the host is not ready (see wirerate doctor), 4 the engine died
"""


def add_ports(group: argparse._ArgumentGroup) -> None:
    """Options about ports, lcores and queues."""
    add_map(group)
    group.add_argument(
        "--line-rate",
        type=parse_line_rate,
        metavar="BPS",
        dest="line_rate_bps",
        help="line rate to assume, 10G say, for devices without a real line",
    )
    add_sizes(group, str(MBUFS_DEFAULT))


def add_map(group: argparse._ArgumentGroup) -> None:
    """The option that gives ports their lcores."""
    group.add_argument(
        "-m",
        "--map",
        action="append",
        default=[],
        metavar="MAP",
        dest="maps",
        help="lcores of a port, RX:TX.PORT; repeatable (default: chosen)",
    )


def add_sizes(group: argparse._ArgumentGroup, mbufs_default: str, *burst_names: str) -> None:
    """Options about bursts, queues and memory.

    ``mbufs_default`` is said, not set; ``burst_names`` are further spellings of --burst-count.
    """
    add = group.add_argument
    add(
        "-b",
        "--burst-count",
        *burst_names,
        type=whole("burst", 1, BURST_MAX),
        metavar="N",
        dest="burst",
        help=f"frames of a burst, 1-{BURST_MAX} (default {BURST_DEFAULT}, or {BURST_SLEEPING} with "
        "--cpu-saver)",
    )
    add(
        "-d",
        "--descriptors",
        type=_descriptors,
        default=(0, 0),
        metavar="RX/TX",
        help="descriptors of each queue; one number stands for both "
        "(default 1024/1024, of a NIC 4096/1024, fitted to what it takes)",
    )
    add(
        "-M",
        "--mbuf-count",
        type=whole("mbufs", 1, MBUFS_MAX),
        metavar="N",
        dest="mbufs",
        help=f"receive mbufs of a port, 1-{MBUFS_MAX} (default {mbufs_default})",
    )
    add(
        "-j",
        "--jumbo",
        action="store_true",
        help=f"open ports for frames up to {FRAME_SIZE_JUMBO} octets; what is sent needs no -j",
    )
    add(
        "--cpu-saver",
        nargs="?",
        type=_cpu_saver_ns,
        const=CPU_SAVER_DEFAULT_NS,
        default=0,
        metavar="TIME",
        dest="cpu_saver_ns",
        help="lcores sleep so long when nothing is due "
        f"({format_duration_ns(CPU_SAVER_DEFAULT_NS)} without TIME, at most "
        f"{format_duration_ns(CPU_SAVER_MAX_NS)}): less CPU, frames leave in bursts; lcores that "
        "receive measured flows never do (default: never)",
    )


def add_run(group: argparse._ArgumentGroup) -> None:
    """Options about how long, and what is printed."""
    add = group.add_argument
    add(
        "-T",
        "--timeout",
        type=_period_ns,
        default="1",
        metavar="SECS",
        dest="period_ns",
        help="time between two statistics, 10ms to 1h (default 1)",
    )
    add(
        "--duration",
        type=_duration_ns,
        metavar="TIME",
        dest="duration_ns",
        help="stop sending after 5, 5s, 500ms, 2m (default: on Ctrl-C)",
    )
    add("--json", action="store_true", help="print JSON instead of text")
    add("-v", "--verbose", action="store_true", help="tell more of what is done")


def add_trial(group: argparse._ArgumentGroup) -> None:
    """Options about how a trial begins and ends."""
    add = group.add_argument
    add(
        "--warm-up",
        type=_warm_up_ns,
        default=0,
        metavar="TIME",
        dest="warm_up_ns",
        help="run the same for that time before, uncounted (default: not at all)",
    )
    add(
        "--settle",
        type=_settle_ns,
        default=SETTLE_DEFAULT_NS,
        metavar="TIME",
        dest="settle_ns",
        help="how long frames may still arrive after the last one was sent (default "
        f"{format_duration_ns(SETTLE_DEFAULT_NS).replace(' ', '')})",
    )


def add_latency(group: argparse._ArgumentGroup) -> None:
    """Options about latencies, for commands that measure flows."""
    add = group.add_argument
    add(
        "--histogram",
        type=output_file("--histogram"),
        metavar="FILE",
        help="write the latency histograms of measured flows, for HdrHistogram's tools (.hlog)",
    )
    add(
        "--floor",
        metavar="TIME|JSON",
        help="take so much off all latencies: a time, or the least latency in a result of --json "
        "(default: nothing)",
    )


def add_show_plan(group: argparse._ArgumentGroup) -> None:
    """The option that prints the plan instead of running it."""
    group.add_argument(
        "--show-plan", action="store_true", help="print the plan instead of running it"
    )


def eal_request(args: argparse.Namespace) -> EalRequest:
    """What stood before ``--``; main has left its words in ``eal_tokens``. Raises PlanError."""
    return parse_eal_args(args.eal_tokens)


def run_settings(
    args: argparse.Namespace,
    eal: EalRequest,
    ports: int,
    usable_lcores: Collection[int] | None = None,
) -> RunSettings:
    """Check what the parser read; ``ports`` is how many there are for maps to name.

    ``usable_lcores`` replaces the CPUs of this process where EAL's ``-l`` names none. Raises
    PlanError.
    """
    lcores = allowed_lcores(eal, usable_lcores)
    return RunSettings(
        eal=eal,
        lcores=lcores,
        lcore_map=parse_maps(args.maps, ports, lcores) if args.maps else None,
        burst=args.burst or _usual_burst(args),
        line_rate_bps=args.line_rate_bps,
        rx_descriptors=args.descriptors[0],
        tx_descriptors=args.descriptors[1],
        mbufs=args.mbufs or MBUFS_DEFAULT,
        jumbo=args.jumbo,
        period_ns=args.period_ns,
        duration_ns=args.duration_ns,
        cpu_saver_ns=args.cpu_saver_ns or loop_sleep_ns(args),
        verbose=args.verbose,
        json=args.json,
        **_trial_settings(args),
    )


def _trial_settings(args: argparse.Namespace) -> dict[str, Any]:
    """What `add_trial` and `add_latency` read, where the command has them."""
    found = {
        name: getattr(args, name)
        for name in ("settle_ns", "warm_up_ns", "histogram", "engine", "peer")
        if name in args
    }
    if getattr(args, "floor", None) is not None:
        found["floor_ns"] = floor_ns(args.floor)
    if "converge" in args:
        found["converge"] = converge_from_args(args)
    return found


def plan_text(
    document: dict[str, Any],
    args: argparse.Namespace,
    eal: EalRequest,
    *,
    with_duration: bool = True,
    more: Sequence[str] = (),
) -> str:
    """The plan for --show-plan, below two lines that say how to run it in the same way.

    ``with_duration`` False: the plan itself has what --duration asked for. ``more``: further
    options.
    """
    words = [*_machine_words(args), *_trial_words(args), *more]
    if with_duration and args.duration_ns is not None:
        words += ["--duration", f"{args.duration_ns / 1000:.17g}us"]
    eal_words = list(eal.passthrough)
    if eal.lcores is not None:
        eal_words += ["-l", ",".join(map(str, eal.lcores)), "--main-lcore", str(eal.main_lcore)]
    command = ["wirerate", "run", *([*eal_words, "--"] if eal_words else []), "PLAN", *words]
    return (
        "# What this is: an OTG plan. Put it into a file, PLAN, to run it in the same way:\n"
        f"# {shlex.join(command)}\n{dump_document(document)}"
    )


def _machine_words(args: argparse.Namespace) -> list[str]:
    """The options of `add_ports` that differ from their defaults, as words of a command line."""
    words: list[str] = []
    for text in args.maps:
        words += ["-m", text]
    if args.line_rate_bps is not None:
        words += ["--line-rate", str(args.line_rate_bps)]
    if args.burst not in {None, _usual_burst(args)}:
        words += ["-b", str(args.burst)]
    if args.descriptors != (0, 0):
        words += ["-d", "{}/{}".format(*args.descriptors)]
    if args.mbufs not in {None, MBUFS_DEFAULT}:
        words += ["-M", str(args.mbufs)]
    if args.jumbo:
        words.append("-j")
    if args.cpu_saver_ns:
        words.append(f"--cpu-saver={args.cpu_saver_ns / 1000:.17g}us")
    words += engine_words(args)
    return words


def _trial_words(args: argparse.Namespace) -> list[str]:
    """Likewise the options of `add_trial` and `add_latency`."""
    words: list[str] = []
    if args.warm_up_ns:
        words += ["--warm-up", f"{args.warm_up_ns / 1000:.17g}us"]
    if args.settle_ns != SETTLE_DEFAULT_NS:
        words += ["--settle", f"{args.settle_ns / 1000:.17g}us"]
    for name in ("histogram", "floor", "peer"):  # not of every command
        if getattr(args, name, None) is not None:
            words += [f"--{name}", str(getattr(args, name))]
    return words + (converge_words(converge_from_args(args)) if "converge" in args else [])


def whole(what: str, low: int, high: int) -> Callable[[str], int]:
    """Make a reader of whole numbers in a range."""

    def read(text: str) -> int:
        digits = text.strip()
        if re.fullmatch(r"[0-9]{1,30}", digits) is None or not low <= int(digits) <= high:
            raise PlanError(f"{what} {text!r}: give a whole number, {low:,} to {high:,}")
        return int(digits)

    return read


_one_side = whole("descriptors", 1, DESCRIPTORS_MAX)


def _descriptors(text: str) -> tuple[int, int]:
    sides = [_one_side(side) for side in text.split("/")]
    if len(sides) > 2:
        raise PlanError(f"descriptors {text!r}: give RX/TX, as in 1024/1024, or one number")
    return sides[0], sides[-1]


def _duration_ns(text: str) -> int:
    return parse_duration_ns(text, "--duration")


def _warm_up_ns(text: str) -> int:
    return _duration_or_none_ns(text, "--warm-up")


def _settle_ns(text: str) -> int:
    return _duration_or_none_ns(text, "--settle")


def _duration_or_none_ns(text: str, option: str) -> int:
    return 0 if text.strip() == "0" else parse_duration_ns(text, option)


def _period_ns(text: str) -> int:
    period_ns = parse_duration_ns(text, "-T")
    if not PERIOD_MIN_NS <= period_ns <= PERIOD_MAX_NS:
        raise PlanError(f"-T {text!r}: not between 10ms and 1h; give the time between statistics")
    return period_ns


def _usual_burst(args: argparse.Namespace) -> int:
    """Who sleeps has much to send at a time: long bursts cost less for each frame."""
    return BURST_SLEEPING if args.cpu_saver_ns else BURST_DEFAULT


def _cpu_saver_ns(text: str) -> int:
    try:
        sleep_ns = parse_duration_ns(text)
    except PlanError as error:
        raise PlanError(
            f"--cpu-saver {text!r}: not a time; write --cpu-saver=1ms, or put --cpu-saver last"
        ) from error
    if sleep_ns > CPU_SAVER_MAX_NS:
        raise PlanError(
            f"--cpu-saver {text!r}: more than {format_duration_ns(CPU_SAVER_MAX_NS)}; frames that "
            "are due would not be sent in time"
        )
    return sleep_ns
