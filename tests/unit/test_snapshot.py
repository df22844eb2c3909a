# SPDX-License-Identifier: BSD-3-Clause
"""A look at a segment as an engine writes it: flows, answers, words that it may not have yet."""

from __future__ import annotations

from dataclasses import fields

from support.made_up import HZ, segment
from wirerate.engine.counters import Counters, Histogram
from wirerate.trial.snapshot import Device, FlowQueue, Replies, RxQueue, Worker, take

ENGINE = [
    *("start_tsc", "stop_tsc", "heartbeat_tsc", "user_ns", "system_ns", "resident_max_octets"),
    *("clock_error_ns", "time_jump_ns", "clock_drift_ns", "clock_watched_ns", "run_hz"),
]
LATENCIES = [0, 2, 0, 1, 0, 0]
LABELS = {"queue", "lcore", "stream"}


def names_of(kind, *less):
    return [field.name for field in fields(kind) if field.name not in {*LABELS, *less}]


class Segment:
    """Blocks one behind the other; the words of each count up from ``start``, but for the ends."""

    def __init__(self):
        self.blocks, self.words = [], {}

    def add(self, kind, names, start=0, ends=(), histogram=None, **labels):
        offset = 128 * (1 + 4 * len(self.blocks))
        words = [{"name": name, "word": at, "words": 1} for at, name in enumerate(names)]
        values = [*range(start, start + len(names) - len(ends)), *ends]
        if histogram:
            about = {"sub_bits": 10}
            at = len(names)
            words.append({"name": "latency_cycles", "word": at, "words": 6, "histogram": about})
            values += histogram
        self.blocks.append({"kind": kind, "labels": labels, "offset": offset, "words": words})
        self.words[offset] = values


def look(tmp_path, *, latencies=True):
    made = Segment()

    def add(kind, names, **other):
        made.add(kind, list(names), **other)

    add("engine", ENGINE, start=10)
    add("port", names_of(Device), start=100, port="p0")
    add("worker", [*names_of(Worker, "stopped"), "state"], start=200, lcore=3)
    for queue in (1, 0):
        own = {"port": "p0", "queue": queue, "lcore": 3}
        add("rx", names_of(RxQueue), start=300 + 100 * queue, **own)
        flow = names_of(FlowQueue, "latency_min_cycles", "latency_max_cycles", "latency_cycles")
        # Least 1 and greatest 2: what lies beyond is not looked at.
        flow += ["latency_min_cycles", "latency_max_cycles"]
        add("flow", flow, start=50, ends=(1, 2), histogram=LATENCIES, stream="s7", **own)
    add("reply", names_of(Replies), start=600, port="p0", queue=0, lcore=3)
    segment(tmp_path / "counters-1", made.blocks, made.words)
    return take(Counters(tmp_path / "counters-1"), latencies=latencies)


def test_flows_and_answers_are_of_their_port(tmp_path):
    [port] = look(tmp_path).ports
    assert [(flow.queue, flow.lcore, flow.stream) for flow in port.flows] == [
        (0, 3, "s7"),
        (1, 3, "s7"),
    ]
    flow = port.flows[0]
    assert (flow.frames, flow.octets, flow.latency_min_cycles, flow.latency_max_cycles) == (
        50,
        51,
        1,
        2,
    )
    assert flow.latency_cycles == Histogram([1], [2], 10)
    assert [queue.frames for queue in port.rx] == [300, 400]
    assert port.replies is not None
    assert (port.replies.lcore, port.replies.frames, port.replies.busy_cycles) == (3, 600, 607)


def test_latencies_are_left_out_while_frames_are_sent(tmp_path):
    [port] = look(tmp_path, latencies=False).ports
    assert [flow.latency_cycles for flow in port.flows] == [None, None]


def test_clocks_and_gaps_are_read(tmp_path):
    found = look(tmp_path)
    assert (found.clock_error_ns, found.time_jump_ns) == (16, 17)
    assert (found.clock_drift_ns, found.clock_watched_ns) == (18, 19)
    assert (found.tsc_hz, found.schedule_hz) == (20, HZ)
    [worker] = found.workers
    assert (worker.sampled_ns, worker.cpu_lost_ns, worker.cpu_lost_max_ns) == (205, 206, 207)
