# SPDX-License-Identifier: BSD-3-Clause
"""How runs end: Ctrl-C, death of engine or program, a receiver that takes nothing."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.host import CPUS, ONE, idle_testpmd, needs, needs_two_cpus
from support.program import adds_up, gone, port, wait_for
from wirerate.engine.counters import Counters
from wirerate.interrupts import BOUNCE_S

SLACK_S = 2.0
"""What a loaded machine may take on top of the second that is promised."""
RATE = ("-r", "20kpps")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("period", ["100ms", "10s"])
def test_interrupted(program, number, period):
    program.prefix = ("env", "--default-signal=HUP")  # the tests themselves may run under nohup
    with program.start("perf", "ring:x", *RATE, "-T", period) as running:
        running.sending()
        frames = counted(program)
        wait_for("a frame", lambda: frames() > 0)
        running.signal(number)
        run = running.finish()
    assert (run.code, run.err) == (0, "")
    table, _, summary = run.out.rpartition("\nSummary\n")
    assert "  TxQs   :" in table
    sent = re.search(r"sent +([\d,]+) frames", summary)
    assert sent is not None
    assert int(sent[1].replace(",", "")) > 0
    assert "note: stopped by the user" in summary


def test_nohup_is_heeded(program):
    program.prefix = ("nohup",)
    with program.start("perf", "ring:x", *RATE, "--duration", "2", "--json") as running:
        running.sending()
        running.signal(signal.SIGHUP)
        run = running.finish()
    assert run.code == 0
    assert "stopped by the user" not in run.document["verdict"]["notes"]


def test_interrupted_twice(program):
    with program.start("perf", "ring:x", *RATE, "--json") as running:
        running.sending()
        running.signal(signal.SIGINT)
        running.signal(signal.SIGINT)
        run = running.finish()
    assert (run.code, run.err) == (0, "")
    adds_up(port(run.document))


def test_ctrl_c_on_a_terminal_reaches_the_whole_group(program):
    program.prefix = ("setsid",)
    with program.start("perf", "ring:x", *RATE, "--json") as running:
        running.sending()
        os.killpg(running.pid, signal.SIGINT)
        run = running.finish()
    assert (run.code, run.err) == (0, "")
    adds_up(port(run.document))


def test_interrupted_before_anything_is_sent(program):
    with program.start("perf", "ring:x", *RATE) as running:
        running.directory()
        running.signal(signal.SIGINT)
        run = running.finish()
    assert run.code in {0, 130}
    assert "Traceback" not in run.err


@pytest.mark.parametrize("how", [[], ["--json"]])
def test_the_engine_is_killed(program, how):
    with program.start("perf", "ring:x", *RATE, "-T", "100ms", *how) as running:
        running.sending()
        os.kill(running.engine_pid(), signal.SIGKILL)
        killed = time.monotonic()
        run = running.finish()
        took_s = time.monotonic() - killed
    assert took_s < 1 + SLACK_S
    run.refused("engine", "SIGKILL", code=4)
    if how:
        assert port(run.document)["tx_frames"] > 0
        assert run.document["verdict"]["valid"] is False
        assert "SIGKILL" in run.document["verdict"]["reasons"][0]
    else:
        assert "Verdict: invalid" in run.out
        sent = re.search(r"sent +([\d,]+) frames", run.out)
        assert sent is not None
        assert int(sent[1].replace(",", "")) > 0


def test_the_engine_hangs(program):
    # Stopped, not dead: the run ends when it should all the same once the engine goes on.
    with program.start("perf", "ring:x", *RATE, "--duration", "1", "--json") as running:
        running.sending()
        engine = running.engine_pid()
        os.kill(engine, signal.SIGSTOP)
        time.sleep(1)
        os.kill(engine, signal.SIGCONT)
        run = running.finish()
    assert run.code == 0, run.err
    assert run.document["verdict"]["valid"] is False
    assert run.document["verdict"]["notes"]
    adds_up(port(run.document))


def test_the_program_is_killed(program):
    with program.start("perf", "ring:x", *RATE) as running:
        directory = running.sending()
        engine = running.engine_pid()
        running.signal(signal.SIGKILL)
        killed = time.monotonic()
        wait_for("the engine's end", lambda: gone(engine))
        took_s = time.monotonic() - killed
    assert took_s < 1 + SLACK_S
    assert directory.exists()
    program.valid("ring:y", "--count", "10")
    assert not directory.exists()
    assert program.leftovers() == []


def test_two_runs_at_once(program):
    # One base directory: the second sweeps it and must leave the first one's alone.
    words = ["ring:same", "-m", f"{CPUS[0]}.0", *RATE, "--json"]
    with program.start("perf", *words) as first:
        directory = first.sending()
        second = port(program.valid("ring:same", "-m", f"{ONE}.0", "--count", "10000"))
        assert program.run_directories() == [directory]
        first.signal(signal.SIGINT)
        run = first.finish()
    assert (run.code, run.err) == (0, "")
    assert second["tx_frames"] == second["rx_frames"] == 10_000
    for figures in (port(run.document), second):
        assert figures["rx_frames"] == figures["tx_frames"]
        adds_up(figures)


def never_drained(program, *words):
    """A run of one second; it ends on time and says that the load was not offered."""
    began = time.monotonic()
    document = program.measure(*words, "-T", "10s", "--duration", "1")
    assert time.monotonic() - began < 1 + 5 * SLACK_S
    figures = port(document)
    assert figures["seconds"] == pytest.approx(1)
    assert figures["tx_frames_unsent"] > 0
    assert document["verdict"]["valid"] is False
    assert any("unsent" in r or "not offered" in r or "stood still" in r for r in reasons(document))
    return figures


def reasons(document):
    found = document["verdict"]["reasons"]
    assert found
    return found


@pytest.mark.parametrize("rate", [["-r", "50kpps"], []], ids=["paced", "unpaced"])
def test_a_ring_that_nobody_reads(program, rate):
    figures = never_drained(program, "ring:x", "-m", f":{ONE}.0", *rate)
    assert 0 < figures["tx_frames"] < 2048  # of 1,024 descriptors: rings are powers of two


@needs("dpdk-testpmd")
@needs_two_cpus
@pytest.mark.parametrize("rate", [["-r", "50kpps"], []], ids=["paced", "unpaced"])
def test_a_memif_peer_that_does_not_poll(program, tmp_path, rate):
    socket = tmp_path / "memif.sock"
    with idle_testpmd(socket):
        figures = never_drained(program, f"memif:{socket}", "-m", f":{ONE}.0", *rate)
    assert figures["tx_frames"] <= 1024
    if rate:
        assert figures["tx_frames"] + figures["tx_frames_unsent"] == 50_000


@needs_two_cpus
def test_a_peer_that_dies(program, tmp_path):
    socket = tmp_path / "memif.sock"
    with program.start("perf", f"memif:{socket}", "-m", f"{CPUS[0]}:.0") as server:
        server.sending()
        words = ["-m", f":{ONE}.0", *RATE, "--duration", "2", "--json"]
        with program.start("perf", f"memif:{socket}", *words) as client:
            wait_for("the second run", lambda: len(program.run_directories()) == 2)
            time.sleep(1.0)
            os.kill(server.engine_pid(), signal.SIGKILL)
            assert server.finish().code == 4
            run = client.finish()
    assert run.code == 0, run.err
    document = json.loads(run.out)
    assert document["verdict"]["valid"] is False
    assert any("link" in reason for reason in reasons(document))


def waits_to_write(pid):
    """Its main thread sleeps in write(2) to a pipe."""
    return "pipe_write" in Path(f"/proc/{pid}/wchan").read_text()


@contextmanager
def blocked_output(program, *words):
    """A command whose standard output is a full pipe that nobody reads."""
    unread, blocked = os.pipe()
    fcntl.fcntl(blocked, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen(
        program.words(words), env=program.environ(), stdout=blocked, stderr=subprocess.PIPE
    )
    os.close(blocked)
    try:
        wait_for("a full pipe", lambda: waits_to_write(process.pid))
        yield process, unread
    finally:
        os.close(unread)
        process.kill()
        process.communicate()


def counted(program):
    """Frames sent by the engine that runs."""
    (file,) = program.runs.glob("wr-*/counters-*")
    counters = Counters(file)
    return lambda: sum(block["frames"] for block in counters.of_kind("tx"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_traffic_ends_though_nobody_reads(program, number):
    with blocked_output(program, "perf", "ring:x", *RATE, "-T", "100ms") as (process, _):
        frames = counted(program)
        process.send_signal(number)
        before = -1
        while before != frames():  # at 20,000 frames/s two of these are never the same
            before = frames()
            time.sleep(0.2)
        assert process.poll() is None, "it waits for its reader"
        time.sleep(BOUNCE_S)
        process.send_signal(number)
        assert process.wait(timeout=20) == 130
    assert program.leftovers() == []


def test_what_was_blocked_is_complete(program):
    with blocked_output(program, "perf", "ring:x", *RATE, "-T", "100ms") as (process, unread):
        process.send_signal(signal.SIGTERM)
        out = b""
        while part := os.read(unread, 65536):
            out += part
        assert process.wait(timeout=20) == 0
    assert b"note: stopped by the user" in out


def test_an_engine_that_was_stopped_is_ended_by_the_second_signal(program):
    with program.start("perf", "ring:x", *RATE, "--json") as running:
        running.sending()
        os.kill(running.engine_pid(), signal.SIGSTOP)
        running.signal(signal.SIGINT)
        time.sleep(2 * BOUNCE_S)
        assert not running.over()
        running.signal(signal.SIGINT)
        assert running.finish(timeout_s=20).code == 130
    assert program.leftovers() == []
