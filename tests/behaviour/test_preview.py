# SPDX-License-Identifier: BSD-3-Clause
"""A preview holds what is sent, frame by frame, at the times of the plan; nobody else is needed."""

from __future__ import annotations

import signal
import subprocess

import pytest

from support.captures import frame_octets, write_pcap
from support.program import wait_for
from support.read_captures import parse_pcapng, read_pcap, read_pcapng

MS = 1_000_000
PORTS = """\
ports:
- {name: left, location: '%s'}
- {name: right, location: '0000:03:00.0'}
"""
FLOW = """\
- name: %(name)s
  tx_rx: {port: {tx_name: %(port)s}}
  packet:
  - ethernet: {dst: {value: '02:00:00:00:00:01'}}
  - ipv4:
      src: {increment: {start: 198.18.0.1, step: 0.0.0.1, count: %(sources)d}}
      dst: {value: 198.19.0.1}
  - udp: {dst_port: {values: [1, 2, 3]}}
  size: {%(size)s}
  rate: {%(rate)s}
  duration: {%(duration)s}
"""


def flow(name, port="left", *, size="fixed: 64", rate="pps: 1000", frames=None, sources=7):
    duration = "continuous: {}" if frames is None else f"fixed_packets: {{packets: {frames}}}"
    given = {"name": name, "port": port, "size": size, "rate": rate, "duration": duration}
    return FLOW % {**given, "sources": sources}


def write_plan(path, *flows, location="null:x"):
    path.write_text(PORTS % location + "flows:\n" + "".join(flows))
    return str(path)


@pytest.fixture
def plan(tmp_path):
    """Makes plan.yaml of some flows; its name."""

    def make(*flows, location="null:x"):
        return write_plan(tmp_path / "plan.yaml", *flows, location=location)

    return make


def preview(program, plan, out, *words):
    done = program.run("preview", plan, "-o", str(out), *words)
    assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
    return done.out


@pytest.mark.parametrize(
    ("sources", "size"),
    [
        (1, "fixed: 64"),
        (7, "fixed: 512"),
        (7, "increment: {start: 64, end: 80}"),
        (50_000, "fixed: 90"),
    ],
    ids=["constant", "ready frames", "sizes", "a walk"],
)
def test_a_preview_is_what_is_sent(program, tmp_path, sources, size):
    sent, previewed = tmp_path / "sent.pcap", tmp_path / "previewed.pcap"
    location = f"pcap:,{sent}"
    one = flow("f", size=size, rate="percentage: 100", frames=5000, sources=sources)
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"ports: [{{name: left, location: '{location}'}}]\nflows:\n{one}")
    run = program.run("run", str(plan))
    assert (run.code, run.err) == (0, "")
    preview(program, str(plan), previewed, "-n", "6000")
    frames = [octets for _, octets in read_pcap(sent)]
    assert len(frames) == 5000
    assert [octets for _, octets in read_pcap(previewed)] == frames


def test_a_preview_of_a_replay_is_the_trace(program, tmp_path):
    trace = [(10**18 + i * MS, frame_octets(60 + i, i), None) for i in range(100)]
    file = write_pcap(tmp_path / "in.pcap", trace)
    words = ["null:x", "--loops", "2", "--timing", "x2", "--show-plan"]
    shown = program.run("replay", str(file), *words)
    assert (shown.code, shown.err) == (0, "")
    plan = tmp_path / "plan.yaml"
    plan.write_text(shown.out)
    preview(program, str(plan), tmp_path / "out.pcap", "-n", "1000")
    frames = read_pcap(tmp_path / "out.pcap")
    assert [octets for _, octets in frames] == [octets for _, octets, _ in trace] * 2
    times = [time_ns for time_ns, _ in frames]
    assert all(abs(times[i] - i * MS // 2) <= 1 for i in range(200)), times[:5]


def test_times_are_those_of_the_plan(program, tmp_path, plan):
    preview(program, plan(flow("f", rate="pps: 1000")), tmp_path / "out.pcap", "-n", "500")
    times = [time_ns for time_ns, _ in read_pcap(tmp_path / "out.pcap")]
    assert len(times) == 500
    assert all(abs(time_ns - index * MS) <= 1 for index, time_ns in enumerate(times))


def test_flows_of_a_port_are_merged_by_time(program, tmp_path, plan):
    name = plan(flow("slow", rate="pps: 1000"), flow("fast", size="fixed: 100", rate="pps: 3000"))
    preview(program, name, tmp_path / "out.pcap", "-n", "400")
    frames = read_pcap(tmp_path / "out.pcap")
    times = [time_ns for time_ns, _ in frames]
    assert times == sorted(times)
    sizes = [len(octets) for _, octets in frames]
    assert (sizes.count(60), sizes.count(96)) == (100, 300)


def test_percent_of_an_assumed_line(program, tmp_path, plan):
    out = tmp_path / "out.pcap"
    name = plan(flow("f", rate="percentage: 50"))
    preview(program, name, out, "-n", "100", "--line-rate", "1G")
    times = [time_ns for time_ns, _ in read_pcap(out)]
    assert times[-1] == pytest.approx(99 * 2 * 672, abs=1)
    program.run("preview", name, "-o", str(out)).refused("flows[0].rate", "--line-rate")


def test_an_interface_for_each_port(program, tmp_path, plan):
    name = plan(flow("one"), flow("two", "right", size="fixed: 128"))
    preview(program, name, tmp_path / "out.pcapng", "-n", "200")
    found = read_pcapng(tmp_path / "out.pcapng")
    assert len(found.interfaces) == len(set(found.interfaces)) == 2
    sizes = [[len(octets) for _, octets in found.of(name)] for name in found.interfaces]
    assert sizes == [[60] * 100, [124] * 100]


def test_one_port_of_several(program, tmp_path, plan):
    name = plan(flow("one"), flow("two", "right", size="fixed: 128"))
    out = tmp_path / "out.pcap"
    run = program.run("preview", name, "-o", str(out))
    run.refused("2 ports", "left, right", "--port")
    assert not out.exists()
    preview(program, name, out, "--port", "right", "-n", "10")
    frames = [octets for _, octets in read_pcap(out)]
    assert [len(octets) for octets in frames] == [124] * 10
    preview(program, name, tmp_path / "both.pcapng", "-n", "20")
    both = read_pcapng(tmp_path / "both.pcapng")
    assert [octets for _, octets in both.of(both.interfaces[1])] == frames
    program.run("preview", name, "-o", str(out), "--port", "up").refused("'up'", "left, right")


def test_what_was_written_is_told(program, tmp_path, plan):
    said = preview(program, plan(flow("f")), tmp_path / "out.pcap", "-n", "11")
    for part in ("out.pcap", "11 frames", "704 octets", "0.000000000 s", "0.010000000 s"):
        assert part in said, said


def test_flows_that_end_early(program, tmp_path, plan):
    said = preview(program, plan(flow("f", frames=3)), tmp_path / "out.pcap")
    assert "3 frames" in said
    assert len(read_pcap(tmp_path / "out.pcap")) == 3


def piped(program, *words):
    """Run with octets as output: code, standard output, standard error."""
    done = subprocess.run(
        program.words(["preview", *words]),
        env=program.environ(),
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr.decode()


def test_standard_output(program, tmp_path, plan):
    name = plan(flow("one"), flow("two", "right"))
    code, out, err = piped(program, name, "-o", "-", "-n", "50")
    assert code == 0, err
    assert err.startswith("standard output: 50 frames"), err
    preview(program, name, tmp_path / "out.pcapng", "-n", "50")
    assert parse_pcapng(out).frames == read_pcapng(tmp_path / "out.pcapng").frames


def test_a_file_is_replaced_and_nothing_else_is_left(program, tmp_path, plan):
    name = plan(flow("f"))
    out = tmp_path / "out.pcap"
    out.write_bytes(b"something else " * 100_000)
    preview(program, name, out, "-n", "5")
    assert len(read_pcap(out)) == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.pcap", "plan.yaml"]


def test_where_nothing_can_be_written(program, tmp_path, plan):
    name = plan(flow("f"))
    run = program.run("preview", name, "-o", str(tmp_path / "none" / "x.pcap"))
    run.refused("none", "no directory")
    run = program.run("preview", name, "-o", "/proc/x.pcap")
    run.refused("/proc", code=run.code)
    assert run.code in {2, 3}
    (tmp_path / "folder.pcap").mkdir()
    program.run("preview", name, "-o", str(tmp_path / "folder.pcap")).refused("folder.pcap")
    program.run("preview", name, "-o", str(tmp_path / "x.txt")).refused("x.txt", ".pcapng")


@pytest.mark.parametrize("count", ["0", "-1", "16777217", "many"])
def test_numbers_of_frames_out_of_range(program, tmp_path, plan, count):
    run = program.run("preview", plan(flow("f")), "-o", str(tmp_path / "x.pcap"), "-n", count)
    run.refused(count.lstrip("-") if count == "-1" else f"'{count}'")


def test_a_wrong_plan(program, tmp_path, plan):
    out = tmp_path / "x.pcap"
    name = plan(flow("f").replace("dst_port", "dst_prot"))
    program.run("preview", name, "-o", str(out)).refused("flows[0].packet[2].udp.dst_prot")
    program.run("preview", plan(flow("f", size="fixed: 40")), "-o", str(out)).refused("flows[0]")
    program.run("preview", str(tmp_path / "none.yaml"), "-o", str(out)).refused("none.yaml")
    empty = tmp_path / "empty.yaml"
    empty.write_text("ports: [{name: p, location: 'null:x'}]\n")
    program.run("preview", str(empty), "-o", str(out)).refused("flows")
    assert not out.exists()


def test_a_preview_does_not_overwrite_a_trace(program, tmp_path):
    trace = write_pcap(tmp_path / "trace.pcap", [(0, bytes(60), 60)])
    before = trace.read_bytes()
    text = "flows: [{name: f, tx_rx: {port: {tx_name: left}}, x-wirerate: {trace: {file: %s}}}]"
    (tmp_path / "plan.yaml").write_text(PORTS % "null:x" + text % trace)
    done = program.run("preview", str(tmp_path / "plan.yaml"), "-o", str(trace))
    done.refused("trace.pcap", "flow f reads")
    assert trace.read_bytes() == before


def test_a_killed_preview_leaves_nothing_in_tmpdir(program, tmp_path):
    """Nobody reads its standard output; it has written all to its file, and waits."""
    place = tmp_path / "tmp"
    place.mkdir()
    plan = write_plan(tmp_path / "plan.yaml", flow("a"))
    words = ("preview", plan, "-n", "20000", "-o", "-")
    with (
        (tmp_path / "said").open("wb") as said,
        subprocess.Popen(
            program.words(words),
            env={**program.environ(), "TMPDIR": str(place)},
            stdout=subprocess.PIPE,
            stderr=said,
        ) as process,
    ):
        wait_for("the file", lambda: b"20,000 frames" in (tmp_path / "said").read_bytes())
        process.send_signal(signal.SIGKILL)
    assert list(place.iterdir()) == []
