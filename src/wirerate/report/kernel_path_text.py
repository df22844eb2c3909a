# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate kernel-path` prints, made of its JSON document. Pure text, within 100 columns.

First the reference's table, then ping, CPU, loss and disturbance, then what limits and what cannot
run. A row has a second line with the spread of its repeats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.report.columns import Column, table_lines, wrapped
from wirerate.report.kernel_path_view import (
    NONE,
    NS_PER_FRAME,
    RATES,
    TESTS,
    doubts,
    failures,
    fast_of,
    label,
    loaded_ping,
    measured_rows,
    median_of,
    percent,
    ping_figure,
    spread_of,
    stat_of,
    title_of,
    tried_rows,
    whole,
)
from wirerate.report.parts_text import verdict_lines
from wirerate.trial.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = Mapping[str, Any]
    Heads = Sequence[Sequence[str]]

WIDTH = 100
"""Columns of a page; lines are wrapped to it where there is no terminal."""
_DOUBT = "*"


def kernel_path_text(document: Mapping[str, Any], room: int | None) -> str:
    """All of it; ``room``: columns of the terminal, None where it is none."""
    rows = measured_rows(document)
    width = min(room or WIDTH, WIDTH)
    lines = [wrapped(f"Kernel path: {title_of(document)}", width)]
    if tried := tried_rows(document):
        lines += ["", *_rates(tried, width, spread=document["settings"]["repeats"] > 1)]
    if rows:
        for table in (_pings, _cpu, _loss):
            lines += ["", *table(rows, width)]
    lines += _named("Limits", _limits(rows), width)
    lines += _named("Failed, doubtful, notable", _troubles(tried), width)
    lines += _named("Cannot run", _absent(document["rows"]), width)
    lines += ["", *(wrapped(line, width) for line in _verdict(document))]
    return "\n".join(lines)


def row_line(row: Row) -> str:
    """A row, as it is done, in one line."""
    head = label(row)
    if row["status"] == "cannot run":
        return f"{head}: cannot run: {row['reason']}"
    if row["status"] == "failed":
        return f"{head}: failed: {row['reason']}"
    figures = [f"{title} {_gbps(median_of(row, name, 'gbps'))}" for name, title in TESTS.items()]
    said = "" if row["verdict"]["valid"] else " (not valid)"
    return f"{head}: {', '.join(figures)} Gbit/s{said}"


def _rates(rows: Sequence[Row], width: int, *, spread: bool) -> list[str]:
    """The reference's table; with ``spread`` a second line of each row has that of its repeats."""
    heads = [(*TESTS[name].split(), "Gbps" if key == "gbps" else "pps") for name, key in RATES]
    cells = []
    for row in rows:
        mark = _DOUBT if not row["verdict"]["valid"] else ""
        stats = [stat_of(row, name, key) for name, key in RATES]
        shows = [_gbps if key == "gbps" else whole for _, key in RATES]
        medians = [
            show(None if stat is None else stat["median"])
            for stat, show in zip(stats, shows, strict=True)
        ]
        cells.append([label(row) + mark, *medians])
        if spread and any(stats):
            cells.append(["", *map(_spread, stats)])
    title = "Payload in Gbit/s, frames/s on the wire"
    title += ": median, and how far repeats go from it" if spread else ""
    marked = any(not row["verdict"]["valid"] for row in rows)
    notes = [f"  {_DOUBT} not valid, see below"] if marked else []
    return [title, *_table(heads, cells, width), *notes]


def _pings(rows: Sequence[Row], width: int) -> list[str]:
    heads = [
        ("", "idle", "p50"),
        ("", "idle", "p99"),
        *((*TESTS[name].split(), "p99") for name in TESTS),
        ("any", "test", "loss"),
        ("satu-", "rated", "p99"),
        ("satu-", "rated", "loss"),
    ]
    cells = [
        [
            label(row),
            _ping(row, "idle", "p50_us"),
            *(_ping(row, when, "p99_us") for when in ("idle", *TESTS)),
            percent(loaded_ping(row, "loss")),
            _ping(row, "saturated", "p99_us"),
            percent(ping_figure(row, "saturated", "loss")),
        ]
        for row in rows
    ]
    title = "Ping [us]: idle, beside each test, and with the fast path saturated"
    return [title, *_table(heads, cells, width)]


def _cpu(rows: Sequence[Row], width: int) -> list[str]:
    parts = {"application": "appl.", "machine": "machine"}
    heads = [(part, *TESTS[name].split()) for part in parts.values() for name in TESTS]
    cells = [
        [
            label(row),
            *(
                whole(median_of(row, name, "cpu", NS_PER_FRAME, part))
                for part in parts
                for name in TESTS
            ),
        ]
        for row in rows
    ]
    title = "CPU [ns per frame on the wire]: of the application, of the whole machine"
    return [title, *_table(heads, cells, width)]


def _loss(rows: Sequence[Row], width: int) -> list[str]:
    heads = [
        ("UDP", "read", "loss"),
        ("UDP", "write", "loss"),
        ("fast,", "alone", "loss"),
        ("fast,", "alone", "p99 us"),
        ("fast,", "TCP read", "loss"),
        ("fast,", "TCP read", "p99 us"),
        ("satu-", "rated,", "offered"),
        ("satu-", "rated,", "forward."),
    ]
    cells = [
        [
            label(row),
            *(percent(median_of(row, name, "udp_loss")) for name in ("udp_read", "udp_write")),
            percent(fast_of(row, "idle", "loss")),
            whole(fast_of(row, "idle", "p99_us")),
            percent(fast_of(row, "loaded", "loss")),
            whole(fast_of(row, "loaded", "p99_us")),
            whole(fast_of(row, "saturated", "offered_fps")),
            whole(fast_of(row, "saturated", "forwarded_fps")),
        ]
        for row in rows
    ]
    title = "Loss; the application's own frames (fast path), frames/s of them when saturated"
    return [title, *_table(heads, cells, width)]


def _table(heads: Heads, rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """A heading of three lines, a rule, the rows; columns as wide as what is in them."""
    below = [["", *(head[1] for head in heads)], ["", *(head[2] for head in heads)]]
    body = [*below, *rows]
    widths = [max(len(line[at]) for line in body) for at in range(len(heads) + 1)]
    columns = [Column("", widths[0], name=True)]
    for at, head in enumerate(heads, start=1):
        taken = max(widths[at], len(head[0])) + 1  # a second blank between columns
        columns.append(Column(head[0], taken, dispensable=at))
    lines = table_lines(columns, body, width)
    rule = "-" * max(map(len, lines))
    return [*(line.rstrip() for line in lines[:3]), rule, *(line.rstrip() for line in lines[3:])]


def _verdict(document: Mapping[str, Any]) -> list[str]:
    """The verdict on all; reasons that rows have, too, were told before."""
    verdict = document["verdict"]
    told = tuple(reason for row in document["rows"] for reason in row["verdict"]["reasons"])
    left = tuple(reason for reason in verdict["reasons"] if not reason.endswith(told))
    found = verdict_lines(Verdict(left, tuple(verdict["notes"])))
    if verdict["reasons"]:
        found[0] = "Verdict: invalid" + ("" if left else ", for what is said above")
    return found


def _named(title: str, said: Iterator[tuple[str, str]], width: int) -> list[str]:
    """What is said of rows (row, text), the same of several in one line."""
    rows: dict[str, list[str]] = {}
    for row, text in said:
        rows.setdefault(text, []).append(row)
    found = [wrapped(f"  {', '.join(who)}: {text}", width) for text, who in rows.items()]
    return ["", f"{title}:", *found] if found else []


def _limits(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    for row in rows:
        for limit in row["limits"]:
            yield label(row), limit


def _troubles(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    for row in rows:
        for reason in failures(row):
            yield label(row), f"failed: {reason}"
        for reason in doubts(row):
            yield label(row), f"not valid: {reason}"
        for note in row["verdict"]["notes"]:
            yield label(row), f"note: {note}"


def _absent(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    for row in rows:
        if row["status"] == "cannot run":
            hint = f"; to change it: {row['hint']}" if row["hint"] else ""
            yield label(row), f"{row['reason']}{hint}"


def _gbps(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def _ping(row: Row, when: str, key: str) -> str:
    return whole(ping_figure(row, when, key))


def _spread(stat: Mapping[str, float] | None) -> str:
    spread = None if stat is None else spread_of(stat)
    return "" if spread is None else f"±{100 * spread:.0f}%"
