# SPDX-License-Identifier: BSD-3-Clause
"""The way into the kernel by vhost-net: ping, and files by TCP, from an igb port to virtio-user."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.guest.transfer import check_pings, check_transfer, in_namespace, ping
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest, Ran

MACHINE = Machine(cpus=4, nics=(Nic("igb"), Nic("igb"), Nic("e1000e")), timeout_s=1800)
_FAR, _NEAR, _KERNEL = "far", "", "vu0"
_FAR_4, _NEAR_4 = "198.18.0.1", "198.18.0.2"
_FAR_6, _NEAR_6 = "fd00:18::1", "fd00:18::2"
_LOCATION = f"virtio-user:/dev/vhost-net,iface={_KERNEL}"
_OURS = ("--address", _NEAR_4, "--address", _NEAR_6)
_MIB = 4
_LINK_S = 30
_LAYOUTS = (
    ("shared", ("--mode", "shared")),
    ("dedicated", ("--mode", "dedicated", *_OURS)),
)
_OFFLOADS = (
    ("offloads off", ("--offloads", "off")),
    ("offloads on", ("--offloads", "on")),
    ("large frames", ("--offloads", "on", "--segments")),
)


def run(guest: Guest) -> None:
    """The far host is the second igb, with the kernel's driver, in a namespace.

    DPDK's driver of igb has TSO, that of e1000e has not: there the bridge cuts by itself.
    """
    port, plain_port = guest.vfio(0, 2)
    _check_refusal(guest, port)
    guest.modprobe("vhost_net", "tun")
    _make_far_host(guest)
    for queues in (1, 2):
        _check_forward(guest, port, queues)
    for layout, mode in _LAYOUTS:
        for offloads, options in _OFFLOADS:
            _check_bridge(guest, port, f"{layout}, {offloads}", (*mode, *options))
    two = (*_OFFLOADS[-1][1], "--kernel-queues", "2")
    _check_bridge(guest, port, "two queues of the kernel port", two)
    _check_bridge(guest, plain_port, "cut in software", _OFFLOADS[-1][1])


def _check_refusal(guest: Guest, port: str) -> None:
    """Before the module is loaded."""
    ran = guest.wirerate("forward", port, _LOCATION, "--duration", "1")
    guest.checks.equal("without the module: exit code", ran.code, 3)
    guest.checks.contains("it is said", ran.err, "no /dev/vhost-net: modprobe vhost_net")


def _make_far_host(guest: Guest) -> None:
    (interface,) = guest.kernel(1)
    inside = in_namespace(_FAR)
    guest.run(["ip", "netns", "add", _FAR])
    guest.run(["ip", "link", "set", interface, "netns", _FAR])
    for address in (f"{_FAR_4}/24", f"{_FAR_6}/64"):
        _add_address(guest, _FAR, interface, address)
    guest.run([*inside, "ip", "link", "set", interface, "up"])
    guest.run([*inside, "ip", "link", "set", "lo", "up"])


def _add_address(guest: Guest, namespace: str, interface: str, address: str) -> None:
    """An IPv6 address is not to be tried for duplicates first, which takes a second."""
    words = ["ip", "address", "add", address, "dev", interface]
    guest.run([*in_namespace(namespace), *words, *(["nodad"] if ":" in address else [])])


def _bring_up(guest: Guest) -> None:
    """The kernel's end gets its addresses; until the far host answers."""
    for address in (f"{_NEAR_4}/24", f"{_NEAR_6}/64"):
        _add_address(guest, _NEAR, _KERNEL, address)
    guest.run(["ip", "link", "set", _KERNEL, "up"])
    deadline = time.monotonic() + _LINK_S
    while ping(guest, _NEAR, _FAR_4, 1) != 1 and time.monotonic() < deadline:
        time.sleep(0.2)


def _check_forward(guest: Guest, port: str, queues: int) -> None:
    """Without a bridge: frames as they are."""
    title = f"forward, {queues} queues"
    options = ("-q", str(queues), "-T", "10", "--cpu-saver")
    with guest.running("forward", port, _LOCATION, *options, ready="CPU:") as ended:
        _bring_up(guest)
        _check_traffic(guest, title)
    _check_end(guest, title, ended[0])


def _check_bridge(guest: Guest, port: str, title: str, options: tuple[str, ...]) -> None:
    words = ("bridge", port, _LOCATION, *options, "-T", "10s", "--json", "-v")
    with guest.running(*words, ready="EAL arguments:") as ended:
        _wait_for_interface()
        _bring_up(guest)
        _check_traffic(guest, title)
    _check_end(guest, title, ended[0])
    if ended[0].code == 0:
        _check_document(guest, title, ended[0].document, options)


def _wait_for_interface() -> None:
    deadline = time.monotonic() + 2 * _LINK_S
    while not Path(f"/sys/class/net/{_KERNEL}").exists() and time.monotonic() < deadline:
        time.sleep(0.2)


def _check_end(guest: Guest, title: str, ran: Ran) -> None:
    if not guest.checks.equal(f"{title}: exit code", ran.code, 0):
        print(ran)
    gone = not Path(f"/sys/class/net/{_KERNEL}").exists()
    guest.checks.that(gone, f"{title}: interface {_KERNEL} is gone")


def _check_document(
    guest: Guest, title: str, document: dict[str, Any], options: tuple[str, ...]
) -> None:
    """Who computed checksums, who cut, and that rules which igb ignores are found out."""
    checks, counters = guest.checks, document["counters"]
    completed, split, parts, merged = (
        counters[key] for key in ("completed", "split", "parts", "merged")
    )
    on, large = "on" in options, "--segments" in options
    checks.equal(f"{title}: the kernel's interface", document["kernel_interface"], _KERNEL)
    checks.that((completed > 0) == on, f"{title}: checksums completed", completed)
    checks.that((split > 0) == large, f"{title}: large frames cut", f"{split}, into {parts}")
    checks.that((merged > 0) == large, f"{title}: segments merged", merged)
    checks.equal(f"{title}: could not be changed", counters["untouchable"], 0)
    if "dedicated" in options:
        steering = document["steering"]
        checks.equal(f"{title}: steered by", steering["by"], "software")
        checks.that(bool(steering["reason"]), f"{title}: why", steering["reason"])
    else:
        checks.equal(f"{title}: steered by", document["steering"]["by"], "none")


def _check_traffic(guest: Guest, title: str) -> None:
    for near, far in ((_NEAR_4, _FAR_4), (_NEAR_6, _FAR_6)):
        check_pings(guest, title, _NEAR, far)
        check_transfer(guest, f"{title}: to {far}", (_NEAR, _FAR), far, _MIB)
        check_transfer(guest, f"{title}: from {far}", (_FAR, _NEAR), near, _MIB)
