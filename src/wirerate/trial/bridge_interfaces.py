# SPDX-License-Identifier: BSD-3-Clause
"""The interfaces of Linux at both sides of a bridge: checked, set right, put back at the end.

Frames have to be frames. Linux merges what it receives (GRO, LRO) into buffers that no port
takes, and hands over what it sends uncut (TSO) and without checksums where a device says that it
can do both. So an interface that the engine opens does not merge meanwhile, and the interface at
the other end of the kernel port does not leave cutting to it; its checksums are as `--offloads`
says. Who is killed by SIGKILL leaves interfaces as they are then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.errors import HostSetupError
from wirerate.plan.bridge_settings import kernel_interface_name, opens_interface
from wirerate.plan.location import LocationKind

if TYPE_CHECKING:
    from contextlib import ExitStack

    from wirerate.host.interfaces import Feature, Link, Network
    from wirerate.plan.bridge_settings import BridgeSettings

TITLES = ("port", "kernel port")
_MERGING = {
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
    "rx-gro-hw": "rx-gro-hw",
}
"""By the name that ethtool lists it by: the one it takes."""
_CUTTING = {"tso": False, "tx-udp-segmentation": False}


@dataclass(frozen=True)
class KernelSide:
    """The interface at the kernel port's other end.

    ``interface`` empty = nobody knows which. ``complete``: the bridge computes checksums, since
    Linux does not, or may not. ``notes`` say what was done.
    """

    interface: str
    complete: bool
    notes: tuple[str, ...] = ()


def check_interfaces(settings: BridgeSettings, network: Network) -> list[str]:
    """Raise HostSetupError where an interface is missing, or is there already; notes."""
    notes = []
    for title, location in zip(TITLES, settings.locations, strict=True):
        if opens_interface(location):
            link = _link(network, title, location.value)
            if location.kind is LocationKind.AF_XDP:
                own = 2 if settings.two_queues else 1
                used = own if title == TITLES[0] else settings.kernel_queues
                _check_queues(network, title, location.value, used)
            if link.addresses:
                notes.append(
                    f"{location.value} has addresses of its own ({', '.join(link.addresses)}): "
                    "Linux answers there, too; take them away (ip address flush)"
                )
        elif location.kind is LocationKind.TAP and network.link(location.value) is not None:
            raise HostSetupError(
                f"{title}: {location}: there is an interface {location.value} already; choose "
                f"another name, or ip link del {location.value}"
            )
    return notes


def _check_queues(network: Network, title: str, name: str, used: int) -> None:
    """An AF_XDP socket belongs to one queue: what comes to others never reaches the engine."""
    there = network.rx_queues(name)
    if there > used:
        raise HostSetupError(
            f"{title}: {name} has {there} Rx queues, {used} of them would be received from; "
            f"ethtool -L {name} combined {used} leaves no other"
        )
    if 0 < there < used:
        less = "a smaller --kernel-queues"
        if title == TITLES[0]:
            less = "--fast-path drop in shared mode: the data path and the kernel's need one each"
        raise HostSetupError(
            f"{title}: {name} has {there} Rx queue{'s' if there > 1 else ''}, {used} are needed; "
            f"ethtool -L {name} combined {used}, or {less}"
        )


def _link(network: Network, title: str, name: str) -> Link:
    link = network.link(name)
    if link is None:
        where = f" in namespace {network.namespace}" if network.namespace else ""
        raise HostSetupError(f"{title}: there is no interface {name}{where}; see ip link")
    return link


def let_frames_be(settings: BridgeSettings, network: Network, stack: ExitStack) -> list[str]:
    """Until the stack is left, interfaces that the engine opens merge nothing; notes."""
    notes = []
    for location in settings.locations:
        if not opens_interface(location):
            continue
        name = location.value
        before = network.features(name)
        wanted = {short: False for long, short in _MERGING.items() if _is_on(before, long)}
        if not wanted:
            continue
        after = stack.enter_context(network.switched(name, wanted))
        left = [short for long, short in _MERGING.items() if _is_on(after, long)]
        if left:
            raise HostSetupError(
                f"{location}: {name} merges frames ({', '.join(left)}) and this cannot be "
                "switched off, so that they do not fit; use another device"
            )
        notes.append(f"{name}: {', '.join(wanted)} off while this runs")
    return notes


def _is_on(features: dict[str, Feature], name: str) -> bool:
    return name in features and features[name].on


def settle_kernel_side(settings: BridgeSettings, network: Network, stack: ExitStack) -> KernelSide:
    """Have the kernel's interface as asked until the stack is left; its port is open.

    What counts in the end is whether Linux leaves checksums out: then, or where nobody can tell,
    the bridge completes them.
    """
    name = kernel_interface_name(settings.kernel_port)
    if not name:
        link = _link(network, "kernel port", settings.kernel_port.value)
        if not link.veth or link.far_peer:
            return _unknown(link)
        name = link.peer
    asked = settings.offloads
    wanted = {"tx": asked.checksums} | ({} if asked.segments else _CUTTING)
    try:
        features = stack.enter_context(network.switched(name, wanted))
    except HostSetupError as error:
        note = f"{name}: its features are not known ({error}): checksums are completed"
        return KernelSide(name, complete=True, notes=(note,))
    left_out = _is_on(features, "tx-checksumming")
    return KernelSide(name, left_out, _said(name, features, asked=asked.checksums))


def _unknown(link: Link) -> KernelSide:
    where = "is in another network namespace" if link.veth else "is not a veth's"
    note = (
        f"the other end of {link.name} {where}: checksums are completed, and it must not leave "
        "cutting to its device (ethtool -K ... tso off)"
    )
    return KernelSide("", complete=True, notes=(note,))


def _said(name: str, features: dict[str, Feature], *, asked: bool) -> tuple[str, ...]:
    if _is_on(features, "tx-checksumming"):
        if not asked:
            return (f"{name}: Linux cannot be told to compute checksums: they are completed",)
        return (f"{name}: Linux leaves checksums out, they are completed",)
    if asked:
        return (f"{name}: Linux computes checksums all the same: nothing is left to complete",)
    return ()
