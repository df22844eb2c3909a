# SPDX-License-Identifier: BSD-3-Clause
"""The devices of a decoded plan: hosts on its ports, with Ethernet and IP interfaces.

Made by `wirerate.plan.decode_devices`; flows between devices take addresses from here, ports answer
for them, and their gateways are asked for (`wirerate.trial.neighbors`). Pure data; addresses are
numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Version = Literal[4, 6]
"""Of IP."""

ADDRESS_BITS: dict[Version, int] = {4: 32, 6: 128}


@dataclass(frozen=True)
class Tag:
    """A VLAN tag: ``tpid`` stands before it, ``priority`` 0…7, ``id`` 0…4,095."""

    tpid: int
    priority: int
    id: int


@dataclass(frozen=True)
class Address:
    """An IP interface; ``prefix`` [bits], ``gateway_mac`` None = the gateway is asked for it."""

    name: str
    path: str
    version: Version
    value: int
    prefix: int
    gateway: int
    gateway_mac: int | None

    def reaches(self, other: int) -> bool:
        """Whether ``other``, of the same version, is on the same prefix."""
        return (self.value ^ other) >> (ADDRESS_BITS[self.version] - self.prefix) == 0


@dataclass(frozen=True)
class Interface:
    """An Ethernet interface of the device called ``device``, on the port called ``port``.

    ``mtu`` [octets, without Ethernet header] None = not given; ``tags`` from the outermost inwards.
    """

    name: str
    path: str
    device: str
    port: str
    mac: int
    mtu: int | None
    tags: tuple[Tag, ...]
    addresses: tuple[Address, ...]


@dataclass(frozen=True)
class Device:
    """A host; names of devices, interfaces and addresses are unique over all of them."""

    name: str
    path: str
    interfaces: tuple[Interface, ...]


def interfaces_on(devices: Sequence[Device], port: str) -> Iterator[Interface]:
    """All interfaces on a port that have addresses, in the order of the plan."""
    for device in devices:
        for interface in device.interfaces:
            if interface.port == port and interface.addresses:
                yield interface


def mac_text(mac: int) -> str:
    """``02:57:52:00:00:01``."""
    return mac.to_bytes(6, "big").hex(":")


def ip_text(value: int, version: Version) -> str:
    """``10.0.0.1`` or ``fd00::1``."""
    return str(IPv4Address(value) if version == 4 else IPv6Address(value))
