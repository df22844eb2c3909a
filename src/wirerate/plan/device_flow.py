# SPDX-License-Identifier: BSD-3-Clause
"""Flows between devices: which pairs of ends, and what the ends add to the flow's headers.

Only what the plan leaves out is filled in; several pairs become lists of values that advance in
lock-step, a pair for each frame. Called by `wirerate.plan.decode_ends`; pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.fields import Field, Fixed, Header, Neighbor, NeighborMac, NextHeader, Values
from wirerate.plan.headers.ip import IPV4, IPV6
from wirerate.plan.headers.link import ETHERNET, VLAN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wirerate.plan.devices import Address, Device, Interface, Version
    from wirerate.plan.fields import Content
    from wirerate.plan.headers.table import Layout

_IP: dict[str, tuple[Version, Layout]] = {"ipv4": (4, IPV4), "ipv6": (6, IPV6)}
_VLAN_TPID = 0x8100
_PLACEHOLDER_MAC = 0x025752FF0000
"""Stands for an address that is not known yet: 02:57:52:ff and a number."""


@dataclass(frozen=True)
class End:
    """One end of a pair; ``address`` None where none of its addresses fits the flow's packet."""

    interface: Interface
    address: Address | None


Pair = tuple[End, End]
Named = tuple["Interface", tuple["Address", ...]]
"""An interface, and those of its addresses that a name stands for."""


def named_ends(devices: Sequence[Device]) -> dict[str, tuple[Named, ...]]:
    """What the name of each device, interface and address stands for."""
    named: dict[str, tuple[Named, ...]] = {}
    for device in devices:
        named[device.name] = tuple((part, part.addresses) for part in device.interfaces)
        for interface in device.interfaces:
            named[interface.name] = ((interface, interface.addresses),)
            for address in interface.addresses:
                named[address.name] = ((interface, (address,)),)
    return named


def ends_of(named: Sequence[Named], packet: Sequence[Header]) -> list[End]:
    """The ends that a name stands for, as the first IP header of the packet asks."""
    version = next((_IP[header.kind][0] for header in packet if header.kind in _IP), None)
    ends = [
        End(interface, address)
        for interface, addresses in named
        for address in addresses
        if address.version == version
    ]
    return ends or [End(interface, None) for interface, _ in named]


def complete(packet: Sequence[Header], pairs: Sequence[Pair], path: str) -> tuple[Header, ...]:
    """The packet with what the ends say in place of what the plan leaves out.

    ``path`` is that of the flow's ends. Raises PlanError.
    """
    headers = list(packet)
    place = next((index for index, header in enumerate(headers) if header.kind in _IP), None)
    if place is not None:
        version, layout = _IP[headers[place].kind]
        headers[place] = _filled(
            headers[place],
            layout,
            src=lambda: _addresses([tx for tx, _ in pairs], version, f"{path}.tx_names"),
            dst=lambda: _addresses([rx for _, rx in pairs], version, f"{path}.rx_names"),
        )
    if headers[0].kind != "ethernet":
        return tuple(headers)
    headers[0] = _filled(
        headers[0],
        ETHERNET,
        src=lambda: _listed([tx.interface.mac for tx, _ in pairs]),
        dst=lambda: _next_hops(pairs),
    )
    if any(header.kind == "vlan" for header in headers[:place]):
        return tuple(headers)
    return (*_tagged(headers[0], [tx.interface for tx, _ in pairs], path), *headers[1:])


def _filled(header: Header, layout: Layout, **makers: Callable[[], Content]) -> Header:
    """The header with what is absent or automatic in the fields named made anew."""
    fields = []
    for part in header.fields:
        row = next((row for row in layout.rows if row.name == part.name), None)
        # The very object stands for absent or automatic: a value that is given is another one.
        if (
            part.name in makers
            and row is not None
            and (part.content is row.default or part.content is row.automatic)
        ):
            fields.append(replace(part, content=makers[part.name]()))
        else:
            fields.append(part)
    return replace(header, fields=tuple(fields))


def _listed(numbers: Sequence[int]) -> Content:
    return Fixed(numbers[0]) if len(set(numbers)) == 1 else Values(tuple(numbers))


def _addresses(ends: Sequence[End], version: Version, path: str) -> Content:
    numbers = []
    for end in ends:
        if end.address is None:
            raise PlanError(
                f"{path}: {end.interface.name} of device {end.interface.device} has no IPv{version}"
                f" address, which the flow's ipv{version} header needs; name one that has, or give "
                "src and dst in the header"
            )
        numbers.append(end.address.value)
    return _listed(numbers)


def _next_hops(pairs: Sequence[Pair]) -> Content:
    """Whom each pair's frames are sent to first."""
    hops = tuple(_next_hop(*pair) for pair in pairs)
    if not any(isinstance(hop, Neighbor) for hop in hops):
        return _listed([hop for hop in hops if isinstance(hop, int)])
    return NeighborMac(hops[:1] if len(set(hops)) == 1 else hops)


def _next_hop(tx: End, rx: End) -> int | Neighbor:
    """The other end itself where no router is between, whose address is known; else the gateway.

    Without IP addresses there is no router either.
    """
    source, destination = tx.address, rx.address
    if source is None or destination is None:
        return rx.interface.mac
    if source.reaches(destination.value) or source.gateway == destination.value:
        return rx.interface.mac
    if source.gateway_mac is not None:
        return source.gateway_mac
    return Neighbor(source.name, source.gateway)


def _tagged(ethernet: Header, interfaces: Sequence[Interface], path: str) -> list[Header]:
    """The Ethernet header, and behind it the tags of the interfaces."""
    depths = {len(interface.tags) for interface in interfaces}
    if len(depths) > 1:
        raise PlanError(
            f"{path}.tx_names: their frames have {' or '.join(map(str, sorted(depths)))} VLAN "
            "tags; split the flow, one for each number of tags"
        )
    headers = [ethernet]
    for level in range(depths.pop()):
        tags = [interface.tags[level] for interface in interfaces]
        last = headers[-1]
        type_field = last.fields[-1]
        inner: Content
        outer: Content
        tpid = _listed([tag.tpid for tag in tags])
        if isinstance(type_field.content, NextHeader) and tpid == Fixed(_VLAN_TPID):
            inner, outer = VLAN.rows[-1].default, type_field.content
        else:  # a type that the plan gives is that of what follows the tags
            inner, outer = type_field.content, tpid
        headers[-1] = replace(last, fields=(*last.fields[:-1], replace(type_field, content=outer)))
        given = {"priority": [tag.priority for tag in tags], "id": [tag.id for tag in tags]}
        fields = [
            Field(
                row.name, row.bits, _listed(given[row.name]) if row.name in given else row.default
            )
            for row in VLAN.rows[:-1]
        ]
        fields.append(Field(VLAN.rows[-1].name, VLAN.rows[-1].bits, inner))
        headers.append(Header("vlan", f"{interfaces[0].path}.vlans[{level}]", tuple(fields)))
    return headers


def settled(packet: Sequence[Header], neighbors: Mapping[Neighbor, int]) -> Sequence[Header]:
    """The packet with the MAC addresses that ``neighbors`` has.

    What is not there becomes a placeholder of its own, so that frames take no more memory later.
    """
    if not wanted_neighbors(packet):
        return packet
    return [
        replace(header, fields=tuple(_settled(part, neighbors) for part in header.fields))
        for header in packet
    ]


def _settled(part: Field, neighbors: Mapping[Neighbor, int]) -> Field:
    if not isinstance(part.content, NeighborMac):
        return part
    unknown: dict[Neighbor, int] = {}
    macs = []
    for hop in part.content.hops:
        if isinstance(hop, Neighbor):
            made_up = unknown.setdefault(hop, _PLACEHOLDER_MAC + len(unknown))
            macs.append(neighbors.get(hop, made_up))
        else:
            macs.append(hop)
    return replace(part, content=_listed(macs))


def wanted_neighbors(packet: Sequence[Header]) -> tuple[Neighbor, ...]:
    """Whose MAC addresses a packet needs, each once."""
    found: dict[Neighbor, None] = {}
    for header in packet:
        for part in header.fields:
            if isinstance(part.content, NeighborMac):
                found.update((hop, None) for hop in part.content.hops if isinstance(hop, Neighbor))
    return tuple(found)
