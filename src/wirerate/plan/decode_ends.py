# SPDX-License-Identifier: BSD-3-Clause
"""OTG's ``tx_rx`` of a flow: between ports, or between devices on them.

Called by `wirerate.plan.decode_flow`; pure.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.device_flow import complete, ends_of
from wirerate.plan.headers.patterns import VALUES_MAX
from wirerate.plan.reader import port_reference, shown, to_name
from wirerate.units import HEADER_AND_FCS_OCTETS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.plan.device_flow import End, Named, Pair
    from wirerate.plan.fields import Header
    from wirerate.plan.model import Sizes
    from wirerate.plan.reader import Reader


@dataclass(frozen=True)
class Traffic:
    """From where to where, and the packet with what the ends add to it.

    ``mtu`` [octets, without Ethernet header] is the least that a sending device asks for.
    """

    tx_port: str
    rx_ports: tuple[str, ...]
    packet: tuple[Header, ...]
    mtu: int | None = None

    def check_sizes(self, sizes: Sizes | None) -> None:
        """Refuse frames that a sending device's MTU forbids; tags do not count."""
        if self.mtu is None or sizes is None:
            return
        tags = 4 * sum(header.kind == "vlan" for header in self.packet)
        most = self.mtu + HEADER_AND_FCS_OCTETS + tags
        if max(sizes.sequence) > most:
            raise PlanError(
                f"{sizes.path}: frames of {max(sizes.sequence)} octets, but the sending device has "
                f"an mtu of {self.mtu} ({most} octets with FCS); raise that, or lower the size"
            )


@dataclass(frozen=True)
class PortEnds:
    """A flow between ports."""

    tx_port: str
    rx_ports: tuple[str, ...]

    def traffic(self, packet: tuple[Header, ...]) -> Traffic:
        """The packet stays as it is."""
        return Traffic(self.tx_port, self.rx_ports, packet)


@dataclass(frozen=True)
class DeviceEnds:
    """A flow between devices; ``tx`` and ``rx`` are what its names stand for."""

    path: str
    tx: tuple[tuple[Named, ...], ...]
    rx: tuple[tuple[Named, ...], ...]
    one_to_one: bool

    def traffic(self, packet: tuple[Header, ...]) -> Traffic:
        """Settle the pairs, and fill in what the packet leaves out. Raises PlanError."""
        if not packet:
            raise PlanError(
                f"{self.path}: the frames of a trace have addresses of their own; use tx_rx.port"
            )
        tx = [end for named in self.tx for end in ends_of(named, packet)]
        rx = [end for named in self.rx for end in ends_of(named, packet)]
        pairs = self._pairs(tx, rx)
        tx_ports = dict.fromkeys(end.interface.port for end in tx)
        if len(tx_ports) > 1:
            raise PlanError(
                f"{self.path}.tx_names: they are on ports {' and '.join(tx_ports)}; split the "
                "flow, one for each port"
            )
        rx_ports = dict.fromkeys(end.interface.port for _, end in pairs)
        mtus = [end.interface.mtu for end in tx if end.interface.mtu is not None]
        return Traffic(
            tx_port=next(iter(tx_ports)),
            rx_ports=tuple(rx_ports),
            packet=complete(packet, pairs, self.path),
            mtu=min(mtus, default=None),
        )

    def _pairs(self, tx: Sequence[End], rx: Sequence[End]) -> list[Pair]:
        """Who sends to whom, in the order of the frames; nobody to itself."""
        if self.one_to_one:
            if len(tx) != len(rx):
                raise PlanError(
                    f"{self.path}: {len(tx)} ends to send and {len(rx)} to receive; one_to_one "
                    "needs as many of both"
                )
            pairs = list(zip(tx, rx, strict=True))
        else:
            pairs = [(one, other) for one in tx for other in rx if one != other]
        if not pairs or any(one == other for one, other in pairs):
            raise PlanError(f"{self.path}: an end would send to itself; name others in rx_names")
        if len(pairs) > VALUES_MAX:
            raise PlanError(
                f"{self.path}: {len(pairs):,} pairs of ends; wirerate does at most {VALUES_MAX:,} "
                "in a flow, so split it"
            )
        return pairs


def decode_ends(
    reader: Reader, port_names: Sequence[str], named: Mapping[str, tuple[Named, ...]]
) -> PortEnds | DeviceEnds:
    """Read ``tx_rx`` of a flow; ``named`` is `device_flow.named_ends`'. Raises PlanError."""
    reader.raw("tx_rx")
    tx_rx = reader.branch("tx_rx")
    chosen = tx_rx.choice(("port", "device"), "port")
    branch = tx_rx.branch(chosen)
    ends: PortEnds | DeviceEnds
    ends = _port_ends(branch, port_names) if chosen == "port" else _device_ends(branch, named)
    branch.done()
    tx_rx.done()
    return ends


def _port_ends(port: Reader, names: Sequence[str]) -> PortEnds:
    tx_port = port_reference(port.raw("tx_name"), port.place("tx_name"), names)
    rx_ports = [
        port_reference(value, f"{port.place('rx_names')}[{index}]", names)
        for index, value in enumerate(port.sequence("rx_names"))
    ]
    for index, name in enumerate(rx_ports):
        if name in rx_ports[:index]:
            port.fail(f"rx_names[{index}]", f"port {name} is there twice; keep one of them")
    if "rx_name" in port and rx_ports:
        port.fail("rx_name", "rx_names are there too; keep those")
    if "rx_name" in port:
        rx_ports = [port_reference(port.raw("rx_name"), port.place("rx_name"), names)]
    port.raw("rx_name", None)
    return PortEnds(tx_port, tuple(rx_ports))


def _device_ends(device: Reader, named: Mapping[str, tuple[Named, ...]]) -> DeviceEnds:
    device.off("bidirectional", "flows of two directions; give a second flow")
    return DeviceEnds(
        device.path,
        _references(device, "tx_names", named),
        _references(device, "rx_names", named),
        device.one_of("mode", ("mesh", "one_to_one"), "mesh") == "one_to_one",
    )


def _references(
    device: Reader, key: str, named: Mapping[str, tuple[Named, ...]]
) -> tuple[tuple[Named, ...], ...]:
    """What the names of a list stand for."""
    device.raw(key)
    found = []
    for index, value in enumerate(device.sequence(key)):
        path = f"{device.place(key)}[{index}]"
        name = to_name(value, path)
        if name not in named:
            near = difflib.get_close_matches(name, named, n=1)
            hint = f"is it {near[0]}?" if near else "name a device, an ethernet or an address"
            raise PlanError(f"{path}: devices have nothing called {shown(name)}; {hint}")
        if named[name] in found:
            raise PlanError(f"{path}: {shown(name)} is there twice; keep one of them")
        found.append(named[name])
    if not found:
        device.fail(key, "there is none; name a device, an ethernet or an address")
    return tuple(found)
