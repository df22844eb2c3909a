# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the golden files' tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.program import sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module", autouse=True)
def run_directories() -> Iterator[None]:
    """Run directories for previews in this process; fails when anything is left in them."""
    with sandbox() as program, pytest.MonkeyPatch.context() as patch:
        for name, value in program.environ().items():
            patch.setenv(name, value)
        yield
