# SPDX-License-Identifier: BSD-3-Clause
"""The descriptor loop on virtio: a million frames, a measured run after it, kill -9."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.guest.loop_proof import Loop, check_killed, check_loop
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(
    nics=(Nic("virtio"), Nic("virtio", options="rx_queue_size=1024")),
    cpus=2,
    hugepages_mib=512,
    timeout_s=400,
)


def run(guest: Guest) -> None:
    """As fast as the device takes them: it waits where the receiver is full.

    The receiver is, on a fast host: its driver takes 64 frames at a time, and 256 are handed over.
    """
    check_loop(guest, Loop("virtio", None))
    check_killed(guest)
