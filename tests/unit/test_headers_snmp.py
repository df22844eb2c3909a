# SPDX-License-Identifier: BSD-3-Clause
"""SNMPv2c messages, against Scapy and octets worked out from X.690."""

import pytest
from scapy.asn1.asn1 import ASN1_COUNTER64, ASN1_IPADDRESS, ASN1_OID, ASN1_TIME_TICKS
from scapy.layers.snmp import SNMP, SNMPbulk, SNMPget, SNMPresponse, SNMPvarbind

from support.nested_headers import OID, decode, get, octets, refused, value
from wirerate.plan.fields import Fixed, Octets, Steps, Values
from wirerate.plan.headers.nested import bounds


def test_get_request_as_scapy_builds_it():
    ours = octets(
        "snmpv2c",
        {"community": "public"}
        | get({"object_identifier": OID}, request_id=value(70000), error_index=value(200)),
    )
    theirs = SNMP(
        version=1,
        community="public",
        PDU=SNMPget(id=70000, error_index=200, varbindlist=[SNMPvarbind(oid=OID)]),
    )
    assert ours == bytes(theirs)


def test_bulk_request_as_scapy_builds_it():
    bulk = {
        "request_id": value(-129),
        "non_repeaters": value(1),
        "max_repetitions": value(300),
        "variable_bindings": [{"object_identifier": ".1.3.6.1.4.1.99999"}],
    }
    theirs = SNMP(
        version=1,
        community="community",
        PDU=SNMPbulk(
            id=-129,
            non_repeaters=1,
            max_repetitions=300,
            varbindlist=[SNMPvarbind(oid="1.3.6.1.4.1.99999")],
        ),
    )
    assert octets("snmpv2c", {"data": {"get_bulk_request": bulk}}) == bytes(theirs)


def test_long_response_as_scapy_builds_it():
    bindings = [
        {"integer_value": value(-5)},
        {"string_value": {"ascii": "x" * 300}},
        {"object_identifier_value": "1.3.6.1.4.1"},
        {"ip_address_value": value("198.18.0.1")},
        {"timeticks_value": value(128)},
        {"big_counter_value": value("2147483647")},
    ]
    values = [
        -5,
        "x" * 300,
        ASN1_OID("1.3.6.1.4.1"),
        ASN1_IPADDRESS("198.18.0.1"),
        ASN1_TIME_TICKS(128),
        ASN1_COUNTER64((1 << 31) - 1),
    ]
    response = {
        "error_status": "inconsistent_name",
        "variable_bindings": [{"object_identifier": OID, "value": item} for item in bindings],
    }
    theirs = SNMP(
        version=1,
        community="community",
        PDU=SNMPresponse(
            id=0, error=18, varbindlist=[SNMPvarbind(oid=OID, value=item) for item in values]
        ),
    )
    assert octets("snmpv2c", {"data": {"response": response}}) == bytes(theirs)


@pytest.mark.parametrize(
    ("given", "expected"),
    # X.690 sections 8.3, 8.19 and 8.8; the tags of RFC 2578 section 7.1.
    [
        ({}, "0500"),
        ({"choice": "no_value"}, "0500"),
        ({"integer_value": value(127)}, "02017f"),
        ({"integer_value": value(128)}, "02020080"),
        ({"integer_value": value(-128)}, "020180"),
        ({"integer_value": value(-(1 << 31))}, "020480000000"),
        ({"counter_value": value(0xFFFFFFFF)}, "410500ffffffff"),
        ({"unsigned_integer_value": value(0x80)}, "42020080"),
        ({"timeticks_value": {}}, "430100"),
        ({"big_counter_value": value(str((1 << 64) - 1))}, "460900ffffffffffffffff"),
        ({"arbitrary_value": "9f7804"}, "44039f7804"),
        ({"string_value": {"raw": "00ff"}}, "040200ff"),
        ({"string_value": {}}, "04056173636969"),
        ({"object_identifier_value": "2.999.3"}, "0603883703"),
        ({"choice": "object_identifier_value"}, "060101"),
    ],
)
def test_values(given, expected):
    data = octets("snmpv2c", get({"object_identifier": "1.3", "value": given}))
    assert data.endswith(bytes.fromhex("06012b" + expected))


@pytest.mark.parametrize(
    ("name", "tag"),
    # RFC 3416 section 3.
    [
        ("get_request", 0xA0),
        ("get_next_request", 0xA1),
        ("response", 0xA2),
        ("set_request", 0xA3),
        ("get_bulk_request", 0xA5),
        ("inform_request", 0xA6),
        ("snmpv2_trap", 0xA7),
        ("report", 0xA8),
    ],
)
def test_units_of_snmp(name, tag):
    data = octets("snmpv2c", {"community": "c", "data": {"choice": name}})
    assert data == bytes.fromhex(f"3013020101040163{tag:02x}0b020100020100020100") + b"\x30\x00"


def pieces(header, start):
    """Hexadecimal digits or contents, from the first field whose name starts so."""
    names = [field.name for field in header.fields]
    first = next(index for index, name in enumerate(names) if name.startswith(start))
    return [
        (field.content.data.hex() if isinstance(field.content, Octets) else field.content)
        for field in header.fields[first:]
    ]


def test_what_varies_has_room_for_every_value():
    bindings = [
        {"integer_value": {"values": [-1, 1]}},
        {"counter_value": {"increment": {"count": 10}}},
        {"counter_value": {"increment": {"start": 0x7FFFFFFF, "count": 2}}},
        {"big_counter_value": {"decrement": {"start": 5, "count": 2}}},
    ]
    pdu = {
        "request_id": {"increment": {"start": -1, "count": 5}},
        "error_index": {"decrement": {"start": 1, "count": 3}},
        "variable_bindings": [{"object_identifier": "1.3", "value": item} for item in bindings],
    }
    header = decode("snmpv2c", {"version": {"values": [1, 127]}, "data": {"get_request": pdu}})
    assert pieces(header, "envelope") == [
        "3052",
        "0201",
        Values((1, 127)),
        "0409" + b"community".hex(),
        "a042",
        "0204",
        Steps(0xFFFFFFFF, 1, 5),
        "020100",
        "0204",
        Fixed(0),
        Steps(1, -1, 3),
        "3031",
        "3009",
        "06012b",
        "0204",
        Values((0xFFFFFFFF, 1)),
        "3009",
        "06012b",
        "4104",
        Steps(0, 1, 10),
        "300a",
        "06012b",
        "4105",
        Fixed(0),
        Steps(0x7FFFFFFF, 1, 2),
        "300d",
        "06012b",
        "4608",
        Steps(5, -1, 2),
    ]
    # The sign of error_index is one bit and its value 31, so that a wrap never turns negative.
    assert [field.bits for field in header.fields if "error_index" in field.name] == [16, 1, 31]
    assert header.octets == 2 + 0x52


def test_bounds():
    assert bounds(Fixed(7), 8) == (7, 7)
    assert bounds(Values((3, 9, 1)), 8) == (1, 9)
    assert bounds(Steps(10, -3, 4), 8) == (1, 10)
    assert bounds(Steps(250, 1, 7), 8) == (0, 255)
    assert bounds(Steps(0, -1, 2), 8) == (0, 255)


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        ({}, ".data", "must be there"),
        ({"community": "grün"} | get(), ".community", "not ASCII"),
        ({"community": "x" * 10001} | get(), ".community", "10001 octets"),
        (get(error_status="fine"), ".data.get_request.error_status", "not one of"),
        (get(error_index=value(1 << 31)), ".data.get_request.error_index.value", "2147483647"),
        (get(request_id=value(1 << 31)), ".data.get_request.request_id.value", "not between"),
        (get(non_repeaters=value(0)), ".data.get_request.non_repeaters", "no such key"),
        *(
            (
                get({"object_identifier": name}),
                ".data.get_request.variable_bindings[0].object_identifier",
                words,
            )
            for name, words in [
                ("1", "not an object identifier"),
                ("1.x", "not an object identifier"),
                ("3.1", "must start"),
                ("1.40", "must start"),
                ("1.3.4294967296", "128 parts"),
                (".".join(["1"] * 129), "128 parts"),
            ]
        ),
        (
            get({"value": {"arbitrary_value": "zz"}}),
            ".data.get_request.variable_bindings[0].value.arbitrary_value",
            "hexadecimal",
        ),
        (
            get({"value": {"no_value": {}}}),
            ".data.get_request.variable_bindings[0].value.no_value",
            "no content",
        ),
    ],
)
def test_refused_snmp(given, place, words):
    refused("snmpv2c", given, place, words)
