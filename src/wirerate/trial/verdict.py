# SPDX-License-Identifier: BSD-3-Clause
"""Can the result be believed? All that can be compared is compared, each doubt put in words.

A reason makes the trial invalid: a figure is not what it seems. A note does not: it explains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.units import format_count, format_engineering

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.trial.result import PortResult
    from wirerate.trial.snapshot import Device, Snapshot

#: Offered load may differ from intended load by this much [ratio].
LOAD_TOLERANCE = 0.001
#: The engine goes on for at most this long to send what was due in time [s]; more is an overrun.
_WINDOW_S = 0.010
#: A gap this long on a worker is worth a note [s].
_GAP_NOTE_S = 0.001


@dataclass(frozen=True)
class Verdict:
    """``valid`` or not, every reason why not, and notes that explain without invalidating."""

    reasons: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """No reason speaks against it."""
        return not self.reasons

    def __str__(self) -> str:
        return "valid" if self.valid else "invalid"


def judge(
    snapshot: Snapshot,
    ports: Sequence[PortResult],
    *,
    sent: Snapshot | None,
    interrupted: bool,
    death: str | None,
) -> Verdict:
    """Judge a finished trial; ``sent`` is the look at the end of sending, for the links."""
    reasons: list[str] = []
    if death is not None:
        reasons.append(f"{death}: counted up to then, last frames may be missing")
    for port in ports:
        name = f"port {port.plan.index}"
        reasons += [f"{name}: {reason}" for reason in _tx_reasons(port, snapshot.tsc_hz)]
        reasons += [f"{name}: {reason}" for reason in _rx_reasons(port)]
        if death is None:
            reasons += [f"{name}: {reason}" for reason in _device_reasons(port)]
            link = port.device if sent is None else sent.port(port.plan.name).device
            reasons += [f"{name}: {reason}" for reason in _link_reasons(port, link)]
    return Verdict(tuple(reasons), tuple(_notes(snapshot, ports, interrupted=interrupted)))


def _tx_reasons(port: PortResult, hz: int) -> Iterator[str]:
    if not port.plan.tx_lcores:
        return
    if port.tx_frames == 0:
        yield "no frame was sent: the device took none"
    if port.tx_frames_unsent > 0 and port.intended_fps is None:
        yield (
            f"the device stood still: {format_count(port.tx_frames_unsent)} frames were given up, "
            "after it had taken none for 0.1 s each time"
        )
    elif port.tx_frames_unsent > 0:
        share = 100 * port.tx_frames_unsent / max(1, port.frames_due)
        why = (
            "the device did not take them in time"
            if port.tx_bursts_short > 0
            else "their lcore was too slow or was taken away for longer than 10 ms"
        )
        yield (
            f"load not offered: {format_count(port.tx_frames_unsent)} of "
            f"{format_count(port.frames_due)} frames that were due ({share:.3g} %) "
            f"were not sent: {why}"
        )
    yield from _load_reasons(port)
    if port.overrun_cycles > 2 * _WINDOW_S * hz:
        yield f"time overrun: the last frame left {1000 * port.overrun_cycles / hz:.1f} ms late"


def _too_few_to_tell(fps: float, seconds: float) -> bool:
    """One frame more or less would be more than the tolerance."""
    return seconds * fps * LOAD_TOLERANCE < 1


def _load_reasons(port: PortResult) -> Iterator[str]:
    """The offered load against the intended one, when enough frames were due to tell."""
    if port.intended_fps is None or port.tx_frames == 0 or port.tx_frames_unsent > 0:
        return
    if _too_few_to_tell(port.intended_fps, port.seconds):
        return
    error = port.offered_fps / port.intended_fps - 1
    if abs(error) > LOAD_TOLERANCE:
        yield (
            f"offered load {format_engineering(port.offered_fps, 'fps')} is {100 * error:+.3g} % "
            f"off the intended {format_engineering(port.intended_fps, 'fps')}"
        )


def _rx_reasons(port: PortResult) -> Iterator[str]:
    device = port.device
    if device.imissed > 0:
        missed = format_count(device.imissed)
        yield f"receiver dropped {missed} frames: no free Rx descriptor (RxMissed)"
    if device.rx_nombuf > 0:
        yield f"receiver dropped {format_count(device.rx_nombuf)} frames: no mbuf; raise -M"
    if device.ierrors > 0:
        yield f"{format_count(device.ierrors)} frames arrived damaged (ierr)"


def _device_reasons(port: PortResult) -> Iterator[str]:
    device = port.device
    if device.oerrors > 0:
        yield f"the device failed to send {format_count(device.oerrors)} frames (oerr)"
    if _counts_prove_something(device):
        yield from _count_reasons(port)


def _link_reasons(port: PortResult, link: Device) -> Iterator[str]:
    """While frames were sent; a peer may leave afterwards."""
    if port.plan.tx_lcores and not link.link_up:
        yield "the link is down"
    if port.plan.tx_lcores and link.link_changes > 0:
        yield f"the link changed {link.link_changes} times"


def _counts_prove_something(device: Device) -> bool:
    """Not when a peer has left: memif forgets its counters then, often between two looks."""
    return device.resets == 0 and device.link_changes == 0 and device.link_up


def _count_reasons(port: PortResult) -> Iterator[str]:
    device = port.device
    if port.plan.tx_lcores and device.opackets != port.tx_frames:
        yield (
            f"the device says it sent {format_count(device.opackets)} frames, "
            f"{format_count(port.tx_frames)} were handed to it"
        )
    if port.plan.rx_lcores and device.ipackets != port.rx_frames:
        yield (
            f"the device says it received {format_count(device.ipackets)} frames, "
            f"{format_count(port.rx_frames)} were read from it"
        )


def _port_notes(port: PortResult) -> Iterator[str]:
    name = f"port {port.plan.index}"
    device = port.device
    fps = port.intended_fps
    if port.plan.tx_lcores and fps is not None and _too_few_to_tell(fps, port.seconds):
        yield f"{name}: too few frames to check the rate to 0.1 %"
    if device.resets > 0:
        yield f"{name}: the device cleared its counters when its peer left: not compared"
    if not port.plan.tx_lcores and device.link_changes > 0:
        yield f"{name}: the link changed {device.link_changes} times: the peer left or came again"
    elif not port.plan.tx_lcores and not device.link_up:
        yield f"{name}: the link is down: no peer has come"


def _balance_note(ports: Sequence[PortResult]) -> Iterator[str]:
    """Sent and received of the whole run; perf cannot know which frames belong together."""
    sent = sum(port.tx_frames for port in ports)
    received = sum(port.rx_frames for port in ports)
    if sent == 0 or received in {0, sent}:
        return
    how = "fewer" if received < sent else "more"
    yield (
        f"{format_count(abs(sent - received))} {how} frames were received than sent; "
        "perf does not look into that"
    )


def _notes(snapshot: Snapshot, ports: Sequence[PortResult], *, interrupted: bool) -> Iterator[str]:
    if interrupted:
        yield "stopped by the user"
    for worker in snapshot.workers:
        longest = worker.stall_max_cycles / snapshot.tsc_hz
        if longest > _GAP_NOTE_S:
            yield (
                f"lcore {worker.lcore} was away from its loop {worker.stalls} times for over "
                f"0.1 ms, {1000 * longest:.1f} ms at most: isolate its CPU (wirerate doctor)"
            )
    for port in ports:
        yield from _port_notes(port)
    yield from _balance_note(ports)
    if any(port.plan.tx_lcores and port.intended_fps is None for port in ports):
        yield "no rate was asked for: the offered load is what the device took"
