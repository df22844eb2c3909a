# SPDX-License-Identifier: BSD-3-Clause
"""What tests of nested headers share: plans of them, and the octets of a decoded header."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any

import pytest
from scapy.layers.inet import checksum

from wirerate.errors import PlanError
from wirerate.plan.fields import Checksum, Fixed, NextHeader, Octets
from wirerate.plan.headers import cfm, ipv6_extension, lacp, macsec, rsvp, snmp
from wirerate.plan.reader import Reader

if TYPE_CHECKING:
    from wirerate.plan.fields import Content, Header

DECODERS = {
    "snmpv2c": snmp.decode,
    "rsvp": rsvp.decode,
    "macsec": macsec.decode,
    "lacp": lacp.decode,
    "ipv6_extension_header": ipv6_extension.decode,
    "cfm": cfm.decode,
}


def decode(kind: str, value: Any) -> Header:
    return DECODERS[kind](Reader(value, f"flows[0].packet[1].{kind}"))


def laid_out(header: Header, following: str | None = "udp") -> bytes:
    """The octets of a header whose fields do not vary."""
    number, bits, checksum_at = 0, 0, None
    for field in header.fields:
        content = field.content
        if isinstance(content, Fixed):
            value = content.value
        elif isinstance(content, Octets):
            assert field.bits == 8 * len(content.data)
            value = int.from_bytes(content.data, "big")
        elif isinstance(content, NextHeader):
            value = content.numbers.get(following or "", content.otherwise)
        else:
            assert content == Checksum("header")
            checksum_at, value = bits // 8, 0
        assert 0 <= value < 1 << field.bits
        number, bits = number << field.bits | value, bits + field.bits
    data = number.to_bytes(bits // 8, "big")
    assert len(data) == header.octets
    if checksum_at is not None:
        data = data[:checksum_at] + struct.pack(">H", checksum(data)) + data[checksum_at + 2 :]
    return data


def octets(kind: str, value: Any, following: str | None = "udp") -> bytes:
    return laid_out(decode(kind, value), following)


def content(header: Header, name: str) -> Content:
    (found,) = (field for field in header.fields if field.name == name)
    return found.content


def refused(kind: str, value: Any, place: str, words: str) -> None:
    with pytest.raises(PlanError) as caught:
        decode(kind, value)
    assert str(caught.value).startswith(f"flows[0].packet[1].{kind}{place}: ")
    assert words in str(caught.value)


def value(number: Any) -> dict[str, Any]:
    return {"value": number}


def srh(routing: Any, **keys: Any) -> dict[str, Any]:
    return {"routing": {"segment_routing": routing}, **keys}


def usid(*containers: Any, **keys: Any) -> dict[str, Any]:
    return {"routing": {"segment_routing_usid": {"segment_list": list(containers), **keys}}}


TWO = [{"segment": value("2001:db8::1")}, {"segment": value("2001:db8::2")}]


OID = "1.3.6.1.2.1.1.1.0"


def get(*bindings: Any, **keys: Any) -> dict[str, Any]:
    return {"data": {"get_request": {"variable_bindings": list(bindings), **keys}}}


def path(*objects: Any, **keys: Any) -> dict[str, Any]:
    return {
        "message_type": {"path": {"objects": [{"class_num": item} for item in objects]}},
        **keys,
    }


SESSION = {
    "session": {
        "c_type": {
            "lsp_tunnel_ipv4": {
                "ipv4_tunnel_end_point_address": value("192.0.2.9"),
                "tunnel_id": value(5),
                "extended_tunnel_id": {"as_ipv4": value("192.0.2.1")},
            }
        }
    }
}
HOP = {"rsvp_hop": {"c_type": {"ipv4": {"ipv4_address": value("192.0.2.1")}}}}
NAMED = {
    "session_attribute": {"c_type": {"lsp_tunnel": {"setup_priority": 3, "session_name": "tunnel"}}}
}
TSPEC = {
    "sender_tspec": {
        "c_type": {
            "int_serv": {
                "token_bucket_rate": 125000000.0,
                "token_bucket_size": 1500,
                "peak_data_rate": math.inf,
                "minimum_policed_unit": value(64),
                "maximum_packet_size": value(1500),
            }
        }
    }
}
EXPLICIT = {
    "explicit_route": {
        "c_type": {
            "type_1": {
                "subobjects": [
                    {"type": {"ipv4_prefix": {"ipv4_address": value("192.0.2.0"), "prefix": 24}}},
                    {"type": {"as_number": {"l_bit": value(1), "as_number": 65001}}},
                ]
            }
        }
    }
}
RECORD = {
    "record_route": {
        "c_type": {
            "type_1": {
                "subobjects": [
                    {
                        "type": {
                            "ipv4_address": {
                                "ipv4_address": value("192.0.2.1"),
                                "flags": {"choice": "local_protection_in_use"},
                            }
                        }
                    },
                    {"type": {"label": {"label": {"as_integer": 0x12345}}}},
                ]
            }
        }
    }
}
WHOLE = path(
    SESSION,
    HOP,
    {"choice": "time_values"},
    EXPLICIT,
    {"choice": "label_request"},
    NAMED,
    {"choice": "sender_template"},
    TSPEC,
    RECORD,
)


def ccm(association: Any, **keys: Any) -> dict[str, Any]:
    return {"op_code": {"ccm": {"ethernet_oam_protocol": {"cfm": association}, **keys}}}


NAMES = {"md_name": {"char_str": "md"}, "short_ma_name": {"char_str": "ma1"}}
