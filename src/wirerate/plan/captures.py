# SPDX-License-Identifier: BSD-3-Clause
"""What ports are to record: captures of the plan and of the command line alike.

Made by `wirerate.plan.decode_captures` and `wirerate.cli.capture_args`. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FRAMES_DEFAULT = 100_000
FRAMES_MAX = 1 << 24
OCTETS_MIN = 16
OCTETS_MAX = 16_384
"""Ranges of the engine (docs/design/0005-measurement.md, Capturing)."""

_UNUSUAL = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Capture:
    """Frames of one port into one file, at most ``frames``, of each at most ``octets`` (None: all).

    ``path`` is its place in the plan, or the option. ``file`` is relative to the directory for
    captures until the command has made it absolute. ``filter``: libpcap's, empty = all frames.
    ``overwrite``: the oldest frames make room for new ones. ``bad``: only frames that arrived
    duplicated, out of order or damaged.
    """

    path: str
    port: str
    file: Path
    format: Literal["pcap", "pcapng"] = "pcapng"
    filter: str = ""
    frames: int = FRAMES_DEFAULT
    octets: int | None = None
    overwrite: bool = False
    bad: bool = False


def file_name(*words: str, suffix: str) -> Path:
    """A name of a file made of names of a plan: what is unusual in file names becomes _."""
    return Path(_UNUSUAL.sub("_", "-".join(words)) + f".{suffix}")


def capture_params(
    captures: Sequence[Capture], port_name: Callable[[str], str]
) -> list[dict[str, Any]]:
    """``captures`` of `program.load`; ``port_name`` gives the engine's name of a plan's port."""
    return [_params(capture, port_name(capture.port)) for capture in captures]


def _params(capture: Capture, port: str) -> dict[str, Any]:
    params: dict[str, Any] = {
        "port": port,
        "path": str(capture.file),
        "format": capture.format,
        "frames": capture.frames,
        "overwrite": capture.overwrite,
        "bad": capture.bad,
    }
    if capture.filter:
        params["filter"] = capture.filter
    if capture.octets is not None:
        params["octets"] = capture.octets
    return params
