# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the tests that drive the real program, and which of them may run at the same time.

Tests that want a CPU for as long as they run (`pytestmark = pytest.mark.alone`) share the machine
with no other test; the others run next to each other, and hold under whatever the scheduler does.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.host import is_root, wire
from support.program import sandbox
from wirerate.engine.process import Engine

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from support.host import Wire
    from support.program import Program

_ALONE = "alone"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Wait for the machine, before the test's time limit begins to count; this file is the lock."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return (yield)
    alone = item.get_closest_marker(_ALONE) is not None
    with Path(__file__).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        return (yield)


@pytest.fixture
def program() -> Iterator[Program]:
    """`wirerate` in a sandbox; the test fails when a run leaves anything behind."""
    with sandbox() as made:
        yield made


@pytest.fixture
def engine_here(program: Program, monkeypatch: pytest.MonkeyPatch) -> type[Engine]:
    """The class of engines, for tests that start one: run directories are in the sandbox.

    Paths of sockets are short, and those of pytest may be too long for them.
    """
    for name, value in program.environ().items():
        monkeypatch.setenv(name, value)
    return Engine


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
