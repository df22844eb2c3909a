# SPDX-License-Identifier: BSD-3-Clause
"""An OTG Config to a Plan: ports, their layer 1, options; the rest has modules of its own.

Follows the Open Traffic Generator model 1.6x. All of a Config is read: what is unknown, doubtful or
beyond this tool is a PlanError with its place. Called by the commands, pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.plan.decode_captures import decode_captures
from wirerate.plan.decode_devices import decode_devices
from wirerate.plan.decode_flow import decode_flow
from wirerate.plan.device_flow import named_ends
from wirerate.plan.location import parse_location
from wirerate.plan.model import Plan, PlanPort
from wirerate.plan.reader import Reader, port_reference, shown, to_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MTU_MIN = 64
MTU_MAX = 14000
"""Range of OTG's ``layer1.mtu`` [octets]."""

_BPS = {
    "speed_10_fd_mbps": 10**7,
    "speed_100_fd_mbps": 10**8,
    "speed_1_gbps": 10**9,
    "speed_10_gbps": 10**10,
    "speed_25_gbps": 25 * 10**9,
    "speed_40_gbps": 4 * 10**10,
    "speed_50_gbps": 5 * 10**10,
    "speed_100_gbps": 10**11,
    "speed_200_gbps": 2 * 10**11,
    "speed_400_gbps": 4 * 10**11,
    "speed_800_gbps": 8 * 10**11,
}
_HALF_DUPLEX = ("speed_10_hd_mbps", "speed_100_hd_mbps")
_NOT_YET = {
    "lags": "link aggregation",
    "events": "events",
    "lldp": "LLDP",
    "stateful_flows": "stateful flows",
    "egress_only_tracking": "egress tracking",
}
_LAYER1_LEFT_TO_THE_SYSTEM = {
    "media": "a choice of the medium",
    "ieee_media_defaults": "settings of the medium",
    "auto_negotiate": "settings of auto-negotiation",
    "auto_negotiation": "settings of auto-negotiation",
    "flow_control": "settings of flow control",
}


@dataclass(frozen=True)
class _Layer1:
    """What a layer1 entry asks of its ports."""

    path: str
    speed_bps: int | None
    mtu: int | None
    promiscuous: bool


def decode_plan(document: dict[str, Any], *, base: Path | None = None) -> Plan:
    """Check a document and fill in all defaults. Raises PlanError.

    Traces with relative names lie in ``base``, None = the working directory.
    """
    config = Reader(document)
    layer1 = _decode_layer1(config)
    ports = _decode_ports(config, layer1)
    names = [port.name for port in ports]
    for name, entry in layer1.items():
        port_reference(name, f"{entry.path}.port_names", names)
    for key, what in _NOT_YET.items():
        config.unsupported(key, what)
    _decode_options(config.branch("options"))
    flow_names: dict[str, str] = {}
    devices = decode_devices(config, names)
    named = named_ends(devices)
    flows = tuple(
        decode_flow(reader, names, flow_names, base, named) for reader in config.children("flows")
    )
    captures = decode_captures(config, names)
    config.done()
    return Plan(ports, flows, devices, captures)


def _decode_ports(config: Reader, layer1: dict[str, _Layer1]) -> tuple[PlanPort, ...]:
    readers = config.children("ports")
    if not readers:
        config.fail("ports", "there is none; a plan has one or more, each with name and location")
    paths: dict[str, str] = {}
    ports = tuple(_decode_port(reader, paths, layer1) for reader in readers)
    _check_locations(ports)
    return ports


def _check_locations(ports: Sequence[PlanPort]) -> None:
    """Refuse a device that is two ports; what a PCI device is told makes no other of it."""
    there: dict[str, PlanPort] = {}
    for port in ports:
        location = port.location
        device = location.value if location.needs_pci else location.text
        if device in there:
            raise PlanError(
                f"{port.path}.location: {location} is port {there[device].name} already; a device "
                "is one port"
            )
        there[device] = port


def _decode_port(reader: Reader, paths: dict[str, str], layer1: dict[str, _Layer1]) -> PlanPort:
    name = reader.unique_name("name", paths)
    text = reader.text("location")
    if not text.isprintable():
        reader.fail("location", f"{shown(text)} holds what cannot be printed; take that out")
    try:
        location = parse_location(text)
    except PlanError as error:
        raise PlanError(f"{reader.place('location')}: {error}") from error
    reader.done()
    entry = layer1.get(name)
    if entry is None:
        return PlanPort(name, location, reader.path)
    return PlanPort(name, location, reader.path, entry.speed_bps, entry.mtu, entry.promiscuous)


def _decode_layer1(config: Reader) -> dict[str, _Layer1]:
    """Return the entries by the names of their ports."""
    by_port: dict[str, _Layer1] = {}
    paths: dict[str, str] = {}
    for reader in config.children("layer1"):
        reader.unique_name("name", paths)
        entry = _Layer1(
            reader.path,
            _speed_bps(reader),
            reader.integer("mtu", MTU_MIN, MTU_MAX, None),
            reader.boolean("promiscuous", default=True),
        )
        reader.raw("port_names")
        for index, value in enumerate(reader.sequence("port_names")):
            path = f"{reader.place('port_names')}[{index}]"
            name = to_name(value, path)
            if name in by_port:
                raise PlanError(f"{path}: port {name} is in {by_port[name].path} already")
            by_port[name] = entry
        for key, what in _LAYER1_LEFT_TO_THE_SYSTEM.items():
            reader.unsupported(key, what)
        reader.done()
    return by_port


def _speed_bps(reader: Reader) -> int | None:
    word = reader.one_of("speed", (*_BPS, *_HALF_DUPLEX), None)
    if word in _HALF_DUPLEX:
        reader.fail("speed", f"wirerate does not do half duplex ({word}); give a full-duplex speed")
    return None if word is None else _BPS[word]


def _decode_options(reader: Reader) -> None:
    """Refuse the options that ask for something; those at their defaults change nothing."""
    ports = reader.branch("port_options")
    ports.off("location_preemption", "taking ports from others")
    ports.off("data_integrity", "checks of data integrity yet")
    order = ports.branch("frame_ordering_mode")
    if order.choice(("no_ordering", "rfc2889"), "no_ordering") == "rfc2889":
        order.fail("choice", "wirerate does not do RFC 2889's frame ordering; leave it out")
    order.done()
    ports.done()
    protocols = reader.branch("protocol_options")
    protocols.boolean("auto_start_all", default=True)
    protocols.done()
    reader.unsupported("per_port_options", "options of single ports")
    flows = reader.branch("flow_options")
    flows.off("packet_loss_duration", "the duration of packet loss yet")
    flows.done()
    reader.done()
