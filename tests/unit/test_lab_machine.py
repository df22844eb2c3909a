# SPDX-License-Identifier: BSD-3-Clause
"""The lab's machines: what is refused, and QEMU's command line."""

from pathlib import Path

import pytest

from lab.machine import BootFiles, Machine, Nic, cables, mac, qemu_arguments, taps

V = Nic("virtio")
FILES = BootFiles(Path("/k"), Path("/i"), Path("/run,1"), Path("/console"))


def words(machine):
    """Options and their values, in order."""
    arguments = qemu_arguments(machine, FILES)
    return [f"{word} {after}" for word, after in zip(arguments, [*arguments[1:], ""], strict=True)]


@pytest.mark.parametrize(
    ("machine", "says"),
    [
        ({"nics": (Nic("igc"),)}, "NIC model igc: there are igb, e1000e, vmxnet3, virtio"),
        ({"nics": (Nic("igb"),) * 13}, "13 NICs: 12 have a slot"),
        ({"nics": (), "cpus": 5, "sockets": 2}, "5 CPUs on 2 sockets"),
        ({"nics": (), "cpus": 8, "sockets": 4}, "8 CPUs on 4 sockets: there are 1 to 3 sockets"),
        ({"nics": (), "sockets": 2, "memory_mib": 2047}, "2047 MiB on 2 sockets"),
        ({"nics": (), "hugepages_mib": 1537}, "1537 MiB of hugepages in 2048 MiB"),
        ({"nics": (Nic("igb", queues=4),)}, "4 queues of igb: only virtio"),
        ({"nics": (Nic("igb", node=1),)}, "a NIC on node 1: there are 1 nodes"),
    ],
)
def test_machines_that_cannot_be(machine, says):
    with pytest.raises(ValueError, match=f"^{says}"):
        Machine(**machine)


def test_every_nic_is_behind_a_port_of_its_own_and_on_its_wire():
    machine = Machine(nics=(Nic("igb"), Nic("igb"), Nic("vmxnet3", wire=4)))
    said = words(machine)
    for index, (model, wire) in enumerate((("igb", 0), ("igb", 0), ("vmxnet3", 4))):
        number, slot = index + 1, 0x10 + index
        port = f"pcie-root-port,id=rp{index},bus=pcie.0,addr={slot:#x},chassis={number}"
        assert f"-device {port},slot={number}" in said
        assert f"-netdev hubport,id=n{index},hubid={wire}" in said
        assert f"-device {model},netdev=n{index},bus=rp{index},mac={mac(index)},romfile=" in said
        assert machine.root_port(index) == f"0000:00:{slot:02x}.0"
    assert mac(2) == "52:54:00:00:00:03"


def test_two_virtio_of_a_wire_have_a_cable():
    """Through QEMU's hub frames overtake each other where the receiver is full."""
    pair = Machine(nics=(Nic("virtio"), Nic("virtio")))
    assert cables(pair) == [(0, 1)]
    files = BootFiles(Path("/k"), Path("/i"), Path("/run"), Path("/console"), {0: 7, 1: 9})
    said = qemu_arguments(pair, files)
    assert "stream,id=n0,addr.type=fd,addr.str=7" in said
    assert "stream,id=n1,addr.type=fd,addr.str=9" in said
    assert "hubport" not in " ".join(said)


@pytest.mark.parametrize(
    ("nics", "pairs"),
    [
        ((V, Nic("virtio", wire=1), Nic("virtio", wire=1), V), [(0, 3), (1, 2)]),
        ((V, V, V, Nic("virtio", wire=1)), []),
        ((Nic("igb"), Nic("igb")), []),
        ((Nic("virtio", queues=4), Nic("virtio", queues=4)), []),
        ((Nic("virtio", netdev="user"), V), []),
    ],
)
def test_what_is_no_pair_of_a_wire_has_no_cable(nics, pairs):
    assert cables(Machine(nics=nics)) == pairs


def test_what_a_nic_has_besides():
    said = words(Machine(nics=(Nic("virtio", options="rss=on", netdev="tap,queues=4"),)))
    device = next(word for word in said if word.startswith("-device virtio-net-pci"))
    assert "disable-legacy=on" in device
    assert device.endswith("iommu_platform=on,ats=on,rss=on")
    assert "-netdev tap,id=n0,queues=4" in said


def test_several_queues_take_a_tap_on_the_wire():
    nics = (Nic("virtio", queues=4, options="rss=on"), Nic("virtio", wire=1), Nic("igb", wire=1))
    said = words(Machine(nics=nics))
    assert taps(Machine(nics=nics)) == ["wr-lab0:0"]
    assert "-netdev tap,id=n0,ifname=wr-lab0,queues=4,script=no,downscript=no" in said
    device = next(word for word in said if "netdev=n0," in word)
    assert device.endswith("mq=on,vectors=10,rss=on")
    assert "-netdev hubport,id=n1,hubid=1" in said
    assert "mq=on" not in next(word for word in said if "netdev=n1," in word)


def test_without_iommu_nothing_speaks_of_it():
    said = " ".join(qemu_arguments(Machine(nics=(Nic("virtio"),), iommu=False), FILES))
    assert "iommu" not in said
    assert "intel_iommu=on" in " ".join(words(Machine(nics=())))


def test_nodes_have_cpus_memory_and_buses_of_their_own():
    machine = Machine(nics=(Nic("igb", node=1), Nic("igb", node=0)), cpus=8, sockets=2)
    said = words(machine)
    assert "-smp 8,sockets=2,cores=4,threads=1" in said
    assert "-object memory-backend-ram,id=mem1,size=1024M" in said
    assert "-numa node,nodeid=1,cpus=4-7,memdev=mem1" in said
    assert "-device pxb-pcie,id=node1,bus=pcie.0,bus_nr=128,numa_node=1" in said
    assert machine.root_port(0) == "0000:80:00.0"
    assert machine.root_port(1) == "0000:40:01.0"


def test_the_kernel_is_told_the_tscs_frequency_unless_it_counts_instructions():
    files = BootFiles(Path("/k"), Path("/i"), Path("/run"), Path("/console"), {}, 2445422)
    for machine, told in ((Machine(nics=()), True), (Machine(nics=(), icount=True), False)):
        line = " ".join(qemu_arguments(machine, files))
        assert ("tsc_early_khz=2445422" in line) == told
    assert not any("tsc_early_khz" in word for word in words(Machine(nics=())))


def test_counting_instructions_takes_one_thread():
    said = words(Machine(nics=(), icount=True))
    assert "-accel tcg,thread=single" in said
    assert "-icount shift=0,sleep=off" in said
    assert "-icount" not in qemu_arguments(Machine(nics=()), FILES)


def test_counting_instructions_and_x2apic_exclude_each_other():
    """QEMU ends with "Bad icount read" where the kernel reads one of x2APIC's registers."""
    counted, other = words(Machine(nics=(), icount=True)), words(Machine(nics=()))
    assert "-cpu max,-x2apic" in counted
    assert not any("eim=on" in word for word in counted)
    assert "-cpu max" in other
    assert any("eim=on" in word for word in other)


def test_the_share_is_written_to_and_the_root_is_not():
    fsdevs = [word for word in words(Machine(nics=())) if word.startswith("-fsdev")]
    root, share = fsdevs
    assert "path=/,readonly=on" in root
    assert "path=/run,,1," in share
    assert "readonly" not in share


def test_further_arguments_come_last():
    machine = Machine(nics=(Nic("igb"),), extra=("-plugin", "count.so"))
    assert qemu_arguments(machine, FILES)[-2:] == ["-plugin", "count.so"]
