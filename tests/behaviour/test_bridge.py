# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate bridge` between two kernels: what passes, who is delayed, what is left at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from ipaddress import ip_address

import pytest

from support.captures import write_pcap
from support.host import is_root, needs, needs_root, needs_two_cpus, run, tshark
from support.kernel import FAR, NEAR, NEAR6, hosts
from support.program import gone, wait_for
from support.verdicts import only_for_want_of_cpu
from wirerate.plan.bridge_settings import BridgeSettings, Mode
from wirerate.plan.location import parse_location
from wirerate.trial.bridge import Bridge
from wirerate.trial.bridge_steering import Steering

pytestmark = [needs_root, needs("ethtool"), needs("ping")]

ADDRESSES = ("--address", NEAR, "--address", NEAR6)
MIB = int(os.environ.get("WIRERATE_TEST_MIB", "0"))
"""Of each file that passes a bridge; 1024 for a thorough run, 0: as much as shows it."""
FAST = "198.18.0.77"
"""An address of the fast path's; static neighbours let far's kernel send there."""
_ECHO = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    sender.connect((sys.argv[1], 9))
    sender.settimeout(5)
    for number in range(int(sys.argv[2])):
        sender.send(b"%06d" % number)
        assert sender.recv(100) == b"%06d" % number
print("all came back")
"""
_FLOOD = """
import socket, sys, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    print("flooding", flush=True)
    while True:
        sender.sendto(b"flood", (sys.argv[1], 9))
        time.sleep(0.001)
"""
_DATAGRAMS = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.socket(family, socket.SOCK_DGRAM) as sender:
    for port in range(2000, 2000 + int(sys.argv[2])):
        sender.sendto(bytes(port % 100 + 1), (sys.argv[1], port))
"""
_CAPTURE = """
import socket, sys
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as taken:
    taken.bind(("far", 0))
    taken.settimeout(20)
    print("listening", flush=True)
    count = 0
    while count < int(sys.argv[1]):
        frame, where = taken.recvfrom(2000)
        if where[2] != socket.PACKET_OUTGOING and frame[12:14] + frame[23:24] == b"\\x08\\0\\x11":
            print(frame.hex(), flush=True)
            count += 1
"""

_OWNER = """
import sys, time
from wirerate.plan.bridge_settings import BridgeSettings
from wirerate.plan.location import parse_location
from wirerate.trial.bridge import Bridge
locations = [parse_location(text) for text in ("af_packet:near", "tap:wrtap0")]
settings = BridgeSettings(port=locations[0], kernel_port=locations[1])
with Bridge(settings, namespace=sys.argv[1]) as bridge:
    print(bridge.engine.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def net():
    if not is_root():
        pytest.skip("needs root for network namespaces")
    with hosts() as made:
        fast = ("neigh", "add", FAST, "lladdr", "02:00:00:00:18:77", "dev", "far")
        run("ip", "-n", made.far, *fast)
        yield made


@contextmanager
def bridged(program, net, kernel_port, *words):
    """A bridge in `near` whose kernel interface has its addresses; its run, and the interface."""
    program.prefix = net.inside(net.near)
    interface = kernel_port.partition(":")[2] if kernel_port.startswith("tap") else "kp"
    if interface == "kp":
        net.kernel_pair()
    try:
        with program.start("bridge", "af_packet:near", kernel_port, *words, "--json") as running:
            wait_for("counters", lambda: list(running.directory().glob("counters-*")))
            net.up(interface)
            yield running
    finally:
        if interface == "kp" and "kp0" in interfaces(net):
            net.no_kernel_pair()


def interfaces(net):
    return run("ip", "-n", net.near, "-br", "link")


def ended(running):
    """The document of a bridge that was told to end."""
    running.signal(signal.SIGINT)
    done = running.finish()
    assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
    return done.document


CASES = [
    ("tap:wrtap0", "shared", "off"),
    ("tap:wrtap0", "dedicated", "on"),
    ("tap:wrtap0", "dedicated", "off --kernel-queues 2"),
    ("af_packet:kp0", "shared", "on"),
    ("af_packet:kp0", "dedicated", "off"),
    ("af_xdp:kp0", "shared", "off"),
    ("af_xdp:kp0", "dedicated", "on"),
]


@pytest.mark.parametrize(("kernel_port", "mode", "offloads"), CASES)
def test_ping_and_tcp_pass(program, net, kernel_port, mode, offloads):
    """Every octet as it was sent, both ways, IPv6 too; and all is as before at the end."""
    before = net.features(net.near, "near")
    options = (*ADDRESSES, "--mode", mode, "--offloads", *offloads.split())
    with bridged(program, net, kernel_port, *options) as running:
        assert net.pings(10) == 10
        assert net.pings(10, NEAR6) == 10
        assert "generic-receive-offload: off" in net.features(net.near, "near")
        if "kp" in kernel_port:
            assert "tx-udp-segmentation: off" in net.features(net.near, "kp")
        net.transfer(MIB or (64 if kernel_port.startswith("af_packet") else 16))
        net.transfer(MIB or 16, write=True, ipv6=mode == "dedicated")
        document = ended(running)
    counts = document["counters"]
    assert document["kernel_interface"] == ("kp" if "kp" in kernel_port else "wrtap0")
    assert document["steering"]["by"] == ("none" if mode == "shared" else "software")
    completing = document["checksums"] == "completed"
    assert completing == (offloads == "on" and "kp" in kernel_port), document["verdict"]
    assert (counts["completed"] > 10_000) == completing
    assert counts["to_kernel"]["frames"] > 10_000, "64 KiB frames would be a few hundred"
    assert counts["from_kernel"]["frames"] > 10_000
    assert counts["untouchable"] == 0
    assert counts["fast"]["frames"] == 0
    assert net.features(net.near, "near") == before
    assert "wrtap0" not in interfaces(net)


@pytest.mark.parametrize("offloads", ["on", "off"])
def test_features_are_put_back(program, net, offloads):
    """Those of the kernel's interface, too, one by one."""
    program.prefix = net.inside(net.near)
    net.kernel_pair()
    try:
        before = [net.features(net.near, name) for name in ("kp", "kp0", "near")]
        assert "tx-udp-segmentation: on" in before[0]
        words = ("--offloads", offloads, "--duration", "300ms")
        done = program.run("bridge", "af_packet:near", "af_packet:kp0", *words)
        assert done.code == 0, done.err
        assert [net.features(net.near, name) for name in ("kp", "kp0", "near")] == before
    finally:
        net.no_kernel_pair()


def test_an_interface_belongs_to_one_run(program, other_program, net):
    """A second one would receive every frame too, and put the first one's settings back."""
    words = ("--duration", "1", "--json")
    other_program.prefix = net.inside(net.near)
    with bridged(program, net, "af_packet:kp0") as running:
        before = net.features(net.near, "kp")
        second = other_program.run("bridge", "af_packet:near", "tap:wrtap1", *words)
        second.refused(
            "port: af_packet:near: interface near is in use by", str(running.pid), code=3
        )
        third = other_program.run("bridge", "af_xdp:kp0", "tap:wrtap1", *words)
        third.refused("port: af_xdp:kp0: interface kp0 is in use by", str(running.pid), code=3)
        assert net.features(net.near, "kp") == before
        ended(running)


@needs("tshark")
def test_checksums_that_the_kernel_left_out_are_right_on_the_wire(program, net, tmp_path):
    with bridged(program, net, "af_packet:kp0", *ADDRESSES, "--offloads", "on") as running:
        assert net.pings(1, every_s=1) == 1
        capture = (*net.inside(net.far), sys.executable, "-c", _CAPTURE, "150")
        with subprocess.Popen(capture, stdout=subprocess.PIPE, text=True) as taking:
            assert taking.stdout is not None
            assert taking.stdout.readline() == "listening\n"
            run(*net.inside(net.near), sys.executable, "-c", _DATAGRAMS, FAR, "150")
            lines = taking.stdout.read().split()
        document = ended(running)
    frames = [(at, bytes.fromhex(line), None) for at, line in enumerate(lines)]
    file = write_pcap(tmp_path / "far.pcap", frames)
    seen = tshark(file, ("udp.checksum.status", "ip.checksum.status", "udp.length"))
    assert {(udp, ip) for udp, ip, _ in seen} == {("1", "1")}
    assert len({length for *_, length in seen}) == 100, "odd and even ones"
    assert document["counters"]["completed"] >= 150


def test_the_fast_path_comes_back_while_the_kernel_pings(program, net):
    with bridged(program, net, "tap:wrtap0", *ADDRESSES) as running:
        echo = (*net.inside(net.far), sys.executable, "-c", _ECHO, FAST, "300")
        with subprocess.Popen(echo, stdout=subprocess.PIPE, text=True) as echoing:
            assert net.pings(50) == 50
            assert echoing.communicate(timeout=30)[0] == "all came back\n"
        document = ended(running)
    counts = document["counters"]
    assert counts["fast"]["frames"] >= 300
    assert counts["wire_rx"]["frames"] >= counts["fast"]["frames"] + counts["to_kernel"]["frames"]
    sent = counts["fast"]["frames"] + counts["from_kernel"]["frames"]
    assert counts["wire_tx"]["frames"] == sent - counts["wire_lost"]
    assert only_for_want_of_cpu(document["verdict"])


@needs_two_cpus
@pytest.mark.parametrize("mode", ["shared", "dedicated"])
def test_only_a_dedicated_worker_is_spared_a_busy_data_path(program, net, mode):
    """Frames of 20 ms each, hundreds of them a second: what waits behind them waits for long."""
    busy = ("--fast-path", "drop", "--work", "20ms", "-b", "2", "--ring", "64")
    with bridged(program, net, "tap:wrtap0", *ADDRESSES, "--mode", mode, *busy) as running:
        assert net.pings(3, every_s=0.1) == 3
        flood = (*net.inside(net.far), sys.executable, "-c", _FLOOD, FAST)
        with subprocess.Popen(flood, stdout=subprocess.PIPE, text=True) as flooding:
            try:
                assert flooding.stdout is not None
                assert flooding.stdout.readline() == "flooding\n"
                net.pings(5, every_s=0.1)  # the queue fills meanwhile
                answered = net.pings(20, every_s=0.05)
            finally:
                flooding.kill()
        document = ended(running)
    if mode == "dedicated":
        assert answered == 20
        assert document["counters"]["fast_lost"] > 0
        assert any("fast path were lost" in said for said in document["verdict"]["reasons"])
    else:
        assert answered < 10


def test_nothing_is_left_after_a_kill(program, net):
    """The tap goes with the engine, which sees its standard input end."""
    with bridged(program, net, "tap:wrtap0") as running:
        engine = running.engine_pid()
        assert net.pings(2) == 2
        running.signal(signal.SIGKILL)
        wait_for("the engine's end", lambda: gone(engine))
        running.finish()
    assert "wrtap0" not in interfaces(net)
    program.prefix = ()
    assert program.run("perf", "null:a", "--duration", "100ms", "--json").code == 0  # sweeps
    run(*net.inside(net.near), "ethtool", "-K", "near", "gro", "on")


@pytest.mark.parametrize(
    ("kernel_port", "vanishes"), [("af_packet:kp0", "kp0"), ("tap:wrtap0", "wrtap0")]
)
def test_an_interface_that_vanishes_ends_it(program, net, kernel_port, vanishes):
    with bridged(program, net, kernel_port) as running:
        assert net.pings(2) == 2
        run("ip", "-n", net.near, "link", "del", vanishes)
        done = running.finish()
    assert done.code == 3, done.err
    assert f"kernel port: interface {vanishes} is gone" in done.err
    assert any("is gone" in reason for reason in done.document["verdict"]["reasons"])


def test_an_engine_in_a_namespace_dies_with_its_caller(net):
    """As `wirerate kernel-path` has it: this process in one namespace, the engine in another."""
    words = (sys.executable, "-c", _OWNER, net.near)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        engine = int(owner.stdout.readline())
        namespace = run("ip", "netns", "identify", str(engine)).strip()
        owner.kill()
    assert namespace == net.near
    wait_for("the engine's end", lambda: gone(engine))
    assert "wrtap0" not in interfaces(net)


def test_a_device_that_ignores_its_rules_is_not_believed(net, monkeypatch):
    """AF_PACKET spreads flows over its queues whatever a rule says."""
    monkeypatch.setattr("wirerate.trial.bridge.first_steering", lambda *_: Steering("device"))
    monkeypatch.setattr("wirerate.trial.bridge.steer_params", _no_rules)
    settings = BridgeSettings(
        port=parse_location("af_packet:near"),
        kernel_port=parse_location("tap:wrtap0"),
        mode=Mode.DEDICATED,
        addresses=(ip_address(NEAR),),
    )
    with Bridge(settings, namespace=net.near) as bridge:
        bridge.poll()
        before = bridge.look()
        assert (bridge.steering.by, bridge.kernel_interface) == ("device", "wrtap0")
        net.up("wrtap0")
        assert net.pings(1, every_s=1) in {0, 1}  # finds the neighbour
        run(*net.inside(net.far), sys.executable, "-c", _DATAGRAMS, NEAR, "100")
        wait_for("frames", lambda: bridge.look().wire_rx.frames >= before.wire_rx.frames + 100)
        bridge.poll()
        assert bridge.steering.by == "software"
        assert "came to the data path's queue" in bridge.steering.reason
        assert any("in software: the device accepted" in note for note in bridge.notes)
        between = bridge.look()
        assert between.wire_rx.frames >= before.wire_rx.frames + 100
        assert net.pings(5) == 5
        after = bridge.look()
    assert after.to_kernel.frames >= between.to_kernel.frames + 5
    assert after.cpu_ns > 0
    assert set(after.busy_ns) == {bridge.setup.lcores.data, bridge.setup.lcores.kernel}


def _no_rules(_settings, *, give):
    """AF_PACKET refuses rules, which are not the point."""
    assert not give
    return {"port": "p0", "rules": []}


def test_an_engine_that_dies_ends_it(program, net):
    with bridged(program, net, "tap:wrtap0") as running:
        assert net.pings(2) == 2
        run("kill", "-KILL", str(running.engine_pid()))
        done = running.finish()
    assert done.code == 4
    assert "killed by SIGKILL" in done.err
    assert done.document["counters"]["to_kernel"]["frames"] >= 2


@pytest.mark.parametrize(
    ("ports", "code", "part"),
    [
        (("af_packet:nobody", "tap:wrtap0"), 3, "port: there is no interface nobody"),
        (("af_packet:near", "af_xdp:nobody"), 3, "kernel port: there is no interface nobody"),
        (("af_packet:near", "tap:near"), 3, "there is an interface near already"),
        (("af_packet:near", "null:a"), 2, "kernel ports are tap:NAME"),
        (("af_packet:near", "virtio-user:/dev/vhost-net"), 2, "iface=NAME"),
    ],
)
def test_what_cannot_be_bridged_is_said_in_a_line(program, net, ports, code, part):
    program.prefix = net.inside(net.near)
    program.run("bridge", *ports).refused(part, code=code)


def test_a_far_end_that_nobody_can_see_is_said(program, net):
    """near's other end is in another namespace: checksums are completed, to be safe."""
    net.kernel_pair()
    try:
        program.prefix = net.inside(net.near)
        done = program.run("bridge", "af_packet:kp0", "af_packet:near", "--duration", "200ms")
    finally:
        net.no_kernel_pair()
    assert done.code == 0, done.err
    assert "the other end of near is in another network namespace" in done.out
    assert "completed by the bridge" in done.out
