# SPDX-License-Identifier: BSD-3-Clause
"""Latency histograms for HdrHistogram's tools: its log format (.hlog), V2, compressed, base64.

A line per measured flow, ``Tag=`` its name; values are nanoseconds, 1 ns to 60 s with 3 digits. The
format is that of HistogramLogWriter in HdrHistogram for Java.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from hdrh.histogram import HdrHistogram

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from wirerate.trial.received import Received
    from wirerate.trial.result import FlowResult, RunResult

LEAST_NS = 1
GREATEST_NS = 60_000_000_000
DIGITS = 3
_NS_PER_S = 1_000_000_000


def log_lines(result: RunResult, started: datetime) -> Iterator[str]:
    """The lines of the log; ``started`` is the time that its own count from (with a zone)."""
    yield "#[Histogram log format version 1.3]"
    stamp = started.timestamp()
    yield f"#[StartTime: {stamp:.3f} (seconds since epoch), {started.isoformat()}]"
    yield f"#[BaseTime: {stamp:.3f} (seconds since epoch)]"
    yield "#[wirerate: latencies in ns; Interval_Max too]"
    floor_ns = result.ready.settings.floor_ns
    if floor_ns:
        yield f"#[wirerate: a floor of {floor_ns:g} ns has been taken off]"
    yield '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
    measured = [flow for flow in result.flows if flow.received is not None]
    tags = _tags([flow.plan.label for flow in measured])
    for flow, tag in zip(measured, tags, strict=True):
        assert flow.received is not None
        yield _line(flow, flow.received, tag, result.final.tsc_hz)


def _tags(labels: list[str]) -> list[str]:
    """Names without commas and blanks, which a tag may not have; each one once."""
    tags = [re.sub(r"[\s,]", "_", label) for label in labels]
    times = Counter(tags)
    return [
        tag if times[tag] == 1 else f"{tag}#{number}" for number, tag in enumerate(tags, start=1)
    ]


def _line(flow: FlowResult, back: Received, tag: str, hz: int) -> str:
    made = _hdr_histogram(back, hz)
    start_s = flow.plan.delay_ns / _NS_PER_S
    code = made.encode().decode("ascii")
    return f"Tag={tag},{start_s:.3f},{flow.seconds:.3f},{made.get_max_value():.3f},{code}"


def _hdr_histogram(back: Received, hz: int) -> HdrHistogram:
    """The middles of the buckets that are not empty, within what was seen."""
    made = HdrHistogram(LEAST_NS, GREATEST_NS, DIGITS)
    late = back.latency
    low = LEAST_NS if late.minimum is None else late.minimum
    high = GREATEST_NS if late.maximum is None else late.maximum
    for bucket, count in zip(back.histogram.buckets, back.histogram.counts, strict=True):
        value_ns = back.histogram.middle(bucket) * _NS_PER_S / hz - late.floor_ns
        value_ns = min(max(value_ns, low), high)
        made.record_value(min(max(round(value_ns), LEAST_NS), GREATEST_NS), count)
    return made
