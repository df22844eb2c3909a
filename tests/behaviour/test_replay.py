# SPDX-License-Identifier: BSD-3-Clause
"""A trace that is replayed comes out as it went in: octets, order, laps, times."""

from __future__ import annotations

import gzip
import json
import random
import signal

import pytest

from support.captures import frame_octets, write_pcap, write_pcapng
from support.host import ONE
from support.program import port
from support.read_captures import read_pcap
from support.verdicts import only_for_want_of_cpu

START_NS = 1_700_000_000_000_000_123
MANY = 10_000
DST, SRC = bytes.fromhex("020000000011"), bytes.fromhex("020000000022")


def mixed(count, seed=1):
    """Frames of all sizes with uneven gaps."""
    draw = random.Random(seed)
    sizes = [60, 61, 64, 127, 128, 590, 1513, 1514]
    time_ns, frames = START_NS, []
    for number in range(count):
        size = draw.choice(sizes) if number % 2 else draw.randint(60, 1514)
        frames.append((time_ns, frame_octets(size, number), None))
        time_ns += draw.choice([0, 1000, 2500, 40_000])
    return frames


def octets_of(frames):
    return [octets for _, octets, _ in frames]


def even(count, gap_ns):
    """Frames of 60 octets, evenly spaced."""
    return [(START_NS + i * gap_ns, frame_octets(60, i), None) for i in range(count)]


def replay(program, file, *words):
    """`wirerate replay … --json`, valid but for a busy machine; the document."""
    done = program.run("replay", str(file), *words, "--json")
    assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
    document = done.document
    assert only_for_want_of_cpu(document["verdict"])
    return document


def replayed(program, tmp_path, file, *words):
    """What comes out at a pcap port, and the document."""
    out = tmp_path / "out.pcap"
    document = replay(program, file, f"pcap:,{out}", *words)
    frames = [octets for _, octets in read_pcap(out)]
    assert port(document)["tx_frames"] == port(document)["device"]["opackets"] == len(frames)
    return frames, document


def test_ten_thousand_frames_are_the_same_in_the_same_order(program, tmp_path):
    frames = mixed(MANY)
    file = write_pcap(tmp_path / "in.pcap", frames)
    sent, document = replayed(program, tmp_path, file, "--loops", "1")
    assert sent == octets_of(frames)
    assert document["trace"]["frames"] == MANY
    assert port(document)["laps"] == 1
    total = sum(len(octets) + 4 for octets in octets_of(frames))
    assert port(document)["tx_octets"] == document["trace"]["octets"] == total
    scapy = pytest.importorskip("scapy.utils")
    with scapy.RawPcapReader(str(tmp_path / "out.pcap")) as reader:
        assert [octets for octets, _ in reader] == octets_of(frames)


def plain(frames):
    return [(0, frame) for frame in frames]


FORMATS = {
    "pcap, us": lambda path, frames: write_pcap(path, frames, nanoseconds=False),
    "pcap, ns": write_pcap,
    "pcap, big-endian": lambda path, frames: write_pcap(path, frames, big_endian=True),
    "pcapng, us": lambda path, frames: write_pcapng(path, plain(frames), nanoseconds=False),
    "pcapng, ns": lambda path, frames: write_pcapng(path, plain(frames)),
    "pcapng, big-endian": lambda path, frames: write_pcapng(path, plain(frames), big_endian=True),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS.keys())
def test_formats(program, tmp_path, write, packed):
    frames = mixed(300)
    file = write(tmp_path / "trace", frames)
    if packed:
        file.write_bytes(gzip.compress(file.read_bytes()))
    sent, document = replayed(program, tmp_path, file, "--loops", "1")
    assert sent == octets_of(frames)
    # Times are read alike, up to the file's resolution.
    assert abs(document["trace"]["span_ns"] - (frames[-1][0] - START_NS)) < 1000


def test_frames_of_several_interfaces_keep_their_order(program, tmp_path):
    frames = mixed(100)
    file = write_pcapng(
        tmp_path / "in.pcapng",
        [(number % 2, frame) for number, frame in enumerate(frames)],
        interfaces=("left", "right"),
    )
    sent, _ = replayed(program, tmp_path, file, "--loops", "1")
    assert sent == octets_of(frames)


@pytest.mark.parametrize(("count", "loops"), [(1, 1), (1, 100), (31, 3), (33, 7), (1000, 12)])
def test_loops_are_exact(program, tmp_path, count, loops):
    frames = mixed(count)
    file = write_pcap(tmp_path / "in.pcap", frames)
    sent, document = replayed(program, tmp_path, file, "--loops", str(loops))
    assert sent == octets_of(frames) * loops
    assert port(document)["laps"] == loops


def test_loops_at_a_rate(program, tmp_path):
    frames = mixed(50)
    file = write_pcap(tmp_path / "in.pcap", frames)
    words = [f"pcap:,{tmp_path / 'out.pcap'}", "--loops", "4", "--rate", "10kpps", "--json"]
    done = program.run("replay", str(file), *words)
    figures = port(done.document)
    assert figures["tx_frames"] + figures["tx_frames_unsent"] == 200
    if figures["tx_frames_unsent"] == 0:
        sent = [octets for _, octets in read_pcap(tmp_path / "out.pcap")]
        assert sent == octets_of(frames) * 4
    assert figures["intended_fps"] == pytest.approx(10_000)


@pytest.mark.parametrize(
    ("text", "head"),
    [
        (DST.hex(":"), DST + bytes.fromhex("020000000001")),
        (f"{DST.hex(':')}/{SRC.hex('-')}", DST + SRC),
        (f"{DST.hex(':')}/own", DST + bytes.fromhex("025752000000")),
    ],
)
def test_rewritten_addresses(program, tmp_path, text, head):
    frames = mixed(200)
    file = write_pcap(tmp_path / "in.pcap", frames)
    sent, _ = replayed(program, tmp_path, file, "--loops", "2", "--rewrite-mac", text)
    assert sent == [head + octets[12:] for octets in octets_of(frames)] * 2


def cut_and_short(tmp_path):
    """Of four frames, the second is cut by the capture and the third is short of Ethernet's 60."""
    frames = [
        (START_NS, frame_octets(100, 1), None),
        (START_NS, frame_octets(96, 2), 1000),
        (START_NS, frame_octets(42, 3), None),
        (START_NS, frame_octets(60, 4), None),
    ]
    return write_pcap(tmp_path / "cut.pcap", frames), frames


def test_cut_and_short_frames_are_filled_up_with_zeros(program, tmp_path):
    file, frames = cut_and_short(tmp_path)
    sent, document = replayed(program, tmp_path, file, "--loops", "2")
    whole, cut, short, least = octets_of(frames)
    assert sent == [whole, cut + bytes(904), short + bytes(18), least] * 2
    assert document["trace"]["truncated_frames"] == 1
    assert document["trace"]["short_frames"] == 1
    assert any("--strict" in warning for warning in document["trace"]["warnings"])


def test_the_user_is_warned(program, tmp_path):
    file, _ = cut_and_short(tmp_path)
    done = program.run("replay", str(file), "null:x", "--loops", "1")
    assert (done.code, done.err) == (0, "")
    assert "1 frame was cut by the capture: padded with zeros" in done.out
    assert "1 frame was shorter than 60 octets" in done.out


def test_strict_refuses_what_was_cut(program, tmp_path):
    file, _ = cut_and_short(tmp_path)
    out = tmp_path / "out.pcap"
    run = program.run("replay", str(file), f"pcap:,{out}", "--loops", "1", "--strict")
    run.refused("cut.pcap", "1 of 4 frames", "--strict")
    assert not out.exists()


def test_strict_takes_a_whole_file(program, tmp_path):
    frames = mixed(10)
    file = write_pcap(tmp_path / "in.pcap", frames)
    sent, _ = replayed(program, tmp_path, file, "--loops", "1", "--strict")
    assert sent == octets_of(frames)


def test_twenty_ports_on_one_lcore(program, tmp_path):
    file = write_pcap(tmp_path / "in.pcap", mixed(100))
    ports = [f"null:n{number}" for number in range(20)]
    document = replay(program, file, *ports, "-m", f":{ONE}.[0-19]", "--loops", "50")
    assert [figures["tx_frames"] for figures in document["ports"]] == [5000] * 20
    assert {figures["lcore"] for figures in document["ports"]} == {int(ONE)}
    assert document["total"]["ports"] == 20
    assert document["total"]["tx_frames"] == 100_000


def test_ports_are_chosen_lcores(program, tmp_path):
    file = write_pcap(tmp_path / "in.pcap", mixed(10))
    document = replay(program, file, "null:a", "null:b", "null:c", "--loops", "3")
    assert [figures["tx_frames"] for figures in document["ports"]] == [30] * 3


def test_what_comes_back_from_a_ring_is_counted(program, tmp_path):
    frames = mixed(100)
    file = write_pcap(tmp_path / "in.pcap", frames)
    device = port(replay(program, file, "ring:x", "--loops", "30"))["device"]
    assert (device["opackets"], device["ipackets"], device["oerrors"]) == (3000, 3000, 0)


def timed(program, tmp_path, how, *, count=101, gap_ns=5_000_000, loops=1):
    """Seconds that an evenly spaced trace of half a second takes, and its port's figures."""
    file = write_pcap(tmp_path / "in.pcap", even(count, gap_ns))
    words = ["null:x", "--timing", how, "--loops", str(loops), "--json"]
    done = program.run("replay", str(file), *words)
    assert (done.code, done.err) == (0, "")
    figures = port(done.document)
    assert figures["tx_frames"] + figures["tx_frames_unsent"] == count * loops
    return figures["seconds"], figures


def late_s(figures):
    """The latest that a frame left, and a millisecond for the readings of clocks [s]."""
    return figures["pacing_error_ns"]["max"] / 1e9 + 0.001


@pytest.mark.parametrize(
    ("how", "seconds"), [("original", 0.5), ("x2.5", 0.2), ("0.5x", 1.0), ("x1e3", 0.0005)]
)
def test_timing(program, tmp_path, how, seconds):
    took_s, figures = timed(program, tmp_path, how)
    assert took_s < seconds + late_s(figures)
    assert seconds - late_s(figures) < took_s, "the first frame may be the late one"
    assert figures["intended_fps"] is None


def test_a_lap_ends_a_mean_interval_after_its_last_frame(program, tmp_path):
    took_s, figures = timed(program, tmp_path, "original", loops=3, count=41)
    assert abs(took_s - (2 * 0.205 + 0.2)) < late_s(figures)


def test_duration_ends_within_a_lap(program, tmp_path):
    file = write_pcap(tmp_path / "in.pcap", even(1000, 5_000_000))
    words = ("--timing", "x1", "--duration", "0.5", "--json")
    done = program.run("replay", str(file), "null:x", *words)
    assert (done.code, done.err) == (0, "")
    port = json.loads(done.out)["ports"][0]
    # What came due while the machine was away for 10 ms is unsent.
    assert port["tx_frames"] + port["tx_frames_unsent"] == pytest.approx(100, abs=2)
    assert port["laps"] == pytest.approx(port["tx_frames"] / 1000)


def test_what_is_shown(program, tmp_path):
    file = write_pcap(tmp_path / "in.pcap", mixed(100))
    done = program.run("replay", str(file), "null:a", "null:b", "--duration", "0.5", "-T", "0.1")
    assert (done.code, done.err) == (0, "")
    before, _, summary = done.out.partition("\nSummary\n")
    for part in (str(file), "100 frames", "Port 0: null:a, lcore", "Port 1: null:b", "NUMA -"):
        assert part in before, part
    assert before.count("opackets") >= 3, "a table each 0.1 s"
    for part in ("\n sum ", "# ports |", "\n      2 |", "Verdict: "):
        assert part in summary, part


def test_the_plan_of_a_replay_runs_the_same(program, tmp_path):
    frames = mixed(123)
    file = write_pcap(tmp_path / "in.pcap", frames)
    out = tmp_path / "out.pcap"
    words = ["--loops", "3", "--rewrite-mac", f"{DST.hex(':')}/{SRC.hex(':')}"]
    shown = program.run("replay", str(file), f"pcap:,{out}", *words, "--show-plan")
    assert (shown.code, shown.err) == (0, "")
    assert not out.exists()
    plan = tmp_path / "elsewhere" / "plan.yaml"
    plan.parent.mkdir()
    plan.write_text(shown.out)
    done = program.run("run", str(plan))
    assert (done.code, done.err) == (0, "")
    sent = [octets for _, octets in read_pcap(out)]
    assert sent == [DST + SRC + octets[12:] for octets in octets_of(frames)] * 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(program, tmp_path, number):
    file = write_pcap(tmp_path / "in.pcap", mixed(1000))
    with program.start("replay", str(file), "null:x", "--rate", "1kpps", "--json") as running:
        running.sending()
        running.signal(number)
        run = running.finish()
    assert (run.code, run.err) == (0, "")
    assert 0 < port(run.document)["tx_frames"] < 60_000
    assert "stopped by the user" in run.document["verdict"]["notes"]


def test_cpu_saver_uses_little_cpu(program, tmp_path):
    file = write_pcap(tmp_path / "in.pcap", mixed(1000))
    words = ["null:x", "--rate", "1kpps", "--duration", "1", "--json"]
    done = program.run("replay", str(file), *words, "--cpu-saver=1ms")
    assert (done.code, done.err) == (0, "")
    assert done.document["total"]["cpu_share"] < 0.5, "a polling lcore takes all of a core"
    assert port(done.document)["tx_frames"] == pytest.approx(1000, abs=20)


def test_refusals(program, tmp_path):
    file = str(write_pcap(tmp_path / "in.pcap", mixed(3)))
    program.run("replay", file, "null:x", "null:x").refused("null:x", "twice")
    program.run("replay", file, "null:x", "--timing", "fast").refused("'fast'", "x2.5")
    program.run("replay", file, "null:x", "--timing", "x2", "--rate", "5%").refused("--rate")
    program.run("replay", file, "null:x", "--loops", "9" + 18 * "0").refused("loops", "--duration")
    program.run("replay", file, "null:x", "--rewrite-mac", "me").refused("'me'")
    program.run("replay", file, "eth0").refused("af_packet:eth0")
    program.run("replay").refused("FILE")
    program.run("replay", file, *[f"null:n{i}" for i in range(65)]).refused("65 ports", "64")
    same = str(write_pcap(tmp_path / "same.pcap", even(5, 0)))
    program.run("replay", same, "null:x", "--timing", "x2").refused("same.pcap", "same time")
    nowhere = program.run("replay", file, "ffff:ff:1f.7")
    nowhere.refused("ffff:ff:1f.7", "null:x", code=nowhere.code)
    assert nowhere.code in {2, 3}


def test_a_capture_is_not_replayed_onto_itself(program, tmp_path):
    file = write_pcap(tmp_path / "victim.pcap", mixed(3))
    (tmp_path / "link.pcap").symlink_to(file)
    before = file.read_bytes()
    for name in ("victim.pcap", "link.pcap"):
        done = program.run("replay", str(file), f"pcap:,{tmp_path / name}", "--loops", "1")
        done.refused(name, "flow f0 reads")
        assert file.read_bytes() == before
