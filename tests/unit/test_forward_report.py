# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate forward` and `reflect` say: live rows, summary, verdict, document."""

from dataclasses import replace

import pytest

from support.forwarders import ANSWERED, counts, look, ready_of, result_of, settings_of
from support.made_up import HZ
from wirerate.engine.eal import Memory
from wirerate.report import forward_json, forward_text
from wirerate.trial.forward_snapshot import LaneCounts, add_up

PAIR = ("forward", "memif:/run/a.sock", "memif:/run/b.sock", "-m", "1.0/1.1")
MEMORY = Memory((), "ordinary pages")


def result(*lanes, words=PAIR, death=None, **other):
    ready = ready_of(settings_of(*words))
    ports = len(ready.settings.locations)
    return result_of(ready, look(*lanes, ports=ports, **other), death)


def verdict(*lanes, **other):
    return result(*lanes, **other).verdict


def cells(line):
    return line.replace(" > ", ">").replace(" %", "%").split()


def test_before_the_start():
    settings = settings_of(*PAIR, "--drop=0.1%", "--seed=7", "--delay=1ms", "--work=400")
    text = forward_text.setup_text(settings, ready_of(settings).lanes, MEMORY)
    for line in [
        "Port 0: memif:/run/a.sock",
        "Way: what port 0 receives leaves by port 1, unchanged",
        "Way: what port 1 receives leaves by port 0, unchanged",
        "Impairments: drop 0.1 %, seed 7, delay 1 ms, work 400 cycles per frame",
        "Lcore map: 1.0/1.1. Memory: ordinary pages.",
    ]:
        assert line in text.splitlines()
    assert "18,192 for each port (chosen; -M sets it): enough for 18.2 Mframes/s" in text


def test_nothing_is_said_of_impairments_that_are_not():
    settings = settings_of("reflect", "null:a", "-m", "1.0")
    text = forward_text.setup_text(settings, ready_of(settings).lanes, MEMORY)
    assert "Way: what port 0 receives goes back, addresses and UDP/TCP ports exchanged" in text
    assert "Impairments" not in text
    assert "Delayed" not in text


def test_rows_are_of_the_time_between_and_counts_since_the_start():
    ready = ready_of(settings_of(*PAIR))
    before = look(counts(1000, dropped=5), counts(0), seconds=1.0)
    now = look(
        counts(4000, tx_frames=3000, dropped=7, not_taken=2, overflowed=3, busy_cycles=HZ),
        counts(0),
        seconds=3.0,
    )
    lines = forward_text.table(ready, now, before).splitlines()
    assert cells(lines[1])[:6] == ["0>1", "0", "1", "1,500", "1.01", "25.0%"]
    assert cells(lines[1])[6] == "1,000"
    assert cells(lines[1])[8:] == ["7", "0", "0", "5"]
    assert cells(lines[2])[:4] == ["1>0", "0", "1", "0"]
    assert cells(lines[3])[:3] == ["total", "1,500", "1.01"]


def test_the_first_row_is_of_the_time_since_the_start():
    ready = ready_of(settings_of(*PAIR))
    lines = forward_text.table(ready, look(counts(500), counts(0), seconds=0.5), None)
    assert cells(lines.splitlines()[1])[3] == "1,000"


def test_who_only_receives_has_no_columns_of_sending():
    ready = ready_of(settings_of("reflect", "null:a", "--rx-only", "-m", "1.0"))
    only = replace(counts(1000), tx_frames=0, tx_octets=0)
    lines = forward_text.table(ready, look(only, ports=1), None).splitlines()
    assert "Tx" not in lines[0]
    assert cells(lines[1]) == ["0", "0", "1", "1,000", "0.67", "50.0%", "1,000"]


def test_many_queues_are_shown_by_direction():
    words = ("reflect", "null:a", "null:b", "-m", "1.0/1.1", "-q", "33")
    ready = ready_of(settings_of(*words))
    lines = forward_text.table(ready, look(*[counts(10)] * 66), None).splitlines()
    assert [cells(line)[:3] for line in lines[1:-1]] == [
        ["0>0", "all", "330"],
        ["1>1", "all", "330"],
        ["total", "660", "0.44"],
    ]


def test_each_lcore_and_their_sum():
    ready = ready_of(settings_of("reflect", "null:a", "null:b", "-m", "1.0/1.1/2.1"))
    lanes = [counts(busy_cycles=cycles) for cycles in (HZ // 4, HZ // 4, HZ // 10)]
    assert "CPU: lcore 1 50.0 %, lcore 2 10.0 %; sum 60.0 %" in forward_text.table(
        ready, look(*lanes), None
    )
    later = look(*[replace(lane, busy_cycles=HZ) for lane in lanes], seconds=2.0)
    line = forward_text.table(ready, later, look(*lanes)).splitlines()[-1]
    assert line == "CPU: lcore 1 150.0 %, lcore 2 90.0 %; sum 240.0 %"
    found = forward_json.document(result_of(ready, look(*lanes)), {})["cpu"]
    assert found["utilisation"] == pytest.approx(0.6)
    assert [one["lcore"] for one in found["lcores"]] == [1, 2]


def test_of_many_lcores_the_range_is_shown():
    ready = ready_of(settings_of("reflect", "null:a", "-m", "0-15.0", "-q", "17"))
    assert len(ready.lanes) == 17
    busy = [(lcore, lcore / 100) for lcore in range(17)]
    assert forward_text._cpu_line(busy) == "CPU: 17 lcores 0.0 % to 16.0 %; sum 136.0 %"


def test_what_devices_dropped():
    ready = ready_of(settings_of(*PAIR))
    device = {"imissed": 1200, "rx_nombuf": 34}
    text = forward_text.table(ready, look(counts(), counts(), device=device), None)
    assert text.endswith("Dropped by port 0: no descriptor 1,200, no mbuf 34, socket full 0")


def test_flows_are_counted_where_they_are_asked_for():
    words = ("reflect", "null:a", "-m", "1-2.0", "--count-flows=1000")
    ready = ready_of(settings_of(*words))
    lanes = (counts(distinct_flows=1000, distinct_overflow=7), counts(distinct_flows=12))
    now = look(*lanes, ports=1)
    lines = forward_text.table(ready, now, None).splitlines()
    assert [line.split()[-1] for line in lines[:4]] == ["flows", "1,000+", "12", "1,012+"]
    result = result_of(ready, now)
    assert "flows         1,012+ distinct" in forward_text.summary(result)
    assert any("raise --count-flows" in note for note in result.verdict.notes)
    assert result.verdict.valid
    found = forward_json.document(result, {})
    assert found["settings"]["distinct_max"] == 1000
    assert found["total"]["distinct_flows"] == 1012
    assert found["ways"][0]["queues"][0]["distinct_overflow"] == 7


def test_the_summary():
    text = forward_text.summary(
        result(counts(1000, dropped=3, duplicated=2, reordered=1, held=4), counts(0))
    )
    for part in (
        "Summary of 1.000 s",
        "port 0 to 1: lcores 50.0 % busy",
        "received      1,000 frames in 1.000 s: 1,000 frames/s = 672 kbit/s at L1",
        "impaired      dropped 3, duplicated 2, reordered 1",
        "not taken 0, overflowed 0; still held at the end 4",
        "Verdict: valid",
        "note: port 1 to 0: no frame came",
        "note: port 0 to 1: 4 frames were still delayed or held back at the end",
    ):
        assert part in text, part


def test_a_forwarder_that_worked_is_valid():
    assert verdict(counts(), counts()).valid
    assert verdict(counts(dropped=100, reordered=7), counts()).valid, "as asked"


@pytest.mark.parametrize(
    ("word", "part"),
    [("not_taken", "the device to send on took none"), ("overflowed", "raise -M")],
)
def test_frames_that_were_lost_here(word, part):
    (reason,) = verdict(counts(**{word: 1234}), counts()).reasons
    assert reason.startswith("port 0 to 1: 1,234 frames were lost")
    assert part in reason


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("imissed", "receiver dropped 9 frames: no free Rx descriptor"),
        ("rx_nombuf", "receiver dropped 9 frames: no mbuf; raise -M"),
        ("ierrors", "9 frames arrived damaged"),
        ("oerrors", "failed to send 9 frames"),
    ],
)
def test_what_the_device_lost(word, part):
    (reason,) = verdict(counts(), counts(), device={word: 9}).reasons
    assert reason.startswith("port 0: ")
    assert part in reason


def test_what_the_kernel_dropped():
    (reason,) = verdict(counts(), counts(), socket_drops={"p0": 0, "p1": 5}).reasons
    assert reason == "port 1: the kernel dropped 5 frames at the port's socket"


def test_a_worker_that_lost_its_cpu():
    (reason,) = verdict(counts(), counts(), cpu_lost_max_ns={1: 12_000_000}).reasons
    assert "lcore 1 lost its CPU for 0 % of the time (longest 12 ms, " in reason
    assert verdict(counts(), counts(), cpu_lost_max_ns={1: 9_000_000}).valid


def test_pause_frames_are_noted():
    found = verdict(counts(), counts(), device={"pause_frames": 4_000})
    assert found.valid
    (note,) = [note for note in found.notes if "PAUSE" in note]
    assert note.startswith("port 0: 4,000 PAUSE frames arrived: the link partner asked this port")


def test_peers_come_and_go():
    found = verdict(counts(), counts(), device={"link_changes": 3})
    assert found.valid
    assert "port 0: link changes: 3; a peer left or came again" in found.notes
    assert (
        "port 0: the link is down: no peer has come"
        in verdict(counts(), counts(), device={"link_up": False}).notes
    )


def test_a_capture_that_was_full():
    found = verdict(counts(), counts(), capture_missed={"p1": 7})
    assert found.valid
    (note,) = [note for note in found.notes if "capture" in note]
    assert note.startswith("port 1: 7 frames found no room in the capture")


def test_an_engine_that_died():
    found = verdict(counts(), counts(), death="the engine was killed by SIGKILL (-9)")
    assert found.reasons[0].startswith("the engine was killed by SIGKILL (-9): counted up to then")


def test_answers():
    words = (*PAIR, "--address", "10.0.0.2")
    found = result(counts(), counts(), words=words, answers={"p0": ANSWERED})
    text = forward_text.summary(found)
    assert "port 0 answers as 10.0.0.2 at 02:57:52:00:00:00" in text
    assert "answered      1 ARP requests, 2 neighbour solicitations, 3 pings" in text
    assert forward_json.document(found, {})["ports"][0]["answers"]["echoes"] == 3
    lost = replace(ANSWERED, not_taken=1, overflowed=1)
    (reason,) = verdict(counts(), counts(), words=words, answers={"p0": lost}).reasons
    assert reason.startswith("port 0: 2 answers")


def test_lanes_add_up():
    both = add_up([counts(10, dropped=1), LaneCounts(), counts(5, dropped=2, first_tsc=7)])
    assert (both.rx_frames, both.dropped, both.first_tsc) == (15, 3, 7)
    assert add_up([]) == LaneCounts()


def test_the_document():
    found = forward_json.document(result(counts(10), counts(5), words=(*PAIR, "--seed", "9")), {})
    assert (found["schema"], found["command"]) == ("wirerate-forward/1", "forward")
    assert found["settings"]["seed"] == 9
    assert [(way["port"], way["to_port"], way["rx_frames"]) for way in found["ways"]] == [
        (0, 1, 10),
        (1, 0, 5),
    ]
    assert found["total"]["rx_frames"] == 15
    assert found["ways"][0]["queues"][0]["busy"] == pytest.approx(0.5)
    assert found["ways"][0]["received_load"]["fps"] == pytest.approx(10)
    assert found["ports"][0]["answers"] is None


def test_eighty_columns_show_all_that_is_counted(monkeypatch):
    monkeypatch.setattr(forward_text, "terminal_columns", lambda: 80)
    ready = ready_of(settings_of(*PAIR))
    busy = counts(99_743, dropped=218, duplicated=1209, reordered=300, not_taken=40)
    lines = forward_text.table(ready, look(busy, busy), None).splitlines()
    assert max(map(len, lines)) <= 80
    for title in ("Rx frames/s", "Tx frames/s", "busy", "dropped", "duplicated", "lost"):
        assert title in lines[0]
