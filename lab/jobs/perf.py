# SPDX-License-Identifier: BSD-3-Clause
"""perf over two igb ports of four queues: counters, link speed, rates in percent of the line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(nics=(Nic("igb"), Nic("igb")))


def run(guest: Guest) -> None:
    """Both ports send and receive at once."""
    left, right = guest.vfio()
    check_perf(guest, left, right)


def check_perf(guest: Guest, left: str, right: str) -> None:
    """Run perf between two ports."""
    ran = guest.wirerate("perf", left, right, "-r", "0.7%", "--duration", "3", "--json")
    print(ran)
    guest.checks.equal("perf's exit code", ran.code, 0)
