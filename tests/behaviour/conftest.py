# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the tests that drive the real program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.host import is_root, wire
from support.program import sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.host import Wire
    from support.program import Program


@pytest.fixture
def program() -> Iterator[Program]:
    """`wirerate` in a sandbox; the test fails when a run leaves anything behind."""
    with sandbox() as made:
        yield made


@pytest.fixture
def other_program() -> Iterator[Program]:
    """A second one, for two runs at once."""
    with sandbox() as made:
        yield made


@pytest.fixture
def veth() -> Iterator[Wire]:
    if not is_root():
        pytest.skip("needs root for a network namespace with a veth pair")
    with wire() as made:
        yield made
