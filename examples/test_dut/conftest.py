# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures: a device under test, and a session that is connected to it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from plan import plan

import wirerate

TRIES = 3
Measure = Callable[..., wirerate.Result]


def pytest_addoption(parser: pytest.Parser) -> None:
    """What to test, and what it has to do."""
    add = parser.getgroup("device under test").addoption
    add("--port-a", help="the tester's port on one side of the device, e.g. 0000:03:00.0")
    add("--port-b", help="the port on the other side")
    add("--rate", type=int, default=2000, help="frames per second in each direction [fps]")
    add("--max-p99-us", type=float, default=1000.0, help="99th percentile of the latency [us]")


@pytest.fixture(scope="session")
def ports(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The tester's ports; without a device, two that are connected by a forwarder."""
    given = request.config.getoption("--port-a"), request.config.getoption("--port-b")
    if all(given):
        yield given
        return
    with tempfile.TemporaryDirectory() as folder:
        sockets = [Path(folder) / name for name in ("a.sock", "b.sock")]
        with wirerate.forward(*[f"memif:{socket},role=server" for socket in sockets]):
            yield f"memif:{sockets[0]}", f"memif:{sockets[1]}"


@pytest.fixture(scope="session")
def tester(request: pytest.FixtureRequest, ports: tuple[str, str]) -> Iterator[wirerate.Session]:
    """One session for all tests: its ports are opened once."""
    with wirerate.Session(plan(*ports, request.config.getoption("--rate"))) as session:
        session.warm_up(0.2)  # switches learn addresses, caches fill
        yield session


@pytest.fixture
def measure(tester: wirerate.Session) -> Measure:
    """Run trials until one is valid: an invalid one says nothing of the device."""

    def run(duration: float) -> wirerate.Result:
        for _ in range(TRIES):
            result = tester.run(duration)
            if result.valid:
                return result
        pytest.fail(f"{TRIES} invalid measurements: {'; '.join(result.reasons)}")

    return run
