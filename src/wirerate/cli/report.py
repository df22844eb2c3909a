# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate report`: make the page and the plots of a result again, from its JSON document."""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirerate.errors import ExitCode, HostSetupError, PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

_PAGES = {
    "wirerate-rss/1": "rss",
    "wirerate-kernel-path/1": "kernel_path",
}
"""Of documents that have a page: whose, `wirerate.report.NAME_html` and `NAME_plots`."""
SCHEMAS = tuple(_PAGES)

_EPILOG = """\
examples:
  wirerate rss --json > result.json
  wirerate report result.json -o result.html
      one file with tables and charts, which any browser opens without a network
  wirerate report result.json --plots charts/
      the charts as PNG and SVG files

exit codes:
  0 written, 2 not a document that has a page, 3 a file cannot be read or written
"""


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    parser = subparsers.add_parser(
        "report",
        help="make a page or plots of a result's JSON document",
        description="Make the HTML page or the plots of a result, from what --json printed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="RESULT.json", help="what --json printed")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the page there")
    parser.add_argument(
        "--plots", type=Path, metavar="DIR", help="write the charts there, PNG and SVG"
    )
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Write what is asked for, and say where it is."""
    if args.output is None and args.plots is None:
        raise PlanError("report: nothing to write; give -o FILE.html, --plots DIR, or both")
    document = _read(args.file)
    try:
        written = write_report(document, args.output, args.plots)
    except (KeyError, TypeError) as error:
        raise PlanError(
            f"{args.file}: not a whole document of {document['schema']} ({error} is missing or "
            "wrong); give what --json printed"
        ) from error
    for path in written:
        print(f"Written: {path}")
    return ExitCode.PASS


def write_report(
    document: Mapping[str, Any], html_file: Path | None, plots: Path | None
) -> list[Path]:
    """Write the page and the plots of a document, as far as asked for; the files written.

    Raises HostSetupError where a file cannot be written.
    """
    # Imported here: matplotlib takes longer to load than all the rest.
    from wirerate.report.charts import write_files  # noqa: PLC0415

    name = _PAGES[document["schema"]]
    written = []
    if html_file is not None:
        text: str = import_module(f"wirerate.report.{name}_html").html(document)
        try:
            html_file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise HostSetupError(f"report {html_file}: {error.strerror}") from error
        written.append(html_file)
    if plots is not None:
        charts = import_module(f"wirerate.report.{name}_plots").charts(document)
        written += write_files(charts, plots)
    return written


def write_csv(text: str, file: Path) -> None:
    """Write what --csv asked for. Raises HostSetupError."""
    try:
        file.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise HostSetupError(f"--csv {file}: {error.strerror}") from error


def _read(name: str) -> dict[str, Any]:
    try:
        text = Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise HostSetupError(f"{name}: {error.strerror}; give what --json printed") from error
    except UnicodeDecodeError as error:
        raise PlanError(f"{name}: not text in UTF-8; give what --json printed") from error
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise PlanError(
            f"{name}: line {error.lineno}: not JSON ({error.msg}); give what --json printed"
        ) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema not in SCHEMAS:
        raise PlanError(
            f"{name}: schema {schema!r} has no page; there are pages of {', '.join(SCHEMAS)}"
        )
    found: dict[str, Any] = document
    return found
