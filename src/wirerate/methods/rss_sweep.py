# SPDX-License-Identifier: BSD-3-Clause
"""The RSS sweep: every cell measured, in an order that opens the fewest engines.

It yields what became of each cell, so that whoever shows progress knows nothing of engines.
What a cell is and how it is judged: `wirerate.methods.rss_figures`; one trial:
`wirerate.methods.rss_trial`; the contract: docs/design/0008-rss-sweep.md.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirerate.engine.eal import choose_memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.errors import WirerateError
from wirerate.methods.rss_figures import Cell, CellFigures, binding
from wirerate.methods.rss_load import (
    Generator,
    flows_of_queues,
    forwarder_program,
    generator_program,
)
from wirerate.methods.rss_settings import placed_flows
from wirerate.methods.rss_trial import PairTrial
from wirerate.plan.location import parse_location
from wirerate.plan.pools import rx_pool_octets
from wirerate.plan.port_params import queue_numbers
from wirerate.plan.program import port_name
from wirerate.units import FRAME_SIZE_ORDINARY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wirerate.methods.rss_figures import TrialFigures
    from wirerate.methods.rss_settings import SweepSettings
    from wirerate.plan.location import Location

_TRIES = 2
"""A cell that fails is repeated once."""


@dataclass(frozen=True)
class Places:
    """Who runs where for a number of queues.

    ``generator`` is an lcore, ``forwarder`` lcores; ``shared``: a CPU has more than one of them.
    """

    generator: int
    forwarder: tuple[int, ...]
    shared: bool


def places(queues: int, cpus: Sequence[int]) -> Places:
    """The forwarder's lcores come first, a CPU each as far as they go; the generator has the rest.

    Of the CPUs that may be used, the lowest are left to the generator and to all that sleeps.
    """
    ordered = sorted(cpus)
    forwarder = tuple(ordered[-min(queues, len(ordered)) :])
    shared = queues + 1 > len(ordered)
    return Places(ordered[0], forwarder, shared)


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
    """The two engines for the number of queues at hand, anew when it changes or a cell fails.

    Use as a context manager. ``about`` is the `engine.info` of an engine, empty before the first.
    """

    def __init__(self, settings: SweepSettings, stopped: Callable[[], bool]) -> None:
        """``stopped`` is asked again and again; once true, the sweep ends."""
        self._settings = settings
        self._stopped = stopped
        self._open: ExitStack | None = None
        self._queues = 0
        self._trial: PairTrial | None = None
        self._places = Places(0, (), shared=False)
        self.about: Mapping[str, Any] = {}

    def __enter__(self) -> Sweep:
        """Nothing is open yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is open."""
        self._close()

    def run(self, cells: Sequence[Cell]) -> Iterator[CellFigures]:
        """Measure the cells, in order. One that fails twice has its reason; the rest goes on."""
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
        self._open, self._trial = None, None

    def _measure(self, cell: Cell) -> CellFigures:
        """All repeats of a cell."""
        reason = ""
        for _ in range(_TRIES):
            try:
                return self._measured(cell)
            except WirerateError as error:
                reason = str(error)
                self._close()
        return CellFigures(cell, self._places.shared, reason=reason)

    def _measured(self, cell: Cell) -> CellFigures:
        settings = self._settings
        trial = self._ready(cell.queues)
        flow_set = placed_flows(settings, cell.queues)
        shares = flows_of_queues(flow_set.flows, flow_set.rss, cell.queues)
        generator = Generator(self._places.generator, cell.queues)
        load = generator_program(
            generator, shares, settings.kind, cell.size, settings.line_rate_bps
        )
        cycles = settings.work_unit.in_cycles(cell.work or 0.0, self.about["tsc_hz"])
        work = forwarder_program(self._places.forwarder, cell.queues, cycles, {0: 0})
        trials = [self._valid_trial(trial, load, work) for _ in range(settings.repeats)]
        good = tuple(one for one in trials if one.valid)
        if not good:
            reasons = dict.fromkeys(reason for one in trials for reason in one.reasons)
            text = "no trial was valid: " + "; ".join(reasons)
            return CellFigures(cell, self._places.shared, tuple(trials), reason=text)
        binds = binding(cell, good, settings.line_rate_bps)
        return CellFigures(cell, self._places.shared, good, binds=binds)

    def _valid_trial(
        self, trial: PairTrial, load: dict[str, Any], work: dict[str, Any]
    ) -> TrialFigures:
        """A trial, repeated once where it was not valid."""
        found = trial.measure(load, work, self._settings.trial_s, self._stopped)
        if found.valid:
            return found
        return trial.measure(load, work, self._settings.trial_s, self._stopped)

    def _ready(self, queues: int) -> PairTrial:
        """The pair for so many queues."""
        if self._trial is not None and self._queues == queues:
            return self._trial
        self._close()
        self._queues = queues
        self._places = places(queues, self._settings.lcores)
        self._open = ExitStack()
        try:
            self._trial = self._open.enter_context(_pair(self._settings, queues, self._places))
        except BaseException:
            self._close()
            raise
        self.about = self._trial.generator.call("engine.info")
        return self._trial


@contextmanager
def _pair(settings: SweepSettings, queues: int, where: Places) -> Iterator[PairTrial]:
    """Two engines joined on this machine."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wr-rss-")))
        server, client = (parse_location(text) for text in settings.link.locations(folder))
        forwarder = stack.enter_context(_engine(settings, server, where.forwarder, queues))
        _open_port(settings, forwarder, server, queues)
        generator = stack.enter_context(_engine(settings, client, (where.generator,), queues))
        _open_port(settings, generator, client, queues)
        yield PairTrial(generator, forwarder, where.shared)


def _engine(
    settings: SweepSettings, location: Location, lcores: Sequence[int], queues: int
) -> Engine:
    need = rx_pool_octets(settings, queues, FRAME_SIZE_ORDINARY) + settings.frames_octets
    memory = choose_memory(need, settings.eal.passthrough, allow_hugepages=True)
    words = eal_arguments([location], lcores, memory, settings.eal.passthrough)
    return Engine(words, lcores, settings.eal.passthrough)


def _open_port(settings: SweepSettings, engine: Engine, location: Location, queues: int) -> None:
    params = {
        "name": port_name(0),
        "location": location.text,
        **queue_numbers(location, queues, queues),
        "rx_descriptors": 0,
        "tx_descriptors": 0,
        "mbufs": settings.mbufs,
        "frame_size_max": FRAME_SIZE_ORDINARY,
        "promiscuous": True,
    }
    engine.call("ports.open", {"ports": [params]})
