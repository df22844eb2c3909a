# SPDX-License-Identifier: BSD-3-Clause
"""An engine that dies, at whatever stage: never "valid", and the exit code says so.

The engine is told where to die (--die-at, engine/base/stage.h) by a script in its place.
"""

from __future__ import annotations

import json

import pytest

from support.captures import frame_octets, write_pcap
from support.host import needs, needs_root
from wirerate.engine.process import find_engine

BEFORE_COUNTS = ("ports.open", "program.load", "program.load done")
WHILE_COUNTED = (
    *("traffic.start", "traffic.start done", "traffic.stop", "traffic.stop done"),
    "program.unload",
)
AFTER_COUNTS = (
    *("engine.shutdown", "engine.shutdown done", "close", "port closed", "ports closed"),
    *("closed", "cleaned up"),
)
SEGV = 11
ENGINE_DIED = 4
RUN = ("-r", "10kpps", "--duration", "300ms")


def dying(program, tmp_path, stage, number=SEGV):
    """Let the program's engines die at a stage by signal ``number``."""
    script = tmp_path / "engine"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *--scan-trace*) exec {find_engine()} "$@";; esac\n'
        f'exec {find_engine()} --die-at "{stage},{number}" "$@"\n'
    )
    script.chmod(0o755)
    program.environment["WIRERATE_ENGINE"] = str(script)


def invalid(done, *words):
    """It was reported that the engine died, in one line and in the verdict, if there is one."""
    assert done.code == ENGINE_DIED, f"exit code {done.code}: {done.out}{done.err}"
    lines = [line for line in done.err.splitlines() if "warning" not in line]
    assert len(lines) == 1, done.err
    assert lines[0].startswith("wirerate: error: ")
    assert "Traceback" not in done.err + done.out
    for word in words:
        assert word in lines[0]
    assert "Verdict: valid" not in done.out
    if done.out.startswith("{"):
        verdict = json.loads(done.out)["verdict"]
        assert verdict["valid"] is False
        assert any("engine" in reason for reason in verdict["reasons"])
    return done


@pytest.mark.parametrize("stage", [*BEFORE_COUNTS, *WHILE_COUNTED, *AFTER_COUNTS])
def test_perf_at_every_stage(program, tmp_path, stage):
    dying(program, tmp_path, stage)
    done = invalid(program.run("perf", "ring:x", *RUN, "--json"), "SIGSEGV")
    assert (done.out == "") == (stage in BEFORE_COUNTS)
    if stage in AFTER_COUNTS:
        assert "after the last count" in done.document["verdict"]["reasons"][0]
        assert done.document["ports"][0]["tx_frames"] > 0


def test_killed_and_text(program, tmp_path):
    dying(program, tmp_path, "close", 9)
    done = invalid(program.run("perf", "ring:x", *RUN), "SIGKILL")
    assert "Verdict: invalid" in done.out


def plan_of(tmp_path):
    flow = {
        "name": "f",
        "tx_rx": {"port": {"tx_name": "p", "rx_names": ["p"]}},
        "packet": [{"choice": "ethernet"}],
        "rate": {"pps": 1000},
        "duration": {"fixed_packets": {"packets": 100}},
        "metrics": {"enable": True},
    }
    plan = {"ports": [{"name": "p", "location": "ring:x"}], "flows": [flow]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    return str(tmp_path / "plan.json")


def capture_of(tmp_path):
    return str(write_pcap(tmp_path / "in.pcap", [(i, frame_octets(60, i), None) for i in range(9)]))


COMMANDS = ("run", "replay", "flows", "forward", "reflect", "preview", "search")
LATE = ("close", "ports closed", "cleaned up")


@pytest.mark.parametrize("stage", ["program.unload", *LATE])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command(program, tmp_path, command, stage):
    words = {
        "run": lambda: ("run", plan_of(tmp_path), "--json"),
        "replay": lambda: ("replay", capture_of(tmp_path), "ring:x", "--loops", "2", "--json"),
        "flows": lambda: ("flows", "ring:x", "--flow-num", "2", "-s", "1kpps", "--duration=1"),
        "forward": lambda: ("forward", "null:a", "ring:b", "--duration", "200ms", "--json"),
        "reflect": lambda: ("reflect", "null:a", "--duration", "200ms", "--json"),
        "preview": lambda: ("preview", plan_of(tmp_path), "-o", str(tmp_path / "out.pcap")),
        "search": lambda: (
            *("perf", "ring:x", "--measure", "--converge", "loss", "-r", "5kpps"),
            *("--duration", "100ms", "--settle", "50ms", "--json"),
        ),
    }[command]()
    if command == "preview" and stage == "program.unload":
        stage = "program.preview done"
    dying(program, tmp_path, stage)
    done = invalid(program.run(*words), "SIGSEGV")
    if command == "preview":
        assert done.out == ""


@pytest.mark.parametrize("stage", ["program.unload done", *LATE])
def test_bridge(program, veth, tmp_path, stage):
    dying(program, tmp_path, stage)
    program.prefix = veth.inside
    ports = (f"af_packet:{veth.left}", f"af_packet:{veth.right}")
    done = invalid(program.run("bridge", *ports, "--duration", "300ms", "--json"), "SIGSEGV")
    assert done.out != ""


@pytest.mark.parametrize("stage", LATE)
def test_rss_check(program, tmp_path, stage):
    dying(program, tmp_path, stage)
    words = ("rss", "--check", "null:a", "ring:b", "-q", "1", "--flows", "4")
    assert invalid(program.run(*words), "SIGSEGV").out == ""


@pytest.mark.parametrize("stage", LATE)
def test_rss_sweep(program, tmp_path, stage):
    dying(program, tmp_path, stage)
    words = ("--sizes", "64", "--work", "100", "--repeats", "1", "--trial-time", "200ms", "--json")
    done = invalid(program.run("rss", "-q", "1", *words), "SIGSEGV")
    assert done.document["cells"]


@needs_root
@needs("iperf3")
def test_kernel_path(program, tmp_path):
    """A row whose engine died at its end has failed, and so has the whole."""
    dying(program, tmp_path, "port closed")
    words = ("--groups", "af_packet", "--modes", "shared", "--repeats", "1", "--time", "1")
    done = program.run("kernel-path", *words, "--no-fast-path", "--json", timeout_s=120)
    assert done.code != 0, done.out
    verdict = done.document["verdict"]
    assert verdict["valid"] is False
    assert any("SIGSEGV" in reason for reason in verdict["reasons"])
