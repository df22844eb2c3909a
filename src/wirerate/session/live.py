# SPDX-License-Identifier: BSD-3-Clause
"""What scripts see of a trial while frames are sent."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from wirerate.trial.received import arrivals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.snapshot import Snapshot as Counts


@dataclass(frozen=True)
class LiveFlow:
    """One flow so far; frames since the start, rates over the period before the snapshot.

    Attributes:
        tx_frames: Frames sent.
        tx_frames_unsent: Frames that were due and were not sent.
        tx_fps: Frames sent per second [fps].
        rx_frames: Frames received, each once; None unless the flow is measured.
        rx_fps: Frames received per second [fps]; None unless the flow is measured.
    """

    tx_frames: int
    tx_frames_unsent: int
    tx_fps: float
    rx_frames: int | None
    rx_fps: float | None


@dataclass(frozen=True)
class LivePort:
    """One open port so far; frames since the start, rates over the period before the snapshot.

    Attributes:
        tx_frames: Frames sent, of all flows.
        rx_frames: Frames received, whoever sent them.
        tx_fps: Frames sent per second [fps].
        rx_fps: Frames received per second [fps].
        link_up: Whether the device has a link.
    """

    tx_frames: int
    rx_frames: int
    tx_fps: float
    rx_fps: float
    link_up: bool


@dataclass(frozen=True)
class Snapshot:
    """The counters of a trial at one time, while frames are sent.

    What is under way is in no count yet: only a `Result` has losses.

    Attributes:
        number: Of this snapshot in its trial, from 0.
        ready: The plan with its open ports. Its content may change with a release.
        counts: The engine's counters. Their content may change with a release.
        counts_before: Those of the snapshot before; None of the first one.
    """

    number: int
    ready: ReadyPlan
    counts: Counts
    counts_before: Counts | None

    @property
    def seconds(self) -> float:
        """Time since the first frame was due [s]."""
        return self.counts.seconds_since(None)

    @property
    def period(self) -> float:
        """Time since the snapshot before, or since the start [s]: that of all rates."""
        return self.counts.seconds_since(self.counts_before)

    @cached_property
    def flows(self) -> Mapping[str, LiveFlow]:
        """Each flow of the plan, by its name."""
        now, before = _Flows(self.ready, self.counts), None
        if self.counts_before is not None:
            before = _Flows(self.ready, self.counts_before)
        found = {}
        for flow in self.ready.flows:
            tx, unsent, rx = now.of(flow.name)
            tx_then, _, rx_then = (0, 0, 0) if before is None else before.of(flow.name)
            rx_fps = None if rx is None else (rx - (rx_then or 0)) / self.period
            found[flow.label] = LiveFlow(tx, unsent, (tx - tx_then) / self.period, rx, rx_fps)
        return found

    @cached_property
    def ports(self) -> Mapping[str, LivePort]:
        """Each open port of the plan, by its name."""
        found = {}
        for plan in self.ready.ports:
            now = self.counts.port(plan.name)
            before = None if self.counts_before is None else self.counts_before.port(plan.name)
            tx_then, rx_then = (0, 0) if before is None else (before.tx_frames, before.rx_frames)
            found[self.ready.plan.ports[plan.index].name] = LivePort(
                now.tx_frames,
                now.rx_frames,
                (now.tx_frames - tx_then) / self.period,
                (now.rx_frames - rx_then) / self.period,
                now.device.link_up,
            )
        return found

    @property
    def tx_frames(self) -> int:
        """Frames sent so far, by all ports."""
        return sum(port.tx_frames for port in self.ports.values())

    @property
    def rx_frames(self) -> int:
        """Frames received so far, by all ports."""
        return sum(port.rx_frames for port in self.ports.values())

    @property
    def tx_fps(self) -> float:
        """Frames sent per second in the period, by all ports [fps]."""
        return sum(port.tx_fps for port in self.ports.values())

    @property
    def rx_fps(self) -> float:
        """Frames received per second in the period, by all ports [fps]."""
        return sum(port.rx_fps for port in self.ports.values())


class _Flows:
    """Counts of flows by the engine's names of their streams."""

    def __init__(self, ready: ReadyPlan, counts: Counts) -> None:
        self._sent: dict[str, int] = defaultdict(int)
        self._unsent: dict[str, int] = defaultdict(int)
        for port in counts.ports:
            for queue in port.tx:
                self._sent[queue.stream] += queue.frames
                self._unsent[queue.stream] += queue.frames_unsent
        self._arrived = arrivals(counts, ready.flows)

    def of(self, stream: str) -> tuple[int, int, int | None]:
        """Frames sent, not sent, and received; the last is None of what is not measured."""
        arrived = self._arrived.get(stream)
        return self._sent[stream], self._unsent[stream], None if arrived is None else arrived.frames
