# SPDX-License-Identifier: BSD-3-Clause
"""What every guest boots from: QEMU, kernel with modules, initramfs. Made once, in build/lab.

`prepare` gives a System. The folder it is in is named by what it is made from, so a changed recipe
or another release makes a new one.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import lzma
import os
import platform
import re
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab.host.packages import LabUnavailableError, PrivateApt, os_release

if TYPE_CHECKING:
    from collections.abc import Iterator

_OLDEST_QEMU = 9
"""igb came with QEMU 8.0; x2APIC without KVM, which lab/machine.py asks for, with 9.0."""
_NEEDED_DEVICES = ("igb", "virtio-9p-pci", "intel-iommu", "vmxnet3")
_EARLY_MODULES = ("virtio_pci", "9pnet_virtio", "9p")
"""What mounting the host's root takes, where the kernel has not got it built in."""


@dataclass(frozen=True)
class System:
    """Paths of what a guest boots from."""

    folder: Path
    qemu: tuple[str, ...]
    """The program, and where its firmware is."""
    libraries: str
    """LD_LIBRARY_PATH of the program; empty for the system's own."""
    kernel: Path
    initramfs: Path
    modules: Path
    """The folder that has lib/modules."""
    kmod: Path


def qemu_problem(version: str, devices: str) -> str:
    """What a QEMU lacks, from what `--version` and `-device help` print; empty when nothing."""
    found = re.search(r"version (\d+)\.(\d+)", version)
    if found is None:
        return "its version cannot be read"
    if int(found[1]) < _OLDEST_QEMU:
        return f"it is version {found[1]}.{found[2]}; {_OLDEST_QEMU}.0 has what is needed"
    missing = [name for name in _NEEDED_DEVICES if f'name "{name}"' not in devices]
    return f"it has no device {', '.join(missing)}" if missing else ""


def _asked(command: list[str], libraries: str = "") -> str:
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries} if libraries else None
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=60, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _problem_of(qemu: tuple[str, ...], libraries: str) -> str:
    return qemu_problem(
        _asked([*qemu, "--version"], libraries),
        _asked([*qemu, "-M", "none", "-device", "help"], libraries),
    )


def _check_host() -> dict[str, str]:
    """The fields of os-release of a machine that a lab may be had on."""
    if platform.machine() != "x86_64":
        raise LabUnavailableError(
            f"this machine is {platform.machine()}: the guest runs the host's programs on x86-64"
        )
    if not os.access("/", os.R_OK | os.X_OK):
        raise LabUnavailableError("/ cannot be read: the guest has the host's files as its own")
    path = Path("/etc/os-release")
    release = os_release(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if release.get("ID") != "debian" or not release.get("VERSION_CODENAME"):
        name = release.get("PRETTY_NAME", "an unknown system")
        raise LabUnavailableError(
            f"this is {name}: kernel and QEMU are taken from Debian's packages"
        )
    for tool in ("apt-get", "apt-config", "dpkg"):
        if shutil.which(tool) is None:
            raise LabUnavailableError(f"{tool} is not installed: kernel and QEMU come as packages")
    return release


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One at a time: several labs may start at once."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def prepare(lab: Path) -> System:
    """Everything a guest boots from, made when it is not there yet. Raises LabUnavailableError."""
    release = _check_host()
    lab.mkdir(parents=True, exist_ok=True)
    host = Path(__file__).parent
    recipe = hashlib.sha256(release.get("VERSION_CODENAME", "").encode())
    for name in ("packages.py", "system.py", "init"):
        recipe.update((host / name).read_bytes())
    folder = lab / f"system-{recipe.hexdigest()[:12]}"
    with _locked(lab / "lock"):
        if folder.is_dir() and not _usable(folder):
            shutil.rmtree(folder)
        if not folder.is_dir():
            _make(folder, release["VERSION_CODENAME"])
        return _system(folder)


def _usable(folder: Path) -> bool:
    """Whether what was made still works; a library of the system's may be gone."""
    system = _system(folder)
    return not _problem_of(system.qemu, system.libraries) and system.initramfs.is_file()


def _system(folder: Path) -> System:
    unpacked = folder / "unpacked"
    own = unpacked / "usr/bin/qemu-system-x86_64"
    qemu: tuple[str, ...] = ("qemu-system-x86_64",)
    libraries = ""
    if own.is_file():
        firmware = [unpacked / "usr/share" / name for name in ("qemu", "seabios")]
        qemu = (str(own), *(word for path in firmware for word in ("-L", str(path))))
        libraries = _libraries(unpacked)
    return System(
        folder,
        qemu,
        libraries,
        folder / "vmlinuz",
        folder / "initramfs",
        folder / "modules",
        folder / "kmod",
    )


def _libraries(unpacked: Path) -> str:
    places = [unpacked / place for place in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")]
    return ":".join(str(place) for place in places)


def _make(folder: Path, release: str) -> None:
    print("lab: fetching QEMU and a kernel, once (about 100 MB)", flush=True)
    making = folder.with_name(f"{folder.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    apt = PrivateApt(making, release)
    unpacked = apt.unpack(["linux-image-amd64", "kmod", "busybox-static"], release)
    if _problem_of(("qemu-system-x86_64",), ""):
        apt.unpack(["qemu-system-x86"], _suite_of_qemu(apt, release))
        _check_unpacked(unpacked)
    _take_kernel(making, unpacked)
    _make_initramfs(making, unpacked)
    for rest in ("cache", "lists", "status"):
        path = making / rest
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    making.rename(folder)


def _suite_of_qemu(apt: PrivateApt, release: str) -> str:
    """Where a QEMU that is new enough comes from."""
    for suite in (release, f"{release}-backports"):
        version = apt.version("qemu-system-x86", suite).rpartition(":")[2]
        if version and int(version.split(".")[0]) >= _OLDEST_QEMU:
            return suite
    raise LabUnavailableError(
        f"neither {release} nor {release}-backports has QEMU {_OLDEST_QEMU} or newer, "
        "which igb needs"
    )


def _check_unpacked(unpacked: Path) -> None:
    qemu = unpacked / "usr/bin/qemu-system-x86_64"
    problem = _problem_of((str(qemu),), _libraries(unpacked))
    if problem:
        raise LabUnavailableError(f"the QEMU of Debian's package cannot be used: {problem}")


def _take_kernel(folder: Path, unpacked: Path) -> None:
    """The kernel, its modules with a modules.dep, and kmod to load them with."""
    kernels = sorted(unpacked.glob("boot/vmlinuz-*"))
    if not kernels:
        raise LabUnavailableError("linux-image-amd64 brought no kernel")
    kernel = kernels[-1]
    shutil.move(kernel, folder / "vmlinuz")
    release = kernel.name.removeprefix("vmlinuz-")
    (folder / "modules/lib").mkdir(parents=True)
    source = next(
        path for path in (unpacked / "lib/modules", unpacked / "usr/lib/modules") if path.is_dir()
    )
    shutil.move(source, folder / "modules/lib/modules")
    kmod = next(
        path for path in (unpacked / "bin/kmod", unpacked / "usr/bin/kmod") if path.is_file()
    )
    (folder / "kmod").mkdir()
    for name in ("modprobe", "depmod", "insmod"):
        shutil.copy2(kmod, folder / "kmod" / name)
    subprocess.run(
        [str(folder / "kmod/depmod"), "-b", str(folder / "modules"), release],
        check=True,
        env={**os.environ, "LD_LIBRARY_PATH": _libraries(unpacked)},
    )


def _make_initramfs(folder: Path, unpacked: Path) -> None:
    """busybox, the modules of 9p, and `init`: it mounts the run's folder and goes on from there."""
    busybox = next(
        path for path in (unpacked / "bin/busybox", unpacked / "usr/bin/busybox") if path.is_file()
    )
    files = {
        "bin/busybox": busybox.read_bytes(),
        "init": Path(__file__).with_name("init").read_bytes(),
    }
    release = next((folder / "modules/lib/modules").iterdir())
    dependencies = (release / "modules.dep").read_text(encoding="utf-8")
    for number, name in enumerate(load_order(dependencies, _EARLY_MODULES)):
        content = (release / name).read_bytes()
        plain = lzma.decompress(content) if name.endswith(".xz") else content
        files[f"modules/{number:02}-{Path(name).name.partition('.')[0]}.ko"] = plain
    (folder / "initramfs").write_bytes(gzip.compress(newc(files), 1))


def load_order(dependencies: str, wanted: tuple[str, ...]) -> list[str]:
    """The modules to load for `wanted`, in order, from the text of a modules.dep (depmod(8)).

    A module that is not in it is built into the kernel.
    """
    needs: dict[str, list[str]] = {}
    paths = {}
    for line in dependencies.splitlines():
        path, _, rest = line.partition(":")
        needs[path] = rest.split()[::-1]  # the last one is to be loaded first
        paths[Path(path).name.partition(".")[0]] = path
    order: list[str] = []
    for name in wanted:
        if name in paths:
            order += [path for path in [*needs[paths[name]], paths[name]] if path not in order]
    return order


def newc(files: dict[str, bytes]) -> bytes:
    """A cpio archive in the "newc" format that Linux takes (its early-userspace/buffer-format)."""
    folders = sorted({str(parent) for name in files for parent in Path(name).parents} - {"."})
    entries = [(name, 0o040755, b"") for name in [*folders, "dev", "proc", "sys", "lab", "host"]]
    entries += [(name, 0o100755, content) for name, content in files.items()]
    entries.append(("TRAILER!!!", 0, b""))
    archive = bytearray()
    for number, (name, mode, content) in enumerate(entries, 1):
        fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        archive += b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        archive += bytes(-len(archive) % 4) + content
        archive += bytes(-len(archive) % 4)
    return bytes(archive)
