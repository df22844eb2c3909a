# SPDX-License-Identifier: BSD-3-Clause
"""What the tester counts equals what the forwarder did, to the frame."""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from support.host import CPUS, ONE, needs_root, needs_two_cpus, run
from support.peers import measured_plan
from support.verdicts import skip_where_busy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.program import Program, Running

pytestmark = pytest.mark.alone

FRAMES = 1_000_000
IMPAIRED = ("--drop", "1%", "--duplicate", "0.5%", "--reorder", "0.2%", "--seed", "7", "--one-way")


def run_of(program: Program, plan: str, *words: str) -> dict[str, Any]:
    done = program.run("run", plan, *words, "--json", timeout_s=60)
    if "PACKET_FANOUT" in done.err:
        # net_af_packet's group is its process id xor the interface's number: two may meet.
        print("again, with another process id:", done.err)
        done = program.run("run", plan, *words, "--json", timeout_s=60)
    assert done.code == 0, done.err
    return done.document


@contextmanager
def forwarder(program: Program, *words: str) -> Iterator[Running]:
    with program.start("forward", *words, "--json") as running:
        running.sending()
        yield running


def counted(running: Running) -> dict[str, Any]:
    """The forwarder's document, once it has ended."""
    running.signal(signal.SIGINT)
    done = running.finish()
    assert done.code == 0, done.err
    return done.document


def only_one_queue(document: dict[str, Any]) -> bool:
    return all(len(port["rx_queues"]) == 1 for port in document["ports"])


def agree(tester: dict[str, Any], forwarder: dict[str, Any]) -> None:
    """Frame by frame: nothing was lost but what the forwarder dropped, and so on."""
    back, total = tester["total"]["received"], forwarder["total"]
    here = sum(port["device"]["socket_drops"] for port in tester["ports"])
    there = sum(port["socket_drops"] for port in forwarder["ports"])
    assert tester["total"]["tx_frames"] == total["rx_frames"] + there
    if here + there > 0:
        pytest.skip(
            f"the machine is busy: full sockets dropped {here:,} frames here, {there:,} there"
        )
    # What found no room on a busy machine may have been one of two copies: then nothing is lost.
    no_room = total["not_taken"] + total["overflowed"]
    copies = total["duplicated"] - back["duplicates"]
    assert 0 <= copies <= no_room
    assert back["lost"] == total["dropped"] + no_room - copies
    # The kernel gives frames of a worker that does not come for them to another one's queue.
    if only_one_queue(tester) or (tester["verdict"]["valid"] and forwarder["verdict"]["valid"]):
        assert 0 <= total["reordered"] - back["reordered"] <= no_room
    assert total["tx_frames"] == back["frames"] + back["duplicates"]
    assert total["dropped"] > 0
    assert total["duplicated"] > 0
    assert total["reordered"] > 0


@needs_two_cpus
def test_through_memif(program, other_program, tmp_path):
    sockets = [tmp_path / "a.sock", tmp_path / "b.sock"]
    there = [f"memif:{socket},role=server" for socket in sockets]
    plan = measured_plan(
        tmp_path / "plan.json",
        [f"memif:{socket}" for socket in sockets],
        frames=FRAMES,
        pps=250_000,
    )
    with forwarder(other_program, *there, "-m", f"{CPUS[0]}.0,{CPUS[0]}.1", *IMPAIRED) as running:
        result = run_of(program, plan, "-m", f"{ONE}.0,{ONE}.1")
        agree(result, counted(running))
    (flow,) = result["flows"]
    assert flow["tx_frames"] + flow["tx_frames_unsent"] == FRAMES


@needs_two_cpus
def test_through_memif_with_two_queues(program, other_program, tmp_path):
    """Four workers on two CPUs: slow, late, and exact."""
    sockets = [tmp_path / "a.sock", tmp_path / "b.sock"]
    there = [f"memif:{socket},role=server" for socket in sockets]
    both = f"{CPUS[0]}-{CPUS[1]}" if CPUS[1] == CPUS[0] + 1 else f"{CPUS[0]}/{CPUS[1]}"
    plan = measured_plan(
        tmp_path / "plan.json",
        [f"memif:{socket}" for socket in sockets],
        frames=FRAMES,
        pps=100_000,
    )
    with forwarder(other_program, *there, "-m", f"{both}.0,{both}.1", *IMPAIRED) as running:
        result = run_of(program, plan, "-m", f"{both}.0,{both}.1")
        agree(result, counted(running))


@pytest.fixture
def two_wires(program, other_program, veth):
    """Ends of two pairs: ours, and those of the forwarder."""
    ip = ("ip", "-n", veth.namespace, "link")
    run(*ip, "add", "wr-left2", "type", "veth", "peer", "wr-right2")
    for name in ("wr-left2", "wr-right2"):
        run(*veth.inside, "sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1")
        run(*ip, "set", name, "arp", "off", "up")
    program.prefix = other_program.prefix = veth.inside
    ours = [f"af_packet:{name}" for name in (veth.left, "wr-left2")]
    theirs = [f"af_packet:{name}" for name in (veth.right, "wr-right2")]
    return ours, theirs


@needs_root
@needs_two_cpus
def test_through_veth(program, other_program, two_wires, tmp_path):
    ours, theirs = two_wires
    plan = measured_plan(tmp_path / "plan.json", ours, frames=FRAMES, pps=60_000)
    with forwarder(other_program, *theirs, "-m", f"{CPUS[0]}.0,{CPUS[0]}.1", *IMPAIRED) as running:
        agree(run_of(program, plan, "-m", f"{ONE}.0,{ONE}.1"), counted(running))


def two_flows(file, ours, frames, port):
    """Two flows of one 5-tuple each, the second from this UDP port."""
    plan = measured_plan(file, ours, frames=frames, pps=25_000, flows=2)
    document = json.loads(file.read_text())
    for flow, number in zip(document["flows"], (999, port), strict=True):
        flow["packet"][2] = {"udp": {"src_port": {"value": number}, "dst_port": {"value": 9}}}
    file.write_text(json.dumps(document))
    return plan


def spread_over_both(program, ours, tmp_path, both):
    """A UDP port for which the kernel's fanout gives the second flow another queue than the first.

    What is out of order within a queue is of one flow then, for forwarder and tester alike.
    """
    for port in range(1000, 1032):
        plan = two_flows(tmp_path / "probe.json", ours, 500, port)
        result = run_of(program, plan, "-m", f"{both}.0,{both}.1")
        counts = [queue["frames"] for queue in result["ports"][1]["rx_queues"]]
        if counts == [500, 500]:
            return port
    return pytest.skip("the kernel's fanout put 32 flows into the same queue")


@needs_root
@needs_two_cpus
def test_through_veth_with_two_queues(program, other_program, two_wires, tmp_path):
    ours, theirs = two_wires
    both = f"{CPUS[0]}/{CPUS[1]}"
    with forwarder(other_program, *theirs, "-m", f"{both}.0,{both}.1", "--one-way"):
        port = spread_over_both(program, ours, tmp_path, both)
    plan = two_flows(tmp_path / "plan.json", ours, FRAMES // 2, port)
    with forwarder(other_program, *theirs, "-m", f"{both}.0,{both}.1", *IMPAIRED) as running:
        agree(run_of(program, plan, "-m", f"{both}.0,{both}.1"), counted(running))


@needs_two_cpus
def test_nothing_is_lost_where_nothing_is_done_to_it(program, other_program, tmp_path):
    socket = tmp_path / "a.sock"
    plan = measured_plan(tmp_path / "plan.json", [f"memif:{socket}"], frames=300_000, pps=100_000)
    words = ("reflect", f"memif:{socket},role=server", "-m", f"{CPUS[0]}.0")
    with other_program.start(*words, "--json") as running:
        running.sending()
        for _ in range(3):
            result = run_of(program, plan, "-m", f"{ONE}.0")
            if result["verdict"]["valid"]:
                break
            print("an lcore lost its CPU:", *result["verdict"]["reasons"], sep="\n  ")
    skip_where_busy(result["verdict"])
    assert result["verdict"]["valid"], result["verdict"]
    back = result["total"]["received"]
    assert (back["lost"], back["duplicates"], back["reordered"]) == (0, 0, 0)
    assert back["frames"] == 300_000


@needs_two_cpus
def test_late_frames_of_the_run_before_are_foreign(program, other_program, tmp_path):
    """A forwarder that holds frames for half a second gives those of one run to the next."""
    socket = tmp_path / "a.sock"
    plan = measured_plan(tmp_path / "plan.json", [f"memif:{socket}"], frames=200, pps=1000)
    words = ("reflect", f"memif:{socket},role=server", "-m", f"{CPUS[0]}.0", "--delay", "900ms")
    with other_program.start(*words, "--json") as running:
        running.sending()
        run_of(program, plan, "-m", f"{ONE}.0", "--settle", "10ms")
        back = run_of(program, plan, "-m", f"{ONE}.0")["total"]["received"]
    assert (back["frames"], back["duplicates"], back["reordered"]) == (200, 0, 0)


@needs_two_cpus
def test_a_delay_is_never_shorter(program, other_program, tmp_path):
    socket = tmp_path / "a.sock"
    plan = measured_plan(tmp_path / "plan.json", [f"memif:{socket}"], frames=5000, pps=5000)
    words = ("reflect", f"memif:{socket},role=server", "-m", f"{CPUS[0]}.0", "--delay", "2ms")
    with other_program.start(*words, "--json") as running:
        running.sending()
        latency = run_of(program, plan, "-m", f"{ONE}.0")["total"]["latency_ns"]
    assert latency["min"] >= 2_000_000
