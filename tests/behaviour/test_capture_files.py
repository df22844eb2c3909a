# SPDX-License-Identifier: BSD-3-Clause
"""Files that cannot be replayed: one line that says why, a known exit code, and nothing is sent."""

from __future__ import annotations

import gzip
import os
import struct

import pytest

from support.captures import LINUX_SLL, frame_octets, pcap_octets, pcapng_octets
from support.host import is_root

TIME_NS = 1_700_000_000_000_000_000
FRAMES = [(TIME_NS + number, frame_octets(100, number), None) for number in range(5)]
PCAP = pcap_octets(FRAMES)
PCAPNG = pcapng_octets([(0, frame) for frame in FRAMES])
HEAD, RECORD = 24, 16


def with_word(data, offset, value):
    """The file with another 32-bit number at an offset."""
    return data[:offset] + struct.pack("<I", value) + data[offset + 4 :]


# Octet 8 of a record is its captured length, octet 12 that on the wire.
CAPLEN, WIRE = HEAD + 8, HEAD + 12
SECOND = HEAD + RECORD + 100

BAD = {
    "empty": b"",
    "one octet": b"\xd4",
    "half a file header": PCAP[:12],
    "no frames, pcap": PCAP[:HEAD],
    "no frames, pcapng": pcapng_octets([]),
    "text": b"hello, this is not a capture file at all\n" * 10,
    "zeros": bytes(4096),
    "cut in a record's header": PCAP[: SECOND + 7],
    "cut in a record's octets": PCAP[:-1],
    "cut pcapng": PCAPNG[:-30],
    "huge captured length": with_word(PCAP, CAPLEN, 0xFFFFFFFF),
    "captured length of 256 MiB": with_word(with_word(PCAP, CAPLEN, 1 << 28), WIRE, 1 << 28),
    "huge length on the wire": with_word(PCAP, WIRE, 0xFFFFFFFF),
    "second frame huge": with_word(PCAP, SECOND + 8, 0x7FFFFFFF),
    "frame above what is sent": pcap_octets([(TIME_NS, frame_octets(16381), None)]),
    "not Ethernet": pcap_octets(FRAMES, link_type=LINUX_SLL),
    "unknown link type": pcap_octets(FRAMES, link_type=60_000),
    "pcapng block of no length": with_word(PCAPNG, 4, 0),
    "pcapng block of 4 GiB": with_word(PCAPNG, 4, 0xFFFFFFFC),
    "gzip of nothing": gzip.compress(b""),
    "gzip of text": gzip.compress(b"hello\n" * 100),
    "cut gzip": gzip.compress(PCAP)[:-20],
    "garbage behind a gzip head": gzip.compress(PCAP)[:12] + bytes(range(256)),
}


def refused(program, tmp_path, file, *parts):
    """Replaying file ends at once with one line; what would have been sent is not even begun."""
    out = tmp_path / "out.pcap"
    words = ["replay", str(file), f"pcap:,{out}", "--loops", "1"]
    run = program.run(*words, timeout_s=20)
    assert run.code in {2, 3}, run.err
    run.refused(*parts, code=run.code)
    assert run.out == ""
    assert not out.exists()


@pytest.mark.parametrize("data", BAD.values(), ids=BAD.keys())
def test_bad_files(program, tmp_path, data):
    file = tmp_path / "bad.pcap"
    file.write_bytes(data)
    refused(program, tmp_path, file, "bad.pcap")


@pytest.mark.parametrize("data", [BAD["cut in a record's octets"], BAD["no frames, pcap"]])
def test_a_bad_file_in_a_plan_names_the_file_too(program, tmp_path, data):
    (tmp_path / "bad.pcap").write_bytes(data)
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "ports: [{name: p0, location: 'null:x'}]\n"
        "flows:\n"
        "- name: f\n"
        "  tx_rx: {port: {tx_name: p0}}\n"
        "  x-wirerate: {trace: {file: bad.pcap}}\n"
    )
    run = program.run("run", str(plan), timeout_s=20)
    run.refused("bad.pcap", code=run.code)
    assert run.code in {2, 3}
    run = program.run("preview", str(plan), "-o", str(tmp_path / "x.pcap"), timeout_s=20)
    run.refused("bad.pcap", code=run.code)
    assert run.code in {2, 3}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.pcap", "plan.yaml"]


def test_a_file_that_is_not_there(program, tmp_path):
    refused(program, tmp_path, tmp_path / "none.pcap", "none.pcap")


def test_a_directory(program, tmp_path):
    (tmp_path / "folder.pcap").mkdir()
    refused(program, tmp_path, tmp_path / "folder.pcap", "folder.pcap", "directory")


def test_a_fifo_that_nobody_writes_to(program, tmp_path):
    os.mkfifo(tmp_path / "fifo.pcap")
    refused(program, tmp_path, tmp_path / "fifo.pcap", "fifo.pcap")


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device(program, tmp_path, device):
    refused(program, tmp_path, device, device)


def test_a_symbolic_link_to_itself(program, tmp_path):
    (tmp_path / "loop.pcap").symlink_to("loop.pcap")
    refused(program, tmp_path, tmp_path / "loop.pcap", "loop.pcap")


@pytest.mark.skipif(is_root(), reason="root may read every file")
def test_a_file_that_may_not_be_read(program, tmp_path):
    file = tmp_path / "closed.pcap"
    file.write_bytes(PCAP)
    file.chmod(0)
    refused(program, tmp_path, file, "closed.pcap")


def test_a_line_break_in_the_name_stays_one_line(program, tmp_path):
    file = tmp_path / "two\nlines.pcap"
    file.write_bytes(b"")
    refused(program, tmp_path, file, "lines.pcap")


def test_the_frame_that_is_wrong_is_named(program, tmp_path):
    file = tmp_path / "bad.pcap"
    file.write_bytes(PCAP[:-1])
    refused(program, tmp_path, file, "frame 5")


def test_the_good_files_that_the_bad_ones_are_made_of(program, tmp_path):
    for name, data in {"a.pcap": PCAP, "a.pcapng": PCAPNG, "a.gz": gzip.compress(PCAP)}.items():
        file = tmp_path / name
        file.write_bytes(data)
        run = program.run("replay", str(file), "null:x", "--loops", "1")
        assert (run.code, run.err) == (0, ""), name
