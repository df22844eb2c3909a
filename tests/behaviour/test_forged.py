# SPDX-License-Identifier: BSD-3-Clause
"""Copied, late and forged frames: what a relay that knows nothing of the engine did to them."""

from __future__ import annotations

import json
from pathlib import Path

from support.host import needs_root, run
from support.peers import measured_plan
from support.relay import relay

FRAMES = 5000


def second_wire(veth):
    """Another pair in the namespace: its ends."""
    ends = ("wr-left2", "wr-right2")
    ip = ("ip", "-n", veth.namespace, "link")
    run(*ip, "add", ends[0], "type", "veth", "peer", ends[1])
    for name in ends:
        run(*veth.inside, "sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1")
        run(*ip, "set", name, "arp", "off", "up")
    return ends


def received_by(program, plan, *words):
    done = program.run("run", plan, *words, "--json")
    assert done.code == 0, done.err
    document = done.document
    assert all(port["device"]["socket_drops"] == 0 for port in document["ports"]), "lost here"
    return document, document["total"]["received"]


def reasons_with(document, text):
    return [reason for reason in document["verdict"]["reasons"] if text in reason]


@needs_root
def test_copies_at_two_ports_hide_no_loss(program, veth, tmp_path):
    """Every second frame is dropped, the others arrive at both receivers: half of them are lost."""
    program.prefix = veth.inside
    left, right = second_wire(veth)
    ends = [f"af_packet:{name}" for name in (veth.left, left)]
    file = tmp_path / "p.json"
    document = json.loads(Path(measured_plan(file, ends, frames=FRAMES, pps=5000)).read_text())
    document["flows"][0]["tx_rx"]["port"]["rx_names"] = ["p0", "p1"]
    file.write_text(json.dumps(document))
    with relay(veth, "split", veth.right, veth.right, right) as did:
        document, back = received_by(program, str(file))
    assert did["dropped"] > 0
    assert back["frames"] == back["duplicates"] == did["delivered"]
    assert back["lost"] == document["total"]["tx_frames"] - did["delivered"]
    assert not reasons_with(document, "too late")


@needs_root
def test_forged_stamps_are_counted_apart(program, veth, tmp_path):
    program.prefix = veth.inside
    plan = measured_plan(tmp_path / "p.json", [f"af_packet:{veth.left}"], frames=FRAMES, pps=5000)
    with relay(veth, "forge", veth.right, veth.right) as did:
        document, back = received_by(program, plan)
    assert did["forged"] == back["impossible"] == 4
    assert reasons_with(document, "4 frames had a stamp that the sender cannot have written")
    assert (back["frames"], back["reordered"], back["duplicates"]) == (did["delivered"], 0, 0)
    late = document["total"]["latency_ns"]
    assert 0 < late["min"] <= late["max"] < 60e9


@needs_root
def test_duplicates_that_are_too_late_invalidate(program, veth, tmp_path):
    program.prefix = veth.inside
    plan = measured_plan(tmp_path / "p.json", [f"af_packet:{veth.left}"], frames=70_000, pps=20_000)
    with relay(veth, "late", veth.right, veth.right) as did:
        document, back = received_by(program, plan)
    assert did["repeated"] == back["too_late"] == 10
    assert reasons_with(document, "10 frames were too late"), document["verdict"]
