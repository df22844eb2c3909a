# SPDX-License-Identifier: BSD-3-Clause
"""What is said of the application's own frames in `wirerate kernel-path`."""

from __future__ import annotations

import pytest

from wirerate.methods.kernel_fast_limits import fast_losses, offered_notes, saturation_notes
from wirerate.methods.kernel_fast_path import Generated
from wirerate.trial.bridge_look import BridgeLook, Flow

BEFORE = BridgeLook(0, fast=Flow(500), fast_lost=5)


def generated(sent, received):
    return Generated(1.0, sent, received, sent - received, 1.0, 2.0)


@pytest.mark.parametrize(
    ("passed", "dropped", "received", "said"),
    [
        (9_000, 0, 9_000, ["1,000 frames were lost before the application"]),
        (9_000, 1_000, 9_000, ["1,000 frames were lost in the application"]),
        (10_000, 0, 9_900, ["100 frames were lost behind the application"]),
        (8_000, 1_000, 7_000, ["before", "in the application", "behind"]),
        (10_000, 0, 9_995, []),
    ],
)
def test_losses_have_a_place(passed, dropped, received, said):
    after = BridgeLook(1, fast=Flow(500 + passed), fast_lost=5 + dropped)
    found = fast_losses("fast path", generated(10_000, received), BEFORE, after)
    assert len(found) == len(said)
    for line, words in zip(found, said, strict=True):
        assert line.startswith("fast path: ")
        assert words in line


def test_a_generator_that_did_not_send_what_it_was_to():
    assert offered_notes("fast path", generated(9_910, 0)) == []
    (note,) = offered_notes("fast path", generated(9_890, 0))
    assert note.startswith("fast path: 9,890 frames/s were offered instead of 10,000")


def test_saturated_is_what_was_offered_a_fifth_more_than_it_can_do():
    assert saturation_notes(400_000, 182_602) == []
    assert saturation_notes(220_000, 183_000) == []
    (note,) = saturation_notes(182_602, 182_000)
    assert "182,602 frames/s were offered and 182,000 forwarded" in note
