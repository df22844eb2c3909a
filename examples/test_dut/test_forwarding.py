# SPDX-License-Identifier: BSD-3-Clause
"""What the device has to do: forward all frames, once, in order and soon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Measure


def test_no_frame_is_lost(measure: Measure) -> None:
    """The device keeps up with the rate."""
    result = measure(1)
    assert result.lost == 0


@pytest.mark.parametrize("direction", ["there", "back"])
def test_latency(measure: Measure, request: pytest.FixtureRequest, direction: str) -> None:
    """99 of 100 frames pass within the limit."""
    latency = measure(1).flow(direction).latency
    assert latency.p99 is not None, "no frame arrived"
    assert latency.p99 / 1000 <= request.config.getoption("--max-p99-us")  # [ns] to [us]


def test_order(measure: Measure) -> None:
    """The device neither reorders nor repeats frames, nor sends them elsewhere."""
    result = measure(1)
    assert (result.reordered, result.duplicates, result.misdirected) == (0, 0, 0)
