# SPDX-License-Identifier: BSD-3-Clause
"""A bridge between a port and the kernel: started, looked at, ended.

`wirerate bridge` shows one to people, `wirerate kernel-path` measures across several. Layouts and
counts are those of docs/design/0009-kernel-path.md.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineDiedError, EngineRefusedError
from wirerate.host.claims import claimed_ports
from wirerate.host.interfaces import Network, interfaces_of
from wirerate.plan.bridge_program import (
    BridgeFacts,
    Layout,
    bridge_ports,
    bridge_program,
    layout_of,
    steer_params,
)
from wirerate.plan.bridge_settings import check_bridge, opens_interface
from wirerate.trial.bridge_interfaces import (
    TITLES,
    KernelSide,
    check_interfaces,
    let_frames_be,
    settle_kernel_side,
)
from wirerate.trial.bridge_look import BridgeCounts, BridgeLook, count_program
from wirerate.trial.bridge_setup import named, new_engine, set_up
from wirerate.trial.bridge_steering import Steering, SteeringWatch, first_steering
from wirerate.trial.snapshot import Snapshot, take

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from wirerate.engine.counters import Counters
    from wirerate.engine.process import Engine
    from wirerate.plan.bridge_settings import BridgeSettings


class Bridge:
    """A context manager: inside, frames pass; nothing of it is left when it ends.

    ``namespace`` is the named network namespace that the engine runs in, with all interfaces;
    None = this process's. Entering raises PlanError, HostSetupError and EngineError. ``about`` and
    ``infos`` are the engine's `engine.info` and the PORT_INFOs of both ports. ``notes``: what to
    know about this bridge. ``gone`` says which interface has vanished, empty while both are there.
    """

    engine: Engine
    about: Mapping[str, Any]
    infos: tuple[Mapping[str, Any], ...]
    steering: Steering

    def __init__(self, settings: BridgeSettings, *, namespace: str | None = None) -> None:
        """Settle lcores and memory; nothing starts before the block is entered."""
        check_bridge(settings)
        self.settings = settings
        self.namespace = namespace
        self.setup = set_up(settings)
        self.gone = ""
        self.work_cycles = 0
        self._network = Network(namespace)
        self._notes: list[str] = list(self.setup.notes)
        self._kernel = KernelSide("", complete=False)
        self._past = BridgeCounts()
        self._past_looks: list[Snapshot] = []
        self._watch = SteeringWatch()
        self._stack = ExitStack()

    def __enter__(self) -> Bridge:
        with ExitStack() as stack:
            self._notes += check_interfaces(self.settings, self._network)
            self._claim(stack)
            self._notes += let_frames_be(self.settings, self._network, stack)
            self.engine = stack.enter_context(new_engine(self.settings, self.setup, self.namespace))
            self._open(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def _claim(self, stack: ExitStack) -> None:
        """No other run may have the interfaces; a namespace of one's own is one's own."""
        if self.namespace is None:
            ports = zip(TITLES, self.settings.locations, strict=True)
            stack.enter_context(claimed_ports(ports))

    def _open(self, stack: ExitStack) -> None:
        """Open the ports, set the kernel's interface right, and let frames pass."""
        self.about = self.engine.call("engine.info")
        try:
            opened = self.engine.call("ports.open", {"ports": bridge_ports(self.settings)})
        except EngineRefusedError as error:
            raise named(error, self.settings) from error
        self.infos = tuple(opened["ports"])
        self.work_cycles = self.settings.work.in_cycles(self.about["tsc_hz"])
        self._kernel = settle_kernel_side(self.settings, self._network, stack)
        self._notes += self._kernel.notes
        self._watched = self._interfaces()
        self.steering = first_steering(self.settings, self.engine)
        self._load()

    def _interfaces(self) -> dict[str, str]:
        """The interfaces that must not vanish, and what each is."""
        names = {}
        if opens_interface(self.settings.port):
            names[self.settings.port.value] = "port"
        if opens_interface(self.settings.kernel_port):
            names[self.settings.kernel_port.value] = "kernel port"
        if self._kernel.interface:
            names[self._kernel.interface] = "kernel port"
        there = interfaces_of(self.engine.pid)
        return {name: title for name, title in names.items() if name in there}

    def _load(self) -> None:
        by_device = self.steering.by == "device"
        layout = layout_of(self.settings, by_device=by_device)
        facts = BridgeFacts(
            layout=layout,
            queues=self.infos[0]["rx_queues"],
            work_cycles=self.work_cycles,
            complete=self._kernel.complete,
            sleep_ns=self.setup.sleep_ns,
        )
        self._program = bridge_program(self.settings, self.setup.lcores, facts)
        self._watch = SteeringWatch()
        self._counters: Counters = self.engine.load(self._program)

    @property
    def kernel_interface(self) -> str:
        """Linux's name of the kernel port's other end; empty where nobody tells."""
        return self._kernel.interface

    @property
    def completes(self) -> bool:
        """The bridge computes the checksums of what the kernel sends."""
        return self._kernel.complete

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about this bridge; grows where the device is no longer believed."""
        if self.steering.by != "software":
            return tuple(self._notes)
        return (*self._notes, f"steering in software: {self.steering.reason}")

    def look(self) -> BridgeLook:
        """A look at the counters since the start; cheap, at any time, also after the end."""
        counts = self._past.plus(count_program(self._program, self._counters))
        engine = self._counters.engine
        return counts.look(
            time.monotonic_ns(), self._counters.tsc_hz, engine["user_ns"] + engine["system_ns"]
        )

    def snapshots(self) -> tuple[Snapshot, ...]:
        """Devices and workers: the last look at each program that was loaded."""
        return (*self._past_looks, take(self._counters))

    def poll(self) -> None:
        """To be called every 100 ms or so: sees what has changed, and acts on it.

        Goes on in software where the device ignores its rules; notices an interface that vanished
        (``gone``). Raises EngineDiedError.
        """
        if not self.engine.alive():
            raise EngineDiedError(self.engine.death())
        there = interfaces_of(self.engine.pid)
        for name, title in self._watched.items():
            if there and name not in there and not self.gone:
                self.gone = f"{title}: interface {name} is gone; nothing passes there any more"
        if self.steering.by == "device":
            reason = self._watch.ignored(self._counters)
            if reason:
                self._go_on_in_software(reason)

    def _go_on_in_software(self, reason: str) -> None:
        self.unload()
        self._past = self._past.plus(count_program(self._program, self._counters))
        self._past_looks.append(take(self._counters))
        self.engine.call("ports.steer", steer_params(self.settings, give=False))
        self.steering = Steering("software", reason)
        self._load()

    def unload(self) -> None:
        """Let no more frames pass; counts are final then. Raises EngineDiedError."""
        self.engine.call("program.unload")

    @property
    def layout(self) -> Layout:
        """The layout in force."""
        return layout_of(self.settings, by_device=self.steering.by == "device")
