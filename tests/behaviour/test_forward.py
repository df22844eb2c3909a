# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate forward` and `wirerate reflect`: what leaves, and that they count it to the frame."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter

import pytest

from support.captures import frame_octets, write_pcap
from support.host import CPUS, ONE, needs, needs_two_cpus, tshark
from support.program import wait_for
from support.read_captures import read_pcap
from support.verdicts import LOST_CPU, may_want_cpu, only_for_want_of_cpu

FRAMES = 100_000
TRIES = 3
NUMBER = slice(14, 18)
"""Where `frame_octets` puts a frame's number."""
BEHIND = 3
"""A reordered frame follows so many that came later (0005, Forwarding)."""
IMPAIRED = ("--drop=1%", "--duplicate=0.5%", "--reorder=0.3%", "--seed=7")
GOOD = "1"  # of tshark's checksum status


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """FRAMES frames, each with its number."""
    frames = [(i * 1000, frame_octets(60 + i % 40, i), None) for i in range(FRAMES)]
    return write_pcap(tmp_path_factory.mktemp("in") / "in.pcap", frames)


def finished(program, *words):
    """The document of a run that went well."""
    done = program.run(*words, "--json")
    assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
    assert done.document["schema"] == "wirerate-forward/1"
    return done.document


def through(program, source, out, *words, seconds="1"):
    """What a one-way forwarder from file to file did: its direction."""
    ports = (f"pcap:{source},", f"pcap:,{out}", "--one-way", "--duration", seconds)
    (way,) = finished(program, "forward", *ports, *words)["ways"]
    adds_up(way)
    return way


def adds_up(way):
    """Every frame that came is accounted for, and the queues are the direction."""
    gone = ("tx_frames", "dropped", "not_taken", "overflowed", "held")
    assert way["rx_frames"] + way["duplicated"] == sum(way[word] for word in gone)
    for word in ("rx_frames", "rx_octets", "tx_frames", "tx_octets", *gone):
        assert sum(queue[word] for queue in way["queues"]) == way[word], word


def numbers(file):
    return [int.from_bytes(octets[NUMBER], "big") for _, octets in read_pcap(file)]


def moved_back(sent):
    """Numbers that are behind a higher one, duplicates aside."""
    found, highest = [], -1
    for number in sent:
        if number < highest and number not in found:
            found.append(number)
        highest = max(highest, number)
    return found


def test_all_frames_pass_unchanged(program, tmp_path, numbered):
    way = through(program, numbered, tmp_path / "out.pcap")
    assert (way["rx_frames"], way["tx_frames"]) == (FRAMES, FRAMES)
    sent, came = read_pcap(tmp_path / "out.pcap"), read_pcap(numbered)
    assert [octets for _, octets in sent] == [octets for _, octets in came]
    assert way["tx_octets"] == sum(len(octets) + 4 for _, octets in came)


def test_counts_are_those_of_the_file(program, tmp_path, numbered):
    way = through(program, numbered, tmp_path / "out.pcap", *IMPAIRED)
    sent = numbers(tmp_path / "out.pcap")
    times = Counter(sent)
    assert way["tx_frames"] == len(sent)
    assert way["dropped"] == FRAMES - len(times)
    assert way["duplicated"] == sum(count - 1 for count in times.values())
    assert way["reordered"] == len(moved_back(sent))
    assert max(times.values()) == 2
    twice = [at for at in range(1, len(sent)) if sent[at] == sent[at - 1]]
    assert len(twice) == way["duplicated"], "a copy follows at once"
    for word, share in (("dropped", 0.01), ("duplicated", 0.005), ("reordered", 0.003)):
        assert way[word] == pytest.approx(share * FRAMES, rel=0.25), word


def test_a_reordered_frame_follows_three_later_ones(program, tmp_path, numbered):
    way = through(program, numbered, tmp_path / "out.pcap", "--reorder=0.1%")
    sent = numbers(tmp_path / "out.pcap")
    late = moved_back(sent)
    assert len(late) == way["reordered"] > 50
    place = {number: at for at, number in enumerate(sent)}
    assert {place[number] - number for number in late} == {BEHIND}


def test_the_same_seed_is_the_same_result(program, tmp_path, numbered):
    files = [tmp_path / f"{name}.pcap" for name in ("one", "two", "other")]
    for file, seed in zip(files, ("7", "7", "8"), strict=True):
        through(program, numbered, file, *IMPAIRED[:-1], "--seed", seed)
    one, two, other = map(numbers, files)
    assert one == two
    assert one != other


@pytest.mark.parametrize(
    ("words", "left"), [(["--drop=1"], 0), (["--drop", "100%"], 0), (["--duplicate=1"], 2)]
)
def test_all_of_them(program, tmp_path, words, left):
    source = write_pcap(tmp_path / "in.pcap", [(i, frame_octets(60, i), None) for i in range(1000)])
    way = through(program, source, tmp_path / "out.pcap", *words, seconds="300ms")
    assert way["tx_frames"] == 1000 * left == len(read_pcap(tmp_path / "out.pcap"))


def test_work_is_done_for_every_frame(program, tmp_path, numbered):
    words = [f"pcap:{numbered},{tmp_path}/out.pcap", "--work", "10000cycles", "--duration", "2"]
    document = finished(program, "reflect", *words)
    (way,) = document["ways"]
    assert document["settings"]["work_cycles"] == 10_000
    assert way["tx_frames"] == FRAMES
    assert way["busy_cycles"] >= FRAMES * 10_000


def test_delay_is_how_long_a_frame_stays(program, tmp_path):
    source = write_pcap(tmp_path / "in.pcap", [(i, frame_octets(60, i), None) for i in range(9)])
    way = through(program, source, tmp_path / "out.pcap", "--delay", "200ms")
    assert way["tx_frames"] == 9
    assert way["active_seconds"] >= 0.2, "from the first to the last burst received or sent"


def test_delayed_frames_need_mbufs(program, tmp_path, numbered):
    ports = (f"pcap:{numbered},", f"pcap:,{tmp_path}/out.pcap", "--one-way", "--duration", "500ms")
    few = finished(program, "forward", *ports, "--delay", "200ms", "-M", "64")
    assert few["verdict"]["valid"] is False
    assert any("no mbuf; raise -M" in reason for reason in few["verdict"]["reasons"])


def test_what_is_still_held_is_told(program, tmp_path):
    source = write_pcap(tmp_path / "in.pcap", [(i, frame_octets(60, i), None) for i in range(50)])
    ports = (f"pcap:{source},", f"pcap:,{tmp_path}/out.pcap", "--one-way", "--duration", "300ms")
    document = finished(program, "forward", *ports, "--delay", "1s")
    assert document["ways"][0]["held"] == 50
    assert only_for_want_of_cpu(document["verdict"])
    assert any("50 frames were still delayed" in note for note in document["verdict"]["notes"])


def test_receive_only(program, numbered):
    words = ["reflect", f"pcap:{numbered},", "--rx-only", "--duration", "500ms"]
    (way,) = finished(program, *words)["ways"]
    assert (way["rx_frames"], way["tx_frames"], way["to_port"]) == (FRAMES, 0, None)


def stacks():
    """Frames of every kind that is reversed, and what each must become."""
    scapy = pytest.importorskip("scapy.all")
    ether = {"src": "02:00:00:00:00:0a", "dst": "02:00:00:00:00:0b"}
    v4, v6 = {"src": "10.0.0.1", "dst": "10.9.9.9"}, {"src": "fd00::1", "dst": "fd00::99"}
    ports = {"sport": 1234, "dport": 53}
    tags: tuple[tuple[int, ...], ...] = ((), (7,), (7, 4095))
    layers = (scapy.UDP, scapy.TCP)

    def swapped(fields):
        (first, one), (second, other) = fields.items()
        return {first: other, second: one}

    for tag in tags:
        for ip, addresses in ((scapy.IP, v4), (scapy.IPv6, v6)):
            for layer in layers:

                def build(turn, tag=tag, ip=ip, addresses=addresses, layer=layer):
                    frame = scapy.Ether(**turn(ether))
                    for vlan in tag:
                        frame /= scapy.Dot1Q(vlan=vlan)
                    frame = frame / ip(**turn(addresses)) / layer(**turn(ports))
                    return bytes(frame / bytes(range(40)))

                yield build(dict), build(swapped)
    arp = scapy.Ether(**ether) / scapy.ARP(psrc="10.0.0.1", pdst="10.0.0.2") / bytes(20)
    turned = scapy.Ether(**swapped(ether)) / scapy.ARP(psrc="10.0.0.1", pdst="10.0.0.2") / bytes(20)
    yield bytes(arp), bytes(turned)


@needs("tshark")
def test_reverse(program, tmp_path):
    pairs = list(stacks())
    assert len(pairs) == 13
    frames = [(at, came, None) for at, (came, _) in enumerate(pairs)]
    source = write_pcap(tmp_path / "in.pcap", frames)
    out = tmp_path / "out.pcap"
    (way,) = finished(program, "reflect", f"pcap:{source},{out}", "--duration", "300ms")["ways"]
    assert way["tx_frames"] == len(pairs)
    assert [octets for _, octets in read_pcap(out)] == [back for _, back in pairs]
    for protocol in ("ip", "udp", "tcp"):
        found = tshark(out, [f"{protocol}.checksum.status"], protocol)
        assert len(found) == 6
        assert set(found) == {(GOOD,)}, protocol


@pytest.mark.parametrize(
    ("option", "swaps"), [(["--mac-swap"], True), (["--as-is"], False)], ids=["mac-swap", "as-is"]
)
def test_mac_swap_and_as_is(program, tmp_path, option, swaps):
    came = [octets for octets, _ in stacks()]
    source = write_pcap(
        tmp_path / "in.pcap", [(at, octets, None) for at, octets in enumerate(came)]
    )
    out = tmp_path / "out.pcap"
    finished(program, "reflect", f"pcap:{source},{out}", *option, "--duration", "300ms")
    want = [octets[6:12] + octets[:6] + octets[12:] if swaps else octets for octets in came]
    assert [octets for _, octets in read_pcap(out)] == want


def measured(program, other_program, tmp_path, *words):
    """A forwarder between two memifs, and a sender through it: both documents."""
    left, right = (tmp_path / f"{side}.sock" for side in ("left", "right"))
    ports = [f"memif:{socket},role=server" for socket in (left, right)]
    own = ("-m", f"{ONE}.0/{ONE}.1", "--json", *words)
    with other_program.start("forward", *ports, *own) as forwarder:
        wait_for("the first socket", left.exists)
        wait_for("the second socket", right.exists)
        maps = ("-m", f"{CPUS[0]}.0/{CPUS[0]}.1")
        counted = ("--count", str(FRAMES), "-r", "200kpps", "--json")
        tester = program.run("perf", f"memif:{left}", f"memif:{right}", *maps, *counted)
        forwarder.signal(signal.SIGTERM)
        run = forwarder.finish()
    assert (tester.code, run.code) == (0, 0), tester.err + run.err
    return tester.document, run.document


def measured_fairly(program, other_program, tmp_path, *words):
    """Likewise; aloud again where a peer was away for so long that the forwarder gave frames up."""
    for attempt in range(TRIES):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        tester, document = measured(program, other_program, folder, *words)
        if only_for_want_of_cpu(document["verdict"]):
            break
        print("invalid:", *document["verdict"]["reasons"], sep="\n  ")
    return tester, document


@needs_two_cpus
def test_between_two_peers(program, other_program, tmp_path):
    """What one of them sends and the other does not get is what the forwarder says it dropped."""
    words = ("--drop=1%", "--duplicate=0.5%")
    tester, document = measured_fairly(program, other_program, tmp_path, *words)
    assert only_for_want_of_cpu(document["verdict"])
    for way in document["ways"]:
        adds_up(way)
        source, target = (tester["ports"][way[word]] for word in ("port", "to_port"))
        assert way["rx_frames"] == source["tx_frames"]
        assert way["tx_frames"] == target["rx_frames"]
        assert way["dropped"] > 0
        assert way["duplicated"] > 0
    assert any("a peer left" in note for note in document["verdict"]["notes"])


@needs_two_cpus
def test_two_queues_on_one_lcore(program, other_program, tmp_path):
    """Both ends of a memif have as many queues, or DPDK's driver counts frames twice."""
    socket = tmp_path / "two.sock"
    words = [f"memif:{socket},role=server", "-m", f"{ONE}.0", "-q", "2", "--json"]
    with other_program.start("reflect", *words) as reflector:
        wait_for("the socket", socket.exists)
        maps = ("-m", f"{CPUS[0]},{ONE}.0")
        counted = ("--count", str(FRAMES), "-r", "200kpps", "--json")
        tester = program.run("perf", f"memif:{socket}", *maps, *counted)
        reflector.signal(signal.SIGINT)
        run = reflector.finish()
    (way,) = run.document["ways"]
    adds_up(way)
    assert [queue["lcore"] for queue in way["queues"]] == [int(ONE)] * 2
    assert all(queue["rx_frames"] > 0 for queue in way["queues"])
    (port,) = tester.document["ports"]
    assert (way["rx_frames"], way["tx_frames"]) == (port["tx_frames"], port["rx_frames"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it_in_good_order(program, number):
    program.prefix = ("env", "--default-signal=HUP")  # the tests themselves may run under nohup
    with program.start("reflect", "null:x", "-m", f"{ONE}.0") as running:
        running.sending()
        running.signal(number)
        run = running.finish()
    assert run.code == 0, run.err
    assert "Summary of" in run.out
    assert "Verdict: valid" in run.out or may_want_cpu(run.out)


def test_rows_come_every_period(program):
    done = program.run("reflect", "null:x", "--duration", "500ms", "-T", "100ms")
    assert done.code == 0, done.err
    assert 3 <= done.out.count("Rx frames/s") <= 5


def test_an_engine_that_dies_is_told(program):
    with program.start("reflect", "null:x", "--json") as running:
        running.sending()
        os.kill(running.engine_pid(), signal.SIGKILL)
        run = running.finish()
    assert run.code == 4
    assert "killed by SIGKILL" in run.err
    assert json.loads(run.out)["verdict"]["valid"] is False


def test_an_engine_that_stands_still_is_told(program):
    """SIGSTOP for 0.3 s."""
    with program.start("reflect", "null:x", "--json") as running:
        running.sending()
        engine = running.engine_pid()
        os.kill(engine, signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(engine, signal.SIGCONT)
        time.sleep(0.1)
        running.signal(signal.SIGINT)
        run = running.finish()
    reasons = json.loads(run.out)["verdict"]["reasons"]
    (away,) = [reason for reason in reasons if LOST_CPU in reason]
    assert float(away.split("(longest ")[1].split(" ms")[0]) >= 250


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["forward", "null:a"], ["needs pairs"]),
        (["forward", "null:a", "null:b", "--drop", "2"], ["--drop", "0.1%"]),
        (["reflect", "memif:/nowhere/x.sock"], ["port 0", "/nowhere"]),
        (["reflect", "null:a", "-m", f"{ONE}:{ONE}.1"], ["port 1 does not exist"]),
    ],
)
def test_what_is_refused(program, words, parts):
    done = program.run(*words)
    done.refused(*parts, code=done.code)
    assert done.code in {2, 3}


def test_a_file_is_not_written_while_it_is_read(program, numbered):
    done = program.run("forward", f"pcap:{numbered},", f"pcap:,{numbered}", "--one-way")
    done.refused("would overwrite")
    assert len(read_pcap(numbered)) == FRAMES


def test_a_client_without_a_server_is_refused(program, tmp_path):
    done = program.run("reflect", f"memif:{tmp_path}/x.sock,role=client")
    done.refused("port 0", "nobody listens", code=done.code)


def test_an_interface_that_is_not_there(program):
    done = program.run("reflect", "af_packet:wr-nowhere")
    done.refused("port 0", "wr-nowhere", code=done.code)
