# SPDX-License-Identifier: BSD-3-Clause
"""An ordinary user with two igb ports on vfio: what it takes, and what is said where some lacks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lab.guest.results import check_counts
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest, User

MACHINE = Machine(nics=(Nic("igb"), Nic("igb")))

_SMALL_MEMLOCK_KIB = 1024
_UNLIMITED_KIB = 1 << 30


def run(guest: Guest) -> None:
    """First without the right to the devices, then without that to lock memory, then with both."""
    ports = guest.vfio()
    user = guest.make_user("tester")
    check_no_access(guest, user, ports)
    for port in ports:
        os.chown(guest.vfio_group(port), user.uid, user.uid)
    own_hugepages(guest, user)
    check_small_memlock(guest, user, ports)
    check_user(guest, user, ports)


def own_hugepages(guest: Guest, user: User) -> None:
    """Mount hugepages that are the user's, in place of root's."""
    options = f"pagesize=2M,uid={user.uid},gid={user.uid},mode=0700"
    guest.run(["umount", "/dev/hugepages"])
    guest.run(["mount", "-t", "hugetlbfs", "-o", options, "none", "/dev/hugepages"])


def check_no_access(guest: Guest, user: User, ports: list[str]) -> None:
    """Check what a user is told whose /dev/vfio is root's."""
    ran = guest.wirerate("perf", *ports, "--duration", "1", user=user)
    guest.checks.equal("exit code without the right to the device", ran.code, 3)
    guest.checks.contains("the file is named", ran.err, str(guest.vfio_group(ports[0])))


def check_small_memlock(guest: Guest, user: User, ports: list[str]) -> None:
    """Check what a user is told who may lock little memory, which vfio needs for DMA."""
    ran = guest.wirerate(
        "perf", *ports, "--duration", "1", user=user, memlock_kib=_SMALL_MEMLOCK_KIB
    )
    guest.checks.equal("exit code with little memory to lock", ran.code, 3)
    guest.checks.contains("the limit is named", ran.err, "ulimit -l")


def check_user(guest: Guest, user: User, ports: list[str]) -> None:
    """Check that an ordinary user's run is as root's."""
    ran = guest.wirerate(
        *("perf", *ports, "-r", "2kpps", "--duration", "2", "--cpu-saver", "--json"),
        user=user,
        memlock_kib=_UNLIMITED_KIB,
    )
    guest.checks.equal("exit code of an ordinary user's perf", ran.code, 0)
    check_counts(guest.checks, ran.document)
    guest.checks.equal("hugepages are used", ran.document["engine"]["hugepages"], wanted=True)
    left = sorted(path.name for path in Path(user.home).rglob("*"))
    guest.checks.equal("files left behind in the user's home", left, [])
