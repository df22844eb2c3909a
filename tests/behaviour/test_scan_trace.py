# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate-engine --scan-trace FILE`: one line of JSON, or one line that says what is wrong."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import wrpcap, wrpcapng

from support.captures import (
    LINUX_SLL,
    frame_octets,
    pcap_octets,
    pcapng_octets,
    write_pcap,
    write_pcapng,
)
from support.host import needs, run
from wirerate.engine.process import find_engine

TIMEOUT_S = 20.0
SECOND_NS = 10**9
START_NS = 1_700_000_000 * SECOND_NS
LENGTHS = [60, 1514, 64, 590, 61]
FRAMES = [
    (START_NS + 1_234_567 * i, frame_octets(length, i), None) for i, length in enumerate(LENGTHS)
]


def scan(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [find_engine(), "--scan-trace", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


def scanned(path: Path) -> dict[str, Any]:
    done = scan(path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert done.stdout.endswith("\n")
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def refused(path: str | Path, *parts: str) -> None:
    """Exit code 1, nothing on stdout, one line on stderr: the file's name and these parts."""
    done = scan(path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("wirerate-engine: ")
    assert f"/{Path(path).name}: " in done.stderr
    assert done.stderr.count("\n") == 1
    for part in parts:
        assert part in done.stderr


def memory_octets(lengths: list[int]) -> int:
    return sum(64 + 128 + 128 + -(-length // 64) * 64 for length in lengths)


def expected(kind: str, *, unit_ns: int = 1) -> dict[str, Any]:
    return {
        "format": kind,
        "frames": len(LENGTHS),
        "octets": sum(LENGTHS),
        "shortest": min(LENGTHS),
        "longest": max(LENGTHS),
        "truncated": 0,
        "short": 0,
        "backwards": 0,
        "first_ns": START_NS,
        "last_ns": FRAMES[-1][0] // unit_ns * unit_ns,
        "memory_octets": memory_octets(LENGTHS),
    }


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("big_endian", [False, True], ids=["little", "big"])
@pytest.mark.parametrize("nanoseconds", [False, True], ids=["us", "ns"])
@pytest.mark.parametrize("kind", ["pcap", "pcapng"])
def test_every_format(tmp_path, kind, nanoseconds, big_endian, packed):
    if kind == "pcap":
        octets = pcap_octets(FRAMES, nanoseconds=nanoseconds, big_endian=big_endian)
    else:
        octets = pcapng_octets(
            [(i % 2, frame) for i, frame in enumerate(FRAMES)],
            interfaces=("p0", "uplink"),
            nanoseconds=nanoseconds,
            big_endian=big_endian,
        )
    path = tmp_path / "file"  # its name says nothing
    path.write_bytes(gzip.compress(octets) if packed else octets)
    assert scanned(path) == expected(kind, unit_ns=1 if nanoseconds else 1000)


def scapy_packets() -> list[Any]:
    packets = []
    for i, length in enumerate(LENGTHS):
        header = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP() / UDP()
        packet = header / Raw(bytes(length - len(header)))
        packet.time = FRAMES[i][0] // 1000 / 1e6
        packets.append(packet)
    return packets


@pytest.mark.parametrize(
    ("name", "kind"), [("x.pcap", "pcap"), ("x.pcap.gz", "pcap"), ("x.pcapng", "pcapng")]
)
def test_what_scapy_writes(tmp_path, name, kind):
    path = tmp_path / name
    if kind == "pcapng":
        wrpcapng(str(path), scapy_packets())
    else:
        wrpcap(str(path), scapy_packets(), gz=name.endswith(".gz"))
    facts = scanned(path)
    want = expected(kind, unit_ns=1000)
    assert facts.pop("first_ns") == pytest.approx(want.pop("first_ns"), abs=1000)
    assert facts.pop("last_ns") == pytest.approx(want.pop("last_ns"), abs=1000)
    assert facts == want


@needs("editcap")
@pytest.mark.parametrize("kind", ["pcap", "nsecpcap", "pcapng"])
def test_what_editcap_writes(tmp_path, kind):
    made = write_pcap(tmp_path / "made", FRAMES)
    run("editcap", "-F", kind, str(made), str(tmp_path / "converted"))
    unit_ns = 1000 if kind == "pcap" else 1
    assert scanned(tmp_path / "converted") == expected(kind.removeprefix("nsec"), unit_ns=unit_ns)


def test_frames_that_are_mended(tmp_path):
    facts = scanned(
        write_pcap(
            tmp_path / "x.pcap",
            [
                (5 * SECOND_NS, frame_octets(42), None),  # short: 60
                (4 * SECOND_NS, frame_octets(64), 1514),  # truncated; earlier than the one before
                (6 * SECOND_NS, frame_octets(1), 1),  # all but nothing: 60
                (5 * SECOND_NS, frame_octets(20), 50),  # all three
            ],
        )
    )
    assert facts == {
        "format": "pcap",
        "frames": 4,
        "octets": 60 + 1514 + 60 + 60,
        "shortest": 60,
        "longest": 1514,
        "truncated": 2,
        "short": 3,
        "backwards": 2,
        "first_ns": 5 * SECOND_NS,
        "last_ns": 6 * SECOND_NS,
        "memory_octets": memory_octets([60, 1514, 60, 60]),
    }


def test_no_regular_file(tmp_path, monkeypatch):
    refused(tmp_path, "a directory, not a capture file")
    refused(tmp_path / "missing.pcap", "No such file")
    refused("/dev/null", "a device")
    os.mkfifo(tmp_path / "fifo")
    refused(tmp_path / "fifo", "a FIFO")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the path of a socket has 107 octets at most
        server.bind("socket")
        refused(tmp_path / "socket", "a socket")


NO_CAPTURES = {
    "empty": (b"", "is empty"),
    "three octets": (b"\xd4\xc3\xb2", "no capture file"),
    "text": (b"to be or not to be, that is the question\n", "no capture file"),
    "zeros": (bytes(10_000), "no capture file"),
    "half a header": (pcap_octets([])[:20], "no capture file"),
    "header alone": (pcap_octets([]), "holds no frames"),
    "pcapng alone": (pcapng_octets([]), "holds no frames"),
    "pcapng, no interface": (pcapng_octets([], interfaces=()), "no capture file"),
    "gzip of text": (gzip.compress(b"to be or not to be"), "no capture file"),
    "gzip of nothing": (gzip.compress(b""), "is empty"),
    "zstd": (bytes.fromhex("28b52ffd") + bytes(20), "is packed with zstd"),
    "cooked": (pcap_octets(FRAMES, link_type=LINUX_SLL), "LINUX_SLL"),
    "cooked pcapng": (pcapng_octets([(0, FRAMES[0])], link_type=LINUX_SLL), "LINUX_SLL"),
}


@pytest.mark.parametrize(("octets", "reason"), NO_CAPTURES.values(), ids=NO_CAPTURES.keys())
def test_no_capture(tmp_path, octets, reason):
    path = tmp_path / "x.pcap"
    path.write_bytes(octets)
    refused(path, reason)


def test_a_cut_file_says_where_and_what_to_do(tmp_path):
    path = write_pcap(tmp_path / "x.pcap", FRAMES)
    path.write_bytes(path.read_bytes()[:-1])
    refused(path, "frame 5:", "`editcap IN OUT` keeps the 4 before it")
    path = write_pcapng(tmp_path / "x.pcapng", [(0, frame) for frame in FRAMES])
    path.write_bytes(path.read_bytes()[:-90])
    refused(path, "frame 5:", "`editcap IN OUT` keeps the 4 before it")


@pytest.mark.parametrize("write", [write_pcap, write_pcapng])
def test_a_frame_of_more_octets_than_it_had(tmp_path, write):
    """Not cut to what it says, nor filled up to 60: nobody knows what was on the wire."""
    frames = [*FRAMES[:2], (START_NS, frame_octets(100), 40), *FRAMES[2:]]
    if write is write_pcap:
        path = write(tmp_path / "x", frames)
    else:
        path = write(tmp_path / "x", [(0, frame) for frame in frames])
    refused(path, "frame 3 had 40 octets on the wire", "keeps 100 of it", "`editcap IN OUT 3`")
    repaired = tmp_path / "repaired"
    if shutil.which("editcap"):
        command = ["editcap", path, repaired, "3"]
        subprocess.run(command, capture_output=True, check=False, timeout=TIMEOUT_S)
        assert scanned(repaired)["frames"] == len(FRAMES)


@needs("editcap")
def test_what_to_do_helps(tmp_path):
    path = write_pcap(tmp_path / "x.pcap", FRAMES)
    path.write_bytes(path.read_bytes()[:-1])
    repaired = tmp_path / "repaired"
    subprocess.run(["editcap", path, repaired], capture_output=True, check=False, timeout=TIMEOUT_S)
    assert scanned(repaired)["frames"] == len(FRAMES) - 1


def test_a_cut_or_damaged_gzip_file(tmp_path):
    path = tmp_path / "x.pcap.gz"
    frames = [(i, os.urandom(1000), None) for i in range(1000)]
    packed = bytearray(gzip.compress(pcap_octets(frames)))
    path.write_bytes(packed[:-500_000])
    refused(path, "frame ", "gzip: unexpected end of file")
    path.write_bytes(packed[:-8])  # all frames are there
    refused(path, "gzip: unexpected end of file")
    packed[-8] ^= 1
    path.write_bytes(packed)
    refused(path, "gzip: incorrect data check")


def test_a_frame_that_is_too_long(tmp_path):
    path = write_pcap(tmp_path / "x.pcap", [*FRAMES, (START_NS, frame_octets(16381), None)])
    refused(path, "frame 6", "16381", "16380")
    path = write_pcap(tmp_path / "x.pcap", [(START_NS, frame_octets(16380), None)])
    assert scanned(path)["longest"] == 16380


def test_an_absurd_length_takes_no_memory(tmp_path):
    head = pcap_octets(FRAMES) + bytes(8)
    path = tmp_path / "x.pcap"
    path.write_bytes(head + b"\xff\xff\xff\x7f" * 2 + bytes(100))
    limit = "ulimit -v 1000000; exec"
    done = subprocess.run(
        ["sh", "-c", f'{limit} "$0" --scan-trace "$1"', find_engine(), path],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "keeps the 5 before it" in done.stderr


def test_the_option_stands_alone(tmp_path):
    path = write_pcap(tmp_path / "x.pcap", FRAMES)
    for words in ([path, path], [path, "--run-dir", tmp_path], [path, "--", "--no-pci"], []):
        done = scan(*words)
        assert (done.returncode, done.stdout) == (1, "")
        assert "usage: wirerate-engine" in done.stderr


def test_a_full_output_is_an_error(tmp_path):
    path = write_pcap(tmp_path / "x.pcap", FRAMES)
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [find_engine(), "--scan-trace", path],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    assert done.returncode == 1
    assert "No space left" in done.stderr
