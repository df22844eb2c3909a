# SPDX-License-Identifier: BSD-3-Clause
"""Which lcores may sleep when nothing is due, and what is said of it."""

from __future__ import annotations

import pytest

from wirerate.plan.sleep import asleep_note, awake_notes, sleep_ns

MS = 1_000_000
SENDS = {"kind": "tx", "port": "p0", "queue": 0}
RECEIVES = {"kind": "rx", "port": "p0", "queue": 0}
MEASURES = {**RECEIVES, "measure": True}


@pytest.mark.parametrize(
    ("tasks", "asked_ns", "sleeps_ns"),
    [
        ([SENDS], MS, MS),
        ([SENDS, RECEIVES], MS, MS),
        ([SENDS, MEASURES], MS, 0),
        ([MEASURES], MS, 0),
        ([SENDS], 0, 0),
    ],
)
def test_who_measures_what_it_receives_polls(tasks, asked_ns, sleeps_ns):
    assert sleep_ns(asked_ns, tasks) == sleeps_ns


def workers(*sleeps):
    return [{"lcore": lcore, "sleep_ns": each} for lcore, each in enumerate(sleeps, start=1)]


def test_what_is_said():
    assert awake_notes(0, workers(0, 0)) == ()
    assert awake_notes(MS, workers(MS, MS)) == ()
    (note,) = awake_notes(MS, workers(0, MS))
    assert note.startswith("lcore 1 does not sleep (--cpu-saver): it receives measured flows")
    assert note.endswith("those that only send do")
    (note,) = awake_notes(MS, workers(0, 0))
    assert note.startswith("lcores 1, 2 do not sleep (--cpu-saver): they receive measured flows")
    assert "nothing is left of --cpu-saver" in note
    assert "lcores sleep for 2 ms" in asleep_note(2 * MS)
