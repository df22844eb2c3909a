# SPDX-License-Identifier: BSD-3-Clause
"""Every probe, once, in the fixed order of areas. Reads only; changes nothing on the host."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wirerate.errors import HostSetupError
from wirerate.host.clock import probe_clock, probe_tsc
from wirerate.host.cpu import probe_cpus, probe_isolation, probe_numa, probe_smt
from wirerate.host.findings import Finding, in_order
from wirerate.host.hugepages import probe_hugepages
from wirerate.host.iommu import probe_iommu
from wirerate.host.lcores import probe_lcores
from wirerate.host.memlock import probe_memlock
from wirerate.host.nic_findings import probe_nics
from wirerate.host.nics import read_nics
from wirerate.host.noise import probe_noise
from wirerate.host.power import probe_cstates, probe_governor
from wirerate.host.tree import ROOT
from wirerate.host.user import probe_user
from wirerate.host.versions import probe_versions, run_command

if TYPE_CHECKING:
    from pathlib import Path

    from wirerate.host.versions import Run

HOST_PROBES = (
    probe_cpus,
    probe_isolation,
    probe_smt,
    probe_numa,
    probe_cstates,
    probe_governor,
    probe_clock,
    probe_noise,
)


def examine(
    root: Path = ROOT,
    *,
    uid: int | None = None,
    engine: Path | HostSetupError | None = None,
    run: Run = run_command,
) -> list[Finding]:
    """Return every finding about the host below `root`, for user `uid` (default: this process's).

    `engine` is the binary that a measurement would start, or the error of looking for it.
    Never raises for what the host lacks; what cannot be read is a finding.
    """
    uid = os.geteuid() if uid is None else uid
    nics = read_nics(root)
    findings = [
        *probe_versions(root, engine=engine, run=run),
        *probe_user(root, uid=uid),
        *probe_hugepages(root, uid=uid),
        *probe_memlock(root, uid=uid, nics=nics),
        *probe_iommu(root, nics=nics),
        *probe_nics(root, uid=uid, nics=nics),
        *probe_lcores(root, nics=nics),
    ]
    if engine is not None and not isinstance(engine, HostSetupError):
        findings += probe_tsc(engine, run)
    for probe in HOST_PROBES:
        findings += probe(root)
    return in_order(findings)
