# SPDX-License-Identifier: BSD-3-Clause
"""Where a row of `wirerate kernel-path` is measured: interfaces and addresses of both sides.

They are made for the row and removed behind it. Self-contained, near and far are network
namespaces joined by a veth pair, the wire. Frames on it are frames: Linux cuts and computes
checksums before it, and merges only where it receives itself.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.host.interfaces import Network
from wirerate.host.iperf3 import SERVER_PORT, binds_to_interfaces
from wirerate.host.namespaces import (
    add_address,
    add_namespace,
    add_veth,
    remove_interface,
    remove_namespace,
    set_features,
    set_up,
    silence,
)
from wirerate.methods.kernel_leftovers import interface_names, namespace_names, noted
from wirerate.methods.kernel_real import check_real, server_address, used_ports
from wirerate.plan.kernel_path_settings import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wirerate.methods.kernel_groups import RowName
    from wirerate.plan.kernel_path_settings import KernelPathSettings, Real
    from wirerate.trial.bridge import Bridge

FAR, NEAR = "far", "near"
FAR_ADDRESSES = ("198.18.0.1/24", "fd00:18::1/64")
NEAR_ADDRESSES = ("198.18.0.2/24", "fd00:18::2/64")
"""Of RFC 2544's network for benchmarks, and private ones."""
_KERNEL, _ENGINE = "kp", "kp0"
"""The kernel port's interface, and the other end of a veth pair where it is one."""
_PAIRED = frozenset((Group.AF_PACKET, Group.AF_XDP))
"""Kernel ports that are one end of a veth pair."""
_IPV6 = Path("/proc/sys/net/ipv6")
_CUT = {"tx": False, "tso": False}
"""Linux computes checksums and cuts before the interface."""


@dataclass(frozen=True)
class Opening:
    """What the application is to open: locations as text, addresses that are the kernel's."""

    port: str
    kernel_port: str
    mode: str
    addresses: tuple[str, ...]
    segments: bool
    work_ns: int
    namespace: str | None


@dataclass(frozen=True)
class Link:
    """Both sides, ready for traffic.

    ``near`` and ``far``: their namespaces; ``near`` None = this one, ``far`` None = another
    machine, on which ``server`` is iperf3's. ``interface``: the near kernel's. ``application``
    None = Linux has the wire itself. ``near_merges``: GRO is on at the near end of the veth pair;
    at the far end it always is. ``binds``: iperf3 is bound to the interface, which it need not be
    where there is no other.
    """

    near: str | None
    far: str | None
    server: str
    server_port: int
    interface: str
    application: Bridge | None
    near_merges: bool = False
    binds: bool = False

    @property
    def bound(self) -> str:
        """The interface that iperf3 is bound to; empty where it is not."""
        return self.interface if self.binds else ""


class SelfContained:
    """Two namespaces of this process's; use as a context manager."""

    def __init__(
        self,
        settings: KernelPathSettings,
        open_application: Callable[[Opening], Bridge],
    ) -> None:
        self._settings = settings
        self._open_application = open_application
        self._far, self._near = namespace_names(os.getpid())
        self._stack = ExitStack()

    def __enter__(self) -> SelfContained:
        """Make the namespaces. Raises HostSetupError."""
        with ExitStack() as stack:
            names = (self._far, self._near)
            stack.enter_context(noted(names, ()))
            for name in names:
                add_namespace(name)
                stack.callback(remove_namespace, name)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove them, and all that is in them."""
        self._stack.close()

    @contextmanager
    def link(self, row: RowName, work_ns: int = 0) -> Iterator[Link]:
        """Make what a row needs. Raises HostSetupError, EngineError, PlanError."""
        with ExitStack() as stack:
            self._wire(stack)
            if row.group is Group.LINUX:
                set_features(self._near, NEAR, {**_CUT, "gro": True})
                interface, application = NEAR, None
            else:
                opening = self._opening(row, work_ns)
                _for_engine(self._near, NEAR)
                if row.group in _PAIRED:
                    _kernel_pair(stack, self._near, (_ENGINE, _KERNEL), tx=self._settings.offloads)
                application = stack.enter_context(self._open_application(opening))
                interface = application.kernel_interface or _KERNEL
            self._address(self._near, interface, NEAR_ADDRESSES)
            server = FAR_ADDRESSES[self._settings.ipv6].partition("/")[0]
            sides = (self._near, self._far, server, SERVER_PORT, interface, application)
            yield Link(*sides, near_merges=application is None)

    def _wire(self, stack: ExitStack) -> None:
        """The pair far, near; far is ready."""
        add_veth((self._near, NEAR), (self._far, FAR))
        stack.callback(remove_interface, self._near, NEAR)
        set_features(self._far, FAR, {**_CUT, "gro": True})
        self._address(self._far, FAR, FAR_ADDRESSES)

    def _address(self, namespace: str, interface: str, addresses: tuple[str, str]) -> None:
        """Both addresses, or IPv4 alone where this kernel has nothing else and nobody asked."""
        for address in addresses if self._settings.ipv6 or _IPV6.exists() else addresses[:1]:
            add_address(namespace, interface, address)
        set_up(namespace, interface)

    def _opening(self, row: RowName, work_ns: int) -> Opening:
        return Opening(
            port=f"af_packet:{NEAR}",
            kernel_port=kernel_location(row.group, _KERNEL, _ENGINE),
            mode=row.mode,
            addresses=tuple(address.partition("/")[0] for address in NEAR_ADDRESSES),
            segments=row.group is Group.VIRTIO_USER and self._settings.offloads,
            work_ns=work_ns,
            namespace=self._near,
        )


class RealSite:
    """A port of this machine and an iperf3 server elsewhere; use as a context manager."""

    def __init__(
        self,
        settings: KernelPathSettings,
        real: Real,
        open_application: Callable[[Opening], Bridge],
    ) -> None:
        self._settings = settings
        self._real = real
        self._open_application = open_application
        self._kernel, self._engine = interface_names(os.getpid())
        self._server = real.server
        self._binds = False
        self._note = ExitStack()

    def __enter__(self) -> RealSite:
        """Note what will be made, and check what is there. Raises HostSetupError."""
        with ExitStack() as stack:
            ports = used_ports(self._real)
            stack.enter_context(noted((), (self._kernel, self._engine), ports))
            self._server = server_address(self._real)
            self._binds = binds_to_interfaces()
            check_real(self._real, self._server, Network(), binds=self._binds)
            self._note = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left."""
        self._note.close()

    @contextmanager
    def link(self, row: RowName, work_ns: int = 0) -> Iterator[Link]:
        """Make what a row needs. Raises HostSetupError, EngineError, PlanError."""
        real = self._real
        if row.group is Group.LINUX:
            yield self._to_server(real.linux_interface or "", None)
            return
        with ExitStack() as stack:
            if row.group in _PAIRED:
                names = (self._engine, self._kernel)
                _kernel_pair(stack, None, names, tx=self._settings.offloads)
            opening = Opening(
                port=real.location.text,
                kernel_port=kernel_location(row.group, self._kernel, self._engine),
                mode=row.mode,
                addresses=(str(real.address.ip),),
                segments=row.group is Group.VIRTIO_USER and self._settings.offloads,
                work_ns=work_ns,
                namespace=None,
            )
            application = stack.enter_context(self._open_application(opening))
            interface = application.kernel_interface or self._kernel
            add_address(None, interface, str(real.address))
            set_up(None, interface)
            yield self._to_server(interface, application)

    def _to_server(self, interface: str, application: Bridge | None) -> Link:
        sides = (None, None, self._server, self._real.server_port, interface, application)
        return Link(*sides, binds=self._binds)


def _kernel_pair(
    stack: ExitStack, namespace: str | None, names: tuple[str, str], *, tx: bool
) -> None:
    """A veth pair until the stack is left: the engine's end, and the kernel's.

    ``tx``: the kernel leaves checksums out.
    """
    engine, kernel = names
    add_veth((namespace, engine), (namespace, kernel))
    stack.callback(remove_interface, namespace, engine)
    _for_engine(namespace, engine)
    set_features(namespace, kernel, {**_CUT, "tx": tx, "gro": True})
    set_up(namespace, kernel)


def _for_engine(namespace: str | None, interface: str) -> None:
    """An interface that the engine opens."""
    set_features(namespace, interface, {**_CUT, "gro": False})
    silence(namespace, interface)
    set_up(namespace, interface)


def kernel_location(group: Group, kernel: str, engine: str) -> str:
    """The kernel port whose interface is ``kernel``; of a veth pair the engine opens ``engine``.

    DPDK wants names of KNI to begin with kni.
    """
    if group is Group.VIRTIO_USER:
        return f"virtio-user:/dev/vhost-net,iface={kernel}"
    if group is Group.KNI:
        return f"kni:kni{kernel}"
    return f"{group.value}:{engine if group in _PAIRED else kernel}"
