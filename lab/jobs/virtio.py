# SPDX-License-Identifier: BSD-3-Clause
"""virtio-net of four queues and of one: RSS deals flows as told, counts per queue agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.guest.results import reasons_against
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

_RSS = "rss=on,hash=on"
MACHINE = Machine(
    cpus=6,
    nics=(
        *(Nic("virtio", queues=4, options=_RSS), Nic("virtio", queues=4, options=_RSS)),
        *(Nic("virtio", wire=1), Nic("virtio", wire=1)),
    ),
    timeout_s=900,
)
_FRAMES = 4000
_LINE = ("-r", "2kpps", "--flows", "256", "--cpu-saver", "--json")
_SEND = (*_LINE, "--count", str(_FRAMES))


def run(guest: Guest) -> None:
    """Four queues, two, and one; then too many."""
    first, second, third, fourth = guest.vfio()
    _check(guest, (first, second), (4, 4), ("-m", "1-4.0", "-m", "1-4.1"))
    _check(guest, (first, second), (2, 2), ("-m", "1-2.0", "-m", "3-4.1", "--measure"))
    _check(guest, (third, fourth), (1, 1), ("--measure",))
    ran = guest.wirerate("perf", third, "-m", "1-2.0", *_SEND)
    guest.checks.that(ran.code in {2, 3}, "two queues of a device of one: exit code", ran.code)
    guest.checks.contains("the limit is said", ran.err, "(net_virtio) has 1; use fewer")


def _check(
    guest: Guest, ports: tuple[str, str], queues: tuple[int, int], options: tuple[str, ...]
) -> None:
    checks = guest.checks
    ran = guest.wirerate("perf", *ports, *options, *_SEND)
    if not checks.equal("exit code", ran.code, 0):
        print(ran)
        return
    found: list[dict[str, Any]] = ran.document["ports"]
    for port, peer, count in zip(found, reversed(found), queues, strict=True):
        title = f"port {port['port']} of {count} queues"
        sent = [queue["frames"] for queue in port["tx_queues"]]
        received = [queue["frames"] for queue in port["rx_queues"]]
        checks.equal(f"{title}: driver", port["driver"], "net_virtio")
        checks.equal(f"{title}: sent by each queue", sent, [_FRAMES // count] * count)
        checks.that(
            len(received) == count and min(received) > _FRAMES // (4 * count),
            f"{title}: each queue received its share",
            received,
        )
        checks.equal(f"{title}: received what its peer sent", sum(received), peer["tx_frames"])
        counted = (port["device"]["opackets"], port["device"]["ipackets"])
        checks.equal(f"{title}: by its device", counted, (_FRAMES, _FRAMES))
        if "--measure" in options:
            back = port["received"]
            told = (back["lost"], back["duplicates"], back["misdirected"])
            checks.equal(f"{title}: lost, duplicated, misdirected", told, (0, 0, 0))
    checks.equal("the verdict blames nothing but times", reasons_against(ran.document), [])
