# SPDX-License-Identifier: BSD-3-Clause
"""Values that forwarders are given, whoever gives them: limits, costs, addresses. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.forward_settings import WORK_MAX_CYCLES, WORK_MAX_NS, Impairments, Way, Work
from wirerate.units import parse_small_time_ns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from ipaddress import IPv4Address, IPv6Address

    from wirerate.plan.location import Location

PORTS_MAX = 64
QUEUES_MAX = 1024
ADDRESSES_MAX = 1024
CAPTURE_FRAMES_DEFAULT = 1_000_000
CAPTURE_FRAMES_MAX = 1 << 24
DISTINCT_MAX = 1 << 24
"""Limits of the engine (docs/design/0002-engine-interface.md and 0005-measurement.md)."""

_CYCLES = re.compile(r"([+-]?[0-9]+)\s*(?:cycles?)?", re.IGNORECASE)


def check_locations(locations: Sequence[Location], command: str) -> None:
    """Raise PlanError for no port, too many, or one twice."""
    if not locations:
        raise PlanError(f"no location; see 'wirerate {command} --help'")
    if len(locations) > PORTS_MAX:
        raise PlanError(f"{len(locations)} ports, but the engine opens at most {PORTS_MAX}")
    for text, times in Counter(location.text for location in locations).items():
        if times > 1:
            raise PlanError(f"location {text!r} is given {times} times; a device is one port")


def parse_work(text: str) -> Work:
    """Read what a frame costs: ``400``, ``400cycles``, ``150ns``, ``1.5us``. Raises PlanError."""
    match = _CYCLES.fullmatch(text.strip())
    if match is None:
        try:
            return Work(time_ns=parse_small_time_ns(text, "--work", WORK_MAX_NS))
        except PlanError as error:
            raise PlanError(f"{error}; or cycles, 400 or 400cycles") from error
    digits = match[1]
    if digits.startswith("-") or len(digits) > 12 or int(digits) > WORK_MAX_CYCLES:
        raise PlanError(f"--work {text!r}: not between 0 and {WORK_MAX_CYCLES:,} cycles")
    return Work(cycles=int(digits))


def host_address(text: str, rest: str, forms: str) -> IPv4Address | IPv6Address:
    """Read ``rest`` of --address's ``text``: an address that a host can have; ``forms`` are right.

    Raises PlanError.
    """
    try:
        address = ipaddress.ip_interface(rest).ip
    except ValueError as error:
        raise PlanError(
            f"--address {text!r}: {rest!r} is no IPv4 or IPv6 address; write {forms}"
        ) from error
    if address.is_multicast or address.is_unspecified or str(address) == "255.255.255.255":
        raise PlanError(f"--address {text!r}: no host has this address; give that of a host")
    return address


def pair_ways(ports: int, *, one_way: bool) -> list[Way]:
    """The ways between pairs of ports. Raises PlanError for an odd number of them."""
    if ports % 2:
        raise PlanError(
            f"{ports} locations: forward needs pairs, A B or A B C D; see wirerate "
            "reflect to send back on one port"
        )
    there = [Way(a, a + 1) for a in range(0, ports, 2)]
    if one_way:
        return there
    return [way for one in there for way in (one, Way(one.source + 1, one.source))]


def check_impairs(impairments: Impairments) -> None:
    """Raise PlanError for impairments of a reflector that only counts."""
    if impairments != Impairments(seed=impairments.seed):
        raise PlanError(
            "--rx-only: nothing is sent, so nothing can be worked on, dropped, duplicated, "
            "reordered or delayed; leave those options out"
        )
