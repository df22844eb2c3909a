# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate run`: flows of a plan side by side, their ends, their queues, and what is refused."""

from __future__ import annotations

import json
import signal
import time

import pytest

from support.host import ONE, TWO, needs_two_cpus
from support.verdicts import only_for_want_of_cpu

TOLERANCE = 0.001
SHORT = ("--duration", "300ms")
PACKET = "[{ethernet: {}}, {ipv4: {}}, {udp: {}}]"


def flow(name, *, tx="a", rx="[a]", size="{fixed: 64}", rate="{pps: 10000}", duration="{}"):
    return f"""
  - name: {name}
    tx_rx: {{port: {{tx_name: {tx}, rx_names: {rx}}}}}
    packet: {PACKET}
    size: {size}
    rate: {rate}
    duration: {duration}"""


def packets(number):
    return f"{{fixed_packets: {{packets: {number}}}}}"


def seconds(number):
    return f"{{fixed_seconds: {{seconds: {number}}}}}"


def plan(*flows, ports=("a",), kind="ring"):
    made = "".join(f"\n  - {{name: {name}, location: '{kind}:{name}'}}" for name in ports)
    return f"ports:{made}\nflows:{''.join(flows)}\n"


@pytest.fixture
def run(program, tmp_path):
    """Run a plan to its end; the process's result."""

    def start(text, *words, **options):
        path = tmp_path / "plan.yaml"
        path.write_text(text)
        return program.run("run", str(path), *words, **options)

    return start


@pytest.fixture
def measure(run):
    """Run a plan with --json; the document, and its flows by name."""

    def start(text, *words):
        done = run(text, *words, "--json")
        assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
        return done.document, {entry["name"]: entry for entry in done.document["flows"]}

    return start


def handled(entry):
    return entry["tx_frames"] + entry["tx_frames_unsent"]


def test_flows_of_one_queue_have_their_own_rate_size_and_end(measure):
    document, flows = measure(
        plan(
            flow("slow", rate="{pps: 1000}", duration=seconds(1)),
            flow("fast", rate="{pps: 20000}", size="{fixed: 512}", duration=seconds(0.5)),
            flow("few", rate="{pps: 5000}", size="{fixed: 1518}", duration=packets(123)),
        ),
        "-m",
        f"{ONE}.0",
    )
    assert only_for_want_of_cpu(document["verdict"])
    assert {name: handled(entry) for name, entry in flows.items()} == {
        "slow": 1000,
        "fast": 10_000,
        "few": 123,
    }
    assert flows["slow"]["seconds"] == pytest.approx(1.0, rel=TOLERANCE)
    assert flows["fast"]["seconds"] == pytest.approx(0.5, rel=TOLERANCE)
    assert flows["few"]["tx_octets"] == flows["few"]["tx_frames"] * 1518
    [port] = document["ports"]
    assert len(port["tx_queues"]) == 1
    assert port["tx_frames"] == sum(entry["tx_frames"] for entry in flows.values())
    assert port["tx_frames"] == port["rx_frames"] == port["device"]["opackets"]
    assert port["rx_octets"] == sum(entry["tx_octets"] for entry in flows.values())


def test_a_mix_is_sent_exactly(measure):
    mix = "{weight_pairs: {predefined: imix}}"
    unpaced = flow("all", size=mix, rate="{percentage: 100}", duration=packets(1200))
    document, flows = measure(plan(unpaced, flow("paced", size=mix, rate="{mbps: 50}")), *SHORT)
    period = 7 * 64 + 4 * 570 + 1518
    assert only_for_want_of_cpu(document["verdict"])
    assert flows["all"]["tx_octets"] == 100 * period
    assert flows["all"]["intended_load"] is None
    assert flows["paced"]["intended_load"]["l2_bps"] == pytest.approx(50e6)
    assert flows["paced"]["intended_load"]["fps"] == pytest.approx(50e6 / 8 / (period / 12))


def test_bursts(measure):
    burst = "{burst: {bursts: 5, packets: 40, inter_burst_gap: {microseconds: 50000}}}"
    document, flows = measure(plan(flow("pulse", duration=burst)))
    assert only_for_want_of_cpu(document["verdict"])
    assert handled(flows["pulse"]) == 200
    assert flows["pulse"]["intended_load"]["fps"] == pytest.approx(40 / 0.054)


@needs_two_cpus
def test_one_flow_is_shared_out_over_queues(measure):
    document, flows = measure(plan(flow("one", duration=packets(5000))), "-m", f"[{TWO}].0")
    assert only_for_want_of_cpu(document["verdict"])
    assert handled(flows["one"]) == 5000
    queues = document["ports"][0]["tx_queues"]
    assert [queue["frames"] + queue["frames_unsent"] for queue in queues] == [2500, 2500]


@needs_two_cpus
def test_flows_are_dealt_to_queues(measure):
    flows = [flow(f"f{n}", duration=packets(100 * (n + 1))) for n in range(3)]
    document, _ = measure(plan(*flows), "-m", f"[{TWO}].0")
    assert only_for_want_of_cpu(document["verdict"])
    queues = document["ports"][0]["tx_queues"]
    assert [queue["frames"] + queue["frames_unsent"] for queue in queues] == [400, 200]


def test_twenty_ports_on_one_lcore_that_sleeps(measure):
    names = [f"n{n}" for n in range(20)]
    flows = [flow(f"f{name}", tx=name, rx="[]", duration=seconds(1)) for name in names]
    document, figures = measure(
        plan(*flows, ports=names, kind="null"), "-m", f":{ONE}.[0-19]", "--cpu-saver"
    )
    assert only_for_want_of_cpu(document["verdict"])
    assert [handled(entry) for entry in figures.values()] == [10_000] * 20
    assert {queue["lcore"] for port in document["ports"] for queue in port["tx_queues"]} == {
        int(ONE)
    }
    assert 0 < document["cpu"]["share"] < 0.5, "it does not poll all the time"


def test_without_the_cpu_saver_an_lcore_takes_its_core(measure):
    document, _ = measure(plan(flow("web", duration=seconds(1))))
    [lcore] = document["cpu"]["lcores"]
    assert document["cpu"]["share"] + lcore["cpu_lost"] > 0.9, "all that it could have"


def test_duration_ends_all_flows(measure):
    document, flows = measure(
        plan(flow("endless"), flow("many", duration=packets(10**6))), "--duration", "500ms"
    )
    assert only_for_want_of_cpu(document["verdict"])
    assert [handled(entry) for entry in flows.values()] == [5000, 5000]


def test_ctrl_c_ends_in_good_order(program, tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(plan(flow("endless"), flow("many", duration=packets(10**8))))
    with program.start("run", str(path), "--json") as running:
        running.sending()
        time.sleep(0.5)
        running.signal(signal.SIGINT)
        done = running.finish()
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert "stopped by the user" in document["verdict"]["notes"]
    assert only_for_want_of_cpu(document["verdict"])


def test_text_tells_each_flow(run):
    done = run(plan(flow("web", duration=seconds(1.5)), flow("dns", duration=packets(10))))
    assert (done.code, done.err) == (0, "")
    assert "Flow  " in done.out
    for name in ("web", "dns"):
        assert f"  flow {name}: 64 octets per frame" in done.out
    assert "  port a (ring:a): sent " in done.out
    assert "\nVerdict: " in done.out


def test_a_plan_from_perf_runs_the_same(program, tmp_path):
    words = ["ring:x", "-m", f"{ONE}.0", "-r", "20kpps", "--flows", "16", "--count", "4000"]
    shown = program.run("perf", *words, "--show-plan")
    assert (shown.code, shown.err) == (0, "")
    path = tmp_path / "shown.yaml"
    path.write_text(shown.out)
    own = shown.out.splitlines()[1].removeprefix("# wirerate ").replace("PLAN", str(path)).split()
    figures = program.run(*own, "--json").document
    assert figures["flows"][0]["intended_load"]["fps"] == 20_000
    assert handled(figures["flows"][0]) == 4000
    assert figures["ports"][0]["tx_queues"][0]["lcore"] == int(ONE)


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        (plan(flow("web", tx="b")), [], "flows[0].tx_rx.port.tx_name"),
        (plan(flow("web"), flow("web")), [], "flows[1].name"),
        (plan(flow("web", size="{fixed: 40}")), [], "flows[0].size"),
        (plan(flow("web", rate="{percentage: 50}")), [], "--line-rate"),
        (plan(flow("web")), ["-m", f"{ONE}:.0"], "flows[0].tx_rx: port a sends it"),
        (plan(flow("web")), ["-m", f"{ONE}.1"], "port 1 does not exist"),
        (plan(flow("web", rate="{gbps: 20}")), ["--line-rate", "10G"], "flows[0].rate"),
        ("ports: []\nflows: []\n", [], "ports"),
        ("{", [], "plan.yaml"),
    ],
)
def test_what_is_refused(run, text, words, says):
    run(text, *words).refused(says)


def test_flows_that_together_exceed_the_line(run):
    half = "{percentage: 60}"
    done = run(plan(flow("web", rate=half), flow("dns", rate=half)), "--line-rate", "10M")
    done.refused("port a", "web and dns", "12 Mbit/s", "10 Mbit/s")


def test_a_ring_that_nobody_is_to_receive_from_does_not_fill_up(measure):
    document, flows = measure(plan(flow("web", rx="[]", duration=packets(3000))))
    assert handled(flows["web"]) == 3000
    assert document["ports"][0]["rx_frames"] == flows["web"]["tx_frames"]


def test_a_memif_client_without_a_server_is_told(run, tmp_path):
    text = f"ports: [{{name: east, location: 'memif:{tmp_path}/none.sock,role=client'}}]\n"
    run(text + "flows:" + flow("web", tx="east", rx="[]")).refused(
        "port east", "nobody listens at", "none.sock", code=3
    )


def test_an_unknown_eal_option_is_named(program, tmp_path):
    (tmp_path / "plan.yaml").write_text(plan(flow("web")))
    done = program.run("run", "--bogus=3", "--no-huge", "--", str(tmp_path / "plan.yaml"))
    done.refused("--bogus=3")
    assert "--no-huge" not in done.err
