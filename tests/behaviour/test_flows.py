# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate flows` for real: growing flows on a ring, latency, a peer, plans, and bad input."""

from __future__ import annotations

import os
import re

import pytest

from support.host import CPUS, ONE, is_root, needs_two_cpus
from support.program import wait_for

MAP = ("-m", f"{ONE}.0")
FLOWS, CPS, FPS = 5000, 5000, 200_000


def document(program, *words):
    run = program.run("flows", *words, "--json")
    assert (run.code, run.err) == (0, ""), f"exit code {run.code}: {run.err}"
    return run.document


def test_flows_grow_and_each_is_seen(program, tmp_path):
    conf = tmp_path / "a.conf"
    conf.write_text(f"flow_num {FLOWS} # in all\r\ncps {CPS}\r\npayload 1\r\n")
    words = ("-f", str(conf), "ring:flows", *MAP, "-s", f"{FPS}pps", "--duration", "2", "-T", "0.1")
    found = document(program, *words)
    assert found["schema"] == "wirerate-flows/1"
    assert found["distinct"] == {
        "flows": FLOWS,
        "overflow_frames": 0,
        "room_per_queue": FLOWS + 1024,
    }
    growing = [look for look in found["series"] if look["seconds"] < 0.9]
    for look in growing:
        due = 1 + look["seconds"] * CPS
        # On a busy machine the clock may be read some time before the counters.
        assert look["active_flows"] <= 1.02 * due + 1
        assert look["distinct_flows"] <= 1.02 * due + 1
    seen = [look["distinct_flows"] for look in found["series"]]
    assert seen == sorted(seen)
    assert found["series"][-1]["active_flows"] == FLOWS
    ends = found["ends"]
    assert ends["client_tx"]["frames"] == ends["client_rx"]["frames"] > FLOWS
    assert ends["client_rx"]["frames"] == found["ports"][0]["device"]["ipackets"]
    assert (ends["server_rx"], ends["client_cores"]) == (None, 1)


@pytest.mark.parametrize("more", [(), ("--src-ip", "2001:2::1", "--flow-num", "10")])
def test_latency(program, more):
    found = document(program, "--mode", "1", "ring:flows", *MAP, "--duration", "0.5", *more)
    [flow] = found["flows"]
    assert flow["received"]["frames"] + flow["received"]["lost"] == flow["tx_frames"] > 0
    assert flow["latency_ns"]["p50"] > 0
    assert found["series"][0]["latency_ns"]["count"] > 0
    assert found["distinct"]["flows"] == (10 if more else 1)


def test_throughput_and_latency_at_once(program):
    words = ("--flow-num", "10", "-s", "100kpps", "--probe=0.01", "--oneway")
    found = document(program, *words, "ring:flows", *MAP, "--duration", "0.5")
    main, probe = found["flows"]
    assert (main["latency_ns"], main["name"]) == (None, "flows")
    assert probe["latency_ns"]["count"] == probe["tx_frames"] > 0
    assert found["distinct"]["flows"] == 10, "the probe is of flow 0"
    sent = main["tx_frames"] + probe["tx_frames"]
    assert found["ends"]["server_rx"]["frames"] == sent
    assert found["ends"]["client_rx"] is None


@needs_two_cpus
def test_two_queues_share_the_flows(program):
    words = ("--flow-num", "11", "-n", "2", "-s", "20kpps", "ring:flows", "--duration", "0.5")
    found = document(program, *words)
    queues = found["ports"][0]["tx_queues"]
    assert [queue["queue"] for queue in queues] == [0, 1]
    assert all(queue["frames"] > 0 for queue in queues)
    last = found["series"][-1]
    assert [queue["flows"] for queue in last["tx_queues"]] == [6, 5]
    assert last["active_flows"] == 11


def test_text(program):
    run = program.run(
        "flows", "--flow-num", "3", "-s", "10kpps", "ring:flows", *MAP, "--duration=1"
    )
    assert run.code == 0, run.err
    for part in (
        "Mode 0: throughput. Frames of 64 octets: payload 18, 84 on the line.",
        "Flows: 1 to 3, 10,000 more each second, from 198.18.0.1 to 198.19.0.1.",
        "3 of 3 flows active, 3 distinct received; CPU 0.",
        "distinct 5-tuples received: 3 of 3 flows",
        "Two-way          Client TX        Client RX        Server RX        Server TX",
        "Server: not known (--peer asks wirerate reflect --listen there).",
        "Verdict: ",
    ):
        assert part in run.out, run.out


@needs_two_cpus
def test_a_peer_fills_the_servers_columns(program, other_program, tmp_path):
    location = f"memif:{tmp_path}/dut.sock"
    reflect = ("reflect", f"{location},role=server", "--listen", "0", "-m", f"{CPUS[0]}.0")
    with other_program.start(*reflect) as peer:
        assert peer._process.stdout is not None
        address = re.search(r"http://([^/]*)/", peer._process.stdout.readline())
        assert address is not None
        wait_for("the socket", (tmp_path / "dut.sock").exists)
        words = ("--flow-num", "9", "-s", "20kpps", "--duration", "0.5", "--peer", address[1])
        found = document(program, *words, location, "-m", f"{CPUS[1]}.0")
        oneway = document(program, *words, "--oneway", location, "-m", f"{CPUS[1]}.0")
    ends = found["ends"]
    assert ends["client_tx"]["frames"] >= ends["server_rx"]["frames"] > 0
    assert ends["server_rx"]["frames"] >= ends["server_tx"]["frames"] > 0
    assert (ends["server_cores"], ends["server"]) == (1, f"peer {address[1]}")
    assert found["peer"]["complete"]
    ends = oneway["ends"]
    assert ends["client_tx"]["frames"] >= ends["server_rx"]["frames"] > 0
    assert ends["client_rx"] is ends["server_tx"] is None


def test_the_plan_runs_and_is_the_same(program, tmp_path):
    words = ("--flow-num", "300", "--cps", "100000", "-s", "10kpps", "--duration", "0.5")
    shown = program.run("flows", *words, "ring:flows", *MAP, "--show-plan")
    assert (shown.code, shown.err) == (0, "")
    assert f"# wirerate run PLAN -m {ONE}.0\n" in shown.out
    plan = tmp_path / "plan.yaml"
    plan.write_text(shown.out)
    run = program.run("run", str(plan), *MAP, "--json")
    assert (run.code, run.err) == (0, "")
    [flow] = run.document["flows"]
    assert flow["frame_size_octets"] == 64
    assert flow["tx_frames"] + flow["tx_frames_unsent"] == pytest.approx(5000, abs=1)


BAD_FILES = {
    "unknown value": (b"\nmode 7", [":2: mode '7'", "0 to 2"]),
    "cps 0": (b"cps 0", [":1: cps '0'", "no flow would ever be added"]),
    "payload over the MTU": (b"payload 1473 # x", [":1: payload '1473'", "MTU of 1,500", "1,472"]),
    "twice": (b"cps 1\r\ncps 2\r\n", [":2: cps is given in line 1 already"]),
    "no value": (b"src_mac\n", [":1: src_mac has no value"]),
    "no address": (b"src_ip 1.2.3", [":1: src_ip '1.2.3'", "IPv4 or IPv6"]),
    "two kinds": (b"src_ip ::1\ndst_ip 1.2.3.4", [":2: dst_ip '1.2.3.4'", "IPv6"]),
    "group that sends": (b"src_mac 01:00:00:00:00:00", [":1: src_mac", "group"]),
    "UTF-16": ("cps 1".encode("utf-16"), ["UTF-16"]),
    "no flow": (b"flow_num 0", [":1: flow_num '0'"]),
}


@pytest.mark.parametrize(("content", "parts"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_files_are_refused_in_one_line(program, tmp_path, content, parts):
    conf = tmp_path / "bad.conf"
    conf.write_bytes(content)
    program.run("flows", "-f", str(conf), "ring:x").refused("bad.conf", *parts)


BEYOND = str(len(CPUS) + 1)
BAD_WORDS = {
    "no file": (["-f", "/nowhere/a.conf"], ["/nowhere/a.conf", "No such file"], 2),
    "directory": (["-f", "/tmp"], ["it is a directory"], 2),
    "device": (["-f", "/dev/zero"], ["not a regular file"], 2),
    "no such port": (["-r", "3", "ring:x"], ["-r 3", "the only one is 0"], 2),
    "more queues than lcores": (["-n", BEYOND, "ring:x"], [f"-n {BEYOND}", "may be used"], 2),
    "peer that is not there": (["--peer", "127.0.0.1:1", "ring:x"], ["127.0.0.1:1"], 3),
    "speed": (["-s", "0", "ring:x"], ["-s '0'"], 2),
    "probe in latency mode": (["--mode", "2", "--probe"], ["--probe", "mode 2"], 2),
}


@pytest.mark.parametrize(("words", "parts", "code"), BAD_WORDS.values(), ids=BAD_WORDS.keys())
def test_options_are_refused_in_one_line(program, words, parts, code):
    program.run("flows", *words).refused(*parts, code=code)


@needs_two_cpus
def test_more_queues_than_the_device_has(program, tmp_path):
    words = ("-n", "2", f"pcap:,{tmp_path}/out.pcap", "--duration", "1")
    run = program.run("flows", *words)
    assert run.code in {2, 3}, run.err
    assert "Tx queues" in run.err or "queue" in run.err, run.err


def test_a_file_that_may_not_be_read(program, tmp_path):
    if is_root() or os.access("/", os.W_OK):
        pytest.skip("root may read everything")
    conf = tmp_path / "a.conf"
    conf.write_text("cps 1")
    conf.chmod(0)
    program.run("flows", "-f", str(conf)).refused("a.conf", "Permission denied")


def test_warnings_do_not_stop_it(program, tmp_path):
    conf = tmp_path / "a.conf"
    conf.write_text("flows 3\n_cps 0\nflow_num 1\n")
    run = program.run("flows", "-f", str(conf), "ring:x", *MAP, "--show-plan")
    assert run.code == 0
    assert run.err.startswith(f"wirerate: warning: {conf}:1: there is no key 'flows'")
    assert len(run.err.splitlines()) == 1
