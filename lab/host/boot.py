# SPDX-License-Identifier: BSD-3-Clause
"""Boot a guest for one job, pass its log on, return how it ended.

A run has a folder of its own, which the guest may write to: `log` (the job's output), `exit` (its
exit code), `checks.json` (how many it made, and those that failed), `console` (the kernel's). It is
removed when the job passed.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lab.host.tsc import tsc_khz
from lab.machine import BootFiles, Machine, cables, qemu_arguments, taps
from lab.table import DIED, FAILED, PASSED, UNAVAILABLE, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.host.system import System

_ROOT = Path(__file__).resolve().parent.parent.parent
_POLL_S = 0.2
_TAIL_LINES = 15
_ABORTED = 134
"""A shell's word for SIGABRT. QEMU's IOMMU now and then fails an assertion (iotlb_to_section)."""
_HIDDEN = ("/tmp", "/run", "/var/tmp", "/dev/shm", "/dev", "/proc", "/sys")  # noqa: S108 the guest's
"""What the guest has of its own. Folders below that it still needs are put there again."""


@dataclass(frozen=True)
class Ending:
    """How a guest ended."""

    code: int
    """The job's exit code; DIED where the guest did not get so far."""
    reason: str = ""
    """Why the guest did not get so far."""
    aborted: bool = False
    """QEMU ended by its own assertion, or hung by the same fault: worth a second try."""


def kept_folders(folders: list[Path], hidden: tuple[str, ...] = _HIDDEN) -> list[Path]:
    """Of the host's folders that a guest needs, those that its own would hide; outermost only."""
    kept: list[Path] = []
    for folder in sorted(set(folders)):
        below = any(folder.is_relative_to(place) for place in hidden)
        if below and not any(folder.is_relative_to(other) for other in kept):
            kept.append(folder)
    return kept


def _settings(job: str, machine: Machine, system: System) -> str:
    """Shell variables for the guest's scripts; the engine under test may be another build's."""
    values = {"project": str(_ROOT), "python": sys.executable, "job": job}
    exported = {
        "LAB_MODULES": str(system.modules),
        "LAB_KMOD": str(system.kmod),
        "LAB_HUGEPAGES_MIB": str(machine.hugepages_mib),
    }
    for name in ("WIRERATE_ENGINE", "PYTHONPATH"):
        if os.environ.get(name):
            exported[name] = os.environ[name]
    lines = [f"{name}={shlex.quote(value)}" for name, value in values.items()]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in exported.items()]
    return "\n".join(lines) + "\n"


def _prepare_share(share: Path, job: str, machine: Machine, system: System) -> None:
    guest = _ROOT / "lab/guest"
    for name in ("boot.sh", "start.sh"):
        shutil.copyfile(guest / name, share / name)
    (share / "settings.sh").write_text(_settings(job, machine, system))
    needed = [_ROOT, Path(sys.prefix), Path(sys.base_prefix), system.folder]
    if os.environ.get("WIRERATE_ENGINE"):
        needed.append(Path(os.environ["WIRERATE_ENGINE"]).resolve().parent)
    needed += [Path(word).resolve() for word in os.environ.get("PYTHONPATH", "").split(":") if word]
    kept = kept_folders([folder for folder in needed if folder.is_dir()])
    (share / "keep").write_text("".join(f"{folder}\n" for folder in kept))
    (share / "log").touch()


def _pass_on(log: BinaryIO) -> None:
    """Print what is new in the job's log."""
    sys.stdout.write(log.read().decode(errors="replace"))
    sys.stdout.flush()


def _ended(process: subprocess.Popen[bytes]) -> None:
    """End QEMU, which nobody may be able to ask any more."""
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _tail(path: Path) -> str:
    text = path.read_text(errors="replace") if path.is_file() else ""
    lines = [f"    {line}" for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-_TAIL_LINES:]) or "    (nothing)"


def _namespace(machine: Machine) -> list[str]:
    """What QEMU's command line begins with where it needs TAPs, which take no root this way."""
    wanted = taps(machine)
    if not wanted:
        return []
    script = str(Path(__file__).with_name("taps.sh"))
    return ["unshare", "--user", "--map-root-user", "--net", "sh", script, *wanted, "--"]


def _tap_problem(machine: Machine) -> str:
    """Why QEMU cannot have the TAPs it wants; empty where it can."""
    if not taps(machine):
        return ""
    tried = [*_namespace(machine), "true"]
    done = subprocess.run(tried, capture_output=True, text=True, check=False, timeout=30)
    if done.returncode == 0:
        return ""
    return (
        "NICs of several queues take TAPs in a namespace of their own, which this user cannot "
        f"make: {done.stderr.strip()}; allow user namespaces and /dev/net/tun"
    )


@contextmanager
def _plugged(machine: Machine) -> Iterator[dict[int, int]]:
    """A pair of sockets for each cable: NICs, and what frames wait in, keep their order."""
    ends: dict[int, socket.socket] = {}
    try:
        for pair in cables(machine):
            made = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            ends.update(zip(pair, made, strict=True))
        yield {nic: end.fileno() for nic, end in ends.items()}
    finally:
        for end in ends.values():
            end.close()


def _boot_once(machine: Machine, system: System, share: Path) -> Ending:
    with _plugged(machine) as sockets:
        return _boot(machine, system, share, sockets)


def _boot(machine: Machine, system: System, share: Path, sockets: dict[int, int]) -> Ending:
    console = share.parent / "console"
    files = BootFiles(system.kernel, system.initramfs, share, console, sockets, tsc_khz())
    environment = dict(os.environ)
    if system.libraries:
        environment["LD_LIBRARY_PATH"] = system.libraries
    errors = share.parent / "qemu-errors"
    # Whatever becomes of this process, no guest goes on without it.
    command = [*_namespace(machine), "setpriv", "--pdeathsig", "KILL"]
    command += [*system.qemu, *qemu_arguments(machine, files)]
    with errors.open("wb") as said:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env=environment,
            pass_fds=tuple(sockets.values()),
            start_new_session=True,
        )
    with (share / "log").open("rb") as log:
        try:
            deadline = time.monotonic() + machine.timeout_s
            while (
                process.poll() is None
                and time.monotonic() < deadline
                and not _has_lost_its_timer(errors.parent)
            ):
                time.sleep(_POLL_S)
                _pass_on(log)
            hung = process.poll() is None
        finally:
            _ended(process)
        _pass_on(log)
    return _ending(share, machine, process.returncode, hung=hung)


def _has_lost_its_timer(run: Path) -> bool:
    """The abort's quiet sibling: a CPU's write to its timer went astray, and it never wakes.

    QEMU tells where the write went to the IOMMU; else the guest's kernel tells after 21 s.
    """
    signs = {"qemu-errors": b"vtd_mem_write: MMIO over range", "console": b"timer handling issue"}
    return any(
        (run / name).is_file() and sign in (run / name).read_bytes() for name, sign in signs.items()
    )


def _ending(share: Path, machine: Machine, code: int, *, hung: bool) -> Ending:
    written = share / "exit"
    if written.is_file():
        code = int(written.read_text())
        if code in {PASSED, FAILED}:
            return Ending(code)
        reason = f"the job's program ended with {code}\n{_tail(share / 'log')}"
        return Ending(DIED, reason)
    logs = (
        f"  the end of its console:\n{_tail(share.parent / 'console')}\n"
        f"  the end of the job's log:\n{_tail(share / 'log')}"
    )
    if _has_lost_its_timer(share.parent):
        reason = f"QEMU sent a CPU's write to its timer elsewhere: the guest hangs\n{logs}"
        return Ending(DIED, reason, aborted=True)
    if hung:
        return Ending(
            DIED, f"the guest did not end within {machine.timeout_s} s and was ended\n{logs}"
        )
    said = _tail(share.parent / "qemu-errors")
    reason = f"QEMU ended with {code} before the job did\n  it said:\n{said}\n{logs}"
    return Ending(DIED, reason, aborted=code in {_ABORTED, -signal.SIGABRT})


def _run_once(job: str, machine: Machine, system: System, runs: Path) -> tuple[Ending, Path]:
    runs.mkdir(parents=True, exist_ok=True)
    run = Path(tempfile.mkdtemp(prefix=f"{job}-", dir=runs))
    share = run / "share"
    share.mkdir()
    _prepare_share(share, job, machine, system)
    return _boot_once(machine, system, share), run


def _counted(share: Path) -> tuple[int, tuple[str, ...], float]:
    """How many checks the guest made, which failed, its seconds; none where it did not end."""
    try:
        found = json.loads((share / "checks.json").read_text())
        return int(found["made"]), tuple(map(str, found["failures"])), float(found["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0, (), 0.0


def _clock_problem(machine: Machine, guest_s: float, host_s: float) -> str:
    """A job cannot take longer by the guest's clock than its machine by the host's."""
    if machine.icount or guest_s <= host_s:
        return ""
    return (
        f"the guest's clock is wrong: {guest_s:.0f} s by it, {host_s:.0f} s by the host's with "
        "the boot; rates and times in it are, too"
    )


def run_job(job: str, machine: Machine, system: System, runs: Path) -> Outcome:
    """Run a job in a guest of its own, its output on stdout. Returns how it ended."""
    started = time.monotonic()
    problem = _tap_problem(machine)
    if problem:
        print(f"lab: {job}: {problem}", flush=True)
        return Outcome(UNAVAILABLE, reason=problem)
    ending, run = _run_once(job, machine, system, runs)
    again = ending.aborted
    if again:
        what = ending.reason.partition("\n")[0]
        print(f"lab: {what}; a known fault of QEMU's IOMMU: once more", flush=True)
        shutil.rmtree(run)
        ending, run = _run_once(job, machine, system, runs)
    if ending.reason:
        print(f"lab: {job}: {ending.reason}")
    seconds = time.monotonic() - started
    made, failures, guest_s = _counted(run / "share")
    reason = ending.reason or _clock_problem(machine, guest_s, seconds)
    if ending.code == PASSED:
        shutil.rmtree(run)
    else:
        print(f"lab: {job}: logs are in {run}")
    return Outcome(ending.code, made, failures, reason, again, seconds)
