# SPDX-License-Identifier: BSD-3-Clause
"""The engine with the strict device in it (engine/tests/strict/strict.h), and its reports."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from support.program import Program, Run

BUILD = Path(__file__).resolve().parents[2] / "build" / "release"
ENGINE = BUILD / "engine" / "tests" / "strict" / "wirerate-engine-strict"
FRAMES = int(float(os.environ.get("STRICT_FRAMES", "3e5")))
"""Frames of each case; `make strict` sets it."""


@dataclass
class Strict:
    """`wirerate` on strict devices; their reports are in a file."""

    program: Program
    file: Path

    def device(self, number: int, **arguments: object) -> str:
        """The location of a device."""
        words = [f"{name}={value}" for name, value in arguments.items()]
        return ",".join([f"vdev:net_strict{number}", *words, f"report={self.file}"])

    def run(self, *words: str) -> Run:
        """Run to the end; long enough for any number of frames."""
        return self.program.run(*words, timeout_s=max(60.0, FRAMES / 1e5))

    def finished(self, *words: str) -> dict[str, Any]:
        """The document of a run that went well, valid or not: a busy machine makes it invalid."""
        done = self.run(*words, "--json")
        assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
        return done.document

    def reports(self) -> list[dict[str, Any]]:
        """What the devices of the last run saw, in order; without a breach of their rules."""
        found = [json.loads(line) for line in self.file.read_text().splitlines()]
        self.file.unlink()
        for report in found:
            broken = {name: times for name, times in report["breaches"].items() if times}
            assert not broken, f"{report['device']}: {broken}"
            tally(report["taken"])
        return found

    def breaches(self) -> dict[str, int]:
        """The same for a run that is to break rules: how often which, over all devices."""
        found = [json.loads(line)["breaches"] for line in self.file.read_text().splitlines()]
        self.file.unlink()
        return {name: sum(each[name] for each in found) for name in found[0]}


_tallied = 0


def tally(frames: int) -> None:
    """Add frames that devices held without a breach."""
    global _tallied  # noqa: PLW0603 - a sum over the whole session
    _tallied += frames


def tallied() -> int:
    """All frames so far."""
    return _tallied


def strict_on(program: Program, folder: Path) -> Strict:
    """Strict devices for a program; skips where the engine with them is not built."""
    if not ENGINE.exists():
        pytest.skip(f"{ENGINE.name} is not built: make strict-engine")
    program.environment["WIRERATE_ENGINE"] = str(ENGINE)
    return Strict(program, folder / "strict.jsonl")
