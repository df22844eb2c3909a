# SPDX-License-Identifier: BSD-3-Clause
"""Decode one element of a packet list, and look at what comes out."""

from typing import Any

import pytest

from wirerate.errors import PlanError
from wirerate.plan.fields import Fixed, Header, Octets
from wirerate.plan.headers import decode_header
from wirerate.plan.reader import Reader

PLACE = "flows[2].packet[1]"


def decode(element: Any) -> Header:
    """The header of one element at PLACE."""
    return decode_header(Reader(element, PLACE))


def content(element: Any, name: str) -> Any:
    """What the field of that name carries."""
    return next(field.content for field in decode(element).fields if field.name == name)


def refusal(element: Any) -> str:
    """The message with which the element is refused."""
    with pytest.raises(PlanError) as caught:
        decode(element)
    return str(caught.value)


def octets_of(header: Header) -> str:
    """Its octets in hexadecimal; what depends on the frame is zeros."""
    number = 0
    for field in header.fields:
        carried = field.content
        if isinstance(carried, Octets):
            value = int.from_bytes(carried.data, "big")
        else:
            value = carried.value if isinstance(carried, Fixed) else 0
        assert value < 1 << field.bits
        number = number << field.bits | value
    return number.to_bytes(header.octets, "big").hex()
