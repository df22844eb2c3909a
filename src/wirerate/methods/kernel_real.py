# SPDX-License-Identifier: BSD-3-Clause
"""What has to be so on this machine before `wirerate kernel-path` measures between real ports.

Above all, that the application has the only way to the server: where another interface has the
address, or a network with the server in it, Linux sends by that one, and the figures are its own.
"""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING

from wirerate.errors import HostSetupError
from wirerate.plan.bridge_settings import opens_interface
from wirerate.plan.location import LocationKind

if TYPE_CHECKING:
    from wirerate.host.interfaces import Address, Network
    from wirerate.plan.kernel_path_settings import Real

_XDP_QUEUES = 2
"""The application's own frames and the kernel's have one each."""


def used_ports(real: Real) -> tuple[str, ...]:
    """What no two runs can have at the same time: the port, and the interface of `linux`."""
    names = (real.location.value, real.linux_interface)
    return tuple(name for name in names if name)


def server_address(real: Real) -> str:
    """The server's address, of the family of the kernel port's. Raises HostSetupError."""
    version = real.address.version
    family = socket.AF_INET6 if version == 6 else socket.AF_INET
    try:
        found = socket.getaddrinfo(real.server, None, family, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise HostSetupError(
            f"--server {real.server}: no IPv{version} address of it is known: {said}"
        ) from error
    return str(found[0][4][0])


def check_real(real: Real, server: str, network: Network, *, binds: bool) -> None:
    """Refuse what could not be measured, or would not be what it seems.

    ``binds``: iperf3 can be bound to an interface, so that another one of `linux` may be on the
    same wire. Raises HostSetupError.
    """
    _check_there(real, network)
    if ip_address(server) not in real.address.network:
        raise HostSetupError(
            f"--server {server} is not in the network of --address {real.address}: Linux would "
            "reach it by a router, on another way; give a server on the port's own wire"
        )
    addresses = network.addresses()
    _check_linux(real, addresses)
    for name, address in addresses:
        if address.ip == real.address.ip:
            raise HostSetupError(
                f"--address {real.address}: {name} has this address: Linux would not pass by the "
                f"application; give another, or ip address del {address} dev {name}"
            )
        if ip_address(server) in address.network and not (binds and name == real.linux_interface):
            raise HostSetupError(_other_way(real, server, name, address))


def _other_way(real: Real, server: str, name: str, address: Address) -> str:
    text = f"{name} has the address {address}, and the server {server} is in its network: Linux"
    if name == real.linux_interface:
        return (
            f"{text} would send by it, not by the application, and this iperf3 cannot be bound to "
            "an interface (--bind-dev, since 3.10); measure --groups linux by itself"
        )
    down = "" if name == real.location.value else f", or ip link set {name} down"
    return (
        f"{text} would send by it, not by the application; ip address del {address} dev {name}"
        f"{down}"
    )


def _check_there(real: Real, network: Network) -> None:
    """The interfaces that were named are there, and have the queues."""
    port, linux = real.location, real.linux_interface
    named = {"--port": port.value if opens_interface(port) else None, "--linux-interface": linux}
    for option, name in named.items():
        if name is not None and network.link(name) is None:
            raise HostSetupError(f"{option}: there is no interface {name}; see ip link")
    if linux is not None and linux == named["--port"]:
        raise HostSetupError(
            f"--linux-interface {linux} is the port itself: its address would keep Linux from the "
            "application; give another interface on the same wire, or leave it out"
        )
    if port.kind is LocationKind.AF_XDP and 0 < network.rx_queues(port.value) < _XDP_QUEUES:
        raise HostSetupError(
            f"--port {port}: {port.value} has one Rx queue, {_XDP_QUEUES} are needed: the "
            f"application's own frames and the kernel's have one each; ethtool -L {port.value} "
            f"combined {_XDP_QUEUES}, or --port af_packet:{port.value}"
        )


def _check_linux(real: Real, addresses: list[tuple[str, Address]]) -> None:
    version, linux = real.address.version, real.linux_interface
    own = [address for name, address in addresses if name == linux and address.version == version]
    if linux is not None and not own:
        raise HostSetupError(
            f"--linux-interface {linux} is down or has no IPv{version} address: ip address add "
            f"ADDRESS/LENGTH dev {linux}, ip link set {linux} up"
        )
