# SPDX-License-Identifier: BSD-3-Clause
"""Lcores that lose their CPU: to busy loops on the same one, or because the engine is stopped.

Whatever this machine does besides, that is so: no such trial may be called valid.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from support.host import CPUS, ONE, needs_two_cpus
from support.peers import measured_plan
from support.verdicts import LOST_CPU

pytestmark = pytest.mark.alone

BUSY_LOOPS = 3
"""On one CPU with the lcore: a quarter of the time is its own."""
SAVERS = [[], ["--cpu-saver"]]
STOPS_MS = [15, 30, 60]


@contextmanager
def busy_loops(cpu):
    """Processes of ordinary priority that want all of a CPU."""
    loop = f"import os\nos.sched_setaffinity(0, [{cpu}])\nprint(flush=True)\nwhile True: pass"
    words = [sys.executable, "-c", loop]
    loops = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(BUSY_LOOPS)]
    try:
        for one in loops:
            assert one.stdout is not None
            one.stdout.readline()
        yield
    finally:
        for one in loops:
            one.kill()
            one.communicate()


def starved(program, *words):
    """The document of a run whose lcore shares its CPU; it says why it is invalid."""
    with busy_loops(ONE):
        done = program.run(*words, "-m", f"{ONE}.0", "--json")
    assert (done.code, done.err) == (0, ""), done.err
    verdict = done.document["verdict"]
    assert not verdict["valid"], done.document
    return done.document


def blames_the_cpu(document):
    reasons = document["verdict"]["reasons"]
    assert any(f"lcore {ONE} {LOST_CPU}" in reason for reason in reasons), reasons


def lost_share(document):
    (lcore,) = document["cpu"]["lcores"]
    assert lcore["cpu_lost_max_ns"] > 0
    return lcore["cpu_lost"]


@needs_two_cpus
@pytest.mark.parametrize("saver", SAVERS)
def test_perf_without_a_rate(program, saver):
    document = starved(program, "perf", "ring:starved", "--duration", "1500ms", *saver)
    blames_the_cpu(document)
    share = lost_share(document)
    (port,) = document["ports"]
    assert 0.02 < share < 1
    would_be = port["offered_load"]["fps"] / (1 - share)
    assert port["per_cpu_second_fps"] == pytest.approx(would_be, rel=1e-6)


@needs_two_cpus
def test_a_trace_without_a_rate(program, tmp_path):
    file = tmp_path / "few.pcap"
    done = program.run("preview", "examples/imix.yaml", "-n", "100", "-o", str(file))
    assert done.code == 0, done.err
    document = starved(program, "replay", str(file), "null:starved", "--duration", "1500ms")
    blames_the_cpu(document)
    assert document["total"]["lcores_cpu_lost"][ONE] > 0.02


@needs_two_cpus
@pytest.mark.parametrize("saver", SAVERS)
def test_measured_flows(program, tmp_path, saver):
    plan = measured_plan(tmp_path / "plan.json", ["ring:starved"], frames=15_000, pps=10_000)
    document = starved(program, "run", plan, *saver)
    blames_the_cpu(document)
    assert lost_share(document) > 0.02


@needs_two_cpus
def test_a_forwarder(program):
    """One that polls: a sleeper with nothing to do gets the CPU whenever it wants it."""
    document = starved(program, "reflect", "null:starved", "--duration", "1500ms")
    blames_the_cpu(document)
    assert lost_share(document) > 0.02


def stopped(program, stop_ms, *words):
    """The document of a run whose engine is stopped, three times, for so long."""
    with program.start(*words, "-m", f"{ONE}.0", "--json") as running:
        running.sending()
        for _ in range(3):
            os.kill(running.engine_pid(), signal.SIGSTOP)
            time.sleep(stop_ms / 1000)
            os.kill(running.engine_pid(), signal.SIGCONT)
            time.sleep(0.05)
        running.signal(signal.SIGINT)
        done = running.finish()
    assert (done.code, done.err) == (0, ""), done.err
    return done.document


@pytest.mark.parametrize("stop_ms", STOPS_MS)
@pytest.mark.parametrize("saver", SAVERS)
def test_a_forwarder_that_is_stopped(program, saver, stop_ms):
    document = stopped(program, stop_ms, "reflect", "ring:stopped", *saver)
    blames_the_cpu(document)
    (lcore,) = document["cpu"]["lcores"]
    assert lcore["cpu_lost_max_ns"] > 10_000_000


@pytest.mark.parametrize("stop_ms", STOPS_MS)
@pytest.mark.parametrize("saver", SAVERS)
def test_measured_flows_while_the_engine_is_stopped(program, tmp_path, saver, stop_ms):
    plan = measured_plan(tmp_path / "plan.json", ["ring:stopped"], frames=10**7, pps=10_000)
    document = stopped(program, stop_ms, "run", plan, *saver)
    blames_the_cpu(document)


def test_no_latency_has_the_testers_own_sleep_in_it(program, tmp_path):
    """A ring takes microseconds at most; a sleep of 5 ms would be in nearly every latency."""
    plan = measured_plan(tmp_path / "plan.json", ["ring:awake"], frames=15_000, pps=10_000)
    done = program.run("run", plan, "-m", f"{ONE}.0", "--cpu-saver=5ms", "--json")
    document = done.document
    (note,) = [note for note in document["verdict"]["notes"] if "--cpu-saver" in note]
    assert f"lcore {ONE} does not sleep" in note
    total = document["total"]
    busy = any(LOST_CPU in reason for reason in document["verdict"]["reasons"])
    assert total["latency_ns"]["p50"] < 1_000_000 or busy, total


@needs_two_cpus
def test_who_only_sends_may_sleep(program):
    words = ("ring:asleep", "-m", f"{CPUS[0]}:{ONE}.0", "-r", "1kpps", "--measure", "--json")
    done = program.run("perf", *words, "--duration", "500ms", "--cpu-saver=1ms")
    assert done.code == 0, done.err
    (note,) = [note for note in done.document["verdict"]["notes"] if "--cpu-saver" in note]
    assert note.startswith(f"lcore {CPUS[0]} does not sleep")
    assert note.endswith("those that only send do")


def test_a_forwarder_says_that_it_sleeps(program):
    words = ("ring:asleep", "-m", f"{ONE}.0", "--duration", "300ms", "--json")
    asleep, awake = (
        program.run("reflect", *words, *saver).document["verdict"]["notes"]
        for saver in (["--cpu-saver=2ms"], [])
    )
    assert any("sleep" in note and "2 ms" in note for note in asleep), asleep
    assert not any("sleep" in note for note in awake), awake
