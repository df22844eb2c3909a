# SPDX-License-Identifier: BSD-3-Clause
"""Files of pcap ports that are shorter than the frames sent make a result invalid."""

from __future__ import annotations

import pytest

from wirerate.host.growth import Growth
from wirerate.plan.location import parse_location

FRAMES, OCTETS = 10, 10 * 128
WHOLE = 24 + FRAMES * (16 + 124)


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "out.pcap"
    made.write_bytes(b"")
    return made


def growth(file):
    return Growth({"p0": parse_location(f"pcap:,{file}"), "p1": parse_location("null:x")})


def reasons(made, frames=FRAMES, octets=OCTETS):
    return list(made.reasons("p0", frames, octets))


def test_a_whole_file_is_no_reason(file):
    made = growth(file)
    file.write_bytes(bytes(WHOLE))
    assert reasons(made) == []


def test_a_file_that_lacks_an_octet_is_one(file):
    made = growth(file)
    file.write_bytes(bytes(WHOLE - 1))
    (said,) = reasons(made)
    assert said.startswith(f"1 octets of the frames sent are not in {file}; its disk has ")


def test_what_was_there_before_does_not_count(file):
    file.write_bytes(bytes(WHOLE))  # of a warm-up
    made = growth(file)
    file.write_bytes(bytes(2 * WHOLE - 24))
    assert reasons(made) == []
    file.write_bytes(bytes(2 * WHOLE - 25))
    assert len(reasons(made)) == 1


def test_a_file_that_is_gone(file):
    made = growth(file)
    file.unlink()
    assert "is there no more" in reasons(made)[0]


def test_what_is_no_file_is_not_asked():
    assert reasons(growth("/dev/null")) == []
    assert list(growth("/dev/null").reasons("p1", 1, 64)) == []


def test_nothing_sent_needs_no_file(file):
    assert reasons(growth(file), 0, 0) == []


def test_the_files_of_all_queues_count_together(tmp_path):
    files = [tmp_path / f"queue-{queue}.pcap" for queue in range(2)]
    for file in files:
        file.write_bytes(b"")
    words = ",".join(f"tx_pcap={file}" for file in files)
    made = Growth({"p0": parse_location(f"vdev:net_pcap0,{words}")})
    files[0].write_bytes(bytes(WHOLE - 140))
    files[1].write_bytes(bytes(24 + 140))
    assert reasons(made) == []
    files[1].write_bytes(bytes(24))
    assert len(reasons(made)) == 1
