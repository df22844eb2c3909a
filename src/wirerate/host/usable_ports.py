# SPDX-License-Identifier: BSD-3-Clause
"""Which ports `wirerate replay` sends on: every NIC that DPDK can open, or those that are meant.

A whole location with a scheme (``null:x``) is a port by itself. Anything else is looked for in the
PCI addresses of the usable NICs: ``01:00.1``, ``0000:8`` or, with ``*`` and ``?``, ``82:00.?``.
NICs come from /sys (nics.py); nothing is opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from wirerate.errors import HostSetupError, PlanError
from wirerate.host.nics import Nic, read_nics
from wirerate.host.tree import ROOT
from wirerate.plan.location import Location, LocationKind, parse_location

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LIKE_PCI = re.compile(r"[0-9a-f:.*?]+", re.IGNORECASE)
_SCHEMES = frozenset(kind.value for kind in LocationKind if kind is not LocationKind.PCI)
_INSTEAD = "wirerate doctor says what is missing; null:x sends into nothing, without a NIC"


@dataclass(frozen=True)
class ChosenPorts:
    """The ports to send on, in order; ``left_out`` are usable NICs that nobody named in full.

    A NIC that carries the default route is left out so: a trace on it would flood the network by
    which this machine is reached.
    """

    locations: tuple[Location, ...]
    left_out: tuple[str, ...] = ()


def choose_ports(
    patterns: Sequence[str], root: Path = ROOT, *, nics: Sequence[Nic] | None = None
) -> ChosenPorts:
    """The ports that patterns mean; without any, all usable NICs.

    Raises PlanError for a pattern that matches nothing and for a port that is meant twice,
    HostSetupError where no NIC can be used as it is bound now.
    """
    if patterns and all(_has_scheme(pattern) for pattern in patterns):
        return ChosenPorts(_once([(text, parse_location(text)) for text in patterns]))
    there = [nic for nic in (read_nics(root) if nics is None else nics) if nic.on_pci]
    found: list[tuple[str, Location]] = []
    left_out: list[str] = []
    for pattern in patterns or ("*",):
        if _has_scheme(pattern):
            found.append((pattern, parse_location(pattern)))
            continue
        head, _, devargs = pattern.partition(",")
        if _LIKE_PCI.fullmatch(head) is None:
            parse_location(pattern)  # says what it could have been
        for nic in _matching(head, there):
            if nic.carries_default_route and not _in_full(head, nic):
                left_out.append(nic.address)
            else:
                found.append((pattern, Location(LocationKind.PCI, nic.address, devargs)))
    if not found:
        names = ", ".join(left_out)
        raise HostSetupError(
            f"the only usable port is {names}, which carries the default route; give its address "
            f"in full to send there all the same, or use null:x"
        )
    return ChosenPorts(_once(found), tuple(dict.fromkeys(left_out)))


def _has_scheme(pattern: str) -> bool:
    scheme, colon, _ = pattern.strip().partition(":")
    return bool(colon) and scheme in _SCHEMES


def _in_full(head: str, nic: Nic) -> bool:
    return head.lower() in {nic.address, nic.address.removeprefix("0000:")}


def _matching(head: str, nics: Sequence[Nic]) -> list[Nic]:
    """The usable NICs with the pattern somewhere in their address; an error when there is none."""
    matched = [nic for nic in nics if fnmatchcase(nic.address.lower(), f"*{head.lower()}*")]
    usable = [nic for nic in matched if nic.for_dpdk]
    if usable:
        return usable
    if matched:
        raise HostSetupError(
            f"{_meaning(head)}{'; '.join(map(_binding, matched))}; {_usable_text(nics)}{_INSTEAD}"
        )
    if any(nic.for_dpdk for nic in nics):
        raise PlanError(
            f"port {head!r}: no usable NIC has that in its PCI address; "
            f"{_usable_text(nics)}or give a location with its kind, such as null:x"
        )
    raise HostSetupError(f"{_meaning(head)}there is no Ethernet controller on PCI; {_INSTEAD}")


def _meaning(head: str) -> str:
    return "no usable port: " if head == "*" else f"port {head!r}: "


def _binding(nic: Nic) -> str:
    """How a NIC becomes usable."""
    driver = "has no driver" if nic.driver is None else f"is bound to {nic.driver}"
    if nic.carries_default_route:
        return f"{nic.address} {driver} and carries the default route: leave it alone"
    return f"{nic.address} {driver}: dpdk-devbind.py --bind=vfio-pci {nic.address}"


def _usable_text(nics: Sequence[Nic]) -> str:
    usable = [nic.address for nic in nics if nic.for_dpdk]
    return f"usable: {', '.join(usable)}; " if usable else ""


def _once(found: Sequence[tuple[str, Location]]) -> tuple[Location, ...]:
    """Refuse a device that is meant twice, whatever its device arguments."""
    meant: dict[tuple[LocationKind, str], str] = {}
    for pattern, location in found:
        device = (location.kind, location.value)
        if device in meant:
            both = " and ".join(dict.fromkeys((meant[device], pattern)))
            raise PlanError(
                f"port {location.value} is meant twice, by {both}; a device is one port"
            )
        meant[device] = pattern
    return tuple(location for _, location in found)
