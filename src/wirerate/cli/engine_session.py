# SPDX-License-Identifier: BSD-3-Clause
"""What every command that runs an engine does around it: lcores, checks, start, signals, words.

Called by `wirerate.cli.execute` for plans and by `wirerate.cli.forward_session` for forwarders.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from wirerate.engine.eal import eal_arguments, wants_telemetry
from wirerate.engine.process import Engine, kill_engines
from wirerate.engine.run_dir import idle_of, lcores_in_use
from wirerate.errors import ExitCode
from wirerate.host.claims import claimed_files, claimed_ports
from wirerate.host.ports import check_port
from wirerate.interrupts import BOUNCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wirerate.engine.eal import Memory
    from wirerate.plan.location import Location
    from wirerate.plan.run_settings import RunSettings


_NO_FILES: Mapping[str, str] = MappingProxyType({})


class Stoppable(Protocol):
    """What a signal is to end."""

    def stop(self) -> None:
        """Ask for an early, orderly end; may be called from a signal handler."""


def warn(text: str) -> None:
    """Say something on standard error that does not keep the run from starting."""
    print(f"wirerate: warning: {text}", file=sys.stderr)


def idle_lcores(settings: RunSettings) -> Sequence[int]:
    """The lcores to choose from: those on which no other run polls, where there are two or more."""
    return idle_of(settings.lcores)


def warn_of_shared(lcores: Sequence[int]) -> None:
    """Warn of lcores on which another run polls."""
    shared = sorted(lcores_in_use().intersection(lcores))
    if shared:
        warn(f"another run polls on lcore {', '.join(str(lcore) for lcore in shared)} too")


@contextmanager
def open_engine(
    settings: RunSettings,
    ports: Sequence[tuple[str, Location, int]],
    lcores: Sequence[int],
    memory: Memory,
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
    if settings.verbose:
        print("EAL arguments:", " ".join(words), file=sys.stderr)
    with (
        claimed_ports([(title, location) for title, location, _ in ports]),
        claimed_files(files),
        Engine(words, lcores, settings.eal.passthrough, memory.node) as engine,
    ):
        yield engine


def tell_ports(
    engine: Engine,
    settings: RunSettings,
    about: Mapping[str, Any],
    opened: Sequence[tuple[str, Mapping[str, Any]]],
) -> None:
    """Links that are down, and with -v all there is to know; ``opened``: (title, PORT_INFO)."""
    for title, info in opened:
        if not info["link_up"]:
            warn(f"{title} ({info['location']}): the link is down, or no peer has come yet")
    if not settings.verbose:
        return
    print(
        f"Engine: pid {engine.pid}, {about['dpdk']}, {about['transmit']}ally linked, "
        f"{_telemetry(settings, engine)}log {engine.log_path}",
        file=sys.stderr,
    )
    for _, info in opened:
        print(f"Port {info['name']}: {json.dumps(info)}", file=sys.stderr)


def _telemetry(settings: RunSettings, engine: Engine) -> str:
    """Where to ask DPDK itself, if the user wants that."""
    if not wants_telemetry(settings.eal.passthrough):
        return ""
    return f"telemetry: dpdk-telemetry.py -f {engine.file_prefix}, "


@contextmanager
def stopping(what: Stoppable) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP end it in good order instead of this process.

    One more, later than BOUNCE_S, ends engines and command at once: the good order may wait for a
    reader of standard output, or for an engine that was stopped. The next ends this process.
    Under nohup SIGHUP is ignored, and stays so.
    """
    first: list[float] = []

    def stop(_number: int, _frame: object) -> None:
        now = time.monotonic()
        if not first:
            first.append(now)
            what.stop()
        elif now - first[0] > BOUNCE_S:
            give_up()

    def give_up() -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
        kill_engines()
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 -- what is buffered must not block
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise KeyboardInterrupt

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ending_code(death: str | None, unwritten: str | None) -> ExitCode:
    """The exit code of a trial that was reported, and one line for what went wrong at its end.

    ``death``: how the engine died; ``unwritten``: which capture could not be written, and why.
    """
    if death is None and unwritten is None:
        return ExitCode.PASS
    print(f"wirerate: error: {death or unwritten}", file=sys.stderr)
    return ExitCode.HOST_SETUP if death is None else ExitCode.ENGINE_DIED
