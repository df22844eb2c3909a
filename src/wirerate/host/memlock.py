# SPDX-License-Identifier: BSD-3-Clause
"""The memory lock limit. It stops an ordinary user whose NICs are on vfio, and nobody else.

vfio pins every page it maps for DMA and charges it to RLIMIT_MEMLOCK unless the caller has
CAP_IPC_LOCK; DPDK then says "Cannot set up DMA remapping, error 12".
"""

from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING

from wirerate.host.findings import Finding, ok, warning
from wirerate.host.nics import Nic, read_nics
from wirerate.host.tree import ROOT

if TYPE_CHECKING:
    from pathlib import Path

ENOUGH_OCTETS = 4 << 30  # mbufs, rings and the heap of a session stay well below 4 GiB
UNLIMITED = resource.RLIM_INFINITY


def probe_memlock(
    root: Path = ROOT,
    *,
    uid: int | None = None,
    limit_octets: tuple[int, int] | None = None,
    nics: list[Nic] | None = None,
) -> list[Finding]:
    """Return one finding. `limit_octets` is (soft, hard); by default this process's own."""
    uid = os.geteuid() if uid is None else uid
    soft, hard = limit_octets or resource.getrlimit(resource.RLIMIT_MEMLOCK)
    on_vfio = [
        nic.address
        for nic in (read_nics(root) if nics is None else nics)
        if nic.driver == "vfio-pci"
    ]
    text = limit_text(soft)
    if soft == UNLIMITED or soft >= ENOUGH_OCTETS:
        return [ok("memlock", text)]
    if uid == 0:
        return [ok("memlock", f"{text}, does not bind root")]
    if not on_vfio:
        return [ok("memlock", f"{text}, matters only with a NIC on vfio-pci, and there is none")]
    command = "ulimit -l unlimited"
    if hard != UNLIMITED:
        command = (
            "prlimit --memlock=unlimited --pid $$  (as root for this shell; hard limit "
            f"is {limit_text(hard)})"
        )
    text += (
        f" for an ordinary user: {', '.join(on_vfio)} on vfio-pci will fail with error 12 "
        "(cannot set up DMA remapping)"
    )
    return [warning("memlock", text, command)]


def limit_text(octets: int) -> str:
    """Return a limit as people write it: unlimited, 8 MiB, 64 KiB."""
    if octets == UNLIMITED:
        return "unlimited"
    return f"{octets >> 20} MiB" if octets >= 1 << 20 else f"{octets >> 10} KiB"
