# SPDX-License-Identifier: BSD-3-Clause
"""The descriptor loop by replay and perf on igb: what they tell; what is refused, and after it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lab.guest.laps import TRACE_TYPE, check_laps, heard, trace, write_capture
from lab.guest.loop_commands import LOOP, check_looped, check_ordinary, check_refused
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(nics=(Nic("igb"), Nic("igb"), Nic("e1000e", wire=1)), timeout_s=600)
_LAP = 200
_LOOPS = 20
_RATES = ("2kpps", "1kpps", "500pps")
"""The kernel's ring has 256 descriptors, and its CPU may be away for 100 ms; the next where it was
away for longer, and not all frames were received."""
_FILE = "/run/lap.pcap"
_HEARD = Path("/run/heard.pcap")


def run(guest: Guest) -> None:
    """One port loops, the kernel counts what is on the wire."""
    port, other = guest.vfio(0, 2)
    (peer,) = guest.kernel(1)
    guest.run(["sysctl", "-qw", f"net.ipv6.conf.{peer}.disable_ipv6=1"])
    guest.run(["ip", "link", "set", peer, "up", "promisc", "on"])
    lap = trace(Path(_FILE), _LAP, (60, 64, 98))
    _check_replay(guest, port, peer, lap)
    _check_perf(guest, port)
    _check_refusals(guest, port, other)
    check_ordinary(guest, port)
    _check_second_program(guest, port)
    _check_function(guest, peer)


def _check_replay(guest: Guest, port: str, peer: str, lap: list[bytes]) -> None:
    checks, arrived = guest.checks, Path(f"/sys/class/net/{peer}/statistics/rx_packets")
    for rate in _RATES:
        paced = ("replay", _FILE, port, *LOOP, "--loops", str(_LOOPS), "-r", rate)
        before = int(arrived.read_text())
        with heard(peer, TRACE_TYPE) as frames:
            ran = guest.wirerate(*paced, "--json")
            received = frames()
        write_capture(_HEARD, received)
        missing = _LOOPS * _LAP - len(received)
        if missing <= 0:
            break
        print(f"     {missing:,} of {_LOOPS * _LAP:,} overran the receiver's ring at {rate}")
    check_laps(checks, _HEARD, lap, _LOOPS)
    seen = check_looped(checks, ran, frames=_LOOPS * _LAP, lap=_LAP, descriptors=4000)
    checks.equal("laps", seen["laps"], _LOOPS)
    checks.equal("on the wire", int(arrived.read_text()) - before, _LOOPS * _LAP)
    text = guest.wirerate(*paced)
    checks.equal("as text: exit code", text.code, 0)
    for wanted in (
        "descriptor loop (igb), the Tx ring of 4,000 descriptors holds its 200 frames 20 times",
        f"{_LOOPS * _LAP:,}",
    ):
        checks.contains("as text", " ".join(text.out.split()), wanted)


def _check_perf(guest: Guest, port: str) -> None:
    asked = ("--flows", "64", "-r", "0.5%", "--count", "5000")
    ran = guest.wirerate("perf", port, *LOOP, *asked, "--json")
    check_looped(guest.checks, ran, frames=5000, lap=64, descriptors=4096)


def _check_refusals(guest: Guest, port: str, other: str) -> None:
    """Each before anything of the device is touched."""
    trace(Path("/run/long.pcap"), 5000, (60,))
    trace(Path("/run/odd.pcap"), 1001, (60,))
    ring = "holds no whole number of those (4096 descriptors at most, a multiple of 8)"
    flows = ("--flows", "64")
    for what, command, wanted in (
        ("e1000e", ("perf", other, *flows), "has no descriptor loop"),
        ("a long trace", ("replay", "/run/long.pcap", port), ring),
        ("a lap that divides no ring", ("replay", "/run/odd.pcap", port), ring),
        ("measured flows", ("perf", port, "--measure"), "the normal engine does that"),
    ):
        check_refused(guest, what, command, wanted)


def _check_second_program(guest: Guest, port: str) -> None:
    first = ("perf", port, *LOOP, "--flows", "64", "-r", "1kpps", "--duration", "10m")
    with guest.running(*first, ready="Port    :") as ended:  # until Ctrl-C
        check_refused(guest, "a port in use", ("perf", port, "--flows", "64"), "in use")
    guest.checks.equal("the first run's exit code", ended[0].code, 0)
    guest.checks.that("device says" not in ended[0].out, "its counts agree with its device's")


def _check_function(guest: Guest, peer: str) -> None:
    """A virtual function has not the registers that a ring is checked with."""
    device = Path(f"/sys/class/net/{peer}/device").resolve()
    (device / "sriov_drivers_autoprobe").write_text("0")
    (device / "sriov_numvfs").write_text("1")
    function = (device / "virtfn0").resolve().name
    guest.bind(function, "vfio-pci")
    check_refused(guest, "a VF", ("perf", function, "--flows", "64"), "has no descriptor loop")
    check_ordinary(guest, function)
