# SPDX-License-Identifier: BSD-3-Clause
"""What tests need of the machine: skip reasons, network namespaces, testpmd, tshark."""

from __future__ import annotations

import os
import pty
import secrets
import select
import shutil
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MTU = 1500
CPUS = sorted(os.sched_getaffinity(0))
ONE = str(CPUS[-1])
"""An lcore that every machine has."""
TWO = ",".join(str(cpu) for cpu in CPUS[-2:])
"""Two lcores, where there are two."""


def is_root() -> bool:
    return os.geteuid() == 0


needs_root = pytest.mark.skipif(not is_root(), reason="needs root")
needs_two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs, for two lcores")


def needs(program: str) -> pytest.MarkDecorator:
    """Skip, and say so, where a program is missing."""
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def free_hugepages_mib() -> int:
    total = 0
    for directory in Path("/sys/kernel/mm/hugepages").glob("hugepages-*kB"):
        free = int((directory / "free_hugepages").read_text())
        total += free * int(directory.name.removeprefix("hugepages-").removesuffix("kB")) // 1024
    return total


_NR_HUGEPAGES = Path("/proc/sys/vm/nr_hugepages")
_HUGETLBFS = Path("/dev/hugepages")


@contextmanager
def hugepages(mib: int) -> Iterator[None]:
    """So much memory in free hugepages of 2 MiB, and where DPDK finds them; skips where not."""
    if not is_root():
        pytest.skip("needs root for hugepages")
    before = int(_NR_HUGEPAGES.read_text())
    _HUGETLBFS.mkdir(exist_ok=True)
    mounted = _HUGETLBFS.is_mount()
    try:
        _NR_HUGEPAGES.write_text(str(before + mib // 2))
        if free_hugepages_mib() < mib:
            pytest.skip(f"the kernel gives no {mib} MiB of hugepages")
        if not mounted:
            run("mount", "-t", "hugetlbfs", "nodev", str(_HUGETLBFS))
        yield
    finally:
        if not mounted and _HUGETLBFS.is_mount():
            run("umount", str(_HUGETLBFS))
        _NR_HUGEPAGES.write_text(str(before))


def run(*words: str) -> str:
    """Run a tool that has to succeed; its output."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Wire:
    """A veth pair in a namespace of its own; ``inside`` goes before a command that is to see it."""

    namespace: str
    left: str
    right: str

    @property
    def inside(self) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.namespace)

    def mtu(self, interface: str) -> int:
        return int(run(*self.inside, "cat", f"/sys/class/net/{interface}/mtu"))


@contextmanager
def wire() -> Iterator[Wire]:
    """A silent wire: no IPv6, no ARP, nothing on it but what a test sends."""
    made = Wire(f"wr-{secrets.token_hex(4)}", "wr-left", "wr-right")
    run("ip", "netns", "add", made.namespace)
    try:
        ip = ("ip", "-n", made.namespace, "link")
        run(*ip, "add", made.left, "mtu", str(MTU), "type", "veth", "peer", made.right)
        for name in (made.left, made.right):
            setting = f"net.ipv6.conf.{name}.disable_ipv6=1"
            run(*made.inside, "sysctl", "-qw", setting)
            run(*ip, "set", name, "arp", "off", "mtu", str(MTU), "up")
        yield made
    finally:
        run("ip", "netns", "del", made.namespace)


@contextmanager
def testpmd(devices: Sequence[str], eal: Sequence[str], *words: str) -> Iterator[int]:
    """An interactive testpmd with these devices that waits at its prompt; its terminal."""
    prefix = f"wr-peer-{secrets.token_hex(4)}"
    command = ["dpdk-testpmd", "--no-pci", "--file-prefix", prefix, *eal]
    for device in devices:
        command += ["--vdev", device]
    main, sub = pty.openpty()  # into a pipe it would not say when it is ready
    process = subprocess.Popen([*command, "--", "-i", *words], stdin=sub, stdout=sub, stderr=sub)
    os.close(sub)
    try:
        _prompted(process, main)
        with _read_away(main):
            yield main
    finally:
        process.kill()
        process.wait()
        os.close(main)
        shutil.rmtree(Path("/var/run/dpdk") / prefix, ignore_errors=True)
        for file in _HUGETLBFS.glob(f"{prefix}map_*"):
            file.unlink()


@contextmanager
def _read_away(terminal: int) -> Iterator[None]:
    """Read what comes: whose terminal is full stands still, and so do those who talk to it."""
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            ready, _, _ = select.select([terminal], [], [], 0.1)
            with suppress(OSError):
                if ready:
                    os.read(terminal, 65536)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield
    finally:
        over.set()
        reader.join()


def _prompted(process: subprocess.Popen[bytes], terminal: int) -> None:
    seen = b""
    deadline = time.monotonic() + 30
    while b"testpmd>" not in seen:
        ready, _, _ = select.select([terminal], [], [], 1)
        seen += os.read(terminal, 4096) if ready else b""
        assert process.poll() is None, seen.decode()
        assert time.monotonic() < deadline, seen.decode()


@contextmanager
def idle_testpmd(memif_socket: Path) -> Iterator[None]:
    """A testpmd with the server's end of a memif, which never polls."""
    cpu = CPUS[0]
    eal = ["--lcores", f"0@{cpu},1@{cpu}", "--no-huge", "-m", "128"]
    device = f"net_memif0,role=server,socket-abstract=no,socket={memif_socket}"
    with testpmd([device], eal, "--total-num-mbufs=4096"):
        yield


def tshark(file: Path, fields: Sequence[str], display_filter: str = "") -> list[tuple[str, ...]]:
    """Fields of every frame of a capture that passes the filter, checksums validated."""
    words = ["tshark", "-n", "-r", str(file), "-T", "fields", "-E", "separator=/t"]
    for protocol in ("ip", "udp", "tcp"):
        words += ["-o", f"{protocol}.check_checksum:TRUE"]
    words += ["-o", "tcp.analyze_sequence_numbers:FALSE"]
    for name in fields:
        words += ["-e", name]
    if display_filter:
        words += ["-Y", display_filter]
    return [tuple(line.split("\t")) for line in run(*words).splitlines()]
