# SPDX-License-Identifier: BSD-3-Clause
"""Does an invalid result name the true cause? Kinds of reasons, and what witnesses confirm."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaos.trials import Trial

KINDS: tuple[tuple[str, str], ...] = (
    ("death", r"engine (was killed|exited|died|was told|ended)"),
    ("cpu saver", r"--cpu-saver"),
    ("cpu", r"lcore.*(taken away|lost its CPU|too slow|was interrupted|away from)"),
    ("cpu", r"schedule not kept|time overrun|had .* of (its|the) CPU|of the time lost"),
    ("device full", r"did not take them in time|stood still|took none|could not be sent"),
    ("link", r"link (is down|changed)|peer (left|has left)"),
    ("receiver full", r"receiver dropped|kernel dropped|socket was full|Rx queue .* is full"),
    ("port window", r"several|receivers|more than one port|at \d+ ports"),
    ("forged", r"impossible|not (been )?sent|before they (were|could)|in the future|forged|stale"),
    ("late copies", r"65,?536|too late"),
    ("disk", r"octets of the frames sent are not in|No space|could not write"),
    ("damaged", r"arrived damaged|wrong checksum"),
    ("arriving", r"still arriving"),
    ("copies", r"frames were received, but"),
    ("clock", r"clock"),
    ("counts", r"the device says"),
    ("nothing sent", r"no frame was sent"),
    ("ended", r"the run ended before"),
    ("load", r"offered load"),
    ("device", r"failed to send"),
)
"""A reason is of the first kind whose words it has."""

TRUE: dict[str, frozenset[str]] = {
    "starved": frozenset({"cpu", "receiver full"}),
    "engine stopped": frozenset({"cpu"}),
    "engine killed": frozenset({"death"}),
    "killed at the end": frozenset({"death"}),
    "forged sequence": frozenset({"forged"}),
    "forged future": frozenset({"forged"}),
    "forged stale": frozenset({"forged"}),
    "copied late": frozenset({"late copies"}),
    "flooded": frozenset({"cpu", "receiver full"}),
    "link down": frozenset({"link"}),
    "peer stopped": frozenset({"device full", "arriving", "receiver full"}),
    "peer killed": frozenset({"link", "device full"}),
    "peer restarted": frozenset({"link", "device full"}),
    "full disk": frozenset({"disk"}),
    "damaged": frozenset({"damaged"}),
}
"""An invalid result of such a trial has to name one of these."""

WITH: dict[str, frozenset[str]] = {
    "link down": frozenset({"device full", "device", "nothing sent", "counts", "load"}),
    "peer killed": frozenset({"nothing sent", "counts", "device", "load"}),
    "peer restarted": frozenset({"nothing sent", "counts", "device", "load"}),
    "full disk": frozenset({"counts", "device", "device full", "nothing sent"}),
    "engine killed": frozenset({"nothing sent", "counts", "load"}),
    "starved": frozenset({"load", "arriving"}),
    "copied late": frozenset({"copies"}),
    "engine stopped": frozenset({"load", "receiver full"}),
    "flooded": frozenset({"load", "arriving"}),
}
"""What follows from such a fault, and may stand next to its name."""

_HARMLESS = {"starved", "flooded", "damaged", "peer stopped", "peer killed", "peer restarted"}
"""These need not spoil a result; then another cause may."""
_WAIT_S = 0.0015
_WAIT_SHARE = 0.005


def kind_of(reason: str) -> str:
    """The kind of a reason; "unknown" where none has its words."""
    return next((kind for kind, words in KINDS if re.search(words, reason)), "unknown")


def confirmed(trial: Trial, outcome: dict[str, Any]) -> frozenset[str]:
    """Kinds of reason that the witnesses confirm, whatever the fault was."""
    facts, truth = outcome["facts"], outcome["truth"] or {}
    kinds: set[str] = set()
    for worker in facts["workers"] or facts["mains"]:  # a thread may end before it has its name
        wanted = worker["ran"] + worker["waited"]
        if worker["longest"] > _WAIT_S or worker["waited"] > _WAIT_SHARE * wanted:
            kinds |= {"cpu", "receiver full", "load"}
    if facts.get("stolen_s", 0) > 0:
        kinds |= {"cpu", "load"}
    if truth.get("last_out_ns", 0) - truth.get("last_in_ns", 0) > 50e6:
        kinds.add("arriving")
    if trial.cpu_saver:
        kinds.add("cpu saver")
    if trial.port in {"memif", "tap"}:  # a relay takes some 50,000 frames/s
        kinds.add("device full")
    if trial.port == "memif":  # it leaves before the program has ended only if it was killed
        kinds |= {"link"} if trial.fault.startswith("peer") else set()
    return frozenset(kinds)


def misnamed(trial: Trial, outcome: dict[str, Any], reasons: Sequence[str]) -> list[str]:
    """What is wrong with the reasons of an invalid result; nothing when they name the cause."""
    kinds = {reason: kind_of(reason) for reason in reasons}
    true = TRUE.get(trial.fault, frozenset())
    if trial.fault == "link down" and trial.command in {"forward", "reflect"}:
        true = frozenset()  # peers of a forwarder come and go: a note (docs/forward.md)
    if "death" in true and not outcome["facts"].get("killed"):
        true = frozenset()  # it had ended before
    known = confirmed(trial, outcome)
    allowed = true | known | WITH.get(trial.fault, frozenset())
    found = [
        f"not what happened ({kind}): {reason}"
        for reason, kind in kinds.items()
        if kind not in allowed
    ]
    needed = true & set(kinds.values())
    harmless = trial.fault in _HARMLESS and known & set(kinds.values())
    if true and not needed and not harmless:
        found.append(f"none of the reasons names {' or '.join(sorted(true))}")
    return found
