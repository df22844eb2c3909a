# SPDX-License-Identifier: BSD-3-Clause
"""Two programs: one sends and asks the other, which counts, where frames were lost."""

from __future__ import annotations

import json
import os
import re
import signal
import urllib.request

import pytest

from support.host import CPUS, ONE, needs_root, needs_two_cpus, run
from support.network import free_port
from support.peers import measured_plan
from support.program import wait_for
from wirerate.errors import PeerError
from wirerate.plan.peer_address import PeerAddress
from wirerate.trial.peer_client import ask

FRAMES = 20_000
HOST = "127.0.0.1"
COUNTED = ("--count", str(FRAMES), "-r", "50kpps", "--json")


def counters(port):
    with urllib.request.urlopen(f"http://{HOST}:{port}/counters", timeout=5) as answer:
        return json.load(answer)


def listens(port):
    """It answers, if only by what it is not."""
    try:
        return bool(ask(PeerAddress(HOST, port)))
    except PeerError:
        return False


def reflecting(program, socket, port, *words):
    """Start a reflector on a memif that tells its counters."""
    own = (f"memif:{socket},role=server", "-m", f"{ONE}.0", "--listen", str(port), "--json")
    return program.start("reflect", *own, *words)


def sent_to(program, socket, port, *words):
    """What perf says that asked the peer."""
    maps = ("-m", f"{CPUS[0]}.0")
    done = program.run(
        "perf", f"memif:{socket}", *maps, *COUNTED, "--peer", f"{HOST}:{port}", *words
    )
    assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
    return done.document


def adds_up(peer):
    """Each frame that was due and did not arrive is in one place."""
    assert peer["complete"], peer
    lost, gained = sum(peer["lost"].values()), sum(peer["gained"].values())
    assert peer["due"] - peer["arrived"] == peer["missing"] == lost - gained
    assert min(*peer["lost"].values(), *peer["gained"].values()) >= 0


@needs_two_cpus
def test_every_frame_is_accounted_for(program, other_program, tmp_path):
    """Those that the peer drops on purpose are found there, exactly."""
    socket, port = tmp_path / "x.sock", free_port()
    with reflecting(other_program, socket, port, "--drop=5%", "--duplicate=1%") as reflector:
        wait_for("the peer", lambda: listens(port))
        first, second = (sent_to(program, socket, port) for _ in range(2))
        reflector.signal(signal.SIGTERM)
        own = reflector.finish().document
    for document in (first, second):
        peer = document["peer"]
        adds_up(peer)
        assert peer["due"] == FRAMES
        assert peer["lost"]["between"] == peer["gained"]["between"] == 0, "memif loses nothing"
        assert peer["counters"]["received"] == document["ports"][0]["tx_frames"]
    (way,) = own["ways"]
    for word, place in (("dropped", "lost"), ("duplicated", "gained")):
        assert sum(d["peer"][place]["asked"] for d in (first, second)) == way[word] > 0, word
    assert sum(d["peer"]["counters"]["received"] for d in (first, second)) == way["rx_frames"]


@needs_root
@needs_two_cpus
def test_what_the_peers_queue_drops_is_found_there(program, other_program, veth):
    """One way, into a peer that takes ten times as long for a frame as it has."""
    program.prefix = other_program.prefix = veth.inside
    run(*veth.inside, "ip", "link", "set", "lo", "up")
    port = free_port()
    words = ("-m", f"{ONE}.0", "--work", "200us", "--listen", str(port), "--json")
    tiny = f"vdev:net_af_packet0,iface={veth.right},qpairs=1,framesz=2048,framecnt=64"
    with other_program.start("reflect", tiny, *words) as reflector:
        reflector.sending()
        one_way = ("-m", f":{CPUS[0]}.0", *COUNTED, "--peer", f"{HOST}:{port}")
        done = program.run("perf", f"af_packet:{veth.left}", *one_way)
        reflector.signal(signal.SIGTERM)
        own = reflector.finish().document
    assert done.code == 0, done.err
    peer = done.document["peer"]
    adds_up(peer)
    print(peer)
    assert peer["returns"] is False
    assert peer["lost"]["queues"] == own["ports"][0]["socket_drops"] > FRAMES / 10
    assert peer["arrived"] == own["total"]["rx_frames"]
    assert peer["lost"]["forwarding"] == peer["lost"]["back"] == 0


@needs_two_cpus
def test_a_plan_has_a_peer_too(program, other_program, tmp_path):
    socket, port = tmp_path / "x.sock", free_port()
    plan = measured_plan(tmp_path / "plan.json", [f"memif:{socket}"], frames=5000, pps=20_000)
    maps = ("-m", f"{CPUS[0]}.0", "--peer", f"{HOST}:{port}")
    with reflecting(other_program, socket, port, "--drop=10%"):
        wait_for("the peer", lambda: listens(port))
        document = program.run("run", plan, *maps, "--json").document
        text = program.run("run", plan, *maps).out
    adds_up(document["peer"])
    (flow,) = document["flows"]
    lost = flow["received"]["lost"] + flow["tx_frames_unsent"]
    assert document["peer"]["missing"] == lost > 100
    found = re.search(rf"Peer {HOST}:{port}: received [0-9,]+, sent back [0-9,]+; .*", text)
    assert found
    assert found[0].endswith(" of 5,000 that were due did not arrive back here")
    assert re.search("not sent [0-9,]+, between 0, dropped by its queues 0, by its forward", text)


@needs_two_cpus
def test_a_peer_that_vanishes_leaves_the_result(program, other_program, tmp_path):
    """Killed while frames are sent: nothing of it is left to ask."""
    socket, port = tmp_path / "x.sock", free_port()
    words = ("-m", f"{CPUS[0]}.0", "-r", "1kpps", "--duration", "3", "--json")
    with reflecting(other_program, socket, port) as reflector:
        wait_for("the peer", lambda: listens(port))
        asking = ("--peer", f"{HOST}:{port}")
        with program.start("perf", f"memif:{socket}", *words, *asking) as running:
            wait_for("frames", lambda: counters(port)["total"]["rx_frames"] > 100)
            reflector.signal(signal.SIGTERM)
            reflector.finish()
            done = running.finish()
    assert done.code == 0, done.err
    assert done.document["peer"]["complete"] is False
    assert "gone: connection refused" in done.document["peer"]["reason"]
    assert any(
        "where frames were lost is not known" in n for n in done.document["verdict"]["notes"]
    )
    assert done.document["ports"][0]["tx_frames"] > 0


def test_nobody_is_asked_in_vain(program):
    """Told before anything is sent, in one line."""
    done = program.run("perf", "null:x", "-m", f"{ONE}.0", "--peer", f"{HOST}:{free_port()}")
    done.refused("--peer", "connection refused", "reflect --listen", code=3)
    assert done.out == ""


def test_what_is_served_is_what_is_reported(program):
    """The same document, as of then and as of the end; and nothing when it is over."""
    port = free_port()
    words = ("null:x", "-m", f"{ONE}.0", "--rx-only", "--listen", str(port), "--json")
    with program.start("reflect", *words) as running:
        wait_for("the server", lambda: listens(port))
        served = counters(port)
        running.signal(signal.SIGINT)
        ended = running.finish()
    assert ended.err == f"Counters: http://{HOST}:{port}/counters\n"
    assert served.keys() == ended.document.keys()
    for word in ("schema", "command", "settings", "ways", "total", "environment"):
        assert served[word] == ended.document[word], word
    # The end may be that same moment, by a clock that was compared with the kernel's once more.
    assert served["seconds"] < ended.document["seconds"] * (1 + 1e-6)
    with pytest.raises(PeerError):
        ask(PeerAddress(HOST, port))


def test_a_port_in_use_is_told(program, other_program):
    port = free_port()
    with other_program.start("reflect", "null:x", "-m", f"{ONE}.0", "--listen", str(port)):
        wait_for("the server", lambda: listens(port))
        done = program.run("reflect", "null:x", "-m", f"{ONE}.0", "--listen", str(port))
    done.refused(f"--listen {HOST}:{port}", "address already in use", code=3)


def test_a_free_port_is_printed(program):
    done = program.run("reflect", "null:x", "--listen", "0", "--duration", "200ms")
    assert done.code == 0, done.err
    port = int(done.out.splitlines()[0].removeprefix(f"Counters: http://{HOST}:").split("/")[0])
    assert port > 0


def test_an_engine_that_died_ends_the_server(program):
    port = free_port()
    words = ("reflect", "null:x", "-m", f"{ONE}.0", "--listen", str(port), "--json")
    with program.start(*words) as running:
        wait_for("the server", lambda: listens(port))
        os.kill(running.engine_pid(), signal.SIGKILL)
        assert running.finish().code == 4
    assert not listens(port)
