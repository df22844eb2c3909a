# SPDX-License-Identifier: BSD-3-Clause
"""Faults in mid-run: the verdict names the right one, and nothing is blamed on the device."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from support.host import CPUS, ONE, needs, needs_root, needs_two_cpus, run
from support.peers import measured_plan
from support.program import wait_for
from support.verdicts import LOST_CPU
from wirerate.engine.process import find_engine

SHIM = r"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The raw clock is 5 ms ahead from its second second on. */
int
clock_gettime(clockid_t id, struct timespec *time)
{
	static long first;
	int code = (int)syscall(SYS_clock_gettime, id, time);

	if (id != CLOCK_MONOTONIC_RAW || code != 0)
		return code;
	if (first == 0)
		first = time->tv_sec;
	if (time->tv_sec >= first + 2) {
		time->tv_nsec += 5000000;
		time->tv_sec += time->tv_nsec / 1000000000;
		time->tv_nsec %= 1000000000;
	}
	return code;
}
"""


def reasons_of(done):
    assert done.code == 0, done.err
    document = done.document
    assert not document["verdict"]["valid"]
    return document["verdict"]["reasons"], document["total"]


def test_a_sender_that_is_too_slow(program, tmp_path):
    plan = measured_plan(tmp_path / "p.json", ["ring:slow"], frames=10**9, pps=900_000_000)
    done = program.run("run", plan, "-m", f"{ONE}.0", "--duration", "1", "--json")
    reasons, total = reasons_of(done)
    assert any("load not offered" in reason for reason in reasons), reasons
    assert total["received"]["lost"] == 0


@needs("cc")
def test_a_clock_that_jumps(program, tmp_path):
    """Only the engine's raw clock: a library between it and the kernel."""
    (tmp_path / "shim.c").write_text(SHIM)
    shim = tmp_path / "shim.so"
    run("cc", "-shared", "-fPIC", "-o", str(shim), str(tmp_path / "shim.c"))
    engine = tmp_path / "wirerate-engine"
    engine.write_text(f'#!/bin/sh\nLD_PRELOAD={shim} exec {find_engine()} "$@"\n')
    engine.chmod(0o755)
    program.environment["WIRERATE_ENGINE"] = str(engine)
    plan = measured_plan(tmp_path / "p.json", ["ring:jump"], frames=60_000, pps=20_000)
    reasons, total = reasons_of(program.run("run", plan, "-m", f"{ONE}.0", "--json"))
    assert any(reason.startswith("clock unsteady") for reason in reasons), reasons
    assert total["received"]["lost"] == 0


@needs_root
@needs_two_cpus
@pytest.mark.parametrize("down_s", [0.5, 0.0])
def test_a_link_that_goes_down(program, veth, tmp_path, down_s):
    """Also for less time than lies between two looks at it: the kernel counts the changes."""
    program.prefix = veth.inside
    ends = [f"af_packet:{name}" for name in (veth.left, veth.right)]
    plan = measured_plan(tmp_path / "p.json", ends, frames=60_000, pps=20_000)
    with program.start("run", plan, "-m", f"{ONE}.0,{ONE}.1", "--json") as running:
        running.sending()
        link = ("ip", "-n", veth.namespace, "link", "set", veth.right)
        run(*link, "down")
        time.sleep(down_s)
        run(*link, "up")
        done = running.finish()
    reasons, _ = reasons_of(done)
    assert any("link" in reason for reason in reasons), reasons


@needs_root
@needs_two_cpus
def test_a_receiver_that_is_overrun(program, other_program, veth, tmp_path):
    """What the forwarder delays arrives while the tester is stopped, more than its sockets hold."""
    program.prefix = other_program.prefix = veth.inside
    plan = measured_plan(
        tmp_path / "p.json", [f"af_packet:{veth.left}"], frames=100_000, pps=50_000
    )
    words = ("reflect", f"af_packet:{veth.right}", "-m", f"{CPUS[0]}.0", "--delay", "100ms")
    with other_program.start(*words, "--json") as far:
        far.sending()
        with program.start("run", plan, "-m", f"{ONE}.0", "-d", "256", "--json") as running:
            running.sending()
            time.sleep(0.5)
            os.kill(running.engine_pid(), signal.SIGSTOP)
            time.sleep(0.2)
            os.kill(running.engine_pid(), signal.SIGCONT)
            done = running.finish()
    reasons, total = reasons_of(done)
    assert any("receiver dropped" in reason for reason in reasons), reasons
    assert any(LOST_CPU in reason for reason in reasons), reasons
    dropped = sum(port["device"]["socket_drops"] for port in done.document["ports"])
    assert total["received"]["lost"] >= dropped > 0


@needs_two_cpus
def test_a_peer_that_vanishes_and_comes_again(program, tmp_path):
    """kill -9 of the reflector, and another one in its place: counted, and said."""
    socket = tmp_path / "m.sock"
    far = ["reflect", f"memif:{socket},role=client", "-m", f"{CPUS[0]}.0"]
    location = f"memif:{socket},role=server"
    plan = measured_plan(tmp_path / "p.json", [location], frames=200_000, pps=50_000)
    with program.start("run", plan, "-m", f"{ONE}.0", "--json") as running:
        running.sending()
        for _ in range(2):
            with program.start(*far) as reflector:
                wait_for("its counters", lambda: len(program.run_directories()) == 2)
                time.sleep(0.5)
                os.kill(reflector.engine_pid(), signal.SIGKILL)
                reflector.finish()
            wait_for("its directory to go", lambda: len(program.run_directories()) == 1)
        done = running.finish()
    reasons, _ = reasons_of(done)
    assert any("link" in reason for reason in reasons), reasons


@pytest.mark.parametrize("hostile", ["short", "random", "stamps"])
@needs_root
def test_garbage_is_counted_apart(program, veth, tmp_path, hostile):
    """Frames of others at a measuring port are foreign or strange, and no flow gets any of them."""
    program.prefix = veth.inside
    plan = measured_plan(tmp_path / "p.json", [f"af_packet:{veth.left}"], frames=40_000, pps=20_000)
    with program.start("run", plan, "-m", f"{ONE}.0", "--json") as running:
        running.sending()
        sender = [*veth.inside, sys.executable, "-c", GARBAGE, veth.right, hostile]
        sent = int(subprocess.run(sender, capture_output=True, check=True, timeout=30).stdout)
        done = running.finish()
    assert done.code == 0, done.err
    total = done.document["total"]["received"]
    queue = done.document["ports"][0]["rx_queues"][0]
    assert total["frames"] == 0
    apart = queue["foreign_frames"] + queue["strange_frames"]
    assert 0 < apart <= sent, json.dumps(queue)


GARBAGE = """
import os, random, socket, struct, sys
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind((sys.argv[1], 0))
chance = random.Random(1)
head = bytes.fromhex("ffffffffffff025752aabbcc88b5")
for number in range(500):
    if sys.argv[2] == "short":
        frame = head
    elif sys.argv[2] == "random":
        frame = head + chance.randbytes(chance.randrange(1, 1400))
    else:  # a stamp's magic, and an id that no flow has
        words = [22354, 4242, 0, number, 1, 2, 3]
        rest = -sum(words) % 65535
        frame = head + bytes(40) + struct.pack("!8H", rest, *words)
    out.send(frame)
print(500)
"""
