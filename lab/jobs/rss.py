# SPDX-License-Identifier: BSD-3-Clause
"""RSS of igb: 10,000 flows over four queues as predicted, other keys, tables, fields; rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(nics=(Nic("igb"), Nic("igb")), timeout_s=900)

_QUEUES = 4
_RUN_S = 300
"""Python makes 10,000 frames slowly here."""
_OTHER_KEY = "00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210a5a5c3c30f0f7e81"


@dataclass(frozen=True)
class Case:
    """What is asked, and the greatest load of a queue over the mean that the flows then have."""

    what: str
    arguments: tuple[str, ...]
    flows: int = 512
    max_over_mean: float | None = None


_CASES = (
    Case("10,000 flows, even", ("--spread", "even"), 10_000, 1.0),
    Case(
        "symmetric key, half of the flows on queue 0",
        ("--key", "symmetric", "--spread", "skewed:0.5"),
        max_over_mean=2.0,
    ),
    Case("another key and table", ("--key", _OTHER_KEY, "--reta", "3,3,2,1")),
    Case(
        "another key, IPv6 and TCP, even",
        ("--key", _OTHER_KEY, "--ipv6", "--tcp", "--spread", "even"),
        max_over_mean=1.0,
    ),
    Case("addresses alone", ("--fields", "ipv4", "--spread", "even"), max_over_mean=1.0),
    Case("nothing of these is hashed", ("--fields", "ipv6"), 64, 4.0),
)


def run(guest: Guest) -> None:
    """Every case is a run of its own, and so finds the device as its driver sets it up."""
    left, right = guest.vfio()
    for case in _CASES:
        check_case(guest, (left, right), case)
    _check_steering(guest, (left, right))


def check_case(guest: Guest, ports: tuple[str, str], case: Case) -> None:
    """Check that flows from one port arrive on the queues that were predicted."""
    checks = guest.checks
    asked = ("--flows", str(case.flows), *case.arguments, "--json")
    ran = guest.wirerate("rss", "--check", *ports, "-q", str(_QUEUES), *asked, timeout=_RUN_S)
    if not checks.that(ran.code in {0, 1}, f"{case.what}: it ran", "" if ran.code < 2 else ran):
        return
    result = ran.document
    checks.that(result["passed"], f"{case.what}: queues as predicted", result["verdict"])
    hashes = result["hashes"]
    checks.equal(f"{case.what}: hashes that differ from the prediction", hashes["differing"], 0)
    if "ipv6" not in case.arguments:
        checks.equal(f"{case.what}: hashes given", hashes["given"], case.flows)
    if case.max_over_mean is not None:
        index = result["imbalance"]["observed"]["max_over_mean"]
        checks.between(f"{case.what}: max/mean", index, case.max_over_mean, case.max_over_mean)


def _check_steering(guest: Guest, ports: tuple[str, str]) -> None:
    """The emulated device takes rules and does nothing, which must be found out."""
    checks = guest.checks
    ran = guest.wirerate("rss", "--check", *ports, "-q", str(_QUEUES), "--steer", timeout=_RUN_S)
    print(ran)
    checks.contains("as the device is", ran.out, "Verdict: all 512 flows as predicted")
    checks.contains("as the device is", ran.out, "for 512 of 512 flows")
    ignored = ran.out.count("accepted but IGNORED")
    checks.equal("rules that the driver accepts and ignores", ignored, _QUEUES)
