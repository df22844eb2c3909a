# SPDX-License-Identifier: BSD-3-Clause
"""What a flow may have besides OTG, its ``x-wirerate`` (docs/design/0003-plans.md).

The frames of a capture file instead of a packet, a ramp of flows, whole bursts. Called by
`wirerate.plan.decode_flow`; pure, files are not opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.plan.model import Ramp, Trace
from wirerate.plan.reader import EXTENSION
from wirerate.units import FRAME_SIZE_MAX, frame_len_no_fcs

if TYPE_CHECKING:
    from wirerate.plan.reader import Reader

SPEED_MIN = 1e-6
SPEED_MAX = 1e6
"""Range of a trace's ``speed``: times slower or faster than the file."""

FLOWS_MAX = 1 << 32
"""Most flows of a ramp."""
PER_SECOND_MIN = 1e-6
PER_SECOND_MAX = 1e12
"""Range of the flows that a ramp adds each second."""
HOLD_MAX_S = 366 * 86400
"""Longest time for which a ramp holds all flows [s]."""

_NS_PER_S = 10**9
_HEX_WITH_COLONS = re.compile(r"[0-9a-fA-F]{2}(?::?[0-9a-fA-F]{2})*")


@dataclass(frozen=True)
class Extension:
    """What a flow has of it; nothing by default."""

    trace: Trace | None = None
    ramp: Ramp | None = None
    whole_bursts: bool = False


def decode_extension(flow: Reader, base: Path | None) -> Extension:
    """Read a flow's ``x-wirerate``; traces with relative names lie in ``base``.

    Raises PlanError.
    """
    reader = flow.child(EXTENSION)
    if reader is None:
        return Extension()
    trace, ramp = reader.child("trace"), reader.child("ramp")
    if trace is not None and ramp is not None:
        reader.fail("ramp", "a trace has its own flows; leave out one of the two")
    extension = Extension(
        None if trace is None else _decode_trace(trace, base),
        None if ramp is None else _decode_ramp(ramp),
        reader.boolean("whole_bursts", default=False),
    )
    reader.done()
    return extension


def _decode_ramp(reader: Reader) -> Ramp:
    flows = reader.integer("flows", 1, FLOWS_MAX)
    hold_s = reader.number("hold_seconds", 0, HOLD_MAX_S, None)
    ramp = Ramp(
        flows=flows,
        per_second=float(reader.number("per_second", PER_SECOND_MIN, PER_SECOND_MAX)),
        start=reader.integer("start", 1, flows, 1),
        hold_ns=None if hold_s is None else round(hold_s * _NS_PER_S),
        down=reader.boolean("down", default=False),
    )
    if ramp.down and ramp.hold_ns is None:
        reader.fail("down", "how long all flows stay before is missing; give hold_seconds, 0 say")
    if ramp.hold_ns is not None and not ramp.down:
        reader.fail("hold_seconds", "nothing comes after it; set down to true, or leave it out")
    reader.done()
    return ramp


def _decode_trace(reader: Reader, base: Path | None) -> Trace:
    file = reader.text("file")
    if not file or "\0" in file:
        reader.fail("file", "it is not the name of a file")
    trace = Trace(
        file=Path(file) if base is None else base / file,
        speed=reader.number("speed", SPEED_MIN, SPEED_MAX, None),
        overwrite=tuple(_decode_overwrite(part) for part in reader.children("overwrite")),
        strict=reader.boolean("strict", default=False),
    )
    reader.done()
    return trace


def _decode_overwrite(reader: Reader) -> tuple[int, bytes]:
    longest = frame_len_no_fcs(FRAME_SIZE_MAX)
    offset = reader.integer("offset", 0, longest - 1)
    text = reader.text("octets")
    if _HEX_WITH_COLONS.fullmatch(text) is None:
        reader.fail("octets", "they are not octets of two hexadecimal digits, such as '02:57:52'")
    octets = bytes.fromhex(text.replace(":", ""))
    if offset + len(octets) > longest:
        reader.fail("octets", f"they end behind octet {longest}, where the longest frame does")
    reader.done()
    return offset, octets
