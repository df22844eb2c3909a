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
    elsewhere = _elsewhere(document["settings"])
    lines = ["Size: [octets, with FCS]", "TP  : [Mbit/s at L1], median of the repeats"]
    lines += ["", *_ports(document["settings"])]
    lines += _block(document, sizes, _mbps)
    lines += ["", "The same in million frames/s", ""]
    lines += _block(document, sizes, _mfps)
    lines += ["", *_fits(document["fits"]), *_placement(document["rss"])]
    marks = {mark for cell in cells for mark in _marks(cell)}
    lines += [f"  {mark} {text}" for mark, text in _MEANINGS.items() if mark in marks]
    lines += [
        f"  failed: {_place(cell, elsewhere=elsewhere)}: {cell['reason']}"
        for cell in cells
        if _failed(cell)
    ]
    return "\n".join(lines)


def _ports(settings: Mapping[str, Any]) -> list[str]:
    """Between which ports, where they were the user's."""
    here, dut = settings.get("locations"), settings.get("dut_locations")
    if not here:
        return []
    forwarder = (
        f"here, {' to '.join(dut)}" if dut else "elsewhere, queues and work as the user says"
    )
    return [f"Generator: {' to '.join(here)}", f"Forwarder: {forwarder}", ""]


def _elsewhere(settings: Mapping[str, Any]) -> bool:
    """Nothing is known of the forwarder but what comes back."""
    return bool(settings.get("locations")) and not settings["dut_locations"]


def _block(
    document: Mapping[str, Any], sizes: Sequence[int], show: Callable[[Mapping[str, Any]], str]
) -> list[str]:
    """A table for each work; the baseline, the best of all numbers of queues, ends each."""
    cells = document["cells"]
    unit = document["settings"]["work_unit"]
    works = [work for work in values_of(cells, "work") if work is not None]
    elsewhere = _elsewhere(document["settings"])
    baseline = [] if elsewhere else _best([cell for cell in cells if cell["work"] is None])
    lines: list[str] = []
    for work in works or [None]:
        if lines:
            lines.append("")
        none = "WORK not told" if elsewhere else "no work"
        title = none if work is None else f"WORK={work:g} {unit}"
        head = "".join(f"{size:>{_CELL}}" for size in sizes)
        lines += [title, f"{'size':<{_LABEL}}{head}", "-" * (_LABEL + _CELL * len(sizes))]
        if work is not None or elsewhere:
            for queues in values_of(cells, "queues"):
                own = [c for c in cells if (c["queues"], c["work"]) == (queues, work)]
                label = f"{queues}Q" if elsewhere else f"{queues}Q({queues} lcores)"
                lines.append(_row(label, own, sizes, show))
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


def _place(cell: Mapping[str, Any], *, elsewhere: bool) -> str:
    none = "work not told" if elsewhere else "BaseLine"
    work = none if cell["work"] is None else f"work {cell['work']:g}"
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
    return [
        *lines,
        *(f"  {entry['queues']}Q: {_load(entry)}" for entry in placed["per_queue_flows"]),
    ]


def _load(entry: Mapping[str, Any]) -> str:
    """Flows of each queue as predicted, and the shares of frames that came."""
    text = "flows of each queue are not known, the device does not say how it spreads them"
    if entry["flows"] is not None:
        text = (
            f"{', '.join(f'{count:,}' for count in entry['flows'])}; max/mean "
            f"{entry['max_over_mean']:.3f}, Jain {entry['jain']:.4f}"
        )
    shares = entry.get("observed")
    if shares is None or len(shares) == 1:
        return text
    return f"{text}; frames received {', '.join(f'{100 * share:.1f} %' for share in shares)}"


def progress(
    cell: Mapping[str, Any], number: int, total: int, left: str, *, elsewhere: bool = False
) -> str:
    """One cell, as it is done; ``left``: the time that the rest will take.

    ``elsewhere``: nothing is known of the forwarder but what comes back.
    """
    head = f"[{number}/{total}] {_place(cell, elsewhere=elsewhere)}: "
    if _failed(cell):
        return f"{head}failed: {cell['reason']}"
    marks = _marks(cell)
    said = f" ({'; '.join(_MEANINGS[mark] for mark in marks)})" if marks else ""
    fps = cell["forwarding_fps"]
    return (
        f"{head}{_mbps(cell)} Mbit/s, {_mfps(cell)} Mframes/s "
        f"({fps['min'] / _MEGA:.3f}-{fps['max'] / _MEGA:.3f}){said}; {left} left"
    )
