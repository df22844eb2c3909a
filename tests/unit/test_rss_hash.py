# SPDX-License-Identifier: BSD-3-Clause
"""Toeplitz's hash against Microsoft's verification vectors; what of a packet is hashed."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from wirerate.plan.rss_hash import (
    DEFAULT_KEY,
    FIELDS,
    SYMMETRIC_KEY,
    Layer4,
    Rss,
    RssFlow,
    hash_input,
    imbalance,
    toeplitz,
)

# "Verifying the RSS Hash Calculation", Microsoft's NDIS documentation: destination and its port,
# source and its port, hash of the addresses, hash of addresses and ports.
VECTORS = (
    ("161.142.100.80", 1766, "66.9.149.187", 2794, 0x323E8FC2, 0x51CCC178),
    ("65.69.140.83", 4739, "199.92.111.2", 14230, 0xD718262A, 0xC626B0EA),
    ("12.22.207.184", 38024, "24.19.198.95", 12898, 0xD2D0A5DE, 0x5C2B394A),
    ("209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176, 0xAFC7327F),
    ("202.188.127.2", 1303, "153.39.163.191", 44251, 0x5D1809C5, 0x10E828A2),
    ("3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2CC18CD5, 0x40207D3D),
    ("ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0F0C461C, 0xDDE51BBF),
    (
        "fe80::200:f8ff:fe21:67cf",
        38024,
        "3ffe:1900:4545:3:200:f8ff:fe21:67cf",
        44251,
        0x4B61E985,
        0x02D1FEEF,
    ),
)
RETA = tuple(range(4)) * 32


def flow(source: str, destination: str, ports: tuple[int, int], layer4: Layer4) -> RssFlow:
    return RssFlow(ip_address(source), ip_address(destination), layer4, *ports)


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("layer4", [Layer4.UDP, Layer4.TCP])
def test_verification_vectors(vector: tuple[str, int, str, int, int, int], layer4: Layer4) -> None:
    destination, destination_port, source, source_port, addresses, all_of_it = vector
    packet = flow(source, destination, (source_port, destination_port), layer4)
    whole = Rss(DEFAULT_KEY, frozenset(FIELDS), RETA)
    ip_alone = Rss(DEFAULT_KEY, frozenset({"ipv4", "ipv6"}), RETA)
    assert whole.hash_of(packet) == all_of_it
    assert ip_alone.hash_of(packet) == addresses
    assert whole.queue_of(all_of_it) == all_of_it % 4


def test_what_is_hashed() -> None:
    udp = flow("10.0.0.1", "10.0.0.2", (1, 2), Layer4.UDP)
    plain = flow("10.0.0.1", "10.0.0.2", (0, 0), Layer4.NONE)
    addresses = bytes([10, 0, 0, 1, 10, 0, 0, 2])
    assert hash_input(udp, frozenset({"ipv4-udp"})) == addresses + b"\0\1\0\2"
    assert hash_input(udp, frozenset({"ipv4", "ipv4-tcp"})) == addresses
    assert hash_input(plain, frozenset({"ipv4", "ipv4-udp"})) == addresses
    assert hash_input(plain, frozenset({"ipv4-udp"})) is None
    assert hash_input(udp, frozenset({"ipv6", "ipv6-udp"})) is None


def test_what_is_not_hashed_goes_to_queue_0() -> None:
    rss = Rss(DEFAULT_KEY, frozenset({"ipv6"}), (3, 3))
    assert rss.hash_of(flow("10.0.0.1", "10.0.0.2", (1, 2), Layer4.UDP)) is None
    assert rss.queue_of(None) == 0


def test_both_ways_of_a_connection_have_one_symmetric_hash() -> None:
    rss = Rss(SYMMETRIC_KEY, frozenset(FIELDS), RETA)
    there = flow("fd00::1", "fd00::2", (1024, 9), Layer4.TCP)
    back = flow("fd00::2", "fd00::1", (9, 1024), Layer4.TCP)
    assert rss.hash_of(there) == rss.hash_of(back)
    assert Rss(DEFAULT_KEY, rss.fields, RETA).hash_of(there) != Rss(
        DEFAULT_KEY, rss.fields, RETA
    ).hash_of(back)


def test_a_longer_key_changes_nothing() -> None:
    octets = bytes(range(36))
    assert toeplitz(DEFAULT_KEY + bytes(12), octets) == toeplitz(DEFAULT_KEY, octets)


def test_a_short_key_is_no_key() -> None:
    with pytest.raises(ValueError, match="too short"):
        toeplitz(bytes(15), bytes(12))


@pytest.mark.parametrize(
    ("info", "complete"),
    [
        ({"key": DEFAULT_KEY.hex(), "fields": ["ipv4"], "reta": [0, 1]}, True),
        ({"key": None, "fields": ["ipv4"], "reta": [0, 1]}, False),
        ({"key": DEFAULT_KEY.hex(), "fields": ["ipv4"], "reta": []}, False),
    ],
)
def test_of_info(info: dict[str, object], complete: bool) -> None:  # noqa: FBT001
    rss = Rss.of_info({"rss": info})
    assert rss is not None
    assert rss.complete is complete
    assert Rss.of_info({"rss": None}) is None


def test_imbalance() -> None:
    even, one = imbalance([5, 5, 5, 5]), imbalance([0, 20, 0, 0])
    assert even is not None
    assert one is not None
    assert (even.max_over_mean, even.jain) == (1.0, 1.0)
    assert (one.max_over_mean, one.jain) == (4.0, 0.25)
    assert imbalance([0, 0]) is None


def test_how_a_flow_is_written() -> None:
    assert str(flow("10.0.0.1", "10.0.0.2", (1, 2), Layer4.UDP)) == "10.0.0.1:1 > 10.0.0.2:2 udp"
    assert str(flow("fd00::1", "fd00::2", (1, 2), Layer4.TCP)) == "[fd00::1]:1 > [fd00::2]:2 tcp"
    assert str(flow("10.0.0.1", "10.0.0.2", (0, 0), Layer4.NONE)) == "10.0.0.1 > 10.0.0.2"
