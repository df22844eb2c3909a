# SPDX-License-Identifier: BSD-3-Clause
"""The options of `wirerate flows`: BiTester's, and what it lacks. Text in, checked settings out.

Used by wirerate.cli.flows, which runs them. Only the configuration file is opened here.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
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
from wirerate.plan.flows_conf import KEYS, Conf, Given, load_conf
from wirerate.plan.flows_settings import (
    DEFAULTS,
    DISTINCT_MAX,
    LATENCY_RATE,
    FlowsSettings,
    Mode,
    flow_traffic,
    parse_speed,
)
from wirerate.plan.location import parse_location
from wirerate.plan.perf_settings import DEFAULT_LOCATION
from wirerate.units import Rate, RateKind, parse_duration_ns

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from wirerate.plan.flows_settings import FlowTraffic
    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.location import Location

QUEUES_MAX = 1024
PORTS_MAX = 64
"""Limits of the engine (docs/design/0002-engine-interface.md)."""
_STRANGERS = 1024
"""Room for 5-tuples beside the flows' own."""

USAGE = "wirerate flows [EAL OPTIONS --] [-f FILE] [OPTIONS] [LOCATION...]"

DESCRIPTION = """\
Send UDP flows that become more and more, and measure what comes back: throughput, or latency.
Reads BiTester's configuration files; options for the same are stronger than the file.
"""

EPILOG = f"""\
files: a key, blanks and a value on each line; # comments, _KEY is switched off. Keys:
  src_mac dst_mac src_ip dst_ip src_port dst_port  of flow 0; flow k has the source address
                   src_ip + k / 65536 and the source port (src_port + k) mod 65536
  flow_num cps     flows in all, and how many of them are added each second
  payload          octets of UDP payload; frames have 46 more (IPv6: 66), and 64 at least
  mode             0 throughput, 1 latency, 2 latency with cores of their own to send

rates:
  10000            in mode 0 Mbit/s of line (layer 1), in modes 1 and 2 million frames/s
  50%  5Mpps  3Gbps:L1  3Gbps:L2   as in the other commands

{LCORE_MAPS_HELP.format(ports="locations")}
examples:
  wirerate flows -f examples/pps-test.conf ring:demo --duration 5
      a ring in memory: what is sent comes back. No NIC, no root, no hugepages.
  wirerate flows -f examples/lat-test.conf ring:demo --duration 5
      latency of 50,000 frames a second, its percentiles each second
  wirerate flows --flow-num 300000 --cps 10000 --payload 18 -s 1Mpps ring:demo --duration 35
      300,000 flows, 10,000 more each second; the receiver counts them
  sudo wirerate flows -a 01:00.1 -- -r 0 -t 0 -n 14 -f pps-test.conf
      BiTester's own words: 14 queues of a NIC, each with its core
  wirerate flows -f examples/pps-test.conf memif:/run/dut.sock --converge loss --max-time 60
      the highest rate without loss, in a minute at most
  wirerate flows -f examples/bps-test.conf -s 5000 --probe=0.05 ring:demo --duration 5
      5 Gbit/s, and the latency of 50,000 frames a second beside

{CONVERGE_HELP}
{EXIT_CODES_HELP.format(what="options")}"""

_KEY_HELP = {
    "src_mac": "Ethernet source of all frames, or own: the port's",
    "dst_mac": "Ethernet destination of all frames",
    "src_ip": "source address of flow 0, IPv4 or IPv6",
    "dst_ip": "destination address",
    "src_port": "UDP source port of flow 0",
    "dst_port": "UDP destination port",
    "flow_num": "flows in all, up to 4,294,967,296",
    "cps": "flows added each second, over all queues",
    "payload": "UDP payload of a frame in octets",
    "mode": "0 throughput, 1 latency, 2 latency with separate cores",
}


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command `flows` to the program's parser; the caller sets what it runs."""
    parser = subparsers.add_parser(
        "flows",
        help="send growing numbers of UDP flows, as BiTester does",
        usage=USAGE,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("locations", nargs="*", metavar="LOCATION", help="where the ports are")
    _add_flows(parser.add_argument_group("flows"))
    _add_traffic(parser.add_argument_group("traffic"))
    ports = parser.add_argument_group("ports and lcores")
    _add_ends(ports)
    add_ports(ports)
    add_run_groups(parser, engine=False)
    return parser


def _add_flows(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-f", "--file", metavar="FILE", help="a configuration file of BiTester, see below"
    )
    for key in KEYS:
        group.add_argument(
            f"--{key.replace('_', '-')}",
            metavar=key.rpartition("_")[2].upper(),
            help=f"{_KEY_HELP[key]} (default {DEFAULTS[key]})",
        )
    group.add_argument(
        "--no-ramp",
        action="store_false",
        dest="ramp",
        help="all flows from the start, none is added",
    )
    group.add_argument(
        "--ramp-down",
        action="store_true",
        help="when all flows were added, take them away at the same rate, down to one",
    )
    group.add_argument(
        "--hold",
        type=_hold_ns,
        metavar="TIME",
        dest="hold_ns",
        help="how long all flows stay before --ramp-down (default: not at all)",
    )


def _add_traffic(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "-s",
        "--speed",
        metavar="RATE",
        help="rate of all queues together, see below (default: as fast as the device takes "
        "frames; modes 1 and 2: 0.05, million frames/s)",
    )
    add(
        "--probe",
        nargs="?",
        const="0.05",
        metavar="RATE",
        help="mode 0: send measured frames of flow 0 beside, for latency (0.05 without RATE, "
        "million frames/s)",
    )
    way = group.add_mutually_exclusive_group()
    way.add_argument(
        "--twoway",
        action="store_false",
        default=False,
        dest="oneway",
        help="the other end sends back what it receives (default)",
    )
    way.add_argument(
        "--oneway",
        action="store_true",
        dest="oneway",
        help="port -t sends; what port -r receives is the other end of the way",
    )
    add(
        "--no-count-flows",
        action="store_false",
        dest="count_flows",
        help="do not count the distinct 5-tuples received (they are counted, which costs CPU time)",
    )


def _add_ends(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    for option, what in (("-r", "receives"), ("-t", "sends")):
        add(
            option,
            f"--{'rx' if option == '-r' else 'tx'}-port",
            type=whole(option, 0, PORTS_MAX - 1),
            default=0,
            metavar="PORT",
            help=f"which location {what}, counted from 0 (default %(default)s)",
        )
    add(
        "-n",
        "-q",
        "--queues",
        type=whole("-n", 1, QUEUES_MAX),
        metavar="N",
        help="queues of each port, each with a core of its own; in mode 2 with one to receive and "
        "one to send (default 1)",
    )
    add_promiscuous(group)


def settings_from_args(
    args: argparse.Namespace, usable_lcores: Collection[int] | None = None
) -> tuple[FlowsSettings, tuple[str, ...]]:
    """Check what the parser read, and the tokens before ``--``; the settings, and warnings.

    Puts the burst of 1 that latency is measured with into ``args``. ``usable_lcores`` replaces the
    CPUs of this process where EAL's ``-l`` names none. Raises PlanError.
    """
    eal = eal_request(args)
    locations = (*eal.locations, *map(parse_location, args.locations)) or (DEFAULT_LOCATION,)
    _check_locations(locations, args.rx_port, args.tx_port)
    conf = Conf({}) if args.file is None else load_conf(Path(args.file))
    stamped = args.probe is not None or args.converge == ConvergeTo.LOSS.value
    given = {**conf.values, **_options(args)}
    traffic = flow_traffic(given, jumbo=args.jumbo, stamped=stamped)
    if traffic.mode.measures and args.burst is None:
        args.burst = 1
    common = run_settings(args, eal, len(locations), usable_lcores)
    queues = _queues(args, common.lcore_map)
    settings = FlowsSettings(
        **vars(common)
        | {
            "distinct_max": _distinct_max(args, traffic),
            "live_latencies": traffic.mode.measures or args.probe is not None,
        },
        locations=locations,
        traffic=traffic,
        rx_port=args.rx_port,
        tx_port=args.tx_port,
        queues=queues,
        rate=_rate(args, traffic.mode),
        probe=_probe(args, traffic.mode),
        ramp=args.ramp,
        ramp_down=args.ramp_down,
        hold_ns=_hold(args),
        oneway=args.oneway,
        promiscuous=args.promiscuous,
    )
    if (settings.measured or settings.probe is not None) and not settings.receives:
        raise PlanError(
            "--oneway: with --peer no frame is to arrive here, so there is nothing to measure; "
            "choose --twoway, or mode 0 without --probe and --converge loss"
        )
    return settings, (*conf.warnings, *_doubts(settings))


def _options(args: argparse.Namespace) -> dict[str, Given]:
    """The keys that are given as options."""
    texts = {key: getattr(args, key) for key in KEYS}
    return {
        key: Given(text, f"--{key.replace('_', '-')}")
        for key, text in texts.items()
        if text is not None
    }


def _check_locations(locations: Sequence[Location], rx_port: int, tx_port: int) -> None:
    for text, times in Counter(location.text for location in locations).items():
        if times > 1:
            raise PlanError(f"location {text!r} is given {times} times; a device is one port")
    for option, port in (("-r", rx_port), ("-t", tx_port)):
        if port >= len(locations):
            there = "the only one is 0" if len(locations) == 1 else f"0 to {len(locations) - 1}"
            raise PlanError(
                f"{option} {port}: there is no such location, {there}; they are counted from 0"
            )
    for index, location in enumerate(locations):
        if index not in {rx_port, tx_port}:
            raise PlanError(
                f"location {index} ({location}) neither receives nor sends: -r is {rx_port}, -t is "
                f"{tx_port}; name it there, or leave it out"
            )


def _queues(args: argparse.Namespace, lcore_map: LcoreMap | None) -> int:
    """Tx queues: of the map where there is one, else as -n says."""
    if lcore_map is None:
        return args.queues or 1
    sending = len(lcore_map.of_port(args.tx_port).tx)
    if not sending:
        raise PlanError(
            f"-m {lcore_map}: no lcore transmits on port {args.tx_port}; add :LCORE.{args.tx_port}"
        )
    if args.queues not in {None, sending}:
        raise PlanError(
            f"-n {args.queues}: the lcore map {lcore_map} gives port {args.tx_port} {sending} Tx "
            "queues; leave out one of the two"
        )
    return sending


def _rate(args: argparse.Namespace, mode: Mode) -> Rate:
    if args.speed is not None:
        return parse_speed(args.speed, "-s", mode)
    if mode.measures and args.converge is None:
        return LATENCY_RATE
    return Rate(RateKind.PERCENT, 100.0)


def _probe(args: argparse.Namespace, mode: Mode) -> Rate | None:
    if args.probe is None:
        return None
    if mode.measures:
        raise PlanError(
            f"--probe: in mode {mode.value} every frame is measured; leave it out, or choose mode 0"
        )
    if args.converge is not None:
        raise PlanError(
            "--probe: a search changes the rate of all that is sent; leave it out, and probe at "
            "the rate found (-s)"
        )
    if ":" in args.probe and "bps" not in args.probe.lower():
        raise PlanError(
            f"--probe {args.probe!r}: not a rate; write --probe=0.05, or put --probe last"
        )
    return parse_speed(args.probe, "--probe", Mode.ONE_CORE)


def _hold(args: argparse.Namespace) -> int:
    if args.hold_ns is not None and not args.ramp_down:
        raise PlanError(
            "--hold: without --ramp-down all flows stay to the end; add that, or leave --hold out"
        )
    if args.ramp_down and not args.ramp:
        raise PlanError("--ramp-down: with --no-ramp all flows stay; leave out one of the two")
    return args.hold_ns or 0


def _hold_ns(text: str) -> int:
    return 0 if text.strip() == "0" else parse_duration_ns(text, "--hold")


def _distinct_max(args: argparse.Namespace, traffic: FlowTraffic) -> int:
    return min(DISTINCT_MAX, traffic.flow_num + _STRANGERS) if args.count_flows else 0


_LATE_QUEUE_S = 0.1


def _doubts(settings: FlowsSettings) -> list[str]:
    """What will not be as somebody may think."""
    flows, queues = settings.traffic.flow_num, settings.queues
    doubts = []
    if 1 < flows < queues:
        doubts.append(
            f"{flows} flows are fewer than the {queues} queues: every queue sends all of them, "
            "from the start"
        )
    last_s = (min(queues, flows) - 1) / settings.traffic.cps
    if settings.ramped and settings.ramp and flows >= queues and last_s >= _LATE_QUEUE_S:
        doubts.append(
            f"a queue begins with its first flow, queue {queues - 1} after {last_s:.3g} s: until "
            "then its share of the load is not due (--no-ramp: all flows from the start)"
        )
    if settings.distinct_max and flows > DISTINCT_MAX:
        doubts.append(
            f"receivers tell {DISTINCT_MAX:,} 5-tuples apart, not {flows:,}: frames of more are "
            "counted as such"
        )
    return doubts
