# SPDX-License-Identifier: BSD-3-Clause
"""What machine a job wants, and QEMU's command line for it. Pure: no files, no processes.

Read on both sides: the host builds the command line of it, the guest finds its NICs by it. Every
NIC sits behind a PCI Express root port of its own, at a place known beforehand: igb's virtual
functions need one, and the guest needs no other way to tell equal NICs apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# QEMU's device, and what it is always given. No boot ROMs: nothing boots from the network.
MODELS = {
    "igb": "igb",
    "e1000e": "e1000e",
    "vmxnet3": "vmxnet3",
    "virtio": "virtio-net-pci,disable-legacy=on",
}
_IOMMU = "intel-iommu,intremap=on,caching-mode=on,device-iotlb=on"
_X2APIC = ",eim=on"
"""The kernel then uses x2APIC, so that CPUs set their timers by a register and not by memory.

Without it QEMU sent one of those writes astray in some of the longer runs, and the guest hung. Not
where instructions are counted: QEMU 10.0 ends with "Bad icount read" when such a register is read.
"""
_FIRST_SLOT = 0x10
"""Root ports of NIC i are slot 0x10 + i of bus 0, or slot i of their node's bus."""
_MOST_NICS = 12
_NODE_BUSES = 0x40
"""Node n's bus is 0x40 * (n + 1), room for 63 buses behind it."""
_MOST_NODES = 3


@dataclass(frozen=True)
class Nic:
    """One emulated NIC."""

    model: str
    """igb, e1000e, vmxnet3 or virtio."""
    wire: int = 0
    """NICs of one wire hear each other: two virtio have a cable, others a hub."""
    node: int | None = None
    """The NUMA node it is on; None: it does not say."""
    options: str = ""
    """Further properties of QEMU's device, as in "rss=on,hash=on"."""
    netdev: str = ""
    """QEMU's -netdev without its id, in place of a wire, as in "tap,queues=4,ifname=lab0"."""
    queues: int = 1
    """virtio: more than one take TAPs for wires, in a network namespace that QEMU has to itself."""


@dataclass(frozen=True)
class Machine:
    """One emulated machine. Its CPUs are slow: wirerate needs 2 or more of them."""

    nics: tuple[Nic, ...]
    cpus: int = 4
    sockets: int = 1
    """Each socket is a NUMA node with its part of CPUs and memory."""
    memory_mib: int = 2048
    hugepages_mib: int = 768
    """Of memory_mib, in pages of 2 MiB; spread over the nodes."""
    iommu: bool = True
    """Intel's IOMMU, which vfio without tricks and without root needs."""
    icount: bool = False
    """One instruction is one nanosecond, and one CPU runs at a time: slow, and counts repeat."""
    timeout_s: int = 300
    """From power-on to the end of the job; then the guest is ended and the job has failed."""
    extra: tuple[str, ...] = ()
    """Further arguments of QEMU."""

    def __post_init__(self) -> None:
        """Raise ValueError for a machine that cannot be."""
        unknown = sorted({nic.model for nic in self.nics} - MODELS.keys())
        if unknown:
            raise ValueError(f"NIC model {unknown[0]}: there are {', '.join(MODELS)}")
        if len(self.nics) > _MOST_NICS:
            raise ValueError(f"{len(self.nics)} NICs: {_MOST_NICS} have a slot")
        if not 1 <= self.sockets <= _MOST_NODES or self.cpus % self.sockets:
            raise ValueError(
                f"{self.cpus} CPUs on {self.sockets} sockets: there are 1 to {_MOST_NODES} "
                "sockets, each with as many CPUs"
            )
        if self.memory_mib % self.sockets:
            raise ValueError(f"{self.memory_mib} MiB on {self.sockets} sockets: not even parts")
        if self.hugepages_mib > self.memory_mib - 512:
            raise ValueError(
                f"{self.hugepages_mib} MiB of hugepages in {self.memory_mib} MiB: "
                "the guest itself needs 512 MiB"
            )
        for nic in self.nics:
            if nic.queues > 1 and nic.model != "virtio":
                raise ValueError(
                    f"{nic.queues} queues of {nic.model}: only virtio is told how many"
                )
            if nic.node is not None and not 0 <= nic.node < self.sockets:
                raise ValueError(f"a NIC on node {nic.node}: there are {self.sockets} nodes")

    def root_port(self, index: int) -> str:
        """PCI address of the root port before NIC `index`, as in "0000:00:10.0"."""
        node = self.nics[index].node
        if node is None:
            return f"0000:00:{_FIRST_SLOT + index:02x}.0"
        return f"0000:{_node_bus(node):02x}:{index:02x}.0"


@dataclass(frozen=True)
class BootFiles:
    """What of the host a guest boots from."""

    kernel: Path
    initramfs: Path
    share: Path
    """The run's folder, which the guest may write to."""
    console: Path
    """Where the kernel's console goes."""
    sockets: dict[int, int] = field(default_factory=dict)
    """File descriptors of QEMU's: the ends of `cables` by the NICs that they are at."""
    tsc_khz: int = 0
    """The host's TSC, which the guest's is; 0: the guest finds its frequency by itself."""


def _node_bus(node: int) -> int:
    return _NODE_BUSES * (node + 1)


def mac(index: int) -> str:
    """Ethernet address of NIC `index`: QEMU's own prefix, and the index."""
    return f"52:54:00:00:00:{index + 1:02x}"


def tap(index: int) -> str:
    """The TAP of NIC `index`, where it has several queues."""
    return f"wr-lab{index}"


def taps(machine: Machine) -> list[str]:
    """TAPs to be made before QEMU starts, each with the wire it is on: "wr-lab0:0"."""
    return [f"{tap(at)}:{nic.wire}" for at, nic in enumerate(machine.nics) if nic.queues > 1]


def cables(machine: Machine) -> list[tuple[int, int]]:
    """Pairs of virtio NICs that are alone on a wire.

    They are not given a hub: QEMU's reorders what waits for a full receiver. The first such frame
    waits behind the hub, the next ones before it; once there is room, those before it go first
    (qemu_flush_or_purge_queued_packets in QEMU's net/net.c; seen with 10.0). Other NICs drop what
    finds no room, and keep the hub: it needs no time of QEMU's main thread.
    """
    wires: dict[int, list[int]] = {}
    for at, nic in enumerate(machine.nics):
        wires.setdefault(nic.wire, []).append(at)
    own = {
        at
        for at, nic in enumerate(machine.nics)
        if nic.model != "virtio" or nic.netdev or nic.queues > 1
    }
    return [(at[0], at[1]) for at in wires.values() if len(at) == 2 and own.isdisjoint(at)]


def _kernel_line(machine: Machine, tsc_khz: int) -> str:
    words = ["console=ttyS0", "quiet", "panic=-1", "mitigations=off", "nokaslr"]
    words += ["tsc=reliable", "audit=0", "random.trust_cpu=on"]
    if machine.iommu:
        words.append("intel_iommu=on")
    if tsc_khz and not machine.icount:  # there the TSC counts instructions
        words.append(f"tsc_early_khz={tsc_khz}")
    return " ".join(words)


def _nodes(machine: Machine) -> list[str]:
    """A node for each socket, and a PCI host bridge for each node that has NICs."""
    if machine.sockets == 1:
        return []
    cpus, memory = machine.cpus // machine.sockets, machine.memory_mib // machine.sockets
    arguments = []
    for node in range(machine.sockets):
        first = node * cpus
        arguments += ["-object", f"memory-backend-ram,id=mem{node},size={memory}M"]
        arguments += [
            "-numa",
            f"node,nodeid={node},cpus={first}-{first + cpus - 1},memdev=mem{node}",
        ]
    return arguments


def _bridges(machine: Machine) -> list[str]:
    arguments = []
    for node in sorted({nic.node for nic in machine.nics if nic.node is not None}):
        device = f"pxb-pcie,id=node{node},bus=pcie.0,bus_nr={_node_bus(node)}"
        if machine.sockets > 1:
            device += f",numa_node={node}"
        arguments += ["-device", device]
    return arguments


def _nic(machine: Machine, index: int, sockets: dict[int, int]) -> list[str]:
    nic = machine.nics[index]
    bus = "pcie.0" if nic.node is None else f"node{nic.node}"
    slot = index + (_FIRST_SLOT if nic.node is None else 0)
    number = index + 1
    port = f"pcie-root-port,id=rp{index},bus={bus},addr={slot:#x},chassis={number},slot={number}"
    device = f"{MODELS[nic.model]},netdev=n{index},bus=rp{index},mac={mac(index)},romfile="
    if nic.model == "virtio" and machine.iommu:
        device += ",iommu_platform=on,ats=on"
    netdev = nic.netdev or f"hubport,hubid={nic.wire}"
    if index in sockets:
        netdev = f"stream,addr.type=fd,addr.str={sockets[index]}"
    if nic.queues > 1:
        device += f",mq=on,vectors={2 * nic.queues + 2}"
        netdev = f"tap,ifname={tap(index)},queues={nic.queues},script=no,downscript=no"
    if nic.options:
        device += f",{nic.options}"
    kind, _, rest = netdev.partition(",")
    netdev = f"{kind},id=n{index}" + (f",{rest}" if rest else "")
    return ["-device", port, "-netdev", netdev, "-device", device]


def qemu_arguments(machine: Machine, files: BootFiles) -> list[str]:
    """QEMU's arguments, without the program and where its firmware is."""
    accelerator = "tcg,thread=single" if machine.icount else "tcg,thread=multi"
    cores = machine.cpus // machine.sockets
    arguments = ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    cpu = "max,-x2apic" if machine.icount else "max"
    arguments += ["-machine", "q35,kernel-irqchip=split", "-accel", accelerator, "-cpu", cpu]
    arguments += ["-smp", f"{machine.cpus},sockets={machine.sockets},cores={cores},threads=1"]
    arguments += ["-m", f"{machine.memory_mib}"]
    if machine.icount:
        arguments += ["-icount", "shift=0,sleep=off"]
    arguments += ["-kernel", str(files.kernel), "-initrd", str(files.initramfs)]
    arguments += [
        "-append",
        _kernel_line(machine, files.tsc_khz),
        "-serial",
        f"file:{files.console}",
    ]
    share = "security_model=none,multidevs=remap"
    arguments += ["-fsdev", f"local,id=root,path=/,readonly=on,{share}"]
    arguments += ["-device", "virtio-9p-pci,fsdev=root,mount_tag=root"]
    arguments += ["-fsdev", f"local,id=lab,path={_escaped(files.share)},{share}"]
    arguments += ["-device", "virtio-9p-pci,fsdev=lab,mount_tag=lab"]
    arguments += _nodes(machine)
    if machine.iommu:
        arguments += ["-device", _IOMMU if machine.icount else _IOMMU + _X2APIC]
    arguments += _bridges(machine)
    for index in range(len(machine.nics)):
        arguments += _nic(machine, index, files.sockets)
    return [*arguments, *machine.extra]


def _escaped(path: Path) -> str:
    """A path in one of QEMU's lists of properties: a comma is written twice."""
    return str(path).replace(",", ",,")
