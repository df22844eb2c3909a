# SPDX-License-Identifier: BSD-3-Clause
"""Where progress is shown: in place on a terminal, block by block into a pipe, not with JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

if TYPE_CHECKING:
    from types import TracebackType


class Screen(Protocol):
    """Shows one block of text at a time."""

    def show(self, block: str) -> None:
        """Replace or follow the previous block."""

    def __enter__(self) -> Screen:
        """Start."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the last block on the screen."""


class _Quiet:
    def show(self, block: str) -> None:
        del block

    def __enter__(self) -> _Quiet:
        return self

    def __exit__(self, *_: object) -> None:
        return


class _Blocks(_Quiet):
    def show(self, block: str) -> None:
        print(block, end="\n\n", flush=True)


class _InPlace:
    def __init__(self) -> None:
        console = Console(highlight=False, soft_wrap=False)
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop")

    def show(self, block: str) -> None:
        self._live.update(Text(block, no_wrap=True, overflow="ellipsis"), refresh=True)

    def __enter__(self) -> _InPlace:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()
        print()


def open_screen(*, quiet: bool) -> Screen:
    """The screen that suits standard output."""
    if quiet:
        return _Quiet()
    return _InPlace() if sys.stdout.isatty() else _Blocks()
