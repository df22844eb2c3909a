# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts in network namespaces, `far` and `near`, and what goes on between their kernels.

A wire (a veth pair) joins far's interface `far` and near's `near`; the latter is the engine's. What
the kernel of the near side has is the other end of a kernel port.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.host import run

if TYPE_CHECKING:
    from collections.abc import Iterator

FAR, NEAR = "198.18.0.1", "198.18.0.2"
FAR6, NEAR6 = "fd00:18::1", "fd00:18::2"
FAR_MAC = "02:00:00:00:18:01"

_SERVE = """
import hashlib, socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
server = socket.create_server((sys.argv[1], 5001), family=family)
server.settimeout(30)
print("listening", flush=True)
taken, _ = server.accept()
taken.settimeout(30)
sha = hashlib.sha256()
for piece in iter(lambda: taken.recv(1 << 16), b""):
    sha.update(piece)
print(sha.hexdigest())
"""
_SEND = """
import hashlib, random, socket, sys
octets = random.Random(int(sys.argv[2])).randbytes(1 << 20)
sha = hashlib.sha256()
with socket.create_connection((sys.argv[1], 5001), timeout=30) as client:
    for _ in range(int(sys.argv[2])):
        client.sendall(octets)
        sha.update(octets)
print(sha.hexdigest())
"""


@dataclass(frozen=True)
class Hosts:
    """The two namespaces."""

    far: str
    near: str

    def inside(self, namespace: str) -> tuple[str, ...]:
        """What goes before a command that is to run there."""
        return ("ip", "netns", "exec", namespace)

    def kernel_pair(self) -> None:
        """The veth pair kp0-kp at near, for kernel ports that open an interface."""
        run("ip", "-n", self.near, "link", "add", "kp0", "type", "veth", "peer", "kp")
        _silent(self.near, "kp0")
        run("ip", "-n", self.near, "link", "set", "kp", "up")

    def no_kernel_pair(self) -> None:
        run("ip", "-n", self.near, "link", "del", "kp0")

    def up(self, interface: str) -> None:
        """Give near's kernel its addresses; far forgets where they were before."""
        ip = ("ip", "-n", self.near)
        for address in (f"{NEAR}/24", f"{NEAR6}/64"):
            more = ("nodad",) if ":" in address else ()
            run(*ip, "address", "add", address, "dev", interface, *more)
        run(*ip, "link", "set", interface, "up")
        run("ip", "-n", self.far, "neigh", "flush", "dev", "far")

    def pings(self, count: int, to: str = NEAR, every_s: float = 0.01) -> int:
        """Pings from far; how many were answered."""
        words = ("ping", "-c", str(count), "-i", str(every_s), "-W", "10", to)
        done = subprocess.run(
            (*self.inside(self.far), *words), capture_output=True, text=True, check=False
        )
        return int(done.stdout.split(" packets transmitted, ")[1].split(" received")[0])

    def transfer(self, mib: int, *, write: bool = False, ipv6: bool = False) -> None:
        """TCP from far to near (``write``: the other way); what arrives is what was sent."""
        here, there = (self.far, self.near) if not write else (self.near, self.far)
        address = {self.far: FAR6 if ipv6 else FAR, self.near: NEAR6 if ipv6 else NEAR}[there]
        python = (sys.executable, "-c")
        with subprocess.Popen(
            (*self.inside(there), *python, _SERVE, address), stdout=subprocess.PIPE, text=True
        ) as server:
            try:
                assert server.stdout is not None
                assert server.stdout.readline() == "listening\n"
                sent = run(*self.inside(here), *python, _SEND, address, str(mib))
                assert server.stdout.readline() == sent
            finally:
                server.kill()

    def features(self, namespace: str, interface: str) -> str:
        return run(*self.inside(namespace), "ethtool", "-k", interface)


@contextmanager
def hosts() -> Iterator[Hosts]:
    """Both, with their wire; nothing of them is left at the end."""
    name = secrets.token_hex(3)
    made = Hosts(f"wr-{name}-far", f"wr-{name}-near")
    try:
        for namespace in (made.far, made.near):
            run("ip", "netns", "add", namespace)
        far = ("ip", "-n", made.far)
        wire = ("far", "address", FAR_MAC, "type", "veth", "peer", "near", "netns", made.near)
        run(*far, "link", "add", *wire)
        _silent(made.near, "near")
        # Frames on the wire are frames: far's kernel cuts and computes before it.
        far_off = ("ethtool", "-K", "far", "tx", "off", "tso", "off", "gro", "on")
        run(*made.inside(made.far), *far_off)
        run(*far, "address", "add", f"{FAR}/24", "dev", "far")
        run(*far, "address", "add", f"{FAR6}/64", "dev", "far", "nodad")
        run(*far, "link", "set", "far", "up")
        yield made
    finally:
        for namespace in (made.far, made.near):
            with suppress(AssertionError):
                run("ip", "netns", "del", namespace)


def _silent(namespace: str, interface: str) -> None:
    """An interface that is the engine's: no ARP, no IPv6, no addresses; it merges as usual."""
    inside = ("ip", "netns", "exec", namespace)
    run(*inside, "sysctl", "-qw", f"net.ipv6.conf.{interface}.disable_ipv6=1")
    run(*inside, "ethtool", "-K", interface, "gro", "on")
    run("ip", "-n", namespace, "link", "set", interface, "arp", "off", "up")
