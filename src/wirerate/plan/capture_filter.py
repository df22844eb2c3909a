# SPDX-License-Identifier: BSD-3-Clause
"""OTG's filters of a capture to one expression of libpcap.

All conditions must hold. The filters of a list say what a frame's headers are: ``ethernet`` from
octet 0, then a tag of 4 octets for each ``vlan``, then ``ipv4`` or ``ipv6``. Fields are compared
as octets (``ether[12:2] & 0xfff0 = 0x0800``), since libpcap's words know neither masks nor most of
these fields. Called by `wirerate.plan.decode_captures`; pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.headers.patterns import parse_number
from wirerate.plan.reader import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.reader import Reader

_BRANCHES = ("custom", "ethernet", "vlan", "ipv4", "ipv6")
_ETHERNET = (("dst", 48), ("src", 48), ("ether_type", 16))
_VLAN = (("priority", 3), ("cfi", 1), ("id", 12), ("protocol", 16))
_IPV4 = (
    ("version", 4),
    ("header_length", 4),
    ("priority", 8),
    ("total_length", 16),
    ("identification", 16),
    ("reserved", 1),
    ("dont_fragment", 1),
    ("more_fragments", 1),
    ("fragment_offset", 13),
    ("time_to_live", 8),
    ("protocol", 8),
    ("header_checksum", 16),
    ("src", 32),
    ("dst", 32),
)
_IPV6 = (
    ("version", 4),
    ("traffic_class", 8),
    ("flow_label", 20),
    ("payload_length", 16),
    ("next_header", 8),
    ("hop_limit", 8),
    ("src", 128),
    ("dst", 128),
)
_TYPE_AT = 12
_HEADER_OCTETS = 14
_TAG_OCTETS = 4
_TAG_TYPES = (0x8100, 0x88A8, 0x9100)
_IP = {"ipv4": (0x0800, _IPV4), "ipv6": (0x86DD, _IPV6)}
_OFFSET_MAX = 16_383
_BITS_MAX = 8 * 128
_WORD_OCTETS = 4
"""Most octets that libpcap compares at once."""


def decode_filters(readers: Sequence[Reader]) -> str:
    """The expression of a list of filters, empty where it has no condition. Raises PlanError."""
    terms: list[str] = []
    tags = 0
    ip: str | None = None
    for reader in readers:
        branch = reader.choice(_BRANCHES)
        child = reader.branch(branch)
        if branch == "custom":
            terms += _custom(child)
        elif branch == "ethernet":
            child.unsupported("pfc_queue", "queues of priority flow control")
            terms += _fields(child, _ETHERNET, 0)
        elif ip is not None:
            reader.fail(branch, f"it comes behind {ip}; a frame has VLAN tags first, then one IP")
        elif branch == "vlan":
            terms.append(_one_of(_TYPE_AT + _TAG_OCTETS * tags, _TAG_TYPES))
            terms += _fields(child, _VLAN, _HEADER_OCTETS + _TAG_OCTETS * tags)
            tags += 1
        else:
            ip = branch
            ether_type, fields = _IP[branch]
            terms.append(_one_of(_TYPE_AT + _TAG_OCTETS * tags, (ether_type,)))
            terms += _fields(child, fields, _HEADER_OCTETS + _TAG_OCTETS * tags)
        child.done()
        reader.done()
    return " and ".join(terms)


def _one_of(offset: int, types: Sequence[int]) -> str:
    found = " or ".join(f"ether[{offset}:2] = {number:#06x}" for number in types)
    return f"({found})" if len(types) > 1 else found


def _custom(reader: Reader) -> list[str]:
    if "offset" not in reader:
        reader.fail("offset", "it is missing; give the octet at which the value stands")
    offset = reader.integer("offset", 0, _OFFSET_MAX)
    bits = reader.integer("bit_length", 1, _BITS_MAX, 8)
    return _condition(reader, 8 * offset, bits)


def _fields(reader: Reader, fields: Sequence[tuple[str, int]], offset: int) -> list[str]:
    """The conditions of a header that begins at an octet."""
    terms = []
    bit = 8 * offset
    for name, bits in fields:
        field = reader.child(name)
        if field is not None:
            terms += _condition(field, bit, bits)
            field.done()
        bit += bits
    return terms


def _condition(reader: Reader, bit: int, bits: int) -> list[str]:
    """Value, mask and negate of a field; one condition, or none where nothing is compared.

    A mask that is left out compares the whole field.
    """
    value = _digits(reader, "value", bits, 0)
    whole = (1 << bits) - 1
    mask = _digits(reader, "mask", bits, whole if "value" in reader else 0)
    negate = reader.boolean("negate", default=False)
    if value & ~mask:
        reader.fail(
            "mask",
            f"it compares no more than the bits {mask:#x}, but the value is {value:#x}; widen the "
            "mask, or leave it out to compare all of the field",
        )
    if mask == 0:
        if negate:
            reader.fail("negate", "the mask compares nothing, so no frame would do; give a mask")
        return []
    return [_comparison(bit, bits, value, mask, negate=negate)]


def _digits(reader: Reader, key: str, bits: int, default: int) -> int:
    value = reader.raw(key, None)
    if value is None:
        return default
    if not isinstance(value, str):
        reader.fail(key, f"{shown(value)} is not a string of hexadecimal digits; put it in quotes")
    return parse_number(value, reader.place(key), bits, "hex")


def _comparison(bit: int, bits: int, value: int, mask: int, *, negate: bool) -> str:
    """Compare ``bits`` from ``bit`` of the frame, in words that libpcap reads."""
    first, last = bit // 8, (bit + bits - 1) // 8
    below = 8 * (last + 1) - bit - bits
    octets = last + 1 - first
    values = (value << below).to_bytes(octets, "big")
    masks = (mask << below).to_bytes(octets, "big")
    terms = []
    at = 0
    while at < octets:
        size = next(n for n in (_WORD_OCTETS, 2, 1) if at + n <= octets)
        word = int.from_bytes(masks[at : at + size], "big")
        if word:
            masked = "" if word == (1 << 8 * size) - 1 else f" & {word:#x}"
            number = int.from_bytes(values[at : at + size], "big")
            terms.append(f"ether[{first + at}:{size}]{masked} = {number:#x}")
        at += size
    text = " and ".join(terms)
    if negate:
        return f"not ({text})"
    return text
