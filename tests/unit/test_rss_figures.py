# SPDX-License-Identifier: BSD-3-Clause
"""What the trials of an RSS sweep come to."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirerate.methods.rss_figures import (
    Cell,
    CellFigures,
    TrialFigures,
    binding,
    fits,
    spread,
    with_speed_ups,
)

LINE = 10**10
LINE_FPS = LINE / 8 / 84
TRIAL = TrialFigures(
    forwarding_fps=5e6,
    offered_fps=LINE_FPS,
    loss_ratio=0.5,
    per_queue_fps=(5e6,),
    forwarder_busy=(0.99,),
    forwarder_cycles=2_500_000_000,
    forwarder_frames=5_000_000,
    generator_busy=0.5,
    bursts_short=1,
    unsent=1,
    missed=0,
    valid=True,
)
CELL = Cell(1, 100, 64)


def measured(cell, fps, cycles=500, binds="forwarder", **other):
    trial = replace(TRIAL, forwarding_fps=fps, forwarder_cycles=cycles, forwarder_frames=1)
    return CellFigures(cell, shared_cores=False, trials=(trial,), binds=binds, **other)


@pytest.mark.parametrize(
    ("limit", "changed"),
    [
        ("line", {"forwarding_fps": 0.996 * LINE_FPS}),
        ("forwarder", {"forwarding_fps": 0.994 * LINE_FPS}),
        ("link", {"forwarder_busy": (0.94,)}),
        ("receiver", {"forwarder_busy": (0.94,), "missed": 1}),
        ("generator", {"forwarder_busy": (0.94,), "bursts_short": 0}),
        ("generator", {"forwarder_busy": (0.94,), "generator_busy": 0.98}),
        ("link", {"forwarder_busy": (0.99, 0.2)}),
        ("unknown", {"forwarder_busy": (0.94,), "bursts_short": 0, "unsent": 0}),
    ],
)
def test_the_limit(limit, changed):
    assert binding(CELL, [replace(TRIAL, **changed)], LINE) == limit


def test_the_limit_is_that_of_the_middle_trial():
    at_line = replace(TRIAL, forwarding_fps=LINE_FPS)
    idle = replace(TRIAL, forwarding_fps=1.0, forwarder_busy=(0.1,))
    assert binding(CELL, [at_line, TRIAL, idle], LINE) == "forwarder"
    assert binding(CELL, [at_line], None) == "forwarder", "without a line, none is met"


def test_speed_up_is_against_one_queue():
    cells = [
        measured(Cell(1, 100, 64), 5e6),
        measured(Cell(2, 100, 64), 9e6),
        measured(Cell(2, 200, 64), 9e6),
        CellFigures(Cell(4, 100, 64), shared_cores=True, reason="the peer left"),
    ]
    found = with_speed_ups(cells)
    assert [one.speed_up for one in found] == [1.0, 1.8, None, None]
    assert [one.efficiency for one in found] == [1.0, 0.9, None, None]


@given(
    a=st.floats(1, 1000),
    b=st.floats(0.1, 10),
    works=st.lists(st.integers(1, 1000), min_size=3, max_size=8, unique=True),
)
def test_a_straight_line_is_found(a, b, works):
    cells = [measured(Cell(2, work, 64), 1e6, cycles=a + b * work) for work in works]
    cells.append(measured(Cell(2, None, 64), 1e6, cycles=1e9))
    cells.append(measured(Cell(2, 5, 128), 1e6, cycles=1e9))
    cells.append(measured(Cell(2, 7, 64), 1e6, cycles=1e9, binds="line"))
    (fit,) = fits(cells)
    assert fit.points == len(works)
    assert fit.a_cycles == pytest.approx(a, rel=1e-6, abs=1e-3)
    assert fit.b == pytest.approx(b, rel=1e-6, abs=1e-6)
    assert fit.residual == pytest.approx(0, abs=1e-6)


def test_two_points_are_no_fit():
    (fit,) = fits([measured(Cell(1, work, 64), 1e6) for work in (100, 200)])
    assert (fit.b, fit.points) == (None, 2)


def test_the_residual():
    cells = [
        measured(Cell(1, w, 64), 1e6, cycles=c) for w, c in ((1, 90), (2, 110), (3, 90), (4, 110))
    ]
    (fit,) = fits(cells)
    assert fit.b == pytest.approx(4)
    assert fit.residual == pytest.approx((80.0) ** 0.5 / 100)


def test_the_document():
    document = measured(CELL, 5e6).document()
    assert json.loads(json.dumps(document))["status"] == "ok"
    assert document["l1_mbps"]["median"] == pytest.approx(5e6 * 84 * 8 / 1e6)
    assert (document["queues"], document["work"], document["size"]) == (1, 100, 64)
    failed = CellFigures(CELL, shared_cores=True, reason="the peer left").document()
    assert (failed["status"], failed["forwarding_fps"]) == ("failed", None)
    assert set(failed) == set(document)


def test_spread():
    found = spread([3.0, 1.0, 2.0])
    assert (found.median, found.min, found.max) == (2.0, 1.0, 3.0)
