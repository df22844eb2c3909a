# SPDX-License-Identifier: BSD-3-Clause
"""The frames of the link layer's plans, built by Scapy."""

from __future__ import annotations

from scapy.contrib.mac_control import MACControlClassBasedFlowControl, MACControlPause
from scapy.contrib.mpls import MPLS
from scapy.layers.l2 import ARP, LLC, STP, Dot1AD, Dot1Q, Dot3
from scapy.layers.ppp import HDLC, PPP

from golden.words import (
    DST,
    SRC,
    down,
    drawn,
    ether,
    ip4,
    ip6,
    ipv4,
    ipv6,
    mac,
    sized,
    tcp,
    turn,
    udp,
    up,
    words_up,
)
from support.golden import rebuilds

PORT_0 = "02:57:52:00:00:00"
"""The made-up address of a plan's first port (docs/preview.md)."""
PAUSE = "01:80:c2:00:00:01"
ZERO = "00:00:00:00:00:00"


@rebuilds("ethernet_defaults")
def ethernet_defaults(_):
    return sized(ether(ZERO, ZERO, type=0xFFFF))


@rebuilds("ethernet_auto_source")
def ethernet_auto_source(i):
    return sized(ether(mac(up(0x02000000FFFE, 1, 5, i)), PORT_0, type=0x88B5))


@rebuilds("mac_decrement")
def mac_decrement(i):
    source = turn(["02:00:00:00:00:0a", "fe:ff:ff:ff:ff:ff", "00:00:5e:00:53:01"], i)
    return sized(ether(mac(down(0x10007, 0x10000, 4, i, 48)), source, type=0x88B5 + i % 2))


@rebuilds("vlan_fields")
def vlan_fields(i):
    tag = Dot1Q(prio=turn([0, 7, 5], i), id=i % 2, vlan=up(4093, 1, 5, i, 12))
    return sized(ether() / tag / ipv4() / udp())


@rebuilds("vlan_qinq")
def vlan_qinq(i):
    tags = Dot1AD(prio=3, vlan=up(100, 10, 3, i)) / Dot1Q(prio=1, vlan=down(2000, 1, 4, i))
    return sized(ether() / tags / ipv4() / udp(), 72)


@rebuilds("vlan_triple")
def vlan_triple(i):
    tags = Dot1Q(vlan=1) / Dot1Q(vlan=turn([2, 3], i)) / Dot1Q(vlan=up(10, 1, 3, i))
    return sized(ether() / tags / ipv6() / udp(), 90)


@rebuilds("mpls_fields")
def mpls_fields(i):
    label = MPLS(label=up(0xFFFFE, 1, 4, i, 20), cos=turn([0, 5, 7], i), s=1, ttl=down(2, 1, 2, i))
    return sized(ether() / label / ipv4() / udp())


@rebuilds("mpls_stack")
def mpls_stack(i):
    labels = (
        MPLS(label=16000, s=0, ttl=64)
        / MPLS(label=up(17000, 100, 6, i), cos=6, s=0, ttl=64)
        / MPLS(label=drawn(100000, 200000, 3, 7, i), s=1, ttl=255)
    )
    return sized(ether() / labels / ipv6() / udp(), 100)


@rebuilds("ppp")
def ppp(_):
    # The EtherType is IANA's for PPP (IEEE 802 numbers); Scapy knows HDLC and PPP behind it.
    return sized(ether(type=0x880B) / HDLC() / PPP(proto=0x0021) / ipv4() / udp(), 80)


@rebuilds("arp_request")
def arp_request(i):
    sender = mac(up(0x020000000100, 1, 6, i))
    asked = ARP(op=1, hwsrc=sender, psrc=ip4("198.18.0.254", i % 6), hwdst=ZERO, pdst="198.18.0.1")
    return sized(ether("ff:ff:ff:ff:ff:ff", sender) / asked)


@rebuilds("arp_reply")
def arp_reply(i):
    answer = ARP(
        op=2,
        hwsrc=turn([SRC, "02:00:00:00:00:03"], i),
        psrc=turn(["198.18.0.2", "198.18.0.3"], i),
        hwdst=DST,
        pdst=ip4("198.18.1.1", -(i % 3)),
    )
    return sized(ether() / answer)


@rebuilds("pfcpause")
def pfcpause(i):
    classes = turn([0xFF, 0x01, 0x80], i)
    enabled = {f"c{bit}_enabled": classes >> bit & 1 for bit in range(8)}
    control = MACControlClassBasedFlowControl(
        c0_pause_time=up(1, 1, 4, i),
        c3_pause_time=down(0xFFFF, 256, 3, i),
        c7_pause_time=0x1234,
        **enabled,
    )
    return sized(ether(PAUSE, type=0x8808) / control)


@rebuilds("ethernetpause")
def ethernetpause(i):
    pause = MACControlPause(pause_time=up(0xFFFE, 1, 4, i, 16))
    return sized(ether(PAUSE, PORT_0, type=0x8808) / pause)


@rebuilds("custom_octets")
def custom_octets(_):
    # A configuration BPDU: its times are in 1/256 s, Scapy has them in seconds.
    bridge = {"rootmac": SRC, "bridgemac": SRC, "rootid": 0x8000, "bridgeid": 0x8000}
    stp = STP(**bridge, portid=0x8001, age=0, maxage=20, hellotime=2, fwddelay=15)
    return sized(Dot3(dst="01:80:c2:00:00:00", src=SRC, len=38) / LLC(dsap=0x42, ssap=0x42) / stp)


@rebuilds("walk_bits")
def walk_bits(i):
    tag = Dot1Q(prio=i % 8, id=i % 2, vlan=up(4090, 1, 4099, i, 12))
    label = MPLS(
        label=drawn(16, 1048575, 51, 5003, i), cos=turn([1, 2, 3, 4, 5], i), s=1, ttl=255 - i % 251
    )
    segment = tcp(flags=("A" if i % 3 < 2 else "") + ("P" if i % 2 else ""), window=i % 65536)
    return sized(ether() / tag / label / ipv4(flags="DF" if i % 2 else 0) / segment, 90)


@rebuilds("walk_lists")
def walk_lists(i):
    target = turn([DST, "02:ff:00:ff:00:ff", "02:12:34:56:78:9a"], i)
    source = mac(drawn(0x020000000000, 0x02FFFFFFFFFF, 61, 100003, i))
    tag = Dot1Q(vlan=turn([1, 4094, 100, 7], i), prio=drawn(0, 7, 62, 9001, i))
    header = ipv6(
        turn(["2001:db8::1", "2001:db8:ffff::", "fe80::1", "::", "2001:db8::2"], i),
        ip6("2001:db8:0:fffe::", (i % 99991) << 64),
        tc=up(250, 1, 257, i, 8),
        hlim=down(3, 1, 11, i, 8),
    )
    segment = tcp(
        sport=drawn(49152, 65535, 63, 7919, i),
        seq=down(5, 3, 10007, i, 32),
        flags="S" if i % 3 == 1 else 0,
    )
    return sized(ether(target, source) / tag / header / segment, 110, words_up)
