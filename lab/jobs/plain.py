# SPDX-License-Identifier: BSD-3-Clause
"""NICs without RSS: measured traffic over a pair of vmxnet3 and a pair of e1000e."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.guest.results import check_came_back, check_counts
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(
    cpus=5,
    nics=(
        *(Nic("vmxnet3", wire=0), Nic("vmxnet3", wire=0)),
        *(Nic("e1000e", wire=1), Nic("e1000e", wire=1)),
    ),
)

_PAIRS = (("net_vmxnet3", 10_000_000_000), ("net_e1000_em", 1_000_000_000))


def run(guest: Guest) -> None:
    """One pair after the other, by lcores that wirerate chooses."""
    ports = guest.vfio()
    for at, (driver, line_rate) in enumerate(_PAIRS):
        check_pair(guest, ports[2 * at : 2 * at + 2], driver, line_rate)


def check_pair(guest: Guest, ports: list[str], driver: str, line_rate: int) -> None:
    """Check driver, line rate and measured flows of one pair."""
    checks = guest.checks
    ran = guest.wirerate(
        "perf",
        *ports,
        "-r",
        "2kpps",
        "-s",
        "128",
        "--measure",
        "--duration",
        "2",
        "--cpu-saver",
        "--json",
    )
    checks.equal(f"perf's exit code on {driver}", ran.code, 0)
    for port in ran.document["ports"]:
        checks.equal(f"port {port['port']}: driver", port["driver"], driver)
        checks.equal(f"port {port['port']}: line rate", port["line_rate_bps"], line_rate)
    check_counts(checks, ran.document)
    check_came_back(checks, ran.document)
