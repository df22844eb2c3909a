# SPDX-License-Identifier: BSD-3-Clause
"""What searches measure with: trials and intervals made of counters that are made up."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from support.made_up import (
    HZ,
    START,
    flow,
    flow_queue,
    port,
    ready,
    rx_queue,
    snapshot,
    tx_queue,
    worker,
)
from wirerate.cli import perf_args
from wirerate.cli.main import parse
from wirerate.errors import EngineDiedError, PlanError
from wirerate.search.step import Ended, MeasuringStoppedError
from wirerate.trial import search_trial
from wirerate.trial.cpu_lost import SHARE_MAX
from wirerate.trial.flow_rates import FlowRates
from wirerate.trial.live_step import live_step
from wirerate.trial.search_trial import LiveMeasurer, TrialMeasurer
from wirerate.trial.utilisation import utilisation

SETTINGS = perf_args.settings_from_args(parse(["perf", "ring:a"]), range(8))
MS = 1_000_000


def look(seconds=1.0, frames=1000, *, came=None, lost_s=0.0, **other):
    """Port 0 after so many seconds: lcore 1 sends, lcore 2 receives what `came`."""
    received = frames if came is None else came
    device = {key: other.pop(key) for key in ("link_up", "link_changes") if key in other}
    own = port(
        (tx_queue(frames=frames, seconds=seconds, done=False, **other),),
        (rx_queue(1, frames=received),),
        flows=(replace(flow_queue(*[10]), frames=received, lcore=2),),
        **device,
    )
    end = START + int(seconds * HZ)
    lost = {"cpu_lost_ns": int(lost_s * HZ), "cpu_lost_max_ns": int(lost_s * HZ)}
    workers = tuple(
        worker(lcore, now_tsc=end, sampled_ns=end, **(lost if lcore == 1 else {}))
        for lcore in (1, 2)
    )
    return snapshot(own, seconds=seconds, workers=workers, stop_tsc=2**63)


def ready_of(*flows):
    made = flows or (flow(measured=True),)
    return ready(look().ports, made, SETTINGS)


def rates_of(*flows, **program):
    made = ready_of(*flows)
    streams = [{"name": own.name, "fps": own.intended_fps} for own in made.flows]
    return FlowRates.of(made, {"workers": [], "streams": streams} | program)


def test_utilisation_is_busy_cycles_over_all():
    busy = utilisation(look(1.0, 0, busy_cycles=0), look(3.0, 100, busy_cycles=HZ))
    assert busy.workers == {1: 0.5, 2: 100 * 40 / (2 * HZ)}
    assert busy.senders == {1}
    assert busy.sending == 0.5


def test_utilisation_of_no_time_is_none():
    assert utilisation(look(), look()).sending == 0


def test_flows_share_the_rate_as_the_plan_has_it():
    rates = rates_of(flow(0, 300.0), flow(1, 100.0))
    assert (rates.total_fps, rates.shares) == (400.0, (0.75, 0.25))
    assert rates.at(1000.0) == [750.0, 250.0]
    assert [own.intended_fps for own in rates.ready_at(1000.0).flows] == [750.0, 250.0]


def test_unpaced_flows_share_equally():
    rates = rates_of(flow(0, None), flow(1, None))
    assert math.isinf(rates.total_fps)
    assert rates.at(math.inf) == [None, None]
    assert rates.at(10.0) == [5.0, 5.0]


def test_streams_get_their_rates_and_no_end():
    rates = rates_of(flow(0, 100.0, duration_ns=5))
    (stream,) = rates.program_at(7.0, whole_bursts=False, grown=False)["streams"]
    assert stream == {"name": "s0", "fps": 7.0, "duration_ns": None}
    assert rates.ready_at(7.0).flows[0].duration_ns is None
    (stream,) = rates.program_at(7.0, whole_bursts=True, grown=False)["streams"]
    assert stream["whole_bursts"] is True
    (stream,) = rates.program_at(math.inf, whole_bursts=True, grown=False)["streams"]
    assert "whole_bursts" not in stream, "without a rate nothing waits"


def test_ramps_are_grown_when_asked():
    rates = rates_of()
    ramp = {"flows": 300, "per_second": 10.0, "start": 1, "hold_ns": 5, "down": True}
    rates.program["streams"][0]["ramp"] = ramp
    first, later = (
        rates.program_at(7.0, whole_bursts=False, grown=grown)["streams"][0]["ramp"]
        for grown in (False, True)
    )
    assert first == ramp
    assert later == {**ramp, "start": 300, "hold_ns": None, "down": False}


@pytest.mark.parametrize(
    ("flows", "program", "words"),
    [
        ([flow(burst_frames=8)], {}, "port 0 has times of its own, or bursts"),
        ([flow(fps=None, traced=True)], {}, "times of its own"),
        ([flow(frames=77)], {}, "port 0 ends after 77 frames"),
        ([flow(0), flow(1, None)], {}, "some flows have a rate and others none"),
        ([flow()], {"captures": []}, "a capture belongs to one trial"),
    ],
)
def test_flows_without_a_rate_to_change(flows, program, words):
    with pytest.raises(PlanError, match=words):
        rates_of(*flows, **program)


def test_nothing_to_send():
    empty = ready(look().ports, (), SETTINGS)
    with pytest.raises(PlanError, match="no flow is sent"):
        FlowRates.of(empty, {"streams": []})


class Trial:
    """A trial that ends as it is told."""

    def __init__(self, ends, program, of, duration_ns):
        self.program, self.ready, self.duration_ns = program, of, duration_ns
        self.began, self.sent, self.final = look(0.0, 0), look(), look(**ends.get("final", {}))
        self.death = ends.get("death")
        self.arriving_s = None
        self.stopped = None
        self.growth = None
        self.counted = False
        self.stolen_s: dict[int, float] = {}
        self.unloaded: dict[str, Any] = {}
        self.interrupted = False
        self.on_watch = ends.get("on_watch", lambda: None)

    def stop(self):
        self.interrupted = True

    def watch(self):
        self.on_watch()
        yield self.sent


def measurer(rates=None, **ends):
    trials = []

    def load(program, of, duration_ns):
        trials.append(Trial(ends, program, of, duration_ns))
        return trials[-1]

    return TrialMeasurer(load, rates or rates_of(), 5 * MS), trials


def test_a_trial_is_a_step():
    measure, trials = measurer(final={"came": 990})
    step = measure(1000.0)
    assert (step.intended_fps, step.offered_fps, step.loss_ratio) == (1000.0, 1000.0, 0.01)
    assert (step.valid, step.reasons, step.offered) == (True, (), True)
    assert step.utilisation == pytest.approx(1000 * 50 / HZ)
    assert trials[0].duration_ns == 5 * MS
    assert trials[0].program["streams"][0]["fps"] == 1000.0
    assert measure.results[1000.0].total.lost == 10


def test_what_could_not_be_sent_is_no_invalid_step():
    measure, _ = measurer(final={"frames": 900, "frames_unsent": 100, "bursts_short": 3})
    step = measure(1000.0)
    assert (step.valid, step.reasons, step.offered) == (True, (), False)
    assert not measure.results[1000.0].verdict.valid


def test_other_reasons_make_it_invalid():
    measure, _ = measurer(final={"frames": 900, "frames_unsent": 100, "lost_s": 0.1})
    step = measure(1000.0)
    assert (step.valid, step.offered) == (False, False)
    (reason,) = step.reasons
    assert "lost its CPU for 10 % of the time (longest 100 ms" in reason


def test_nothing_sent_is_invalid():
    measure, _ = measurer(final={"frames": 0, "frames_unsent": 1000})
    assert any("no frame was sent" in reason for reason in measure(1000.0).reasons)


def test_a_step_without_a_rate_is_known_by_what_it_offered():
    measure, trials = measurer(rates_of(flow(fps=None, measured=True)))
    step = measure(math.inf)
    assert (step.offered, step.offered_fps) == (True, 1000.0)
    assert trials[0].program["streams"][0]["fps"] is None
    assert measure.results[1000.0] is measure.results[math.inf]


def test_ramps_grow_in_the_first_trial_only():
    rates = rates_of()
    rates.program["streams"][0]["ramp"] = {"flows": 9, "per_second": 1.0, "start": 1}
    measure, trials = measurer(rates)
    measure(1000.0)
    measure(1000.0)
    assert [trial.program["streams"][0]["ramp"]["start"] for trial in trials] == [1, 9]


def test_a_dead_engine_and_an_impatient_user():
    measure, _ = measurer(death="the engine was killed")
    with pytest.raises(MeasuringStoppedError, match="was killed") as stopped:
        measure(1000.0)
    assert stopped.value.ended is Ended.DIED

    def impatient():
        measure.stop()

    measure, trials = measurer(on_watch=impatient)
    with pytest.raises(MeasuringStoppedError, match="stopped by the user") as stopped:
        measure(1000.0)
    assert stopped.value.ended is Ended.INTERRUPTED
    assert trials[0].interrupted
    assert not measure.results
    with pytest.raises(MeasuringStoppedError):
        measure(1000.0)
    assert len(trials) == 1, "no trial is begun any more"


def live(before, after, fps=1000.0):
    return live_step(before, after, ready_of(), fps)


def test_an_interval_is_a_step():
    step = live(look(1.0, 1000, busy_cycles=0), look(2.0, 2000, came=1990, busy_cycles=HZ // 4))
    assert (step.offered_fps, step.utilisation, step.offered) == (1000.0, 0.25, True)
    assert step.loss_ratio == pytest.approx(0.01)
    assert step.valid


def test_more_than_was_sent_may_come():
    assert live(look(1.0, 1000, came=0), look(2.0, 2000)).loss_ratio == 0


def test_unmeasured_flows_have_no_loss():
    step = live_step(look(), look(2.0, 2000), ready_of(flow()), 1000.0)
    assert step.loss_ratio is None


@pytest.mark.parametrize(
    ("after", "offered"),
    [
        ({"frames": 101_000}, True),
        ({"frames": 100_850}, True),  # two bursts and a thousandth may be missing
        ({"frames": 100_800}, False),
        ({"frames": 101_000, "frames_unsent": 1}, False),
    ],
)
def test_what_an_interval_could_not_send(after, offered):
    assert live(look(), look(2.0, **after), 100_000.0).offered is offered


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ({"link_up": False}, "port 0: the link is down"),
        ({"link_changes": 2}, "port 0: the link changed 2 times"),
        ({"lost_s": SHARE_MAX + 0.001}, "lcore 1 lost its CPU for 2.1 % of the time"),
        (
            {"lost_s": 0.011, "frames_unsent": 1},
            "lcore 1 lost its CPU for 1.1 % of the time (longest 11 ms",
        ),
    ],
)
def test_doubts_about_an_interval(after, words):
    step = live(look(), look(2.0, 2000, **after))
    assert not step.valid
    assert words in step.reasons[0]


def test_a_gap_of_an_interval_counts_where_flows_are_measured():
    after = look(2.0, 2000, lost_s=0.011)
    assert not live(look(), after).valid
    assert live_step(look(), after, ready_of(flow()), 1000.0).valid


class LiveTrial(Trial):
    """A trial that goes on: a look for each second, 1,000 frames in each."""

    def __init__(self, ends, *arguments):
        super().__init__(ends, *arguments)
        self.engine = ends["engine"]
        self.counters = self
        self.now = 0
        self.period_s = 0.0

    def take(self):
        return look(float(self.now), 1000 * self.now)

    def watch(self):
        while not self.interrupted and self.death is None:
            self.now += 1
            yield self.take()


class Engine:
    def __init__(self, *, dead=False):
        self.rates = []
        self.dead = dead

    def set_rate(self, stream, fps):
        if self.dead:
            raise EngineDiedError("the engine was killed")
        self.rates.append((stream, fps))


@pytest.fixture
def running(monkeypatch):
    """A live measurer, its trials, its engine."""
    monkeypatch.setattr(search_trial, "_TAKE_EFFECT_S", 0.0)
    monkeypatch.setattr(search_trial, "take", lambda counters: counters.take())
    trials = []
    engine = Engine()

    def load(program, of, duration_ns):
        trials.append(LiveTrial({"engine": engine}, program, of, duration_ns))
        return trials[-1]

    rates = rates_of(flow(0, 750.0), flow(1, 250.0))
    return LiveMeasurer(load, rates, 1.0), trials, engine


def test_one_trial_is_measured_at_many_rates(running):
    measure, trials, engine = running
    assert measure(1000.0).offered_fps == 1000.0
    assert engine.rates == []
    (trial,) = trials
    assert (trial.duration_ns, trial.period_s) == (None, 1.0)
    assert [stream["fps"] for stream in trial.program["streams"]] == [750.0, 250.0]
    assert all(stream["whole_bursts"] for stream in trial.program["streams"])
    step = measure(2000.0)
    assert (step.intended_fps, step.offered_fps, step.offered) == (2000.0, 1000.0, False)
    assert engine.rates == [("s0", 1500.0), ("s1", 500.0)]
    assert len(trials) == 1
    measure.close()
    assert trial.interrupted


def test_who_measures_live_may_be_stopped(running):
    measure, trials, _ = running
    measure(1000.0)
    measure.stop()
    with pytest.raises(MeasuringStoppedError, match="stopped by the user"):
        measure(1000.0)
    assert trials[0].interrupted


def test_a_live_engine_may_die(running):
    measure, trials, engine = running
    measure(1000.0)
    trials[0].death = "the engine exited"
    with pytest.raises(MeasuringStoppedError, match="the engine exited") as stopped:
        measure(1000.0)
    assert stopped.value.ended is Ended.DIED
    engine.dead = True
    with pytest.raises(MeasuringStoppedError, match="was killed"):
        measure(1000.0)
    measure.close()
