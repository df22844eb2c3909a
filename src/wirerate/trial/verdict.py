# SPDX-License-Identifier: BSD-3-Clause
"""Can the result be believed? All that can be compared is compared, each doubt put in words.

A reason makes the trial invalid: a figure is not what it seems. A note does not: it explains. What
was sent is judged flow by flow; what was received, devices and links port by port. What measured
flows received is judged in verdict_received.py, the clocks in verdict_clock.py, lcores that lost
their CPUs in verdict_cpu.py.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.trial.cpu_lost import gap_notes
from wirerate.trial.result import LATENESS_PROMISED_S, LATENESS_S
from wirerate.trial.verdict_clock import clock_reasons
from wirerate.trial.verdict_cpu import cpu_reasons
from wirerate.trial.verdict_received import (
    awaited_ports,
    flow_notes,
    flow_reasons,
    port_notes,
)
from wirerate.units import format_count, format_engineering

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wirerate.host.growth import Growth
    from wirerate.trial.cpu_lost import LcoreTime
    from wirerate.trial.result import FlowResult, PortResult
    from wirerate.trial.snapshot import Device, Snapshot

#: Offered load may differ from intended load by this much [ratio].
LOAD_TOLERANCE = 0.001
#: A load so far off is told as a share of the other [ratio].
_FAR_OFF = 0.1
#: So many flows or ports are named in a note that they share.
_NAMED = 3
_NS_PER_S = 1_000_000_000


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


@dataclass(frozen=True)
class Ending:
    """How a trial ended.

    ``sent`` is the look at the end of sending, for the links; ``duration_ns`` the time that the
    whole run was given, None = no limit. ``death``: how the engine died; ``counted``: the counts
    were final by then. ``arriving_s``: frames of measured flows still arrived so long after the end
    of sending, when the time to settle was over; None: none did. ``loops``: what became of looped
    rings (`program.unload`, docs/design/0006-descriptor-loop.md). ``growth``: of ports' files.
    ``times``: what lcores had of their CPUs while frames were sent; None: since they began.
    """

    sent: Snapshot | None = None
    interrupted: bool = False
    death: str | None = None
    duration_ns: int | None = None
    arriving_s: float | None = None
    loops: Sequence[Mapping[str, Any]] = ()
    growth: Growth | None = None
    counted: bool = False
    times: Sequence[LcoreTime] | None = None


def judge(
    snapshot: Snapshot,
    flows: Sequence[FlowResult],
    ports: Sequence[PortResult],
    ending: Ending,
    notes: Iterable[str] = (),
) -> Verdict:
    """Judge a finished trial; ``notes`` are what was to be said beforehand."""
    reasons: list[str] = []
    alive = ending.death is None or ending.counted
    if ending.death is not None:
        reasons.append(death_reason(ending.death, counted=ending.counted))
    if ending.arriving_s is not None:
        reasons.append(
            f"frames were still arriving {ending.arriving_s:.3g} s after the end of sending: not "
            "all are counted; raise --settle"
        )
    titles = {port.plan.name: port.plan.title for port in ports}
    reasons += [
        f"{titles[loop['port']]}: {loop['changed']:,} of {loop['descriptors']:,} descriptors were "
        "not as they had been written when the ring ended: what was sent may not be what was asked"
        for loop in ending.loops
        if loop["changed"]
    ]
    for flow in flows:
        found = [*_tx_reasons(flow, snapshot.tsc_hz), *_limit_reasons(flow, ending)]
        found += flow_reasons(flow) if alive else ()
        reasons += [f"{flow.plan.title}: {reason}" for reason in found]
    awaited = awaited_ports(flows)
    for port in ports:
        found = [*_rx_reasons(port.device)]
        if alive and ending.growth is not None:
            found += ending.growth.reasons(port.plan.name, port.tx_frames, port.tx_octets)
        if alive:
            sent = port.device if ending.sent is None else ending.sent.port(port.plan.name).device
            linked = bool(port.plan.tx_lcores) or port.plan.index in awaited
            found += [*_device_reasons(port), *(_link_reasons(sent) if linked else ())]
        reasons += [f"{port.plan.title}: {reason}" for reason in found]
    reasons += [*cpu_reasons(snapshot, flows, ports, ending.times), *clock_reasons(snapshot, ports)]
    said = [*notes, *_notes(snapshot, flows, ports, interrupted=ending.interrupted)]
    return Verdict(tuple(reasons), tuple(said))


def death_reason(death: str, *, counted: bool) -> str:
    """What an engine that died makes of a result; ``counted``: it did so after the last count."""
    if counted:
        return f"{death} after the last count: what it had counted is not to be trusted"
    return f"{death}: counted up to then, last frames may be missing"


def not_offered(flows: Iterable[FlowResult]) -> frozenset[str]:
    """Those of a verdict's reasons which say no more than that flows were not sent as asked for."""
    return frozenset(
        f"{flow.plan.title}: {reason}"
        for flow in flows
        if flow.tx_frames > 0
        for reason in _offer_reasons(flow)
    )


def _tx_reasons(flow: FlowResult, hz: int) -> Iterator[str]:
    if flow.tx_frames == 0 and flow.seconds > 0:
        yield "no frame was sent: the device took none"
    yield from _offer_reasons(flow)
    yield from _schedule_reasons(flow, hz)
    if flow.overrun_cycles > 2 * LATENESS_S * hz:
        yield f"time overrun: the last frame left {1000 * flow.overrun_cycles / hz:.1f} ms late"


def _offer_reasons(flow: FlowResult) -> Iterator[str]:
    if flow.tx_frames_unsent > 0 and flow.plan.unpaced:
        yield (
            f"the device stood still: {format_count(flow.tx_frames_unsent)} frames were given up, "
            "after it had taken none for 0.1 s each time"
        )
    elif flow.tx_frames_unsent > 0:
        share = 100 * flow.tx_frames_unsent / max(1, flow.frames_due)
        window_s = LATENESS_S if flow.plan.frames is None else LATENESS_PROMISED_S
        why = (
            "the device did not take them in time"
            if flow.tx_bursts_short > 0
            else f"their lcore was too slow, or lost its CPU for over {1000 * window_s:.0f} ms"
        )
        yield (
            f"load not offered: {format_count(flow.tx_frames_unsent)} of "
            f"{format_count(flow.frames_due)} frames that were due ({share:.3g} %) "
            f"were not sent: {why}"
        )
    yield from _load_reasons(flow)


def _schedule_reasons(flow: FlowResult, hz: int) -> Iterator[str]:
    """A number of frames is sent even when late: all of them, but not at their times."""
    latest = flow.lateness_cycles.maximum
    if flow.plan.frames is None or flow.plan.unpaced or latest is None:
        return
    if latest > LATENESS_S * hz:
        yield f"schedule not kept: a frame left {1000 * latest / hz:.1f} ms late"


def _too_few_to_tell(flow: FlowResult) -> bool:
    """One frame (or burst of frames) more or less would be more than the tolerance."""
    fps = flow.plan.intended_fps
    return fps is not None and flow.seconds * fps * LOAD_TOLERANCE < flow.plan.burst_frames


def _load_reasons(flow: FlowResult) -> Iterator[str]:
    """The offered load against the intended one, when enough frames were due to tell."""
    intended = flow.plan.intended_fps
    if intended is None or flow.tx_frames == 0 or flow.tx_frames_unsent > 0:
        return
    if _too_few_to_tell(flow):
        return
    if flow.plan.ramped:  # its queues wait for their first flows
        error = flow.tx_frames / max(1, flow.frames_due) - 1
    else:
        error = flow.offered_fps / intended - 1
    if abs(error) > LOAD_TOLERANCE:
        how = (
            f"{100 * error:+.3g} % off"
            if abs(error) < _FAR_OFF
            else f"{100 + 100 * error:.3g} % of"
        )
        yield (
            f"offered load {format_engineering(flow.offered_fps, 'fps')} is {how} the intended "
            f"{format_engineering(intended, 'fps')}"
        )


def _limit_reasons(flow: FlowResult, ending: Ending) -> Iterator[str]:
    """A flow with a number of frames sends exactly those, unless it was not given the time."""
    limit = flow.plan.frames
    if limit is None or flow.tx_frames == limit or not (ending.counted or ending.death is None):
        return
    missing = limit - flow.tx_frames - flow.tx_frames_unsent
    if missing < 0:
        sent = format_count(flow.tx_frames)
        yield f"{sent} frames were sent, but {format_count(limit)} were asked for"
    elif missing > 0 and not _cut_short(flow, ending):
        yield (
            f"{format_count(flow.tx_frames)} of {format_count(limit)} frames were sent: "
            "the run ended before"
        )


def _cut_short(flow: FlowResult, ending: Ending) -> bool:
    """The user, or the run's duration, did not let the flow send all its frames."""
    plan = flow.plan
    if ending.interrupted:
        return True
    if ending.duration_ns is None or plan.frames is None:
        return False
    if plan.intended_fps is None:
        return True  # how long it would have taken is not known
    need_ns = plan.delay_ns + plan.frames / plan.intended_fps * _NS_PER_S
    return need_ns > ending.duration_ns


def lost_by_device(device: Device) -> Iterator[str]:
    """Frames that the device itself counts as dropped, damaged or not sent."""
    yield from _missed_reasons(device)
    yield from _damage_reasons(device)
    yield from _unsent_reasons(device)


def _rx_reasons(device: Device) -> Iterator[str]:
    yield from _missed_reasons(device)
    if device.socket_drops > 0:
        yield (
            f"receiver dropped {format_count(device.socket_drops)} frames: the kernel's socket was "
            "full"
        )
    yield from _damage_reasons(device)


def _missed_reasons(device: Device) -> Iterator[str]:
    if device.imissed > 0:
        missed = format_count(device.imissed)
        yield f"receiver dropped {missed} frames: no free Rx descriptor (RxMissed)"
    if device.rx_nombuf > 0:
        yield f"receiver dropped {format_count(device.rx_nombuf)} frames: no mbuf; raise -M"


def _damage_reasons(device: Device) -> Iterator[str]:
    if device.ierrors > 0:
        yield f"{format_count(device.ierrors)} frames arrived damaged (ierr)"


def _device_reasons(port: PortResult) -> Iterator[str]:
    yield from _unsent_reasons(port.device)
    if _counts_prove_something(port.device):
        yield from _count_reasons(port)


def _unsent_reasons(device: Device) -> Iterator[str]:
    if device.oerrors > 0:
        yield f"the device failed to send {format_count(device.oerrors)} frames (oerr)"


def _link_reasons(link: Device) -> Iterator[str]:
    """While frames were sent; a peer may leave afterwards."""
    if not link.link_up:
        yield "the link is down"
    if link.link_changes > 0:
        yield f"the link changed {link.link_changes} times"


def _counts_prove_something(device: Device) -> bool:
    """Not when a peer has left: memif forgets its counters then, often between two looks."""
    return device.resets == 0 and device.link_changes == 0 and device.link_up


def _count_reasons(port: PortResult) -> Iterator[str]:
    device = port.device
    handed = port.tx_frames + port.reply_frames
    if (port.plan.tx_lcores or port.reply_frames > 0) and device.opackets != handed:
        yield (
            f"the device says it sent {format_count(device.opackets)} frames, "
            f"{format_count(handed)} were handed to it"
        )
    read = port.rx_frames + device.drained_frames
    if port.plan.rx_lcores and not 0 <= device.ipackets - read <= device.uncertain_frames:
        came = f"the device says it received {format_count(device.ipackets)} frames"
        yield f"{came}, {format_count(read)} were read from it"


def _flow_notes(flow: FlowResult) -> Iterator[str]:
    if flow.tx_frames == 0 and flow.seconds == 0:
        yield "the run ended before its delay was over"
    elif _too_few_to_tell(flow):
        yield "too few frames to check the rate to 0.1 %"


def _port_notes(port: PortResult, *, awaited: bool) -> Iterator[str]:
    """``awaited``: it is to receive measured flows, so that its link is judged."""
    device = port.device
    if device.resets > 0:
        yield "the device cleared its counters when its peer left: not compared"
    if port.plan.tx_lcores or awaited:
        return
    if device.link_changes > 0:
        yield f"the link changed {device.link_changes} times: the peer left or came again"
    elif not device.link_up:
        yield "the link is down: no peer has come"


def _silence(port: PortResult, flows: Sequence[FlowResult]) -> Iterator[str]:
    """A port that was to receive what was sent, and received nothing; a null port never does."""
    frames = sum(flow.tx_frames for flow in flows if port.plan.index in flow.plan.rx_ports)
    listens = port.plan.rx_lcores and not port.plan.location.startswith("null:")
    if listens and frames and port.rx_frames == 0:
        yield f"nothing arrived, though {format_count(frames)} frames were sent that it was to get"


def _titled_port_notes(
    snapshot: Snapshot, flows: Sequence[FlowResult], ports: Sequence[PortResult]
) -> Iterator[tuple[str, str]]:
    awaited = awaited_ports(flows)
    for port in ports:
        notes = [*_port_notes(port, awaited=port.plan.index in awaited), *_silence(port, flows)]
        for text in (*notes, *port_notes(snapshot.port(port.plan.name))):
            yield port.plan.title, text


def _shared(notes: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Notes (title, text): those of one text become one when there are many."""
    titles: dict[str, list[str]] = defaultdict(list)
    for title, text in notes:
        titles[text].append(title)
    for text, named in titles.items():
        if len(named) <= _NAMED:
            yield from (f"{title}: {text}" for title in named)
        else:
            yield f"{', '.join(named[:_NAMED])} and {len(named) - _NAMED:,} more: {text}"


def _balance_note(flows: Sequence[FlowResult], ports: Sequence[PortResult]) -> Iterator[str]:
    """Sent and received of the whole run, where nobody knows which frames belong together."""
    expected = [flow for flow in flows if flow.plan.expected]
    if all(flow.received is not None for flow in expected):
        return
    sent = sum(flow.tx_frames for flow in expected)
    received = sum(port.rx_frames for port in ports)
    if sent == 0 or received in {0, sent}:
        return
    how = "fewer" if received < sent else "more"
    yield (
        f"{format_count(abs(sent - received))} {how} frames were received than sent; "
        "which ones is not looked into"
    )


def _notes(
    snapshot: Snapshot,
    flows: Sequence[FlowResult],
    ports: Sequence[PortResult],
    *,
    interrupted: bool,
) -> Iterator[str]:
    if interrupted:
        yield "stopped by the user"
    yield from gap_notes(snapshot)
    yield from _shared(
        (flow.plan.title, text)
        for flow in flows
        for text in (*_flow_notes(flow), *flow_notes(flow))
    )
    yield from _shared(_titled_port_notes(snapshot, flows, ports))
    yield from _balance_note(flows, ports)
    if any(flow.plan.unpaced for flow in flows):
        yield "no rate was asked for: the offered load is what the device took"
