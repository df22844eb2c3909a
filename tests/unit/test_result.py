# SPDX-License-Identifier: BSD-3-Clause
"""Results and verdicts: figures from made-up counters, and every reason to doubt them."""

from __future__ import annotations

import pytest

from support.made_up import (
    FRAME,
    HZ,
    START,
    flow,
    histogram,
    plan,
    port,
    rx_queue,
    snapshot,
    tx_queue,
    worker,
)
from wirerate.trial.cpu import cpu_use
from wirerate.trial.result import flow_results, percentiles, port_results
from wirerate.trial.verdict import Ending, judge


def flows_of(made, fps, limit=None):
    """The one flow of a port, if it sends."""
    return [flow(fps=fps, frames=limit)] if made.tx else []


def result_of(made, *, fps=1000.0, limit=None, **other):
    [result] = port_results(snapshot(made, **other), [plan(made)], flows_of(made, fps, limit))
    return result


def judged(look, flows, *, notes=(), **ending):
    return judge(
        look,
        flow_results(look, flows),
        port_results(look, [plan(made) for made in look.ports], flows),
        Ending(**ending),
        notes,
    )


def verdict_of(made, *, fps=1000.0, interrupted=False, death=None, limit=None, **other):
    look = snapshot(made, **other)
    flows = flows_of(made, fps, limit)
    return judged(look, flows, interrupted=interrupted, death=death)


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
    "is 50 % of the intended": (sent(1000), 2000.0),
    "is 0.0108 % of the intended 14.88 Mfps": (sent(1609), 14.88e6),
    "is -5 % off the intended": (sent(1900), 2000.0),
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
    gap = worker(now_tsc=START, stalls=3, stall_cycles=4_000_000, stall_max_cycles=2_500_000)
    verdict = verdict_of(sent(), fps=None, interrupted=True, workers=(gap,))
    assert verdict.valid
    assert any("stopped by the user" in note for note in verdict.notes)
    assert any(
        "3 times for over 0.1 ms (longest 2.5 ms, 4.0 ms in all)" in n for n in verdict.notes
    )
    assert any("no rate was asked for" in note for note in verdict.notes)


def two_flows(**second):
    """Two streams on queue 0: the first sends 1000 frames in 1 s, the second as told."""
    return port((tx_queue(), tx_queue(stream="s1", **second)))


def test_flows_of_one_queue_are_told_apart():
    look = snapshot(two_flows(frames=300, frames_unsent=7))
    first, second = flow_results(look, [flow(), flow(1, 307.0)])
    assert (first.tx_frames, first.tx_frames_unsent) == (1000, 0)
    assert (second.tx_frames, second.tx_frames_unsent, second.frames_due) == (300, 7, 307)
    [whole] = port_results(look, [plan(look.ports[0])], [flow(), flow(1, 307.0)])
    assert (whole.tx_frames, whole.tx_frames_unsent, whole.intended_fps) == (1300, 7, 1307.0)


def test_a_flow_is_over_all_its_queues():
    made = port((tx_queue(0, frames=600), tx_queue(1, frames=400)))
    [result] = flow_results(snapshot(made), [flow()])
    assert (result.tx_frames, result.offered_fps) == (1000, 1000.0)


@pytest.mark.parametrize(
    ("about", "seconds"),
    [
        ({"delay_ns": 400_000_000}, 1.6),
        ({"duration_ns": 500_000_000}, 0.5),
        ({"delay_ns": 400_000_000, "duration_ns": 500_000_000}, 0.5),
        ({"delay_ns": 1_900_000_000, "duration_ns": 500_000_000}, 0.1),
        ({"delay_ns": 3_000_000_000}, 0.0),
        ({"delay_ns": 400_000_000, "frames": 1000}, 1.0),
        ({"delay_ns": 400_000_000, "frames": 2000}, 1.6),
    ],
)
def test_a_flow_has_a_time_of_its_own(about, seconds):
    [result] = flow_results(snapshot(sent(1000), seconds=2.0), [flow(**about)])
    assert result.seconds == pytest.approx(seconds)
    assert result.offered_fps == pytest.approx(1000 / seconds if seconds else 0.0)


def test_a_port_sends_from_its_first_flow_to_its_last():
    look = snapshot(two_flows(), seconds=2.0)
    flows = [flow(duration_ns=500_000_000), flow(1, delay_ns=1_000_000_000)]
    [result] = port_results(look, [plan(look.ports[0])], flows)
    assert result.seconds == 2.0


def test_a_port_with_an_unpaced_flow_has_no_intended_load():
    look = snapshot(two_flows())
    [result] = port_results(look, [plan(look.ports[0])], [flow(), flow(1, None)])
    assert result.intended_fps is None


def test_each_flow_is_judged_by_its_own_name():
    look = snapshot(two_flows(frames=300, frames_unsent=7))
    flows = [flow(title="flow a"), flow(1, 307.0, title="flow b")]
    [reason] = judged(look, flows).reasons
    assert reason.startswith("flow b: load not offered: 7 of 307 frames")


@pytest.mark.parametrize(
    ("ending", "reasons"),
    [
        ({}, 1),
        ({"interrupted": True}, 0),
        ({"duration_ns": HZ}, 0),
        ({"duration_ns": 60 * HZ}, 1),
    ],
)
def test_a_number_of_frames_is_sent_unless_the_time_was_too_short(ending, reasons):
    verdict = judged(snapshot(sent(1000)), [flow(frames=2000)], **ending)
    assert len(verdict.reasons) == reasons
    assert all("1,000 of 2,000 frames were sent" in reason for reason in verdict.reasons)


def test_late_frames_of_a_number_are_a_reason():
    late = snapshot(sent(1000, lateness_max_cycles=12_300_000))
    [reason] = judged(late, [flow(frames=1000)]).reasons
    assert reason == "port 0: schedule not kept: a frame left 12.3 ms late"
    assert judged(snapshot(sent(1000, lateness_max_cycles=9_000_000)), [flow(frames=1000)]).valid
    assert judged(late, [flow(fps=None, frames=1000)]).valid, "unpaced, nothing is late"
    assert judged(late, [flow()]).valid, "the engine gives up what is later, and that is told"


def test_a_number_of_frames_is_given_up_later():
    look = snapshot(sent(990, frames_unsent=10, frames_due=1000))
    [reason] = judged(look, [flow(frames=1000)]).reasons
    assert "lost its CPU for over 1000 ms" in reason
    [reason] = judged(look, [flow()]).reasons
    assert "lost its CPU for over 10 ms" in reason


def test_not_a_frame_more_than_asked_for():
    [reason] = judged(snapshot(sent(1001)), [flow(frames=1000)]).reasons
    assert "1,001 frames were sent, but 1,000 were asked for" in reason


def test_bursts_are_compared_by_whole_bursts():
    # 100 bursts of 100 frames in 9.9 s, the last of them just begun: by the mean, 9,900 were due.
    look = snapshot(sent(10_000), seconds=9.9)
    assert not judged(look, [flow()]).valid
    assert judged(look, [flow(burst_frames=100)]).valid


def test_a_trace_with_its_own_times_has_no_rate_to_compare():
    verdict = judged(snapshot(sent(1000)), [flow(fps=None, traced=True)])
    assert (verdict.valid, verdict.notes) == (True, ())
    late = judged(
        snapshot(sent(1000, frames_unsent=3, frames_due=1003)), [flow(fps=None, traced=True)]
    )
    assert "load not offered: 3 of 1,003 frames" in late.reasons[0]


def test_a_flow_whose_start_never_came():
    verdict = judged(snapshot(sent(0)), [flow(delay_ns=5 * HZ)])
    assert verdict.valid
    assert "the run ended before its delay was over" in verdict.notes[0]


def test_a_flow_that_went_on_after_its_own_end():
    look = snapshot(sent(500, seconds=0.6), seconds=2.0)
    reasons = judged(look, [flow(duration_ns=500_000_000)]).reasons
    assert any("time overrun: the last frame left 100.0 ms late" in reason for reason in reasons)


def test_notes_of_many_flows_are_one():
    made = port(tuple(tx_queue(frames=10, stream=f"s{index}") for index in range(9)))
    flows = [flow(index, 10.0, title=f"flow {index}") for index in range(9)]
    notes = judged(snapshot(made), flows, notes=["said before"]).notes
    assert notes[0] == "said before"
    assert notes[1] == (
        "flow 0, flow 1, flow 2 and 6 more: too few frames to check the rate to 0.1 %"
    )


def test_cpu_time_is_that_of_the_sending():
    began = snapshot(sent(0, busy_cycles=0), seconds=0.0, cpu_ns=HZ)
    ended = snapshot(
        port((tx_queue(busy_cycles=HZ // 10),), (rx_queue(busy_cycles=HZ // 10),)),
        seconds=2.0,
        cpu_ns=HZ + HZ // 5,
    )
    use = cpu_use(began, ended)
    assert use.share == pytest.approx(0.1)
    [(lcore, busy)] = use.busy
    assert lcore == 1
    assert busy == pytest.approx(0.1)


def test_cpu_time_of_next_to_no_time_is_not_known():
    look = snapshot(sent())
    assert cpu_use(look, look).share is None
    assert cpu_use(None, look).busy == ()


def test_sent_and_received_are_compared_where_somebody_receives():
    made = port((tx_queue(), tx_queue(stream="s1", frames=50)), (rx_queue(frames=990),))
    flows = [flow(), flow(1, 50.0, expected=False)]
    notes = judged(snapshot(made), flows).notes
    assert any(note.startswith("10 fewer frames were received than sent") for note in notes)
