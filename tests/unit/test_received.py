# SPDX-License-Identifier: BSD-3-Clause
"""What came back of measured flows, and what makes it doubtful: from made-up counters."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from support.made_up import (
    FRAME,
    HZ,
    REPLIES,
    START,
    flow,
    flow_queue,
    plan,
    port,
    rx_queue,
    snapshot,
    tx_queue,
    worker,
)
from wirerate.trial.cpu import cpu_use
from wirerate.trial.result import flow_results, port_results, total_received
from wirerate.trial.rx_times import rx_clock
from wirerate.trial.verdict import Ending, judge


def back_of(*queues, sent=1000, hz=HZ, floor_ns=0.0, elsewhere=(), **planned):
    """What came back of one flow that port 0 sent and port 1 was to receive."""
    ports = (
        port((tx_queue(frames=sent),), flows=elsewhere),
        port(rx=(rx_queue(),), name="p1", flows=queues),
    )
    asked = replace(flow(measured=True, rx_ports=(1,)), **planned)
    look = snapshot(*ports, tsc_hz=hz)
    return flow_results(look, [asked], floor_ns)[0].received


def test_an_unmeasured_flow_has_nothing_to_tell():
    assert back_of(flow_queue(5), measured=False) is None


def test_loss_is_sent_minus_received_and_duplicates_are_received_once():
    back = back_of(flow_queue(*[7] * 990, frames=993, duplicates=3, reordered=5, too_late=2))
    assert (back.sent, back.frames, back.lost, back.loss_ratio) == (1000, 990, 10, 0.01)
    assert (back.duplicates, back.reordered, back.too_late) == (3, 5, 2)


def test_copies_at_another_receiver_are_duplicates():
    queues = (flow_queue(*[7] * 500), flow_queue(*[9] * 500, copies=500, queue=1))
    back = back_of(*queues)
    assert (back.frames, back.lost, back.duplicates) == (500, 500, 500)


def test_impossible_frames_are_in_no_other_figure():
    back = back_of(flow_queue(5, impossible=3), elsewhere=(flow_queue(impossible=4),), sent=1)
    assert (back.frames, back.lost, back.misdirected, back.impossible) == (1, 0, 0, 7)


def test_nothing_sent_has_no_loss_ratio():
    back = back_of(sent=0)
    assert (back.lost, back.loss_ratio, back.first_s, back.forwarding_fps) == (0, None, None, None)
    assert (back.latency.count, back.latency.p50, back.jitter.ipdv_mean) == (0, None, None)


def test_queues_and_parts_add_up():
    one = flow_queue(10, 20, queue=0, first_tsc=START + HZ // 4, last_tsc=START + HZ)
    two = flow_queue(30, 70, 50, queue=1, last_tsc=START + HZ // 2, reordered=1)
    back = back_of(one, two, flow_queue(queue=2, first_tsc=0, last_tsc=0), sent=5)
    assert (back.frames, back.octets, back.reordered) == (5, 5 * FRAME, 1)
    assert (back.first_s, back.last_s, back.forwarding_fps) == (0.0, 1.0, 4.0)
    late = back.latency
    assert (late.count, late.minimum, late.mean, late.p50, late.maximum) == (5, 10, 36, 30, 70)
    # Each queue has latencies that follow each other: 10, 40 and 20 apart.
    assert back.jitter.ipdv_mean == pytest.approx(70 / 3)
    assert back.jitter.pdv_p99_9 == 60


def test_what_arrives_elsewhere_is_misdirected_and_lost():
    back = back_of(flow_queue(*[5] * 6), elsewhere=(flow_queue(9, 9),), sent=8)
    assert (back.frames, back.lost, back.misdirected, back.latency.maximum) == (6, 2, 2, 5)


def test_without_receivers_any_port_will_do():
    back = back_of(flow_queue(5), elsewhere=(flow_queue(9),), sent=2, rx_ports=())
    assert (back.frames, back.misdirected) == (2, 0)


def test_flows_are_told_apart():
    look = snapshot(port((tx_queue(frames=2),), flows=(flow_queue(5), flow_queue(9, stream="s1"))))
    plans = [flow(index, measured=True, rx_ports=(0,)) for index in range(2)]
    first, second = (each.received for each in flow_results(look, plans))
    assert first is not None
    assert second is not None
    assert (first.frames, first.lost, first.latency.mean) == (1, 1, 5)
    assert (second.sent, second.frames, second.latency.mean) == (0, 1, 9)


def test_percentiles_agree_with_a_sorted_list():
    made = random.Random(4)  # the same in every run
    latencies = sorted(int(made.lognormvariate(9, 1.5)) for _ in range(20_000))
    late = back_of(flow_queue(*latencies), sent=20_000).latency
    told = {50: late.p50, 90: late.p90, 99: late.p99, 99.9: late.p99_9, 99.99: late.p99_99}
    for percent, value in told.items():
        exact = latencies[math.ceil(len(latencies) * percent / 100 - 1e-9) - 1]
        assert value == pytest.approx(exact, rel=0.001)
    assert (late.minimum, late.maximum) == (latencies[0], latencies[-1])


def test_percentiles_lie_within_what_was_seen():
    late = back_of(flow_queue(1_000_003, 1_000_003)).latency
    assert {late.p50, late.p99_99, late.minimum, late.maximum} == {1_000_003}


def test_cycles_become_nanoseconds():
    back = back_of(flow_queue(500, 1000), hz=5 * 10**8)
    assert (back.latency.minimum, back.latency.maximum, back.jitter.ipdv_mean) == (1000, 2000, 1000)


def test_a_floor_is_taken_off_latencies_but_not_off_jitter():
    back = back_of(flow_queue(100, 300, 200), floor_ns=150.0)
    late = back.latency
    assert (late.minimum, late.mean, late.maximum, late.floor_ns) == (0, 50, 150, 150)
    assert (back.jitter.ipdv_mean, back.jitter.pdv_p99_9) == (150, 200)


def measured_pair():
    """Two measured flows on one port, and one that is not."""
    queues = tuple(tx_queue(frames=frames, stream=f"s{n}") for n, frames in enumerate((10, 20, 30)))
    flows = (
        flow_queue(1, 2, 3, first_tsc=START + 100),
        flow_queue(5, 7, stream="s1", last_tsc=START + 2 * HZ),
    )
    plans = [flow(n, measured=n < 2, rx_ports=(0,)) for n in range(3)]
    return snapshot(port(queues, (rx_queue(),), flows=flows)), plans


def test_the_total_is_of_all_measured_flows():
    look, plans = measured_pair()
    total = total_received(look, flow_results(look, plans))
    assert total is not None
    assert (total.sent, total.frames, total.lost, total.loss_ratio) == (30, 5, 25, 25 / 30)
    assert (total.first_s, total.last_s, total.latency.p50, total.latency.count) == (0, 2, 3, 5)
    assert total_received(look, flow_results(look, plans[2:])) is None


def judged(look, plans, **ending):
    flows = flow_results(look, plans)
    return judge(
        look,
        flows,
        port_results(look, [plan(made) for made in look.ports], plans),
        Ending(**ending),
    )


def trial(*latencies, sent=None, workers=(), device=None, rx=None, expected=True, **other):
    """A trial of a ring with one measured flow, as long as nothing else is said."""
    sent = len(latencies) if sent is None else sent
    own = {"frames": len(latencies)} | (rx or {})
    made = port(
        (tx_queue(frames=sent),),
        (rx_queue(**own),),
        flows=(flow_queue(*latencies),),
        **(device or {}),
    )
    look = snapshot(made, workers=workers or (worker(),), **other)
    return look, [flow(fps=float(sent), measured=True, rx_ports=(0,), expected=expected)]


FEW = tuple(range(100, 1100))


def test_a_floor_above_latencies_is_noted_or_refuted():
    def told(floor_ns):
        look, plans = trial(*FEW)
        flows = flow_results(look, plans, floor_ns)
        ports = port_results(look, [plan(look.ports[0])], plans)
        return judge(look, flows, ports, Ending())

    assert told(100.0).notes == told(100.0).reasons == ()
    few, many = told(110.0), told(111.0)
    says = "frames (1 %) had a latency below the floor of 110 ns, 100 ns at the least; they count"
    assert few.reasons == ()
    assert len(few.notes) == 1
    assert f"10 {says} as 0" in few.notes[0]
    assert many.notes == ()
    assert "--floor is too high: 11 frames (1.1 %)" in many.reasons[0]


def test_a_measured_trial_is_valid():
    verdict = judged(*trial(*FEW))
    assert (verdict.reasons, verdict.notes) == ((), ())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"too_late": 3}, "3 frames were too late (more than 65,536 frames behind) to know"),
        ({"impossible": 2}, "2 frames had a stamp that the sender cannot have written"),
    ],
)
def test_what_is_not_known_or_cannot_be_is_a_reason(words, says):
    look, plans = trial(*FEW)
    queue = replace(look.ports[0].flows[0], **words)
    look = replace(look, ports=(replace(look.ports[0], flows=(queue,)),))
    [reason] = judged(look, plans).reasons
    assert says in reason


def test_loss_duplicates_and_order_are_no_reasons():
    look, plans = trial(*FEW, sent=2000)
    queue = replace(look.ports[0].flows[0], reordered=9, duplicates=100)
    look = replace(look, ports=(replace(look.ports[0], flows=(queue,)),))
    verdict = judged(look, plans)
    assert (verdict.reasons, verdict.notes) == ((), ())


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"workers": (worker(3, cpu_lost_max_ns=200 * 10**6),)}, "(longest 200 ms, "),
        ({"clock_error_ns": 1_000_001}, "clock unsteady: the TSC and the kernel's clock came 1 ms"),
        ({"clock_drift_ns": 1_494_000}, "clock unsteady: the TSC ran 1,494 ppm off the frequency"),
        (
            {"clock_drift_ns": 21_000, "clock_watched_ns": 10**8},
            "clock unsteady: the TSC ran 210 ppm off",
        ),
        ({"time_jump_ns": 10_000_001}, "the system's clock was set during the run, by 10 ms"),
        ({"device": {"socket_drops": 5}}, "port 0: receiver dropped 5 frames: the kernel's socket"),
        ({"device": {"imissed": 5}}, "port 0: receiver dropped 5 frames: no free Rx descriptor"),
        ({"sent": 999}, "1,000 frames were received, but 999 sent: stamps of another run"),
    ],
)
def test_each_doubt_is_a_reason(changes, says):
    reasons = judged(*trial(*FEW, **changes)).reasons
    assert any(says in reason for reason in reasons), reasons


@pytest.mark.parametrize(
    "changes",
    [
        {"workers": (worker(3, cpu_lost_max_ns=10**7),)},
        {"clock_error_ns": 1_000_000},
        {"clock_drift_ns": 200_000},
        {"clock_drift_ns": 2_000_000, "clock_watched_ns": 10**10},
        {"clock_drift_ns": 20_000, "clock_watched_ns": 10**6},
        {"time_jump_ns": 10**7},
    ],
)
def test_a_little_is_no_reason(changes):
    reasons = judged(*trial(*FEW, **changes)).reasons
    assert not any("lcore" in reason or "clock" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("device", "says"),
    [
        ({"ipackets": 1007, "uncertain_frames": 7}, None),
        ({"ipackets": 1000, "uncertain_frames": 7}, None),
        ({"ipackets": 1250, "drained_frames": 250}, None),
        ({"ipackets": 1257, "drained_frames": 250, "uncertain_frames": 7}, None),
        ({"ipackets": 1001}, "received 1,001 frames, 1,000 were read from it"),
        ({"ipackets": 999, "uncertain_frames": 7}, "received 999 frames, 1,000 were read from it"),
        (
            {"ipackets": 1258, "drained_frames": 250, "uncertain_frames": 7},
            "received 1,258 frames, 1,250 were read from it",
        ),
        ({"opackets": 999}, "sent 999 frames, 1,000 were handed to it"),
    ],
)
def test_the_devices_counters_are_compared_as_far_as_time_explains(device, says):
    """Frames that arrive after the end, or while the counters are read, speak against nothing."""
    verdict = judged(*trial(*FEW, device=device))
    assert verdict.valid == (says is None), verdict.reasons
    assert says is None or any(says in reason for reason in verdict.reasons)


def test_frames_that_still_arrive_are_a_reason():
    reasons = judged(*trial(*FEW), arriving_s=2.004).reasons
    [reason] = reasons
    assert reason.startswith("frames were still arriving 2 s after the end of sending")


@pytest.mark.parametrize(
    ("away_ms", "sent", "lcore", "doubtful"),
    [(5, 400_000, 1, True), (3, 400_000, 1, False), (5, 300_000, 1, False), (5, 400_000, 2, False)],
)
def test_loss_while_a_full_ring_was_not_emptied_may_be_ours(away_ms, sent, lcore, doubtful):
    """300,000 frames/s fill 1,024 descriptors in 3.4 ms."""
    received = 300_000
    queue = flow_queue(
        9, frames=received, octets=received * FRAME, latency_count=received, latency_sum_cycles=9
    )
    made = port((tx_queue(frames=sent),), (rx_queue(frames=received),), flows=(queue,))
    away = worker(lcore, cpu_lost_max_ns=away_ms * 10**6)
    look = snapshot(made, workers=(away,))
    reasons = judged(look, [flow(fps=float(sent), measured=True, rx_ports=(0,))]).reasons
    told = [reason for reason in reasons if "Rx queue 0 of port 0 is full after 3.41 ms" in reason]
    assert bool(told) == doubtful
    assert len(reasons) == len(told)


def test_unmeasured_trials_have_unsent_frames_to_tell():
    look, plans = trial(*FEW, workers=(worker(3, cpu_lost_max_ns=200 * 10**6),))
    assert not judged(look, plans).valid
    assert judged(look, [replace(plans[0], measured=False)]).valid


def test_the_link_of_a_receiver_counts_where_a_flow_is_measured():
    def verdict(measured):
        ports = (
            port((tx_queue(),)),
            port(rx=(rx_queue(),), name="p1", flows=(flow_queue(1),), link_changes=2),
        )
        plans = [flow(measured=measured, rx_ports=(1,))]
        return judged(snapshot(*ports), plans)

    assert verdict(measured=True).reasons == ("port 1: the link changed 2 times",)
    unmeasured = verdict(measured=False)
    assert unmeasured.reasons == ()
    assert "port 1: the link changed 2 times: the peer left or came again" in unmeasured.notes


def test_frames_of_others_and_damage_are_notes():
    verdict = judged(
        *trial(*FEW, rx={"foreign_frames": 3, "strange_frames": 2, "damaged_frames": 1})
    )
    assert verdict.valid
    assert verdict.notes == (
        "port 0: 1 frames arrived with a wrong checksum or length",
        "port 0: 3 frames without a stamp of this run arrived",
        "port 0: 2 frames with the stamp of no flow of this run arrived",
    )


@pytest.mark.parametrize(
    ("own", "bad", "clock"), [(0, 0, "device"), (9, 0, "device"), (0, 9, "tsc"), (8, 1, "mixed")]
)
def test_a_device_without_usable_times_is_not_said_to_have_measured(own, bad, clock):
    look, plans = trial(*FEW, rx={"own_times": own, "bad_times": bad})
    verdict = judged(look, plans)
    assert rx_clock("device", look.ports[0]) == clock
    said = f"port 0: {bad} of {own + bad} measured frames had no usable time of the device"
    assert any(note.startswith(said) for note in verdict.notes) == (clock == "tsc")
    assert any(reason.startswith(said) for reason in verdict.reasons) == (clock == "mixed")
    assert verdict.valid == (clock != "mixed")


def test_misdirected_frames_are_a_note():
    ports = (port((tx_queue(),), flows=(flow_queue(1, 2),)), port(rx=(rx_queue(),), name="p1"))
    verdict = judged(snapshot(*ports), [flow(measured=True, rx_ports=(1,))])
    assert "port 0: 2 frames arrived at a port that is not among its receivers" in verdict.notes[0]


def test_a_balance_is_struck_only_where_a_flow_is_not_measured():
    look, plans = trial(*FEW, sent=1500)
    assert judged(look, plans).notes == ()
    both = [*plans, flow(1, title="flow 1", fps=0.0)]
    assert any("which ones is not looked into" in note for note in judged(look, both).notes)


def test_answers_are_not_frames_that_appeared():
    look, plans = trial(*FEW, device={"opackets": 1003})
    assert "it sent 1,003 frames, 1,000 were handed to it" in judged(look, plans).reasons[0]
    look = replace(look, ports=(replace(look.ports[0], replies=REPLIES),))
    assert judged(look, plans).valid


def test_answering_makes_an_lcore_busy():
    before, after = (
        snapshot(replace(port(), replies=replace(REPLIES, busy_cycles=busy)), seconds=seconds)
        for busy, seconds in ((0, 1.0), (HZ // 4, 2.0))
    )
    assert cpu_use(before, after).busy == ((1, 0.25),)


def test_a_dead_engine_may_have_received_more_than_it_said_it_sent():
    look, plans = trial(*FEW, sent=999)
    assert not any("stamps" in reason for reason in judged(look, plans, death="died").reasons)
