# SPDX-License-Identifier: BSD-3-Clause
"""Which ports a pattern means, and what is said when it means none."""

import pytest

from wirerate.errors import HostSetupError, PlanError
from wirerate.host.nics import Interface, Nic
from wirerate.host.usable_ports import choose_ports
from wirerate.plan.location import LocationKind

ROUTED = (Interface("eth0", admin_up=True, carrier=True, speed_mbps=1000, default_route=True),)
NICS = [
    Nic("0000:01:00.0", driver="vfio-pci"),
    Nic("0000:01:00.1", driver="vfio-pci"),
    Nic("0000:03:00.0", driver="ixgbe"),
    Nic("0000:04:00.0"),
    Nic("0000:82:00.0", driver="igb_uio"),
    Nic("0000:82:00.1", driver="uio_pci_generic"),
    Nic("0001:0a:00.0", driver="mlx5_core"),
    Nic("virtio0", driver="virtio_net"),
]
USABLE = [NICS[0], NICS[1], NICS[4], NICS[5], NICS[6]]


def texts(*patterns, nics=NICS):
    return [location.text for location in choose_ports(patterns, nics=nics).locations]


def test_without_a_pattern_every_usable_nic():
    assert texts() == [nic.address for nic in USABLE]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("01:00.1", ["0000:01:00.1"]),
        ("0000:01:00.1", ["0000:01:00.1"]),
        ("0000:0", ["0000:01:00.0", "0000:01:00.1"]),
        ("0000:8", ["0000:82:00.0", "0000:82:00.1"]),
        ("0A:", ["0001:0a:00.0"]),
        ("82:00.?", ["0000:82:00.0", "0000:82:00.1"]),
        ("*.1", ["0000:01:00.1", "0000:82:00.1"]),
        ("01:00.1,foo=1", ["0000:01:00.1,foo=1"]),
    ],
)
def test_patterns_as_loadgen_has_them(pattern, found):
    assert texts(pattern) == found


def test_patterns_and_locations_in_the_order_given():
    assert texts("82:00.1", "null:x", "01:00.0") == ["0000:82:00.1", "null:x", "0000:01:00.0"]


@pytest.mark.parametrize("text", ["null:x", "ring:x", "memif:/run/x.sock,id=1", "tap:t0"])
def test_a_whole_location_is_a_port_and_needs_no_nic(text):
    assert texts(text, nics=[]) == [text]


def test_a_file_is_a_port():
    (port,) = choose_ports(["pcap:,out.pcap"], nics=[]).locations
    assert (port.kind, port.text) == (LocationKind.PCAP, "pcap:,out.pcap")


@pytest.mark.parametrize(
    ("patterns", "parts"),
    [
        (["null:x", "null:x"], ["null:x", "twice"]),
        (["01:00.1", "0000:0"], ["0000:01:00.1", "by 01:00.1 and 0000:0", "twice"]),
        (["01:00.1", "01:00.1,foo=1"], ["0000:01:00.1", "twice"]),
    ],
)
def test_a_port_twice_is_refused(patterns, parts):
    with pytest.raises(PlanError) as error:
        texts(*patterns)
    assert all(part in str(error.value) for part in parts), str(error.value)


def test_a_pattern_that_matches_nothing_names_what_there_is():
    with pytest.raises(PlanError) as error:
        texts("05:")
    for nic in USABLE:
        assert nic.address in str(error.value)
    assert "0000:03:00.0" not in str(error.value)
    assert "null:x" in str(error.value)


def test_a_nic_with_a_kernel_driver_is_told_how_to_be_bound():
    with pytest.raises(HostSetupError) as error:
        texts("03:00.0")
    assert "ixgbe" in str(error.value)
    assert "dpdk-devbind.py --bind=vfio-pci 0000:03:00.0" in str(error.value)
    assert "0000:01:00.0" in str(error.value)


def test_no_usable_nic_says_how_to_get_one_and_how_to_do_without():
    with pytest.raises(HostSetupError) as error:
        texts(nics=[NICS[2], NICS[3]])
    for part in ("0000:03:00.0", "0000:04:00.0", "dpdk-devbind.py", "wirerate doctor", "null:x"):
        assert part in str(error.value), part


@pytest.mark.parametrize("patterns", [[], ["0000:"]])
def test_no_nic_at_all(patterns):
    with pytest.raises(HostSetupError, match="null:x"):
        texts(*patterns, nics=[NICS[7]])


@pytest.mark.parametrize(("text", "hint"), [("eth0", "af_packet:eth0"), ("rnig:x", "is it ring")])
def test_what_is_neither_pattern_nor_location(text, hint):
    with pytest.raises(PlanError, match=hint):
        texts(text)


def test_the_nic_by_which_the_host_is_reached_must_be_named():
    nics = [Nic("0000:05:00.0", driver="mlx5_core", interfaces=ROUTED), NICS[0]]
    chosen = choose_ports([], nics=nics)
    assert [location.value for location in chosen.locations] == ["0000:01:00.0"]
    assert chosen.left_out == ("0000:05:00.0",)
    assert texts("05:00.0", nics=nics) == texts("0000:05:00.0", nics=nics) == ["0000:05:00.0"]
    with pytest.raises(HostSetupError, match="default route"):
        texts(nics=nics[:1])


def test_a_bound_nic_with_the_default_route_is_not_to_be_taken_away():
    with pytest.raises(HostSetupError, match="default route") as error:
        texts(nics=[Nic("0000:05:00.0", driver="ixgbe", interfaces=ROUTED)])
    assert "dpdk-devbind" not in str(error.value)
