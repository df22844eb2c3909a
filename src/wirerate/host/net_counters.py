# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel counts in a network namespace: frames of interfaces, packets of IP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.errors import HostSetupError
from wirerate.host.namespaces import inside, run_tool
from wirerate.units import FCS_OCTETS

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMMAND = ("sh", "-c", "cat /proc/net/dev /proc/net/snmp; cat /proc/net/snmp6 2>/dev/null || :")
"""A kernel without IPv6 has no snmp6."""
_DEV_WORDS = 16
_RX_OCTETS, _RX_FRAMES, _TX_OCTETS, _TX_FRAMES = 0, 1, 8, 9
"""Places of the columns in /proc/net/dev."""


@dataclass(frozen=True)
class InterfaceCounts:
    """Since the interface exists; octets with FCS, which the kernel does not count."""

    rx_frames: int
    rx_octets: int
    tx_frames: int
    tx_octets: int


@dataclass(frozen=True)
class NetCounters:
    """Of one namespace.

    ``ip_in`` and ``ip_out``: packets of IPv4 and IPv6 as the stack handles them: what GRO has
    merged is one, and so is what is cut into segments later.
    """

    interfaces: Mapping[str, InterfaceCounts]
    ip_in: int
    ip_out: int

    def interface(self, name: str) -> InterfaceCounts:
        """Those of one interface. Raises HostSetupError where it is gone."""
        found = self.interfaces.get(name)
        if found is None:
            text = f"interface {name} is gone: somebody has removed it"
            raise HostSetupError(text)
        return found


def read_net_counters(namespace: str | None) -> NetCounters:
    """A look at them; takes some milliseconds. Raises HostSetupError."""
    where = "here" if namespace is None else f"in namespace {namespace}"
    said = run_tool(f"counters cannot be read {where}", inside(namespace, _COMMAND))
    return parse_net_counters(said)


def parse_net_counters(text: str) -> NetCounters:
    """Read /proc/net/dev, snmp and snmp6, one after the other. What is not there counts 0."""
    interfaces: dict[str, InterfaceCounts] = {}
    ip6: dict[str, int] = {}
    ip4: list[list[str]] = []
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        words = rest.split() if colon else line.split()
        if colon and name == "Ip":
            ip4.append(words)
        elif colon and len(words) == _DEV_WORDS and words[0].isdigit():
            interfaces[name.strip()] = _interface([int(word) for word in words])
        elif not colon and len(words) == 2 and words[1].isdigit():
            ip6[words[0]] = int(words[1])
    names, values = ip4 if len(ip4) == 2 else ([], [])
    found = dict(zip(names, values, strict=False))
    return NetCounters(
        interfaces,
        int(found.get("InReceives", 0)) + ip6.get("Ip6InReceives", 0),
        int(found.get("OutRequests", 0)) + ip6.get("Ip6OutRequests", 0),
    )


def _interface(columns: list[int]) -> InterfaceCounts:
    rx, tx = columns[_RX_FRAMES], columns[_TX_FRAMES]
    return InterfaceCounts(
        rx,
        columns[_RX_OCTETS] + rx * FCS_OCTETS,
        tx,
        columns[_TX_OCTETS] + tx * FCS_OCTETS,
    )
