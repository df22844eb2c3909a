# SPDX-License-Identifier: BSD-3-Clause
"""CPU per frame of both engines on igb, by a clock that counts instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.guest.loop_proof import compare
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(
    nics=(Nic("igb"), Nic("igb")), cpus=2, hugepages_mib=512, icount=True, timeout_s=900
)


def run(guest: Guest) -> None:
    """With icount a cycle is an instruction, and one CPU runs at a time, which makes it slow."""
    compare(guest)
