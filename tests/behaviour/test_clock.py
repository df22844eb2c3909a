# SPDX-License-Identifier: BSD-3-Clause
"""Rates, durations and latencies against the kernel's time stamps, whatever DPDK believes.

The kernel's stamps are late by whatever the machine did meanwhile, never early: the earliest of
many frames, compared with their schedule, are what counts.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING

import pytest

from support.host import ONE, needs_root, needs_two_cpus
from support.kernel_times import raw_socket, receive, witness
from support.peers import measured_plan
from wirerate.engine.process import find_engine

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator, Sequence

pytestmark = pytest.mark.alone

WRONG_PPM = ("0", "100", "1000", "-10000", "10000")
FOUND_PPM = 5.0
AGREE_PPM = 50.0
TRIES = 4
PPS = 2000
SECONDS = 5
DELAY_NS = 3_000_000_000
RELAYED_PPS = 100
DOUBTS = ("offered load", "taken away", "lost its CPU")


def hook(ppm):
    return {"WIRERATE_TEST_TSC_PPM": ppm}


def ppm_between(one, other):
    return 1e6 * (one / other - 1)


def engine_clock(ppm, environ):
    done = subprocess.run(
        [str(find_engine()), "--clock"],
        env=environ | hook(ppm), capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def test_any_wrong_frequency_is_found(program):
    """And the doctor's line would show how wrong it was."""
    clocks = {ppm: engine_clock(ppm, program.environ()) for ppm in WRONG_PPM}
    right = median(clock["tsc_hz"] for clock in clocks.values())
    believed = clocks["0"]["dpdk_tsc_hz"]
    for ppm, clock in clocks.items():
        assert abs(ppm_between(clock["tsc_hz"], right)) < FOUND_PPM, clocks
        assert clock["bound_ppm"] < FOUND_PPM, clocks
        assert abs(ppm_between(clock["dpdk_tsc_hz"], believed) - float(ppm)) < 1, clocks


def least_late(stamps: Sequence[int], interval_ns: float) -> float:
    """The interval [ns] that the earliest frames of the first and of the last quarter show."""
    late = [stamp - stamps[0] - number * interval_ns for number, stamp in enumerate(stamps)]
    quarter = len(late) // 4
    first = min(range(quarter), key=late.__getitem__)
    last = min(range(len(late) - quarter, len(late)), key=late.__getitem__)
    return interval_ns + (late[last] - late[first]) / (last - first)


def retried(attempt, what):
    """The result of an attempt that is None where the machine was too busy to tell."""
    for number in range(TRIES):
        found = attempt()
        if found is not None:
            return found
        print(f"{what}: the machine was too busy in attempt {number + 1} of {TRIES}")
        time.sleep(2)
    return pytest.skip(f"{what}: this machine was too busy in {TRIES} attempts of {TRIES}")


def only_flow(done):
    """A busy machine may make the trial invalid, but not its clock."""
    assert done.code == 0, done.err
    reasons = done.document["verdict"]["reasons"]
    print(*reasons, sep="\n")
    assert not any("clock" in reason for reason in reasons), reasons
    [flow] = done.document["flows"]
    return flow, {word for word in DOUBTS for reason in reasons if word in reason}


@needs_root
@needs_two_cpus
@pytest.mark.parametrize("ppm", WRONG_PPM)
def test_rates_and_durations_agree_with_the_kernel(program, veth, tmp_path, ppm):
    program.prefix = veth.inside
    program.environment |= hook(ppm)
    plan = measured_plan(
        tmp_path / "p.json",
        [f"af_packet:{veth.left}", f"af_packet:{veth.right}"],
        frames=PPS * SECONDS,
        pps=PPS,
    )

    def attempt():
        with witness(veth.namespace, veth.right) as seen:
            done = program.run("run", plan, "-m", f"{ONE}.0,{ONE}.1", "--json")
        flow, doubts = only_flow(done)
        stamps = [stamp for _, stamp, sent in seen.seen if not sent]
        if (
            "offered load" in doubts
            or len(stamps) != PPS * SECONDS
            or flow["tx_frames"] != len(stamps)
        ):
            return None
        return flow, least_late(stamps, 1e9 / PPS)

    flow, interval_ns = retried(attempt, f"rates at {ppm} ppm")
    kernel_fps = 1e9 / interval_ns
    assert abs(ppm_between(kernel_fps, PPS)) < AGREE_PPM
    assert abs(ppm_between(flow["offered_load"]["fps"], kernel_fps)) < AGREE_PPM
    seconds = flow["tx_frames"] * interval_ns / 1e9
    assert abs(ppm_between(flow["seconds"], seconds)) < AGREE_PPM


@contextmanager
def slow_relay(namespace: str, interface: str) -> Iterator[None]:
    """Send back each frame that the interface receives, DELAY_NS after its stamp."""
    over = threading.Event()

    def relay(sock: socket.socket) -> None:
        waiting: list[tuple[int, bytes]] = []
        while not over.is_set():
            try:
                frame, stamp, sent = receive(sock)
                if not sent:
                    waiting.append((stamp + DELAY_NS, frame))
            except TimeoutError:
                pass
            while waiting and time.clock_gettime_ns(time.CLOCK_REALTIME) >= waiting[0][0]:
                sock.send(waiting.pop(0)[1])

    with raw_socket(namespace, interface) as sock:
        sock.settimeout(0.0001)
        thread = threading.Thread(target=relay, args=(sock,))
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@needs_root
@needs_two_cpus
@pytest.mark.parametrize("ppm", ["0", "1000", "10000"])
def test_latencies_agree_with_the_kernel(program, veth, tmp_path, ppm):
    """A relay holds frames for three seconds; the kernel's stamps at both ends say how long.

    The driver sends past the taps, so that departures are seen at the other end.
    """
    program.prefix = veth.inside
    program.environment |= hook(ppm)
    plan = measured_plan(
        tmp_path / "p.json", [f"af_packet:{veth.left}"], frames=3 * RELAYED_PPS, pps=RELAYED_PPS
    )

    def attempt():
        with (
            slow_relay(veth.namespace, veth.right),
            witness(veth.namespace, veth.right) as there,
            witness(veth.namespace, veth.left) as back,
        ):
            done = program.run("run", plan, "-m", f"{ONE}.0", "--settle", "6s", "--json")
        flow, doubts = only_flow(done)
        came = {frame: stamp for frame, stamp, sent in there.seen if not sent}
        delays = [stamp - came[frame] for frame, stamp, sent in back.seen if not sent]
        if len(delays) != 3 * RELAYED_PPS or flow["received"]["lost"] > 0:
            return None
        ours, kernels = flow["latency_ns"]["min"], min(delays)
        if doubts and ppm_between(ours, kernels) > AGREE_PPM:
            return None  # the engine found no frame in time
        return ours, kernels

    ours, kernels = retried(attempt, f"latencies at {ppm} ppm")
    assert kernels >= DELAY_NS
    assert abs(ppm_between(ours, kernels)) < AGREE_PPM, (ours, kernels)
