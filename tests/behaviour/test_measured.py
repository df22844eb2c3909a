# SPDX-License-Identifier: BSD-3-Clause
"""Measured flows through a ring that gives back what it gets: all of them, in order, at once."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from support.host import TWO, needs_two_cpus
from support.verdicts import LOST_CPU, only_for_want_of_cpu

pytestmark = pytest.mark.alone

PACKET = "[{ethernet: {}}, {ipv4: {}}, {udp: {}}]"
FRAMES = 5000


def flow(name, *, tx="a", rx="[a]", measured=True, rate="{pps: 20000}", frames=FRAMES):
    return f"""
  - name: {name}
    tx_rx: {{port: {{tx_name: {tx}, rx_names: {rx}}}}}
    packet: {PACKET}
    size: {{fixed: 128}}
    rate: {rate}
    duration: {{fixed_packets: {{packets: {frames}}}}}
    metrics: {{enable: {str(measured).lower()}}}"""


def plan(*flows, ports=("a",)):
    made = "".join(f"\n  - {{name: {name}, location: 'ring:{name}'}}" for name in ports)
    return f"ports:{made}\nflows:{''.join(flows)}\n"


@pytest.fixture
def run(program, tmp_path):
    def start(text, *words):
        path = tmp_path / "plan.yaml"
        path.write_text(text)
        return program.run("run", str(path), *words)

    return start


@pytest.fixture
def measure(run):
    """Run a plan with --json; its document."""

    def start(text, *words):
        done = run(text, *words, "--json")
        assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
        return done.document

    return start


def nothing_lost(entry):
    back = entry["received"]
    trouble = [back[key] for key in ("lost", "duplicates", "reordered", "misdirected")]
    return back["frames"] == entry["tx_frames"] and trouble == [0, 0, 0, 0]


def test_every_frame_comes_back_and_has_a_latency(measure):
    document = measure(plan(flow("web"), flow("dns", rate="{pps: 7000}", frames=1500)))
    assert only_for_want_of_cpu(document["verdict"])
    for entry in document["flows"]:
        assert nothing_lost(entry), entry
        late = entry["latency_ns"]
        assert late["count"] == entry["tx_frames"]
        ranks = [late[key] for key in ("min", "p50", "p90", "p99", "p99_9", "p99_99", "max")]
        assert ranks[0] > 0
        assert ranks == sorted(ranks)
        assert late["min"] <= late["mean"] <= late["max"]
    total = document["total"]
    assert total["tx_frames"] == sum(entry["tx_frames"] for entry in document["flows"])
    assert nothing_lost(total)
    assert not any("not looked into" in note for note in document["verdict"]["notes"])


def test_unmeasured_flows_are_foreign_to_a_receiver(measure):
    document = measure(plan(flow("web"), flow("noise", measured=False)))
    web, noise = document["flows"]
    assert nothing_lost(web)
    assert noise["received"] is None
    [port] = document["ports"]
    assert sum(queue["foreign_frames"] for queue in port["rx_queues"]) == noise["tx_frames"]
    assert any("frames without a stamp" in note for note in document["verdict"]["notes"])


def test_what_comes_to_another_port_is_misdirected(measure):
    """A ring gives its frames back to the port that sent them, not to the one that waits."""
    document = measure(plan(flow("lost", rx="[b]"), flow("own", tx="b", rx="[b]"), ports="ab"))
    lost, own = document["flows"]
    assert nothing_lost(own)
    assert (lost["received"]["frames"], lost["received"]["loss_ratio"]) == (0, 1)
    assert lost["received"]["lost"] == lost["tx_frames"]
    assert lost["received"]["misdirected"] in {0, lost["tx_frames"]}  # 0: port a measures nothing
    assert only_for_want_of_cpu(document["verdict"]), "loss is a result"


@needs_two_cpus
def test_queues_add_up(measure):
    text = plan(flow("web", rate="{pps: 40000}"))
    document = measure(text, "-m", f"{TWO}.0")
    [entry] = document["flows"]
    assert nothing_lost(entry)
    [port] = document["ports"]
    assert len(port["rx_queues"]) == 2
    assert all(queue["frames"] > 0 for queue in port["rx_queues"])


def test_a_warm_up_is_not_counted(measure):
    document = measure(plan(flow("web", frames=1000)), "--warm-up", "300ms")
    [entry] = document["flows"]
    assert entry["tx_frames"] + entry["tx_frames_unsent"] == 1000
    assert nothing_lost(entry)


def test_a_result_is_the_floor_of_another(measure, tmp_path):
    path = tmp_path / "direct.json"
    document = measure(plan(flow("web")))
    path.write_text(json.dumps(document))
    least = document["total"]["latency_ns"]["min"]
    again = measure(plan(flow("web")), "--floor", str(path))["total"]["latency_ns"]
    assert again["floor_ns"] == least
    assert 0 <= again["min"] <= again["p50"]


def test_histograms_are_written(run, tmp_path):
    hdrh = pytest.importorskip("hdrh.histogram", reason="hdrhistogram is not installed")
    file = tmp_path / "latency.hlog"
    done = run(plan(flow("web")), "--histogram", str(file), "--json")
    assert (done.code, done.err) == (0, "")
    [line] = [line for line in file.read_text().splitlines() if line.startswith("Tag=web,")]
    histogram = hdrh.HdrHistogram.decode(line.rsplit(",", 1)[1])
    late = done.document["total"]["latency_ns"]
    assert histogram.get_total_count() == late["count"]
    assert histogram.get_value_at_percentile(50) == pytest.approx(late["p50"], rel=0.005)


def test_latencies_must_be_there_to_be_told(run, tmp_path):
    file = tmp_path / "latency.hlog"
    for option in (("--histogram", str(file)), ("--floor", "1us")):
        done = run(plan(flow("web", measured=False)), *option)
        done.refused(f"{option[0]}: no flow is measured")
    assert not file.exists()


def test_the_summary_and_the_table_tell_it(run):
    done = run(plan(flow("web"), flow("dns")), "-T", "100ms")
    assert done.code == 0
    assert "latency us" in done.out
    summary = done.out.split("Summary\n")[1]
    assert summary.count("    latency       ") == 3
    assert "Total of 2 measured flows" in summary


def test_the_result_names_its_machine(measure):
    facts = measure(plan(flow("web", frames=100)))["environment"]
    assert facts["command"][1] == "run"
    assert facts["kernel"]
    assert facts["dpdk"].startswith("DPDK")


def test_a_stopped_engine_is_no_loss_of_the_device(program, tmp_path):
    """SIGSTOP for 200 ms: the verdict says that the lcore lost its CPU."""
    path = tmp_path / "plan.yaml"
    path.write_text(plan(flow("web", rate="{pps: 20000}", frames=30_000)))
    with program.start("run", str(path), "--json") as running:
        running.sending()
        engine = running.engine_pid()
        os.kill(engine, signal.SIGSTOP)
        time.sleep(0.2)
        os.kill(engine, signal.SIGCONT)
        done = running.finish()
    reasons = done.document["verdict"]["reasons"]
    assert any(LOST_CPU in reason for reason in reasons), reasons
