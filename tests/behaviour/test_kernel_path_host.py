# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate kernel-path` on this machine: the row linux, measured, and nothing left behind.

Not after success, not after an error, not when it is told to end at any time, and not after kill
-9 and a clean-up.
"""

from __future__ import annotations

import signal
import sys
from dataclasses import replace

import pytest

from support.host import needs, needs_root
from support.program import gone, wait_for
from wirerate.host.namespaces import NAMED, run_tool

pytestmark = [
    pytest.mark.alone,
    needs_root,
    needs("iperf3"),
    needs("ethtool"),
    needs("ping"),
    needs("ip"),
]

SHORT = ("kernel-path", "--repeats", "1", "--json", "--time", "1", "--groups")
LINUX = (*SHORT, "linux")
LONG = ("kernel-path", "--repeats", "1", "--json", "--time", "600", "--groups", "linux")
CLEANUP = ("kernel-path", "--cleanup")


def left(pid):
    """The namespaces of a run that are there."""
    return [path.name for path in NAMED.glob(f"wr-kp-{pid}-*")] if NAMED.exists() else []


def inmates(pid):
    """The processes in the namespaces of a run."""
    return [
        int(word)
        for name in left(pid)
        for word in run_tool("pids", ["ip", "netns", "pids", name]).split()
    ]


def measuring(running, least=1):
    """Wait for what is run in the namespaces, at most ping and two iperf3; their process ids."""

    def found():
        pids = inmates(running.pid)
        return pids if len(pids) >= least else []

    return wait_for(f"{least} processes in the namespaces", found)


def note(program, pid):
    return program.runs / f"wr-kp-{pid}.json"


def test_the_row_linux_is_measured_and_nothing_is_left(program):
    with program.start(*LINUX) as running:
        done = running.finish()
        assert left(running.pid) == []
        assert not note(program, running.pid).exists()
    assert done.code == 0, done.err
    (row,) = done.document["rows"]
    assert (row["status"], row["verdict"]["reasons"]) == ("ok", [])
    assert row["ping"]["idle"]["received"] > 0
    for name, test in row["tests"].items():
        (repeat,) = test["repeats"]
        assert repeat["valid"], repeat["reasons"]
        assert test["gbps"]["median"] > 0
        assert repeat["wire_octets"] > repeat["octets"]
        assert (test["udp_loss"] is None) == name.startswith("tcp")
    # What ethtool set is in force: the wire carries frames, the kernel merges them.
    read = row["tests"]["tcp_read"]
    assert 1000 < read["frame_octets"]["median"] <= 1518
    assert read["kernel_pps"]["median"] < read["pps"]["median"]
    assert 0 < done.document["seconds"] < 600


def test_a_row_with_an_application_is_complete(program):
    """The wire, the bridge and both kernels agree, with the kernel's checksums left out."""
    words = (*SHORT, "af_packet,kni", "--modes", "dedicated", "--offloads", "on")
    with program.start(*words) as running:
        done = running.finish(120)
        assert left(running.pid) == []
    assert done.code == 0, done.err
    row, kni = done.document["rows"]
    assert row["status"] == "ok", row["reason"]
    assert row["steering"]["by"] == "software"
    assert row["verdict"]["reasons"] == []
    for name, test in row["tests"].items():
        assert test["status"] == "ok", (name, test)
        assert test["gbps"]["median"] > 0
        assert 0 < test["cpu"]["application_busy"]["median"] <= 1
    assert row["ping"]["idle"]["received"] > 0
    assert row["fast_path"]["idle"]["sent"] > 0
    assert row["fast_path"]["saturated"]["forwarded_fps"] > 0
    # Saturated, the kernel's frames have a worker of their own.
    assert row["ping"]["saturated"]["received"] > 0
    assert (kni["status"], kni["hint"] != "") == ("cannot run", True)


def test_an_interface_that_vanishes_fails_its_row_alone(program):
    for _ in range(3):
        with program.start(*SHORT, "tap") as running:
            measuring(running, 4)  # the engine, too
            near = f"wr-kp-{running.pid}-near"
            run_tool("the wire goes", ["ip", "-n", near, "link", "delete", "near"])
            done = running.finish(120)
            assert left(running.pid) == []
        if done.out:
            break
        print("nothing was measured yet:", done.err)
        assert done.err.startswith("wirerate: error: "), done.err
    shared, dedicated = done.document["rows"]
    assert shared["status"] == "failed"
    assert "gone" in shared["reason"]
    assert dedicated["status"] == "ok", dedicated["reason"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_good_order(program, number):
    with program.start(*LONG) as running:
        children = measuring(running, 3 if number == signal.SIGINT else 1)
        running.signal(number)
        done = running.finish()
        assert left(running.pid) == []
        assert all(map(gone, children))
        assert not note(program, running.pid).exists()
    assert done.code == 130, done.err
    (row,) = done.document["rows"]
    assert (row["status"], row["reason"]) == ("failed", "interrupted")
    assert not done.document["verdict"]["valid"]


def killed(program, least=1):
    """A run that was killed while it measured; its process id, and those of its children."""
    with program.start(*LONG) as running:
        children = measuring(running, least)
        running.signal(signal.SIGKILL)
        running.finish()
        return running.pid, children


def test_what_a_killed_run_has_left_is_cleaned_up(program):
    pid, children = killed(program, 3)
    assert note(program, pid).exists()
    done = program.run(*CLEANUP)
    assert done.code == 0, done.err
    for what in (f"wr-kp-{pid}-far", f"wr-kp-{pid}-near", str(note(program, pid))):
        assert what in done.out
    assert left(pid) == []
    wait_for("the end of its children", lambda: all(map(gone, children)))
    assert not note(program, pid).exists()
    assert str(pid) not in program.run(*CLEANUP).out


def test_a_run_says_what_a_killed_one_has_left_and_goes_on(program):
    pid, _ = killed(program)
    try:
        done = program.run(*LINUX)
        assert done.code == 0, done.err
        assert any(str(pid) in text for text in done.document["verdict"]["notes"])
        assert done.document["rows"][0]["status"] == "ok"
    finally:
        program.run(*CLEANUP)
    assert left(pid) == []


def test_clean_up_leaves_a_run_alone_and_two_can_run_at_once(program):
    with program.start(*LONG) as running:
        measuring(running)
        assert str(running.pid) not in program.run(*CLEANUP).out
        other = program.run(*LINUX)
        assert other.document["rows"][0]["status"] == "ok"
        assert any(f"process {running.pid}" in text for text in other.document["verdict"]["notes"])
        assert not gone(running.pid)
        assert left(running.pid)
        running.signal(signal.SIGTERM)
        running.finish()
        assert left(running.pid) == []


def test_a_missing_program_is_named(program, tmp_path):
    done = replace(program, environment={"PATH": str(tmp_path)}).run(*LINUX)
    done.refused("iperf3", "ethtool", "apt-get install", code=3)


def test_a_namespace_of_that_name_is_an_error_and_stays(program):
    """Another's namespace in the way of ours: ours goes, that one does not."""
    code = (
        "import os, subprocess, sys; name = f'wr-kp-{os.getpid()}-near';"
        "subprocess.run(['ip', 'netns', 'add', name], check=True);"
        f"os.execv(sys.executable, {[*program.command, *LINUX]!r})"
    )
    with replace(program, command=(sys.executable, "-c")).start(code) as running:
        done = running.finish()
        name = f"wr-kp-{running.pid}-near"
        try:
            done.refused(name, "File exists", code=3)
            assert [path.name for path in NAMED.glob(f"wr-kp-{running.pid}-*")] == [name]
        finally:
            program.runs.mkdir(mode=0o700, parents=True, exist_ok=True)
            assert name in program.run(*CLEANUP).out
