# SPDX-License-Identifier: BSD-3-Clause
"""The lab's part of `make test`: what of the other jobs goes over one pair of igb, in one boot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.guest.loop_proof import Loop, check_loop
from lab.jobs.measured import check_measured
from lab.jobs.perf import check_perf
from lab.jobs.rss import Case, check_case
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(cpus=5, nics=(Nic("igb"), Nic("igb")), timeout_s=480)


def run(guest: Guest) -> None:
    """Each check takes 10 to 20 s; all of them, with the boot, some 2 minutes, at most 4."""
    left, right = guest.vfio()
    check_perf(guest, left, right)
    check_measured(guest, left, right)
    check_loop(guest, Loop("igb", 20_000.0, frames=50_000, rx_descriptors=4096))
    check_case(guest, (left, right), Case("64 flows", (), 64))
