# SPDX-License-Identifier: BSD-3-Clause
"""Who runs wirerate and which of the kernel's powers (capabilities(7)) the ports need are there."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from wirerate.host.findings import Finding, ok, warning
from wirerate.host.tree import ROOT, read_text, unreadable

if TYPE_CHECKING:
    from pathlib import Path

# Bit numbers of include/uapi/linux/capability.h, and what a port needs them for.
CAPABILITIES = {
    12: ("CAP_NET_ADMIN", "tap, af_xdp"),
    13: ("CAP_NET_RAW", "af_packet, af_xdp"),
    14: ("CAP_IPC_LOCK", "NICs on vfio beyond the memory lock limit"),
    21: ("CAP_SYS_ADMIN", "NICs without an IOMMU, af_xdp"),
}
UNPRIVILEGED = "ring, null, pcap and memif ports work without"


def probe_user(root: Path = ROOT, *, uid: int | None = None) -> list[Finding]:
    """Return one finding: root or not, and the capabilities that are missing."""
    uid = os.geteuid() if uid is None else uid
    who = "root" if uid == 0 else f"ordinary user (uid {uid})"
    status = root / "proc/self/status"
    found = re.search(r"^CapEff:\s*([0-9a-fA-F]{1,32})\s*$", read_text(status) or "", re.MULTILINE)
    if found is None:
        return [warning("user", f"{who}; capabilities unknown: {unreadable(status)}")]
    effective = int(found[1], 16)
    missing = [
        f"{name} ({use})" for bit, (name, use) in CAPABILITIES.items() if not effective >> bit & 1
    ]
    if not missing:
        return [ok("user", f"{who}, every capability the ports need")]
    text = f"{who} without {', '.join(missing)}; {UNPRIVILEGED}"
    if uid == 0:
        names = " ".join(f"--cap-add {part.split(' ')[0].removeprefix('CAP_')}" for part in missing)
        return [warning("user", text, f"start the container with {names}")]
    return [ok("user", text)]
