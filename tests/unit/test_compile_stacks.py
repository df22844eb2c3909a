# SPDX-License-Identifier: BSD-3-Clause
"""Compiled stacks of headers: their frames are scapy's, octet by octet."""

import pytest

from support.flow import DST_MAC, ETHERNET, SRC_MAC, compiled, fixed, increment, ipv4
from support.render import render


@pytest.fixture(scope="module")
def scapy():
    return pytest.importorskip("scapy.all", reason="scapy is the second builder")


def counting(octets):
    return bytes(octet % 256 for octet in range(octets))


# --- frames by scapy: each stack is (elements, frame i without payload) ---


def stack_udp(s):
    packet = [
        ETHERNET,
        {"vlan": {"id": increment(100, 1, 3), "priority": fixed(5)}},
        ipv4(increment("198.18.0.1", "0.0.0.1", 5)),
        {"udp": {"src_port": increment(1024, 7, 4), "dst_port": {"values": [53, 9]}}},
    ]

    def frame(i):
        return (
            s.Ether(src=SRC_MAC, dst=DST_MAC)
            / s.Dot1Q(vlan=100 + i % 3, prio=5)
            / s.IP(src=f"198.18.0.{1 + i % 5}", dst="198.19.0.1", id=0)
            / s.UDP(sport=1024 + 7 * (i % 4), dport=[53, 9][i % 2])
        )

    return packet, frame


def stack_qinq(s):
    packet = [
        ETHERNET,
        {"vlan": {"id": fixed(7), "cfi": fixed(1)}},
        {"vlan": {"id": {"decrement": {"start": 4000, "step": 1, "count": 9}}}},
        ipv4(fixed("198.18.0.1")),
        {"tcp": {"seq_num": increment(2**32 - 2, 1, 4), "ctl_ack": fixed(1)}},
    ]

    def frame(i):
        return (
            s.Ether(src=SRC_MAC, dst=DST_MAC, type=0x8100)
            / s.Dot1Q(vlan=7, id=1)
            / s.Dot1Q(vlan=4000 - i % 9)
            / s.IP(src="198.18.0.1", dst="198.19.0.1", id=0)
            / s.TCP(sport=0, dport=0, seq=(2**32 - 2 + i % 4) % 2**32, flags="A", window=0)
        )

    return packet, frame


def stack_ipv6_tcp(s):
    packet = [
        ETHERNET,
        {
            "ipv6": {
                "src": increment("2001:db8::fffe", "::1", 4),
                "dst": increment("2001:db8:0:1::1", "0:0:0:1::", 6),
                "flow_label": increment(0xFFFFE, 1, 4),
            }
        },
        {"tcp": {"dst_port": fixed(80), "window": increment(10, 1, 3), "ctl_syn": fixed(1)}},
    ]

    def frame(i):
        ip = s.IPv6(
            src=f"2001:db8::{0xFFFE + i % 4:x}" if i % 4 < 2 else f"2001:db8::1:{i % 4 - 2:x}",
            dst=f"2001:db8:0:{1 + i % 6}::1",
            fl=(0xFFFFE + i % 4) % 2**20,
        )
        return (
            s.Ether(src=SRC_MAC, dst=DST_MAC)
            / ip
            / s.TCP(sport=0, dport=80, window=10 + i % 3, flags="S")
        )

    return packet, frame


def stack_ipv6_udp(s):
    packet = [
        ETHERNET,
        {"ipv6": {"src": increment("2001:db8::ffff:ffff:ffff:fffe", "::1", 5)}},
        {"udp": {"src_port": fixed(1), "dst_port": fixed(2)}},
    ]

    def frame(i):
        low = (0xFFFFFFFFFFFFFFFE + i % 5) % 2**64
        high = 0x20010DB800000000 + (1 if i % 5 > 1 else 0)
        text = f"{high << 64 | low:032x}"
        src = ":".join(text[at : at + 4] for at in range(0, 32, 4))
        return (
            s.Ether(src=SRC_MAC, dst=DST_MAC) / s.IPv6(src=src, dst="::") / s.UDP(sport=1, dport=2)
        )

    return packet, frame


def stack_vxlan(s):
    packet = [
        ETHERNET,
        ipv4(fixed("10.0.0.1"), "10.0.0.2"),
        {"udp": {"src_port": increment(49152, 1, 8), "dst_port": fixed(4789)}},
        {"vxlan": {"vni": increment(0xABCDE, 1, 4)}},
        {"ethernet": {"src": fixed(DST_MAC), "dst": fixed(SRC_MAC)}},
        ipv4(increment("198.18.0.1", "0.0.0.1", 3)),
        {"udp": {"src_port": increment(1, 1, 6), "dst_port": fixed(2)}},
    ]

    def frame(i):
        return (
            s.Ether(src=SRC_MAC, dst=DST_MAC)
            / s.IP(src="10.0.0.1", dst="10.0.0.2", id=0)
            / s.UDP(sport=49152 + i % 8, dport=4789)
            / s.VXLAN(flags=8, vni=0xABCDE + i % 4)
            / s.Ether(src=DST_MAC, dst=SRC_MAC)
            / s.IP(src=f"198.18.0.{1 + i % 3}", dst="198.19.0.1", id=0)
            / s.UDP(sport=1 + i % 6, dport=2)
        )

    return packet, frame


def stack_gre(s):
    packet = [
        ETHERNET,
        ipv4(fixed("10.0.0.1"), "10.0.0.2"),
        {"gre": {"checksum_present": fixed(1)}},
        ipv4(increment("198.18.0.1", "0.0.0.1", 3)),
        {"icmp": {"echo": {"sequence_number": increment(0, 1, 7)}}},
    ]

    def frame(i):
        return (
            s.Ether(src=SRC_MAC, dst=DST_MAC)
            / s.IP(src="10.0.0.1", dst="10.0.0.2", id=0)
            / s.GRE(chksum_present=1)
            / s.IP(src=f"198.18.0.{1 + i % 3}", dst="198.19.0.1", id=0)
            / s.ICMP(seq=i % 7)
        )

    return packet, frame


def stack_mpls(s):
    from scapy.contrib.mpls import MPLS

    packet = [
        ETHERNET,
        {"mpls": {"label": increment(1000, 1, 5), "traffic_class": {"values": [1, 2]}}},
        {"mpls": {"label": fixed(16), "time_to_live": increment(60, 1, 3)}},
        ipv4(increment("198.18.0.1", "0.0.0.1", 3)),
        {"udp": {}},
    ]

    def frame(i):
        return (
            s.Ether(src=SRC_MAC, dst=DST_MAC, type=0x8847)
            / MPLS(label=1000 + i % 5, cos=1 + i % 2, s=0, ttl=64)
            / MPLS(label=16, s=1, ttl=60 + i % 3)
            / s.IP(src=f"198.18.0.{1 + i % 3}", dst="198.19.0.1", id=0)
            / s.UDP(sport=0, dport=0)
        )

    return packet, frame


def stack_icmpv6(s):
    packet = [
        ETHERNET,
        {"ipv6": {"src": fixed("2001:db8::1"), "dst": fixed("2001:db8::2")}},
        {"icmpv6": {"echo": {"identifier": increment(9, 1, 3)}}},
    ]

    def frame(i):
        return (
            s.Ether(src=SRC_MAC, dst=DST_MAC)
            / s.IPv6(src="2001:db8::1", dst="2001:db8::2")
            / s.ICMPv6EchoRequest(id=9 + i % 3)
        )

    return packet, frame


def stack_arp(s):
    packet = [
        ETHERNET,
        {
            "arp": {
                "sender_hardware_addr": fixed(SRC_MAC),
                "target_protocol_addr": increment("198.18.0.1", "0.0.0.1", 4),
            }
        },
    ]

    def frame(i):
        return s.Ether(src=SRC_MAC, dst=DST_MAC) / s.ARP(
            hwsrc=SRC_MAC, psrc="0.0.0.0", hwdst="00:00:00:00:00:00", pdst=f"198.18.0.{1 + i % 4}"
        )

    return packet, frame


STACKS = [
    stack_udp,
    stack_qinq,
    stack_ipv6_tcp,
    stack_ipv6_udp,
    stack_vxlan,
    stack_gre,
    stack_mpls,
    stack_icmpv6,
    stack_arp,
]


@pytest.mark.parametrize("sizes", [(128,), (129, 1518, 130), (9018,)])
@pytest.mark.parametrize("stack", STACKS)
def test_frames_are_scapys(scapy, stack, sizes):
    packet, frame = stack(scapy)
    stream = compiled(*packet, sizes=sizes).stream
    for i in range(13):
        octets = sizes[i % len(sizes)] - 4
        expected = frame(i)
        expected = bytes(expected / scapy.Raw(counting(octets - len(expected))))
        assert render(stream, i).hex() == expected.hex()


@pytest.mark.parametrize("stack", STACKS)
def test_the_template_is_the_greatest_frame_of_the_first_values(scapy, stack):
    packet, _ = stack(scapy)
    stream = compiled(*packet, sizes=(1518, 128)).stream
    assert bytes.fromhex(stream["template"]) == render(stream, 0)
