# SPDX-License-Identifier: BSD-3-Clause
"""Golden files: plans, what `wirerate preview` must make of them, and who says so besides it.

`tests/golden/rebuild_*.py` register with `rebuilds` or `rebuilds_all` the frames of each plan as
Scapy builds them. Used by `tests/golden` only.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.read_captures import read_pcapng
from wirerate.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent.parent / "golden"
PLANS = FOLDER / "plans"
PCAPS = FOLDER / "pcaps"

NS_PER_S = 10**9
TIME_ERROR_NS = 1
"""Scapy's side reckons exactly, the engine in tenths of a nanosecond."""
FRAMES = 20
"""Frames of a golden file, unless said otherwise."""


Due = Callable[[int], "Fraction | int"]
"""When frame i of a flow is due [ns]."""


@dataclass(frozen=True)
class Sent:
    """A frame, without FCS; the time is since the start, the port counts those that send."""

    time_ns: int
    port: int
    octets: bytes


@dataclass(frozen=True)
class Golden:
    """A plan's name, the frames asked of the preview, and those that must come."""

    name: str
    asked: int
    sent: Callable[[], list[Sent]]

    @property
    def plan(self) -> Path:
        """The plan: YAML, or JSON as snappi writes it."""
        yaml = PLANS / f"{self.name}.yaml"
        return yaml if yaml.exists() else yaml.with_suffix(".json")

    @property
    def stored(self) -> Path:
        """The capture file in the tree."""
        return PCAPS / f"{self.name}.pcapng"


REBUILT: dict[str, Golden] = {}
"""All that have registered, by name."""


def every(fps: int | Fraction) -> Due:
    """When frame i of a flow of ``fps`` [frames/s] is due [ns]."""
    return lambda i: i * NS_PER_S / Fraction(fps)


_USUAL = every(1000)
"""OTG's rate where a plan has none, and that of most plans here."""


def at_rate(
    make: Callable[[int], Any],
    frames: int,
    *,
    port: int = 0,
    due: Due = _USUAL,
) -> list[Sent]:
    """So many frames of one flow; ``make`` builds frame i."""
    return [Sent(round(due(i)), port, bytes(make(i))) for i in range(frames)]


def rebuilds(
    name: str,
    frames: int = FRAMES,
    *,
    asked: int | None = None,
    due: Due = _USUAL,
) -> Callable[[Callable[[int], Any]], Callable[[int], Any]]:
    """Register a function that builds frame i of a plan of one flow and port.

    ``asked``: frames asked of the preview, more than ``frames`` where the flow ends before.
    """

    def register(make: Callable[[int], Any]) -> Callable[[int], Any]:
        _enter(Golden(name, asked or frames, lambda: at_rate(make, frames, due=due)))
        return make

    return register


def rebuilds_all(
    name: str, asked: int
) -> Callable[[Callable[[], list[Sent]]], Callable[[], list[Sent]]]:
    """Register a function that builds all frames of a plan, in the order of their times."""

    def register(make: Callable[[], list[Sent]]) -> Callable[[], list[Sent]]:
        _enter(Golden(name, asked, make))
        return make

    return register


def _enter(golden: Golden) -> None:
    assert golden.name not in REBUILT, f"{golden.name} is there twice"
    REBUILT[golden.name] = golden


def preview(plan: Path, out: Path, frames: int) -> list[Sent]:
    """Run ``wirerate preview`` in this process (a third of the time); what it wrote."""
    said, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
        code = main(["preview", str(plan), "-o", str(out), "-n", str(frames)])
    assert code == 0, f"{plan.name}: exit code {code}: {wrong.getvalue()}"
    return read(out)


def read(path: Path) -> list[Sent]:
    """The frames of a pcapng file, in its order."""
    return [Sent(time_ns, index, octets) for index, time_ns, octets in read_pcapng(path).frames]


def differences(got: list[Sent], want: list[Sent]) -> Iterator[str]:
    """What is not as it should be, a line each."""
    if len(got) != len(want):
        yield f"{len(got)} frames instead of {len(want)}"
    for number, (one, other) in enumerate(zip(got, want, strict=False)):
        place = f"frame {number}"
        if one.port != other.port:
            yield f"{place}: port {one.port} instead of {other.port}"
        if abs(one.time_ns - other.time_ns) > TIME_ERROR_NS:
            yield f"{place}: at {one.time_ns} ns instead of {other.time_ns} ns"
        if one.octets != other.octets:
            yield f"{place}: {_first_difference(one.octets, other.octets)}"


def _first_difference(got: bytes, want: bytes) -> str:
    for at, (one, other) in enumerate(zip(got, want, strict=False)):
        if one != other:
            here = slice(max(at - 4, 0), at + 8)
            return (
                f"octet {at} is {one:#04x} instead of {other:#04x} "
                f"({got[here].hex(' ')} instead of {want[here].hex(' ')})"
            )
    return f"{len(got)} octets instead of {len(want)}"
