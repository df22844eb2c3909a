# SPDX-License-Identifier: BSD-3-Clause
"""Bridges made up for tests that need no engine: settings from words, programs, counters."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from support.made_up import ENGINE, HZ, snapshot, worker
from support.made_up import port as made_port
from wirerate.cli.bridge_args import settings_of as read_settings
from wirerate.cli.main import parse
from wirerate.plan.bridge_program import BridgeFacts, BridgeLcores, Layout, bridge_program
from wirerate.trial.bridge_look import source_key
from wirerate.trial.bridge_steering import Steering
from wirerate.trial.bridge_verdict import BridgeEnd

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.plan.bridge_settings import BridgeSettings
    from wirerate.trial.bridge_look import BridgeLook

LCORES = range(16)
DATA, KERNEL = 2, 3
PORTS = ("bridge", "af_packet:near", "tap:dtap0")
ADDRESSES = ("--address", "10.0.0.1", "--address", "fd00::1")


def settings_of(*words: str) -> BridgeSettings:
    """The settings of a command line behind PORTS, or of a whole one."""
    line = words if words[:1] == ("bridge",) else (*PORTS, *words)
    return read_settings(parse(line), LCORES)


def program_of(layout: Layout, *words: str, **facts: Any) -> dict[str, Any]:
    """Params of program.load for that layout."""
    known: dict[str, Any] = {"queues": 1} | facts
    return bridge_program(
        settings_of(*words), BridgeLcores(DATA, KERNEL), BridgeFacts(layout=layout, **known)
    )


def tasks_of(program: Mapping[str, Any]) -> dict[int, list[dict[str, Any]]]:
    """The tasks by lcore."""
    return {entry["lcore"]: entry["tasks"] for entry in program["workers"]}


def counters_of(
    program: Mapping[str, Any], counts: Mapping[tuple[str, int], Mapping[str, int]]
) -> Any:
    """Counters of a program; ``counts``: words by what a task takes from, 0 where not given."""
    blocks = []
    for entry in program["workers"]:
        for task in entry["tasks"]:
            key = source_key(task["from"])
            words: dict[str, int] = defaultdict(int, counts.get(key, {}))
            blocks.append(_Block(words, {"from": key[0], "queue": key[1]}))
    return SimpleNamespace(of_kind=lambda kind: blocks if kind == "bridge" else [])


class _Block:
    """A block of counters."""

    def __init__(self, words: dict[str, int], labels: dict[str, Any]) -> None:
        self.labels = labels
        self._words = words

    def __getitem__(self, name: str) -> int:
        return self._words[name]


def end_of(look: BridgeLook, *words: str, **other: Any) -> BridgeEnd:
    """A bridge that has ended after a second; ``device`` is that of the port."""
    device = other.pop("device", {})
    away = other.pop("cpu_lost_max_ns", 0)
    snap = snapshot(made_port(name="p0", **device), made_port(name="k0"), seconds=1.0)
    workers = tuple(
        worker(lcore, now_tsc=snap.now_tsc, cpu_lost_max_ns=away) for lcore in (DATA, KERNEL)
    )
    looks = (type(snap)(**vars(snap) | {"workers": workers}),)
    return BridgeEnd(settings=settings_of(*words), look=look, seconds=1.0, looks=looks, **other)


def bridge_of(*words: str, by: str = "none", reason: str = "", complete: bool = False) -> Any:
    """What reports ask a bridge for."""
    settings = settings_of(*words)
    setup = SimpleNamespace(
        lcores=BridgeLcores(DATA, KERNEL),
        sleep_ns=0,
        memory=SimpleNamespace(text="hugepages"),
        placements=(),
    )
    infos = [
        {"name": name, "location": location.text, "driver": "net_tap"}
        for name, location in zip(("p0", "k0"), settings.locations, strict=True)
    ]
    look = snapshot(made_port(name="p0"), made_port(name="k0"), seconds=1.0)
    return SimpleNamespace(
        settings=settings,
        setup=setup,
        infos=infos,
        about=ENGINE | {"tsc_hz": HZ},
        work_cycles=0,
        kernel_interface="dtap0",
        completes=complete,
        steering=Steering(by, reason),
        notes=(),
        layout=Layout.SHARED,
        snapshots=lambda: (look,),
    )
