# SPDX-License-Identifier: BSD-3-Clause
"""What one run at a time may have: interfaces of Linux, and files that are written.

A claim is an abstract Unix socket that listens: of this network namespace, as an interface is, and
gone with its process however that ends. Nobody ever answers there; who asks sees whose it is.
"""

from __future__ import annotations

import hashlib
import os
import socket
import struct
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.errors import HostSetupError
from wirerate.host.capture_files import file_identity, written_files
from wirerate.plan.location import LocationKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wirerate.plan.location import Location

_SHARED_BY_KERNEL = {LocationKind.TAP, LocationKind.AF_PACKET, LocationKind.AF_XDP}
"""The kernel lets several programs have such an interface; each then gets some or all frames."""
_COMMAND_MAX = 60
_UCRED = struct.Struct("3i")


@contextmanager
def claimed_interface(name: str, title: str) -> Iterator[None]:
    """Have an interface of this namespace for the block; ``title`` says what it is to the run.

    Raises HostSetupError where another run has it: both would get frames of the other.
    """
    with _claim(f"interface/{name}", f"{title}: interface {name}", "take another interface"):
        yield


@contextmanager
def claimed_file(file: str, title: str) -> Iterator[None]:
    """Have a file for the block, to write it; ``title`` says whose it is.

    Raises HostSetupError where another run writes it. What is no regular file (/dev/null, a pipe)
    may be written by any number.
    """
    there = Path(os.path.realpath(file))
    if file_identity(os.fspath(there)) is None:
        yield
        return
    # By folder and name: the file itself is made, or replaced, while it is claimed.
    folder = there.parent.stat()
    digest = hashlib.sha256(os.fsencode(there.name)).hexdigest()[:32]
    name = f"file/{folder.st_dev}/{folder.st_ino}/{digest}"
    with _claim(name, f"{title}: {file}", "write another file"):
        yield


@contextmanager
def claimed_ports(ports: Iterable[tuple[str, Location]]) -> Iterator[None]:
    """Have the interfaces of ports, given as (title, location), and the files that they write.

    Raises HostSetupError.
    """
    with ExitStack() as stack:
        for title, location in ports:
            if location.kind in _SHARED_BY_KERNEL:
                stack.enter_context(claimed_interface(location.value, f"{title}: {location}"))
            for file in written_files(location):
                stack.enter_context(claimed_file(file, f"{title}: {location}"))
        yield


@contextmanager
def claimed_files(files: Mapping[str, str]) -> Iterator[None]:
    """Have files, given as {file: title}. Raises HostSetupError."""
    with ExitStack() as stack:
        for file, title in files.items():
            stack.enter_context(claimed_file(file, title))
        yield


@contextmanager
def _claim(name: str, what: str, instead: str) -> Iterator[None]:
    """What one run has twice is its own business, and that of other checks."""
    address = f"\0wirerate/{name}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as claim:
        try:
            claim.bind(address)
        except OSError as error:
            owner = _owner(address)
            if owner != os.getpid():
                raise HostSetupError(
                    f"{what} is in use by {_named(owner)}; end that first, or {instead}"
                ) from error
        else:
            claim.listen(socket.SOMAXCONN)  # nobody accepts: who asks stays in the queue
        yield


def _owner(address: str) -> int | None:
    """The process that has a claim; None where it has ended since, or does not listen yet."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(1.0)
        try:
            asking.connect(address)
            found = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        except OSError:
            return None
    pid: int = _UCRED.unpack(found)[0]
    return pid


def _named(pid: int | None) -> str:
    """A run in words: its process and command line, as far as they can be seen."""
    if pid is None:
        return "another run"
    words: list[str] = []
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    begin = next((at for at, word in enumerate(words) if "wirerate" in word), 0)
    command = " ".join(words[begin:]).strip()
    shown = "".join(c if c.isprintable() else "?" for c in command[:_COMMAND_MAX])
    dots = "..." if len(command) > _COMMAND_MAX else ""
    return f"another run, process {pid}" + (f" ({shown}{dots})" if shown else "")
