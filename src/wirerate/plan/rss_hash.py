# SPDX-License-Identifier: BSD-3-Clause
"""Receive side scaling: what of a packet a device hashes, and which Rx queue that makes.

The hash is Toeplitz's, as Microsoft's NDIS specification of RSS has it ("RSS Hashing Functions"):
bit i of the input, if set, adds (exclusive or) the 32 bits of the key from its bit i on. The queue
is the entry of the redirection table (RETA) that the hash's low bits number. Pure; the engine's
`rss.hash` computes the same with DPDK's code (docs/design/0006-descriptor-loop.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from ipaddress import IPv4Address, IPv6Address

FIELDS = ("ipv4", "ipv4-udp", "ipv4-tcp", "ipv6", "ipv6-udp", "ipv6-tcp")
DEFAULT_KEY = bytes.fromhex(
    "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa"
)
"""Of Microsoft's verification suite; what most drivers begin with."""
SYMMETRIC_KEY = bytes.fromhex("6d5a") * 20
"""Both directions of a connection have one hash (Woo, Park: "Scalable TCP Session Monitoring with
Symmetric Receive-side Scaling", KAIST 2012): the key repeats after 16 bits."""
KEY_OCTETS_MIN = 40
"""For two addresses of IPv6 and two ports; devices with a longer key do not look beyond either."""
_WORD_BITS = 32


class Layer4(Enum):
    """What a packet holds; the value is what stands behind the dash in a field's name."""

    UDP = "udp"
    TCP = "tcp"
    NONE = ""


@dataclass(frozen=True)
class RssFlow:
    """What tells the packets of a flow from others'; ports are 0 without UDP and TCP."""

    source: IPv4Address | IPv6Address
    destination: IPv4Address | IPv6Address
    layer4: Layer4 = Layer4.NONE
    source_port: int = 0
    destination_port: int = 0

    def __str__(self) -> str:
        """As `198.18.0.1:1024 > 198.19.0.1:9 udp`."""
        if self.layer4 is Layer4.NONE:
            return f"{self.source} > {self.destination}"
        ends = [f"[{end}]" if end.version == 6 else f"{end}" for end in self._ends]
        return (
            f"{ends[0]}:{self.source_port} > {ends[1]}:{self.destination_port} {self.layer4.value}"
        )

    @property
    def _ends(self) -> tuple[IPv4Address | IPv6Address, IPv4Address | IPv6Address]:
        return self.source, self.destination

    @property
    def addresses(self) -> bytes:
        """Source and destination, as they stand in the packet."""
        return self.source.packed + self.destination.packed

    @property
    def ports(self) -> bytes:
        """Source and destination port, as they stand in the packet; none without UDP and TCP."""
        if self.layer4 is Layer4.NONE:
            return b""
        return self.source_port.to_bytes(2, "big") + self.destination_port.to_bytes(2, "big")


@dataclass(frozen=True)
class Rss:
    """How a device spreads what it receives, as it says itself (PORT_INFO ``rss``).

    ``key`` and ``reta`` are empty where it does not say.
    """

    key: bytes
    fields: frozenset[str]
    reta: tuple[int, ...]

    @classmethod
    def of_info(cls, info: Mapping[str, Any]) -> Rss | None:
        """Of a PORT_INFO; None for a device without."""
        said = info["rss"]
        if said is None:
            return None
        return cls(bytes.fromhex(said["key"] or ""), frozenset(said["fields"]), tuple(said["reta"]))

    @property
    def complete(self) -> bool:
        """Whether queues can be told beforehand."""
        return len(self.key) >= KEY_OCTETS_MIN and bool(self.reta)

    def queue_of(self, hashed: int | None) -> int:
        """The Rx queue of a hash; what is not hashed goes to queue 0."""
        return 0 if hashed is None else self.reta[hashed % len(self.reta)]

    def hash_of(self, flow: RssFlow) -> int | None:
        """The hash of a flow's packets; None where the device hashes nothing of them."""
        octets = hash_input(flow, self.fields)
        return None if octets is None else toeplitz(self.key, octets)


def hash_input(flow: RssFlow, fields: frozenset[str]) -> bytes | None:
    """What of a packet is hashed: addresses and ports, addresses alone, or nothing."""
    ip = f"ipv{flow.source.version}"
    if flow.layer4 is not Layer4.NONE and f"{ip}-{flow.layer4.value}" in fields:
        return flow.addresses + flow.ports
    return flow.addresses if ip in fields else None


def toeplitz(key: bytes, octets: bytes) -> int:
    """The hash; the key has 4 octets more than the input at least."""
    if len(key) < len(octets) + 4:
        text = f"a key of {len(key)} octets is too short for an input of {len(octets)}"
        raise ValueError(text)
    tables = _tables(key)
    result = 0
    for table, octet in zip(tables, octets, strict=False):
        result ^= table[octet]
    return result


@lru_cache(maxsize=8)
def _tables(key: bytes) -> tuple[tuple[int, ...], ...]:
    """What each octet of an input adds, by its place and value."""
    bits = len(key) * 8
    number = int.from_bytes(key, "big")
    tables = []
    for place in range(len(key) - 4):
        table = [0]
        for bit in reversed(range(8)):  # the highest bit of a value is the first of the input
            window = number >> (bits - _WORD_BITS - place * 8 - bit) & 0xFFFFFFFF
            table += [entry ^ window for entry in table]
        tables.append(tuple(table))
    return tuple(tables)


@dataclass(frozen=True)
class Imbalance:
    """How unevenly queues are loaded.

    ``max_over_mean`` is 1 when all have the same and the number of queues when one has all;
    ``jain`` (Jain, Chiu, Hawe: DEC-TR-301, 1984) is 1 and 1/queues then.
    """

    max_over_mean: float
    jain: float


def imbalance(counts: Sequence[int]) -> Imbalance | None:
    """Of what each queue has; None where nobody has anything."""
    total, squares = sum(counts), sum(count * count for count in counts)
    if not total:
        return None
    queues = len(counts)
    return Imbalance(max(counts) * queues / total, total * total / (queues * squares))
