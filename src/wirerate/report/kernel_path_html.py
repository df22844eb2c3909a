# SPDX-License-Identifier: BSD-3-Clause
"""The HTML report of `wirerate kernel-path`, made of its JSON document and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.report.html_page import Cell, Section, Table, page
from wirerate.report.kernel_path_plots import charts
from wirerate.report.kernel_path_view import (
    CPU_PARTS,
    NONE,
    NS_PER_FRAME,
    RATES,
    S_PER_GB,
    TESTS,
    doubts,
    failures,
    fast_of,
    label,
    measured_rows,
    percent,
    ping_figure,
    ping_of,
    stat_of,
    test_of,
    title_of,
    tried_rows,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

_UNITS = {"gbps": "Gbit/s", "pps": "pps"}
_RATES_TEXT = (
    "Payload that arrived, in Gbit/s, and frames/s on the wire; medians of the repeats, point at "
    "one for the range. Read is what the side behind the kernel port receives. Pale rows are not "
    "valid, for the reasons below."
)
_CPU_TEXT = (
    "CPU time while a test ran, by the frames on the wire and by 10^9 octets of payload. The "
    "application's is the engine's; the machine's has all of them in it, and what the kernel does."
)
_FAST_TEXT = (
    "The application's own frames through the same port: 10,000 frames/s alone and beside TCP "
    "read; then offered more than it can do, while ping goes on through the kernel port."
)


def html(document: Mapping[str, Any]) -> str:
    """The whole page."""
    rows = measured_rows(document)
    tried = tried_rows(document)
    drawn = {chart.name: chart for chart in charts(document)}
    rates = [drawn[name] for name in ("gbps", "pps") if name in drawn]
    cpu = [drawn[name] for name in ("cpu",) if name in drawn]
    pings = [drawn[name] for name in ("ping",) if name in drawn]
    costs = [
        _cpu(rows, NS_PER_FRAME, "ns per frame on the wire", 0),
        _cpu(rows, S_PER_GB, "seconds per GB of payload", 2),
    ]
    sections = [
        Section("Throughput", [_RATES_TEXT], [_rates(tried)], rates),
        Section("Limits, failures, doubts", [], [_remarks(tried)]),
        Section("Ping", ["Round trip [us]."], [_pings(rows)], pings),
        Section("CPU", [_CPU_TEXT], costs, cpu),
        Section("Fast path", [_FAST_TEXT], [_fast(rows)]),
        Section("Every test", [], [_details(rows)]),
        Section("What cannot run here", [], [_absent(document["rows"])]),
    ]
    made = document["environment"].get("started", "")
    return page(
        "wirerate: what the way into the kernel costs",
        f"{title_of(document)}; started {made}",
        document["verdict"],
        [section for section in sections if any(table.rows for table in section.tables)],
    )


def _rates(rows: Sequence[Row]) -> Table:
    heads = [f"{TESTS[name]} {_UNITS[key]}" for name, key in RATES]
    body = []
    for row in rows:
        doubt = not row["verdict"]["valid"]
        cells = [_stat(stat_of(row, name, key), 2 if key == "gbps" else 0) for name, key in RATES]
        body.append([_name(row), *(Cell(cell.text, doubt, cell.why) for cell in cells)])
    return Table("", ["", *heads], body)


def _remarks(rows: Sequence[Row]) -> Table:
    """What is said of rows, the same of several once."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        said = [
            *(("limit", text) for text in row["limits"]),
            *(("failed", text) for text in failures(row)),
            *(("not valid", text) for text in doubts(row)),
            *(("note", text) for text in row["verdict"]["notes"]),
        ]
        if (row["steering"] or {}).get("by") == "device":  # software is explained by a note
            said.append(("steering", "by the device"))
        for one in said:
            found.setdefault(one, []).append(label(row))
    body = [
        [Cell(", ".join(who)), _words(kind), _words(text)] for (kind, text), who in found.items()
    ]
    return Table("", ["", "what", ""], body)


def _pings(rows: Sequence[Row]) -> Table:
    whens = {"idle": "idle"} | TESTS | {"saturated": "fast path saturated"}
    body = []
    for row in rows:
        for when, words in whens.items():
            ping = ping_of(row, when)
            if ping is None:
                continue
            times = [ping[f"{name}_us"] for name in ("p50", "p90", "p99", "max")]
            sent = [Cell(f"{ping['sent']:,}"), Cell(percent(ping["loss"]))]
            body.append([_name(row), _words(words), *sent, *(Cell(whole(us)) for us in times)])
    return Table("", ["", "beside", "sent", "loss", "median", "90 %", "99 %", "greatest"], body)


def _cpu(rows: Sequence[Row], key: str, title: str, digits: int) -> Table:
    body = []
    for row in rows:
        for name, words in TESTS.items():
            if test_of(row, name) is None:
                continue
            parts = [_stat(stat_of(row, name, "cpu", key, part), digits) for part in CPU_PARTS]
            busy = stat_of(row, name, "cpu", "application_busy")
            body.append([_name(row), _words(words), *parts, _share(busy)])
    return Table(title, ["", "test", *CPU_PARTS.values(), "busiest lcore"], body)


def _fast(rows: Sequence[Row]) -> Table:
    body = []
    for row in rows:
        if row.get("fast_path") is None:
            continue
        cells = []
        for when in ("idle", "loaded"):
            cells.append(Cell(percent(fast_of(row, when, "loss"))))
            cells += [Cell(whole(fast_of(row, when, key))) for key in ("p50_us", "p99_us")]
        saturated = [fast_of(row, "saturated", key) for key in ("offered_fps", "forwarded_fps")]
        loss = ping_figure(row, "saturated", "loss")
        body.append([_name(row), *cells, *(Cell(whole(fps)) for fps in saturated)])
        body[-1].append(Cell(percent(loss)))
    heads = [
        f"{when}: {what}"
        for when in ("alone", "beside TCP read")
        for what in ("loss", "median [us]", "99 % [us]")
    ]
    return Table("", ["", *heads, "offered [frames/s]", "forwarded", "ping loss then"], body)


_DETAILS = {
    "frame_octets": ("octets/frame", 0),
    "kernel_pps": ("kernel port pps", 0),
    "socket_pps": ("socket pps", 0),
    "back_pps": ("pps back", 0),
    "retransmits": ("retransmissions", 0),
}


def _details(rows: Sequence[Row]) -> Table:
    body = []
    for row in rows:
        for name, words in TESTS.items():
            test = test_of(row, name)
            if test is None:
                continue
            figures = [
                _stat(stat_of(row, name, key), digits) for key, (_, digits) in _DETAILS.items()
            ]
            repeats = test["repeats"]
            valid = sum(bool(repeat["valid"]) for repeat in repeats)
            counted = Cell(f"{valid} of {len(repeats)}", doubt=valid < len(repeats))
            rates = [_stat(stat_of(row, name, "gbps"), 2), _stat(stat_of(row, name, "pps"), 0)]
            loss = _share(stat_of(row, name, "udp_loss"))
            body.append([_name(row), _words(words), *rates, *figures, loss, counted])
    more = [words for words, _ in _DETAILS.values()]
    return Table("", ["", "test", "Gbit/s", "pps", *more, "UDP loss", "valid repeats"], body)


def _absent(rows: Sequence[Row]) -> Table:
    body = [
        [_name(row), _words(row["reason"]), _words(row["hint"] or NONE)]
        for row in rows
        if row["status"] == "cannot run"
    ]
    return Table("", ["", "why", "what would change it"], body)


def _name(row: Row) -> Cell:
    return Cell(label(row))


def _words(text: str) -> Cell:
    return Cell(text, words=True)


def _stat(stat: Mapping[str, float] | None, digits: int) -> Cell:
    if stat is None:
        return Cell(NONE)
    low, high = f"{stat['min']:,.{digits}f}", f"{stat['max']:,.{digits}f}"
    return Cell(f"{stat['median']:,.{digits}f}", why=f"{low} to {high}")


def _share(stat: Mapping[str, float] | None) -> Cell:
    if stat is None:
        return Cell(NONE)
    why = f"{percent(stat['min'])} to {percent(stat['max'])}"
    return Cell(percent(stat["median"]), why=why)
