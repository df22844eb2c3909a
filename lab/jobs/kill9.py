# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 while an igb port on vfio sends: the device falls silent, and the next run is as ever.

The peer is an interface of the kernel's own driver, whose counter tells what is on the wire
whoever still lives.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lab.guest.results import reasons_against
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest, Ran

MACHINE = Machine(nics=(Nic("igb"), Nic("igb")), timeout_s=900)
_SEND = ("-r", "2kpps", "--cpu-saver")
_LOOP = ("--engine", "descriptor-loop", "--flows", "64")
_FRAMES = 2000
_QUIET_S = 2
_END_S = 30


def run(guest: Guest) -> None:
    """Kill the engine, wirerate itself, then an engine whose device loops over its own ring."""
    (port,) = guest.vfio(0)
    (interface,) = guest.kernel(1)
    guest.run(["sysctl", "-qw", f"net.ipv6.conf.{interface}.disable_ipv6=1"])
    guest.run(["ip", "link", "set", interface, "up", "promisc", "on"])
    arrived = Path(f"/sys/class/net/{interface}/statistics/rx_packets")
    _wait_for_link(guest, interface)
    _check_killed(guest, port, arrived, "wirerate-engine", 4)
    _check_next(guest, port, arrived)
    _check_killed(guest, port, arrived, "wirerate", -signal.SIGKILL)
    _check_next(guest, port, arrived)
    _check_killed(guest, port, arrived, "wirerate-engine", 4, options=_LOOP)
    _check_next(guest, port, arrived)


def _wait_for_link(guest: Guest, interface: str) -> None:
    operating = Path(f"/sys/class/net/{interface}/operstate")
    deadline = time.monotonic() + _END_S
    while operating.read_text().strip() != "up" and time.monotonic() < deadline:
        time.sleep(0.1)
    guest.checks.equal("the peer's link", operating.read_text().strip(), "up")


def _process(name: str) -> int:
    """The process of that name: the engine, or the Python program that started it."""
    (engine,) = _engines()
    if name == "wirerate-engine":
        return engine
    status = Path(f"/proc/{engine}/status").read_text()
    return int(status.partition("PPid:")[2].split()[0])


def _check_killed(
    guest: Guest,
    port: str,
    arrived: Path,
    victim: str,
    code: int,
    *,
    options: tuple[str, ...] = (),
) -> None:
    checks = guest.checks
    sender = ("perf", port, *_SEND, *options, "--duration", "120")
    with guest.running(*sender, ready="Port    :") as ended:
        before = int(arrived.read_text())
        time.sleep(1)
        sending = int(arrived.read_text()) - before
        checks.that(sending > 0, f"{victim}: frames on the wire before the kill", sending)
        os.kill(_process(victim), signal.SIGKILL)
        _wait_for_engine_to_end(guest, victim)
        silent = int(arrived.read_text())
        time.sleep(_QUIET_S)
        after = int(arrived.read_text()) - silent
        checks.equal(f"{victim}: frames on the wire in {_QUIET_S} s after the kill", after, 0)
    checks.equal(f"{victim}: wirerate's exit code", ended[0].code, code)
    if victim == "wirerate-engine":
        checks.contains("wirerate says it", ended[0].err, "the engine was killed by SIGKILL")


def _wait_for_engine_to_end(guest: Guest, victim: str) -> None:
    """Its device is let go when the last descriptor of it is closed."""
    deadline = time.monotonic() + _END_S
    while _engines() and time.monotonic() < deadline:
        time.sleep(0.1)
    guest.checks.that(not _engines(), f"{victim}: no engine is left")
    time.sleep(0.5)


def _engines() -> list[int]:
    """Engines that have not ended; one that waits for its parent to ask has."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition(") ")
        except OSError:
            continue
        if name.endswith("(wirerate-engine"[:16]) and rest[0] != "Z":
            found.append(int(path.parent.name))
    return found


def _check_next(guest: Guest, port: str, arrived: Path) -> None:
    before = int(arrived.read_text())
    ran: Ran = guest.wirerate("perf", port, *_SEND, "--count", str(_FRAMES), "--json")
    if not guest.checks.equal("the next run's exit code", ran.code, 0):
        print(ran)
        return
    (seen,) = ran.document["ports"]
    guest.checks.equal("the next run sends", seen["tx_frames"], _FRAMES)
    guest.checks.equal("and its device", seen["device"]["opackets"], _FRAMES)
    guest.checks.equal("and on the wire", int(arrived.read_text()) - before, _FRAMES)
    guest.checks.equal("its verdict blames nothing but times", reasons_against(ran.document), [])
