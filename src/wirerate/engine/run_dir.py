# SPDX-License-Identifier: BSD-3-Clause
"""The private directory of one run: control socket, counters, the engine's log.

It lies on tmpfs (counters on a disk would be write-protected under the workers at every
write-back), has mode 0700 and is locked while its owner lives, so that what a killed run left
behind can be told from what another run is using, and is swept away by the next one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.errors import HostSetupError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_PREFIX = "wr-"
_LCORES = "lcores"


def base_directory() -> Path:
    """Where this user's runs live: a folder of our own, which `_private` makes and checks.

    It lies in WIRERATE_RUNTIME_DIR, /run or the user's own tmpfs.
    """
    asked = os.environ.get("WIRERATE_RUNTIME_DIR")
    if asked:
        return Path(asked) / _own_name()
    if os.geteuid() == 0:
        return Path("/run/wirerate")
    session = os.environ.get("XDG_RUNTIME_DIR")
    if session and Path(session).is_dir():
        return Path(session) / "wirerate"
    return Path("/dev/shm") / _own_name()  # noqa: S108 - tmpfs, made 0700 and checked below


def _own_name() -> str:
    """Of a folder next to those of other users."""
    return f"wirerate-{os.geteuid()}"


def dpdk_environment() -> dict[str, str]:
    """What the engine's environment needs besides, so that DPDK's runtime files are this user's.

    DPDK (eal_filesystem.h) takes RUNTIME_DIRECTORY, /var/run for root, XDG_RUNTIME_DIR, and then
    /tmp/dpdk: the first user to make that shuts out all others.
    """
    known = "RUNTIME_DIRECTORY" in os.environ or "XDG_RUNTIME_DIR" in os.environ
    return {} if known or os.geteuid() == 0 else {"RUNTIME_DIRECTORY": str(base_directory())}


def dpdk_directory(file_prefix: str) -> Path:
    """Where DPDK keeps runtime files of this ``--file-prefix`` (eal_filesystem.h)."""
    base = (os.environ | dpdk_environment()).get("RUNTIME_DIRECTORY")
    if base is None:
        base = "/var/run" if os.geteuid() == 0 else os.environ["XDG_RUNTIME_DIR"]
    return Path(base) / "dpdk" / file_prefix


def _private(directory: Path) -> None:
    """Make directory, or make sure that an existing one is ours and closed to others.

    What somebody else made is neither changed nor used.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = directory.lstat()
    except OSError as error:
        text = f"run directory {directory}: {error.strerror}; set WIRERATE_RUNTIME_DIR"
        raise HostSetupError(text) from error
    if not directory.is_dir() or directory.is_symlink() or status.st_uid != os.geteuid():
        text = f"run directory {directory} belongs to somebody else; set WIRERATE_RUNTIME_DIR"
        raise HostSetupError(text)
    if status.st_mode & 0o077:
        text = (
            f"run directory {directory} is open to other users (mode "
            f"{status.st_mode & 0o777:o}); chmod 700 {directory}, or set WIRERATE_RUNTIME_DIR"
        )
        raise HostSetupError(text)


@contextmanager
def _alone(base: Path) -> Iterator[None]:
    """No other run makes or sweeps directories meanwhile."""
    lock = os.open(base / ".lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


class RunDirectory:
    """A fresh directory for one run; ``close()`` removes it. Its name is the DPDK file prefix."""

    def __init__(self) -> None:
        self._closed = False
        base = base_directory()
        _private(base)
        with _alone(base):
            sweep(base)
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
            flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC
            self._lock = os.open(self.path / "lock", flags, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @property
    def file_prefix(self) -> str:
        """The name, unique on this machine."""
        return self.path.name

    def note_lcores(self, lcores: Collection[int]) -> None:
        """Let other runs know which lcores this one keeps busy."""
        text = " ".join(str(lcore) for lcore in sorted(lcores))
        (self.path / _LCORES).write_text(text)

    def close(self) -> None:
        """Remove the directory and DPDK's of the same name. May be called again."""
        if not self._closed:
            self._closed = True
            _remove(self.path)
            os.close(self._lock)


def _remove(directory: Path) -> None:
    shutil.rmtree(dpdk_directory(directory.name), ignore_errors=True)
    shutil.rmtree(directory, ignore_errors=True)


def lcores_in_use() -> frozenset[int]:
    """The lcores that other runs of this user poll on just now."""
    base = base_directory()
    _private(base)
    with _alone(base):
        sweep(base)
    busy: set[int] = set()
    for file in base.glob(f"{_PREFIX}*/{_LCORES}"):
        try:
            busy.update(int(word) for word in file.read_text().split())
        except (OSError, ValueError):
            continue  # ended meanwhile, or just being written
    return frozenset(busy)


def idle_of(lcores: Sequence[int]) -> Sequence[int]:
    """Those on which no other run polls, where there are two or more; else all."""
    busy = lcores_in_use()
    idle = [lcore for lcore in lcores if lcore not in busy]
    return idle if len(idle) > 1 else lcores


def sweep(base: Path) -> None:
    """Remove what runs have left in base whose owner is gone (kill -9, power loss)."""
    for directory in base.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(directory / "lock", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue  # just being made or removed by its owner
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(directory)
        except OSError:
            pass  # in use
        finally:
            os.close(lock)
