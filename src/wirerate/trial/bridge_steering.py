# SPDX-License-Identifier: BSD-3-Clause
"""Who gives the kernel's worker its frames: the device, as far as it is seen to, or software."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.errors import EngineRefusedError
from wirerate.plan.bridge_program import steer_params
from wirerate.plan.bridge_settings import Mode
from wirerate.trial.bridge_look import addressed_on
from wirerate.units import format_count

if TYPE_CHECKING:
    from wirerate.engine.counters import Counters
    from wirerate.engine.process import Engine
    from wirerate.plan.bridge_settings import BridgeSettings

_DATA_QUEUE = 0


@dataclass(frozen=True)
class Steering:
    """``by`` is device, software or none; ``reason``: why it is not the device, or empty."""

    by: str
    reason: str = ""


def first_steering(settings: BridgeSettings, engine: Engine) -> Steering:
    """Ask the port that is open for rules, where there is something to steer."""
    if settings.mode is Mode.SHARED or not settings.addresses:
        return Steering("none")
    try:
        said = engine.call("ports.steer", steer_params(settings, give=True))
    except EngineRefusedError as error:
        return Steering("software", str(error))
    refused = [
        f"{address}: {reason}"
        for address, accepted, reason in zip(
            settings.addresses, said["accepted"], said["reasons"], strict=True
        )
        if not accepted
    ]
    if not refused:
        return Steering("device")
    engine.call("ports.steer", steer_params(settings, give=False))
    more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
    return Steering("software", f"the device refused the rule for {refused[0]}{more}")


@dataclass
class SteeringWatch:
    """Watches whether a device does what it said; ``since`` None = not looked yet.

    What came before the rules were in force has been received by the first look.
    """

    since: int | None = None

    def ignored(self, counters: Counters) -> str:
        """Why the device is no longer believed; empty while it is."""
        now = addressed_on(counters, _DATA_QUEUE)
        if self.since is None:
            self.since = now
        strays = now - self.since
        if strays == 0:
            return ""
        return (
            f"the device accepted the rules, but {format_count(strays)} frames to the kernel's "
            "addresses came to the data path's queue"
        )
