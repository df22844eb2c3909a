# SPDX-License-Identifier: BSD-3-Clause
"""What ports are to record: captures of the plan and of the command line alike.

Made by `wirerate.plan.decode_captures` and `wirerate.cli.capture_args`. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

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

    def params(self, port: str) -> dict[str, Any]:
        """One of ``captures`` of `program.load`; ``port`` is the engine's name of the port."""
        params: dict[str, Any] = {
            "port": port,
            "path": str(self.file),
            "format": self.format,
            "frames": self.frames,
            "overwrite": self.overwrite,
            "bad": self.bad,
        }
        if self.filter:
            params["filter"] = self.filter
        if self.octets is not None:
            params["octets"] = self.octets
        return params


def file_name(*words: str, suffix: str) -> Path:
    """A name of a file made of names of a plan: what is unusual in file names becomes _."""
    return Path(_UNUSUAL.sub("_", "-".join(words)) + f".{suffix}")
