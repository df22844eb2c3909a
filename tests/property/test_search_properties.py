# SPDX-License-Identifier: BSD-3-Clause
"""Searches on devices whose capacity is known: they end, near it, whatever the device does."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirerate.search.bisection import AGREEING, ATTEMPTS
from wirerate.search.converge_cpu import FULL, converge_cpu
from wirerate.search.converge_loss import converge_loss
from wirerate.search.drive import run_search
from wirerate.search.step import Bounds, Ended, Judgement, MeasuringStoppedError, Step

if TYPE_CHECKING:
    from wirerate.search.step import Progress, Search

LINE_FPS = 14.88e6
MAX_STEPS = 80
capacities = st.floats(1e3, 0.9 * LINE_FPS)
tolerances = st.sampled_from([0.003, 0.01, 0.03])
seeds = st.integers(0, 2**32)


@dataclass
class Device:
    """Forwards up to ``capacity`` [fps], give or take ``noise`` [ratio].

    ``collapse``: of what is too much, so many times as much is lost besides. ``sender`` [fps] is
    the most that can be sent. ``invalid`` is the probability of an invalid step; ``glitches`` are
    numbers of steps that go wrong: what is below seems above, and the other way round.
    """

    capacity: float
    noise: float = 0.0
    collapse: float = 0.0
    sender: float = math.inf
    invalid: float = 0.0
    glitches: frozenset[int] = frozenset()
    seed: int = 0
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self):
        self.random = random.Random(self.seed)

    def measure(self, fps: float) -> Step:
        offered = min(fps, self.sender)
        now = self.capacity * (1 + self.random.uniform(-self.noise, self.noise))
        if len(self.steps) in self.glitches:
            now = 2 * LINE_FPS if offered > now else offered / 2
        over = max(0.0, offered - now)
        lost = min(offered, over * (1 + self.collapse))
        step = Step(
            intended_fps=fps,
            offered_fps=offered,
            loss_ratio=lost / offered,
            utilisation=min(1.0, FULL * offered / now),
            valid=self.random.random() >= self.invalid,
            reasons=("the link is down",),
            offered=math.isinf(fps) or offered >= fps * 0.999,
        )
        self.steps.append(step)
        return step


def ended(search: Search, limit: int = MAX_STEPS) -> tuple[Any, list[Progress]]:
    """The outcome, and all progress; never more steps than allowed."""
    seen: list[Progress] = []
    outcome = run_search(search, seen.append)
    assert len(seen) <= limit
    assert [progress.number for progress in seen] == list(range(1, len(seen) + 1))
    for progress in seen:
        assert progress.bounds.lower_fps <= progress.bounds.upper_fps
    return outcome, seen


@given(capacities, tolerances, st.floats(0, 20), st.sampled_from([LINE_FPS, math.inf]))
def test_loss_finds_a_steady_capacity(capacity, tolerance, collapse, most):
    device = Device(capacity, collapse=collapse, sender=LINE_FPS)
    outcome, seen = ended(converge_loss(device.measure, Bounds(1.0, most), tolerance))
    assert outcome.ended is Ended.CONVERGED
    assert capacity * (1 - tolerance) * 0.9999 <= outcome.fps <= capacity * 1.0001
    assert outcome.step.loss_ratio == 0
    assert sum(step.intended_fps == outcome.fps for step in device.steps) >= AGREEING
    if collapse == 0:
        assert len(seen) <= 8, "a trial at the most tells where to look"


@given(capacities, st.floats(0.001, 0.2), tolerances)
def test_loss_that_is_allowed_is_used(capacity, max_loss, tolerance):
    device = Device(capacity)
    search = converge_loss(device.measure, Bounds(1.0, LINE_FPS), tolerance, max_loss)
    outcome, _ = ended(search)
    limit = min(LINE_FPS, capacity / (1 - max_loss))
    assert limit * (1 - tolerance) * 0.9999 <= outcome.fps <= limit * 1.0001


@given(capacities, seeds, st.floats(0.001, 0.02))
def test_loss_with_noise_ends_within_it(capacity, seed, noise):
    device = Device(capacity, noise=noise, seed=seed)
    outcome, seen = ended(converge_loss(device.measure, Bounds(1.0, LINE_FPS), 0.01))
    assert outcome.ended is Ended.CONVERGED
    assert len(seen) <= 60  # most end after 25; a capacity far below the line takes more
    assert capacity * (1 - 3 * noise - 0.03) <= outcome.fps <= capacity * (1 + noise)


@given(capacities, st.floats(0.1, 0.9))
def test_what_cannot_be_sent_is_not_found(capacity, share):
    """The sender is the limit: no step is above for its loss, and the result is what is sent."""
    device = Device(capacity, sender=capacity * share)
    outcome, seen = ended(converge_loss(device.measure, Bounds(1.0, LINE_FPS), 0.01))
    assert outcome.ended is Ended.CONVERGED
    assert outcome.fps == pytest.approx(capacity * share, rel=0.011)
    assert not any(p.step.loss_ratio for p in seen)


@given(capacities, st.integers(0, 20), st.sampled_from([0.0, 0.5, 20.0]))
def test_one_slip_does_no_harm_to_loss(capacity, at, collapse):
    device = Device(capacity, collapse=collapse, glitches=frozenset({at}))
    outcome, _ = ended(converge_loss(device.measure, Bounds(1.0, LINE_FPS), 0.01))
    assert outcome.ended is Ended.CONVERGED
    assert outcome.fps == pytest.approx(capacity, rel=0.021)


@given(capacities, seeds, st.floats(0, 1), st.booleans())
def test_invalid_steps_are_never_used(capacity, seed, invalid, cpu):
    device = Device(capacity, invalid=invalid, seed=seed)
    bounds = Bounds(1.0, LINE_FPS)
    search = (
        converge_cpu(device.measure, 1, bounds) if cpu else converge_loss(device.measure, bounds)
    )
    outcome, seen = ended(search)
    for progress in seen:
        assert (progress.judgement is Judgement.INVALID) == (not progress.step.valid)
        assert progress.found is None or progress.found.valid
    if outcome.ended is Ended.INVALID:
        assert [p.judgement for p in seen[-ATTEMPTS:]] == [Judgement.INVALID] * ATTEMPTS
        assert len({p.step.intended_fps for p in seen[-ATTEMPTS:]}) == 1
        assert "the link is down" in outcome.reason
    else:
        assert outcome.ended is Ended.CONVERGED
        assert outcome.fps == pytest.approx(capacity, rel=0.011)


@given(seeds, st.integers(1, 30), st.booleans())
def test_madness_ends(seed, most_steps, cpu):
    """A device that answers at random."""
    chance = random.Random(seed)

    def measure(fps):
        return Step(fps, fps, chance.choice([0.0, 0.5]), chance.random(), chance.random() < 0.9)

    bounds = Bounds(1.0, LINE_FPS)
    search = (
        converge_cpu(measure, 1, bounds, max_steps=most_steps)
        if cpu
        else converge_loss(measure, bounds, max_steps=most_steps)
    )
    ended(search, most_steps)


@given(capacities, tolerances, st.sampled_from([LINE_FPS, math.inf]))
def test_cpu_ends_at_the_limit(capacity, tolerance, most):
    device = Device(capacity)
    outcome, _ = ended(converge_cpu(device.measure, 1, Bounds(1.0, most), tolerance))
    assert outcome.ended is Ended.CONVERGED
    assert capacity * (1 - tolerance) * 0.9999 <= outcome.fps <= capacity * 1.0001
    assert FULL * (1 - tolerance) * 0.9999 <= outcome.step.utilisation <= FULL


@given(capacities, seeds, st.floats(0.001, 0.01))
def test_cpu_with_noise_ends_near_the_limit(capacity, seed, noise):
    device = Device(capacity, noise=noise, seed=seed)
    outcome, _ = ended(converge_cpu(device.measure, 1, Bounds(1.0, LINE_FPS)))
    assert outcome.ended is Ended.CONVERGED
    assert outcome.fps == pytest.approx(capacity, rel=3 * noise + 0.03)


@given(capacities, st.integers(0, 20))
def test_one_slip_does_no_harm_to_cpu(capacity, at):
    device = Device(capacity, glitches=frozenset({at}))
    outcome, _ = ended(converge_cpu(device.measure, 1, Bounds(1.0, LINE_FPS)))
    assert outcome.ended is Ended.CONVERGED
    assert outcome.fps == pytest.approx(capacity, rel=0.06)


@given(capacities, st.floats(0.3, 0.8))
def test_cpu_knows_what_was_not_sent(capacity, share):
    device = Device(capacity, sender=capacity * share)
    outcome, _ = ended(converge_cpu(device.measure, 1, Bounds(1.0, LINE_FPS)))
    assert outcome.ended is Ended.CONVERGED
    assert outcome.fps == pytest.approx(capacity * share, rel=0.02)


@given(capacities, st.floats(0.2, 3.0))
def test_cpu_follows_what_changes(capacity, factor):
    device = Device(capacity)
    search: Any = converge_cpu(device.measure, 1, Bounds(1.0, 10 * LINE_FPS), follow=True)
    for _ in range(60):
        before = next(search)
    assert before.found.intended_fps == pytest.approx(capacity, rel=0.011)
    device.capacity *= factor
    for _ in range(60):
        after = next(search)
    assert after.found.intended_fps == pytest.approx(device.capacity, rel=0.05)
    assert after.step.utilisation <= FULL


def test_following_a_steady_device_stays_where_it_is():
    device = Device(5e6)
    search = converge_cpu(device.measure, 1, Bounds(1.0, LINE_FPS), follow=True)
    rates = [next(search).step.intended_fps for _ in range(100)]
    assert len(set(rates[40:])) == 1


@pytest.mark.parametrize("cpu", [False, True])
def test_bounds_are_results_too(cpu):
    def search(device, bounds):
        measure = device.measure
        return converge_cpu(measure, 1, bounds) if cpu else converge_loss(measure, bounds)

    most, _ = ended(search(Device(2 * LINE_FPS), Bounds(1.0, LINE_FPS)))
    assert (most.ended, most.fps) == (Ended.MAXIMUM, LINE_FPS)
    assert "14,880,000 frames/s" in most.reason
    least, _ = ended(search(Device(1000.0), Bounds(2000.0, LINE_FPS)))
    assert (least.ended, least.fps) == (Ended.MINIMUM, None)
    assert "2,000 frames/s" in least.reason


def test_time_is_kept():
    device = Device(5e6)
    clock = iter(float(second) for second in range(100))
    outcome: Any = run_search(
        converge_loss(device.measure, Bounds(1.0, LINE_FPS)),
        lambda _: None,
        3.5,
        lambda: next(clock),
    )
    assert outcome.ended is Ended.TIME
    assert len(device.steps) == 3
    assert outcome.bounds.upper_fps < LINE_FPS


def test_who_measures_may_stop():
    device = Device(5e6)

    def measure(fps):
        if len(device.steps) == 4:
            raise MeasuringStoppedError(Ended.INTERRUPTED, "stopped by the user")
        return device.measure(fps)

    seen: list[Any] = []
    outcome: Any = run_search(converge_loss(measure, Bounds(1.0, LINE_FPS)), seen.append)
    assert (outcome.ended, outcome.reason) == (Ended.INTERRUPTED, "stopped by the user")
    assert outcome.fps == seen[-1].found.intended_fps


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 1.0), (2.0, 1.0), (math.nan, 1.0)])
def test_bounds_that_hold_nothing(lower, upper):
    with pytest.raises(ValueError, match="bounds"):
        Bounds(lower, upper)
