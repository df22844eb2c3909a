# SPDX-License-Identifier: BSD-3-Clause
"""The application of a row of `wirerate kernel-path`: a bridge between the wire and the kernel."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from wirerate.plan.bridge_settings import SLEEP_SCARCE_NS, BridgeSettings, Mode, Offloads
from wirerate.plan.forward_settings import Work
from wirerate.plan.location import parse_location
from wirerate.trial.bridge import Bridge

if TYPE_CHECKING:
    from wirerate.methods.kernel_site import Opening
    from wirerate.plan.kernel_path_settings import KernelPathSettings


def bridge_of(opening: Opening, settings: KernelPathSettings) -> Bridge:
    """The bridge for it, not yet entered. Raises PlanError."""
    asked = BridgeSettings(
        port=parse_location(opening.port),
        kernel_port=parse_location(opening.kernel_port),
        mode=Mode(opening.mode),
        addresses=tuple(map(ipaddress.ip_address, opening.addresses)),
        offloads=Offloads(checksums=settings.offloads, segments=opening.segments),
        work=Work(time_ns=opening.work_ns),
        lcores=settings.lcores,
        cpu_saver_ns=SLEEP_SCARCE_NS if settings.cpu_saver else 0,
    )
    return Bridge(asked, namespace=opening.namespace)
