# SPDX-License-Identifier: BSD-3-Clause
"""The descriptor loop on igb: a million frames, a measured run after it, kill -9."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.guest.loop_proof import Loop, check_killed, check_loop
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(nics=(Nic("igb"), Nic("igb")), cpus=3, hugepages_mib=512, timeout_s=600)
_FPS = 40_000.0
"""A worker that was kept away for 100 ms owes the receiver's 4,096 descriptors full."""


def run(guest: Guest) -> None:
    """At a rate that the receiver keeps up with, however late the emulated CPU is."""
    check_loop(guest, Loop("igb", _FPS, rx_descriptors=4096))
    check_killed(guest)
