# SPDX-License-Identifier: BSD-3-Clause
"""Charts of lines and of bars, as SVG text for pages and as PNG and SVG files; by matplotlib.

It draws off screen. A chart is data: panels side by side, each with lines of points, or with bars.
What a chart shows is the business of the command's own module (`rss_plots`), how it looks is
settled here, once for all commands.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from wirerate.errors import HostSetupError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

#: Okabe and Ito's, which people with any colour vision can tell apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_PANEL_INCHES = (3.6, 3.2)
_PANELS_PER_ROW = 3
_BAR_PANEL_INCHES = (5.0, 0.9)
"""Of a panel of bars: the width; the height without any bar."""
_BAR_PANELS_PER_ROW = 2
_BAR_INCHES = 0.14
_CATEGORY_INCHES_MIN = 0.3
_BAR_SHARE = 0.8
"""Of the room that a category has; the rest parts it from the next."""
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
class Bar:
    """A measured value: the median, and the range of its repeats."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Bars:
    """Bars of one legend entry, one for each category of the panel; None: not measured."""

    label: str
    bars: tuple[Bar | None, ...]
    colour: int = 0


@dataclass(frozen=True)
class BarPanel:
    """Lying bars, categories from top to bottom: those of a category beside each other, or joined.

    ``log_x``: values must be above 0. ``stacked`` bars have no range.
    """

    title: str
    x_label: str
    categories: tuple[str, ...]
    series: tuple[Bars, ...]
    stacked: bool = False
    log_x: bool = False


_SomePanel = TypeVar("_SomePanel", Panel, BarPanel)


@dataclass(frozen=True)
class Chart(Generic[_SomePanel]):
    """Panels under a title; ``name`` is that of its files, ``caption`` what one should know."""

    name: str
    title: str
    caption: str
    panels: tuple[_SomePanel, ...]


def model_line(label: str, points: Sequence[tuple[float, float]], colour: int) -> Line:
    """A line that was computed, not measured."""
    return Line(label, tuple(Point(x, y, y, y) for x, y in points), colour, dashed=True)


def svg_text(chart: Chart[Any]) -> str:
    """The chart as an ``<svg>`` element, to be put into a page."""
    with rc_context(_STYLE):
        text = io.StringIO()
        _figure(chart).savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def write_files(charts: Sequence[Chart[Any]], folder: Path) -> list[Path]:
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


def _figure(chart: Chart[Any]) -> Figure:
    per_row = min(_per_row(panel) for panel in chart.panels)
    columns = min(len(chart.panels), per_row)
    rows = -(-len(chart.panels) // columns)
    width, height = map(max, zip(*map(_inches, chart.panels), strict=True))
    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    figure.suptitle(chart.title)
    for place, panel in enumerate(chart.panels):
        axes = figure.add_subplot(rows, columns, place + 1)
        if isinstance(panel, BarPanel):
            _draw_bars(axes, panel)
        else:
            _draw(axes, panel)
    if isinstance(chart.panels[0], BarPanel):
        _legend_below(figure)
    return figure


def _per_row(panel: Panel | BarPanel) -> int:
    return _BAR_PANELS_PER_ROW if isinstance(panel, BarPanel) else _PANELS_PER_ROW


def _inches(panel: Panel | BarPanel) -> tuple[float, float]:
    """What a panel needs: of bars, more where there are more of them."""
    if not isinstance(panel, BarPanel):
        return _PANEL_INCHES
    beside = 1 if panel.stacked else len(panel.series)
    each = max(_CATEGORY_INCHES_MIN, _BAR_INCHES * beside)
    return _BAR_PANEL_INCHES[0], _BAR_PANEL_INCHES[1] + each * len(panel.categories)


def _legend_below(figure: Figure) -> None:
    """One for all panels of bars, whose labels stand for the same in each."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(text, handle)
    if len(found) > 1:
        figure.legend(
            list(found.values()),
            list(found),
            loc="outside lower center",
            ncols=len(found),
            fontsize="small",
            frameon=False,
        )


def _draw_bars(axes: Axes, panel: BarPanel) -> None:
    axes.set_title(panel.title, fontsize="medium")
    axes.set_xlabel(panel.x_label)
    axes.set_axisbelow(True)
    places = range(len(panel.categories))
    axes.set_yticks(places, panel.categories)
    axes.set_ylim(len(panel.categories) - 0.5, -0.5)  # the first on top
    axes.grid(visible=False, axis="y")
    if panel.stacked:
        _draw_stacked(axes, panel)
    else:
        _draw_beside(axes, panel)
    if panel.log_x:
        _whole_decades(axes, panel)
    else:
        axes.set_xlim(left=0)


def _whole_decades(axes: Axes, panel: BarPanel) -> None:
    """A logarithmic axis has no natural start: from a power of ten to one, each with its number."""
    values = [bar.value for series in panel.series for bar in series.bars if bar is not None]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    low, high = (low - 1, high) if min(values) <= 10.0**low else (low, high)
    axes.set_xscale("log")
    axes.set_xticks([10.0**power for power in range(low, high + 1)])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: _with_commas(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(10.0**low, 10.0**high)


def _with_commas(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _draw_stacked(axes: Axes, panel: BarPanel) -> None:
    lefts = [0.0] * len(panel.categories)
    for series in panel.series:
        widths = [0.0 if bar is None else bar.value for bar in series.bars]
        colour = _COLOURS[series.colour % len(_COLOURS)]
        axes.barh(range(len(widths)), widths, _BAR_SHARE, lefts, color=colour, label=series.label)
        lefts = [left + width for left, width in zip(lefts, widths, strict=True)]


def _draw_beside(axes: Axes, panel: BarPanel) -> None:
    """The bars of a category take the middle of its room, as many as it has."""
    thick = _BAR_SHARE / max(1, _most_beside(panel))
    drawn = [0] * len(panel.categories)
    counts = [
        sum(series.bars[at] is not None for series in panel.series) for at in range(len(drawn))
    ]
    for series in panel.series:
        colour = _COLOURS[series.colour % len(_COLOURS)]
        ys, bars = [], []
        for at, bar in enumerate(series.bars):
            if bar is not None:
                ys.append(at + thick * (drawn[at] - (counts[at] - 1) / 2))
                bars.append(bar)
                drawn[at] += 1
        values = [bar.value for bar in bars]
        axes.barh(ys, values, thick, color=colour, label=series.label)
        below = [max(0.0, bar.value - bar.low) for bar in bars]
        above = [max(0.0, bar.high - bar.value) for bar in bars]
        if any(below) or any(above):
            axes.errorbar(values, ys, xerr=(below, above), fmt="none", ecolor="black", capsize=2)


def _most_beside(panel: BarPanel) -> int:
    """The greatest number of bars that a category has."""
    places = range(len(panel.categories))
    return max(
        (sum(series.bars[at] is not None for series in panel.series) for at in places), default=1
    )


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
