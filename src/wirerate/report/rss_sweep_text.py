# SPDX-License-Identifier: BSD-3-Clause
"""The tables of an RSS sweep, made of its JSON document: the reference's, then frames/s. Pure text.

The reference's own has a table for each work, `1Q(1 lcores)` rows, sizes as columns, BaseLine last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.report.rss_plots import values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_MEGA = 1e6
_MARKS = {"line": "=", "generator": "g", "receiver": "r", "link": "l", "unknown": "?"}
_MEANINGS = {
    "=": "the line rate is met",
    "g": "the generator is the limit",
    "r": "the generator's receiver is the limit",
    "l": "the link between the two is the limit",
    "?": "the limit is not known",
    "*": "lcores shared CPUs: says nothing about scaling",
    "x": "failed",
}
_LABEL = 16
_CELL = 9


def tables(document: Mapping[str, Any]) -> str:
    """All tables, the fit, the marks that occur, and what failed."""
    cells = document["cells"]
    sizes = document["settings"]["sizes"]
    lines = ["Size: [octets, with FCS]", "TP  : [Mbit/s at L1], median of the repeats", ""]
    lines += _block(document, sizes, _mbps)
    lines += ["", "The same in million frames/s", ""]
    lines += _block(document, sizes, _mfps)
    lines += ["", *_fits(document["fits"]), *_placement(document["rss"])]
    marks = {mark for cell in cells for mark in _marks(cell)}
    lines += [f"  {mark} {text}" for mark, text in _MEANINGS.items() if mark in marks]
    lines += [f"  failed: {_place(cell)}: {cell['reason']}" for cell in cells if _failed(cell)]
    return "\n".join(lines)


def _block(
    document: Mapping[str, Any], sizes: Sequence[int], show: Callable[[Mapping[str, Any]], str]
) -> list[str]:
    """A table for each work; the baseline, the best of all numbers of queues, ends each."""
    cells = document["cells"]
    unit = document["settings"]["work_unit"]
    works = [work for work in values_of(cells, "work") if work is not None]
    baseline = _best([cell for cell in cells if cell["work"] is None])
    lines: list[str] = []
    for work in works or [None]:
        if lines:
            lines.append("")
        title = "no work" if work is None else f"WORK={work:g} {unit}"
        head = "".join(f"{size:>{_CELL}}" for size in sizes)
        lines += [title, f"{'size':<{_LABEL}}{head}", "-" * (_LABEL + _CELL * len(sizes))]
        if work is not None:
            for queues in values_of(cells, "queues"):
                own = [c for c in cells if (c["queues"], c["work"]) == (queues, work)]
                lines.append(_row(f"{queues}Q({queues} lcores)", own, sizes, show))
        if baseline:
            lines.append(_row("BaseLine", baseline, sizes, show))
    return lines


def _best(cells: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """For each size the cell with the greatest throughput, whatever the number of queues."""
    measured = [cell for cell in cells if not _failed(cell)]
    found = []
    for size in values_of(measured, "size"):
        own = [cell for cell in measured if cell["size"] == size]
        found.append(max(own, key=lambda cell: float(cell["forwarding_fps"]["median"])))
    return found


def _row(
    label: str,
    cells: Sequence[Mapping[str, Any]],
    sizes: Sequence[int],
    show: Callable[[Mapping[str, Any]], str],
) -> str:
    by_size = {cell["size"]: cell for cell in cells}
    texts = []
    for size in sizes:
        cell = by_size.get(size)
        text = "" if cell is None else show(cell) + _marks(cell)
        texts.append(f"{text:>{_CELL}}")
    return f"{label:<{_LABEL}}{''.join(texts)}".rstrip()


def _failed(cell: Mapping[str, Any]) -> bool:
    return bool(cell["status"] != "ok")


def _marks(cell: Mapping[str, Any]) -> str:
    if _failed(cell):
        return "x"
    return _MARKS.get(cell["binds"], "") + ("*" if cell["shared_cores"] else "")


def _mbps(cell: Mapping[str, Any]) -> str:
    return "" if _failed(cell) else f"{cell['l1_mbps']['median']:.0f}"


def _mfps(cell: Mapping[str, Any]) -> str:
    return "" if _failed(cell) else f"{cell['forwarding_fps']['median'] / _MEGA:.3f}"


def _place(cell: Mapping[str, Any]) -> str:
    work = "BaseLine" if cell["work"] is None else f"work {cell['work']:g}"
    return f"{cell['queues']}Q, {work}, {cell['size']} octets"


def _fits(fits: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    for fit in fits:
        if fit["b"] is None:
            text = f"no fit, {fit['points']} cells of the smallest size had its CPU as the limit"
        else:
            text = (
                f"cycles = {fit['a_cycles']:.1f} + {fit['b']:.3f} work, residual "
                f"{100 * fit['residual']:.2f} %, {fit['points']} cells"
            )
            text += " (lcores shared CPUs)" if fit["shared_cores"] else ""
        lines.append(f"Fit {fit['queues']}Q: {text}")
    return lines


def _placement(placed: Mapping[str, Any]) -> list[str]:
    lines = [
        f"Flows: spread {placed['spread']}, each flow's queue chosen by the {placed['placed_by']}"
    ]
    for entry in placed["per_queue_flows"]:
        counts = ", ".join(f"{count:,}" for count in entry["flows"])
        lines.append(
            f"  {entry['queues']}Q: {counts}; max/mean {entry['max_over_mean']:.3f}, Jain "
            f"{entry['jain']:.4f}"
        )
    return lines


def progress(cell: Mapping[str, Any], number: int, total: int, left: str) -> str:
    """One cell, as it is done; ``left``: the time that the rest will take."""
    head = f"[{number}/{total}] {_place(cell)}: "
    if _failed(cell):
        return f"{head}failed: {cell['reason']}"
    marks = _marks(cell)
    said = f" ({'; '.join(_MEANINGS[mark] for mark in marks)})" if marks else ""
    fps = cell["forwarding_fps"]
    return (
        f"{head}{_mbps(cell)} Mbit/s, {_mfps(cell)} Mframes/s "
        f"({fps['min'] / _MEGA:.3f}-{fps['max'] / _MEGA:.3f}){said}; {left} left"
    )
