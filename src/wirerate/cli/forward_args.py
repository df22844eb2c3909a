# SPDX-License-Identifier: BSD-3-Clause
"""The options that `wirerate forward` and `wirerate reflect` share.

Text in, checked settings out; what a device can do is checked by the engine.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.cli.common_args import add_map, add_run, add_sizes, eal_request, run_settings, whole
from wirerate.errors import PlanError
from wirerate.plan.forward_program import default_mbufs
from wirerate.plan.forward_settings import (
    DELAY_MAX_NS,
    DISTINCT_DEFAULT,
    SEED_MAX,
    Capture,
    ForwardSettings,
    HostAddress,
    Impairments,
    Rewrite,
    Way,
    Work,
)
from wirerate.plan.forward_values import (
    ADDRESSES_MAX,
    CAPTURE_FRAMES_DEFAULT,
    CAPTURE_FRAMES_MAX,
    DISTINCT_MAX,
    QUEUES_MAX,
    check_locations,
    host_address,
    parse_work,
)
from wirerate.plan.location import parse_location
from wirerate.plan.peer_address import parse_listen
from wirerate.units import format_duration_ns, parse_ratio, parse_small_time_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from wirerate.plan.eal_args import EalRequest
    from wirerate.plan.location import Location

MAPS_HELP = """\
lcore maps, LCORES.PORT, where PORT counts the locations from 0:
  1.0              lcore 1 receives on port 0, and sends what it has received
  [1-2].0          two lcores, and two queues: queue 0 for lcore 1, queue 1 for lcore 2
  1.0/2.1          two maps in one -m
  1:2.0            as for the other commands, lcore 2 transmits on port 0: refused unless it does
"""

IMPAIRMENTS_HELP = """\
impairments:
  --drop 0.1%      (or 0.001) of the frames are freed; --duplicate: they are sent twice in a row;
                   --reorder: they are sent after three frames that came later
  --delay 1ms      each frame leaves so long after it came; it needs mbufs meanwhile, see -M
  --seed 7         the same seed, program and frames give the same impairments
  --work 400       cycles of the TSC that the lcore spins for each frame; also 150ns, 1.5us
"""

_PORT_PREFIX = re.compile(r"([0-9]{1,6})=")


def add_impairments(group: argparse._ArgumentGroup) -> None:
    """Options about what happens to frames on their way."""
    add = group.add_argument
    add("--work", type=parse_work, default=Work(), metavar="COST", help="what each frame costs")
    for name, done in (
        ("drop", "are freed"),
        ("duplicate", "are sent twice"),
        ("reorder", "are sent after three later ones"),
    ):
        add(
            f"--{name}",
            type=_ratio(f"--{name}"),
            default=0.0,
            metavar="RATIO",
            help=f"so many of the frames {done}: 0.1%%, 0.001",
        )
    add(
        "--delay",
        type=_delay_ns,
        default=0,
        metavar="TIME",
        dest="delay_ns",
        help=f"let each frame wait so long, up to {format_duration_ns(DELAY_MAX_NS)}",
    )
    add(
        "--seed",
        type=whole("--seed", 0, SEED_MAX),
        default=1,
        metavar="N",
        help="of drop, duplicate and reorder (default %(default)s)",
    )


def new_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    what: str,
    texts: tuple[str, str, str],
) -> tuple[argparse.ArgumentParser, argparse._ArgumentGroup]:
    """Begin a command: its parser, and its group of options about frames.

    ``what`` it does in a word or two; ``texts``: how its locations are written, the description,
    and what stands below the options.
    """
    locations, description, epilog = texts
    parser = subparsers.add_parser(
        name,
        help=what,
        usage=f"wirerate {name} [EAL OPTIONS --] [OPTIONS] {locations}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("locations", nargs="*", metavar="LOCATION", help="where the ports are")
    return parser, parser.add_argument_group("what happens to frames")


def add_ports_and_run(parser: argparse.ArgumentParser) -> None:
    """Options about ports, lcores, hosts, captures and the run."""
    ports = parser.add_argument_group("ports and lcores")
    add_map(ports)
    ports.add_argument(
        "-q",
        "--queues",
        type=whole("-q", 1, QUEUES_MAX),
        metavar="N",
        help="queues of each port that receives (default: one for each lcore of its map, else 1); "
        "with fewer lcores, they take turns",
    )
    mbufs_default = "8192, and with --delay what it takes for 10 Mpps, up to 10ms of them"
    add_sizes(ports, mbufs_default, "--burst")
    parser.set_defaults(line_rate_bps=None)
    hosts = parser.add_argument_group("answers and captures")
    hosts.add_argument(
        "--address",
        action="append",
        default=[],
        metavar="[PORT=]ADDRESS",
        dest="addresses",
        help="answer ARP, neighbour solicitations and ping for this IPv4 or IPv6 address, by "
        "default on port 0; repeatable",
    )
    hosts.add_argument(
        "--capture",
        action="append",
        default=[],
        metavar="[PORT=]FILE[,FILTER]",
        dest="captures",
        help="copy what a port (default 0) receives into a file, .pcap or else pcapng; FILTER as "
        "tcpdump's; repeatable, once for each port",
    )
    hosts.add_argument(
        "--capture-frames",
        type=whole("--capture-frames", 1, CAPTURE_FRAMES_MAX),
        metavar="N",
        help="frames that a capture holds at most, all of them in memory (default "
        f"{CAPTURE_FRAMES_DEFAULT})",
    )
    output = parser.add_argument_group("run and output")
    output.add_argument(
        "--count-flows",
        nargs="?",
        type=_distinct_max,
        const=DISTINCT_DEFAULT,
        default=0,
        metavar="MAX",
        dest="distinct_max",
        help="count the distinct 5-tuples that each queue receives, up to so many "
        f"({DISTINCT_DEFAULT:,} without MAX)",
    )
    output.add_argument(
        "--listen",
        type=parse_listen,
        metavar="[HOST:]PORT",
        help="serve the counters as JSON, http://HOST:PORT/counters, for --peer of the sender "
        "(HOST 127.0.0.1 unless given; PORT 0 is a free one)",
    )
    add_run(output)


def _distinct_max(text: str) -> int:
    if not text.strip().isdigit():
        raise PlanError(
            f"--count-flows {text!r}: not a number; write --count-flows=100000, or put "
            "--count-flows last"
        )
    return whole("--count-flows", 1, DISTINCT_MAX)(text)


def _ratio(name: str) -> Callable[[str], float]:
    return lambda text: parse_ratio(text, name)


def _delay_ns(text: str) -> int:
    return round(parse_small_time_ns(text, "--delay", DELAY_MAX_NS))


def locations_of(args: argparse.Namespace, eal: EalRequest) -> tuple[Location, ...]:
    """The ports, those before ``--`` first. Raises PlanError for none, too many, or one twice."""
    locations = (*eal.locations, *map(parse_location, args.locations))
    check_locations(locations, args.command)
    return locations


def settings_from_args(
    args: argparse.Namespace,
    eal: EalRequest,
    locations: Sequence[Location],
    *,
    ways: Sequence[Way],
    rewrite: Rewrite,
    usable_lcores: Collection[int] | None = None,
) -> ForwardSettings:
    """Check what the parser read; ``usable_lcores`` as for `run_settings`. Raises PlanError."""
    mbufs_given = args.mbufs is not None
    if not mbufs_given:
        args.mbufs = default_mbufs(args.delay_ns)
    return ForwardSettings(
        **vars(run_settings(args, eal, len(locations), usable_lcores))
        | {"distinct_max": args.distinct_max},
        command=args.command,
        locations=tuple(locations),
        ways=tuple(ways),
        queues=args.queues,
        rewrite=rewrite,
        impairments=Impairments(
            work=args.work,
            drop=args.drop,
            duplicate=args.duplicate,
            reorder=args.reorder,
            delay_ns=args.delay_ns,
            seed=args.seed,
        ),
        addresses=_addresses(args.addresses, {way.source for way in ways}, len(locations)),
        captures=_captures(args, {way.source for way in ways}, len(locations)),
        mbufs_given=mbufs_given,
        listen=args.listen,
    )


def _port_and_rest(
    option: str, text: str, receivers: Collection[int], ports: int
) -> tuple[int, str]:
    """Part ``1=REST``; without a port it is port 0."""
    match = _PORT_PREFIX.match(text)
    port, rest = (0, text) if match is None else (int(match[1]), text[match.end() :])
    if port >= ports:
        raise PlanError(f"{option} {text!r}: there is no port {port}; ports are 0-{ports - 1}")
    if port not in receivers:
        raise PlanError(f"{option} {text!r}: port {port} receives nothing here (--one-way)")
    return port, rest


def _addresses(
    texts: Sequence[str], receivers: Collection[int], ports: int
) -> tuple[HostAddress, ...]:
    hosts = []
    for text in texts:
        port, rest = _port_and_rest("--address", text, receivers, ports)
        address = host_address(text, rest, "10.0.0.2, fd00::2, or 1=10.0.0.2 for port 1")
        hosts.append(HostAddress(port, address))
    if len(hosts) > ADDRESSES_MAX:
        raise PlanError(f"--address: {len(hosts):,} addresses, but at most {ADDRESSES_MAX:,}")
    for host, times in Counter(hosts).items():
        if times > 1:
            raise PlanError(f"--address: port {host.port} has {host.address} {times} times")
    return tuple(hosts)


def _captures(
    args: argparse.Namespace, receivers: Collection[int], ports: int
) -> tuple[Capture, ...]:
    captures = []
    if args.capture_frames is not None and not args.captures:
        raise PlanError("--capture-frames: nothing is captured; give --capture FILE, too")
    for text in args.captures:
        port, rest = _port_and_rest("--capture", text, receivers, ports)
        file, _, words = rest.partition(",")
        frames = args.capture_frames or CAPTURE_FRAMES_DEFAULT
        if not file:
            raise PlanError(f"--capture {text!r}: no file; write FILE or PORT=FILE,FILTER")
        captures.append(Capture(port, str(Path.cwd() / file), words.strip(), frames))
    for what in ("port", "path"):
        for value, times in Counter(getattr(capture, what) for capture in captures).items():
            if times > 1:
                raise PlanError(f"--capture: {what} {value} is given {times} times; once is enough")
    return tuple(captures)


def request_of(args: argparse.Namespace) -> tuple[EalRequest, tuple[Location, ...]]:
    """EAL's options and the ports. Raises PlanError."""
    eal = eal_request(args)
    return eal, locations_of(args, eal)
