# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate kernel-path` where vhost-net is: the rows of virtio-user beside Linux."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.machine import Machine

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(cpus=4, nics=(), timeout_s=1800)
_ROWS = [
    ("linux", ""),
    ("virtio-user", "shared"),
    ("virtio-user", "dedicated"),
    ("kni", "shared"),
    ("kni", "dedicated"),
]


def run(guest: Guest) -> None:
    """First without the module, which is said with what would change it; then with it."""
    checks = guest.checks
    said = guest.wirerate("kernel-path", "--list")
    checks.contains("virtio-user without its module", said.out, "modprobe vhost_net")
    guest.modprobe("vhost_net", "tun", "veth")
    # Without the fast path: one generator more is too much for emulated CPUs.
    options = ("--groups", "linux,virtio-user,kni", "--repeats", "1", "--time", "1")
    ran = guest.wirerate("kernel-path", *options, "--no-fast-path", "--json", timeout=1500)
    if not checks.equal("exit code", ran.code, 0):
        print(ran)
    rows = ran.document["rows"]
    checks.equal("rows", [(row["group"], row["mode"]) for row in rows], _ROWS)
    for row in rows:
        _check_row(guest, row)
    left = guest.run(["ip", "netns", "list"]).out.strip()
    checks.equal("namespaces left", left, "")


def _check_row(guest: Guest, row: dict[str, Any]) -> None:
    checks, name = guest.checks, f"{row['group']} {row['mode']}".strip()
    if row["group"] == "kni":
        checks.equal(f"{name}: status", row["status"], "cannot run")
        checks.contains(f"{name}: hint", row["hint"], "rte_kni")
        return
    checks.equal(f"{name}: status", row["status"], "ok")
    for test, found in row["tests"].items():
        passed = found["status"] == "ok" and found["gbps"]["median"] > 0
        checks.that(passed, f"{name}: {test} [Gbit/s]", found.get("gbps") or found["reason"])
    idle = row["ping"]["idle"]
    if idle["sent"]:
        checks.equal(f"{name}: ping, idle: lost", idle["loss"], 0)
    else:  # it answered before the row began, or there would be none
        print(f"     {name}: ping, idle: no reply in time: emulated CPUs are slow, more so here")
