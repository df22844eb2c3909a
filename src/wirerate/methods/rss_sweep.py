# SPDX-License-Identifier: BSD-3-Clause
"""The RSS sweep: every cell measured, in an order that opens the fewest engines.

It yields what became of each cell, so that whoever shows progress knows nothing of engines.
What a cell is and how it is judged: `wirerate.methods.rss_figures`; who opens ports:
`wirerate.methods.rss_pair`; who places flows: `wirerate.methods.rss_placement`; one trial:
`wirerate.methods.rss_trial`; the contract: docs/design/0008-rss-sweep.md.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wirerate.errors import HostSetupError, WirerateError
from wirerate.methods.rss_figures import Cell, CellFigures, binding
from wirerate.methods.rss_load import (
    Generator,
    flows_of_queues,
    forwarder_program,
    generator_program,
)
from wirerate.methods.rss_pair import open_pair
from wirerate.methods.rss_placement import placed_flows, placement_of
from wirerate.methods.rss_settings import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wirerate.methods.rss_figures import TrialFigures
    from wirerate.methods.rss_pair import Pair
    from wirerate.methods.rss_placement import Placement
    from wirerate.methods.rss_settings import SweepSettings
    from wirerate.methods.rss_trial import PairTrial

_TRIES = 2
"""A cell that fails is repeated once."""
_NOTHING = (
    "no frame came back: is the link up, and is the receiving port joined to where the forwarder "
    "sends?"
)


def cells_of(settings: SweepSettings) -> list[Cell]:
    """All cells, those of a number of queues together; the baseline comes last of each."""
    works: list[float | None] = [*settings.works, *((None,) if settings.baseline else ())]
    return [
        Cell(queues, work, size)
        for queues in settings.queues
        for work in works
        for size in settings.sizes
    ]


class Sweep:
    """The engines for the number of queues at hand, anew when it changes or a cell fails.

    Use as a context manager. ``about`` is the `engine.info` of an engine, empty before the first.
    ``placements``: who places flows, for each number of queues.
    """

    def __init__(self, settings: SweepSettings, stopped: Callable[[], bool]) -> None:
        """``stopped`` is asked again and again; once true, the sweep ends."""
        self._settings = settings
        self._stopped = stopped
        self._open: ExitStack | None = None
        self._queues = 0
        self._pair: Pair | None = None
        self.about: Mapping[str, Any] = {}
        self.placements: dict[int, Placement] = {}

    def __enter__(self) -> Sweep:
        """Nothing is open yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is open."""
        self._close()

    def prepare(self) -> None:
        """See who places flows, and that they can be placed as asked.

        Ports of the user's are opened with each number of queues, the first that is swept last,
        which so stays open. Raises PlanError, HostSetupError, EngineError.
        """
        for queues in reversed(self._settings.queues):
            pair = self._ready(queues) if self._settings.locations else None
            receiver = None if pair is None else pair.receiver
            self.placements[queues] = placement_of(self._settings, queues, receiver)
            placed_flows(self._settings, self.placements[queues])

    def run(self, cells: Sequence[Cell]) -> Iterator[CellFigures]:
        """Measure the cells, in order, after `prepare`.

        One that fails twice has its reason; the rest goes on.
        """
        for cell in cells:
            if self._stopped():
                return
            try:
                yield self._measure(cell)
            except InterruptedError:
                return

    def _close(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open, self._pair = None, None

    def _measure(self, cell: Cell) -> CellFigures:
        """All repeats of a cell."""
        reason = ""
        for _ in range(_TRIES):
            try:
                return self._measured(cell)
            except WirerateError as error:
                reason = str(error)
                self._close()
        return CellFigures(cell, self._shared(cell.queues), reason=reason)

    def _shared(self, queues: int) -> bool:
        settings = self._settings
        return places(queues, settings.lcores, foreign=settings.foreign).shared

    def _measured(self, cell: Cell) -> CellFigures:
        settings = self._settings
        pair = self._ready(cell.queues)
        load = self._load(pair, cell)
        work = self._work(pair, cell)
        trials = [self._valid_trial(pair.trial, load, work) for _ in range(settings.repeats)]
        if not any(one.forwarding_fps for one in trials) and settings.locations:
            raise HostSetupError(_NOTHING)
        good = tuple(one for one in trials if one.valid)
        shared = pair.places.shared
        if not good:
            reasons = dict.fromkeys(reason for one in trials for reason in one.reasons)
            text = "no trial was valid: " + "; ".join(reasons)
            return CellFigures(cell, shared, tuple(trials), reason=text)
        binds = binding(cell, good, settings.line_rate_bps)
        return CellFigures(cell, shared, good, binds=binds)

    def _load(self, pair: Pair, cell: Cell) -> dict[str, Any]:
        """The generator's program."""
        settings, placement = self._settings, self.placements[cell.queues]
        flows = placed_flows(settings, placement)
        shares = flows_of_queues(flows, placement.sender_rss, cell.queues)
        generator = Generator(pair.places.generator, pair.rx_queues, rx_port=pair.rx_port)
        dst_mac = settings.dst_mac if pair.receiver is None else pair.receiver["mac"]
        if dst_mac is not None:
            generator = replace(generator, dst_mac=dst_mac)
        return generator_program(
            generator, shares, settings.kind, cell.size, settings.line_rate_bps
        )

    def _work(self, pair: Pair, cell: Cell) -> dict[str, Any] | None:
        """The forwarder's program; None where it is elsewhere."""
        if self._settings.foreign:
            return None
        unit, hz = self._settings.work_unit, self.about["tsc_hz"]
        cycles = unit.in_cycles(cell.work or 0.0, hz)
        target = max(0, len(self._settings.dut_locations) - 1)
        return forwarder_program(pair.places.forwarder, cell.queues, cycles, {0: target})

    def _valid_trial(
        self, trial: PairTrial, load: dict[str, Any], work: dict[str, Any] | None
    ) -> TrialFigures:
        """A trial, repeated once where it was not valid."""
        found = trial.measure(load, work, self._settings.trial_s, self._stopped)
        if found.valid:
            return found
        return trial.measure(load, work, self._settings.trial_s, self._stopped)

    def _ready(self, queues: int) -> Pair:
        """The pair for so many queues."""
        if self._pair is not None and self._queues == queues:
            return self._pair
        self._close()
        self._queues = queues
        self._open = ExitStack()
        try:
            self._pair = self._open.enter_context(open_pair(self._settings, queues))
        except BaseException:
            self._close()
            raise
        self.about = self._pair.trial.generator.call("engine.info")
        return self._pair
