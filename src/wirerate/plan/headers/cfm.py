# SPDX-License-Identifier: BSD-3-Clause
"""CFM frames (CCM, LBM, LBR): IEEE 802.1Q-2018 clause 21.

Only the lengths and types that OTG has patterns for can vary; names and addresses are the same in
every frame. A length that is given says only what its field claims.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.headers.nested import (
    assemble,
    auto_pattern,
    hex_octets,
    length_field,
    number,
    octets,
    octets_of,
    pattern,
    text_octets,
)
from wirerate.plan.headers.patterns import parse_number
from wirerate.plan.headers.table import child_or_empty

if TYPE_CHECKING:
    from wirerate.plan.fields import Field, Header
    from wirerate.plan.headers.patterns import Kind
    from wirerate.plan.reader import Reader

_OPCODES = {"ccm": 1, "lbr": 2, "lbm": 3}
_CCM_FIRST_TLV = 70  # octets from behind that field: 21.6.1
_LOOPBACK_FIRST_TLV = 4  # 21.7.3
_MAID_OCTETS = 48
_ITU_OCTETS = 16  # "defined by ITU-T Y.1731", zero: table 21-11
_DOMAIN_NAME_MAX = 43
_ASSOCIATION_NAME_MAX = 45
_PORT_STATUS = {"port_blocked": 1, "port_up": 2}
_INTERFACE_STATUS = {
    "up": 1,
    "down": 2,
    "testing": 3,
    "unknown": 4,
    "dormant": 5,
    "not_present": 6,
    "lower_layer_down": 7,
}
# IEEE 802.1AB-2016 table 8-2.
_CHASSIS_SUBTYPES = {
    "chassis_component": 1,
    "interface_alias": 2,
    "port_component": 3,
    "mac_address": 4,
    "network_address": 5,
    "interface_name": 6,
    "locally_assigned": 7,
}
_CHASSIS_TEXT_MAX = 255
# IANA address family numbers, bits of an address, OTG's default.
_FAMILIES: dict[Kind, tuple[int, int, str]] = {
    "ipv4": (1, 32, "0.0.0.0"),  # noqa: S104 -- an address to send
    "ipv6": (2, 128, "::"),
}


def decode(reader: Reader) -> Header:
    """The header of OTG's ``cfm``. Raises PlanError."""
    level = number(reader, "md_level", 3, reader.integer("md_level", 0, 7, 0))
    version = number(reader, "version", 5, reader.integer("version", 0, 31, 0))
    op_code = child_or_empty(reader, "op_code")
    chosen = op_code.choice(tuple(_OPCODES), "ccm")
    body = child_or_empty(op_code, chosen)
    fields = [
        level,
        version,
        number(reader, "op_code", 8, _OPCODES[chosen]),
        *(_continuity_check(body) if chosen == "ccm" else _loopback(body)),
        *_tlvs(body),
    ]
    body.done()
    op_code.done()
    reader.done()
    return assemble("cfm", reader, fields)


def _continuity_check(body: Reader) -> list[Field]:
    """A CCM from its flags to its first TLV (21.6)."""
    flags = child_or_empty(body, "flags")
    protocol = child_or_empty(body, "ethernet_oam_protocol")
    protocol.choice(("cfm",), "cfm")
    identifier = child_or_empty(protocol, "cfm")
    fields = [
        number(flags, "rdi", 1, int(flags.boolean("rdi", default=False))),
        number(flags, "reserved", 4, 0),
        number(flags, "ccm_interval", 3, flags.integer("ccm_interval", 0, 7, 4)),
        number(body, "first_tlv_offset", 8, _CCM_FIRST_TLV),
        pattern(body, "sequence_number", 32, 0),
        pattern(body, "ma_endpoint_identifier", 16, 1),
        *_association(identifier),
        octets(body, "itu", bytes(_ITU_OCTETS)),
    ]
    identifier.done()
    protocol.done()
    flags.done()
    return fields


def _loopback(body: Reader) -> list[Field]:
    """An LBM or LBR from its flags to its first TLV (21.7)."""
    return [
        number(body, "flags", 8, 0),
        number(body, "first_tlv_offset", 8, _LOOPBACK_FIRST_TLV),
        pattern(body, "transaction_id", 32, 0),
    ]


def _association(identifier: Reader) -> list[Field]:
    """The MAID, always 48 octets (21.6.5)."""
    fields = [
        *_domain_name(identifier),
        *_association_name(child_or_empty(identifier, "short_ma_name")),
    ]
    filler = _MAID_OCTETS - octets_of(fields)
    if filler < 0:
        identifier.fail(
            None,
            f"the names have {_MAID_OCTETS - filler} octets with formats and lengths; "
            f"there is room for {_MAID_OCTETS}",
        )
    return [*fields, octets(identifier, "padding", bytes(filler))] if filler else fields


def _domain_name(identifier: Reader) -> list[Field]:
    """The maintenance domain's name (table 21-19); format 1, without a length, where absent."""
    name = identifier.child("md_name")
    if name is None:
        return [number(identifier, "md_name", 8, 1)]
    chosen = name.choice(("domain_name_str", "mac_addr", "char_str"), "char_str")
    if chosen == "mac_addr":
        format_, data = 3, _mac_and_number(child_or_empty(name, "mac_addr"))
    else:
        format_ = 2 if chosen == "domain_name_str" else 4
        data = _name(name, chosen, _DOMAIN_NAME_MAX, "leave md_name out where there is none")
    return _formatted(name, format_, chosen, data)


def _association_name(name: Reader) -> list[Field]:
    """The maintenance association's short name (table 21-20)."""
    chosen = name.choice(("primary_vid", "char_str", "two_oct_int", "rfc_2685_vpn_id"), "char_str")
    if chosen == "primary_vid":
        format_, data = 1, name.integer(chosen, 1, 4094, 1).to_bytes(2, "big")
    elif chosen == "char_str":
        format_ = 2
        data = _name(name, chosen, _ASSOCIATION_NAME_MAX, "a CCM must have one")
    elif chosen == "two_oct_int":
        format_, data = 3, name.integer(chosen, 0, 0xFFFF, 0).to_bytes(2, "big")
    else:
        format_, data = 4, hex_octets(name, chosen, "00" * 7, least=7, most=7)
    return _formatted(name, format_, chosen, data)


def _formatted(name: Reader, format_: int, key: str, data: bytes) -> list[Field]:
    fields = [
        number(name, "format", 8, format_),
        length_field(name, "length", 8, len(data), plain=1),
        octets(name, key, data),
    ]
    name.done()
    return fields


def _name(reader: Reader, key: str, most: int, advice: str) -> bytes:
    data = text_octets(reader, key, most=most)
    if not data:
        reader.fail(key, f"the name is empty; give 1 to {most} characters; {advice}")
    return data


def _mac_and_number(part: Reader) -> bytes:
    mac = parse_number(part.raw("mac", "00:00:00:00:00:00"), part.place("mac"), 48, "mac")
    data: bytes = mac.to_bytes(6, "big") + part.integer("id", 0, 0xFFFF, 0).to_bytes(2, "big")
    part.done()
    return data


def _tlvs(body: Reader) -> list[Field]:
    """The TLVs and the End TLV behind them (21.5)."""
    fields = []
    for entry in body.children("tlvs"):
        chosen = entry.choice(("sender_id", "port_status", "interface_status", "data"), "sender_id")
        part = child_or_empty(entry, chosen)
        type_, value = _tlv(part, chosen)
        fields += [
            number(entry, "type", 8, type_),
            auto_pattern(entry, "length", 16, octets_of(value)),
            *value,
        ]
        part.done()
        entry.done()
    if body.boolean("append_end_tlv", default=True):
        fields.append(number(body, "end_tlv", 8, 0))
    return fields


def _tlv(part: Reader, chosen: str) -> tuple[int, list[Field]]:
    """Type and value of a TLV (table 21-6)."""
    if chosen == "sender_id":
        return 1, _sender_id(part)
    if chosen == "data":
        data = hex_octets(part, "data", "00")
        return 3, [octets(part, "data", data)]
    type_, words, default = (
        (2, _PORT_STATUS, "port_up") if chosen == "port_status" else (4, _INTERFACE_STATUS, "up")
    )
    status = words[part.one_of("status", tuple(words), default)]
    return type_, [number(part, "status", 8, status)]


def _sender_id(part: Reader) -> list[Field]:
    """Chassis ID and management address (21.5.3); without the first, only its length of 0."""
    chassis = part.child("chassis_id")
    if chassis is None:
        return [number(part, "chassis_id", 8, 0)]
    chosen = chassis.choice(tuple(_CHASSIS_SUBTYPES), "mac_address")
    data = _chassis(chassis, chosen)
    fields = [
        # of the identifier without its subtype: 21.5.3.1
        length_field(chassis, "length", 8, len(data), plain=1),
        number(chassis, "subtype", 8, _CHASSIS_SUBTYPES[chosen]),
        octets(chassis, chosen, data),
        *_management(chassis),
    ]
    chassis.done()
    return fields


def _chassis(chassis: Reader, chosen: str) -> bytes:
    if chosen == "mac_address":
        text = chassis.raw(chosen, "00:00:00:00:00:00")
        return parse_number(text, chassis.place(chosen), 48, "mac").to_bytes(6, "big")
    if chosen != "network_address":
        return _name(chassis, chosen, _CHASSIS_TEXT_MAX, "leave chassis_id out where there is none")
    address = child_or_empty(chassis, chosen)
    family: Kind = "ipv6" if address.choice(tuple(_FAMILIES), "ipv4") == "ipv6" else "ipv4"
    code, bits, default = _FAMILIES[family]
    number_ = parse_number(address.raw(family, default), address.place(family), bits, family)
    address.done()
    return bytes([code]) + number_.to_bytes(bits // 8, "big")


def _management(chassis: Reader) -> list[Field]:
    domain = chassis.child("management_address_domain")
    if domain is None:
        return [number(chassis, "management_address_domain", 8, 0)]
    oid = hex_octets(domain, "domain", "00", least=1, most=255)
    fields = [
        length_field(domain, "length", 8, len(oid), plain=1),
        octets(domain, "domain", oid),
    ]
    address = domain.child("management_address")
    if address is None:
        fields.append(number(domain, "management_address", 8, 0))
    else:
        data = hex_octets(address, "address", "00", least=1, most=255)
        fields += [
            length_field(address, "length", 8, len(data), plain=1),
            octets(address, "address", data),
        ]
        address.done()
    domain.done()
    return fields
