# SPDX-License-Identifier: BSD-3-Clause
"""The HTML report of `wirerate rss`, made of its JSON document and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.report.html_page import Cell, Section, Table, page
from wirerate.report.rss_plots import charts, values_of, work_title

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MEGA = 1e6
_BINDS = {
    "line": "the line rate",
    "forwarder": "the forwarder's CPU",
    "generator": "the generator",
    "receiver": "the receiver",
    "link": "the link between the two",
    "unknown": "nothing that is known",
}


def html(document: Mapping[str, Any]) -> str:
    """The whole page."""
    cells = document["cells"]
    settings = document["settings"]
    made = document["environment"].get("started", "")
    placed = document["rss"]
    sections = [
        Section(
            "Throughput",
            ["Mbit/s at L1 (frames with preamble and gap), median of the repeats. " + _legend()],
            _tables(cells, settings["work_unit"]),
            charts(document),
        ),
        Section("Fit", [_FIT], [_fits(document["fits"])]),
        Section(
            "Flows and queues",
            [_placement(document)],
            [_imbalance(placed)],
        ),
        Section("Every cell", [], [_details(cells, settings["work_unit"])]),
    ]
    return page(
        "wirerate: how forwarding scales with queues, work and frame size",
        f"started {made}",
        document["verdict"],
        sections,
    )


_FIT = (
    "cycles = a + b work: a is what receiving and sending a frame costs, b what one unit of work "
    "does; over cells of the smallest frames in which the forwarder's CPU is the limit."
)


def _placement(document: Mapping[str, Any]) -> str:
    settings, placed = document["settings"], document["rss"]
    here, dut = settings.get("locations"), settings.get("dut_locations")
    ports = ""
    if here:
        where = f"on this machine, {' to '.join(dut)}" if dut else "elsewhere; its CPU is not known"
        ports = f" Generator: {' to '.join(here)}. Forwarder: {where}."
    return (
        f"{settings['flows']:,} flows, spread {placed['spread']}; each flow's queue was chosen by "
        f"the {placed['placed_by']}. Hash key {placed['key'] or 'not known'}.{ports}"
    )


def _legend() -> str:
    return (
        "Pale cells do not show what the forwarder can do: something else was the limit, or lcores "
        "shared CPUs; point at one to see which."
    )


def _tables(cells: Sequence[Mapping[str, Any]], unit: str) -> list[Table]:
    """One for each work, those of the baseline last."""
    sizes = values_of(cells, "size")
    tables = []
    for work in values_of(cells, "work"):
        rows = []
        for queues in values_of(cells, "queues"):
            own = {
                cell["size"]: cell
                for cell in cells
                if (cell["work"], cell["queues"]) == (work, queues)
            }
            if own:
                rows.append([Cell(f"{queues}Q"), *(_throughput(own.get(size)) for size in sizes)])
        tables.append(Table(work_title(work, unit), ["", *(f"{size}" for size in sizes)], rows))
    return tables


def _throughput(cell: Mapping[str, Any] | None) -> Cell:
    if cell is None:
        return Cell("", why="not measured")
    if cell["status"] != "ok":
        return Cell("failed", doubt=True, why=cell["reason"])
    why = f"limited by {_BINDS[cell['binds']]}"
    if cell["shared_cores"]:
        why += "; lcores shared CPUs"
    doubt = cell["binds"] != "forwarder" or cell["shared_cores"]
    return Cell(f"{cell['l1_mbps']['median']:,.0f}", doubt, why)


def _fits(fits: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        [
            Cell(f"{fit['queues']}Q"),
            Cell("-" if fit["b"] is None else f"{fit['a_cycles']:.1f}"),
            Cell("-" if fit["b"] is None else f"{fit['b']:.3f}"),
            Cell("-" if fit["residual"] is None else f"{100 * fit['residual']:.2f} %"),
            Cell(f"{fit['points']}"),
        ]
        for fit in fits
    ]
    return Table("", ["queues", "a [cycles]", "b", "residual", "cells"], rows)


def _imbalance(placed: Mapping[str, Any]) -> Table:
    """Flows per queue for each number of queues, and how uneven that is."""
    rows = [
        [
            Cell(f"{entry['queues']}Q"),
            Cell(_list(entry["flows"], ",")),
            Cell(_number(entry["max_over_mean"], 3)),
            Cell(_number(entry["jain"], 4)),
            Cell(_list(entry.get("observed"), ".1%")),
        ]
        for entry in placed["per_queue_flows"]
    ]
    columns = ["queues", "flows of each queue", "max/mean", "Jain's index", "frames received"]
    return Table("", columns, rows)


def _list(values: Sequence[float] | None, form: str) -> str:
    return "-" if values is None else ", ".join(f"{value:{form}}" for value in values)


def _details(cells: Sequence[Mapping[str, Any]], unit: str) -> Table:
    columns = [
        "queues",
        "work",
        "size",
        "Mframes/s",
        "least",
        "greatest",
        "Mbit/s L1",
        "loss",
        "cycles/frame",
        "speed-up",
        "efficiency",
        "limited by",
    ]
    return Table("", columns, [_detail(cell, unit) for cell in cells])


def _detail(cell: Mapping[str, Any], unit: str) -> list[Cell]:
    work = "none" if cell["work"] is None else f"{cell['work']:g} {unit}"
    head = [Cell(f"{cell['queues']}"), Cell(work), Cell(f"{cell['size']}")]
    if cell["status"] != "ok":
        return [
            *head,
            Cell("failed", why=cell["reason"]),
            *(Cell("") for _ in range(7)),
            Cell(cell["reason"]),
        ]
    fps = cell["forwarding_fps"]
    limit = _BINDS[cell["binds"]] + ("; shared CPUs" if cell["shared_cores"] else "")
    return [
        *head,
        *(Cell(f"{fps[name] / _MEGA:.3f}") for name in ("median", "min", "max")),
        Cell(f"{cell['l1_mbps']['median']:,.0f}"),
        Cell(f"{100 * cell['loss_ratio']['median']:.3g} %"),
        Cell(_number(cell["cycles_per_frame"], 1)),
        Cell(_number(cell["speed_up"], 2)),
        Cell(_number(cell["efficiency"], 2)),
        Cell(limit),
    ]


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
