# SPDX-License-Identifier: BSD-3-Clause
"""What tests find wrong with a page, and how it looks in a browser without a network."""

from __future__ import annotations

import subprocess
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from PIL import Image

if TYPE_CHECKING:
    from pathlib import Path

_VOID = {"meta", "link", "br", "img"}


class Balance(HTMLParser):
    """Finds tags that are not closed in order, and whatever would be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep it until it is closed."""
        self.fetched += [v for k, v in attrs if k in {"src", "href"} and v and "://" in v]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """It must be the one that was opened last."""
        assert self.open.pop() == tag


def colours_in_a_browser(html: str, folder: Path, width: int, height: int) -> dict[str, int]:
    """Pixels of each colour (as `0072b2`) of a page in Chromium, which must not complain."""
    page, picture = folder / "page.html", folder / "page.png"
    page.write_text(html, encoding="utf-8")
    done = subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",  # it refuses one for root; the page is our own
            "--disable-gpu",
            "--proxy-server=127.0.0.1:9",  # discard: nothing can be fetched
            "--enable-logging=stderr",
            "--virtual-time-budget=3000",
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width},{height}",
            f"--screenshot={picture}",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert said == [], "the page has something to complain about"
    assert picture.exists(), done.stderr[-2000:]
    seen: Any = Image.open(picture).convert("RGB").getcolors(width * height)
    return {bytes(colour).hex(): count for count, colour in seen}
