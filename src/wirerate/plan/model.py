# SPDX-License-Identifier: BSD-3-Clause
"""A decoded, checked plan: what an OTG Config says, in this tool's terms.

Made by `wirerate.plan.decode`, used by `wirerate.plan.compile` and the commands. Every default of
the OTG model is filled in. Pure data; paths are places in the plan, for messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from wirerate.plan.captures import Capture
    from wirerate.plan.devices import Device
    from wirerate.plan.fields import Header
    from wirerate.plan.location import Location
    from wirerate.units import Rate


@dataclass(frozen=True)
class PlanPort:
    """A port: unique ``name``; what layer1 asks for it, None where it is silent.

    ``speed_bps`` is checked against the link, ``mtu`` [octets, without Ethernet header].
    """

    name: str
    location: Location
    path: str
    speed_bps: int | None = None
    mtu: int | None = None
    promiscuous: bool = True


@dataclass(frozen=True)
class Trace:
    """Frames of a capture file instead of a header stack (our extension ``x-wirerate``).

    ``speed`` None = at the flow's rate, 1.0 = at the file's own times, 2.5 = that much faster.
    ``overwrite``: (offset, octets) that replace those of every frame. ``strict``: a file with
    truncated frames is refused instead of filled up.
    """

    file: Path
    speed: float | None = None
    overwrite: tuple[tuple[int, bytes], ...] = ()
    strict: bool = False


@dataclass(frozen=True)
class Ramp:
    """Flow numbers that become active one after the other (our extension ``x-wirerate``).

    ``start`` of ``flows`` are active from the start, ``per_second`` more each second. With
    ``down``, ``hold_ns`` after the last was added they become fewer at the same rate, down to one.
    """

    flows: int
    per_second: float
    start: int = 1
    hold_ns: int | None = None
    down: bool = False


@dataclass(frozen=True)
class Sizes:
    """Frame sizes [octets, with FCS], one after the other, over and over; 1…1,048,576 entries."""

    sequence: tuple[int, ...]
    path: str

    @property
    def mean(self) -> Fraction:
        """Octets per frame over one period."""
        from fractions import Fraction  # noqa: PLC0415 -- only here

        return Fraction(sum(self.sequence), len(self.sequence))


@dataclass(frozen=True)
class Payload:
    """What fills a frame behind its headers.

    ``fixed`` repeats ``pattern``, or with ``repeat`` false has it once and zeros behind; the others
    count octets or 16-bit words up from 0 or down from their greatest value.
    """

    kind: Literal[
        "fixed", "increment_byte", "decrement_byte", "increment_word", "decrement_word"
    ] = "fixed"
    pattern: bytes = b"\x00"
    repeat: bool = True


@dataclass(frozen=True)
class Burst:
    """``frames`` at the flow's rate, then a gap beyond the frame interval, and again.

    The gap is ``gap_ns`` [ns] and ``gap_octets`` [octets at line rate]; one of them is 0.
    """

    frames: int
    gap_ns: float
    gap_octets: float = 0.0


@dataclass(frozen=True)
class Duration:
    """How long a flow sends: until ``frames`` or ``duration_ns`` (None: no such end).

    It starts ``delay_ns`` [ns] and ``delay_octets`` [octets at line rate] late; one of them is 0.
    ``frames`` of a flow in bursts is that of all bursts.
    """

    frames: int | None = None
    duration_ns: int | None = None
    delay_ns: int = 0
    burst: Burst | None = None
    delay_octets: float = 0.0


@dataclass(frozen=True)
class Metrics:
    """What OTG's ``metrics`` asks to know of a flow; nothing unless ``enabled``.

    Every measured flow is measured in all respects: ``loss``, ``timestamps`` and ``latency`` say
    what of it a report in OTG's words shows, ``rx_name`` that it tells receiving ports apart.
    """

    enabled: bool = False
    loss: bool = False
    timestamps: bool = False
    latency: bool = False
    rx_name: bool = False


@dataclass(frozen=True)
class Flow:
    """One flow: frames of one stack, sent by ``tx_port``.

    Either ``packet`` (and ``sizes``, ``payload``) or ``trace`` says what the frames are.
    ``path`` is ``flows[2]``. ``ramp``: its frames are those of that many flows, in turn.
    ``whole_bursts``: it is sent in whole bursts only.
    """

    name: str
    path: str
    tx_port: str
    rx_ports: tuple[str, ...]
    packet: tuple[Header, ...]
    trace: Trace | None
    sizes: Sizes | None
    payload: Payload
    rate: Rate
    duration: Duration
    metrics: Metrics = Metrics()
    ramp: Ramp | None = None
    whole_bursts: bool = False

    @property
    def measured(self) -> bool:
        """Every frame has a stamp, and the receivers look for it."""
        return self.metrics.enabled and bool(self.rx_ports)


@dataclass(frozen=True)
class Plan:
    """Ports, flows and devices; names are unique and every reference leads somewhere.

    ``captures``: what ports are to record.
    """

    ports: tuple[PlanPort, ...]
    flows: tuple[Flow, ...]
    devices: tuple[Device, ...] = ()
    captures: tuple[Capture, ...] = ()

    def port_index(self, name: str) -> int:
        """Place of the port called name."""
        return next(index for index, port in enumerate(self.ports) if port.name == name)
