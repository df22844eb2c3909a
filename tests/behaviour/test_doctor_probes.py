# SPDX-License-Identifier: BSD-3-Clause
"""Every probe of `wirerate doctor` on fake /proc and /sys trees."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wirerate.host.clock import probe_clock
from wirerate.host.cpu import allowed_cpus, probe_cpus, probe_isolation, probe_numa, probe_smt
from wirerate.host.doctor import examine
from wirerate.host.findings import AREAS, Finding, error, in_order, ok
from wirerate.host.hugepages import probe_hugepages
from wirerate.host.iommu import probe_iommu
from wirerate.host.lcores import probe_lcores
from wirerate.host.memlock import probe_memlock
from wirerate.host.nic_findings import probe_nics
from wirerate.host.noise import probe_noise
from wirerate.host.power import probe_cstates, probe_governor
from wirerate.host.tree import parse_cpu_list
from wirerate.host.user import probe_user
from wirerate.plan.lcore_map import parse_maps

if TYPE_CHECKING:
    from collections.abc import Sequence

PCI = "sys/bus/pci/devices"
CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"
POOL = "hugepages/hugepages-2048kB"
CLOCK = "sys/devices/system/clocksource/clocksource0"
CALIBRATED = '{"tsc_hz": 2596125890, "bound_ppm": 0.412, "dpdk_tsc_hz": 2600000000}'
ALL_CAPABILITIES = "CapEff:\t000001ffffffffff\n"


def plant(root: Path, files: dict[str, str], links: dict[str, str] | None = None) -> Path:
    """Write a fake tree; `links` are symbolic links and what they point to."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, target in (links or {}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
    return root


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


def having(findings: list[Finding], part: str) -> Finding:
    return only([finding for finding in findings if part in finding.text])


def levels(findings: list[Finding]) -> list[str]:
    return [finding.level for finding in findings]


def pci_nic(
    address: str, driver: str | None = "ixgbe", **facts: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the files and links of a PCI NIC; `facts` adds or replaces files of the device."""
    device = f"{PCI}/{address}"
    files = {"class": "0x020000", "vendor": "0x8086", "device": "0x1572", "numa_node": "0"} | facts
    links = {f"{device}/driver": f"../../../bus/pci/drivers/{driver}"} if driver else {}
    return {f"{device}/{name}": text for name, text in files.items()}, links


def pcie(speed: str, lanes: str, speed_max: str, lanes_max: str) -> dict[str, str]:
    return {
        "current_link_speed": f"{speed} GT/s PCIe",
        "current_link_width": lanes,
        "max_link_speed": f"{speed_max} GT/s PCIe",
        "max_link_width": lanes_max,
    }


def good_host(root: Path) -> Path:
    """Plant a server with nothing to mend: 2 nodes, 8 cores, CPUs 1-3 and 5-7 isolated."""
    files = {
        "proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
        "proc/self/status": f"Name:\tx\n{ALL_CAPABILITIES}Cpus_allowed_list:\t0,4\n",
        "proc/self/cgroup": "0::/user.slice\n",
        "proc/mounts": "nodev /dev/hugepages hugetlbfs rw,pagesize=2M 0 0\n",
        "proc/modules": "",
        "proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n",
        "proc/stat": "cpu  100 0 50 100000 5 0 1 0 0 0\ncpu0 1 2 3\n",
        "proc/loadavg": "0.05 0.10 0.09 1/200 4242\n",
        "proc/sys/kernel/numa_balancing": "0\n",
        "proc/sys/kernel/nmi_watchdog": "0\n",
        "proc/sys/vm/nr_hugepages": "1024\n",
        "sys/fs/cgroup/cpuset.cpus.effective": "0-7\n",
        "sys/kernel/iommu_groups/7/type": "DMA-FQ\n",
        f"{CPU}/online": "0-7\n",
        f"{CPU}/isolated": "1-3,5-7\n",
        f"{CPU}/nohz_full": "1-3,5-7\n",
        f"{CPU}/smt/control": "off\n",
        f"{CPU}/intel_pstate/no_turbo": "1\n",
        f"{CLOCK}/current_clocksource": "tsc\n",
        f"{CLOCK}/available_clocksource": "tsc hpet\n",
        "dev/vfio/7": "",
        "usr/share/misc/pci.ids": (
            "# a comment\n8086  Intel Corporation\n\t1572  Ethernet Controller X710\n"
            "\t\t8086 0001  a subsystem\n15b3  Mellanox\n\t1572  not this one\n"
        ),
    }
    for cpu in range(8):
        files[f"{CPU}/cpu{cpu}/topology/thread_siblings_list"] = f"{cpu}\n"
        files[f"{CPU}/cpu{cpu}/cpufreq/scaling_governor"] = "performance\n"
        for number, (name, latency) in enumerate({"POLL": 0, "C1": 2, "C6": 133}.items()):
            state = f"{CPU}/cpu{cpu}/cpuidle/state{number}"
            files |= {f"{state}/name": name, f"{state}/latency": str(latency)}
            files[f"{state}/disable"] = "1" if name == "C6" else "0"
    for node, cpus in enumerate(("0-3", "4-7")):
        files[f"{NODE}/node{node}/cpulist"] = cpus
        files[f"{NODE}/node{node}/meminfo"] = f"Node {node} MemTotal:  65536000 kB\n"
        files[f"{NODE}/node{node}/{POOL}/nr_hugepages"] = "512"
        files[f"{NODE}/node{node}/{POOL}/free_hugepages"] = "512"
    nic, links = pci_nic("0000:03:00.0", "vfio-pci", **pcie("8.0", "8", "8.0", "8"))
    links[f"{PCI}/0000:03:00.0/iommu_group"] = "../../../kernel/iommu_groups/7"
    (root / "dev/hugepages").mkdir(parents=True)
    (root / "sys/bus/pci/drivers/vfio-pci").mkdir(parents=True)
    return plant(root, files | nic, links)


# --- all together ---


def good_engine(command: Sequence[str]) -> tuple[int, str]:
    if "--clock" in command:
        return 0, CALIBRATED
    return 0, "wirerate-engine 0.1.0 (DPDK 22.11.11)"


def test_a_good_host_has_nothing_to_mend(tmp_path):
    engine = Path("/opt/wirerate-engine")
    findings = examine(good_host(tmp_path), uid=0, engine=engine, run=good_engine)
    assert [finding for finding in findings if finding.level != "ok" or finding.fix] == []
    assert {finding.area for finding in findings} == set(AREAS)
    assert [finding.area for finding in findings] == sorted(
        (f.area for f in findings), key=AREAS.index
    )


def test_an_empty_root_is_findings_and_no_exception(tmp_path):
    findings = examine(tmp_path, uid=1000)
    assert {finding.area for finding in findings} == set(AREAS)
    assert having(findings, "no PCI NIC seen").level == "ok"
    assert "cannot read" in having(findings, "kernel unknown").text
    assert "No such file or directory" in having(findings, "capabilities unknown").text


@pytest.mark.parametrize("damage", ["missing", "empty", "garbled", "binary", "huge", "directory"])
def test_no_probe_raises_whatever_a_file_holds(tmp_path, damage):
    master = good_host(tmp_path / "good")
    texts = {
        "empty": b"",
        "garbled": b"-1 x:y \x1b[2J {",
        "binary": bytes(range(256)),
        "huge": b"9" * 9000,
    }
    names = [path.relative_to(master) for path in master.rglob("*") if path.is_file()]
    # One file of each kind: what is true of cpu0 is true of cpu5.
    names = list(
        {re.sub(r"(cpu|node|state)\d+", r"\1", str(name)): name for name in names}.values()
    )
    assert len(names) > 30
    for name in names:
        path = master / name
        before = path.read_bytes()
        path.unlink()
        if damage == "directory":
            path.mkdir()
        elif damage != "missing":
            path.write_bytes(texts[damage])
        assert examine_host_only(master)
        if damage == "directory":
            path.rmdir()
        path.write_bytes(before)


def examine_host_only(root: Path) -> list[Finding]:
    """Examine without starting pkg-config a hundred times."""
    probes = (
        probe_user,
        probe_hugepages,
        probe_memlock,
        probe_iommu,
        probe_nics,
        probe_numa,
        probe_cpus,
    )
    more = (
        probe_isolation,
        probe_smt,
        probe_cstates,
        probe_governor,
        probe_clock,
        probe_noise,
        probe_lcores,
    )
    return [finding for probe in probes + more for finding in probe(root)]


def test_findings_sort_by_area_and_keep_the_probes_order():
    findings = [ok("lcores", "a"), ok("nics", "b"), error("nics", "a"), ok("versions", "z")]
    assert [f.text for f in in_order(findings)] == ["z", "b", "a", "a"]


# --- hugepages, memory lock, user --------------------------------------------------------------


def test_hugepages_per_node_and_mount(tmp_path):
    texts = [finding.text for finding in probe_hugepages(good_host(tmp_path), uid=0)]
    assert texts == [
        "512 x 2 MiB on node 0, 512 free",
        "512 x 2 MiB on node 1, 512 free",
        "mounted at /dev/hugepages, writable",
    ]


def test_no_hugepages_is_a_warning_with_a_fix(tmp_path):
    finding = only(probe_hugepages(plant(tmp_path, {f"{NODE}/node0/{POOL}/nr_hugepages": "0"})))
    assert finding.level == "warning"
    assert "--no-huge" in finding.text
    assert finding.fix == "echo 512 > /proc/sys/vm/nr_hugepages"


def test_hugepages_without_numa_in_the_kernel(tmp_path):
    pool = "sys/kernel/mm/hugepages/hugepages-1048576kB"
    plant(tmp_path, {f"{pool}/nr_hugepages": "4", f"{pool}/free_hugepages": "3", "proc/mounts": ""})
    findings = probe_hugepages(tmp_path)
    assert findings[0].text == "4 x 1 GiB, 3 free"
    assert "mount -t hugetlbfs" in (having(findings, "no hugetlbfs is mounted").fix or "")


def test_hugepages_of_a_host_that_hides_sys(tmp_path):
    meminfo = "HugePages_Total:  16\nHugePages_Free:  9\nHugepagesize:  2048 kB\n"
    assert (
        probe_hugepages(plant(tmp_path, {"proc/meminfo": meminfo}))[0].text == "16 x 2 MiB, 9 free"
    )


def test_a_node_without_hugepages_and_pages_all_taken(tmp_path):
    good_host(tmp_path)
    plant(
        tmp_path,
        {f"{NODE}/node0/{POOL}/free_hugepages": "0", f"{NODE}/node1/{POOL}/nr_hugepages": "0"},
    )
    findings = probe_hugepages(tmp_path, uid=0)
    assert having(findings, "0 free").level == "warning"
    bare = having(findings, "none on node 1")
    assert bare.fix == f"echo 512 > /{NODE}/node1/{POOL}/nr_hugepages"


def test_hugepages_that_a_dead_program_left(tmp_path):
    plant(good_host(tmp_path), {"dev/hugepages/rtemap_0": "", "dev/hugepages/rtemap_1": ""})
    assert (
        "2 DPDK map files in /dev/hugepages"
        in having(probe_hugepages(tmp_path, uid=0), "map file").text
    )


def test_hugepage_mount_closed_to_an_ordinary_user(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    finding = having(probe_hugepages(good_host(tmp_path), uid=1000), "closed to this user")
    assert "uid=1000" in (finding.fix or "")


# --- IOMMU and NICs ----------------------------------------------------------------------------


def test_iommu_off_without_a_nic_is_no_fault(tmp_path):
    assert levels(probe_iommu(tmp_path)) == ["ok", "ok"]


def test_iommu_off_does_not_matter_to_a_bifurcated_driver(tmp_path):
    plant(tmp_path, *pci_nic("0000:03:00.0", "mlx5_core"))
    assert levels(probe_iommu(tmp_path)) == ["ok", "ok"]


def test_iommu_off_with_a_nic(tmp_path):
    files, links = pci_nic("0000:03:00.0")
    plant(
        tmp_path,
        files | {"proc/modules": "", "proc/cpuinfo": "vendor_id : AuthenticAMD\nflags : tsc\n"},
        links,
    )
    findings = probe_iommu(tmp_path)
    assert "amd_iommu=on iommu=pt" in (having(findings, "off:").fix or "")
    assert having(findings, "vfio-pci is not loaded").fix == "modprobe vfio-pci"


def test_vfio_group_that_is_not_viable_or_closed(tmp_path):
    files, links = pci_nic("0000:03:00.0", "vfio-pci")
    links[f"{PCI}/0000:03:00.0/iommu_group"] = "../../../kernel/iommu_groups/7"
    group = "sys/kernel/iommu_groups/7/devices"
    links |= {
        f"{group}/0000:03:00.1/driver": "../drivers/ixgbe",
        f"{group}/0000:02:00.0/driver": "x/pcieport",
    }
    findings = probe_iommu(plant(tmp_path, files, links))
    closed, spoiled = [finding for finding in findings if finding.level == "error"]
    assert "/dev/vfio/7 is missing" in closed.text
    assert "0000:03:00.1 (ixgbe)" in spoiled.text
    assert "0000:02:00.0" not in spoiled.text
    assert spoiled.fix == "dpdk-devbind.py --bind=vfio-pci 0000:03:00.1"


def test_vfio_without_a_group_is_an_error(tmp_path):
    plant(tmp_path, *pci_nic("0000:03:00.0", "vfio-pci"))
    assert having(probe_iommu(tmp_path), "without an IOMMU group").level == "error"


def test_no_nic_is_ok(tmp_path):
    plant(tmp_path, {f"{PCI}/0000:00:00.0/class": "0x060000"})
    finding = only(probe_nics(tmp_path))
    assert finding.level == "ok"
    assert "work without one" in finding.text


def test_nic_by_name_with_kernel_driver_link_and_default_route(tmp_path):
    files, links = pci_nic("0000:03:00.0", "i40e", **pcie("8.0", "8", "8.0", "8"))
    net = f"{PCI}/0000:03:00.0/net/ens1"
    files |= {f"{net}/flags": "0x1003", f"{net}/carrier": "1", f"{net}/speed": "10000"}
    files["proc/net/route"] = (
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\nens1\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\n"
    )
    files["usr/share/misc/pci.ids"] = "8086  Intel\n\t1572  X710\n"
    text = only(probe_nics(plant(tmp_path, files, links))).text
    assert text.startswith("0000:03:00.0 8086:1572 Intel X710, kernel driver i40e")
    for part in (
        "af_packet:ens1 or af_xdp:ens1",
        "link up 10 Gbit/s",
        "default route",
        "node 0",
        "PCIe 8 GT/s x8",
    ):
        assert part in text


def test_nic_states_that_need_mending(tmp_path):
    files, links = pci_nic("0000:03:00.0", None)
    more, more_links = pci_nic("0000:04:00.0", "ixgbe")
    net = f"{PCI}/0000:04:00.0/net/ens2"
    more |= {f"{net}/flags": "0x1003", f"{net}/carrier": "0"}
    uio, uio_links = pci_nic("0000:05:00.0", "uio_pci_generic")
    plant(tmp_path, files | more | uio, links | more_links | uio_links)
    findings = probe_nics(tmp_path, uid=1000)
    assert having(findings, "has no driver").fix == "dpdk-devbind.py --bind=vfio-pci 0000:03:00.0"
    assert having(findings, "is up but has no link").level == "warning"
    assert having(findings, "only root can use").level == "error"


def test_a_nic_that_its_pcie_slot_holds_back(tmp_path):
    files, links = pci_nic("0000:03:00.0", "mlx5_core", **pcie("8.0", "8", "16.0", "16"))
    net = f"{PCI}/0000:03:00.0/net/ens1"
    files |= {f"{net}/flags": "0x1003", f"{net}/carrier": "1", f"{net}/speed": "100000"}
    findings = probe_nics(plant(tmp_path, files, links))
    assert levels(findings) == ["ok", "warning", "warning"]
    assert "do not bind it to vfio-pci" in findings[0].text
    assert "at 8 GT/s x8, the device can 16 GT/s x16: 63 Gbit/s" in findings[1].text
    assert "100 Gbit/s link behind PCIe that carries 63 Gbit/s" in findings[2].text


def test_virtio_nics_on_pci_and_on_mmio(tmp_path):
    files, links = pci_nic(
        "0000:00:03.0", "virtio-pci", vendor="0x1af4", device="0x1041", numa_node="-1"
    )
    net = f"{PCI}/0000:00:03.0/virtio2/net/eth0"
    files |= {f"{net}/flags": "0x1003", f"{net}/carrier": "1", f"{net}/speed": "-1"}
    files |= {
        f"{PCI}/0000:00:03.0/virtio2/device": "0x0001",
        "sys/devices/platform/mmio/virtio5/device": "0x0001",
    }
    links["sys/bus/virtio/devices/virtio2"] = f"{tmp_path}/{PCI}/0000:00:03.0/virtio2"
    links["sys/bus/virtio/devices/virtio5"] = "../../../devices/platform/mmio/virtio5"
    findings = probe_nics(plant(tmp_path, files, links))
    assert [finding.text.split(" ")[0] for finding in findings] == ["0000:00:03.0", "virtio5"]
    assert "eth0 link up, no speed told" in findings[0].text


def test_a_virtual_function_has_no_slot_of_its_own(tmp_path):
    files, links = pci_nic("0000:03:02.0", "vfio-pci", **pcie("Unknown", "0", "Unknown", "0"))
    links[f"{PCI}/0000:03:02.0/physfn"] = "../0000:03:00.0"
    text = only(probe_nics(plant(tmp_path, files, links))).text
    assert "virtual function of 0000:03:00.0" in text
    assert "PCIe" not in text


@pytest.mark.parametrize(
    ("node", "part"), [("-1", "tells no NUMA node"), ("2", "which has no CPU")]
)
def test_a_nic_far_from_the_cpus(tmp_path, node, part):
    files, links = pci_nic("0000:03:00.0", numa_node=node)
    files |= {
        f"{NODE}/node0/cpulist": "0-3",
        f"{NODE}/node1/cpulist": "4-7",
        f"{NODE}/node2/cpulist": "",
    }
    assert having(probe_nics(plant(tmp_path, files, links)), part).level == "warning"


# --- CPUs --------------------------------------------------------------------------------------


def test_isolated_cpus_are_usable_though_outside_the_affinity(tmp_path):
    assert allowed_cpus(good_host(tmp_path)) == list(range(8))


def test_isolated_cpus_outside_the_cpuset(tmp_path):
    plant(good_host(tmp_path), {"sys/fs/cgroup/user.slice/cpuset.cpus.effective": "0,4"})
    assert allowed_cpus(tmp_path) == [0, 4]
    assert having(probe_isolation(tmp_path), "outside this process's cpuset").level == "warning"


def test_isolation_none_and_without_nohz_full(tmp_path):
    plant(good_host(tmp_path), {f"{CPU}/nohz_full": "1-3\n"})
    assert "CPUs 5-7 still take the timer tick" in having(probe_isolation(tmp_path), "tick").text
    plant(tmp_path, {f"{CPU}/isolated": "\n"})
    finding = only(probe_isolation(tmp_path))
    assert finding.level == "warning"
    assert "isolcpus=managed_irq,domain,1-7 nohz_full=1-7" in (finding.fix or "")


@pytest.mark.parametrize(
    ("cgroup", "files"),
    [
        (
            "0::/a/b\n",
            {
                "sys/fs/cgroup/a/cpu.max": "150000 100000",
                "sys/fs/cgroup/a/b/cpu.max": "max 100000",
            },
        ),
        (
            "4:cpu,cpuacct:/a\n",
            {
                "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "150000",
                "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000",
            },
        ),
    ],
)
def test_a_cpu_quota_of_either_cgroup_version(tmp_path, cgroup, files):
    plant(
        tmp_path,
        files | {"proc/self/cgroup": cgroup, "proc/self/status": "Cpus_allowed_list:\t0-3\n"},
    )
    finding = having(probe_cpus(tmp_path), "quota")
    assert finding.level == "warning"
    assert "1.5 CPUs of 4" in finding.text


def test_a_single_cpu(tmp_path):
    plant(tmp_path, {"proc/self/status": "Cpus_allowed_list:\t3\n", f"{CPU}/online": "0-3"})
    assert [f.level for f in probe_cpus(tmp_path)] == ["ok", "warning"]
    assert only(probe_lcores(tmp_path)).text == "main lcore and worker share CPU 3"


def test_smt_names_the_siblings(tmp_path):
    topology = {
        f"{CPU}/cpu{cpu}/topology/thread_siblings_list": f"{cpu % 2},{cpu % 2 + 2}"
        for cpu in range(4)
    }
    finding = only(probe_smt(plant(tmp_path, topology | {f"{CPU}/smt/control": "on"})))
    assert finding.level == "warning"
    assert "siblings 0,2, 1,3" in finding.text


def test_numa_balancing_and_a_node_without_memory(tmp_path):
    plant(
        good_host(tmp_path),
        {"proc/sys/kernel/numa_balancing": "1", f"{NODE}/node1/meminfo": "Node 1 MemTotal: 0 kB"},
    )
    findings = probe_numa(tmp_path)
    assert levels(findings) == ["ok", "warning", "warning"]
    assert findings[0].text == "node 0: CPUs 0-3, 64000 MiB"


def test_deep_cstates(tmp_path):
    good_host(tmp_path)
    assert only(probe_cstates(tmp_path)).text.startswith(
        "deepest enabled C1, 2 us to wake, on CPUs 0-7"
    )
    plant(tmp_path, {f"{CPU}/cpu3/cpuidle/state2/disable": "0"})
    deep = having(probe_cstates(tmp_path), "C6")
    assert deep.level == "warning"
    assert "133 us to wake, on CPUs 3:" in deep.text


def test_power_is_not_visible_in_a_virtual_machine(tmp_path):
    plant(
        tmp_path, {"proc/cpuinfo": "flags\t: tsc hypervisor\n", f"{CPU}/cpu0/topology/core_id": "0"}
    )
    assert only(probe_cstates(tmp_path)) == ok("cstates", "not visible (virtual machine)")
    assert only(probe_governor(tmp_path)) == ok("governor", "not visible (virtual machine)")


def test_governor_and_turbo(tmp_path):
    plant(
        good_host(tmp_path),
        {f"{CPU}/cpu2/cpufreq/scaling_governor": "powersave", f"{CPU}/intel_pstate/no_turbo": "0"},
    )
    findings = probe_governor(tmp_path)
    assert (
        having(findings, "powersave on CPUs 2").fix
        == "cpupower frequency-set --governor performance"
    )
    assert having(findings, "turbo is on").level == "ok"


# --- clock and noise ---------------------------------------------------------------------------


def test_clock_source_and_flags(tmp_path):
    plant(
        good_host(tmp_path),
        {f"{CLOCK}/current_clocksource": "hpet", "proc/cpuinfo": "flags : tsc constant_tsc\n"},
    )
    findings = probe_clock(tmp_path)
    assert levels(findings) == ["warning", "warning"]
    assert findings[0].fix == f"echo tsc > /{CLOCK}/current_clocksource"
    assert "nonstop_tsc" in findings[1].text


def test_arm_needs_no_tsc(tmp_path):
    plant(
        tmp_path,
        {
            f"{CLOCK}/current_clocksource": "arch_sys_counter",
            "proc/cpuinfo": "Features : fp asimd\n",
        },
    )
    assert only(probe_clock(tmp_path)).level == "ok"


def test_hypervisor_steal_and_load(tmp_path):
    files = {
        "proc/cpuinfo": "flags : hypervisor\n",
        "proc/stat": "cpu  0 0 0 950 0 0 0 50 0 0\n",
        "proc/loadavg": "3.10 1 1 1/1 1\n",
        f"{CPU}/online": "0-3",
        "sys/class/dmi/id/sys_vendor": "QEMU",
    }
    findings = probe_noise(plant(tmp_path, files))
    assert levels(findings) == ["warning"] * 3
    assert "hypervisor (QEMU)" in findings[0].text
    assert findings[1].text.startswith("5.00 % of CPU time")
    assert "load average 3.10" in findings[2].text


# --- core map ----------------------------------------------------------------------------------


def test_core_map_takes_isolated_cpus_near_each_port(tmp_path):
    nic, links = pci_nic("0000:82:00.0", "vfio-pci", numa_node="1")
    findings = probe_lcores(plant(good_host(tmp_path), nic, links))
    assert "main lcore 0, workers 1-3,5-7; core map -m 1:2-3.0,5:6-7.1 " in only(findings).text


def test_core_map_leaves_siblings_idle_and_shares_lcores(tmp_path):
    files = {
        f"{CPU}/cpu{cpu}/topology/thread_siblings_list": f"{cpu % 2},{cpu % 2 + 2}"
        for cpu in range(4)
    }
    files |= {"proc/self/status": "Cpus_allowed_list:\t0-3\n", f"{CPU}/isolated": ""}
    first, links = pci_nic("0000:03:00.0", "vfio-pci", numa_node="-1")
    second, more = pci_nic("0000:03:00.1", "vfio-pci", numa_node="-1")
    text = only(probe_lcores(plant(tmp_path, files | first | second, links | more))).text
    assert "main lcore 0, workers 1; core map -m 1.0,1.1 " in text


def test_core_map_warns_of_a_node_without_workers(tmp_path):
    plant(good_host(tmp_path), {f"{CPU}/isolated": "1-3"})
    nic, links = pci_nic("0000:82:00.0", "vfio-pci", numa_node="1")
    assert (
        having(probe_lcores(plant(tmp_path, nic, links)), "no worker on node 1").level == "warning"
    )


def test_core_maps_are_read_by_the_parser_of_maps(tmp_path):
    isolated = "1,3,5-7"
    plant(good_host(tmp_path), {f"{CPU}/isolated": isolated, f"{NODE}/node0/cpulist": "0-7"})
    text = only(probe_lcores(tmp_path)).text
    maps = re.search(r"-m (\S+)", text)
    assert maps is not None
    parsed = parse_maps([maps[1]], 1, parse_cpu_list(isolated))
    assert (parsed.of_port(0).rx, parsed.of_port(0).tx) == ((1, 3), (5, 6, 7))
