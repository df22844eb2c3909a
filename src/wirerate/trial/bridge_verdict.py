# SPDX-License-Identifier: BSD-3-Clause
"""Whether a bridge was a fair way to the kernel: its verdict.

A reason says that frames were lost here, or were held up, so that who measured across the bridge
measured that, too. A note explains.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wirerate.plan.bridge_program import KERNEL, PORT
from wirerate.trial.bridge_interfaces import TITLES as PORT_TITLES
from wirerate.trial.cpu_lost import gap_notes
from wirerate.trial.forward_result import held_up
from wirerate.trial.verdict import Verdict, death_reason, lost_by_device
from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.plan.bridge_settings import BridgeSettings
    from wirerate.trial.bridge_look import BridgeLook
    from wirerate.trial.snapshot import Device, Snapshot

TITLES = dict(zip((PORT, KERNEL), PORT_TITLES, strict=True))
"""What messages call the engine's ports."""


@dataclass(frozen=True)
class BridgeEnd:
    """All that is known when a bridge has ended.

    ``looks``: the last one at each program that was loaded, with devices and workers. ``death``:
    how the engine died, ``counted``: after the last count; ``gone``: which interface vanished; None
    and empty where neither.
    """

    settings: BridgeSettings
    look: BridgeLook
    seconds: float
    looks: tuple[Snapshot, ...]
    notes: tuple[str, ...] = ()
    death: str | None = None
    counted: bool = False
    gone: str = ""
    verdict: Verdict = field(init=False)

    def __post_init__(self) -> None:
        """Judge it."""
        object.__setattr__(self, "verdict", judge_bridge(self))

    @property
    def devices(self) -> tuple[tuple[str, Device], ...]:
        """Both ports' own counters, of all programs; their links as of the last one."""
        return tuple(
            (name, total_device([look.port(name).device for look in self.looks])) for name in TITLES
        )


def total_device(devices: Sequence[Device]) -> Device:
    """The sum of what one device counted from program to program."""
    words = {
        name: sum(getattr(device, name) for device in devices)
        for name in vars(devices[-1])
        if name != "link_up"
    }
    return type(devices[-1])(**words, link_up=devices[-1].link_up)


def judge_bridge(end: BridgeEnd) -> Verdict:
    """Judge what a bridge did."""
    reasons = list(_end_reasons(end))
    reasons += _loss_reasons(end.look)
    notes = [*end.notes, *_notes(end.look)]
    for name, device in end.devices:
        reasons += [f"{TITLES[name]}: {reason}" for reason in lost_by_device(device)]
        if device.socket_drops > 0:
            drops = format_count(device.socket_drops)
            reasons.append(f"{TITLES[name]}: the kernel dropped {drops} frames at its socket")
        if not device.link_up and not end.gone:
            notes.append(f"{TITLES[name]}: the link is down")
    for look in end.looks:
        reasons += held_up(look)
        notes += gap_notes(look)
    return Verdict(tuple(dict.fromkeys(reasons)), tuple(dict.fromkeys(notes)))


def _end_reasons(end: BridgeEnd) -> Iterator[str]:
    if end.death is not None:
        yield death_reason(end.death, counted=end.counted)
    if end.gone:
        yield end.gone


def _loss_reasons(look: BridgeLook) -> Iterator[str]:
    if look.ring_lost > 0:
        yield (
            f"{format_count(look.ring_lost)} frames for the kernel were lost: the ring between the "
            "workers was full; the kernel port is slower than the wire, or raise --ring"
        )
    if look.kernel_lost > 0:
        yield (
            f"{format_count(look.kernel_lost)} frames for the kernel were lost: the kernel port "
            "took none for 10 ms, or more came than may wait"
        )
    if look.wire_lost > 0:
        yield (
            f"{format_count(look.wire_lost)} frames from the kernel were lost: the port took none "
            "for 10 ms, or more came than may wait"
        )
    if look.fast_lost > 0:
        yield (
            f"{format_count(look.fast_lost)} frames of the fast path were lost: the data path or "
            "the port was slower than they came"
        )


def _notes(look: BridgeLook) -> Iterator[str]:
    if look.wire_rx.frames == 0:
        yield "no frame came from the wire"
    if look.from_kernel.frames == 0:
        yield "no frame came from the kernel"
    if look.untouchable > 0:
        yield (
            f"{format_count(look.untouchable)} frames passed as they were, though checksums or "
            "lengths of theirs were to be set right"
        )
