# SPDX-License-Identifier: BSD-3-Clause
"""What can be said of a port before DPDK tries to open it, in words."""

import errno
import os
import socket

import pytest

from wirerate.engine.process import about_locked_memory
from wirerate.errors import HostSetupError, PlanError
from wirerate.host.ports import check_port
from wirerate.plan.location import parse_location


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(text, **options):
    check_port("port east", parse_location(text), 1, **options)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("pcap:,none/x.pcap", HostSetupError, "there is no directory .*none; make it first"),
        ("vdev:net_pcap0,tx_pcap=none/x.pcap", HostSetupError, "there is no directory .*none;"),
        ("pcap:,.", HostSetupError, r"\. is a directory; choose another name"),
        ("pcap:,a=b.pcap", PlanError, "DPDK takes no file name with a = in it"),
        ("pcap:a=b.pcap,", PlanError, "DPDK takes no file name with a = in it"),
        ("vhost:./a=b", PlanError, "DPDK takes no file name with a = in it"),
        ("memif:a.sock", PlanError, r"write memif:\./a\.sock"),
        ("memif:none/a.sock", HostSetupError, "there is no directory none; make it first"),
    ],
)
def test_ports_that_cannot_be_opened(text, error, says):
    with pytest.raises(error, match=f"^port east: {text}: .*{says}") as raised:
        check(text)
    assert raised.value.exit_code == (3 if error is HostSetupError else 2)


@pytest.mark.parametrize(
    "text",
    [
        "pcap:,x.pcap",
        "pcap:in.pcap,",
        "pcap:,/dev/null",
        "pcap:,old.pcap",
        "pcap:,dangling.pcap",
        "memif:./a.sock",
        "memif:name,socket-abstract=yes",
        "vdev:net_null0,tx_pcap=none/x",
    ],
)
def test_ports_that_may_be(text, place):
    (place / "old.pcap").touch()
    (place / "dangling.pcap").symlink_to("target.pcap")
    check(text)


def test_a_link_into_nowhere(place):
    (place / "dangling.pcap").symlink_to("none/target.pcap")
    with pytest.raises(HostSetupError, match=r"there is no directory .*none"):
        check("pcap:,dangling.pcap")


@pytest.mark.parametrize(
    ("name", "closed", "says"),
    [
        ("old.pcap", {"old.pcap"}, "may not write .*old.pcap;"),
        ("new.pcap", {""}, "may not look into|may not write"),
    ],
)
def test_places_that_are_closed_to_this_user(place, monkeypatch, name, closed, says):
    (place / "old.pcap").touch()
    shut = {str(place / each) if each else str(place) for each in closed}
    monkeypatch.setattr(os, "access", lambda path, _mode: str(path) not in shut)
    with pytest.raises(HostSetupError, match=says):
        check(f"pcap:,{name}")


def test_capabilities_by_the_ports_own_name(tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/status").write_text("CapEff:\t0000000000000000\n")
    with pytest.raises(HostSetupError, match=r"^port east: af_packet:eth0 needs CAP_NET_RAW"):
        check("af_packet:eth0", root=tmp_path)


@pytest.mark.parametrize(
    ("text", "device", "says"),
    [
        (
            "virtio-user:/dev/vhost-net,iface={}",
            "vhost-net",
            "no /dev/vhost-net: modprobe vhost_net, if this kernel has it",
        ),
        ("kni:kni{}", "kni", r"no /dev/kni: modprobe rte_kni \(of DPDK up to 23.07\), if"),
    ],
)
def test_a_device_of_the_kernel_that_is_missing(tmp_path, monkeypatch, text, device, says):
    name = "wr-t0"
    with pytest.raises(HostSetupError, match=f"^port east: .*: {says}"):
        check(text.format(name), root=tmp_path)
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / device).touch()
    check(text.format(name), root=tmp_path)
    there = text.format(name).partition("iface=" if "iface" in text else ":")[2]
    monkeypatch.setattr("wirerate.host.ports.socket.if_nameindex", lambda: [(2, there)])
    with pytest.raises(HostSetupError, match=f"an interface {there} is there already; take"):
        check(text.format(name), root=tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(HostSetupError, match="may not open /dev/"):
        check(text.format(name), root=tmp_path)


def test_the_socket_of_an_end_that_was_killed_is_taken_away(place):
    left, kept = place / "left.sock", place / "kept.sock"
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    dead.bind(str(left))
    dead.close()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as alive:
        alive.bind(str(kept))
        alive.listen()
        for name in (left, kept, place / "none.sock"):
            check(f"memif:{name}")
    assert (left.exists(), kept.exists()) == (False, True)


def test_a_file_that_is_no_socket_stays(place):
    (place / "text.sock").write_text("mine")
    check(f"memif:{place}/text.sock")
    assert (place / "text.sock").read_text() == "mine"


def test_a_closed_vfio_group_is_named(tmp_path):
    device = tmp_path / "sys/bus/pci/devices/0000:03:00.0"
    device.mkdir(parents=True)
    (device / "driver").symlink_to("../../../../bus/pci/drivers/vfio-pci")
    (device / "iommu_group").symlink_to("../../../../kernel/iommu_groups/7")
    with pytest.raises(HostSetupError, match=r"^port east: .*/dev/vfio/7 is missing or closed"):
        check("03:00.0", root=tmp_path)
    (tmp_path / "dev/vfio").mkdir(parents=True)
    (tmp_path / "dev/vfio/7").touch()
    check("03:00.0", root=tmp_path)


def test_a_vfio_group_that_another_program_has_is_told_of(tmp_path, monkeypatch):
    device = tmp_path / "sys/bus/pci/devices/0000:03:00.0"
    device.mkdir(parents=True)
    (device / "driver").symlink_to("../../../../bus/pci/drivers/vfio-pci")
    (device / "iommu_group").symlink_to("../../../../kernel/iommu_groups/7")
    (tmp_path / "dev/vfio").mkdir(parents=True)
    (tmp_path / "dev/vfio/7").touch()

    def busy(path, _flags):
        raise OSError(errno.EBUSY, "busy", str(path))

    monkeypatch.setattr("wirerate.host.iommu.os.open", busy)
    with pytest.raises(HostSetupError, match=r"^port east: 0000:03:00.0 .* in use by another prog"):
        check("03:00.0", root=tmp_path)
    process = tmp_path / "proc/77"
    (process / "fd").mkdir(parents=True)
    (process / "comm").write_text("wirerate-engine\n")
    (process / "fd/9").symlink_to("/dev/vfio/7")
    (tmp_path / "proc/self").mkdir()
    with pytest.raises(HostSetupError, match=r"in use by wirerate-engine \(pid 77\); end that"):
        check("03:00.0", root=tmp_path)


def test_a_device_of_the_kernel_is_left_to_dpdk(tmp_path):
    device = tmp_path / "sys/bus/pci/devices/0000:03:00.0"
    device.mkdir(parents=True)
    (device / "driver").symlink_to("../../../../bus/pci/drivers/mlx5_core")
    check("03:00.0", root=tmp_path)


def test_memory_that_may_not_be_locked_is_told_from_other_refusals():
    refusal = "0000:03:00.0 is no device that DPDK may use: is it bound to vfio-pci?"
    said = "EAL: Cannot set up DMA remapping, error 12 (Cannot allocate memory)"
    assert "ulimit -l unlimited" in about_locked_memory(refusal, said)
    assert about_locked_memory(refusal, said).startswith("0000:03:00.0 cannot be used")
    assert not about_locked_memory(refusal, "EAL: nothing to see")
    assert not about_locked_memory("queues: 5 asked", said)


LISTENERS = [
    "vhost:./a.sock",
    "memif:./a.sock,role=server",
    "virtio-user:./a.sock,server=1",
    "vdev:net_vhost0,iface=./a.sock",
]


@pytest.mark.parametrize("text", LISTENERS)
def test_what_is_at_the_place_of_a_socket_is_kept(place, text):
    (place / "a.sock").write_text("precious")
    with pytest.raises(HostSetupError, match=r"a\.sock is there already and is no socket"):
        check(text)
    assert (place / "a.sock").read_text() == "precious"


@pytest.mark.parametrize("text", LISTENERS)
def test_the_socket_of_another_program_is_kept(place, text):
    with socket.socket(socket.AF_UNIX) as other:
        other.bind("a.sock")
        other.listen()
        with pytest.raises(HostSetupError, match=r"another program listens at .*a\.sock"):
            check(text)
        assert (place / "a.sock").is_socket()
    check(text)  # the socket of one that has ended is in nobody's way
    assert not (place / "a.sock").exists()


@pytest.mark.parametrize(
    "text", ["vhost:./a.sock,client=1", "memif:./a.sock", "virtio-user:./a.sock"]
)
def test_who_connects_needs_the_socket_of_another_program(place, text):
    with socket.socket(socket.AF_UNIX) as other:
        other.bind("a.sock")
        other.listen()
        check(text)
        assert (place / "a.sock").is_socket()
