# SPDX-License-Identifier: BSD-3-Clause
"""Eight lcores, each with a queue of one of two igb ports: all send and receive, counts agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.guest.results import reasons_against
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(nics=(Nic("igb"), Nic("igb")), cpus=8, timeout_s=900)
_QUEUES = 4
_FRAMES = 8000
_MAPS = ("-m", "0-3.0", "-m", "4-7.1")
_RATE = ("-r", "4kpps", "--count", str(_FRAMES), "--flows", "256", "--cpu-saver")


def run(guest: Guest) -> None:
    """Both ports at once, then with stamps in all frames."""
    ports = guest.vfio()
    for options in ((), ("--measure",)):
        ran = guest.wirerate("perf", *ports, *_MAPS, *_RATE, *options, "--json")
        if guest.checks.equal("exit code", ran.code, 0):
            _check(guest, ran.document["ports"], measured=bool(options))
            against = reasons_against(ran.document)
            guest.checks.equal("the verdict blames nothing but times", against, [])
        else:
            print(ran)


def _check(guest: Guest, ports: list[dict[str, Any]], *, measured: bool) -> None:
    checks = guest.checks
    for port, peer in zip(ports, reversed(ports), strict=True):
        title = f"port {port['port']}"
        sent = [queue["frames"] for queue in port["tx_queues"]]
        received = [queue["frames"] for queue in port["rx_queues"]]
        lcores = [queue["lcore"] for queue in (*port["tx_queues"], *port["rx_queues"])]
        first = 4 * port["port"]
        checks.equal(f"{title}: lcores of its queues", lcores, 2 * [*range(first, first + 4)])
        checks.equal(f"{title}: sent by each queue", sent, [_FRAMES // _QUEUES] * _QUEUES)
        checks.that(
            len(received) == _QUEUES and min(received) > _FRAMES // 20,
            f"{title}: each queue received its share",
            received,
        )
        checks.equal(f"{title}: received what its peer sent", sum(received), peer["tx_frames"])
        checks.equal(f"{title}: sent, by its device", port["device"]["opackets"], _FRAMES)
        checks.equal(f"{title}: received, by its device", port["device"]["ipackets"], _FRAMES)
        if measured:
            back = port["received"]
            told = {name: back[name] for name in ("frames", "lost", "duplicates", "misdirected")}
            wanted = {"frames": _FRAMES, "lost": 0, "duplicates": 0, "misdirected": 0}
            checks.equal(f"{title}: its frames, wherever they arrived", told, wanted)
