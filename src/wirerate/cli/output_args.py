# SPDX-License-Identifier: BSD-3-Clause
"""Readers of options that name files and folders to be written, and of lists."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping


def add_output_files(group: argparse._ArgumentGroup, row: str) -> None:
    """Files beside what is printed; ``row`` is what each row of the CSV file is for."""
    add = group.add_argument
    add("--csv", type=output_file("--csv"), metavar="FILE", help=f"write a row for each {row}")
    add(
        "--report",
        type=output_file("--report"),
        metavar="FILE",
        help="write a page (HTML) with tables and charts",
    )
    add(
        "--plots",
        type=output_folder("--plots"),
        metavar="DIR",
        help="write the charts as PNG and SVG files",
    )


def output_file(option: str) -> Callable[[str], Path]:
    """Make a reader of names of files that can be made: the folder is there, and no folder itself.

    The reader raises PlanError.
    """

    def read(text: str) -> Path:
        path = Path(text).absolute()
        if not text or path.is_dir() or not path.parent.is_dir():
            raise PlanError(f"{option} {text!r}: no file can be there; give a file in a folder")
        return path

    return read


def output_folder(option: str) -> Callable[[str], Path]:
    """Make a reader of names of folders that are there or can be made. It raises PlanError."""

    def read(text: str) -> Path:
        path = Path(text).absolute()
        there = next(place for place in (path, *path.parents) if place.exists())
        if not text or not there.is_dir():
            raise PlanError(f"{option} {text!r}: no folder can be there; {there} is no folder")
        return path

    return read


def check_outputs(files: Mapping[str, Path | None], folders: Mapping[str, Path | None]) -> None:
    """Refuse what could not be written in the end: by option, None where it was not given.

    Raises PlanError for two options with one name, and where the host refuses the name. What is
    made to find that out is removed; a file that is there keeps what is in it.
    """
    given: dict[Path, str] = {}
    for option, path in {**files, **folders}.items():
        if path is None:
            continue
        other = given.setdefault(path.resolve(), option)
        if other != option:
            raise PlanError(f"{other} and {option} are both {str(path)!r}: give each its own")
        try:
            (_try_file if option in files else _try_folder)(path)
        except OSError as error:
            raise PlanError(
                f"{option} {str(path)!r}: cannot be written ({error.strerror}); give another place"
            ) from error


def _try_file(path: Path) -> None:
    there = path.exists()
    with path.open("ab"):
        pass
    if not there:
        path.unlink()


def _try_folder(path: Path) -> None:
    """Make it and a file in it."""
    new = [place for place in (path, *path.parents) if not place.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path):
            pass
    finally:
        for place in new:  # the innermost first
            if place.is_dir():
                place.rmdir()


def values_of_list(
    text: str, option: str, read: Callable[[str], Any], example: str = "1,2,4"
) -> tuple[Any, ...]:
    """Values between commas, each once, in order. Raises PlanError."""
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise PlanError(f"{option} {text!r}: give values with commas between, {example} say")
    values = [read(word) for word in words]
    if len(set(values)) < len(values):
        raise PlanError(f"{option} {text!r}: a value is given twice; leave one out")
    return tuple(values)
