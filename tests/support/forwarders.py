# SPDX-License-Identifier: BSD-3-Clause
"""Forwarders made up for tests that need no engine: settings from words, counts, results."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from support.made_up import ENGINE, HZ, START, snapshot, worker
from support.made_up import port as made_port
from wirerate.cli.main import parse
from wirerate.plan.forward_lanes import mapped_lanes
from wirerate.trial.forward_result import ReadyForward, forward_result
from wirerate.trial.forward_snapshot import Answers, ForwardSnapshot, LaneCounts
from wirerate.trial.peer import OwnCounts, PeerCounts, PeerLook, peer_result

if TYPE_CHECKING:
    from wirerate.plan.forward_lanes import Lane
    from wirerate.plan.forward_settings import ForwardSettings
    from wirerate.trial.forward_result import ForwardResult
    from wirerate.trial.peer import PeerResult

LCORES = range(16)


class EndedTrial:
    """What a trial has left when it has ended."""

    def __init__(self, final: ForwardSnapshot, death: str | None = None) -> None:
        self.final = final
        self.captured: dict[str, int] = {}
        self.death = death
        self.growth = None
        self.counted = False
        self.stolen_s: dict[int, float] = {}


def settings_of(*words: str) -> ForwardSettings:
    """The settings of a command line; its first word is the command."""
    args = parse(words)
    module = importlib.import_module(f"wirerate.cli.{words[0]}")
    settings: ForwardSettings = module.settings_of(args, LCORES)
    return settings


def counts(frames: int = 1000, **other: int) -> LaneCounts:
    """A lane that has forwarded frames of 64 octets for a second, half of the time busy."""
    made: dict[str, int] = {
        "rx_frames": frames,
        "rx_octets": 64 * frames,
        "tx_frames": frames,
        "tx_octets": 64 * frames,
        "busy_cycles": HZ // 2,
        "first_tsc": START,
        "last_tsc": START + HZ,
    }
    return LaneCounts(**made | other)


def lanes_of(settings: ForwardSettings) -> tuple[Lane, ...]:
    """The lanes of its map, which it must have."""
    assert settings.lcore_map is not None
    return mapped_lanes(settings, settings.lcore_map)


def ready_of(settings: ForwardSettings) -> ReadyForward:
    """Its ports are open; the settings must have a map."""
    lanes = lanes_of(settings)
    info = {"driver": "net_memif", "mac": "02:00:00:00:00:99", "link_up": True}
    return ReadyForward(settings, lanes, (info,) * len(settings.locations), ENGINE, 0)


def look(*lanes: LaneCounts, ports: int = 2, seconds: float = 1.0, **other: Any) -> ForwardSnapshot:
    """A look at a forwarder so long after its start; ``device`` is that of port 0."""
    device = other.pop("device", {})
    drops = other.pop("socket_drops", {})
    away = other.pop("cpu_lost_max_ns", {1: 0})
    made = [
        made_port(name=f"p{at}", socket_drops=drops.get(f"p{at}", 0), **(device if at == 0 else {}))
        for at in range(ports)
    ]
    base = snapshot(*made, seconds=seconds)
    workers = tuple(
        worker(lcore, now_tsc=base.now_tsc, cpu_lost_max_ns=cycles)
        for lcore, cycles in away.items()
    )
    words: dict[str, Any] = {
        "base": replace(base, workers=workers),
        "start_tsc": START,
        "lanes": lanes,
        "answers": {},
        "capture_missed": {},
    }
    return ForwardSnapshot(**words | other)


def result_of(
    ready: ReadyForward, final: ForwardSnapshot, death: str | None = None
) -> ForwardResult:
    """The result of a trial that ended with those counts."""
    return forward_result(EndedTrial(final, death), ready)  # type: ignore[arg-type]


def accounted_peer() -> PeerResult:
    """A peer that received 100 frames, and sent back 90 of them."""
    before = PeerLook("then", ((0, 0, 1),), PeerCounts(), resets=0, lcores=1)
    after = replace(before, counts=PeerCounts(received=100, returned=90, dropped=8))
    return peer_result("dut:80", before, after, OwnCounts(unsent=1, sent=105, came=87))


ANSWERED = Answers(frames=6, arp=1, neighbors=2, echoes=3, not_taken=0, overflowed=0)
