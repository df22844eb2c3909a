# SPDX-License-Identifier: BSD-3-Clause
"""Two NUMA nodes, a NIC on each: lcores and memory of its node; a bad map is warned of.

NIC 0 is on node 1 and NIC 1 on node 0, so that neither the order of ports nor that of CPUs is right
by chance. CPUs 0-3 are on node 0, 4-7 on node 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest, Ran

MACHINE = Machine(
    nics=(Nic("igb", node=1), Nic("igb", node=0)),
    cpus=8,
    sockets=2,
    memory_mib=3072,
    hugepages_mib=1024,
    timeout_s=900,
)
_NODES = (1, 0)
_CPUS = {0: range(4), 1: range(4, 8)}
_FRAMES = 4000
_RATE = ("-r", "4kpps", "--count", str(_FRAMES), "--cpu-saver")
_PAGES = "/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/nr_hugepages"


def run(guest: Guest) -> None:
    """Chosen placement, asked bad placement, and both kinds of memory."""
    ports = guest.vfio()
    _check_machine(guest, ports)
    _check_chosen(guest, ports)
    _check_text(guest, ports[0])
    _check_bad_map(guest, ports[0])
    _check_one_node_without_hugepages(guest, ports[0])


def _check_machine(guest: Guest, ports: list[str]) -> None:
    for address, node in zip(ports, _NODES, strict=True):
        seen = Path(f"/sys/bus/pci/devices/{address}/numa_node").read_text().strip()
        guest.checks.equal(f"the kernel has {address} on node", seen, str(node))


def _check_valid(guest: Guest, ran: Ran) -> list[dict[str, Any]]:
    """The ports of a run that sent what it had to and lost nothing."""
    guest.checks.equal("exit code", ran.code, 0)
    ports: list[dict[str, Any]] = ran.document["ports"]
    for port in ports:
        title = f"port {port['port']}"
        guest.checks.equal(f"{title}: sent", port["tx_frames"], _FRAMES)
        guest.checks.equal(f"{title}: by its device", port["device"]["opackets"], _FRAMES)
    return ports


def _check_chosen(guest: Guest, ports: list[str]) -> None:
    ran = guest.wirerate("perf", *ports, *_RATE, "--json")
    for port, node in zip(_check_valid(guest, ran), _NODES, strict=True):
        placement = port["placement"]
        title = f"port {port['port']}"
        guest.checks.equal(f"{title}: node of the device", port["numa_node"], node)
        lcores = {entry["lcore"]: entry["numa_node"] for entry in placement["lcores"]}
        guest.checks.equal(f"{title}: two lcores of its node", [*lcores.values()], [node, node])
        guest.checks.that(set(lcores) <= set(_CPUS[node]), f"{title}: they are", sorted(lcores))
        guest.checks.equal(f"{title}: its frames' node", placement["memory_nodes"], [node])
        guest.checks.that(placement["local"], f"{title}: all of it local")
    guest.checks.that("NUMA" not in ran.err, "no warning", ran.err.strip())
    guest.checks.that(ran.document["engine"]["hugepages"], "hugepages were used")


def _check_text(guest: Guest, port: str) -> None:
    ran = guest.wirerate("perf", port, *_RATE)
    shown = " ".join(ran.out.split())
    guest.checks.contains(
        "the text tells of lcores", shown, "NUMA: port 0 is on node 1, lcores 4-5"
    )
    guest.checks.contains("and of memory", shown, "port 0 on node 1: frames in memory of node 1")


def _check_bad_map(guest: Guest, port: str) -> None:
    ran = guest.wirerate("perf", port, "-m", "2:5.0", *_RATE, "--json")
    (seen,) = _check_valid(guest, ran)
    wanted = "port 0 is on NUMA node 1, but lcore 2 is on another"
    guest.checks.contains("a bad map is warned of", " ".join(ran.err.split()), wanted)
    guest.checks.contains("and noted", "\n".join(ran.document["verdict"]["notes"]), wanted)
    guest.checks.that(seen["placement"]["local"] is False, "bad map: not local")
    guest.checks.equal("bad map: memory", seen["placement"]["memory_nodes"], [1])


def _check_one_node_without_hugepages(guest: Guest, port: str) -> None:
    """Hugepages of the other node are of no use: ordinary pages, of the port's node too."""
    Path(_PAGES.format(1)).write_text("0")
    ran = guest.wirerate("perf", port, *_RATE, "--json")
    (seen,) = _check_valid(guest, ran)
    guest.checks.that(not ran.document["engine"]["hugepages"], "ordinary pages were used")
    guest.checks.equal("ordinary pages: memory", seen["placement"]["memory_nodes"], [1])
    guest.checks.that(seen["placement"]["local"], "ordinary pages: local")
