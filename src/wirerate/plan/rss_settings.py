# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate rss --check` is asked to do, and what the engine opens for it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineRefusedError
from wirerate.plan.pools import rx_pool_octets
from wirerate.plan.port_params import queue_numbers
from wirerate.plan.program import port_name, port_refusal
from wirerate.plan.run_settings import RunSettings
from wirerate.units import FRAME_SIZE_ORDINARY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.location import Location
    from wirerate.plan.rss_flows import FlowKind, Spread

SENDER, RECEIVER = 0, 1
"""Places of the two ports."""
_FRAMES_OCTETS = 16 << 20
"""What frames of exchanges take of ordinary pages, for a device that holds 4,096 of them."""


@dataclass(frozen=True, kw_only=True)
class RssSettings(RunSettings):
    """The settings of a run, and what is asked of the receiving port and sent to it.

    ``locations``: who sends, who receives, on ``queues`` Rx queues. ``key``, ``fields`` and
    ``reta`` None = as the device has them. ``steer``: a rule for each queue is tried, too.
    """

    locations: tuple[Location, Location]
    queues: int
    flows: int
    kind: FlowKind
    spread: Spread
    seed: int
    key: bytes | None = None
    fields: tuple[str, ...] | None = None
    reta: tuple[int, ...] | None = None
    steer: bool = False


def rss_ports(settings: RssSettings) -> list[dict[str, Any]]:
    """PORT objects of the sender and the receiver."""
    common = {
        "rx_descriptors": settings.rx_descriptors,
        "tx_descriptors": settings.tx_descriptors,
        "mbufs": settings.mbufs,
        "frame_size_max": FRAME_SIZE_ORDINARY,
        "promiscuous": True,
        "one_pool": True,
    }
    rss = {
        "key": None if settings.key is None else settings.key.hex(),
        "fields": None if settings.fields is None else list(settings.fields),
        "reta": None if settings.reta is None else list(settings.reta),
    }
    ports: list[dict[str, Any]] = []
    for place, queues in ((SENDER, 1), (RECEIVER, settings.queues)):
        location = settings.locations[place]
        port = {"name": port_name(place), "location": location.text}
        ports.append(port | queue_numbers(location, queues, 1) | common)
    ports[RECEIVER]["rss"] = rss
    return ports


def rss_memory_octets(settings: RssSettings) -> int:
    """What frames take, the most that it can be [octets]."""
    return _FRAMES_OCTETS + sum(
        rx_pool_octets(settings, queues, FRAME_SIZE_ORDINARY, nic=location.needs_pci)
        for location, queues in zip(settings.locations, (1, settings.queues), strict=True)
    )


def rss_refusal(
    error: EngineRefusedError, ports: Sequence[tuple[str, Location]]
) -> EngineRefusedError:
    """The engine's refusal of a port in the user's words; ``ports``: title and location of each."""
    path = error.path or ""
    found = re.match(r"ports\[(\d+)\]", path)
    if found is None:
        return error
    text = str(error).removeprefix(f"{path}: ")
    text = re.sub(r"fewer (Rx |Tx )?lcores in its map", "a lower -q", text)
    text = port_refusal(text, *ports[int(found[1])])
    return EngineRefusedError(text, path=error.path, errno_name=error.errno_name)
