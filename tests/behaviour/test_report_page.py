# SPDX-License-Identifier: BSD-3-Clause
"""A report opens in a browser that has no network, and its charts are really there."""

from __future__ import annotations

import pytest

from support.host import needs
from support.kernel_path_document import kernel_path_document
from support.page import colours_in_a_browser
from support.rss_document import rss_document
from wirerate.report import kernel_path_html, rss_html

WIDTH = 1200


@pytest.mark.slow
@needs("chromium")
def test_the_page_of_rss_in_a_browser(tmp_path):
    colours = colours_in_a_browser(rss_html.html(rss_document()), tmp_path, WIDTH, 2600)
    for colour in ("0072b2", "d55e00", "009e73"):  # lines of one, two and four queues
        assert colours.get(colour, 0) > 200, colour


@pytest.mark.slow
@needs("chromium")
def test_the_page_of_kernel_path_in_a_browser(tmp_path):
    page = kernel_path_html.html(kernel_path_document())
    colours = colours_in_a_browser(page, tmp_path, WIDTH, 4800)
    for colour in ("0072b2", "d55e00", "009e73", "cc79a7", "e69f00"):  # bars, each some 1000 wide
        assert colours.get(colour, 0) > 2000, colour
