# SPDX-License-Identifier: BSD-3-Clause
"""A bridge that moves nothing, and settings, for the parts of `wirerate kernel-path` around it."""

from __future__ import annotations

from ipaddress import ip_interface
from types import SimpleNamespace
from typing import Any

from wirerate.errors import EngineDiedError
from wirerate.plan.kernel_path_settings import KernelPathSettings, Real
from wirerate.plan.location import parse_location
from wirerate.trial.bridge_look import BridgeLook
from wirerate.trial.bridge_steering import Steering


def settings(**other: Any) -> Any:
    return KernelPathSettings(lcores=(0, 1), **({"repeats": 2, "time_s": 1} | other))


def real(**other: Any) -> Real:
    address = ip_interface("192.0.2.1/24")
    return Real(parse_location("af_packet:eth9"), address, "192.0.2.9", 5201, **other)


def opened(opening: Any) -> Any:
    return FakeBridge(opening)


class FakeBridge:
    """A bridge that moves nothing."""

    def __init__(self, opening: Any = None) -> None:
        self.opening = opening
        self.steering = Steering("software", "no rules here")
        self.notes = ("a note",)
        self.setup = SimpleNamespace(sleep_ns=50_000)
        self.gone = ""
        self.kernel_interface = ""
        self.died = ""

    def __enter__(self) -> FakeBridge:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def poll(self) -> None:
        if self.died:
            raise EngineDiedError(self.died)

    def look(self) -> BridgeLook:
        return BridgeLook(0, busy_ns={0: 1}, cpu_ns=1)
