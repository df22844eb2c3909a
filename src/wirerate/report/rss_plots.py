# SPDX-License-Identifier: BSD-3-Clause
"""The charts of `wirerate rss`, made of its JSON document and nothing else.

Source of the document: docs/design/0008-rss-sweep.md. A hollow point is a cell whose lcores shared
CPUs: it says nothing about scaling. Failed cells have no point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.report.charts import Chart, Line, Panel, Point, model_line
from wirerate.units import LINE_OVERHEAD_OCTETS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_GIGA = 1e9
_MEGA = 1e6
_LIMIT_COLOUR = 6
_HOLLOW = "Hollow points: lcores shared CPUs, so that they say nothing about scaling."
_SPREAD = "Points are medians of the repeats, bars reach from the least to the greatest."


def charts(document: Mapping[str, Any]) -> list[Chart[Panel]]:
    """Throughput, speed-up and cost per frame, as far as there are cells to draw them of."""
    cells = [cell for cell in document["cells"] if cell["status"] == "ok"]
    line_bps = document["settings"]["line_rate_bps"]
    unit = document["settings"]["work_unit"]
    made = [_throughput(cells, unit, line_bps), _speed_up(cells, unit), _cost(document, cells)]
    return [chart for chart in made if chart.panels]


def work_title(work: float | None, unit: str) -> str:
    """What a table or panel of cells with that work is called."""
    return "BaseLine (no work)" if work is None else f"work {work:g} {unit}"


def values_of(cells: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """What the cells have of one setting, each once, in order; None last."""
    found = {cell[name] for cell in cells}
    return sorted(found, key=lambda value: (value is None, value or 0))


def _points(cells: Sequence[Mapping[str, Any]], x: str, y: str, scale: float) -> tuple[Point, ...]:
    """Of cells that differ in the setting ``x``: what was measured of ``y``, divided by scale."""
    points = [
        Point(
            cell[x],
            cell[y]["median"] / scale,
            cell[y]["min"] / scale,
            cell[y]["max"] / scale,
            cell["shared_cores"],
        )
        for cell in cells
    ]
    return tuple(sorted(points, key=lambda point: point.x))


def _throughput(
    cells: Sequence[Mapping[str, Any]], unit: str, line_bps: float | None
) -> Chart[Panel]:
    """Gbit/s at L1 over frame size: a panel per work, a line per number of queues."""
    sizes = values_of(cells, "size")
    panels = []
    for work in values_of(cells, "work"):
        lines = []
        for colour, queues in enumerate(values_of(cells, "queues")):
            own = [cell for cell in cells if (cell["work"], cell["queues"]) == (work, queues)]
            if own:
                lines.append(Line(_queues(queues), _points(own, "size", "l1_mbps", 1000.0), colour))
        if line_bps is not None:
            limit = [(size, line_bps / _GIGA) for size in sizes]
            lines.append(model_line("line rate", limit, _LIMIT_COLOUR))
        panels.append(
            Panel(
                work_title(work, unit),
                "frame size [octets, with FCS]",
                "Gbit/s at L1",
                tuple(lines),
                tuple(sizes),
                log_x=True,
            )
        )
    caption = f"Throughput, preamble and gap ({LINE_OVERHEAD_OCTETS} octets) counted. {_SPREAD}"
    return Chart("throughput", "Throughput over frame size", f"{caption} {_HOLLOW}", tuple(panels))


def _queues(count: int) -> str:
    return f"{count} queue" if count == 1 else f"{count} queues"


def _speed_up(cells: Sequence[Mapping[str, Any]], unit: str) -> Chart[Panel]:
    """Times the throughput of one queue, at the smallest size."""
    smallest = min((cell["size"] for cell in cells), default=0)
    known = [cell for cell in cells if cell["size"] == smallest and cell["speed_up"] is not None]
    counts = values_of(known, "queues")
    lines = []
    for colour, work in enumerate(values_of(known, "work")):
        own = sorted(
            (cell for cell in known if cell["work"] == work), key=lambda cell: cell["queues"]
        )
        points = tuple(
            Point(c["queues"], c["speed_up"], c["speed_up"], c["speed_up"], c["shared_cores"])
            for c in own
        )
        lines.append(Line(work_title(work, unit), points, colour))
    if len(counts) < 2:
        return Chart("speed-up", "", "", ())
    ideal = model_line("linear", [(count, count / counts[0]) for count in counts], _LIMIT_COLOUR)
    panel = Panel(
        f"frames of {smallest} octets", "queues", "speed-up", (*lines, ideal), tuple(counts)
    )
    caption = f"Throughput relative to one queue. {_HOLLOW}"
    return Chart("speed-up", "Speed-up over queues", caption, (panel,))


def _cost(document: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> Chart[Panel]:
    """Cycles per frame over work, at the smallest size, where the forwarder's CPU binds."""
    smallest = min((cell["size"] for cell in cells), default=0)
    bound = [
        cell
        for cell in cells
        if cell["size"] == smallest and cell["work"] is not None and cell["binds"] == "forwarder"
    ]
    fits = {fit["queues"]: fit for fit in document["fits"]}
    lines = []
    for colour, queues in enumerate(values_of(cells, "queues")):
        own = sorted(
            (cell for cell in bound if cell["queues"] == queues), key=lambda cell: cell["work"]
        )
        if not own:
            continue
        points = tuple(
            Point(c["work"], *3 * (c["cycles_per_frame"],), hollow=c["shared_cores"]) for c in own
        )
        lines.append(Line(_queues(queues), points, colour))
        fit = fits.get(queues)
        if fit is not None and fit["b"] is not None:
            ends = [(work, fit["a_cycles"] + fit["b"] * work) for work in (0.0, points[-1].x)]
            label = f"{fit['a_cycles']:.0f} + {fit['b']:.2f} work"
            lines.append(model_line(label, ends, colour))
    if not lines:
        return Chart("cost", "", "", ())
    unit = document["settings"]["work_unit"]
    panel = Panel(
        f"frames of {smallest} octets", f"work [{unit}]", "cycles per frame", tuple(lines)
    )
    caption = (
        "What a frame costs the forwarder, where its CPU is the limit, and the straight line that "
        "fits best."
    )
    return Chart("cost", "Cost per frame over work", caption, (panel,))
