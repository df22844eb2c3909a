# SPDX-License-Identifier: BSD-3-Clause
"""`--converge`: a search against a reflector whose work per frame limits what it can do.

On a busy machine steps are invalid, and a search ends with that: it says so, and is skipped.
"""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import contextmanager

import pytest

from support.host import CPUS, needs_two_cpus
from support.program import wait_for
from support.verdicts import may_want_cpu

pytestmark = pytest.mark.alone

WORK_FPS = 250e3
"""4 us of work for each frame: no more than this can be reflected."""


def searched(done):
    """The document of a search that went well; skips one that wanted for CPU."""
    assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
    document = done.document
    search = document["search"]
    if search["ended"] == "invalid" and may_want_cpu(search["reason"]):
        pytest.skip(f"the machine is busy: {search['reason']}")
    return document


@contextmanager
def reflector(other_program, tmp_path):
    """A reflector that listens at the location that is given."""
    socket = tmp_path / "memif.sock"
    words = ("reflect", f"memif:{socket},role=server", "-m", f"{CPUS[0]}.0", "--work", "4us")
    with other_program.start(*words) as running:
        wait_for("the socket", socket.exists)
        running.sending()
        yield running, f"memif:{socket}"


@needs_two_cpus
def test_loss_finds_what_the_reflector_can_do(program, other_program, tmp_path):
    with reflector(other_program, tmp_path) as (_, location):
        words = (location, "-m", f"{CPUS[-1]}.0", "-r", "1Mpps", "--tolerance", "5%", "--json")
        more = ("--converge", "loss", "--duration", "300ms", "--settle", "500ms")
        document = searched(program.run("perf", *words, *more))
    search = document["search"]
    assert search["ended"] == "converged", search
    assert WORK_FPS / 4 < search["fps"] < WORK_FPS
    assert search["bounds"]["upper_fps"] * 0.95 <= search["fps"]
    assert sum(step["intended_fps"] == search["fps"] for step in search["steps"]) >= 2
    # A step in which the machine was busy is invalid, and repeated at the same rate.
    judged = [step["judgement"] for step in search["steps"] if step["valid"]]
    assert judged[0] == "above", search["steps"]
    assert document["schema"] == "wirerate-perf/1"
    (port,) = document["ports"]
    assert port["intended_load"]["fps"] == pytest.approx(search["fps"])
    assert document["total"]["received"]["lost"] == 0


@needs_two_cpus
def test_a_reflector_that_dies_ends_the_search(program, other_program, tmp_path):
    with reflector(other_program, tmp_path) as (running, location):
        words = (location, "-m", f"{CPUS[-1]}.0", "-r", "1Mpps", "--settle", "100ms", "--json")
        with program.start("perf", *words, "--converge", "loss", "--duration", "1") as searching:
            searching.sending()
            os.kill(running.engine_pid(), signal.SIGKILL)
            done = searching.finish()
        running.finish()
    assert done.code == 0, done.err
    document = done.document
    search = document["search"]
    assert search["ended"] == "invalid"
    assert "3 invalid steps in a row" in search["reason"]
    assert [step["valid"] for step in search["steps"][-3:]] == [False] * 3
    assert any("link" in reason for reason in search["steps"][-1]["reasons"])
    if search["fps"] is None:
        assert document["schema"] == "wirerate-search/1"
        assert not document["verdict"]["valid"]


def test_cpu_is_followed_until_somebody_stops_it(program):
    words = ("null:cpu", "-m", f":{CPUS[-1]}.0", "-r", "100kpps", "--duration", "100ms", "--json")
    with program.start("perf", *words, "--converge", "cpu", "--follow") as searching:
        searching.sending()
        time.sleep(1.0)
        searching.signal(signal.SIGINT)
        search = searched(searching.finish())["search"]
    assert search["ended"] == "interrupted"
    assert search["reason"] == "stopped by the user"
    assert search["steps"]
    for step in search["steps"]:
        assert 0 <= step["utilisation"] < 0.5


def test_time_is_kept_and_steps_are_shown(program):
    words = ("null:cpu", "-m", f":{CPUS[-1]}.0", "-r", "100kpps", "--duration", "100ms")
    done = program.run("perf", *words, "--converge", "cpu", "--follow", "--max-time", "500ms")
    assert (done.code, done.err) == (0, "")
    assert "judgement" in done.out
    assert "Found: " in done.out
    if "Found: no rate" in done.out:
        pytest.skip(f"the machine is busy: {done.out}")
    assert "100,000" in done.out
    assert "the time was up after 0.5 s" in done.out
    assert "Verdict: " in done.out, "a trial at the rate found"


def test_an_engine_that_dies_is_told(program):
    words = ("null:cpu", "-m", f":{CPUS[-1]}.0", "-r", "100kpps", "--duration", "5", "--json")
    with program.start("perf", *words, "--converge", "cpu") as searching:
        searching.sending()
        os.kill(searching.engine_pid(), signal.SIGKILL)
        done = searching.finish()
    assert done.code == 4
    assert "killed by SIGKILL" in done.err
    assert json.loads(done.out)["search"]["ended"] == "died"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("null:a", "--converge", "cpu", "--count", "9"), ("--converge", "ends after 9 frames")),
        (("null:a", "--converge", "loss"), ("a null port receives nothing",)),
        (("ring:a", "--max-loss", "1%"), ("--max-loss", "add --converge loss")),
    ],
)
def test_searches_that_make_no_sense(program, words, parts):
    program.run("perf", "-m", f"{CPUS[-1]}.0", "-r", "1kpps", *words).refused(*parts)
