# SPDX-License-Identifier: BSD-3-Clause
"""Units: what is written reads back, and no rate passes the line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirerate import units
from wirerate.errors import PlanError
from wirerate.units import Rate, RateKind, parse_rate

percents = st.builds(Rate, st.just(RateKind.PERCENT), st.floats(1e-6, 100))
absolutes = st.builds(
    Rate,
    st.sampled_from([RateKind.FPS, RateKind.L1_BPS, RateKind.L2_BPS]),
    st.floats(1e-3, 1e13) | st.integers(1, 10**13).map(float),
)
frame_sizes = st.integers(units.FRAME_SIZE_MIN, units.FRAME_SIZE_MAX)
line_rates = st.integers(10**6, 10**14)


@given(percents | absolutes)
def test_a_rate_reads_back(rate):
    assert parse_rate(str(rate)) == rate


@given(percents | absolutes, frame_sizes, line_rates)
def test_no_rate_passes_the_line(rate, frame_size, line_rate_bps):
    line_fps = units.line_rate_fps(line_rate_bps, frame_size)
    try:
        fps = rate.to_fps(frame_size, line_rate_bps)
    except PlanError:
        assert rate.kind is not RateKind.PERCENT
    else:
        assert fps is not None
        assert 0 < fps <= line_fps


@given(absolutes, frame_sizes)
def test_units_agree(rate, frame_size):
    fps = rate.to_fps(frame_size, None)
    assert fps is not None
    back = {
        RateKind.FPS: fps,
        RateKind.L1_BPS: units.l1_bps(fps, frame_size),
        RateKind.L2_BPS: units.l2_bps(fps, frame_size),
    }
    assert back[rate.kind] == pytest.approx(rate.value)


@given(st.text(alphabet="0123456789.+-eEkMG%pbsfLit/:nan ", max_size=12))
def test_any_text_is_a_rate_or_a_plan_error(text):
    try:
        rate = parse_rate(text)
    except PlanError:
        return
    assert rate.value > 0


@given(st.floats(1e-3, 1e15), st.integers(3, 9))
def test_engineering_notation_is_near_and_short(value, digits):
    number, unit = units.format_engineering(value, "fps", digits).split(" ")
    factor = {"fps": 1, "kfps": 1e3, "Mfps": 1e6, "Gfps": 1e9, "Tfps": 1e12}[unit]
    assert float(number) * factor == pytest.approx(value, rel=0.6 * 10 ** (1 - digits))
    assert unit == "Tfps" or float(number) < 1000
