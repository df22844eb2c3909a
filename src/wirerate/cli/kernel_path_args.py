# SPDX-License-Identifier: BSD-3-Clause
"""The options of `wirerate kernel-path`. Text in, checked settings out."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface, ip_interface
from typing import TYPE_CHECKING

from wirerate.cli.common_args import whole
from wirerate.cli.output_args import add_output_files, check_outputs, values_of_list
from wirerate.errors import PlanError
from wirerate.plan.kernel_path_settings import (
    MODES,
    PARALLEL_MAX,
    REPEATS_MAX,
    TIME_MAX_S,
    TIME_MIN_S,
    UDP_LENGTH_MAX,
    UDP_LENGTH_MIN,
    UDP_RATE_DEFAULT_BPS,
    WORK_MAX_NS,
    Group,
    KernelPathSettings,
    Real,
)
from wirerate.plan.location import parse_location
from wirerate.units import parse_duration_ns, parse_line_rate, parse_small_time_ns

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

IPERF3_PORT = 5201
"""iperf3's own default."""
_TIME_S = 3
_REPEATS = 3
_WORK_NS = 5_000
_NS_PER_S = 1_000_000_000
_PORT_MAX = 65_535
_POINT_TO_POINT = 2
"""A network of so many addresses, or fewer, has no broadcast (RFC 3021)."""
_INTERFACE = re.compile(r"[^\s/:]{1,15}")
"""What Linux takes: IFNAMSIZ is 16 with the end."""
_HOST = re.compile(r"[0-9A-Za-z]([0-9A-Za-z.-]{0,251}[0-9A-Za-z])?")


@dataclass(frozen=True)
class Outputs:
    """Where results go besides standard output; None: nowhere."""

    json: bool
    csv: Path | None
    report: Path | None
    plots: Path | None


def add_what(group: argparse._ArgumentGroup) -> None:
    """What is measured."""
    add = group.add_argument
    add(
        "--groups",
        type=_groups,
        default=tuple(Group),
        metavar="LIST",
        help=f"{','.join(one.value for one in Group)} (default all)",
    )
    add(
        "--modes",
        type=_modes,
        default=MODES,
        metavar="LIST",
        help=f"{','.join(MODES)} (default both)",
    )
    add(
        "--offloads",
        choices=["on", "off"],
        default="off",
        help="on: the kernel port's interface leaves checksums to the application (default off)",
    )
    add("--ipv6", action="store_true", help="over IPv6 instead of IPv4")
    add(
        "--fast-path-work",
        type=_work_ns,
        default=_WORK_NS,
        metavar="TIME",
        dest="fast_path_work_ns",
        help="of the application on each frame of its own when saturated (default 5us)",
    )
    add(
        "--cpu-saver",
        action="store_true",
        help="the application's workers sleep when nothing comes (default: where CPUs are few)",
    )
    add(
        "--no-fast-path",
        action="store_true",
        help="leave out the application's own frames, and saturation",
    )


def add_transfers(group: argparse._ArgumentGroup) -> None:
    """How it is measured."""
    add = group.add_argument
    add(
        "--time",
        type=_time_s,
        default=_TIME_S,
        metavar="TIME",
        dest="time_s",
        help="of each transfer, in whole seconds (default 3s)",
    )
    add(
        "--repeats",
        type=whole("--repeats", 1, REPEATS_MAX),
        default=_REPEATS,
        metavar="N",
        help="rounds of all four transfers (default %(default)s)",
    )
    add(
        "--parallel",
        type=whole("--parallel", 1, PARALLEL_MAX),
        default=1,
        metavar="N",
        help="streams of iperf3 at once (default %(default)s)",
    )
    add(
        "--udp-rate",
        type=_udp_rate,
        default=UDP_RATE_DEFAULT_BPS,
        metavar="BPS",
        dest="udp_rate_bps",
        help="offered by each stream; none is as fast as it goes (default 10G)",
    )
    add(
        "--udp-length",
        type=whole("--udp-length", UDP_LENGTH_MIN, UDP_LENGTH_MAX),
        metavar="OCTETS",
        help="of each datagram (default: what fits a frame)",
    )


def add_real(group: argparse._ArgumentGroup) -> None:
    """A port and a host elsewhere instead of namespaces here."""
    add = group.add_argument
    add("--port", metavar="LOCATION", help="the application's port")
    add("--address", metavar="A/LEN", help="of the kernel port's interface, 192.0.2.2/24 say")
    add(
        "--server",
        metavar="HOST[:PORT]",
        help=f"an iperf3 server at the other end (port {IPERF3_PORT})",
    )
    add(
        "--linux-interface",
        metavar="NAME",
        help="an interface with its own address, for the group linux (default: that is left out)",
    )


def add_outputs(group: argparse._ArgumentGroup) -> None:
    """Files beside what is printed."""
    add = group.add_argument
    add("--json", action="store_true", help="print the result as JSON")
    add_output_files(group, "repeat")


def outputs_of(args: argparse.Namespace) -> Outputs:
    """Where results go. Raises PlanError for what cannot be written, before anything is run."""
    check_outputs({"--csv": args.csv, "--report": args.report}, {"--plots": args.plots})
    return Outputs(args.json, args.csv, args.report, args.plots)


def settings_of(args: argparse.Namespace) -> KernelPathSettings:
    """Check what the parser read. Raises PlanError."""
    real = _real(args)
    ipv6 = args.ipv6
    if real is not None:
        ipv6 = real.address.version == 6
        if args.ipv6 and not ipv6:
            raise PlanError(f"--ipv6: the address {real.address} is IPv4; give one of IPv6")
    return KernelPathSettings(
        lcores=tuple(sorted(os.sched_getaffinity(0))),
        groups=args.groups,
        modes=args.modes,
        repeats=args.repeats,
        time_s=args.time_s,
        parallel=args.parallel,
        offloads=args.offloads == "on",
        udp_rate_bps=args.udp_rate_bps,
        udp_length=args.udp_length,
        ipv6=ipv6,
        fast_path=not args.no_fast_path,
        fast_path_work_ns=args.fast_path_work_ns,
        cpu_saver=args.cpu_saver,
        real=real,
    )


def _real(args: argparse.Namespace) -> Real | None:
    needed = {"--port": args.port, "--address": args.address, "--server": args.server}
    missing = [option for option, value in needed.items() if value is None]
    if len(missing) == len(needed):
        if args.linux_interface is not None:
            raise PlanError(
                "--linux-interface: belongs to a measurement between real ports; give --port, "
                "--address and --server too, or leave it out"
            )
        return None
    if missing:
        raise PlanError(f"{', '.join(missing)} missing: {', '.join(needed)} go together")
    host, port = _server(args.server)
    interface = args.linux_interface
    if interface is not None and _INTERFACE.fullmatch(interface) is None:
        raise PlanError(f"--linux-interface {interface!r}: no interface of Linux has such a name")
    return Real(parse_location(args.port), _address(args.address), host, port, interface)


def _groups(text: str) -> tuple[Group, ...]:
    return values_of_list(text, "--groups", _group, "linux,tap")


def _group(text: str) -> Group:
    try:
        return Group(text)
    except ValueError:
        known = ", ".join(one.value for one in Group)
        raise PlanError(f"--groups: there is no group {text!r}; there are {known}") from None


def _modes(text: str) -> tuple[str, ...]:
    return values_of_list(text, "--modes", _mode, "shared,dedicated")


def _mode(text: str) -> str:
    if text not in MODES:
        raise PlanError(f"--modes: there is no mode {text!r}; there are {', '.join(MODES)}")
    return text


def _time_s(text: str) -> int:
    seconds, rest = divmod(parse_duration_ns(text, "--time"), _NS_PER_S)
    if rest or not TIME_MIN_S <= seconds <= TIME_MAX_S:
        raise PlanError(f"--time {text!r}: give whole seconds, {TIME_MIN_S} to {TIME_MAX_S:,}")
    return seconds


def _udp_rate(text: str) -> int:
    return 0 if text == "none" else parse_line_rate(text, "--udp-rate")


def _work_ns(text: str) -> int:
    return round(parse_small_time_ns(text, "--fast-path-work", WORK_MAX_NS))


def _address(text: str) -> IPv4Interface | IPv6Interface:
    try:
        address = ip_interface(text)
    except ValueError:
        address = None
    if address is None or "/" not in text or _is_broadcast(address):
        raise PlanError(
            f"--address {text!r}: give an address of this host with the length of its network, "
            "192.0.2.2/24 or 2001:db8::2/64 say"
        )
    return address


def _is_broadcast(address: IPv4Interface | IPv6Interface) -> bool:
    network = address.network
    broadcasts = network.version == 4 and network.num_addresses > _POINT_TO_POINT
    return broadcasts and address.ip == network.broadcast_address


def _server(text: str) -> tuple[str, int]:
    """Host and port of `host`, `host:5201`, `2001:db8::1` or `[2001:db8::1]:5201`."""
    bracketed = re.fullmatch(r"\[([^]]+)\](?::(.+))?", text)
    if bracketed:
        host, port = bracketed[1], bracketed[2]
    elif text.count(":") > 1:
        host, port = text, None
    else:
        host, colon, rest = text.partition(":")
        port = rest if colon else None
    if not _is_host(host):
        raise PlanError(
            f"--server {text!r}: give a host's name or address, and a port after a colon if it is "
            f"not {IPERF3_PORT}"
        )
    if port is None:
        return host, IPERF3_PORT
    return host, whole(f"--server {text!r}: port", 1, _PORT_MAX)(port)


def _is_host(host: str) -> bool:
    if ":" not in host:
        return _HOST.fullmatch(host) is not None
    try:
        return "/" not in host and ip_interface(host).version == 6
    except ValueError:
        return False
