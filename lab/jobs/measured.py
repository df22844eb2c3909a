# SPDX-License-Identifier: BSD-3-Clause
"""Measured flows from igb to igb: loss, order and latency; then through a forwarder that drops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.guest.results import check_came_back, check_counts, reasons_against
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(
    cpus=6, nics=(Nic("igb", wire=0), Nic("igb", wire=0), Nic("igb", wire=1), Nic("igb", wire=1))
)

_MEASURE = ("--measure", "-s", "128", "--duration", "2", "--cpu-saver", "--json")


def run(guest: Guest) -> None:
    """Over a wire, then with wirerate's own forwarder, which drops and reorders, in between."""
    first, second, third, fourth = guest.vfio()
    check_measured(guest, first, second)
    check_forwarded(guest, (first, fourth), (second, third))


def check_measured(guest: Guest, left: str, right: str) -> None:
    """Check two measured flows, of two queues each, over a wire."""
    maps = ("-m", "1-2.0", "-m", "1-2.1")
    ran = guest.wirerate("perf", left, right, *maps, "-r", "2kpps", *_MEASURE)
    guest.checks.equal("perf's exit code, measured", ran.code, 0)
    check_counts(guest.checks, ran.document)
    check_came_back(guest.checks, ran.document)


def check_forwarded(guest: Guest, tester: tuple[str, str], between: tuple[str, str]) -> None:
    """Check that the tester's losses are to the frame what the forwarder did."""
    checks = guest.checks
    faults = ("--drop", "5%", "--duplicate", "2%", "--reorder", "2%", "--seed", "7")
    forwarder = ("forward", *between, *faults, "-m", "1.0/2.1", "--cpu-saver", "--json", "-v")
    with guest.running(*forwarder, ready="Port p1") as forwarded:
        maps = ("-m", "3.0", "-m", "4.1")
        ran = guest.wirerate("perf", *tester, *maps, "-r", "2kpps", *_MEASURE)
    checks.equal("perf's exit code, through the forwarder", ran.code, 0)
    checks.equal("the forwarder's exit code", forwarded[0].code, 0)
    sent = ran.document["total"]
    back, did = sent["received"], forwarded[0].document["total"]
    checks.equal("the forwarder received what was sent", did["rx_frames"], sent["tx_frames"])
    checks.that(did["dropped"] > 0, "the forwarder dropped", f"{did['dropped']:,} frames")
    checks.equal(
        "lost is what it dropped",
        back["lost"],
        did["dropped"] + did["not_taken"] + did["overflowed"],
    )
    checks.equal("duplicated is what it sent twice", back["duplicates"], did["duplicated"])
    checks.equal("reordered is what it held back", back["reordered"], did["reordered"])
    checks.equal(
        "the verdict's reasons that emulation does not explain", reasons_against(ran.document), []
    )
