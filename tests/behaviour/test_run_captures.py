# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate run` records what ports receive: captures of the plan, of options, of bad frames."""

from __future__ import annotations

import json

import pytest

from support.host import ONE, needs, tshark
from support.read_captures import read_pcap

FRAMES = 400
OCTETS = 124
"""Of a frame of 128 octets, without FCS."""


def plan(*captures):
    packet = [
        {"ethernet": {}},
        {"ipv4": {"dst": {"values": ["198.19.0.1", "198.19.0.2"]}}},
        {"udp": {"dst_port": {"value": 9}}},
    ]
    flow = {
        "name": "f",
        "tx_rx": {"port": {"tx_name": "west", "rx_names": ["west"]}},
        "metrics": {"enable": True},
        "packet": packet,
        "size": {"fixed": OCTETS + 4},
        "rate": {"pps": 4000},
        "duration": {"fixed_packets": {"packets": FRAMES}},
    }
    ports = [{"name": "west", "location": "ring:captures"}]
    return {"ports": ports, "flows": [flow], "captures": list(captures)}


@pytest.fixture
def run(program, tmp_path):
    """Run a plan with captures; the process's result."""

    def start(document, *words):
        path = tmp_path / "plan.json"
        path.write_text(json.dumps(document))
        directory = ("--capture-dir", str(tmp_path))
        return program.run("run", str(path), "-m", f"{ONE}.0", *directory, *words, "--json")

    return start


@needs("tshark")
def test_files_of_a_plan_and_of_options(run, tmp_path):
    whole = tmp_path / "whole.pcap"
    half = {
        "name": "half",
        "port_names": ["west"],
        "format": "pcapng",
        "packet_size": 60,
        "filters": [{"ipv4": {"dst": {"value": "c6130001"}}}],
    }
    done = run(plan(half), "--capture", f"west={whole}", "--capture-filter", "udp port 9")
    assert (done.code, done.err) == (0, "")
    assert done.document["captures"] == [
        {"path": str(tmp_path / "half-west.pcapng"), "frames": FRAMES // 2},
        {"path": str(whole), "frames": FRAMES},
    ]
    kept = tshark(tmp_path / "half-west.pcapng", ["frame.cap_len", "frame.len", "ip.dst"])
    assert kept == [("60", str(OCTETS), "198.19.0.1")] * (FRAMES // 2)
    assert [len(octets) for _, octets in read_pcap(whole)] == [OCTETS] * FRAMES


def test_without_faults_no_bad_frame_is_kept(run, tmp_path):
    done = run(plan(), "--keep-bad", "5")
    assert (done.code, done.err) == (0, "")
    assert done.document["captures"] == [{"path": str(tmp_path / "bad-west.pcapng"), "frames": 0}]


def test_a_wrong_filter_is_named_by_its_option(run, tmp_path):
    done = run(plan(), "--capture", f"west={tmp_path}/x.pcap", "--capture-filter", "udp prt 9")
    done.refused("--capture west=", '"udp prt 9" is no filter')
    assert not (tmp_path / "x.pcap").exists()
