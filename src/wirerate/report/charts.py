# SPDX-License-Identifier: BSD-3-Clause
"""Line charts, as SVG text for pages and as PNG and SVG files; drawn by matplotlib, off screen.

A chart is data: panels side by side, each with lines of points. What a chart shows is the business
of the command's own module (`rss_plots`), how it looks is settled here, once for all commands.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from wirerate.errors import HostSetupError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

#: Okabe and Ito's, which people with any colour vision can tell apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_PANEL_INCHES = (3.6, 3.2)
_PANELS_PER_ROW = 3
_PNG_DPI = 150
_HEADROOM = 1.03
"""So that what lies at the limit does not lie on the edge."""
_STYLE = {
    "font.family": "sans-serif",
    "font.size": 9.0,
    "svg.fonttype": "none",  # text stays text: small, and found by a search
    "svg.hashsalt": "wirerate",  # the same data, the same file
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True)
class Point:
    """A measured value: the median, and the range of its repeats; ``hollow``: to be doubted."""

    x: float
    y: float
    low: float
    high: float
    hollow: bool = False


@dataclass(frozen=True)
class Line:
    """Points of one legend entry, joined; ``colour`` counts; ``dashed``: a limit or a model."""

    label: str
    points: tuple[Point, ...]
    colour: int = 0
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """One pair of axes. ``ticks``: where the x axis has marks, "" = wherever."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    ticks: tuple[float, ...] = ()
    log_x: bool = False


@dataclass(frozen=True)
class Chart:
    """Panels under a title; ``name`` is that of its files, ``caption`` what one should know."""

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]


def model_line(label: str, points: Sequence[tuple[float, float]], colour: int) -> Line:
    """A line that was computed, not measured."""
    return Line(label, tuple(Point(x, y, y, y) for x, y in points), colour, dashed=True)


def svg_text(chart: Chart) -> str:
    """The chart as an ``<svg>`` element, to be put into a page."""
    with rc_context(_STYLE):
        text = io.StringIO()
        _figure(chart).savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def write_files(charts: Sequence[Chart], folder: Path) -> list[Path]:
    """Write each chart as NAME.png and NAME.svg into a folder, which is made where it is missing.

    Raises HostSetupError.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for chart in charts:
            path = folder / f"{chart.name}.svg"
            path.write_text(svg_text(chart), encoding="utf-8")
            written.append(path)
            path = folder / f"{chart.name}.png"
            with rc_context(_STYLE):
                _figure(chart).savefig(path, format="png", dpi=_PNG_DPI)
            written.append(path)
    except OSError as error:
        raise HostSetupError(f"plots in {folder}: {error.strerror}") from error
    return written


def _figure(chart: Chart) -> Figure:
    columns = min(len(chart.panels), _PANELS_PER_ROW)
    rows = -(-len(chart.panels) // columns)
    width, height = _PANEL_INCHES
    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    figure.suptitle(chart.title)
    for place, panel in enumerate(chart.panels):
        _draw(figure.add_subplot(rows, columns, place + 1), panel)
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, fontsize="medium")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.log_x:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
    for line in panel.lines:
        _draw_line(axes, line)
    if panel.ticks:
        axes.set_xticks(panel.ticks, [f"{tick:g}" for tick in panel.ticks])
    axes.set_ylim(bottom=0, top=_HEADROOM * axes.get_ylim()[1])
    axes.legend(fontsize="small", frameon=False)


def _draw_line(axes: Axes, line: Line) -> None:
    colour = _COLOURS[line.colour % len(_COLOURS)]
    xs = [point.x for point in line.points]
    ys = [point.y for point in line.points]
    if line.dashed:
        axes.plot(xs, ys, linestyle="--", linewidth=1.0, color=colour, label=line.label)
        return
    below = [max(0.0, point.y - point.low) for point in line.points]
    above = [max(0.0, point.high - point.y) for point in line.points]
    axes.errorbar(xs, ys, yerr=(below, above), color=colour, capsize=2, label=line.label)
    for hollow in (False, True):
        some = [point for point in line.points if point.hollow is hollow]
        axes.plot(
            [point.x for point in some],
            [point.y for point in some],
            linestyle="none",
            marker="o",
            markersize=4.5,
            markerfacecolor="white" if hollow else colour,
            color=colour,
        )
