# SPDX-License-Identifier: BSD-3-Clause
"""The options of `wirerate replay`. Text in, a checked request out; nothing is opened here."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

from wirerate.cli.common_args import (
    EXIT_CODES_HELP,
    add_ports,
    add_run,
    add_show_plan,
    add_trial,
    eal_request,
    whole,
)
from wirerate.cli.engine_args import add_engine
from wirerate.errors import PlanError
from wirerate.plan.decode_extension import SPEED_MAX, SPEED_MIN
from wirerate.plan.replay_document import FRAMES_MAX, ReplayRequest, RewriteMac
from wirerate.units import parse_rate

USAGE = "wirerate replay [EAL OPTIONS --] [OPTIONS] FILE [PATTERN...]"

DESCRIPTION = """\
Send the frames of a capture file over and over, on every NIC that DPDK can open or on those that
the patterns match, each with one queue, so that the order is kept.
"""

EPILOG = f"""\
patterns:
  01:00.1          NICs with this in their PCI address; 0000:8 is all of buses 80 to 8f
  82:00.?          ? stands for any character, * for any number of them
  null:x           a whole location (see wirerate perf --help) is a port by itself
  without any      every NIC on vfio-pci, igb_uio or uio_pci_generic, or with a kernel driver that
                   DPDK works beside (mlx4, mlx5, mana)

examples:
  wirerate replay trace.pcap null:x --duration 5
      into nothing: how fast the frames leave memory. No NIC, no root, no hugepages.
  sudo wirerate replay trace.pcapng.gz
      on every usable NIC, as fast as each takes them, until Ctrl-C
  sudo wirerate replay trace.pcap 01:00.1 82:00.1 --rate 5Mpps --loops 100
  sudo wirerate replay trace.pcap 0000:0 --timing original
      with the gaps of the file; x2.5 is that much faster, 0.5x takes twice the time
  wirerate replay trace.pcap pcap:,out.pcap --loops 1 --rewrite-mac 02:00:00:00:00:01/own

{EXIT_CODES_HELP.format(what="options or file")}"""

_MAC = re.compile(r"[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}", re.IGNORECASE)
_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?"
_SPEED = re.compile(rf"x(?P<behind>{_NUMBER})|(?P<before>{_NUMBER})x", re.IGNORECASE)


def parse_timing(text: str) -> float:
    """How much faster than the file's times: ``original`` is 1, ``x2.5``, ``0.5x``.

    Raises PlanError.
    """
    text = text.strip()
    if text.lower() == "original":
        return 1.0
    match = _SPEED.fullmatch(text)
    if match is None:
        raise PlanError(f"timing {text!r} is not understood; write original, x2.5 or 0.5x")
    speed = float(match["behind"] or match["before"])
    if not SPEED_MIN <= speed <= SPEED_MAX:
        raise PlanError(
            f"timing {text!r}: not between x{SPEED_MIN:g} and x{SPEED_MAX:,.0f}; write original, "
            "x2.5 or 0.5x"
        )
    return speed


def parse_rewrite(text: str) -> RewriteMac:
    """Ethernet addresses to set: ``DST`` or ``DST/SRC``; SRC may be ``own``. Raises PlanError."""
    dst, slash, src = text.strip().partition("/")
    if not slash:
        return RewriteMac(_mac(text, dst))
    if src.lower() == "own":
        return RewriteMac(_mac(text, dst), own=True)
    source = _mac(text, src)
    if source[0] & 1:
        raise PlanError(
            f"--rewrite-mac {text!r}: {src} is the address of a group, which sends nothing; clear "
            "the lowest bit of its first octet"
        )
    return RewriteMac(_mac(text, dst), source)


def _mac(text: str, part: str) -> bytes:
    if _MAC.fullmatch(part) is None:
        raise PlanError(
            f"--rewrite-mac {text!r}: {part!r} is no Ethernet address; write six octets in hex, "
            "DST or DST/SRC: 02:00:00:00:00:01/02:00:00:00:00:02 (own: the port's as source)"
        )
    return bytes.fromhex(part.replace("-", ":").replace(":", ""))


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command `replay` to the program's parser; the caller sets what it runs."""
    parser = subparsers.add_parser(
        "replay",
        help="send a capture file over and over",
        usage=USAGE,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="pcap or pcapng, also packed with gzip")
    # `locations`: main puts patterns that stand between options there.
    parser.add_argument(
        "locations", nargs="*", metavar="PATTERN", help="ports, see below (default: all usable)"
    )
    _add_traffic(parser.add_argument_group("traffic"))
    add_ports(parser.add_argument_group("ports and lcores"))
    output = parser.add_argument_group("run and output")
    add_run(output)
    add_engine(output)
    add_trial(output)
    add_show_plan(output)
    parser.set_defaults(histogram=None, floor=None)  # a trace has no stamps
    return parser


def _add_traffic(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--loops",
        type=whole("loops", 1, FRAMES_MAX),
        metavar="N",
        help="stop after N laps of the trace (default: on Ctrl-C, or after --duration)",
    )
    pace = group.add_mutually_exclusive_group()
    pace.add_argument(
        "-r",
        "--rate",
        type=parse_rate,
        default="100",
        metavar="RATE",
        help="rate of each port: 50%% of line, 1Mpps, 5Gbps:L1, 5Gbps:L2 "
        "(default: as fast as the device takes frames)",
    )
    pace.add_argument(
        "--timing",
        type=parse_timing,
        metavar="HOW",
        dest="speed",
        help="original: at the file's own times; x2.5 or 0.5x: that much faster",
    )
    group.add_argument(
        "--strict",
        action="store_true",
        help="refuse a file with frames that the capture cut, instead of padding them with zeros",
    )
    group.add_argument(
        "--rewrite-mac",
        type=parse_rewrite,
        metavar="DST[/SRC]",
        dest="rewrite",
        help="set the Ethernet destination of all frames, and the source: an address, or own, "
        "that of the port",
    )


@dataclass(frozen=True)
class ReplayArgs:
    """The command line of `wirerate replay`, read; ``patterns`` are the ports, not yet found."""

    request: ReplayRequest
    patterns: tuple[str, ...]
    show_plan: bool


def request_from_args(args: argparse.Namespace) -> ReplayArgs:
    """Check what can be checked without the file and the host's ports. Raises PlanError."""
    patterns = (*(location.text for location in eal_request(args).locations), *args.locations)
    request = ReplayRequest(
        file=_file(args.file),
        rate=args.rate,
        loops=args.loops,
        duration_ns=args.duration_ns,
        speed=args.speed,
        strict=args.strict,
        rewrite=args.rewrite,
    )
    return ReplayArgs(request, patterns, args.show_plan)


def _file(text: str) -> Path:
    """The file's absolute path, which the engine gets in JSON."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PlanError(f"trace {text!r}: its name is not UTF-8; rename it") from error
    if not text:
        raise PlanError("trace '': give the name of a capture file")
    return Path(text).absolute()
