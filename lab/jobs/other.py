# SPDX-License-Identifier: BSD-3-Clause
"""A port that another program has: refused in a sentence, and that program notices nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(nics=(Nic("igb"), Nic("igb"), Nic("igb", wire=1), Nic("igb")), timeout_s=900)
_SEND = ("-r", "1kpps", "--cpu-saver")


def run(guest: Guest) -> None:
    """A first run on ports 0 and 1; others on one of them, on a third, and on the kernel's own."""
    left, right, third = guest.vfio(0, 1, 2)
    (interface,) = guest.kernel(3)
    first = ("perf", left, right, *_SEND, "--duration", "10m", "--measure", "-m", "1.0/2.1")
    with guest.running(*first, ready="Port    :") as ended:  # until Ctrl-C
        _check_refused(guest, left)
        _check_refused(guest, third, left)
        ran = guest.wirerate("perf", third, "-m", "3.0", *_SEND, "--count", "1000", "--json")
        if guest.checks.equal("a run on a free port: exit code", ran.code, 0):
            (port,) = ran.document["ports"]
            guest.checks.equal("a run on a free port: sent", port["tx_frames"], 1000)
    said = ended[0]
    guest.checks.equal("the first run's exit code", said.code, 0)
    print(said.out[said.out.rindex("Summary") :])
    guest.checks.that(
        said.out.count("came back") == said.out.count("lost 0 (0 %)") - 1 == 2,
        "the first run lost nothing",
    )
    guest.checks.that("device says" not in said.out, "its counts agree with its devices'")
    _check_kernels(guest, guest.address(3), interface)


def _check_refused(guest: Guest, *ports: str) -> None:
    ran = guest.wirerate("perf", *ports, "--duration", "1", "--json")
    taken = ports[-1]
    guest.checks.that(ran.code in {3, 4}, f"{taken} in use: exit code", ran.code)
    guest.checks.contains("it is named, and why", ran.err, f"{taken}")
    guest.checks.contains("in words", ran.err, "in use")
    guest.checks.equal("nothing is printed as a result", ran.out, "")
    print(ran.err)


def _check_kernels(guest: Guest, address: str, interface: str) -> None:
    ran = guest.wirerate("perf", address, "--duration", "1", "--json")
    guest.checks.equal(f"{address} of the kernel: exit code", ran.code, 3)
    guest.checks.contains("what to do is said", ran.err, "is it bound to vfio-pci?")
    guest.checks.that(Path(f"/sys/class/net/{interface}").exists(), "its interface is as before")
