# SPDX-License-Identifier: BSD-3-Clause
"""The descriptor loop on igb: a million frames, a measured run after it, kill -9, CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.guest.loop_proof import prove
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(
    nics=(Nic("igb"), Nic("igb")), cpus=2, hugepages_mib=512, icount=True, timeout_s=900
)
_FPS = 400_000.0
"""Of the guest's clock, which counts instructions: the receiver needs 1,000 per frame at most."""


def run(guest: Guest) -> None:
    """One driver, the machine's clock standing while others run."""
    prove(guest, "igb", _FPS)
