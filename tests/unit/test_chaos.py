# SPDX-License-Identifier: BSD-3-Clause
"""The chaos harness finds what it is there to find: each of these judgements must not be missed."""

from __future__ import annotations

import json

import pytest

from chaos.causes import kind_of, misnamed
from chaos.judge import judge
from chaos.stamp import Stamp, damaged, ones_sum, plain_frame, read_stamp, udp_port, with_stamp
from chaos.trials import FAULTS, Flow, Trial, draw
from chaos.truth import Book, envelope

MS = 1_000_000
CLEAN = {"name": "worker", "ran": 0.5, "waited": 0.0, "longest": 0.0}


def trial(fault="none", **other):
    words = {
        "seed": 1,
        "command": "perf",
        "port": "memif",
        "fault": fault,
        "flows": (Flow(128, 200, 1000),),
        "cpu_saver": False,
        "at_s": 0.05,
        "for_s": 0.03,
        "busy": 1,
        "share": 0.02,
    }
    return Trial(**{**words, **other})


def stamped(sequence, *, departure=7):
    blank = plain_frame(0, 124, port=9)[:-16] + bytes(16)
    return with_stamp(blank, Stamp(22354, 0, sequence, departure + sequence))


def book(*, frames=200, lost=(), twice=(), late_ns=0, delay_ns=50_000):
    """A relay's book: 1,000 frames/s; some were lost, some delivered twice."""
    made = Book()
    for sequence in range(frames):
        at = sequence * MS + late_ns * (sequence >= frames // 2)
        frame = stamped(sequence)
        made.came(at, frame, 9)
        for _ in range(0 if sequence in lost else 2 if sequence in twice else 1):
            made.gave(at, at + delay_ns, at + delay_ns + 1000, frame, 0)
    return {**made.sums(), "relay_drops": 0}


def document(*, sent=200, received=200, duplicates=0, reordered=0, p50=60_000, reasons=()):
    late = {"min": 51_000, "p50": p50, "mean": 70_000, "max": 90_000}
    back = {"frames": received, "lost": sent - received}
    port = {
        "tx_frames": sent,
        "rx_frames": received,
        "intended_load": {"fps": 1000.0},
        "pacing_error_ns": {"max": 1000},
        "received": {**back, "duplicates": duplicates, "reordered": reordered},
        "latency_ns": late,
        "rx_queues": [{"damaged_frames": 0}],
    }
    verdict = {"valid": not reasons, "reasons": list(reasons), "notes": []}
    return {"verdict": verdict, "ports": [port]}


def outcome(truth, said, *, code=0, worker=CLEAN, **facts):
    known = {"code": code, "workers": [worker], "counters": {}, "stolen_s": 0.0, **facts}
    return {
        "out": json.dumps(said),
        "err": "",
        "facts": known,
        "truth": json.loads(json.dumps(truth)),
    }


def column(*args, of=None, **words):
    return judge(of or trial(), outcome(*args, **words)).column


def test_a_right_result_is_right():
    assert column(book(), document()) == "valid, right"
    said = document(received=199, duplicates=2)
    assert column(book(lost={5}, twice={7, 9}), said) == "valid, right"


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ({"lost": {5}}, {}),
        ({}, {"received": 199}),
        ({}, {"sent": 201, "received": 201}),
        ({"twice": {5}}, {}),
        ({}, {"reordered": 1}),
        ({}, {"p50": 1_060_000}),
        ({"delay_ns": 5 * MS}, {}),
        ({"late_ns": 20 * MS}, {}),
    ],
)
def test_a_valid_result_that_is_not_true_is_wrong(truth, said):
    assert column(book(**truth), document(**said)) == "valid, wrong"


def test_a_rate_that_is_off_by_more_than_the_times_explain():
    times = [(number, round(number * MS * 1.0015)) for number in range(5000)]
    found = envelope(times, 1000)
    assert found is not None
    assert found["drift"] == pytest.approx(1500e-6, rel=0.01)
    assert found["doubt"] < 400e-6


def test_a_killed_engine_is_never_valid_and_the_exit_code_says_so():
    assert column(book(), document(), killed=True) == "valid, wrong"
    died = document(reasons=["the engine was killed by SIGKILL (9): counted up to then"])
    of = trial("engine killed")
    assert column(book(), died, of=of, killed=True, code=4) == "invalid, true cause"
    assert column(book(), died, of=of, killed=True, code=0) == "invalid, other cause"


def test_a_starved_unpaced_run_is_not_valid():
    of = trial("starved", flows=(Flow(128, 200, None),))
    said = document()
    said["ports"][0]["intended_load"] = None
    starved = {**CLEAN, "ran": 0.2, "waited": 0.6, "longest": 0.02}
    assert column(book(), said, of=of) == "valid, right"
    assert column(book(), said, of=of, worker=starved) == "valid, wrong"


def test_a_cause_must_be_the_true_one():
    away = "lcore 1 was taken away for 20 ms by the kernel: what was due left late or never"
    starved = {**CLEAN, "waited": 0.05, "longest": 0.02}
    said = document(reasons=[away])
    assert column(book(), said) == "invalid, other cause"  # no witness saw it
    assert column(book(), said, worker=starved) == "invalid, true cause"
    of = trial("link down")
    assert column(book(), said, of=of, worker=starved) == "invalid, other cause"  # it was the link


def test_without_a_document_the_error_has_to_name_the_cause():
    made = outcome(None, {}, code=4)
    made["out"], made["err"] = "", "wirerate: error: the engine was killed by SIGKILL (9)"
    assert judge(trial("engine killed"), made).column == "no result"  # the harness killed nothing
    made["facts"]["killed"] = True
    assert judge(trial("engine killed"), made).column == "invalid, true cause"
    made["err"] = "Traceback (most recent call last):"
    assert judge(trial("engine killed"), made).column == "no result"


def test_stamps_add_up_and_forged_ones_do_too():
    frame = stamped(70_000)
    found = read_stamp(frame)
    assert found is not None
    assert found == Stamp(22354, 0, 70_000, 70_007)
    forged = with_stamp(frame, found._replace(sequence=found.sequence + (1 << 30)))
    assert ones_sum(forged[-16:]) == 0xFFFF
    assert read_stamp(forged) == found._replace(sequence=70_000 + (1 << 30))
    assert read_stamp(frame[:-1] + bytes((frame[-1] ^ 1,))) is None
    assert udp_port(frame) == 9


def test_damage_is_seen():
    frame = plain_frame(5, 100)
    assert not damaged(frame)
    assert damaged(frame[:20] + bytes((frame[20] ^ 1,)) + frame[21:])  # in IP's header
    assert damaged(frame[:80])


def test_every_fault_is_drawn_and_a_seed_is_a_trial():
    drawn = [draw(seed) for seed in range(2000)]
    assert {one.fault for one in drawn} == set(FAULTS)
    assert drawn[:20] == [draw(seed) for seed in range(20)]


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("port 1: the link is down", "link"),
        ("port 0: receiver dropped 5 frames: the kernel's socket was full", "receiver full"),
        ("flow f0: schedule not kept: a frame left 25.6 ms late", "cpu"),
        ("flow f0: load not offered: the device did not take them in time", "device full"),
        ("something new", "unknown"),
    ],
)
def test_reasons_have_kinds(reason, kind):
    assert kind_of(reason) == kind


def test_an_unknown_reason_is_not_a_true_cause():
    assert misnamed(trial(), outcome(book(), document()), ["something new"])
