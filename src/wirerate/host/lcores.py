# SPDX-License-Identifier: BSD-3-Clause
"""A working core map for this host: main lcore, worker lcores, and `[RX:TX].PORT` for each port.

Workers are isolated CPUs where there are any, one per core (no SMT siblings of each other or of the
main lcore), on the NUMA node of their port. It is a start that works, not an optimum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.host.cpu import NODES, allowed_cpus, isolated_cpus, sibling_lists
from wirerate.host.findings import Finding, ok, warning
from wirerate.host.nics import Nic, read_nics
from wirerate.host.tree import ROOT, format_cpu_list, numbered, parse_cpu_list, read_text

if TYPE_CHECKING:
    from pathlib import Path


def probe_lcores(root: Path = ROOT, *, nics: list[Nic] | None = None) -> list[Finding]:
    """Return the suggested map, and a warning for each port whose NUMA node has no worker."""
    main, workers = choose_lcores(root)
    if main is None:
        return [warning("lcores", "no core map: allowed CPUs unknown")]
    if not workers:
        return [ok("lcores", f"main lcore and worker share CPU {main}")]
    ports = [nic for nic in (read_nics(root) if nics is None else nics) if nic.for_dpdk]
    nodes = {
        number: parse_cpu_list(read_text(path / "cpulist"))
        for number, path in numbered(root / NODES, "node")
    }
    head = f"suggested: main lcore {main}, workers {format_cpu_list(workers)}"
    if not ports:
        return [
            ok("lcores", f"{head}; core map -m {_map_text(workers, 0)} for one port (RX:TX.PORT)")
        ]
    near = [
        [cpu for cpu in workers if nic.numa_node is None or cpu in nodes.get(nic.numa_node, [])]
        for nic in ports
    ]
    shares = [_share(near, port) or workers for port in range(len(ports))]
    maps = ",".join(_map_text(share, port) for port, share in enumerate(shares))
    order = ", ".join(f"{port} = {nic.address}" for port, nic in enumerate(ports))
    far = [_far(nic) for nic, cpus in zip(ports, near, strict=True) if not cpus]
    return [ok("lcores", f"{head}; core map -m {maps} (RX:TX.PORT; port {order})"), *far]


def choose_lcores(root: Path = ROOT) -> tuple[int | None, list[int]]:
    """Return the main lcore and the workers: allowed CPUs, one per core, isolated ones first."""
    allowed = allowed_cpus(root)
    isolated = [cpu for cpu in isolated_cpus(root) or [] if cpu in allowed]
    main = next((cpu for cpu in allowed if cpu not in isolated), allowed[0] if allowed else None)
    core_of = {cpu: core[0] for core in sibling_lists(root) for cpu in core}
    taken = {core_of.get(main, main)} if main is not None else set()
    workers = []
    for cpu in isolated or allowed:
        core = core_of.get(cpu, cpu)
        if cpu != main and core not in taken:
            taken.add(core)
            workers.append(cpu)
    # Two siblings of one core are all there is: better a shared core than no worker.
    return main, workers or [cpu for cpu in isolated or allowed if cpu != main][:1]


def _share(near: list[list[int]], port: int) -> list[int]:
    """Return the port's part of its node's workers, which ports of one node share out."""
    rivals = [other for other, cpus in enumerate(near) if cpus == near[port]]
    turn, cpus = rivals.index(port), near[port]
    if len(cpus) < len(rivals):
        return cpus[turn % len(cpus) : turn % len(cpus) + 1] if cpus else []
    each = len(cpus) // len(rivals)
    return cpus[turn * each : (turn + 1) * each]


def _map_text(cpus: list[int], port: int) -> str:
    """Return `RX:TX.PORT`: the first half receives, the second transmits; one lcore does both."""
    half = len(cpus) // 2
    if half == 0:
        return f"{cpus[0]}.{port}"
    return f"{_lcore_list(cpus[:half])}:{_lcore_list(cpus[half:])}.{port}"


def _lcore_list(cpus: list[int]) -> str:
    """Return "2-5", or "[2-3,6]" in brackets where a comma would end the map."""
    text = format_cpu_list(cpus)
    return f"[{text}]" if "," in text else text


def _far(nic: Nic) -> Finding:
    text = (
        f"no worker on node {nic.numa_node} of {nic.address}: every frame crosses to another node"
    )
    return warning("lcores", text, f"allow or isolate CPUs of node {nic.numa_node}")
