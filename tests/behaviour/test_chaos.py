# SPDX-License-Identifier: BSD-3-Clause
"""A few trials of `make chaos` with fixed seeds: no result is wrong, each names its cause."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chaos.judge import judge
from chaos.space import Space, missing
from chaos.trials import draw
from support.program import gone, processes_naming

TESTS = Path(__file__).resolve().parent.parent
TRIALS = [
    (1, "engine killed"),
    (1, "interrupted"),
    (1, "flooded"),
    (1, "peer killed"),
    (1, "peer restarted"),
    (1, "link down"),
    (1, "engine stopped"),
    (300, "full disk"),
    (303, "full disk"),
]
TRIES = 3

needs_a_space = pytest.mark.skipif(missing() is not None, reason=f"chaos: {missing()}")


@pytest.fixture(scope="module")
def space():
    made = Space()
    yield made
    made.close()


@needs_a_space
@pytest.mark.parametrize(("seed", "fault"), TRIALS)
def test_a_trial_is_judged_as_it_has_to_be(space, seed, fault):
    """What is wrong and valid fails at once; what else the machine did may need a repeat."""
    for _ in range(TRIES):
        found = judge(draw(seed, fault), space.run(seed, fault))
        assert found.column != "valid, wrong", found
        if found.good:
            return
        print("again, for the machine did something besides:", draw(seed, fault).title, found)
    pytest.fail(str(found))


@needs_a_space
def test_nothing_is_left_when_the_harness_is_killed():
    words = [sys.executable, "-m", "chaos", "--trials", "9", "--seed", "1"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    before = set(processes_naming("chaos.inside"))
    made = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while not (ours := set(processes_naming("chaos.inside")) - before):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    made.kill()
    made.wait()
    while not all(gone(pid) for pid in ours):
        assert time.monotonic() < deadline + 20, ours
        time.sleep(0.05)
