# SPDX-License-Identifier: BSD-3-Clause
"""Devices of a plan: what is read, what is refused, and what flows between them are filled with."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from support.devices import EAST_MAC, WEST_MAC, device, ethernet, ipv4, routed_plan, two_hosts
from wirerate.errors import PlanError
from wirerate.plan.compile import PortFacts, compile_again, compile_flow
from wirerate.plan.decode import decode_plan
from wirerate.plan.device_flow import wanted_neighbors
from wirerate.plan.devices import Address, Tag, ip_text, mac_text
from wirerate.plan.fields import Fixed, Neighbor, NeighborMac, PortMac, Values

GATEWAY = 0x0A000001
FACTS = PortFacts(0, None, 10**9)


def packet_of(document):
    return decode_plan(document).flows[0].packet


def content(header, name):
    return next(part.content for part in header.fields if part.name == name)


def mac(text):
    return int(text.replace(":", ""), 16)


def template(document, neighbors=()):
    flow = decode_plan(document).flows[0]
    facts = PortFacts(0, None, 10**9, dict(neighbors))
    return compile_flow(flow, "s0", facts).stream


def test_devices_are_read():
    vlans = [{"name": "v1", "tpid": "x88A8", "id": 7, "priority": 3}, {"name": "v2"}]
    given = ipv4("a", "10.0.0.2", "10.0.0.1", prefix=30, gateway_mac={"value": EAST_MAC})
    six = ipv4("b", "fd00::2", "fe80::1", gateway_mac={"choice": "auto"})
    document = routed_plan(two_hosts())
    document["devices"][0] = device(
        "d1",
        ethernet("e", "east", vlans=vlans, mtu=9000, ipv4_addresses=[given], ipv6_addresses=[six]),
        ethernet("plain", "west", mac="02:00:00:00:00:07"),
    )
    plan = decode_plan(document)
    first, second = plan.devices[0].interfaces
    assert (first.device, first.port, first.mtu) == ("d1", "east", 9000)
    assert mac_text(first.mac) == "02:57:52:01:00:00"
    assert first.tags == (Tag(0x88A8, 3, 7), Tag(0x8100, 0, 1))
    path = "devices[0].ethernets[0].ipv4_addresses[0]"
    assert first.addresses[0] == Address("a", path, 4, 0x0A000002, 30, GATEWAY, mac(EAST_MAC))
    assert first.addresses[1].gateway_mac is None
    assert ip_text(first.addresses[1].gateway, 6) == "fe80::1"
    assert (second.mac, second.mtu, second.addresses) == (0x020000000007, None, ())
    assert first.addresses[0].reaches(0x0A000003)
    assert not first.addresses[0].reaches(0x0A000004)


def broken(change):
    devices = deepcopy(two_hosts())
    change(devices)
    return routed_plan(devices)


def eth(devices):
    return devices[0]["ethernets"][0]


def four(devices):
    return eth(devices)["ipv4_addresses"][0]


ERRORS = [
    (lambda d: d[1].update(name="d1"), r"devices\[1\]\.name: devices\[0\] has the name 'd1'"),
    (lambda d: four(d).update(name="d2"), r"devices\[1\]\.name: .* has the name 'd2' already"),
    (lambda d: eth(d).update(name="d1"), r"ethernets\[0\]\.name: devices\[0\] has the name 'd1'"),
    (lambda d: d[0].update(bgp={"x": 1}), r"devices\[0\]\.bgp: wirerate does not do BGP"),
    (lambda d: d[0].update(bgpx={}), r"devices\[0\]\.bgpx: there is no such key; is it bgp\?"),
    (lambda d: d[0].update(ethernets=[]), r"devices\[0\]\.ethernets: there is none"),
    (
        lambda d: eth(d).update(dhcpv4_interfaces=[{}]),
        r"dhcpv4_interfaces: wirerate does not do DHCP clients; give ipv4_addresses",
    ),
    (
        lambda d: eth(d).update(connection={"port_name": "eats"}),
        r"connection\.port_name: there is no port 'eats'; is it east\?",
    ),
    (lambda d: eth(d).update(connection=None), r"ethernets\[0\]\.connection: it is missing"),
    (
        lambda d: eth(d).update(connection={"lag_name": "x"}),
        r"connection\.lag_name: wirerate puts devices on ports only; give port_name",
    ),
    (lambda d: eth(d).update(mac="x"), r"\.mac: 'x' is not a MAC address"),
    (lambda d: eth(d).update(mac="01:00:5e:00:00:01"), r"\.mac: 01:00:5e:00:00:01 is no address"),
    (lambda d: eth(d).update(vlans=[{"name": "v", "id": 4096}]), r"vlans\[0\]\.id: 4096 is not"),
    (lambda d: eth(d).update(vlans=[{"name": "v", "tpid": "8100"}]), r"tpid: '8100' is not one"),
    (lambda d: four(d).update(address="10.0.0.256"), r"address: '10\.0\.0\.256' is not an IPv4"),
    (lambda d: four(d).update(address="224.0.0.1"), r"address: 224\.0\.0\.1 is no address of a"),
    (lambda d: four(d).update(gateway=None), r"ipv4_addresses\[0\]\.gateway: it is missing"),
    (lambda d: four(d).update(gateway="10.0.0.2"), r"gateway: it is the interface's own address"),
    (lambda d: four(d).update(prefix=33), r"prefix: 33 is not between 1 and 32"),
    (lambda d: four(d).update(gateway_mac={"value": "00:00:00:00:00:00"}), r"gateway_mac\.value: "),
    (
        lambda d: eth(d)["ipv4_addresses"].append(ipv4("x", "10.0.0.2", "10.0.0.9")),
        r"ipv4_addresses\[1\]\.address: .*ipv4_addresses\[0\] has it on port east already",
    ),
    (
        lambda d: eth(d).update(
            ipv4_addresses=[
                ipv4(f"x{n}", f"10.1.{n // 250}.{1 + n % 250}", "10.1.9.9") for n in range(1025)
            ]
        ),
        r"ipv4_addresses\[1024\]: port east has more than 1,024 addresses",
    ),
]


@pytest.mark.parametrize(("change", "message"), ERRORS)
def test_what_is_wrong_with_devices(change, message):
    with pytest.raises(PlanError, match=message):
        decode_plan(broken(change))


def flow_error(message, devices=None, **words):
    with pytest.raises(PlanError, match=message):
        decode_plan(routed_plan(two_hosts() if devices is None else devices, **words))


def test_what_is_wrong_with_flows_of_devices():
    flow_error(r"tx_names\[0\]: devices have nothing called 'd1\.et'; is it d1\.eth", tx=["d1.et"])
    flow_error(r"tx_names: there is none", tx=[])
    flow_error(r"rx_names\[1\]: 'd2' is there twice", rx=["d2", "d2"])
    flow_error(r"tx_names: they are on ports east and west; split the flow", tx=["d1", "d2"])
    flow_error(r"device: an end would send to itself", rx=["d1"])
    flow_error(r"an end would send to itself", rx=["d1"], ends={"mode": "one_to_one"})
    flow_error(r"bidirectional: wirerate does not do flows of two", ends={"bidirectional": True})
    flow_error(
        r"1 ends to send and 2 to receive; one_to_one",
        rx=["d1", "d2"],
        ends={"mode": "one_to_one"},
    )
    flow_error(
        r"tx_names: d1\.eth of device d1 has no IPv4 address, which the flow's ipv4 header needs",
        tx=["d1.6"],
    )
    flow_error(
        r"flows\[0\]\.tx_rx\.device: the frames of a trace have addresses of their own",
        packet=[],
        size={},
        **{"x-wirerate": {"trace": {"file": "a.pcap"}}},
    )
    small = two_hosts()
    small[0]["ethernets"][0]["mtu"] = 100
    flow_error(r"size: frames of 128 octets, .* mtu of 100 \(118 octets with FCS\)", small)


def test_what_the_plan_leaves_out_comes_from_the_ends():
    ethernet_header, ip, _ = packet_of(routed_plan(two_hosts()))
    assert content(ethernet_header, "src") == Fixed(mac(EAST_MAC))
    assert content(ethernet_header, "dst") == NeighborMac((Neighbor("d1.4", GATEWAY),))
    assert content(ip, "src") == Fixed(0x0A000002)
    assert content(ip, "dst") == Fixed(0x0A000102)
    flow = decode_plan(routed_plan(two_hosts())).flows[0]
    assert (flow.tx_port, flow.rx_ports) == ("east", ("west",))


def test_ipv6_ends_are_chosen_by_the_packet():
    ethernet_header, ip, _ = packet_of(
        routed_plan(two_hosts(), packet=[{"ethernet": {}}, {"ipv6": {}}, {"udp": {}}])
    )
    assert wanted_neighbors([ethernet_header]) == (Neighbor("d1.6", 0xFD00 << 112 | 1),)
    assert content(ip, "dst") == Fixed(0xFD000001 << 96 | 2)


def test_what_the_plan_states_is_never_overwritten():
    packet: list[dict[str, Any]] = [
        {
            "ethernet": {
                "dst": {"value": "00:00:00:00:00:00"},
                "src": {"value": "02:00:00:00:00:99"},
            }
        },
        {"ipv4": {"src": {"value": "0.0.0.0"}, "dst": {"increment": {"start": "10.9.0.1"}}}},
    ]
    document = routed_plan(two_hosts(), packet=packet)
    ethernet_header, ip = packet_of(document)
    assert content(ethernet_header, "dst") == Fixed(0)
    assert content(ethernet_header, "src") == Fixed(0x020000000099)
    assert content(ip, "src") == Fixed(0)
    assert not isinstance(content(ip, "dst"), Fixed)
    assert wanted_neighbors((ethernet_header, ip)) == ()


def test_auto_is_the_devices_in_a_flow_between_devices():
    packet: list[dict[str, Any]] = [
        {"ethernet": {"dst": {"choice": "auto"}, "src": {"choice": "auto"}}},
        {"ipv4": {}},
    ]
    header, _ = packet_of(routed_plan(two_hosts(), packet=packet))
    assert content(header, "src") == Fixed(mac(EAST_MAC))
    assert isinstance(content(header, "dst"), NeighborMac)
    document = routed_plan(two_hosts(), packet=packet)
    document["flows"][0]["tx_rx"] = {"port": {"tx_name": "east"}}
    assert content(packet_of(document)[0], "src") == PortMac()


def test_no_router_between_ends_of_one_prefix():
    devices = two_hosts()
    devices[1]["ethernets"][0]["ipv4_addresses"][0].update(address="10.0.0.9", gateway="10.0.0.2")
    header, *_ = packet_of(routed_plan(devices))
    assert content(header, "dst") == Fixed(mac(WEST_MAC))


def test_a_gateway_that_is_the_other_end_is_not_asked():
    devices = two_hosts()
    devices[0]["ethernets"][0]["ipv4_addresses"][0]["gateway"] = "10.0.1.2"
    header, *_ = packet_of(routed_plan(devices))
    assert content(header, "dst") == Fixed(mac(WEST_MAC))


def test_a_gateway_mac_that_is_given_is_not_asked_for():
    devices = two_hosts()
    given = {"gateway_mac": {"value": "02:00:00:00:00:aa"}}
    devices[0]["ethernets"][0]["ipv4_addresses"][0].update(given)
    header, *_ = packet_of(routed_plan(devices))
    assert content(header, "dst") == Fixed(0x0200000000AA)


def test_without_ip_frames_go_to_the_other_interface():
    header, *_ = packet_of(routed_plan(two_hosts(), packet=[{"ethernet": {}}]))
    assert content(header, "dst") == Fixed(mac(WEST_MAC))


def many(port, prefix, count, gateway):
    return device(
        f"{port}s",
        *(
            ethernet(
                f"{port}{n}.e",
                port,
                mac=f"02:00:00:00:{prefix}:{n:02x}",
                ipv4_addresses=[ipv4(f"{port}{n}", f"10.{prefix}.0.{n + 2}", gateway)],
            )
            for n in range(count)
        ),
    )


def test_pairs_advance_in_lock_step():
    devices = [many("east", 10, 2, "10.10.0.1"), many("west", 11, 3, "10.11.0.1")]
    header, ip, _ = packet_of(routed_plan(devices, tx=["easts"], rx=["wests"]))
    east, west = 0x0A0A0002, 0x0A0B0002
    assert content(ip, "src") == Values((east, east, east, east + 1, east + 1, east + 1))
    assert content(ip, "dst") == Values((west, west + 1, west + 2) * 2)
    asked = [Neighbor("east0", 0x0A0A0001)] * 3 + [Neighbor("east1", 0x0A0A0001)] * 3
    assert content(header, "dst") == NeighborMac(tuple(asked))
    one = routed_plan(
        devices, tx=["east0", "east1"], rx=["west2", "west0"], ends={"mode": "one_to_one"}
    )
    _, ip, _ = packet_of(one)
    assert content(ip, "src") == Values((east, east + 1))
    assert content(ip, "dst") == Values((west + 2, west))


def test_a_mesh_has_no_pair_of_one_end():
    devices = [many("east", 10, 2, "10.10.0.1")]
    _, ip, _ = packet_of(routed_plan(devices, tx=["easts"], rx=["easts"]))
    assert content(ip, "src") == Values((0x0A0A0002, 0x0A0A0003))
    assert content(ip, "dst") == Values((0x0A0A0003, 0x0A0A0002))


def tagged_hosts(*vlans):
    devices = two_hosts()
    devices[0]["ethernets"][0]["vlans"] = list(vlans)
    return devices


def test_tags_of_the_device_are_put_in():
    vlans = ({"name": "s", "id": 7, "priority": 5, "tpid": "x88A8"}, {"name": "c", "id": 8})
    stream = template(routed_plan(tagged_hosts(*vlans)), {Neighbor("d1.4", GATEWAY): 0x0A0B})
    assert stream["template"][:52] == "000000000a0b" + "020000000e01" + "88a8a00781000008" + (
        "0800" + "45000066"
    )


def test_a_packet_with_a_tag_of_its_own_keeps_it():
    packet: list[dict[str, Any]] = [{"ethernet": {}}, {"vlan": {"id": {"value": 9}}}, {"ipv4": {}}]
    headers = packet_of(routed_plan(tagged_hosts({"name": "v", "id": 7}), packet=packet))
    assert [header.kind for header in headers] == ["ethernet", "vlan", "ipv4"]
    assert content(headers[1], "id") == Fixed(9)


def test_a_type_that_is_given_stands_behind_the_tags():
    packet = [{"ethernet": {"ether_type": {"value": 0x88B5}}}]
    stream = template(routed_plan(tagged_hosts({"name": "v", "id": 7}), packet=packet))
    assert stream["template"][24:36] == "8100" + "0007" + "88b5"


def test_ends_with_different_numbers_of_tags_are_refused():
    devices = [many("east", 10, 2, "10.10.0.1"), many("west", 11, 1, "10.11.0.1")]
    devices[0]["ethernets"][0]["vlans"] = [{"name": "v"}]
    flow_error(r"tx_names: their frames have 0 or 1 VLAN tags; split", devices, **NAMES)
    devices[0]["ethernets"][1]["vlans"] = [{"name": "w", "id": 2}]
    headers = packet_of(routed_plan(devices, **NAMES))
    assert content(headers[1], "id") == Values((1, 2))


NAMES: dict[str, Any] = {"tx": ["easts"], "rx": ["wests"]}


def test_addresses_found_later_change_the_frames_only():
    devices = [many("east", 10, 2, "10.10.0.1"), many("west", 11, 1, "10.11.0.1")]
    flow = decode_plan(routed_plan(devices, **NAMES)).flows[0]
    draft = compile_flow(flow, "s0", FACTS)
    found = {Neighbor("east0", 0x0A0A0001): 5, Neighbor("east1", 0x0A0A0001): 6}
    facts = PortFacts(0, None, 10**9, found)
    again = compile_again(draft, FACTS, facts)
    assert again == compile_flow(flow, "s0", facts)
    assert again.stream["template"].startswith("000000000005")
    assert again.stream["fields"][0]["values"] == [5, 6]
    # Not known yet: placeholders as many, so that the draft tells how much memory it takes.
    assert draft.stream["fields"][0]["values"] == [0x025752FF0000, 0x025752FF0001]
