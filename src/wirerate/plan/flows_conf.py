# SPDX-License-Identifier: BSD-3-Clause
"""BiTester's configuration files as they are: a key, blanks, its value, on each line.

``#`` starts a comment, also behind a value. A key with ``_`` before it is switched off, which is
how BiTester's own files keep addresses of other machines. What a value means is
`wirerate.plan.flows_settings`'s. Called by the command; opens the file that it is given.
"""

from __future__ import annotations

import difflib
import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.reader import shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KEYS = (
    "src_mac",
    "dst_mac",
    "src_ip",
    "dst_ip",
    "src_port",
    "dst_port",
    "flow_num",
    "cps",
    "payload",
    "mode",
)
"""All keys that there are."""

FILE_OCTETS_MAX = 1 << 20
"""Largest file that is read [octets]; BiTester's own have 400."""

_LINE_END = re.compile(r"\r\n|\n|\r")
_OTHER_TEXTS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True)
class Given:
    """A value as the user wrote it; ``place`` is what an error says before it: ``a.conf:3: cps``.

    For an option it is its name, ``--cps``.
    """

    text: str
    place: str


@dataclass(frozen=True)
class Conf:
    """What a file says: values by their keys, and what is to be warned of."""

    values: Mapping[str, Given]
    warnings: tuple[str, ...] = ()


def load_conf(path: Path) -> Conf:
    """Read a file. Raises PlanError."""
    try:
        octets = _read_file(path)
    except OSError as error:
        raise PlanError(
            f"-f {path}: cannot be read: {error.strerror or error}; give BiTester's file or one "
            "like examples/bps-test.conf"
        ) from error
    except ValueError as error:  # a NUL in the path
        raise PlanError(f"-f {shown(str(path))}: it is not the name of a file") from error
    if len(octets) > FILE_OCTETS_MAX:
        raise PlanError(
            f"-f {path}: more than {FILE_OCTETS_MAX >> 20} MiB, so it is no configuration of flows"
        )
    return read_conf(octets, str(path))


def _read_file(path: Path) -> bytes:
    """A regular file up to one octet beyond the limit; never wait for a FIFO's writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise PlanError(f"-f {path}: it is a directory; name a file in it")
        raise PlanError(f"-f {path}: it is not a regular file; write it to one first")
    with open(descriptor, "rb") as file:  # noqa: PTH123 -- a descriptor
        return file.read(FILE_OCTETS_MAX + 1)


def read_conf(octets: bytes, name: str) -> Conf:
    """Read a file's octets; comments may be in any encoding.

    Raises PlanError with ``name:LINE`` before it.
    """
    for mark, encoding in _OTHER_TEXTS.items():
        if octets.startswith(mark):
            raise PlanError(f"{name}: it is text in {encoding}; save it as UTF-8")
    values: dict[str, Given] = {}
    lines: dict[str, int] = {}
    warnings = []
    text = octets.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    for number, line in enumerate(_LINE_END.split(text), start=1):
        words = line.partition("#")[0].split()
        if not words or words[0].startswith("_"):
            continue
        key, place = words[0], f"{name}:{number}"
        if key not in KEYS:
            warnings.append(f"{place}: there is no key {shown(key)}{_hint(key)}; it is left out")
            continue
        if key in values:
            raise PlanError(
                f"{place}: {key} is given in line {lines[key]} already; leave out one of the two, "
                f"or switch it off (_{key})"
            )
        if len(words) == 1:
            raise PlanError(
                f"{place}: {key} has no value; write it behind a blank, or leave it out"
            )
        if len(words) > 2:
            warnings.append(
                f"{place}: {shown(' '.join(words[2:]))} behind the value of {key} is left out; put "
                "# before comments"
            )
        values[key] = Given(words[1], f"{place}: {key}")
        lines[key] = number
    if warnings and not values:
        raise PlanError(f"{name}: no line of it has a key; keys are {', '.join(KEYS)}")
    return Conf(values, tuple(warnings))


def _hint(key: str) -> str:
    """What may be meant; of ``cps=100`` the blank is missing."""
    name = re.split("[=:]", key)[0]
    if name != key and name in KEYS:
        return f" (write {name}, a blank, and the value)"
    near = difflib.get_close_matches(key.lower(), KEYS, n=1)
    return f" (is it {near[0]}?)" if near else f" (keys are {', '.join(KEYS)})"
