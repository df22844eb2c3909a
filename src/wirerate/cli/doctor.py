# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate doctor`: what of this host helps or hurts a measurement, and how to mend it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from wirerate.engine.process import find_engine
from wirerate.errors import ExitCode, HostSetupError
from wirerate.host.doctor import examine
from wirerate.host.findings import Finding, Level, summary

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "wirerate-doctor/1"
LEVEL_WIDTH, AREA_WIDTH = 9, 11
COLOURS: dict[Level, str] = {"ok": "\x1b[32m", "warning": "\x1b[33m", "error": "\x1b[31m"}
PLAIN = "\x1b[0m"

EPILOG = """\
examples:
  wirerate doctor                  what to mend before measuring
  wirerate doctor | grep -A1 ^err  only what will certainly fail, with its fix
  wirerate doctor --json           the same for programs and bug reports

It reads /proc and /sys, changes nothing and needs no privilege.
Exit code: 0 without an error (warnings allowed), 3 with one or more.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `doctor` to the program's parser."""
    parser = subparsers.add_parser(
        "doctor",
        help="tell what of this host helps or hurts a measurement, and how to mend it",
        description="Examine this host: hugepages, NICs, drivers, IOMMU, NUMA, CPU isolation, "
        "power saving, clock, noise.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help=f"print one JSON object (schema {SCHEMA}) instead of lines",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the findings; return 0, or 3 when at least one is an error."""
    findings = examine(engine=_engine())
    text = to_json(findings) if args.json else to_text(findings, colour=_colour_wanted())
    sys.stdout.write(text + "\n")
    return ExitCode.HOST_SETUP if summary(findings)["error"] else ExitCode.PASS


def to_text(findings: list[Finding], *, colour: bool) -> str:
    """Return one line per finding, fixes indented below theirs, and a last line of counts."""
    lines = []
    for finding in findings:
        level = finding.level.ljust(LEVEL_WIDTH)
        if colour:
            level = COLOURS[finding.level] + level + PLAIN
        lines.append(f"{level}{finding.area.ljust(AREA_WIDTH)}{_printable(finding.text)}")
        if finding.fix:
            lines.append(f"{'':{LEVEL_WIDTH}}fix: {_printable(finding.fix)}")
    counted = summary(findings)
    return "\n".join([*lines, _count_line(counted)])


def to_json(findings: list[Finding]) -> str:
    """Return the findings and their counts as one JSON object."""
    document = {
        "schema": SCHEMA,
        "findings": [asdict(finding) for finding in findings],
        "summary": summary(findings),
    }
    return json.dumps(document, indent=2)


def _engine() -> Path | HostSetupError:
    """Return the engine that a measurement would start, or why there is none."""
    try:
        return find_engine()
    except HostSetupError as problem:
        return problem


def _count_line(counted: dict[Level, int]) -> str:
    words = [f"{counted['ok']} ok"]
    words += [
        f"{number} {level}{'' if number == 1 else 's'}"
        for level, number in counted.items()
        if level != "ok"
    ]
    return ", ".join(words)


def _colour_wanted() -> bool:
    """Colour only for people at a terminal who did not refuse it (NO_COLOR, whatever its value)."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _printable(text: str) -> str:
    """Return `text` without control characters: names come from files that others may write."""
    return "".join(character if character.isprintable() else "?" for character in text)
