# SPDX-License-Identifier: BSD-3-Clause
"""Compiled flows: whatever the stack and the sizes, every checksum verifies and every length is so.

The receiver's side is written anew here: it takes the frames apart header by header.
"""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.flow import PORT, headers, make_flow, one_field
from support.render import ones_complement_sum, render
from wirerate.errors import PlanError
from wirerate.plan.compile import check_flow, compile_flow
from wirerate.plan.fields import Random, Steps, Values

ETHER_TYPES = {0x0800: "ipv4", 0x86DD: "ipv6", 0x8100: "vlan", 0x8847: "mpls", 0x6558: "ethernet"}
IP_PROTOCOLS = {1: "icmp", 4: "ipv4", 6: "tcp", 17: "udp", 41: "ipv6", 47: "gre", 58: "icmpv6"}
HEADER_OCTETS = {"ethernet": 14, "vlan": 4, "mpls": 4, "ipv4": 20, "ipv6": 40, "gre": 8}
HEADER_OCTETS |= {"udp": 8, "tcp": 20, "icmp": 8, "icmpv6": 8, "vxlan": 8}

counts = st.integers(1, 40)


def patterns(bits):
    top = 2**bits - 1
    number = st.integers(0, top)
    return st.one_of(
        st.builds(lambda value: {"value": value}, number),
        st.builds(lambda values: {"values": values}, st.lists(number, min_size=1, max_size=5)),
        st.builds(
            lambda kind, start, step, count: {kind: {"start": start, "step": step, "count": count}},
            st.sampled_from(["increment", "decrement"]),
            number,
            number,
            counts,
        ),
        st.builds(
            lambda low, high, seed, count: {
                "random": {
                    "min": min(low, high),
                    "max": max(low, high),
                    "seed": seed,
                    "count": count,
                }
            },
            number,
            number,
            st.integers(1, 2**63 - 1),
            counts,
        ),
    )


def texts(form, bits):
    """Increments of addresses, which are written as text."""

    def written(number):
        octets = number.to_bytes(bits // 8, "big")
        if form == "ipv4":
            return ".".join(map(str, octets))
        return octets.hex(":", 2) if form == "ipv6" else octets.hex(":")

    number = st.integers(0, 2**bits - 1).map(written)
    return st.builds(
        lambda start, step, count: {"increment": {"start": start, "step": step, "count": count}},
        number,
        number,
        counts,
    )


def element(kind, **fields):
    return st.fixed_dictionaries({}, optional=fields).map(lambda chosen: {kind: chosen})


ethernet = element("ethernet", src=texts("mac", 48), dst=texts("mac", 48))
vlan = element("vlan", id=patterns(12), priority=patterns(3))
mpls = element("mpls", label=patterns(20), time_to_live=patterns(8))
ipv4 = element("ipv4", src=texts("ipv4", 32), dst=texts("ipv4", 32), identification=patterns(16))
ipv6 = element("ipv6", src=texts("ipv6", 128), dst=texts("ipv6", 128), flow_label=patterns(20))
udp = element("udp", src_port=patterns(16), dst_port=patterns(16))
tcp = element("tcp", seq_num=patterns(32), window=patterns(16), ctl_syn=patterns(1))
icmp = st.builds(lambda echo: {"icmp": {"echo": echo["x"]}}, element("x", identifier=patterns(16)))
icmpv6 = st.builds(
    lambda echo: {"icmpv6": {"echo": echo["x"]}}, element("x", identifier=patterns(16))
)
gre = st.just({"gre": {"checksum_present": {"value": 1}}})
vxlan = element("vxlan", vni=patterns(24))
ip = st.one_of(ipv4, ipv6)


@st.composite
def inner_stacks(draw):
    """Ethernet, tags, IP and a transport."""
    stack = [draw(ethernet), *draw(st.lists(vlan, max_size=2))]
    stack.append(draw(ip))
    transports = [udp, tcp, icmp] if "ipv4" in stack[-1] else [udp, tcp, icmpv6]
    return [*stack, draw(st.one_of(transports))]


@st.composite
def stacks(draw):
    """Some of them in a tunnel."""
    inner = draw(inner_stacks())
    tunnel = draw(st.sampled_from(["none", "vxlan", "gre", "mpls"]))
    if tunnel == "vxlan":
        return [draw(ethernet), draw(ip), draw(udp), draw(vxlan), *inner]
    if tunnel == "gre":
        return [draw(ethernet), draw(ip), draw(gre), *inner]
    if tunnel == "mpls":
        at = next(n for n, part in enumerate(inner) if "ipv4" in part or "ipv6" in part)
        return [*inner[:at], *draw(st.lists(mpls, min_size=1, max_size=3)), *inner[at:]]
    return inner


def number(octets):
    return int.from_bytes(octets, "big")


class Receiver:
    """Takes one frame apart by the kinds of its headers and checks what each promises."""

    def __init__(self, frame):
        self.frame = frame
        self.at = 0
        self.pseudo = b""

    def check(self, kinds):
        for kind, following in zip(kinds, [*kinds[1:], None], strict=True):
            data = self.frame[self.at :]
            getattr(self, f"check_{kind}", lambda *_: None)(data, following)
            self.at += HEADER_OCTETS[kind]

    def check_ethernet(self, data, following):
        assert ETHER_TYPES[number(data[12:14])] == following

    def check_vlan(self, data, following):
        assert ETHER_TYPES[number(data[2:4])] == following

    def check_mpls(self, data, following):
        assert data[2] & 1 == (following != "mpls")

    def check_ipv4(self, data, following):
        assert number(data[2:4]) == len(data)
        assert IP_PROTOCOLS[data[9]] == following
        assert ones_complement_sum(data[:20]) == 0xFFFF
        self.pseudo = data[12:20] + bytes([0, data[9]])

    def check_ipv6(self, data, following):
        assert number(data[4:6]) == len(data) - 40
        assert IP_PROTOCOLS[data[6]] == following
        self.pseudo = data[8:40] + bytes([0, data[6]])

    def check_gre(self, data, following):
        assert ETHER_TYPES[number(data[2:4])] == following
        assert ones_complement_sum(data) == 0xFFFF

    def check_udp(self, data, _):
        assert number(data[4:6]) == len(data)
        assert data[6:8] != b"\0\0"
        self.check_tcp(data, _)

    def check_tcp(self, data, _):
        assert ones_complement_sum(self.pseudo + len(data).to_bytes(2, "big") + data) == 0xFFFF

    check_icmpv6 = check_tcp

    def check_icmp(self, data, _):
        assert ones_complement_sum(data) == 0xFFFF


@given(stacks(), st.lists(st.integers(64, 600), min_size=1, max_size=4))
def test_receivers_find_lengths_and_checksums_right(elements, sizes):
    packet = headers(*elements)
    need = sum(header.octets for header in packet) + 4
    sizes = [max(size, need) for size in sizes]
    stream = compile_flow(make_flow(packet, sizes), "s0", PORT).stream
    kinds = [header.kind for header in packet]
    for i in [*range(8), 39, 40, 41, 10**6 + 1]:
        frame = render(stream, i)
        assert len(frame) == sizes[i % len(sizes)] - 4
        Receiver(frame).check(kinds)


words = st.integers(0, 0xFFFF)


@given(
    stacks(),
    st.lists(st.integers(64, 600), min_size=1, max_size=4),
    st.tuples(words, words, words, words, words, words, words),
)
def test_stamps_change_no_checksum(elements, sizes, stamp):
    """Whatever seven words of the stamp are, the eighth makes up for them."""
    packet = headers(*elements)
    need = sum(header.octets for header in packet) + 16 + 4
    sizes = [max(size, need) for size in sizes]
    stream = compile_flow(make_flow(packet, sizes, measured=True), "s0", PORT).stream | {"stamp": 0}
    total = sum(stamp) % 0xFFFF
    tail = b"".join(word.to_bytes(2, "big") for word in ((0xFFFF - total), *stamp))
    kinds = [header.kind for header in packet]
    for i in [*range(8), 39, 40, 41]:
        frame = render(stream, i)
        assert len(frame) == sizes[i % len(sizes)] - 4
        assert frame[-16:] == bytes(16)
        Receiver(frame).check(kinds)
        Receiver(frame[:-16] + tail).check(kinds)


@given(stacks(), st.integers(64, 600))
def test_frames_below_the_headers_are_refused_and_no_others(elements, size):
    packet = headers(*elements)
    need = sum(header.octets for header in packet) + 4
    if size >= need:
        assert check_flow(make_flow(packet, (size,))) == size
    else:
        with pytest.raises(PlanError, match=rf"^flows\[0\]\.size: .* need {need} with FCS$"):
            check_flow(make_flow(packet, (size,)))


def read(frame, bits, before):
    return number(frame) >> (8 * len(frame) - before - bits) & (2**bits - 1)


@given(st.integers(1, 128), st.integers(0, 200), st.data())
def test_pieces_together_are_the_pattern(bits, before, data):
    value = st.integers(0, 2**bits - 1)
    step = st.integers(1 - 2**bits, 2**bits - 1)
    pattern = data.draw(
        st.one_of(
            st.builds(Steps, value, step, st.integers(1, 65536)),
            st.builds(Values, st.lists(value, min_size=1, max_size=9).map(tuple)),
        )
    )
    stream = compile_flow(make_flow(one_field(bits, pattern, before)), "s0", PORT).stream
    for i in [0, 1, 2, 65535, 65536, data.draw(st.integers(0, 10**9))]:
        if isinstance(pattern, Steps):
            expected = (pattern.first + pattern.step * (i % pattern.count)) % 2**bits
        else:
            expected = pattern.values[i % len(pattern.values)]
        assert read(render(stream, i), bits, before) == expected


@given(st.integers(1, 64), st.integers(0, 200), st.data())
def test_random_stays_in_its_range_and_repeats(bits, before, data):
    assume(before % 8 + bits <= 64)  # else the range must be a block
    low, high = sorted(data.draw(st.tuples(*[st.integers(0, 2**bits - 1)] * 2)))
    flow = make_flow(one_field(bits, Random(low, high, 77, 50), before))
    stream = compile_flow(flow, "s0", PORT).stream
    values = [read(render(stream, i), bits, before) for i in range(60)]
    assert low <= min(values) <= max(values) <= high
    assert values[50:] == values[:10]


@given(st.integers(1, 128), st.integers(0, 2**128 - 1), st.integers(-(2**128), 2**128), counts)
def test_windows_are_what_the_engine_takes(bits, first, step, count):
    """The ranges of engine/config/config_decode_field.c."""
    flow = make_flow(one_field(bits, Steps(first % 2**bits, step, count), 3))
    for field in compile_flow(flow, "s0", PORT).stream["fields"]:
        bits = field.get("bits", 8 * field["octets"])
        least = -(2**63) if bits == 64 else 0
        most = min(2**bits, 2**63) - 1
        assert 1 <= field["octets"] <= 8
        assert 0 <= field.get("shift", 0) <= 8 * field["octets"] - bits
        assert all(least <= value <= most for value in field.get("values", [field.get("first")]))
        assert (least or -most) <= field.get("step", 0) <= most
        assert field.get("count", 2) > 1
