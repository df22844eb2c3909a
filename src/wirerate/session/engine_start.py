# SPDX-License-Identifier: BSD-3-Clause
"""What every measurement with an engine does around it: lcores, checks, start, words about ports.

Called by `wirerate.session` and by commands that have an engine of their own.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from wirerate.engine.eal import eal_arguments, wants_telemetry
from wirerate.engine.process import Engine
from wirerate.engine.run_dir import idle_of, lcores_in_use
from wirerate.host.claims import claimed_files, claimed_ports
from wirerate.host.ports import check_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wirerate.engine.eal import Memory
    from wirerate.plan.location import Location
    from wirerate.plan.run_settings import RunSettings


_NO_FILES: Mapping[str, str] = MappingProxyType({})


def _ignore(_text: str) -> None:
    pass


@dataclass(frozen=True)
class Notices:
    """Where a session reports what does not keep it from measuring, a sentence at a time.

    ``warn`` gets what may spoil a measurement, ``detail`` what helps to find out why something
    fails: EAL's arguments, the engine's log, all that a port is.
    """

    warn: Callable[[str], None] = _ignore
    detail: Callable[[str], None] = _ignore


def idle_lcores(settings: RunSettings) -> Sequence[int]:
    """The lcores to choose from: those on which no other run polls, where there are two or more."""
    return idle_of(settings.lcores)


def warn_of_shared(lcores: Sequence[int], notices: Notices) -> None:
    """Warn of lcores on which another run polls."""
    shared = sorted(lcores_in_use().intersection(lcores))
    if shared:
        named = ", ".join(str(lcore) for lcore in shared)
        notices.warn(f"another run polls on lcore {named} too")


@contextmanager
def open_engine(  # noqa: PLR0917 -- they are what an engine takes
    settings: RunSettings,
    ports: Sequence[tuple[str, Location, int]],
    lcores: Sequence[int],
    memory: Memory,
    notices: Notices,
    files: Mapping[str, str] = _NO_FILES,
) -> Iterator[Engine]:
    """Check the ports (title, location, queues) as far as the host knows, and start an engine.

    ``files``: those that it will write besides, and their titles.
    Raises PlanError, HostSetupError and EngineError.
    """
    for title, location, queues in ports:
        check_port(title, location, queues)
    locations = [location for _, location, _ in ports]
    words = eal_arguments(locations, lcores, memory, settings.eal.passthrough)
    notices.detail(f"EAL arguments: {' '.join(words)}")
    with (
        claimed_ports([(title, location) for title, location, _ in ports]),
        claimed_files(files),
        Engine(words, lcores, settings.eal.passthrough, memory.node) as engine,
    ):
        yield engine


def report_ports(
    engine: Engine,
    settings: RunSettings,
    about: Mapping[str, Any],
    opened: Sequence[tuple[str, Mapping[str, Any]]],
    notices: Notices,
) -> None:
    """Links that are down, and as details all there is to know; ``opened``: (title, PORT_INFO)."""
    for title, info in opened:
        if not info["link_up"]:
            text = f"{title} ({info['location']}): the link is down, or no peer has come yet"
            notices.warn(text)
    notices.detail(
        f"Engine: pid {engine.pid}, {about['dpdk']}, {about['transmit']}ally linked, "
        f"{_telemetry(settings, engine)}log {engine.log_path}"
    )
    for _, info in opened:
        notices.detail(f"Port {info['name']}: {json.dumps(info)}")


def _telemetry(settings: RunSettings, engine: Engine) -> str:
    """Where to ask DPDK itself, if the user wants that."""
    if not wants_telemetry(settings.eal.passthrough):
        return ""
    return f"telemetry: dpdk-telemetry.py -f {engine.file_prefix}, "
