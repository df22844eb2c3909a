# SPDX-License-Identifier: BSD-3-Clause
"""Cells of an RSS sweep kept in a file as they are done, so that a second run goes on.

Lines of JSON: the settings first, then a cell each. A line that was cut (power, kill -9) is taken
for one that was not written.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wirerate.errors import HostSetupError, PlanError
from wirerate.methods.rss_figures import Cell, CellFigures, TrialFigures

if TYPE_CHECKING:
    from pathlib import Path

_SCHEMA = "wirerate-rss-cells/1"


def read_done(path: Path, settings: dict[str, Any]) -> dict[Cell, CellFigures]:
    """What a file has of these settings; nothing where it is not there yet.

    Failed cells are left out, so that they are tried again. Raises PlanError for a file of other
    settings or of another kind, HostSetupError when it cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise HostSetupError(f"--resume {path}: cannot be read: {error}") from error
    if not lines:
        return {}
    head = _object(lines[0])
    if head is None or head.get("schema") != _SCHEMA:
        raise PlanError(f"--resume {path}: not a file of cells of a sweep; give another name")
    if head["settings"] != settings:
        other = [name for name in settings if head["settings"].get(name) != settings[name]]
        raise PlanError(
            f"--resume {path}: is of a sweep with another {', '.join(other)}; give the same "
            "options, or another file"
        )
    cells = [cell for line in lines[1:] if (cell := _object(line)) is not None]
    done = [_figures(cell) for cell in cells if cell["status"] == "ok"]
    return {one.cell: one for one in done}


def begin(path: Path, settings: dict[str, Any], done: dict[Cell, CellFigures]) -> None:
    """Write the settings and what is done. Raises HostSetupError."""
    lines = [{"schema": _SCHEMA, "settings": settings}, *(one.document() for one in done.values())]
    try:
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise HostSetupError(f"--resume {path}: {error.strerror}") from error


def append(path: Path, figures: CellFigures) -> None:
    """Add a cell. Raises HostSetupError."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(figures.document())}\n")
    except OSError as error:
        raise HostSetupError(f"--resume {path}: {error.strerror}") from error


def _object(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _figures(document: dict[str, Any]) -> CellFigures:
    """The reverse of `CellFigures.document`."""
    trials = tuple(map(_trial, document["trials"]))
    cell = Cell(document["queues"], document["work"], document["size"])
    return CellFigures(
        cell, document["shared_cores"], trials, document["reason"], document["binds"]
    )


def _trial(document: dict[str, Any]) -> TrialFigures:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in document.items()
    }
    return TrialFigures(**values)
