# SPDX-License-Identifier: BSD-3-Clause
"""The options of `wirerate perf`: pktperf's, and what it lacks. Text in, checked settings out.

Used by wirerate.cli.perf, which measures. Nothing here starts or opens anything; what a device can
do is checked by the engine when the port is opened.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from wirerate.cli.common_args import (
    EXIT_CODES_HELP,
    LCORE_MAPS_HELP,
    add_ports,
    eal_request,
    run_settings,
    whole,
)
from wirerate.cli.converge_args import CONVERGE_HELP
from wirerate.cli.run_groups import add_promiscuous, add_run_groups
from wirerate.errors import PlanError
from wirerate.plan.converge_settings import ConvergeTo
from wirerate.plan.location import parse_location
from wirerate.plan.perf_settings import DEFAULT_LOCATION, FLOWS_MAX, PerfSettings, Protocol
from wirerate.units import FRAME_SIZE_MAX, FRAME_SIZE_MIN, parse_rate

if TYPE_CHECKING:
    from collections.abc import Collection

    from wirerate.plan.location import Location
    from wirerate.units import Rate

FRAMES_MAX = (1 << 63) - 1

USAGE = "wirerate perf [EAL OPTIONS --] [OPTIONS] [LOCATION...]"

DESCRIPTION = """\
Send and receive on ports with any number of lcores and queues, and tell what each queue did.
The options are those of DPDK's pktperf; frame sizes count the 4-octet FCS throughout.
"""

EPILOG = f"""\
locations:
  0000:03:00.0[,devargs]  ring:NAME  null:NAME  memif:SOCKET[,devargs]  vhost:SOCKET[,devargs]
  virtio-user:SOCKET[,devargs]  tap:IFNAME  af_packet:IFNAME[,framecnt=N]
  af_xdp:IFNAME[,devargs]
  virtio-user:/dev/vhost-net,iface=NAME[,devargs]  kni:NAME  pcap:IN,OUT
  vdev:ANY_DPDK_VDEV_ARGS

{LCORE_MAPS_HELP.format(ports="locations")}
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
  wirerate perf ring:demo -r 1Mpps --duration 5 --measure
      loss, order, duplicates and latency of every frame
  wirerate perf memif:/run/vpp/memif.sock -r 10Gbps:L1 --converge loss --max-loss 0.01%
      the highest rate at which no more than one frame in 10,000 is lost
  wirerate perf memif:/run/dut.sock -r 1Mpps --duration 5 --peer 127.0.0.1:8080
      wirerate reflect --listen 8080 at the other end tells where frames were lost

{CONVERGE_HELP}
{EXIT_CODES_HELP.format(what="options")}"""


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
    ports = parser.add_argument_group("ports and lcores")
    add_ports(ports)
    add_promiscuous(ports)
    add_run_groups(parser)
    return parser


def _add_traffic(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "-s",
        "--pkt-size",
        "--frame-size",
        type=whole("frame size", FRAME_SIZE_MIN, FRAME_SIZE_MAX),
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
        "--count",
        type=whole("count", 1, FRAMES_MAX),
        metavar="N",
        dest="frames",
        help="stop after each port has sent N frames",
    )
    add(
        "--flows",
        type=whole("flows", 1, FLOWS_MAX),
        default=1024,
        metavar="N",
        help=f"distinct 5-tuples of each port, 1-{FLOWS_MAX} (default %(default)s)",
    )
    add(
        "--measure",
        action="store_true",
        help="stamp every frame: loss, order, duplicates and latency of what comes back",
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


def settings_from_args(
    args: argparse.Namespace, usable_lcores: Collection[int] | None = None
) -> PerfSettings:
    """Check what the parser read, and the tokens before ``--`` that main left in ``eal_tokens``.

    ``usable_lcores`` replaces the CPUs of this process where EAL's ``-l`` names none. Raises
    PlanError.
    """
    eal = eal_request(args)
    locations = (*eal.locations, *map(parse_location, args.locations)) or (DEFAULT_LOCATION,)
    _check_locations(locations)
    rate: Rate = args.rate
    if args.line_rate_bps is not None:
        rate.to_fps(args.frame_size, args.line_rate_bps)
    return PerfSettings(
        **vars(run_settings(args, eal, len(locations), usable_lcores)),
        locations=locations,
        frame_size=args.frame_size,
        rate=rate,
        frames=args.frames,
        flows=args.flows,
        protocol=args.protocol,
        promiscuous=args.promiscuous,
        measure=args.measure or args.converge == ConvergeTo.LOSS.value,
    )


def _check_locations(locations: tuple[Location, ...]) -> None:
    for text, times in Counter(location.text for location in locations).items():
        if times > 1:
            raise PlanError(f"location {text!r} is given {times} times; a device is one port")
