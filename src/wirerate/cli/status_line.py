# SPDX-License-Identifier: BSD-3-Clause
"""A line on a terminal that tells what is being done, and is replaced in place.

On standard error, so that results can go elsewhere; where that is no terminal nothing is shown.
"""

from __future__ import annotations

import shutil
import sys

_BACK_AND_CLEAR = "\r\x1b[K"


class StatusLine:
    """`show` replaces the line; `clear` before anything else is printed."""

    def __init__(self) -> None:
        self._shown = False

    def show(self, text: str) -> None:
        """Show it, no longer than the terminal is wide: a second line could not be taken back."""
        if not sys.stderr.isatty():
            return
        room = shutil.get_terminal_size().columns - 1
        print(f"{_BACK_AND_CLEAR}{text[:room]}", end="", file=sys.stderr, flush=True)
        self._shown = True

    def clear(self) -> None:
        """Take it away."""
        if self._shown:
            print(_BACK_AND_CLEAR, end="", file=sys.stderr, flush=True)
            self._shown = False
