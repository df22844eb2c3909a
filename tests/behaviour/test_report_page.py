# SPDX-License-Identifier: BSD-3-Clause
"""A report opens in a browser that has no network, and its charts are really there."""

from __future__ import annotations

import subprocess

import pytest
from PIL import Image

from support.host import needs
from support.rss_document import rss_document
from wirerate.report.rss_html import html

WIDTH, HEIGHT = 1200, 2600


@pytest.mark.slow
@needs("chromium")
def test_the_page_in_a_browser(tmp_path):
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(html(rss_document()), encoding="utf-8")
    done = subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",  # it refuses one for root; the page is our own
            "--disable-gpu",
            "--proxy-server=127.0.0.1:9",  # discard: nothing can be fetched
            "--enable-logging=stderr",
            "--virtual-time-budget=3000",
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={WIDTH},{HEIGHT}",
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
    seen = Image.open(picture).convert("RGB").getcolors(WIDTH * HEIGHT)
    assert seen is not None
    colours = {colour: count for count, colour in seen}
    for colour in ("0072b2", "d55e00", "009e73"):  # lines of one, two and four queues
        assert colours.get(tuple(bytes.fromhex(colour)), 0) > 200, colour
