# SPDX-License-Identifier: BSD-3-Clause
"""What is good or bad about each NIC: driver, link, NUMA node, and whether PCIe holds it back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wirerate.host.findings import Finding, error, ok, warning
from wirerate.host.nics import BIFURCATED_DRIVERS, USERSPACE_DRIVERS, Interface, Nic, read_nics
from wirerate.host.tree import ROOT, is_there, numbered, read_text, unreadable

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_NIC = "ring, null, pcap, memif and veth ports (af_packet) work without one"
MBPS_PER_GBPS = 1000


def probe_nics(
    root: Path = ROOT, *, uid: int | None = None, nics: list[Nic] | None = None
) -> list[Finding]:
    """Return one finding per NIC and one more per thing about it that holds a measurement back."""
    uid = os.geteuid() if uid is None else uid
    nics = read_nics(root) if nics is None else nics
    if not nics:
        bus = root / "sys/bus/pci/devices"
        why = "no NIC" if is_there(bus) else f"no PCI NIC seen: {unreadable(bus)}"
        return [ok("nics", f"{why}; {WITHOUT_NIC}")]
    nodes_with_cpus = [
        node
        for node, path in numbered(root / "sys/devices/system/node", "node")
        if read_text(path / "cpulist")
    ]
    findings = []
    for nic in nics:
        findings += [
            _describe(nic),
            *_driver(nic, uid),
            *_links(nic),
            *_pcie(nic),
            *_node(nic, nodes_with_cpus),
        ]
    return findings


def _describe(nic: Nic) -> Finding:
    parts = [f"{nic.address} {nic.ids}" + (f" {nic.name}" if nic.name else "")]
    if nic.physical_function:
        parts.append(f"virtual function of {nic.physical_function}")
    parts.append(_driver_text(nic))
    parts += [_interface_text(interface) for interface in nic.interfaces]
    if nic.driver in USERSPACE_DRIVERS:
        parts.append("link not visible to the kernel")
    parts.append("no NUMA node" if nic.numa_node is None else f"node {nic.numa_node}")
    if nic.slot:
        parts.append(f"PCIe {nic.slot.speed_gts:g} GT/s x{nic.slot.lanes}")
    return ok("nics", ", ".join(parts))


def _driver_text(nic: Nic) -> str:
    if nic.driver is None:
        return "no driver"
    if nic.driver in USERSPACE_DRIVERS:
        return f"{nic.driver}: ready for DPDK"
    if nic.driver in BIFURCATED_DRIVERS:
        return f"kernel driver {nic.driver}, which DPDK works beside (do not bind it to vfio-pci)"
    ports = [
        f"{kind}:{interface.name}"
        for interface in nic.interfaces
        for kind in ("af_packet", "af_xdp")
    ]
    return f"kernel driver {nic.driver}" + (f" (use as {' or '.join(ports)})" if ports else "")


def _interface_text(interface: Interface) -> str:
    state = {True: "link up", False: "no link", None: "link not told"}[interface.carrier]
    if interface.admin_up is False:
        state = "interface down"
    speed = ""
    if interface.carrier and interface.admin_up is not False:
        speed = (
            ", no speed told"
            if interface.speed_mbps is None
            else f" {speed_text(interface.speed_mbps)}"
        )
    route = (
        ", carries the default route: do not bind it to another driver"
        if interface.default_route
        else ""
    )
    return f"{interface.name} {state}{speed}{route}"


def speed_text(speed_mbps: int) -> str:
    """Return a link speed as people write it: 100 Mbit/s, 2.5 Gbit/s, 100 Gbit/s."""
    return (
        f"{speed_mbps / MBPS_PER_GBPS:g} Gbit/s"
        if speed_mbps >= MBPS_PER_GBPS
        else f"{speed_mbps} Mbit/s"
    )


def _driver(nic: Nic, uid: int) -> list[Finding]:
    if nic.driver is None and nic.on_pci:
        text = f"{nic.address} has no driver: neither the kernel nor DPDK can use it"
        return [warning("nics", text, f"dpdk-devbind.py --bind=vfio-pci {nic.address}")]
    if nic.driver in ("igb_uio", "uio_pci_generic") and uid != 0:
        text = f"{nic.address} is on {nic.driver}, which only root can use (this is uid {uid})"
        return [error("nics", text, f"dpdk-devbind.py --bind=vfio-pci {nic.address}  (as root)")]
    return []


def _links(nic: Nic) -> list[Finding]:
    return [
        warning(
            "nics",
            f"{nic.address} {interface.name} is up but has no link: cable, "
            "transceiver, or the other end",
            f"ethtool {interface.name}; ethtool -m {interface.name}",
        )
        for interface in nic.interfaces
        if interface.admin_up and interface.carrier is False
    ]


def _pcie(nic: Nic) -> list[Finding]:
    """Warn of PCIe trained below the device's maximum, or below what its Ethernet link carries."""
    slot = nic.slot
    if slot is None:
        return []
    findings = []
    if slot.lanes < slot.lanes_max or slot.speed_gts < slot.speed_max_gts:
        now, best = (
            f"{slot.speed_gts:g} GT/s x{slot.lanes}",
            f"{slot.speed_max_gts:g} GT/s x{slot.lanes_max}",
        )
        text = (
            f"{nic.address} runs PCIe at {now}, the device can {best}: "
            f"{slot.capacity_gbps():.0f} Gbit/s per direction at most"
        )
        command = (
            f"lspci -s {nic.address} -vv | grep LnkSta  (then: other slot, riser, "
            "bifurcation or BIOS link speed)"
        )
        findings.append(warning("nics", text, command))
    ethernet_gbps = sum(interface.speed_mbps or 0 for interface in nic.interfaces) / MBPS_PER_GBPS
    if ethernet_gbps > slot.capacity_gbps():
        text = (
            f"{nic.address} has a {ethernet_gbps:g} Gbit/s link behind PCIe that carries "
            f"{slot.capacity_gbps():.0f} Gbit/s"
        )
        findings.append(
            warning(
                "nics", text, "move the NIC to a slot with more lanes or a later PCIe generation"
            )
        )
    return findings


def _node(nic: Nic, nodes_with_cpus: list[int]) -> list[Finding]:
    if len(nodes_with_cpus) < 2 or not nic.on_pci:
        return []
    if nic.numa_node is None:
        text = (
            f"{nic.address} tells no NUMA node on a host with {len(nodes_with_cpus)}: "
            "lcores cannot be chosen near it"
        )
        return [
            warning(
                "nics",
                text,
                "update the BIOS, or find the slot's node in the board's manual and "
                "choose lcores by hand",
            )
        ]
    if nic.numa_node not in nodes_with_cpus:
        text = (
            f"{nic.address} is on node {nic.numa_node}, which has no CPU: every frame "
            "crosses to another node"
        )
        return [warning("nics", text, "move the NIC to a slot of a node with CPUs")]
    return []
