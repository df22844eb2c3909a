# SPDX-License-Identifier: BSD-3-Clause
"""A file by TCP from one network namespace of the guest to another, and ping.

Run as a program by itself: ``python -m lab.guest.transfer receive|send ADDRESS PORT MIB SEED``.
Each end prints the SHA-256 of what it has received or sent.
"""

from __future__ import annotations

import hashlib
import random
import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.guest.guest import Guest

_TIMEOUT_S = 120
_MIB = 1 << 20
_HEX_DIGITS = 64
_PORT = 5001
_PINGS = 5
_PING_TRIES = 3


def in_namespace(name: str) -> list[str]:
    """What a command begins with, to be run in a namespace; the guest's own is ''."""
    return ["ip", "netns", "exec", name] if name else []


def ping(guest: Guest, namespace: str, address: str, count: int = _PINGS) -> int:
    """Send so many echo requests; returns how many were answered."""
    command = ["ping", "-c", str(count), "-i", "0.2", "-W", "3", address]
    ran = guest.run([*in_namespace(namespace), *command], check=False)
    found = re.search(r"(\d+) received", ran.out)
    if found is None:
        print(ran)
    return int(found[1]) if found else -1


def transfer(ends: tuple[str, str], address: str, mib: int) -> tuple[str, str]:
    """Send `mib` MiB from one namespace to an address of the other; SHA-256 sent, and received."""
    sender, receiver = ends
    with _program(receiver, "receive", address, mib) as receiving:
        if receiving.stdout is not None:
            receiving.stdout.readline()  # "listening"
        with _program(sender, "send", address, mib) as sending:
            sent = sending.communicate(timeout=_TIMEOUT_S)[0]
        received = receiving.communicate(timeout=_TIMEOUT_S)[0]
    return sent.strip(), received.strip()


def check_pings(guest: Guest, title: str, namespace: str, address: str) -> None:
    """Check that every echo request is answered, in one of three tries.

    A guest that lost its CPUs for seconds answers too late or overruns a ring, once; what a bridge
    or a forwarder loses is lost each time.
    """
    for left in reversed(range(_PING_TRIES)):
        answered = ping(guest, namespace, address)
        if answered == _PINGS or not left:
            break
        print(f"     {title}: {answered} of {_PINGS} pings answered: emulated CPUs are late; again")
    guest.checks.equal(f"{title}: pings answered by {address}", answered, _PINGS)


@contextmanager
def _program(namespace: str, role: str, address: str, mib: int) -> Iterator[subprocess.Popen[str]]:
    command = [*in_namespace(namespace), sys.executable, "-m", "lab.guest.transfer"]
    words = [role, address, str(_PORT), str(mib), "7"]
    program = subprocess.Popen([*command, *words], stdout=subprocess.PIPE, text=True)
    try:
        yield program
    finally:
        program.kill()
        program.wait()


def check_transfer(guest: Guest, title: str, ends: tuple[str, str], address: str, mib: int) -> None:
    """Check that what arrives is what was sent from the first namespace to one of the second."""
    try:
        sent, received = transfer(ends, address, mib)
    except subprocess.TimeoutExpired:
        guest.checks.that(condition=False, text=f"{title}: ended within {_TIMEOUT_S} s")
        return
    guest.checks.that(
        len(sent) == _HEX_DIGITS and sent == received,
        f"{title}: {mib} MiB by TCP, SHA-256 of what arrived",
        sent[:16] if sent == received else f"{sent!r}, and not {received!r}",
    )


def _address_family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _receive(address: str, port: int) -> str:
    digest = hashlib.sha256()
    with socket.socket(_address_family(address), socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen()
        print("listening", flush=True)
        listener.settimeout(_TIMEOUT_S)
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(_TIMEOUT_S)
            while octets := connection.recv(_MIB):
                digest.update(octets)
    return digest.hexdigest()


def _send(address: str, port: int, mib: int, seed: int) -> str:
    made = random.Random(seed)  # noqa: S311 the same octets each time
    digest = hashlib.sha256()
    with socket.create_connection((address, port), timeout=_TIMEOUT_S) as connection:
        for _ in range(mib):
            octets = made.randbytes(_MIB)
            digest.update(octets)
            connection.sendall(octets)
    return digest.hexdigest()


def main() -> None:
    """Receive or send, as the arguments say."""
    role, address, port, mib, seed = sys.argv[1:]
    if role == "receive":
        print(_receive(address, int(port)), flush=True)
    else:
        print(_send(address, int(port), int(mib), int(seed)), flush=True)


if __name__ == "__main__":
    main()
