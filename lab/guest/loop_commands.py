# SPDX-License-Identifier: BSD-3-Clause
"""The descriptor loop by wirerate's commands: what a run tells, what is refused and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.guest.results import reasons_against

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.guest.checks import Checks
    from lab.guest.guest import Guest, Ran

LOOP = ("--engine", "descriptor-loop")
"""What every command here is given."""
_REFUSED = {2, 3}
"""Exit codes of a plan, or a host, that cannot be."""
_AFTER = ("-r", "2kpps", "--count", "1000", "--cpu-saver", "--json")


def check_looped(
    checks: Checks, ran: Ran, *, frames: int, lap: int, descriptors: int
) -> dict[str, Any]:
    """Check a run's document of one port that looped; returns the port."""
    if not checks.equal("exit code", ran.code, 0):
        raise RuntimeError(str(ran))
    document = ran.document
    port: dict[str, Any] = document["ports"][0]
    ring = {
        "driver": "igb",
        "proven": True,
        "descriptors": descriptors,
        "laps": descriptors // lap,
    }
    checks.equal("the ring that looped", port["tx_loop"], ring)
    checks.equal("the engine", document["engine"]["transmit_engine"], "descriptor-loop")
    counted = (port["tx_frames"], port["tx_frames_unsent"], port["device"]["opackets"])
    checks.equal("sent, unsent, sent by its device", counted, (frames, 0, frames))
    checks.contains(
        "the verdict's note tells of the ring",
        "\n".join(document["verdict"]["notes"]),
        f"the Tx ring of {descriptors:,} descriptors holds its {lap:,} frames",
    )
    checks.equal(
        "the verdict's reasons that emulation does not explain", reasons_against(document), []
    )
    return port


def check_refused(guest: Guest, what: str, command: Sequence[str], wanted: str) -> None:
    """Check that a command is refused in a clear sentence, and nothing else is said."""
    ran = guest.wirerate(*command, *LOOP, "--duration", "1", "--json")
    guest.checks.that(ran.code in _REFUSED, f"{what}: refused", ran.code)
    said = ran.err.strip()
    guest.checks.contains(f"{what}: why", " ".join(said.split()), wanted)
    guest.checks.equal(f"{what}: lines, and no result", (said.count("\n"), ran.out), (0, ""))
    print(f"     {said}")


def check_ordinary(guest: Guest, port: str) -> None:
    """Check that a port sends as ever."""
    ran = guest.wirerate("perf", port, *_AFTER)
    if not guest.checks.equal(f"{port}, the normal engine: exit code", ran.code, 0):
        print(ran)
        return
    (seen,) = ran.document["ports"]
    counted = (seen["tx_frames"], seen["device"]["opackets"], seen["tx_loop"])
    guest.checks.equal("sent, sent by its device, its loop", counted, (1000, 1000, None))
    guest.checks.equal("its verdict blames nothing but times", reasons_against(ran.document), [])
