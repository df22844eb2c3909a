# SPDX-License-Identifier: BSD-3-Clause
"""OTG's ``devices`` to Devices: Ethernet with VLAN tags, IPv4 and IPv6 addresses, gateways.

Protocols that devices could speak (BGP, IS-IS, …) are refused in words. Called by
`wirerate.plan.decode`; pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.devices import ADDRESS_BITS, Address, Device, Interface, Tag, mac_text
from wirerate.plan.headers.patterns import parse_number
from wirerate.plan.reader import port_reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.devices import Version
    from wirerate.plan.headers.patterns import Kind
    from wirerate.plan.reader import Reader

ADDRESSES_MAX = 1024
"""Most addresses that a port answers for (docs/design/0005-measurement.md, Answering)."""
TAGS_MAX = 4
"""Most VLAN tags of an interface."""

_MADE_UP_MAC = 0x025752010000
"""02:57:52:01 and the interface's place in the plan: locally administered, 57:52 is WR."""
_MTU_MAX = 65535
_PREFIX_DEFAULT: dict[Version, int] = {4: 24, 6: 64}
_KINDS: dict[Version, Kind] = {4: "ipv4", 6: "ipv6"}
_GROUP_BIT = 1 << 40
_TPIDS = {"x8100": 0x8100, "x88A8": 0x88A8, "x9100": 0x9100, "x9200": 0x9200, "x9300": 0x9300}
_OF_DEVICE = {
    "ipv4_loopbacks": "loopback interfaces",
    "ipv6_loopbacks": "loopback interfaces",
    "isis": "IS-IS",
    "bgp": "BGP",
    "vxlan": "VXLAN tunnel end points; give flows a vxlan header",
    "rsvp": "RSVP routers; give flows an rsvp header",
    "dhcp_server": "DHCP servers",
    "ospfv2": "OSPF",
    "ospfv3": "OSPF",
    "macsec": "MACsec",
    "rocev2": "RoCE peers",
    "bmp": "BMP",
}
_OF_INTERFACE = {
    "dhcpv4_interfaces": "DHCP clients; give ipv4_addresses",
    "dhcpv6_interfaces": "DHCP clients; give ipv6_addresses",
}
_CONNECTIONS = ("port_name", "lag_name", "vxlan_name", "simulated_link")


def decode_devices(config: Reader, port_names: Sequence[str]) -> tuple[Device, ...]:
    """All devices of a plan. Raises PlanError."""
    decoder = _Decoder(port_names)
    return tuple(decoder.device(reader) for reader in config.children("devices"))


class _Decoder:
    """What one device has to know of those before it."""

    def __init__(self, port_names: Sequence[str]) -> None:
        self._port_names = port_names
        self._names: dict[str, str] = {}
        self._hosts: dict[str, dict[int, str]] = {}
        self._interfaces = 0

    def device(self, reader: Reader) -> Device:
        name = reader.unique_name("name", self._names)
        interfaces = tuple(self._interface(part, name) for part in reader.children("ethernets"))
        if not interfaces:
            reader.fail("ethernets", "there is none; a device has one or more")
        for key, what in _OF_DEVICE.items():
            reader.unsupported(key, what)
        reader.done()
        return Device(name, reader.path, interfaces)

    def _interface(self, reader: Reader, device: str) -> Interface:
        name = reader.unique_name("name", self._names)
        port = self._port(reader)
        mac = _MADE_UP_MAC + self._interfaces
        self._interfaces += 1
        if "mac" in reader:
            mac = _mac(reader, "mac")
        reader.raw("mac", None)
        addresses = [
            *(self._address(part, 4, port) for part in reader.children("ipv4_addresses")),
            *(self._address(part, 6, port) for part in reader.children("ipv6_addresses")),
        ]
        interface = Interface(
            name=name,
            path=reader.path,
            device=device,
            port=port,
            mac=mac,
            mtu=reader.integer("mtu", 0, _MTU_MAX, None),
            tags=self._tags(reader),
            addresses=tuple(addresses),
        )
        for key, what in _OF_INTERFACE.items():
            reader.unsupported(key, what)
        reader.done()
        return interface

    def _port(self, reader: Reader) -> str:
        reader.raw("connection")
        connection = reader.branch("connection")
        kind = connection.choice(_CONNECTIONS)
        if kind != "port_name":
            connection.fail(kind, "wirerate puts devices on ports only; give port_name")
        place = connection.place("port_name")
        port = port_reference(connection.raw("port_name"), place, self._port_names)
        connection.done()
        return port

    def _tags(self, reader: Reader) -> tuple[Tag, ...]:
        tags = tuple(self._tag(part) for part in reader.children("vlans"))
        if len(tags) > TAGS_MAX:
            reader.fail("vlans", f"{len(tags)} tags; wirerate does at most {TAGS_MAX}")
        return tags

    def _tag(self, reader: Reader) -> Tag:
        reader.unique_name("name", self._names)
        tag = Tag(
            _TPIDS[reader.one_of("tpid", _TPIDS, "x8100")],
            reader.integer("priority", 0, 7, 0),
            reader.integer("id", 0, 4095, 1),
        )
        reader.done()
        return tag

    def _address(self, reader: Reader, version: Version, port: str) -> Address:
        name = reader.unique_name("name", self._names)
        address = Address(
            name=name,
            path=reader.path,
            version=version,
            value=_host(reader, "address", version),
            prefix=reader.integer("prefix", 1, ADDRESS_BITS[version], _PREFIX_DEFAULT[version]),
            gateway=_host(reader, "gateway", version),
            gateway_mac=_gateway_mac(reader.branch("gateway_mac")),
        )
        if address.value == address.gateway:
            reader.fail("gateway", "it is the interface's own address; give the router's")
        self._enter(reader, address, port)
        reader.done()
        return address

    def _enter(self, reader: Reader, address: Address, port: str) -> None:
        """Keep what a port answers for apart, and within what it can."""
        hosts = self._hosts.setdefault(port, {})
        if address.value in hosts:
            reader.fail("address", f"{hosts[address.value]} has it on port {port} already")
        hosts[address.value] = reader.path
        if len(hosts) > ADDRESSES_MAX:
            reader.fail(
                None,
                f"port {port} has more than {ADDRESSES_MAX:,} addresses; wirerate answers for no "
                "more, so spread them over ports, or use patterns of a header",
            )


def _host(reader: Reader, key: str, version: Version) -> int:
    """An address that a host can have: neither unspecified, multicast nor broadcast."""
    value = parse_number(reader.raw(key), reader.place(key), ADDRESS_BITS[version], _KINDS[version])
    group = value >> 24 >= 0xE0 if version == 4 else value >> 120 == 0xFF
    if value == 0 or group:
        reader.fail(key, f"{reader.raw(key)} is no address of a host; give one")
    return value


def _mac(reader: Reader, key: str) -> int:
    mac = parse_number(reader.raw(key), reader.place(key), 48, "mac")
    if mac == 0 or mac & _GROUP_BIT:
        reader.fail(key, f"{mac_text(mac)} is no address of one station; give one")
    return mac


def _gateway_mac(reader: Reader) -> int | None:
    """None where it is to be asked for; OTG's ``auto`` may hold what somebody has found out."""
    mac = None
    if reader.choice(("auto", "value"), "auto") == "value":
        mac = _mac(reader, "value")
    reader.raw("auto", None)
    reader.done()
    return mac
