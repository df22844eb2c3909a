# SPDX-License-Identifier: BSD-3-Clause
"""One trial of an RSS sweep: a loaded generator and a loaded forwarder, watched for a time.

Counts are taken between two looks, the first of them when traffic has been flowing for a while: so
neither starting nor what is still under way at the end is in the figures.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineDiedError
from wirerate.methods.rss_figures import TrialFigures
from wirerate.trial.cpu_lost import LOST_CPU, Duty, LcoreTime, lost_too_much

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wirerate.engine.counters import Block, Counters
    from wirerate.engine.process import Engine

_LEAD_S = 0.1
_POLL_S = 0.05
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class _Look:
    """Words of both engines' counters at about one time."""

    tsc: int
    """The generator's clock; both engines read the same TSC."""
    tx_frames: int
    unsent: int
    due: int
    bursts_short: int
    rx_frames: int
    missed: int
    generator_busy: int
    queues: tuple[int, ...]
    """Frames received by each of the forwarder's queues."""
    cycles: Mapping[int, int]
    """Busy ones of the forwarder's lcores."""
    lost: Mapping[tuple[int, str], tuple[int, int]]
    """Of each lcore and side: when it was sampled, how long it had lost its CPU by then [ns]."""


@dataclass
class PairTrial:
    """The two sides; ``forwarder`` None: it is somebody else's.

    ``shared_cores``: lcores share CPUs, so that losing them is no fault of the trial.
    """

    generator: Engine
    forwarder: Engine | None
    shared_cores: bool

    def measure(
        self,
        load: dict[str, Any],
        work: dict[str, Any] | None,
        seconds: float,
        stopped: Callable[[], bool],
    ) -> TrialFigures:
        """Load both, measure, unload. Raises EngineError, InterruptedError when ``stopped``."""
        there = None if work is None or self.forwarder is None else self.forwarder.load(work)
        try:
            here = self.generator.load(load)
            try:
                self.generator.call("traffic.start", {})
                self._wait(_LEAD_S, stopped)
                before = _look(here, there)
                self._wait(seconds, stopped)
                after = _look(here, there)
                self.generator.call("traffic.stop")
            finally:
                if self.generator.alive():
                    self.generator.call("program.unload")
        finally:
            if there is not None and self.forwarder is not None and self.forwarder.alive():
                self.forwarder.call("program.unload")
        return self._figures(before, after, here.tsc_hz)

    def _wait(self, seconds: float, stopped: Callable[[], bool]) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            for engine in (self.generator, self.forwarder):
                if engine is not None and not engine.alive():
                    raise EngineDiedError(engine.death())
            if stopped():
                raise InterruptedError
            time.sleep(min(_POLL_S, left))

    def _figures(self, before: _Look, after: _Look, hz: int) -> TrialFigures:
        cycles = max(1, after.tsc - before.tsc)
        seconds = cycles / hz
        offered = after.tx_frames - before.tx_frames
        due = max(offered, after.due - before.due)
        back = after.rx_frames - before.rx_frames
        queues = [b - a for a, b in zip(before.queues, after.queues, strict=True)]
        busy = {lcore: after.cycles[lcore] - before.cycles[lcore] for lcore in after.cycles}
        reasons = () if self.shared_cores else tuple(_lost_reasons(before, after))
        return TrialFigures(
            forwarding_fps=back / seconds,
            offered_fps=offered / seconds,
            loss_ratio=max(0.0, 1 - back / due) if due else 0.0,
            per_queue_fps=tuple(count / seconds for count in queues),
            forwarder_busy=tuple(value / cycles for value in busy.values()),
            forwarder_cycles=sum(busy.values()),
            forwarder_frames=sum(queues),
            generator_busy=(after.generator_busy - before.generator_busy) / cycles,
            bursts_short=after.bursts_short - before.bursts_short,
            unsent=after.unsent - before.unsent,
            missed=after.missed - before.missed,
            valid=not reasons,
            reasons=reasons,
        )


def _lost_reasons(before: _Look, after: _Look) -> Iterator[str]:
    """Lcores that lost their CPU: rates are too low, and busy shares say little."""
    for (lcore, side), (then_ns, lost_ns) in after.lost.items():
        since_ns, until_then_ns = before.lost[lcore, side]
        lost_s = (lost_ns - until_then_ns) / _NS_PER_S
        time = LcoreTime(lcore, (then_ns - since_ns) / _NS_PER_S, lost_s, 0.0)
        if lost_too_much(time, Duty.TIMED):
            yield (
                f"lcore {lcore} ({side}) {LOST_CPU} for {1000 * time.lost_s:.0f} ms of "
                f"{1000 * time.seconds:.0f}"
            )


def _lost(workers: Sequence[Block], side: str) -> dict[tuple[int, str], tuple[int, int]]:
    return {
        (block.labels["lcore"], side): (block["sampled_ns"], block["cpu_lost_ns"])
        for block in workers
    }


def _sum(blocks: Sequence[Block], word: str) -> int:
    return sum(block[word] for block in blocks)


def _look(here: Counters, there: Counters | None) -> _Look:
    tx, rx, ports = here.of_kind("tx"), here.of_kind("rx"), here.of_kind("port")
    found = () if there is None else there.of_kind("forward")
    lanes = sorted(found, key=lambda block: int(block.labels["queue"]))
    cycles: dict[int, int] = {}
    for block in lanes:
        lcore = block.labels["lcore"]
        cycles[lcore] = cycles.get(lcore, 0) + block["busy_cycles"]
    workers = here.of_kind("worker")
    lost = _lost(workers, "generator")
    if there is not None:
        lost |= _lost(there.of_kind("worker"), "forwarder")
    return _Look(
        tsc=max(block["now_tsc"] for block in workers),
        tx_frames=_sum(tx, "frames"),
        unsent=_sum(tx, "frames_unsent"),
        due=_sum(tx, "frames_due"),
        bursts_short=_sum(tx, "bursts_short"),
        rx_frames=_sum(rx, "frames"),
        missed=_sum(ports, "imissed") + _sum(ports, "rx_nombuf"),
        generator_busy=_sum(tx, "busy_cycles") + _sum(rx, "busy_cycles"),
        queues=tuple(block["rx_frames"] for block in lanes),
        cycles=cycles,
        lost=lost,
    )
