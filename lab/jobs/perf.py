# SPDX-License-Identifier: BSD-3-Clause
"""perf over two igb ports of four queues: the device's counters, link speed, rates in percent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.guest.results import check_counts
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(cpus=5, nics=(Nic("igb"), Nic("igb")))

_LINE_FPS = 1e9 / ((64 + 20) * 8)
"""64-octet frames on a line of 1 Gbit/s: 1,488,095 frames/s."""


def run(guest: Guest) -> None:
    """What doctor says of the ports, then lcores that sleep between frames, then ones that poll."""
    left, right = guest.vfio()
    check_doctor(guest, left, right)
    check_perf(guest, left, right)
    check_polling(guest, left, right)


def check_doctor(guest: Guest, *ports: str) -> None:
    """Check that doctor finds ports on vfio-pci ready."""
    said = guest.wirerate("doctor")
    guest.checks.equal("doctor's exit code", said.code, 0)
    for port in ports:
        line = next((line for line in said.out.splitlines() if "nics" in line and port in line), "")
        guest.checks.contains("doctor finds the port ready", line, "ready for DPDK")


def check_perf(guest: Guest, left: str, right: str) -> None:
    """Check four queues each way at 0.2 percent of the line, which is to be found by itself."""
    maps = ("-m", "1-4.0", "-m", "1-4.1")
    percent = ("-r", "0.2%", "--duration", "2", "--cpu-saver")
    ran = guest.wirerate("perf", left, right, *maps, *percent, "--json")
    checks = guest.checks
    checks.equal("perf's exit code", ran.code, 0)
    document = ran.document
    for port in document["ports"]:
        name = f"port {port['port']}"
        checks.equal(f"{name}: driver", port["driver"], "net_e1000_igb")
        checks.equal(f"{name}: line rate", port["line_rate_bps"], 1_000_000_000)
        checks.between(
            f"{name}: 0.2 % of the line [frames/s]",
            port["intended_load"]["fps"],
            0.002 * _LINE_FPS - 0.01,
            0.002 * _LINE_FPS + 0.01,
        )
        checks.between(f"{name}: frames due in 2 s", port["tx_frames_due"], 5952, 5956)
        sent = [queue["frames"] for queue in port["tx_queues"]]
        checks.that(len(sent) == 4 and min(sent) > 0, f"{name}: every Tx queue sent", sent)
        received = [queue["frames"] for queue in port["rx_queues"]]
        checks.that(
            len(received) == 4 and min(received) > 0, f"{name}: every Rx queue received", received
        )
    check_counts(checks, document)


def check_polling(guest: Guest, left: str, right: str) -> None:
    """Check lcores that poll without pause, as on real machines; emulated, they are late."""
    ran = guest.wirerate("perf", left, right, "-r", "20kpps", "--duration", "2", "--json")
    guest.checks.equal("perf's exit code, polling", ran.code, 0)
    check_counts(guest.checks, ran.document)
