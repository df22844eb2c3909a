# SPDX-License-Identifier: BSD-3-Clause
"""The lab's check of laps: what is missing, doubled, swapped or changed is found and named."""

import pytest

from lab.guest.laps import laps_that_differ, trace, write_capture

LAP, LAPS = 8, 5


@pytest.fixture
def lap(tmp_path):
    return trace(tmp_path / "lap.pcap", LAP, (60, 98))


def differences(path, lap, frames):
    write_capture(path, frames)
    octets = bytearray(path.read_bytes())
    octets[24] = 7  # times are of no concern
    path.write_bytes(octets)
    return [str(each) for each in laps_that_differ(path, lap, LAPS)]


def test_all_laps_as_they_should_be(tmp_path, lap):
    assert differences(tmp_path / "x", lap, lap * LAPS) == []


@pytest.mark.parametrize("octets", [(60,), (60, 98)])
def test_two_frames_swapped(tmp_path, octets):
    lap = trace(tmp_path / "lap.pcap", LAP, octets)
    frames = lap * LAPS
    frames[19:21] = frames[20], frames[19]
    said = differences(tmp_path / "x", lap, frames)
    assert said == ["lap 2: expected: received 3: 4, 4: 3"]


def test_two_frames_swapped_between_laps(tmp_path, lap):
    frames = lap * LAPS
    frames[15:17] = frames[16], frames[15]
    said = differences(tmp_path / "x", lap, frames)
    assert said == ["lap 1: expected: received 7: 0", "lap 2: expected: received 0: 7"]


def test_a_frame_missing_and_one_doubled(tmp_path, lap):
    frames = lap * LAPS
    del frames[9]
    frames.insert(30, frames[30])
    said = differences(tmp_path / "x", lap, frames)
    assert [line.partition(":")[0] for line in said] == ["lap 1", "lap 2", "lap 3"]
    assert said[0].startswith("lap 1: expected: received 1: 2, 2: 3")


def test_an_octet_changed(tmp_path, lap):
    frames = lap * LAPS
    frames[20] = frames[20][:-1] + b"?"
    said = differences(tmp_path / "x", lap, frames)
    assert said == ["lap 2: expected: received 4: no frame of the trace"]


def test_too_few_and_too_many(tmp_path, lap):
    said = differences(tmp_path / "x", lap, (lap * LAPS)[:-1])
    assert said == ["lap 4: expected: received 7: nothing"]
    said = differences(tmp_path / "x", lap, [*lap * LAPS, lap[3]])
    assert said == ["lap 5: expected: received nothing: 3"]
