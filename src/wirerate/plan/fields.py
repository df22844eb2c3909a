# SPDX-License-Identifier: BSD-3-Clause
"""What a header is made of: fields in order, each with its width and where its value comes from.

The meeting point of plan decoding (which makes these from OTG) and compiling (which makes octets
and the engine's walks of them). A header of any protocol, however nested, is a flat list of fields;
lengths inside it (of options, of objects) are fixed by whoever decodes it. Pure data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Fixed:
    """The same value in every frame."""

    value: int


@dataclass(frozen=True)
class Steps:
    """Frame i carries ``first + step * (k mod count)``, modulo 2^bits; ``step`` may be negative.

    Here and below k is i / ``every``, rounded down; in a ramp i is the number of the frame's flow.
    """

    first: int
    step: int
    count: int
    every: int = 1


@dataclass(frozen=True)
class Values:
    """Frame i carries ``values[k mod n]``; 1…65,536 of them."""

    values: tuple[int, ...]
    every: int = 1


@dataclass(frozen=True)
class Random:
    """Frame i carries a value in ``minimum…maximum`` that ``seed`` and ``k mod count`` decide.

    ``chosen``: the seed was drawn from the system, as seed 0 asks for, and the user must be told.
    """

    minimum: int
    maximum: int
    seed: int
    count: int
    chosen: bool = False
    every: int = 1


Pattern = Fixed | Steps | Values | Random


@dataclass(frozen=True)
class Length:
    """Octets from this header's first one to the frame's end (without FCS), less ``less``."""

    less: int = 0


@dataclass(frozen=True)
class NextHeader:
    """A number that names the header which follows.

    ``numbers`` by that header's kind; ``otherwise`` where it is not among them or nothing follows.
    """

    numbers: Mapping[str, int]
    otherwise: int


@dataclass(frozen=True)
class Checksum:
    """RFC 1071 over a scope, the field itself taken as zero.

    ``header``: this header; ``message``: this header and all that follows; ``pseudo``: that and the
    pseudo-header of the IP header before, with protocol number ``protocol``. ``zero_as_ones``: a
    zero sum is sent as 0xffff (RFC 768). ``bad``: one is added to the sum, so that every
    receiver finds it wrong.
    """

    scope: Literal["header", "message", "pseudo"]
    protocol: int = 0
    zero_as_ones: bool = False
    bad: bool = False


@dataclass(frozen=True)
class PortMac:
    """The MAC address of the port that sends: 02:57:52:00:00:00 plus its index in the plan."""


@dataclass(frozen=True)
class Neighbor:
    """Who is asked for a MAC address: ``target``, an IP address, by the device's address ``asker``.

    ``asker`` is its name in the plan, which tells port, VLAN tags and version of IP.
    """

    asker: str
    target: int


@dataclass(frozen=True)
class NeighborMac:
    """Frame i carries the MAC address of ``hops[i mod n]``; 1…65,536 of them.

    A number is known; a Neighbor is asked for once the port is open.
    """

    hops: tuple[int | Neighbor, ...]


@dataclass(frozen=True)
class Octets:
    """Constant octets of any number; the field's ``bits`` is 8 times their number."""

    data: bytes


Content = Pattern | Length | NextHeader | Checksum | PortMac | NeighborMac | Octets


@dataclass(frozen=True)
class Field:
    """``bits`` wide (1…128, or any multiple of 8 for Octets), big-endian, right behind the last.

    ``name`` is the key in the plan, for messages: ``src``, ``options[0].length``.
    """

    name: str
    bits: int
    content: Content


@dataclass(frozen=True)
class Header:
    """One header of a stack; its fields make whole octets.

    ``kind`` is OTG's choice (``ipv4``), ``path`` its place (``flows[0].packet[1].ipv4``).
    ``final_destination`` names the field that stands in the pseudo-header instead of the IPv6
    destination (RFC 8200 section 8.1: the last segment of a routing header).
    """

    kind: str
    path: str
    fields: tuple[Field, ...] = field(default_factory=tuple)
    final_destination: str | None = None

    @property
    def octets(self) -> int:
        """Octets of the header."""
        return sum(part.bits for part in self.fields) // 8
