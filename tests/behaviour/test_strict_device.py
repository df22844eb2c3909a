# SPDX-License-Identifier: BSD-3-Clause
"""Every command on devices that hold, free and round as NICs do, and count each broken rule.

`make strict STRICT_FRAMES=1e7` sends more. Trials may be invalid on a busy machine; what the
devices saw, and what was sent and received, holds then, too.
"""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager
from functools import partial

import pytest

from support.captures import frame_octets, write_pcap
from support.host import CPUS, ONE, is_root, needs_two_cpus, run
from support.program import wait_for
from support.strict import FRAMES, strict_on, tallied
from wirerate.engine.process import Engine

PROFILES = ("i40e", "ixgbe", "e810", "mlx5", "bnxt")
ODD = {"i40e": "1024/1120", "ixgbe": "1000/1000", "e810": "1024/96", "mlx5": "1024/1100"}
ODD["bnxt"] = "100/3000"
MAP = ("-m", f"{ONE}.0")
ADDRESS = "10.0.0.1"
ENDLESS = 10**15
MAC = "02:57:52:00:00:00"
"""To which the source behind a device sends."""
NO_TIME = "no usable time of the device"
MILLION = """\
ports: [{name: p0, location: "%(device)s"}]
flows:
- name: million
  tx_rx: {port: {tx_name: p0, rx_names: [p0]}}
  metrics: {enable: true, loss: true, latency: {enable: true}}
  packet:
  - ethernet: {src: {value: "02:57:52:00:00:00"}, dst: {value: "02:57:52:01:00:00"}}
  - ipv4:
      src: {increment: {start: 198.18.0.1, step: 0.0.0.1, count: 65536}}
      dst: {increment: {start: 198.19.0.1, step: 0.0.0.1, count: 15625}}
  - udp:
      src_port: {random: {min: 1024, max: 65535, seed: 9, count: 1000000}}
      dst_port: {value: 9}
  size: {weight_pairs: {predefined: imix}}
  rate: {percentage: 100}
  duration: {fixed_packets: {packets: %(frames)d}}
"""


@pytest.fixture
def strict(program, tmp_path):
    return strict_on(program, tmp_path)


@pytest.fixture(scope="module", autouse=True)
def figure():
    yield
    print(f"\nstrict devices: {tallied():,} frames held, 0 breaches")


def came_back(flow):
    """All frames of a measured flow, each once, in order and undamaged."""
    received = flow["received"]
    assert received["frames"] == flow["tx_frames"]
    for word in ("lost", "duplicates", "reordered", "damaged"):
        assert received.get(word, 0) == 0, word


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("more", [(), ("--measure",)], ids=["plain", "measured"])
def test_perf(strict, profile, more):
    words = ("--count", str(FRAMES), "-d", ODD[profile], *MAP, *more)
    (port,) = strict.finished("perf", strict.device(0, profile=profile), *words)["ports"]
    (report,) = strict.reports()
    assert report["received"] == report["sent"] == report["taken"] == FRAMES
    assert port["tx_frames"] == port["rx_frames"] == FRAMES
    assert report["held_max"] > report["descriptors"] - 64, "it holds what its ring holds"


@pytest.mark.parametrize("more", [(), ("--measure",)], ids=["plain", "measured"])
def test_a_clock_that_is_the_frames_own(strict, more):
    """As of a ConnectX; where the machine is busy the clocks' relation may be lost for a while."""
    words = ("--count", str(FRAMES), *MAP, *more)
    document = strict.finished("perf", strict.device(0, profile="mlx5"), *words)
    (report,) = strict.reports()
    (port,) = document["ports"]
    print(port["rx_clock"], document["verdict"]["reasons"])
    assert report["timestamps"] == bool(more)
    assert port["rx_clock"] in (("device", "mixed") if more else ("tsc",))
    doubts = [text for text in document["verdict"]["reasons"] if NO_TIME in text]
    assert bool(doubts) == (port["rx_clock"] == "mixed")


@pytest.mark.parametrize("more", [(), ("--measure",)], ids=["plain", "measured"])
def test_a_clock_that_is_another_than_the_frames(strict, more):
    """As of an E810 with DPDK 25.07: the driver lets one read the host's, frames have the PHC's."""
    words = ("--count", str(FRAMES), *MAP, *more)
    document = strict.finished("perf", strict.device(0, profile="e810"), *words)
    (report,) = strict.reports()
    (port,) = document["ports"]
    assert report["timestamps"] == bool(more)
    assert port["rx_clock"] == "tsc"
    said = [text for text in document["verdict"]["notes"] if NO_TIME in text]
    assert not any(NO_TIME in text for text in document["verdict"]["reasons"])
    count = f"{FRAMES:,} of {FRAMES:,} measured frames"
    assert [count in text for text in said] == ([True] if more else [])


@needs_two_cpus
def test_perf_between_two_devices(strict):
    ends = [strict.device(number, profile="i40e", wire="a") for number in (0, 1)]
    maps = ("-m", f"{CPUS[-2]}.0", "-m", f"{CPUS[-1]}.1")
    ports = strict.finished("perf", *ends, "--count", str(FRAMES), *maps, "-b", "32")["ports"]
    for port, other, report in zip(ports, ports[::-1], strict.reports(), strict=True):
        # A device whose peer's lcore is starved takes nothing, and frames are given up.
        assert other["rx_frames"] == port["tx_frames"] == report["sent"]
        assert port["tx_frames"] + port["tx_frames_unsent"] == FRAMES


@needs_two_cpus
def test_several_queues_by_the_devices_own_hash(strict):
    words = ("--count", str(FRAMES), "-m", f"[{CPUS[-2]},{CPUS[-1]}].0", "--measure")
    (port,) = strict.finished("perf", strict.device(0, profile="ixgbe"), *words)["ports"]
    strict.reports()
    queues = [queue["frames"] for queue in port["rx_queues"]]
    assert sum(queues) == port["rx_frames"] == port["tx_frames"]
    assert len(queues) == 2
    assert min(queues) > FRAMES // 10


def test_a_link_that_is_lost_for_a_moment(strict):
    device = strict.device(0, profile="ixgbe", link_down_at=FRAMES // 2)
    (port,) = strict.finished("perf", device, "--count", str(FRAMES), *MAP)["ports"]
    (report,) = strict.reports()
    assert port["rx_frames"] == report["received"] == FRAMES


@pytest.mark.parametrize("profile", ["ixgbe", "i40e"])
def test_jumbo_frames(strict, profile):
    """Of a size that takes a second buffer where a NIC rounds buffers down to 1,024 octets."""
    words = ("-s", "9618", "-j", "--count", str(FRAMES // 10), "--measure", *MAP)
    (port,) = strict.finished("perf", strict.device(0, profile=profile), *words)["ports"]
    strict.reports()
    assert port["rx_frames"] == FRAMES // 10
    assert port["rx_octets"] == FRAMES // 10 * 9618


@pytest.mark.parametrize(
    ("profile", "burst"), [("mlx5", "1"), ("mlx5", "32"), ("bnxt", "3"), ("bnxt", "32")]
)
def test_run_a_million_tuples(strict, tmp_path, profile, burst):
    plan = tmp_path / "plan.yaml"
    plan.write_text(MILLION % {"device": strict.device(0, profile=profile), "frames": FRAMES})
    words = ("run", str(plan), "-d", ODD[profile], "-b", burst, *MAP)
    (flow,) = strict.finished(*words)["flows"]
    strict.reports()
    assert flow["tx_frames"] == FRAMES
    came_back(flow)


@pytest.mark.parametrize("profile", PROFILES)
def test_replay(strict, tmp_path, profile):
    frames = [(i * 1000, frame_octets(60 + i % 1400, i), None) for i in range(1000)]
    trace = write_pcap(tmp_path / "in.pcap", frames)
    loops = ("--loops", str(FRAMES // 1000), "-d", ODD[profile])
    strict.finished("replay", str(trace), strict.device(0, profile=profile), *loops, *MAP)
    (report,) = strict.reports()
    assert report["sent"] == FRAMES // 1000 * 1000


@pytest.mark.parametrize("mode", ["0", "1"])
def test_flows(strict, mode):
    speed = ("-s", f"{FRAMES}pps") if mode == "1" else ()
    words = ("--mode", mode, *speed, "--duration", "1", "-d", ODD["bnxt"], *MAP)
    found = strict.finished("flows", strict.device(0, profile="bnxt"), *words)
    (report,) = strict.reports()
    assert found["ports"][0]["rx_frames"] == report["sent"] > 0


def through(way, source, sink):
    """What went one way: read, sent and looked at behind the wire."""
    assert way["rx_frames"] == source["received"] - source["unread"]
    assert way["tx_frames"] == sink["taken"]
    assert sink["disordered"] == 0
    gone = ("dropped", "not_taken", "overflowed", "held")
    assert way["rx_frames"] == way["tx_frames"] + sum(way[word] for word in gone)


def seconds():
    """Time for all frames of a source, and what a slow machine takes longer is not forwarded."""
    return str(1 + FRAMES / 5e5)


@pytest.mark.parametrize(("profile", "burst"), [("i40e", "1"), ("e810", "7"), ("mlx5", "32")])
def test_forward(strict, profile, burst):
    ends = [strict.device(number, profile=profile, source=FRAMES) for number in (0, 1)]
    words = ("--duration", seconds(), "-b", burst, "-d", ODD[profile])
    there, back = strict.finished("forward", *ends, *words)["ways"]
    one, other = strict.reports()
    through(there, one, other)
    through(back, other, one)
    assert there["tx_frames"] > 0


@pytest.mark.parametrize("profile", ["i40e", "ixgbe", "mlx5"])
def test_reflect_and_answer_pings(strict, profile):
    device = strict.device(0, profile=profile, source=FRAMES, ping=ADDRESS)
    words = ("--address", ADDRESS, "--duration", seconds())
    (way,) = strict.finished("reflect", device, *words)["ways"]
    (report,) = strict.reports()
    assert report["replies"] > 0
    assert report["plain"] == way["tx_frames"] > 0
    assert report["taken"] == report["plain"] + report["replies"]
    assert report["disordered"] == 0


def answers(inside, tap):
    """Frames that the kernel has sent: it has nothing else to send there."""
    (link,) = json.loads(run(*inside, "-s", "-j", "link", "show", tap))
    return link["stats64"]["tx"]["packets"]


@pytest.mark.parametrize("profile", ["i40e", "mlx5"])
def test_bridge_to_a_tap(strict, profile):
    """Frames for the kernel and its answers to pings; a tap takes what it can."""
    if not is_root():
        pytest.skip("needs root for a tap in a network namespace")
    space, tap = f"wr-strict-{profile}", f"wrs{profile}"
    run("ip", "netns", "add", space)
    try:
        strict.program.prefix = ("ip", "netns", "exec", space)
        device = strict.device(0, profile=profile, source=ENDLESS, ping=ADDRESS)
        words = ("bridge", device, f"tap:{tap}", "--json")
        with strict.program.start(*words) as running:
            inside = ("ip", "-n", space)
            running.sending()  # the driver sets an address of its own until then
            run(*inside, "link", "set", tap, "address", MAC, "up")
            run(*inside, "addr", "add", f"{ADDRESS}/24", "dev", tap)
            run(
                *inside, "neigh", "replace", "10.0.0.254", "lladdr", "02:00:00:00:00:99", "dev", tap
            )
            wait_for("answers to pings", lambda: answers(inside, tap) > 100)
            running.signal(signal.SIGINT)
            done = running.finish()
    finally:
        run("ip", "netns", "del", space)
    assert (done.code, done.err) == (0, ""), done.err
    (report,) = strict.reports()
    assert report["replies"] > 0


@contextmanager
def session(strict, monkeypatch):
    """An engine with 64 MiB and an open port of 32 MiB; its frames take 15 MiB a program."""
    for name, value in strict.program.environ().items():
        monkeypatch.setenv(name, value)
    location = strict.device(0, profile="mlx5")
    eal = ("--no-huge", "-m", "64", "--no-pci", "--lcores", f"127@{ONE},{ONE}@{ONE}")
    with Engine((*eal, "--main-lcore", "127"), {int(ONE)}) as engine:
        port = {"name": "p0", "location": location, "rx_queues": 1, "tx_queues": 1}
        port |= {"rx_descriptors": 64, "tx_descriptors": 1024, "mbufs": 512}
        engine.call("ports.open", {"ports": [port | {"frame_size_max": 1518, "promiscuous": True}]})
        yield engine


def has_sent(task, frames):
    return task["frames"] == frames


@pytest.mark.parametrize("frames", [10, 5000])
def test_thirty_programs_in_the_memory_of_two(strict, monkeypatch, frames):
    """Also those that send less than it takes to push out what the device holds."""
    tasks = [{"kind": kind, "port": "p0", "queue": 0, "burst": 32} for kind in ("rx", "tx")]
    tasks[1] |= {"stream": "s0", "part": 0, "parts": 1}
    field = {"offset": 20, "octets": 4, "first": 0, "step": 1, "count": 8192}
    stream: dict[str, object] = {
        "name": "s0",
        "template": "00" * 1514,
        "fields": [field],
        "checksums": [],
    }
    stream |= {"fps": None, "frames": frames}
    workers = [{"lcore": int(ONE), "sleep_ns": 0, "tasks": tasks}]
    with session(strict, monkeypatch) as engine:
        for number in range(30):
            field["first"] = number * 8192
            counters = engine.load({"workers": workers, "streams": [stream]})
            engine.call("traffic.start", {})
            (sent,) = counters.of_kind("tx")
            wait_for(f"program {number}", partial(has_sent, sent, frames))
            engine.call("program.unload")
    (report,) = strict.reports()
    assert report["taken"] == 30 * frames


def test_a_search_of_thirty_trials(strict):
    """A device in the way passes 20,000 frames/s; on a busy machine the search ends earlier."""
    device = strict.device(0, profile="bnxt", capacity=20_000)
    trials = ("--duration", "200ms", "--settle", "100ms", "--tolerance", "0.01%")
    words = ("--converge", "loss", *trials, "-r", "40kpps", "--measure", "-d", ODD["bnxt"])
    found = strict.finished("perf", device, *words, *MAP)
    (report,) = strict.reports()
    print(len(found["search"]["steps"]), "trials:", found["search"]["ended"])
    assert report["taken"] > 0
