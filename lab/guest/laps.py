# SPDX-License-Identifier: BSD-3-Clause
"""Laps of a trace: what a port received, by a capture or from the kernel, next to what was sent."""

from __future__ import annotations

import itertools
import socket
import struct
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from lab.guest.checks import Checks

TRACE_TYPE = 0x88B5
"""The Ethernet type of the frames of `trace`."""
_PCAP_HEADER = 24
_SHOWN = 20
"""At most this many of the laps that differ are printed."""
_SO_RCVBUFFORCE = 33
_HEARD_OCTETS = 64 << 20


def trace(path: Path, frames: int, octets: Sequence[int]) -> list[bytes]:
    """Write a capture file of `frames` different frames, their sizes in turn; returns them."""
    made = []
    for number in range(frames):
        head = bytes.fromhex("525400000002525400000001") + struct.pack(">HI", TRACE_TYPE, number)
        length = octets[number % len(octets)]
        body = bytes((number * 7 + at * 13 + 1) % 256 for at in range(length - len(head)))
        made.append(head + body)
    write_capture(path, made)
    return made


def write_capture(path: Path, frames: Sequence[bytes]) -> None:
    """Write frames as a pcap file."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


@contextmanager
def heard(interface: str, ethertype: int) -> Iterator[Callable[[], list[bytes]]]:
    """What arrives on an interface of the kernel while this is open: call it for the frames."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as ear:
        ear.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _HEARD_OCTETS)
        ear.bind((interface, ethertype))
        ear.settimeout(0)
        yield lambda: list(_waiting(ear))


def _waiting(ear: socket.socket) -> Iterator[bytes]:
    try:
        while True:
            yield ear.recv(2048)
    except BlockingIOError:
        return


def check_laps(checks: Checks, path: Path, lap: Sequence[bytes], laps: int) -> None:
    """Check that a capture holds the lap this many times and nothing else; name what differs."""
    differ = laps_that_differ(path, lap, laps)
    for difference in differ[:_SHOWN]:
        print(f"     {difference}")
    checks.equal(f"of {laps:,} laps, those that differ from the trace", len(differ), 0)


@dataclass(frozen=True)
class Difference:
    """A lap that is not as it should be."""

    lap: int
    """From 0."""
    expected: int
    """This many frames, from 0 on."""
    frames: tuple[int | None, ...]
    """Which frames of the trace were received in its place; None: none of them, or changed."""

    def __str__(self) -> str:
        """Name the frames that are not where they belong, at most eight of them."""
        seen = ["no frame of the trace" if at is None else str(at) for at in self.frames]
        pairs = itertools.zip_longest(map(str, range(self.expected)), seen, fillvalue="nothing")
        wrong = [f"{at}: {frame}" for at, frame in pairs if at != frame]
        more = f", and {len(wrong) - 8} more" if len(wrong) > 8 else ""
        return f"lap {self.lap}: expected: received {', '.join(wrong[:8])}{more}"


def laps_that_differ(path: Path, lap: Sequence[bytes], laps: int) -> list[Difference]:
    """Of a capture that should hold the lap this many times: where it is not so.

    Whole laps are compared as large numbers, with a mask over the times: the guest counts
    instructions, and this takes few. Frames are looked at one by one only where that fails.
    """
    data = memoryview(path.read_bytes())[_PCAP_HEADER:]
    sizes = [struct.pack("<II", len(frame), len(frame)) for frame in lap]
    records = b"".join(bytes(8) + size + frame for size, frame in zip(sizes, lap, strict=True))
    mask = b"".join(bytes(8) + b"\xff" * (8 + len(frame)) for frame in lap)
    wanted, no_times = (int.from_bytes(octets, "little") for octets in (records, mask))
    octets, number = len(records), {frame: at for at, frame in enumerate(lap)}
    differ, at = [], 0
    for index in range(laps):
        if int.from_bytes(data[at : at + octets], "little") & no_times == wanted:
            at += octets
            continue
        seen, at = _frames_from(data, at, len(lap))
        differ.append(Difference(index, len(lap), tuple(number.get(frame) for frame in seen)))
    if at != len(data):
        seen, _ = _frames_from(data, at, len(lap))
        differ.append(Difference(laps, 0, tuple(number.get(frame) for frame in seen)))
    return differ


def _frames_from(data: memoryview, at: int, count: int) -> tuple[list[bytes], int]:
    """The next frames of a capture, at most `count`, and where the one after them begins."""
    frames: list[bytes] = []
    while len(frames) < count and at < len(data):
        octets = int.from_bytes(data[at + 8 : at + 12], "little")
        frames.append(bytes(data[at + 16 : at + 16 + octets]))
        at += 16 + octets
    return frames, at
