# SPDX-License-Identifier: BSD-3-Clause
"""The IOMMU and vfio: whether a NIC can be given to DPDK, and how safely.

Sources: the kernel's Documentation/driver-api/vfio.rst; the DPDK Linux guide, "Linux Drivers".
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from wirerate.host.clock import is_virtual
from wirerate.host.findings import Finding, error, ok, warning
from wirerate.host.nics import Nic, read_nics
from wirerate.host.tree import ROOT, entries, is_there, link_name, link_target, plural, read_text

if TYPE_CHECKING:
    from pathlib import Path

GROUPS = "sys/kernel/iommu_groups"
NOIOMMU = "sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
# Drivers that do not spoil a group: it is viable when nothing else in it has a kernel driver.
HARMLESS_DRIVERS = (None, "vfio-pci", "pci-stub", "pcieport")


def probe_iommu(root: Path = ROOT, *, nics: list[Nic] | None = None) -> list[Finding]:
    """Return findings on the IOMMU, the vfio driver and the groups of the NICs on vfio-pci."""
    nics = read_nics(root) if nics is None else nics
    groups = entries(root / GROUPS)
    findings = [_iommu(root, groups, nics), _driver(root, nics)]
    for nic in nics:
        if nic.driver == "vfio-pci":
            findings += probe_group(root, nic)
    return findings


def _iommu(root: Path, groups: list[Path], nics: list[Nic]) -> Finding:
    if groups:
        kinds = sorted({kind for group in groups if (kind := read_text(group / "type"))})
        return ok(
            "iommu",
            f"on, {plural(len(groups), 'group')}" + (f" ({', '.join(kinds)})" if kinds else ""),
        )
    if not any(nic.needs_vfio for nic in nics):
        return ok("iommu", "off; matters only with a PCI NIC that needs vfio, and there is none")
    text = (
        "off: vfio-pci then needs its no-IOMMU mode and root, and a device can write "
        "anywhere in memory"
    )
    if read_text(root / NOIOMMU) in ("Y", "1"):
        text = (
            "off, and vfio's no-IOMMU mode is on: NICs need root, and a device can write "
            "anywhere in memory"
        )
    if is_virtual(root):
        fix = (
            "give this guest a virtual IOMMU (QEMU: -device intel-iommu), or load vfio "
            "with enable_unsafe_noiommu_mode=1"
        )
        return warning("iommu", text, fix)
    boot = (
        "amd_iommu=on"
        if "AuthenticAMD" in (read_text(root / "proc/cpuinfo") or "")
        else "intel_iommu=on"
    )
    return warning(
        "iommu",
        text,
        f"add '{boot} iommu=pt' to the kernel command line, turn VT-d/AMD-Vi on in "
        "the BIOS, reboot",
    )


def _driver(root: Path, nics: list[Nic]) -> Finding:
    if is_there(root / "sys/bus/pci/drivers/vfio-pci"):
        return ok("iommu", "vfio-pci is loaded")
    if not any(nic.needs_vfio for nic in nics):
        return ok("iommu", "vfio-pci is not loaded; matters only with a PCI NIC that needs it")
    if not is_there(root / "proc/modules"):
        text = (
            "vfio-pci is not in this kernel, which loads no modules: NICs work through "
            "af_packet or af_xdp only"
        )
        return warning("iommu", text, "boot a kernel with vfio-pci")
    return warning(
        "iommu",
        "vfio-pci is not loaded: no NIC can be given to DPDK through it",
        "modprobe vfio-pci",
    )


def _node(root: Path, group: str) -> str:
    """The file of a group, without the root."""
    name = read_text(root / GROUPS / group / "name")
    return f"dev/vfio/noiommu-{group}" if name == "vfio-noiommu" else f"dev/vfio/{group}"


def group_user(root: Path, address: str) -> str | None:
    """Who has the group of a device on vfio-pci open; None: nobody.

    A group can be opened once at a time, so it is tried; opening it does nothing to its devices.
    """
    group = link_name(root / "sys/bus/pci/devices" / address / "iommu_group")
    node = None if group is None else _node(root, group)
    if node is None:
        return None
    try:
        os.close(os.open(root / node, os.O_RDWR | os.O_CLOEXEC))
    except OSError as problem:
        return _holder(root, f"/{node}") if problem.errno == errno.EBUSY else None
    return None


def _holder(root: Path, node: str) -> str:
    """The process that has a file open, as far as we may look into other processes."""
    for process in entries(root / "proc"):
        if process.name.isdigit() and any(
            link_target(descriptor) == node for descriptor in entries(process / "fd")
        ):
            return f"{read_text(process / 'comm') or 'a program'} (pid {process.name})"
    return "another program"


def probe_group(root: Path, nic: Nic) -> list[Finding]:
    """Return findings on whether DPDK can open the group of one NIC on vfio-pci."""
    device = root / "sys/bus/pci/devices" / nic.address
    group = link_name(device / "iommu_group")
    if group is None:
        return [
            error(
                "iommu",
                f"{nic.address} is on vfio-pci without an IOMMU group: DPDK cannot open it",
                _noiommu_fix(nic),
            )
        ]
    findings = []
    node = _node(root, group)
    if not _open_to_us(root / node):
        text = f"{nic.address} is on vfio-pci, but /{node} is missing or closed to this user"
        findings.append(
            error(
                "iommu",
                text,
                f"chown $USER /{node}  (as root; in a container pass --device /{node})",
            )
        )
    others = _others(root / GROUPS / group / "devices", nic.address)
    if others:
        text = (
            f"{nic.address}: group {group} also holds {', '.join(others)}: not viable, "
            "DPDK will refuse it"
        )
        addresses = " ".join(other.split(" ")[0] for other in others)
        findings.append(error("iommu", text, f"dpdk-devbind.py --bind=vfio-pci {addresses}"))
    return findings or [ok("iommu", f"{nic.address} group {group} is viable and open to this user")]


def _noiommu_fix(nic: Nic) -> str:
    return (
        f"echo 1 > /{NOIOMMU} && dpdk-devbind.py -u {nic.address} && dpdk-devbind.py "
        f"--bind=vfio-pci {nic.address}"
    )


def _open_to_us(node: Path) -> bool:
    return os.access(node, os.R_OK | os.W_OK)


def _others(devices: Path, address: str) -> list[str]:
    """Return the group's other devices that a kernel driver holds: "0000:03:00.1 (ixgbe)"."""
    found = []
    for device in entries(devices):
        driver = link_name(device / "driver")
        if device.name != address and driver not in HARMLESS_DRIVERS:
            found.append(f"{device.name} ({driver})")
    return found
