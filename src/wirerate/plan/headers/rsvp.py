# SPDX-License-Identifier: BSD-3-Clause
"""RSVP messages: the common header, RFC 2205 section 3.1.1, and the objects of a Path message.

The checksum covers the message as its length says, not what may follow it in the frame. Objects
are sent in the order of the plan, none is added: leaving one out or exchanging two is a test too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.fields import Checksum, Field
from wirerate.plan.headers.nested import (
    assemble,
    length_field,
    number,
    octets_of,
    pattern,
)
from wirerate.plan.headers.patterns import decode_pattern
from wirerate.plan.headers.rsvp_objects import decode_object
from wirerate.plan.headers.table import child_or_empty

if TYPE_CHECKING:
    from wirerate.plan.fields import Header
    from wirerate.plan.reader import Reader

_MESSAGE_TYPES = {"path": 1}
_HEADER_OCTETS = 8
# RFC 2961 section 2: bit 0x01.
_FLAGS = {"not_refresh_reduction_capable": 0, "refresh_reduction_capable": 1}


def decode(reader: Reader) -> Header:
    """The header of OTG's ``rsvp``. Raises PlanError."""
    message = child_or_empty(reader, "message_type")
    chosen = message.choice(tuple(_MESSAGE_TYPES), "path")
    body = child_or_empty(message, chosen)
    objects = [field for entry in body.children("objects") for field in decode_object(entry)]
    body.done()
    message.done()
    fields = [
        number(reader, "version", 4, reader.integer("version", 0, 15, 1)),
        number(
            reader,
            "flag",
            4,
            _FLAGS[reader.one_of("flag", tuple(_FLAGS), "not_refresh_reduction_capable")],
        ),
        number(reader, "message_type", 8, _MESSAGE_TYPES[chosen]),
        Field(
            reader.place("rsvp_checksum"),
            16,
            decode_pattern(reader, "rsvp_checksum", 16, Checksum("header")),
        ),
        pattern(reader, "time_to_live", 8, 64),
        pattern(reader, "reserved", 8, 0),
        length_field(reader, "rsvp_length", 16, _HEADER_OCTETS + octets_of(objects)),
        *objects,
    ]
    reader.done()
    return assemble("rsvp", reader, fields)
