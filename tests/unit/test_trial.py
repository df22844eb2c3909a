# SPDX-License-Identifier: BSD-3-Clause
"""How a trial ends: what it waits for after the last frame, and what a warm-up leaves."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from support.made_up import HZ, START
from wirerate.errors import EngineDiedError
from wirerate.trial import trial as trial_module
from wirerate.trial.trial import Trial, warm_up

MS = 1_000_000


class Engine:
    """An engine that does as it is told, or is dead."""

    def __init__(self, *, dead=False):
        self.calls = []
        self.dead = dead

    def call(self, method, _params=None):
        self.calls.append(method)

    def end_traffic(self):
        self.calls.append("end_traffic")

    def alive(self):
        return not self.dead

    def death(self):
        return "the engine was killed"


class Counters:
    """Blocks in which frames arrive for some time after the look at the end of sending."""

    def __init__(self, *, sent, arrives_ms=0, received=None, latency_ms=0, others_ms=0):
        self.tsc_hz = HZ
        self.began = time.monotonic()
        self._sent, self._arrives_ms, self._latency_ms = sent, arrives_ms, latency_ms
        self._received = sent if received is None else received
        self._others_ms = others_ms

    def elapsed_ms(self):
        return 1000 * (time.monotonic() - self.began)

    def of_kind(self, kind):
        passed = self.elapsed_ms()
        # One more each millisecond, until all have come.
        missing = max(0, int(self._arrives_ms - passed))
        own = {"frames": self._received - missing, "duplicates": 0, "copies": 0}
        own["latency_max_cycles"] = self._latency_ms * MS
        foreign = int(min(passed, self._others_ms))
        return {
            "tx": [{"frames": self._sent, "state": 2}],
            "flow": [own],
            "rx": [{"frames": own["frames"] + foreign}],
        }.get(kind, [])


@pytest.fixture(autouse=True)
def looks(monkeypatch):
    """Looks at made-up counters say nothing but whether latencies were read."""
    taken = []

    def take(_counters, *, latencies=False):
        taken.append(latencies)
        return SimpleNamespace(start_tsc=START)

    monkeypatch.setattr(trial_module, "take", take)
    return taken


def trial_of(counters, engine=None, duration_ns=10 * MS, **other):
    driven: Any = engine or Engine()
    return Trial(driven, counters, duration_ns, 1.0, **other)


def settled(counters, *, measured=True, settle_ms=500, engine=None):
    """The trial after its end, and how long it settled [ms]."""
    made = trial_of(counters, engine, None, settle_ns=settle_ms * MS, measured=measured)
    list(made.watch())
    return made, counters.elapsed_ms()


def test_what_has_all_arrived_is_waited_for_briefly():
    made, took_ms = settled(Counters(sent=1000, latency_ms=400))
    assert 50 <= took_ms < 300
    assert (made.arriving_s, made.death) == (None, None)
    assert made.engine.calls == ["traffic.start", "traffic.stop", "program.unload"]


@pytest.mark.parametrize(("latency_ms", "quiet_ms"), [(120, 500), (400, 800)])
def test_missing_frames_get_half_a_second_and_twice_the_longest_latency(latency_ms, quiet_ms):
    missing = Counters(sent=1000, received=999, latency_ms=latency_ms)
    made, took_ms = settled(missing, settle_ms=5000)
    assert quiet_ms <= took_ms < 2500
    assert made.arriving_s is None


def test_the_limit_ends_it_and_what_still_arrives_is_told():
    made, took_ms = settled(Counters(sent=1000, arrives_ms=900), settle_ms=200)
    assert 200 <= took_ms < 600
    assert made.arriving_s == pytest.approx(0.2, abs=0.1)


def test_waiting_to_the_limit_in_vain_is_no_fault():
    made, took_ms = settled(Counters(sent=1000, received=999, latency_ms=900), settle_ms=200)
    assert 200 <= took_ms < 600
    assert made.arriving_s is None


def test_foreign_frames_are_not_waited_for():
    _, took_ms = settled(Counters(sent=1000, others_ms=2000))
    assert took_ms < 300


def test_without_measuring_all_that_arrives_is_waited_for_but_proves_nothing():
    made, took_ms = settled(Counters(sent=1000, others_ms=2000), measured=False, settle_ms=200)
    assert took_ms >= 200
    assert made.arriving_s is None


def test_only_the_last_look_reads_latencies(looks):
    settled(Counters(sent=1))
    assert looks == [False, False, False, True]


def test_a_dead_engine_ends_it():
    made, took_ms = settled(Counters(sent=2, received=1, latency_ms=400), engine=Engine(dead=True))
    assert took_ms < 200
    assert made.death == "the engine was killed"
    assert made.final is not None


def test_a_warm_up_is_a_whole_trial():
    engine = Engine()
    assert warm_up(trial_of(Counters(sent=1), engine))
    assert engine.calls == ["traffic.start", "traffic.stop", "program.unload"]


def test_a_warm_up_that_was_stopped_stops_all():
    engine = Engine()
    made = trial_of(Counters(sent=1), engine)
    made.stop()
    assert engine.calls == ["end_traffic"], "at once, whatever the watcher waits for"
    assert not warm_up(made)


def test_an_engine_that_dies_in_the_warm_up_is_an_error():
    dying = trial_of(Counters(sent=2, received=1), Engine(dead=True))
    with pytest.raises(EngineDiedError, match="was killed"):
        warm_up(dying)


def test_somebody_may_look_before_receiving_ends():
    engine = Engine()
    made = trial_of(Counters(sent=1), engine, None)
    made.settled = lambda: engine.calls.append("looked")
    for _ in made.watch():
        pass
    assert engine.calls == ["traffic.start", "traffic.stop", "looked", "program.unload"]
