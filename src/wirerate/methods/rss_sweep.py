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
from itertools import groupby
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineDiedError, WirerateError
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
    from wirerate.plan.rss_hash import RssFlow

_TRIES = 3
"""A trial that was not valid is repeated; one that failed is, once."""
_FAILURES = 2
_NOTHING = (
    "no frame came back: is the link up, and is the receiving port joined to where the forwarder "
    "sends?"
)


def cells_of(settings: SweepSettings) -> list[Cell]:
    """All cells, those of a number of queues together, and of these those of a size.

    The baseline comes last of each.
    """
    works: list[float | None] = [*settings.works, *((None,) if settings.baseline else ())]
    return [
        Cell(queues, work, size)
        for queues in settings.queues
        for size in settings.sizes
        for work in works
    ]


class Sweep:
    """The engines for the number of queues at hand, anew when it changes or a cell fails.

    Use as a context manager. ``about`` is the `engine.info` of an engine, empty before the first.
    ``placements``: who places flows, for each number of queues. ``deaths``: how engines died.
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
        self.deaths: list[str] = []
        self._flows: dict[int, tuple[RssFlow, ...]] = {}
        self._load: tuple[tuple[int, int], dict[str, Any]] | None = None

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
            self._flows[queues] = placed_flows(self._settings, self.placements[queues])

    def run(self, cells: Sequence[Cell]) -> Iterator[CellFigures]:
        """Measure the cells, in order, after `prepare`.

        Cells of a size are measured in rounds, a trial of each, so that a machine which slows down
        slows all works alike: the fit is through them. One that fails has its reason; the rest goes
        on.
        """
        for _, group in groupby(cells, key=lambda cell: (cell.queues, cell.size)):
            try:
                yield from self._measure(list(group))
            except InterruptedError:
                return

    def _close(self) -> None:
        opened, self._open, self._pair = self._open, None, None
        try:
            if opened is not None:
                opened.close()
        except EngineDiedError as error:
            self.deaths.append(str(error))

    def _measure(self, cells: Sequence[Cell]) -> Iterator[CellFigures]:
        """All repeats of cells that differ in work only."""
        trials: dict[Cell, list[TrialFigures]] = {cell: [] for cell in cells}
        failed: dict[Cell, str] = {}
        for _ in range(self._settings.repeats):
            for cell in cells:
                if cell in failed:
                    continue
                try:
                    trials[cell].append(self._trial(cell))
                except WirerateError as error:
                    failed[cell] = str(error)
        for cell in cells:
            yield self._figures(cell, trials[cell], failed.get(cell, ""))

    def _trial(self, cell: Cell) -> TrialFigures:
        """A valid trial, or the last of some that were not. Raises WirerateError."""
        failures = 0
        for _ in range(_TRIES):
            if self._stopped():
                raise InterruptedError
            try:
                found = self._measured(cell)
            except WirerateError:
                self._close()
                failures += 1
                if failures == _FAILURES:
                    raise
                continue
            if found.valid:
                break
        return found

    def _shared(self, queues: int) -> bool:
        settings = self._settings
        return places(queues, settings.lcores, foreign=settings.foreign).shared

    def _measured(self, cell: Cell) -> TrialFigures:
        pair = self._ready(cell.queues)
        load, work = self._load_of(pair, cell), self._work(pair, cell)
        return pair.trial.measure(load, work, self._settings.trial_s, self._stopped)

    def _figures(self, cell: Cell, trials: Sequence[TrialFigures], reason: str) -> CellFigures:
        settings, shared = self._settings, self._shared(cell.queues)
        if not reason and settings.locations and not any(one.forwarding_fps for one in trials):
            reason = _NOTHING
        good = tuple(one for one in trials if one.valid)
        if not reason and not good:
            reasons = dict.fromkeys(reason for one in trials for reason in one.reasons)
            reason = "no trial was valid: " + "; ".join(reasons)
        if reason:
            return CellFigures(cell, shared, tuple(trials), reason=reason)
        binds = binding(cell, good, settings.line_rate_bps)
        return CellFigures(cell, shared, good, binds=binds)

    def _load_of(self, pair: Pair, cell: Cell) -> dict[str, Any]:
        """The generator's program: the same for all cells of a size, whatever their work."""
        place = (cell.queues, cell.size)
        if self._load is None or self._load[0] != place:
            self._load = place, self._made_load(pair, cell)
        return self._load[1]

    def _made_load(self, pair: Pair, cell: Cell) -> dict[str, Any]:
        settings, sender_rss = self._settings, self.placements[cell.queues].sender_rss
        shares = flows_of_queues(self._flows[cell.queues], sender_rss, cell.queues)
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
