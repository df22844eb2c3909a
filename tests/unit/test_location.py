# SPDX-License-Identifier: BSD-3-Clause
"""Locations: the grammar as text, and what a kind of port needs of EAL."""

import pytest

from wirerate.errors import PlanError
from wirerate.plan.location import Location, LocationKind, parse_location


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0000:03:00.0", Location(LocationKind.PCI, "0000:03:00.0")),
        ("03:00.0", Location(LocationKind.PCI, "0000:03:00.0")),
        ("AF:1F.7", Location(LocationKind.PCI, "0000:af:1f.7")),
        ("10000:e1:00.0", Location(LocationKind.PCI, "10000:e1:00.0")),
        ("00010000:e1:00.0", Location(LocationKind.PCI, "10000:e1:00.0")),
        ("03:00.0,rx_vec=1,x=2", Location(LocationKind.PCI, "0000:03:00.0", "rx_vec=1,x=2")),
        ("ring:demo", Location(LocationKind.RING, "demo")),
        ("null:n0", Location(LocationKind.NULL, "n0")),
        ("memif:/run/a.sock", Location(LocationKind.MEMIF, "/run/a.sock")),
        ("memif:/run/a.sock,id=1", Location(LocationKind.MEMIF, "/run/a.sock", "id=1")),
        ("vhost:/run/v", Location(LocationKind.VHOST, "/run/v")),
        ("virtio-user:/run/v,q=2", Location(LocationKind.VIRTIO_USER, "/run/v", "q=2")),
        (
            "virtio-user:/dev/vhost-net,iface=vu0,mac=02:00:00:00:00:01",
            Location(LocationKind.VIRTIO_USER, "/dev/vhost-net", "iface=vu0,mac=02:00:00:00:00:01"),
        ),
        ("kni:kni0", Location(LocationKind.KNI, "kni0")),
        ("tap:dtap0", Location(LocationKind.TAP, "dtap0")),
        ("af_packet:eth0.100", Location(LocationKind.AF_PACKET, "eth0.100")),
        ("af_packet:e0,framecnt=64", Location(LocationKind.AF_PACKET, "e0", "framecnt=64")),
        ("af_packet:e0,framecnt=65536", Location(LocationKind.AF_PACKET, "e0", "framecnt=65536")),
        ("af_xdp:eth0,start_queue=1", Location(LocationKind.AF_XDP, "eth0", "start_queue=1")),
        ("pcap:a b.pcap,out.pcap", Location(LocationKind.PCAP, "a b.pcap,out.pcap")),
        ("pcap:in.pcap,", Location(LocationKind.PCAP, "in.pcap,")),
        ("pcap:,out.pcap", Location(LocationKind.PCAP, ",out.pcap")),
        ("vdev:net_null0,size=64", Location(LocationKind.VDEV, "net_null0,size=64")),
    ],
)
def test_valid(text, expected):
    assert parse_location(text) == expected
    assert parse_location(expected.text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a location is empty"),
        ("  ", "a location is empty"),
        ("eth0", "is it af_packet:eth0"),
        ("rings:a", r"there is no kind 'rings' \(is it ring\?\)"),
        ("virtio_user:/run/v", r"is it virtio-user\?"),
        ("RING:a", r"is it ring\?"),
        ("zzz:a", "valid: 0000:03:00.0"),
        ("zzz:a", "vdev:ANY_DPDK_VDEV_ARGS"),
        ("host/ring:a", "there is no kind"),
        ("ring:", "nothing after ring:"),
        ("ring:  ", "nothing after ring:"),
        ("vdev:", "nothing after vdev:"),
        ("memif:,id=1", "nothing before the comma"),
        ("memif:,", "nothing after memif:"),
        ("pcap:,", "nothing after pcap:"),
        ("pcap:in.pcap", "one comma between"),
        ("pcap:a,b,c", "one comma between"),
        ("pcap:a\n,b", "control characters"),
        ("ring:a,b", "takes no arguments"),
        ("ring:a b", "blanks"),
        ("ring:a\x1b[m", "blanks and control"),
        ("ring:a/b", "letters, digits"),
        ("ring:" + "a" * 21, "1 to 20 letters"),
        ("tap:" + "a" * 16, "not an interface name"),
        ("af_packet:../x", "not an interface name"),
        ("af_packet:..", "not an interface name"),
        ("af_packet:eth0:1", "not an interface name"),
        ("af_packet:eth0,", "an even number from 2 to 65,536"),
        ("af_packet:eth0,framecnt", r"write af_packet:IFNAME\[,framecnt=N\]"),
        ("af_packet:eth0,framecnt=", "an even number"),
        ("af_packet:eth0,framecnt=0", "an even number"),
        ("af_packet:eth0,framecnt=63", "an even number"),
        ("af_packet:eth0,framecnt=-2", "an even number"),
        ("af_packet:eth0,framecnt=65538", "an even number"),
        ("af_packet:eth0,framecnt=64,qpairs=2", "an even number"),
        ("af_packet:eth0,blocksz=4096", "after the comma stands framecnt=N"),
        ("kni:eth0", r"begin with kni; write kni:kni0"),
        ("kni:kni0123456789abc", "not an interface name"),
        ("kni:kni0,x=1", "takes no arguments"),
        ("virtio-user:/dev/vhost-net", r"name of it is missing; write .*,iface=NAME\[,devargs\]"),
        ("virtio-user:/dev/vhost-net,iface=", "name of it is missing"),
        ("virtio-user:/dev/vhost-net,iface=a/b", "not an interface name"),
        ("virtio-user:/dev/vhost-net,mac=1,iface=0123456789abcdef", "not an interface name"),
        ("vhost:" + "/a" * 60, "at most 107 octets, this one 120"),
        ("03:00.8", "not a PCI address"),
        ("03:20.0", "not a PCI address"),
        ("0000:03:00", "not a PCI address"),
        ("3:0.0", "not a PCI address"),
        ("123456789:03:00.0", "there is no kind"),
    ],
)
def test_invalid(text, says):
    with pytest.raises(PlanError, match=says):
        parse_location(text)


@pytest.mark.parametrize(
    ("text", "pci", "single_file"),
    [
        ("03:00.0", True, False),
        ("ring:a", False, False),
        ("pcap:a,b", False, False),
        ("tap:t0", False, False),
        ("memif:/run/a", False, False),
        ("vhost:/run/a", False, True),
        ("virtio-user:/run/a", False, True),
        ("vdev:net_virtio_user0,path=/run/a", False, True),
        ("vdev:eth_vhost0,iface=/run/a", False, True),
        ("vdev:net_memif0,id=0", False, False),
        ("vdev:net_null0", False, False),
    ],
)
def test_needs(text, pci, single_file):
    location = parse_location(text)
    assert location.needs_pci is pci
    assert location.needs_single_file_segments is single_file


@pytest.mark.parametrize(
    ("text", "interface", "device"),
    [
        ("virtio-user:/dev/vhost-net,q=1,iface=vu0", "vu0", ("/dev/vhost-net", "vhost_net")),
        ("virtio-user:/run/a,iface=vu0", "", None),
        ("kni:kni1", "kni1", ("/dev/kni", "rte_kni")),
        ("tap:t0", "t0", None),
        ("af_xdp:eth0", "eth0", None),
        ("ring:a", "", None),
    ],
)
def test_other_end_in_the_kernel(text, interface, device):
    location = parse_location(text)
    assert (location.interface, location.kernel_device) == (interface, device)
