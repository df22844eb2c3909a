# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate rss` between ports that the user names: a forwarder here, or one elsewhere.

Nothing depends on speed: on a busy machine lcores lose their CPUs and cells fail, which is said.
"""

from __future__ import annotations

import signal

import pytest

from support.host import CPUS, ONE, needs_two_cpus
from support.program import wait_for
from support.verdicts import may_want_cpu

pytestmark = pytest.mark.alone

SHORT = ("--sizes", "64", "--repeats", "1", "--trial-time", "200ms", "--line-rate", "5M", "--json")


def swept(done):
    """The document of a sweep, whose cells failed for no other reason than a busy machine.

    Those have the figures of their trials all the same.
    """
    assert done.code in {0, 1}, done.err
    document = done.document
    assert document["schema"] == "wirerate-rss/1"
    for cell in document["cells"]:
        assert cell["status"] == "ok" or may_want_cpu(cell["reason"]), cell["reason"]
    return document


@needs_two_cpus
def test_a_forwarder_here(program, tmp_path):
    left, right = (f"memif:{tmp_path}/{side}" for side in ("left", "right"))
    dut = ("--dut-here", f"{left},role=server", f"{right},role=server")
    words = ("rss", left, right, *dut, "-q", "1,2", "--work", "100", *SHORT)
    document = swept(program.run(*words))
    asked = document["settings"]
    assert asked["locations"] == [left, right]
    assert asked["dut_locations"] == [f"{left},role=server", f"{right},role=server"]
    cells = document["cells"]
    places = [(cell["queues"], cell["work"], cell["size"]) for cell in cells]
    assert places == [(1, 100, 64), (1, None, 64), (2, 100, 64), (2, None, 64)]
    assert [fit["queues"] for fit in document["fits"]] == [1, 2]
    assert document["rss"]["placed_by"] == "generator"
    assert all(sum(one["flows"]) == 1024 for one in document["rss"]["per_queue_flows"])
    for cell in cells:
        trial = cell["trials"][0]
        assert len(trial["per_queue_fps"]) == cell["queues"]
        assert trial["forwarding_fps"] > 0
        assert trial["forwarder_cycles"] > trial["forwarder_frames"] * (cell["work"] or 0)


@needs_two_cpus
def test_a_forwarder_elsewhere(program, other_program, tmp_path):
    sockets = [tmp_path / side for side in ("left", "right")]
    ports = [f"memif:{socket},role=server" for socket in sockets]
    own = ("-m", f"{ONE}.0/{ONE}.1", "-q", "2", "--json")
    with other_program.start("forward", *ports, *own) as forwarder:
        for socket in sockets:
            wait_for("a socket", socket.exists)
        here = [f"memif:{socket}" for socket in sockets]
        lcores = ("-l", str(CPUS[0]), "--")
        done = program.run("rss", *lcores, *here, "-q", "2", "--work", "300", *SHORT)
        forwarder.signal(signal.SIGTERM)
        run = forwarder.finish()
    document = swept(done)
    assert (document["settings"]["dut_locations"], document["fits"]) == ([], [])
    (cell,) = document["cells"]
    assert (cell["queues"], cell["work"], cell["cycles_per_frame"]) == (2, 300, None)
    assert cell["binds"] != "forwarder"
    (way, _) = run.document["ways"]
    assert all(queue["rx_frames"] for queue in way["queues"]), "both queues were sent on"
    trial = cell["trials"][0]
    assert (trial["forwarder_busy"], trial["per_queue_fps"]) == ([], [])
    assert trial["forwarding_fps"] > 0


def test_a_device_places_flows(program):
    """net_null says how it spreads flows, and delivers none: the prediction is there, no figure."""
    ports = ("null:a", "null:b", "--dut-here", "null:c", "null:d")
    done = program.run("rss", *ports, "-q", "2", "--work", "100", *SHORT)
    document = done.document
    assert done.code == 1
    assert document["rss"]["placed_by"] == "device"
    assert set(document["rss"]["reta"]) <= {0, 1}
    (load,) = document["rss"]["per_queue_flows"]
    assert (sum(load["flows"]), load["observed"]) == (1024, None)
    assert all("no frame came back" in cell["reason"] for cell in document["cells"])


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("ring:a", "ring:a", "-q", "1"), 2, "given 2 times"),
        (("ring:a", "--dut-here", "ring:b", "-q", "2"), 2, "ring:b has no RSS"),
        (
            ("ring:a", "--dut-here", "ring:b", "-q", "1,17"),
            2,
            "the forwarder's port: 17 Rx and 17 Tx queues asked, a ring port has 16 at most",
        ),
        (("memif:{}/x,role=client", "-q", "1"), 3, "the generator's port: memif"),
        (("ring:a", "-q", "1,2"), 2, "-q: without --dut-here"),
        (("ring:a", "-q", "1", "--sizes", "1519"), 2, "above the MTU"),
    ],
)
def test_refusals(program, tmp_path, words, code, why):
    done = program.run("rss", *(word.format(tmp_path) for word in words))
    assert (done.code, done.out) == (code, "")
    assert why in done.err
    assert done.err.count("\n") == 1
