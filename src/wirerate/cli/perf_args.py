# SPDX-License-Identifier: BSD-3-Clause
"""The options of `wirerate perf`: pktperf's, and what it lacks. Text in, checked settings out.

Used by wirerate.cli.perf, which measures. Nothing here starts or opens anything; what a device can
do is checked by the engine when the port is opened.
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.eal_args import parse_eal_args
from wirerate.plan.frames import FLOWS_MAX, Protocol
from wirerate.plan.lcore_map import LcoreMap, parse_maps
from wirerate.plan.location import Location, parse_location
from wirerate.plan.perf_settings import DEFAULT_LOCATION, PerfSettings
from wirerate.units import (
    FRAME_SIZE_JUMBO,
    FRAME_SIZE_MAX,
    FRAME_SIZE_MIN,
    FRAME_SIZE_ORDINARY,
    Rate,
    parse_duration_ns,
    parse_line_rate,
    parse_rate,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

BURST_MAX = 512
MBUFS_MAX = 1 << 20
"""pktperf stops at 131,072, too few for 100G ports with many queues; this is some 2.3 GB a port."""
DESCRIPTORS_MAX = 65535
FRAMES_MAX = (1 << 63) - 1
PERIOD_MIN_NS = 10_000_000
PERIOD_MAX_NS = 3_600_000_000_000

USAGE = "wirerate perf [EAL OPTIONS --] [OPTIONS] [LOCATION...]"

DESCRIPTION = """\
Send and receive on ports with any number of lcores and queues, and tell what each queue did.
The options are those of DPDK's pktperf; frame sizes count the 4-octet FCS throughout.
"""

EPILOG = """\
locations:
  0000:03:00.0[,devargs]  ring:NAME  null:NAME  memif:SOCKET[,devargs]  vhost:SOCKET[,devargs]
  virtio-user:SOCKET[,devargs]  tap:IFNAME  af_packet:IFNAME  af_xdp:IFNAME[,devargs]
  pcap:IN,OUT  vdev:ANY_DPDK_VDEV_ARGS

lcore maps, RX:TX.PORT, where PORT counts the locations from 0:
  2-5:6-9.0        lcores 2-5 receive and 6-9 transmit on port 0, a queue for each
  2-5.0            lcores 2-5 do both
  [2,4:6-7].0      lists; brackets are optional
  1:2.0/3:4.1      two maps in one -m
  :2.0/1:.1        port 0 only transmits, port 1 only receives

rates, for each port and all its queues together:
  50, 50%          of the line; --line-rate says what that is where the device does not
  14.88Mpps        frames per second
  5Gbps:L1         all that frames occupy on the line: frame size + 20 octets each
  5Gbps:L2         frames with their FCS

examples:
  wirerate perf ring:demo --duration 5
      a ring in memory: what is sent comes back. No NIC, no root, no hugepages.
  wirerate perf ring:demo -r 50% --line-rate 10G -s 512
      half of what a 10G line would carry, 512-octet frames
  sudo wirerate perf 03:00.0 82:00.0 -m 2-5:6-9.0 -m 14-17:18-21.1
      two NICs, four lcores for each direction of each
  sudo wirerate perf -l 1,2-9,14-21 -a 03:00.0 -a 82:00.0 -- -m 2-5:6-9.0 -m 14-17:18-21.1
      the same in pktperf's words: what stands before -- are EAL's options
  wirerate perf memif:/run/vpp/memif.sock -r 1Mpps --flows 1000 --count 1000000 --json

exit codes:
  0 measured, 2 wrong options, 3 the host is not ready (see wirerate doctor), 4 the engine died
"""


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command `perf` to the program's parser; the caller sets what it runs."""
    parser = subparsers.add_parser(
        "perf",
        help="send and receive on many lcores and queues, and tell what each did",
        usage=USAGE,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("locations", nargs="*", metavar="LOCATION", help="where the ports are")
    _add_traffic(parser.add_argument_group("traffic"))
    _add_ports(parser.add_argument_group("ports and lcores"))
    _add_run(parser.add_argument_group("run and output"))
    return parser


def _add_traffic(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "-s",
        "--pkt-size",
        "--frame-size",
        type=_whole("frame size", FRAME_SIZE_MIN, FRAME_SIZE_MAX),
        default=FRAME_SIZE_MIN,
        metavar="OCTETS",
        dest="frame_size",
        help=f"frame size with FCS, {FRAME_SIZE_MIN}-{FRAME_SIZE_MAX} (default %(default)s)",
    )
    add(
        "-r",
        "--rate",
        type=parse_rate,
        default="100",
        metavar="RATE",
        help="rate of each port: percent of line, frames/s or bit/s, see below (default 100)",
    )
    add(
        "--line-rate",
        type=parse_line_rate,
        metavar="BPS",
        dest="line_rate_bps",
        help="line rate to assume, 10G say, for devices without a real line",
    )
    add(
        "--flows",
        type=_whole("flows", 1, FLOWS_MAX),
        default=1024,
        metavar="N",
        help=f"distinct 5-tuples of each port, 1-{FLOWS_MAX} (default %(default)s)",
    )
    protocol = group.add_mutually_exclusive_group()
    protocol.add_argument(
        "-u",
        "--udp",
        action="store_const",
        const=Protocol.UDP,
        dest="protocol",
        default=Protocol.UDP,
        help="UDP frames (default)",
    )
    protocol.add_argument(
        "-t",
        "--tcp",
        action="store_const",
        const=Protocol.TCP,
        dest="protocol",
        help="TCP frames",
    )


def _add_ports(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "-m",
        "--map",
        action="append",
        default=[],
        metavar="MAP",
        dest="maps",
        help="lcores of a port, RX:TX.PORT; repeatable (default: chosen)",
    )
    add(
        "-b",
        "--burst-count",
        type=_whole("burst", 1, BURST_MAX),
        default=32,
        metavar="N",
        dest="burst",
        help=f"frames of a burst, 1-{BURST_MAX} (default %(default)s)",
    )
    add(
        "-d",
        "--descriptors",
        type=_descriptors,
        default=(0, 0),
        metavar="RX/TX",
        help="descriptors of each queue; one number stands for both "
        "(default 1024/1024, fitted to what the device takes)",
    )
    add(
        "-M",
        "--mbuf-count",
        type=_whole("mbufs", 1, MBUFS_MAX),
        default=8192,
        metavar="N",
        dest="mbufs",
        help=f"receive mbufs of a port, 1-{MBUFS_MAX} (default %(default)s)",
    )
    add(
        "-P",
        "--no-promiscuous",
        action="store_false",
        dest="promiscuous",
        help="do not receive what is addressed to others",
    )
    add(
        "-j",
        "--jumbo",
        action="store_true",
        help=f"open ports for frames up to {FRAME_SIZE_JUMBO} octets whatever size they send; "
        f"sending more than {FRAME_SIZE_ORDINARY} needs only -s",
    )


def _add_run(group: argparse._ArgumentGroup) -> None:
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
        type=parse_duration_ns,
        metavar="TIME",
        dest="duration_ns",
        help="stop sending after 5, 5s, 500ms, 2m (default: on Ctrl-C)",
    )
    add(
        "--count",
        type=_whole("count", 1, FRAMES_MAX),
        metavar="N",
        dest="frames",
        help="stop after each port has sent N frames",
    )
    add("--json", action="store_true", help="print JSON instead of text")
    add("-v", "--verbose", action="store_true", help="tell more of what is done")


def settings_from_args(
    args: argparse.Namespace, usable_lcores: Collection[int] | None = None
) -> PerfSettings:
    """Check what the parser read, and the tokens before ``--`` that main left in ``eal_tokens``.

    ``usable_lcores`` replaces the CPUs of this process where EAL's ``-l`` names none. Raises
    PlanError.
    """
    eal = parse_eal_args(args.eal_tokens)
    locations = (*eal.locations, *map(parse_location, args.locations)) or (DEFAULT_LOCATION,)
    _check_locations(locations)
    rate: Rate = args.rate
    if args.line_rate_bps is not None:
        rate.to_fps(args.frame_size, args.line_rate_bps)
    usable = os.sched_getaffinity(0) if usable_lcores is None else usable_lcores
    lcores = tuple(sorted(usable)) if eal.lcores is None else eal.lcores
    absent = sorted(set(lcores) - set(usable))
    if absent:
        raise PlanError(
            f"EAL lcore {absent[0]}: this process may not use CPU {absent[0]}, only "
            f"{', '.join(str(cpu) for cpu in sorted(usable))}; correct -l (or --lcores, -c)"
        )
    return PerfSettings(
        locations=locations,
        eal=eal,
        lcores=lcores,
        lcore_map=_lcore_map(args.maps, locations, lcores),
        burst=args.burst,
        frame_size=args.frame_size,
        rate=rate,
        line_rate_bps=args.line_rate_bps,
        rx_descriptors=args.descriptors[0],
        tx_descriptors=args.descriptors[1],
        mbufs=args.mbufs,
        period_ns=args.period_ns,
        duration_ns=args.duration_ns,
        frames=args.frames,
        flows=args.flows,
        protocol=args.protocol,
        promiscuous=args.promiscuous,
        jumbo=args.jumbo,
        verbose=args.verbose,
        json=args.json,
    )


def _check_locations(locations: tuple[Location, ...]) -> None:
    for text, times in Counter(location.text for location in locations).items():
        if times > 1:
            raise PlanError(f"location {text!r} is given {times} times; a device is one port")


def _lcore_map(
    texts: list[str], locations: tuple[Location, ...], lcores: tuple[int, ...]
) -> LcoreMap | None:
    if not texts:
        return None
    return parse_maps(texts, len(locations), lcores)


def _whole(what: str, low: int, high: int) -> Callable[[str], int]:
    """Make a reader of whole numbers in a range."""

    def read(text: str) -> int:
        digits = text.strip()
        if re.fullmatch(r"[0-9]{1,30}", digits) is None or not low <= int(digits) <= high:
            raise PlanError(f"{what} {text!r}: give a whole number, {low:,} to {high:,}")
        return int(digits)

    return read


_one_side = _whole("descriptors", 1, DESCRIPTORS_MAX)


def _descriptors(text: str) -> tuple[int, int]:
    sides = [_one_side(side) for side in text.split("/")]
    if len(sides) > 2:
        raise PlanError(f"descriptors {text!r}: give RX/TX, as in 1024/1024, or one number")
    return sides[0], sides[-1]


def _period_ns(text: str) -> int:
    period_ns = parse_duration_ns(text)
    if not PERIOD_MIN_NS <= period_ns <= PERIOD_MAX_NS:
        raise PlanError(f"statistics period {text!r}: not between 10ms and 1h")
    return period_ns
