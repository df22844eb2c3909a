# SPDX-License-Identifier: BSD-3-Clause
"""The guest from inside: NICs, drivers, hugepages, users, and wirerate run in it.

Everything runs as root in a machine that is thrown away afterwards, so nothing is put back.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from lab.guest.checks import Checks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.machine import Machine

_PCI = Path("/sys/bus/pci")
_HUGEPAGES = Path("/dev/hugepages")
_PAGE_MIB = 2
_WIRERATE = (sys.executable, "-m", "wirerate")
_WIRERATE_S = 120
"""What takes longer hangs; EAL alone takes 5 to 7 s here, more when the host is busy."""


@dataclass(frozen=True)
class Ran:
    """A program that ended."""

    command: str
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """What it printed, as JSON; with `--json` wirerate prints nothing else."""
        try:
            found = json.loads(self.out)
        except ValueError as error:
            raise ValueError(f"no JSON from {self}") from error
        if not isinstance(found, dict):
            raise TypeError(f"no JSON object from {self}")
        return found

    def __str__(self) -> str:
        """All of it, for a message."""
        return f"{self.command}\nexit code {self.code}\n{self.out}{self.err}"


@dataclass(frozen=True)
class User:
    """An ordinary user of the guest."""

    name: str
    uid: int
    home: str


def _environment(user: User | None) -> dict[str, str]:
    ours = {"HOME": user.home, "USER": user.name, "LOGNAME": user.name} if user else {}
    return {**os.environ, **ours}


def _limited(user: User | None, memlock_kib: int | None) -> list[str]:
    """What a command begins with, to be run by a user or with less memory to lock."""
    prefix = []
    if memlock_kib is not None:
        prefix += ["prlimit", f"--memlock={memlock_kib * 1024}"]
    if user is not None:
        prefix += ["setpriv", f"--reuid={user.uid}", f"--regid={user.uid}", "--clear-groups"]
    return prefix


class Guest:
    """The machine a job runs in. `checks` are the job's."""

    def __init__(self, machine: Machine) -> None:
        """Touch nothing yet; `set_up` does."""
        self.machine = machine
        self.checks = Checks()

    def set_up(self) -> None:
        """What every job wants: a loopback interface, hugepages where EAL looks for them."""
        self.run(["ip", "link", "set", "lo", "up"])
        _HUGEPAGES.mkdir(exist_ok=True)
        self.run(["mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "none", str(_HUGEPAGES)])
        self.hugepages(self.machine.hugepages_mib)

    # --- Programs ------------------------------------------------------------------------------

    def run(
        self,
        command: Sequence[str],
        *,
        timeout: float = _WIRERATE_S,
        check: bool = True,
        user: User | None = None,
        memlock_kib: int | None = None,
    ) -> Ran:
        """Run a program to its end, as `user` and with so little locked memory if asked.

        Raises RuntimeError when it fails, unless `check` is False.
        """
        whole = [*_limited(user, memlock_kib), *command]
        done = subprocess.run(
            whole,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env=_environment(user),
        )
        ran = Ran(shlex.join(command), done.returncode, done.stdout, done.stderr)
        if check and ran.code:
            raise RuntimeError(str(ran))
        return ran

    def wirerate(
        self,
        *arguments: str,
        timeout: float = _WIRERATE_S,
        check: bool = False,
        user: User | None = None,
        memlock_kib: int | None = None,
    ) -> Ran:
        """Run the project's own wirerate to its end; its arguments are a line of the log."""
        print(f"     wirerate {shlex.join(arguments)}")
        return self.run(
            [*_WIRERATE, *arguments],
            timeout=timeout,
            check=check,
            user=user,
            memlock_kib=memlock_kib,
        )

    @contextmanager
    def running(self, *arguments: str, ready: str, timeout: float = 60) -> Iterator[list[Ran]]:
        """Run wirerate beside the job: begun when it has said `ready`, ended as by Ctrl-C.

        The list has what it printed, once it has ended. Raises RuntimeError when it is not ready in
        time, or ends before.
        """
        print(f"     wirerate {shlex.join(arguments)} &")
        ended: list[Ran] = []
        with TemporaryDirectory(dir="/run") as folder:
            out, err = Path(folder) / "out", Path(folder) / "err"
            with out.open("wb") as out_file, err.open("wb") as err_file:
                process = subprocess.Popen(
                    [*_WIRERATE, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=out_file,
                    stderr=err_file,
                )
            deadline = time.monotonic() + timeout
            try:
                while ready not in out.read_text() + err.read_text():
                    if process.poll() is not None or time.monotonic() > deadline:
                        said = out.read_text() + err.read_text()
                        raise RuntimeError(f"{shlex.join(arguments)}: never said {ready!r}\n{said}")
                    time.sleep(0.2)
                yield ended
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(timeout=timeout)
            command = shlex.join(arguments)
            ended.append(Ran(command, process.returncode, out.read_text(), err.read_text()))

    # --- Devices -------------------------------------------------------------------------------

    def modprobe(self, *modules: str) -> None:
        """Load modules of the guest's kernel, with what they need."""
        command = [f"{os.environ['LAB_KMOD']}/modprobe", "-d", os.environ["LAB_MODULES"], "-a"]
        self.run([*command, *modules])

    def address(self, index: int) -> str:
        """PCI address of the machine's NIC `index`."""
        port = _PCI / "devices" / self.machine.root_port(index)
        found = sorted(path.name for path in port.glob("????:??:??.?"))
        if not found:
            raise LookupError(f"no device behind root port {port.name} of NIC {index}")
        return found[0]

    def vfio(self, *indexes: int) -> list[str]:
        """Bind NICs to vfio-pci, all of them if none is named; returns their PCI addresses."""
        addresses = [self.address(at) for at in indexes or range(len(self.machine.nics))]
        for address in addresses:
            self.bind(address, "vfio-pci")
        return addresses

    def kernel(self, *indexes: int) -> list[str]:
        """Leave NICs to the kernel's own drivers; returns the names of their interfaces."""
        self.modprobe("igb", "e1000e", "vmxnet3", "virtio_net")
        names = []
        for at in indexes or range(len(self.machine.nics)):
            device = _PCI / "devices" / self.address(at)
            names += sorted(path.name for path in device.glob("**/net/*"))
        return names

    def bind(self, address: str, driver: str) -> None:
        """Bind a PCI device to a driver, loading vfio when that is it."""
        if driver == "vfio-pci":
            self._load_vfio()
        device = _PCI / "devices" / address
        bound = device / "driver"
        if bound.exists():
            if bound.resolve().name == driver:
                return
            (bound / "unbind").write_text(address)
        (device / "driver_override").write_text(driver)
        (_PCI / "drivers_probe").write_text(address)
        if not bound.exists() or bound.resolve().name != driver:
            raise RuntimeError(f"{address} did not go to {driver}")

    def _load_vfio(self) -> None:
        if Path("/sys/bus/pci/drivers/vfio-pci").is_dir():
            return
        self.modprobe("vfio", "vfio_iommu_type1", "vfio-pci")
        if not any(Path("/sys/kernel/iommu_groups").iterdir()):
            Path("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode").write_text("1")

    def vfio_group(self, address: str) -> Path:
        """The file in /dev/vfio through which a device bound to vfio-pci is reached."""
        group = (_PCI / "devices" / address / "iommu_group").resolve().name
        return Path("/dev/vfio") / group

    # --- Memory and users ----------------------------------------------------------------------

    def hugepages(self, mib: int) -> None:
        """Have so much memory in pages of 2 MiB, spread over the nodes."""
        wanted = mib // _PAGE_MIB
        path = Path("/proc/sys/vm/nr_hugepages")
        path.write_text(str(wanted))
        if int(path.read_text()) != wanted:
            raise RuntimeError(f"{path.read_text().strip()} of {wanted} hugepages; lower the job's")

    def make_user(self, name: str, uid: int = 1500) -> User:
        """Make an ordinary user with a home folder; the host's list of users stays as it is."""
        home = Path("/run/users") / name
        home.mkdir(parents=True)
        os.chown(home, uid, uid)
        for path, line in (
            ("/etc/passwd", f"{name}:x:{uid}:{uid}::{home}:/bin/sh"),
            ("/etc/group", f"{name}:x:{uid}:"),
        ):
            ours = Path("/run") / Path(path).name
            ours.write_text(f"{Path(path).read_text()}{line}\n")
            self.run(["mount", "--bind", str(ours), path])
        return User(name, uid, str(home))
