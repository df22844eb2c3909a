# SPDX-License-Identifier: BSD-3-Clause
"""Frames as tshark takes them apart, with every checksum validation that it has switched on.

tshark is needed: where it is missing, that is an error.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from support.captures import ETHERNET, write_pcap
from support.read_captures import read_pcapng

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_TIMEOUT_S = 60.0
_PREFERENCES = (
    "ip.check_checksum:TRUE",
    "udp.check_checksum:TRUE",
    "tcp.check_checksum:TRUE",
    # Frames of other plans stand before and behind: what tshark makes of a dialogue means nothing.
    "tcp.analyze_sequence_numbers:FALSE",
    "arp.detect_duplicate_ips:FALSE",
    "ip.defragment:FALSE",
)
_CHECKSUMS = ("ip", "udp", "tcp", "icmp", "icmpv6", "igmp", "gre")
_FIELDS = ("frame.protocols", "_ws.expert.severity", "_ws.expert.message", "_ws.malformed")
_BETWEEN = "\x1f"
_GOOD, _NOT_PRESENT = "1", "3"
"""Of proto_checksum_enum_e (Wireshark's epan/proto.h); the others are bad, unverified, illegal."""
_WARNING = 0x00600000
"""PI_WARN, likewise; errors are above, notes and chats below."""
_RSVP = re.compile(r"Message Checksum: 0x[0-9a-f]{4} \[(\w+)")


@dataclass(frozen=True)
class Dissected:
    """One frame: ``protocols`` outermost first, ``wrong`` what tshark does not like.

    ``checksums``: ``(protocol, right)`` of each that is there, outermost first by protocol.
    """

    protocols: tuple[str, ...]
    wrong: tuple[str, ...]
    checksums: tuple[tuple[str, bool], ...]

    @property
    def bad(self) -> tuple[str, ...]:
        """Protocols whose checksum is wrong, or could not be checked."""
        return tuple(name for name, right in self.checksums if not right)


def dissect(paths: Sequence[Path]) -> dict[Path, list[Dissected]]:
    """All frames of some pcapng files, at one go: starting tshark is what takes the time."""
    frames = {path: [octets for _, _, octets in read_pcapng(path).frames] for path in paths}
    found = iter(dissect_frames(list(itertools.chain.from_iterable(frames.values()))))
    return {path: list(itertools.islice(found, len(frames[path]))) for path in paths}


def dissect_frames(frames: Sequence[bytes], link_type: int = ETHERNET) -> list[Dissected]:
    """Take frames apart; ``link_type`` is libpcap's."""
    words = ["-T", "fields", "-E", "separator=/t", "-E", f"aggregator={_BETWEEN}"]
    for name in (*_FIELDS, *(f"{name}.checksum.status" for name in _CHECKSUMS)):
        words += ["-e", name]
    with tempfile.TemporaryDirectory(prefix="wirerate-tshark-") as directory:
        file = write_pcap(
            Path(directory) / "all.pcap", [(0, f, None) for f in frames], link_type=link_type
        )
        found = [_dissected(line) for line in _tshark(file, words).splitlines()]
    assert len(found) == len(frames), "tshark does not tell of as many frames as there are"
    return found


def rsvp_checksums(path: Path) -> list[str]:
    """What tshark says of each RSVP checksum, ``correct`` where it is; that is no field of it."""
    return _RSVP.findall(_tshark(path, ["-O", "rsvp"]))


def _tshark(path: Path, words: Iterable[str]) -> str:
    program = shutil.which("tshark")
    assert program is not None, "tshark is not installed; `make setup` installs it"
    options = [word for text in _PREFERENCES for word in ("-o", text)]
    with tempfile.TemporaryDirectory(prefix="wirerate-tshark-") as settings:  # not this user's own
        done = subprocess.run(
            [program, "-n", "-r", str(path), *options, *words],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
            env={**os.environ, "WIRESHARK_CONFIG_DIR": settings},
        )
    assert done.returncode == 0, f"tshark: {done.stderr}"
    return done.stdout


def _dissected(line: str) -> Dissected:
    protocols, severities, messages, malformed, *states = line.split("\t")
    experts = zip(_parts(severities), _parts(messages), strict=True)
    wrong = [text for severity, text in experts if int(severity) >= _WARNING]
    return Dissected(
        protocols=tuple(protocols.split(":")),
        wrong=tuple(wrong + ["malformed"] * bool(malformed)),
        checksums=tuple(
            (name, state == _GOOD)
            for name, text in zip(_CHECKSUMS, states, strict=True)
            for state in _parts(text)
            if state != _NOT_PRESENT
        ),
    )


def _parts(text: str) -> list[str]:
    return text.split(_BETWEEN) if text else []
