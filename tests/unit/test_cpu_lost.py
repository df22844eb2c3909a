# SPDX-License-Identifier: BSD-3-Clause
"""The rule about lcores that lose their CPU, over made-up evidence; and what results say of it."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from support.made_up import (
    FRAME,
    HZ,
    START,
    flow,
    flow_queue,
    plan,
    port,
    ready,
    result,
    rx_queue,
    snapshot,
    tx_queue,
    worker,
)
from wirerate.cli import perf_args
from wirerate.cli.main import parse
from wirerate.host.cpu_time import stolen_s
from wirerate.report import perf_json, perf_text, run_json
from wirerate.trial.cpu import CpuUse
from wirerate.trial.cpu_lost import (
    GAP_MAX_S,
    SHARE_MAX,
    Duty,
    LcoreTime,
    all_times,
    duties_of,
    lcore_times,
    lost_reasons,
    lost_too_much,
    stolen_notes,
)
from wirerate.trial.result import flow_results, port_results
from wirerate.trial.verdict import Ending, judge

MS = 1_000_000
SETTINGS = perf_args.settings_from_args(parse(["perf", "ring:a"]), range(8))
JUDGED_BY_SHARE = (Duty.UNPACED, Duty.RECEIVES, Duty.FORWARDS, Duty.TIMED)
JUDGED_BY_GAP = (Duty.RECEIVES, Duty.MEASURED, Duty.FORWARDS)
ALL = Duty.UNPACED | Duty.RECEIVES | Duty.MEASURED | Duty.FORWARDS | Duty.TIMED


def time(share=0.0, longest_s=0.0, seconds=1.0):
    return LcoreTime(1, seconds, share * seconds, longest_s)


@pytest.mark.parametrize("duty", list(Duty))
def test_a_share_of_the_time(duty):
    assert lost_too_much(time(SHARE_MAX + 0.001), duty) == (duty in JUDGED_BY_SHARE)
    assert not lost_too_much(time(SHARE_MAX), duty)


@pytest.mark.parametrize("duty", list(Duty))
def test_a_single_gap(duty):
    assert lost_too_much(time(0.001, GAP_MAX_S + 0.001), duty) == (duty in JUDGED_BY_GAP)
    assert not lost_too_much(time(0.001, GAP_MAX_S), duty)


@pytest.mark.parametrize(
    ("share", "longest_s"),
    [(0.0, 0.0), (0.0002, 0.00005), (0.002, 0.0011), (0.006, 0.004)],  # little
)
def test_a_quiet_machine_is_no_reason_whatever_the_lcore_does(share, longest_s):
    assert not list(lost_reasons([time(share, longest_s)], {1: ALL}))


def test_an_lcore_without_a_duty_may_lose_all():
    assert not lost_too_much(time(1.0, 9.0), Duty.NONE)
    assert not list(lost_reasons([time(1.0, 9.0)], {2: ALL}))


@pytest.mark.parametrize(
    ("duty", "says"),
    [
        (Duty.UNPACED, "it sent less than it could, by about as much"),
        (Duty.RECEIVES, "what arrived waited for the tester, or was dropped by it"),
        (Duty.MEASURED, "what was due left late or never"),
        (Duty.FORWARDS, "frames were held up here, or lost"),
        (Duty.TIMED, "it was neither busy nor idle then"),
    ],
)
def test_a_reason_says_what_is_wrong_and_what_to_do(duty, says):
    (reason,) = lost_reasons([time(0.748, 0.0336, 5.0)], {1: duty})
    assert reason.startswith(
        "lcore 1 lost its CPU for 74.8 % of the time (longest 33.6 ms, 3.74 s in all): "
    )
    assert says in reason
    assert "wirerate doctor" in reason


def looks(**lost):
    """Two looks a second apart at one worker."""
    was = worker(cpu_lost_ns=300 * MS, cpu_lost_max_ns=7 * MS)
    now = replace(was, **{"sampled_ns": START + 2 * HZ, **lost})
    return snapshot(port(), workers=(was,)), snapshot(port(), workers=(now,))


def test_what_was_lost_before_does_not_count():
    (found,) = lcore_times(*looks())
    assert found == LcoreTime(1, 1.0, 0.0, 0.0)
    (found,) = lcore_times(*looks(cpu_lost_ns=304 * MS))
    assert found == LcoreTime(1, 1.0, 0.004, 0.004), "it may have been one gap"
    (found,) = lcore_times(*looks(cpu_lost_ns=400 * MS))
    assert found.longest_s == 0.007, "none was longer"
    (found,) = lcore_times(*looks(cpu_lost_ns=400 * MS, cpu_lost_max_ns=90 * MS))
    assert found.share == pytest.approx(0.1)
    assert found.longest_s == 0.09


def test_without_a_second_sample_all_since_the_beginning_counts():
    before, after = looks(cpu_lost_ns=500 * MS, sampled_ns=START + HZ)
    assert lcore_times(before, after) == lcore_times(None, after)
    assert lcore_times(None, after)[0].share == 0.5


def test_programs_of_one_engine_add_up():
    _, first = looks(cpu_lost_ns=100 * MS)
    _, second = looks(cpu_lost_ns=300 * MS, cpu_lost_max_ns=50 * MS)
    assert all_times([first, second]) == (LcoreTime(1, 4.0, 0.4, 0.05),)


def test_duties_of_a_run():
    both = port(
        (tx_queue(0), tx_queue(1, stream="s1")),
        (rx_queue(2),),
    )
    workers = tuple(worker(lcore) for lcore in (1, 2, 3, 4))
    look = snapshot(both, workers=workers)
    none, one = flow(0, None), flow(1, 10.0)
    assert duties_of(look, [none, one]) == {
        1: Duty.UNPACED,
        2: Duty.NONE,
        3: Duty.NONE,
        4: Duty.NONE,
    }
    duties = duties_of(look, [none, replace(one, measured=True)])
    assert duties == {
        1: Duty.UNPACED | Duty.MEASURED,
        2: Duty.MEASURED,
        3: Duty.MEASURED | Duty.RECEIVES,
        4: Duty.MEASURED,
    }


def starved(fps=None, *, measured=False, share=0.748, seconds=1.0, longest_ns=33 * MS):
    """A trial of a second whose only lcore lost so much of its CPU; all frames came back."""
    lost = worker(cpu_lost_ns=int(share * HZ), cpu_lost_max_ns=longest_ns)
    own = (flow_queue(*[10] * 1000),) if measured else ()
    made = port((tx_queue(seconds=seconds),), (rx_queue(),), flows=own)
    look = snapshot(made, workers=(lost,))
    plans = [flow(0, fps, measured=measured, rx_ports=(0,))]
    times = lcore_times(None, look)
    flows = flow_results(look, plans, 0.0, times)
    ports = port_results(look, [plan(made)], plans, times)
    return look, flows, ports, judge(look, flows, ports, Ending(times=times))


def test_an_unpaced_trial_with_a_quarter_of_the_cpu_is_invalid_and_says_what_it_would_be():
    _, (sent,), (whole,), verdict = starved()
    assert not verdict.valid
    assert "lcore 1 lost its CPU for 74.8 %" in verdict.reasons[0]
    assert sent.per_cpu_second_fps == whole.per_cpu_second_fps == pytest.approx(1000 / 0.252)


def test_a_paced_trial_is_judged_by_what_was_sent():
    _, (sent,), (whole,), verdict = starved(1000.0)
    assert verdict.valid
    assert sent.per_cpu_second_fps is whole.per_cpu_second_fps is None


def test_measured_flows_are_doubtful_though_nothing_was_lost():
    assert not starved(1000.0, measured=True)[3].valid
    assert not starved(1000.0, measured=True, share=0.3, longest_ns=2 * MS)[3].valid
    assert starved(1000.0, measured=True, share=0.006, longest_ns=4 * MS)[3].valid


def test_a_flow_that_was_short_may_have_lost_all_of_it():
    """0.9 % of a run of 10 s, in which an unpaced flow was sent for one."""
    look, flows, ports, _ = starved(share=0.0)
    times = [LcoreTime(1, 10.0, 0.09, 0.001)]
    assert not judge(look, flows, ports, Ending(times=times)).valid
    assert judge(look, flows, ports, Ending(times=[LcoreTime(1, 1.1, 0.02, 0.001)])).valid


def test_what_a_hypervisor_takes_is_a_note():
    (note,) = stolen_notes({1: 0.3, 7: 9.0}, [time(0.25, 0.004), LcoreTime(2, 1.0, 0.0, 0.0)])
    assert "CPU of lcore 1 for 30 % of the time (steal)" in note
    assert not list(stolen_notes({1: 0.01}, [time()]))
    assert not list(stolen_notes({}, [time()]))


def test_what_the_kernel_says_of_hypervisors(tmp_path):
    stat = tmp_path / "proc/stat"
    stat.parent.mkdir()
    stat.write_text("cpu  1 2 3 4 5 6 7 88 0 0\ncpu0 1 2 3 4 5 6 7 70 0 0\ncpu1 1 2 3 4\nintr 5\n")
    assert stolen_s(tmp_path) == {0: 70 / os.sysconf("SC_CLK_TCK")}
    assert stolen_s(tmp_path / "nowhere") == {}


def test_results_show_it():
    look, *_ = starved()
    made = look.ports[0]
    flows = [flow(0, None, rx_ports=(0,))]
    times = lcore_times(None, look)
    shown = result(ready([made], flows, SETTINGS), look, Ending(times=times))
    shown = replace(
        shown,
        cpu=CpuUse(0.25, ((1, 0.2),), times),
        ports=port_results(look, [plan(made)], flows, times),
        flows=flow_results(look, flows, 0.0, times),
    )
    told = {"lcore": 1, "busy": 0.2, "cpu_lost": 0.748, "cpu_lost_max_ns": 33 * MS}
    for document in (perf_json.document(shown, FRAME), run_json.document(shown)):
        json.dumps(document)
        assert document["cpu"] == {"share": 0.25, "lcores": [told]}
    assert perf_json.document(shown, FRAME)["ports"][0]["per_cpu_second_fps"] == pytest.approx(
        1000 / 0.252
    )
    text = perf_text.summary(shown, SETTINGS)
    assert "CPU lost        lcore 1 74.80 % of the time (longest 33 ms)" in text
    assert "per CPU second  3,968 frames/s" in text
