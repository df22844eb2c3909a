# SPDX-License-Identifier: BSD-3-Clause
"""Results and verdicts: figures from made-up counters, and every reason to doubt them."""

from __future__ import annotations

import pytest

from support.made_up import FRAME, HZ, START, histogram, plan, port, rx_queue, snapshot, tx_queue
from wirerate.trial.result import percentiles, port_results
from wirerate.trial.snapshot import Worker
from wirerate.trial.verdict import judge


def result_of(made, *, fps=1000.0, limit=None, **other):
    [result] = port_results(snapshot(made, **other), [plan(made, fps)], FRAME, limit)
    return result


def verdict_of(made, *, fps=1000.0, interrupted=False, death=None, limit=None, **other):
    look = snapshot(made, **other)
    results = port_results(look, [plan(made, fps)], FRAME, limit)
    return judge(look, results, sent=None, interrupted=interrupted, death=death)


def sent(frames=1000, **other):
    return port((tx_queue(frames=frames, **other),))


def test_offered_load_is_over_the_asked_time():
    result = result_of(sent(2000), seconds=2.0)
    assert (result.seconds, result.offered_fps) == (2.0, 1000.0)


def test_a_limit_ends_with_its_last_interval():
    # 1000 frames at 1000 fps last 1 s although the last one left after 0.999 s.
    result = result_of(sent(1000, last_tsc=START + 999 * HZ // 1000), limit=1000, seconds=60.0)
    assert (result.seconds, result.offered_fps) == (1.0, 1000.0)


def test_a_limit_that_took_longer_took_longer():
    result = result_of(sent(1000, last_tsc=START + 2 * HZ), limit=1000, seconds=60.0)
    assert (result.seconds, result.offered_fps) == (2.0, 500.0)


def test_a_limit_without_a_rate_ends_with_its_last_burst():
    result = result_of(sent(1000, last_tsc=START + HZ // 2), fps=None, limit=1000, seconds=60.0)
    assert (result.seconds, result.offered_fps) == (0.5, 2000.0)


def test_queues_add_up():
    made = port((tx_queue(0, frames=600), tx_queue(1, frames=400, frames_unsent=7)))
    result = result_of(made)
    assert (result.tx_frames, result.tx_octets) == (1000, 1000 * FRAME)
    assert (result.tx_frames_unsent, result.frames_due) == (7, 1007)
    assert result.cycles_per_frame == 50


def test_forwarding_rate_is_from_first_to_last_frame_of_all_queues():
    early = rx_queue(0, frames=300, first_tsc=START, last_tsc=START + HZ)
    late = rx_queue(1, frames=700, first_tsc=START + HZ, last_tsc=START + 2 * HZ)
    idle = rx_queue(2, frames=0, first_tsc=0, last_tsc=0)
    assert result_of(port(rx=(early, late, idle))).forwarding_fps == 500.0


def test_the_first_burst_took_no_time_that_was_seen():
    queue = rx_queue(frames=11, first_frames=1)
    assert result_of(port(rx=(queue,))).forwarding_fps == 10.0


@pytest.mark.parametrize("frames", [0, 1])
def test_too_few_frames_have_no_rate(frames):
    queue = rx_queue(frames=frames, last_tsc=START)
    assert result_of(port(rx=(queue,))).forwarding_fps is None


def test_nothing_sent_divides_by_nothing():
    result = result_of(sent(0), seconds=0.0)
    assert (result.offered_fps, result.cycles_per_frame) == (0.0, None)


def test_percentiles_are_of_all_queues_together():
    merged = percentiles([histogram(10, 10, 60), histogram(10, 60, 60)], 60)
    assert (merged.p50, merged.p99, merged.maximum) == (10, 60, 60)
    assert percentiles([]).p50 is None


def test_a_port_that_does_as_asked_is_valid():
    made = port((tx_queue(),), (rx_queue(),))
    verdict = verdict_of(made)
    assert (verdict.valid, str(verdict), verdict.reasons, verdict.notes) == (True, "valid", (), ())


REASONS = {
    "stood still": (port((tx_queue(frames_unsent=5),)), None),
    "load not offered": (port((tx_queue(frames_unsent=5, frames_due=1005),)), 1005.0),
    "off the intended": (sent(1000), 2000.0),
    "no frame was sent": (sent(0), 1000.0),
    "time overrun": (sent(1000, seconds=1.1), 1000.0),
    "RxMissed": (port(rx=(rx_queue(),), imissed=3), None),
    "no mbuf; raise -M": (port(rx=(rx_queue(),), rx_nombuf=3), None),
    "damaged": (port(rx=(rx_queue(),), ierrors=3), None),
    "failed to send": (port((tx_queue(),), oerrors=3), 1000.0),
    "says it sent 999": (port((tx_queue(),), opackets=999), 1000.0),
    "says it received 1,001": (port(rx=(rx_queue(),), ipackets=1001), None),
    "link is down": (port((tx_queue(),), link_up=False), 1000.0),
    "link changed 2 times": (port((tx_queue(),), link_changes=2), 1000.0),
}


@pytest.mark.parametrize("part", REASONS)
def test_every_doubt_is_a_reason(part):
    made, fps = REASONS[part]
    verdict = verdict_of(made, fps=fps)
    assert not verdict.valid
    assert str(verdict) == "invalid"
    [reason] = [reason for reason in verdict.reasons if part in reason]
    assert reason.startswith("port 0: ")


@pytest.mark.parametrize(("frames", "valid"), [(999_001, True), (998_900, False)])
def test_offered_load_may_be_off_by_a_thousandth(frames, valid):
    assert verdict_of(sent(frames), fps=1e6).valid is valid


def test_too_few_frames_cannot_be_off():
    assert verdict_of(sent(499), fps=500.0).valid, "one frame of 500 is more than a thousandth"


def test_what_a_port_does_not_do_is_not_compared():
    assert verdict_of(port((tx_queue(),), ipackets=5)).valid, "nobody reads this port"


def test_a_dead_engine_makes_it_invalid_but_its_device_is_not_blamed():
    made = port((tx_queue(),), opackets=5, link_up=False)
    verdict = verdict_of(made, death="the engine was killed by SIGKILL (9)")
    assert len(verdict.reasons) == 1
    assert "SIGKILL" in verdict.reasons[0]


def test_notes_do_not_make_it_invalid():
    gap = Worker(1, START, 3, 2_500_000, stopped=True)
    verdict = verdict_of(sent(), fps=None, interrupted=True, workers=(gap,))
    assert verdict.valid
    assert any("stopped by the user" in note for note in verdict.notes)
    assert any("lcore 1" in note and "2.5 ms" in note for note in verdict.notes)
    assert any("no rate was asked for" in note for note in verdict.notes)
