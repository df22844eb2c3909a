# SPDX-License-Identifier: BSD-3-Clause
"""The charts of `wirerate kernel-path`, made of its JSON document and nothing else.

Source of the document: docs/design/0009-kernel-path.md. What was not measured has no bar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.report.charts import Bar, BarPanel, Bars, Chart
from wirerate.report.kernel_path_view import (
    CPU_PARTS,
    NS_PER_FRAME,
    TESTS,
    label,
    loaded_ping,
    measured_rows,
    median_of,
    ping_figure,
    stat_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Row = Mapping[str, Any]

_MODES = {"": "Linux itself", "shared": "shared", "dedicated": "dedicated"}
_MODE_COLOURS = {"": 6, "shared": 0, "dedicated": 1}
_MEGA = 1e6
_SPREAD = "Bars are medians of the repeats, marks reach from the least to the greatest."
_PINGS = {"p50_us": "median", "p99_us": "99th percentile"}


def charts(document: Mapping[str, Any]) -> list[Chart[BarPanel]]:
    """Gbit/s, frames/s, CPU and ping, as far as there are figures to draw."""
    rows = measured_rows(document)
    made = [
        _rates(rows, "gbps", 1.0, "Gbit/s of payload", "Payload carried, by test"),
        _rates(rows, "pps", _MEGA, "million frames/s on the wire", "Frames on the wire, by test"),
        _cpu(rows),
        _pings(rows),
    ]
    return [chart for chart in made if chart.panels]


def _rates(rows: Sequence[Row], key: str, scale: float, unit: str, title: str) -> Chart[BarPanel]:
    """A panel per test; groups from top to bottom, their modes beside each other."""
    groups = list(dict.fromkeys(row["group"] for row in rows))
    panels = []
    for name, test in TESTS.items():
        by_place = {(row["group"], row["mode"]): stat_of(row, name, key) for row in rows}
        series = []
        for mode, words in _MODES.items():
            bars = tuple(_bar(by_place.get((group, mode)), scale) for group in groups)
            if any(bar is not None for bar in bars):
                series.append(Bars(words, bars, _MODE_COLOURS[mode]))
        if series:
            panels.append(BarPanel(test, unit, tuple(groups), tuple(series)))
    return Chart(key, title, f"{title}. {_SPREAD}", tuple(panels))


def _bar(stat: Mapping[str, float] | None, scale: float) -> Bar | None:
    if stat is None:
        return None
    return Bar(stat["median"] / scale, stat["min"] / scale, stat["max"] / scale)


def _cpu(rows: Sequence[Row]) -> Chart[BarPanel]:
    """A panel per test: the machine's time per frame, parted by whose it is."""
    labels = tuple(map(label, rows))
    panels = []
    for name, test in TESTS.items():
        parts = [_parts(row, name) for row in rows]
        if not any(parts):
            continue
        series = [
            Bars(words, tuple(Bar(*3 * (part[key],)) if part else None for part in parts), colour)
            for colour, (key, words) in enumerate(_CPU_SHOWN.items())
        ]
        unit = "CPU ns per frame on the wire"
        panels.append(BarPanel(test, unit, labels, tuple(series), stacked=True))
    caption = (
        "All CPU time of the machine while a test ran, by the frames on the wire, medians of the "
        "repeats. Frames pass through the kernel in whoever's time it is: what neither the "
        "application nor iperf3 did (kernel threads, interrupts when idle) is the rest."
    )
    return Chart("cpu", "CPU time per frame, by test", caption, tuple(panels))


_CPU_SHOWN = {name: words for name, words in CPU_PARTS.items() if name != "machine"} | {
    "rest": "the rest"
}


def _parts(row: Row, name: str) -> dict[str, float]:
    """The application's, both iperf3s' and the rest of the machine's time per frame [ns]."""
    times = {part: median_of(row, name, "cpu", NS_PER_FRAME, part) for part in CPU_PARTS}
    machine = times.pop("machine")
    if machine is None:
        return {}
    found = {part: time or 0.0 for part, time in times.items()}
    return found | {"rest": max(0.0, machine - sum(found.values()))}


def _pings(rows: Sequence[Row]) -> Chart[BarPanel]:
    """The median and the 99th percentile: idle, loaded, and with the fast path saturated."""
    labels = tuple(map(label, rows))
    panels = []
    for key, title in _PINGS.items():
        series = []
        for words, (colour, figure) in _WHENS.items():
            values = [figure(row, key) for row in rows]
            if any(values):
                bars = tuple(Bar(*3 * (value,)) if value else None for value in values)
                series.append(Bars(words, bars, colour))
        if series:
            panels.append(BarPanel(title, "us, logarithmic", labels, tuple(series), log_x=True))
    caption = "Round trip of ping's replies; what was lost is in the table."
    return Chart("ping", "Ping through the kernel path", caption, tuple(panels))


def _idle(row: Row, key: str) -> float | None:
    return ping_figure(row, "idle", key)


def _saturated(row: Row, key: str) -> float | None:
    return ping_figure(row, "saturated", key)


_WHENS: dict[str, tuple[int, Callable[[Row, str], float | None]]] = {
    "idle": (2, _idle),
    "beside a test (the worst)": (4, loaded_ping),
    "fast path saturated": (3, _saturated),
}
"""When, the colour, and how to find the figure."""
