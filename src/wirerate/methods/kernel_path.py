# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate kernel-path`: what the way into the kernel costs, by every kind of kernel port.

Rows are measured one after the other, and one that fails leaves the others. The document is
schema wirerate-kernel-path/1 of docs/design/0009-kernel-path.md; no text is made here.
"""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from wirerate.engine.eal import choose_memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.errors import WirerateError
from wirerate.host.environment import environment
from wirerate.methods.kernel_bridge import bridge_of
from wirerate.methods.kernel_groups import RowName, cannot_run, check_tools, row_names
from wirerate.methods.kernel_leftovers import find_leftovers, other_runs
from wirerate.methods.kernel_row import Row, absent_row, failed_row, verdict
from wirerate.methods.kernel_site import RealSite, SelfContained
from wirerate.plan.kernel_path_settings import Group, settings_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirerate.methods.kernel_site import Opening
    from wirerate.plan.kernel_path_settings import KernelPathSettings
    from wirerate.trial.bridge import Bridge

SCHEMA = "wirerate-kernel-path/1"
_STOPPED = "interrupted"
_INTERRUPTED = "interrupted before it was measured"


class KernelPath:
    """The whole comparison. `stop` ends it early and in good order; `run` returns what there is."""

    def __init__(
        self,
        settings: KernelPathSettings,
        say: Callable[[str], None],
        done: Callable[[dict[str, Any]], None] = lambda _row: None,
    ) -> None:
        """``say`` takes a line about what is being done, for people; ``done`` each row."""
        self._settings = settings
        self._say = say
        self._done = done
        self._stop = False
        self._linux: Row | None = None

    def stop(self) -> None:
        """Measure no more; may be called from a signal handler."""
        self._stop = True

    @property
    def stopped(self) -> bool:
        """It was told to stop."""
        return self._stop

    def run(self) -> dict[str, Any]:
        """Measure all rows; the document. Raises HostSetupError and EngineError before the first.

        Nothing of it is left on the machine, whatever happens.
        """
        check_tools()
        started, began_s = datetime.now(timezone.utc), time.monotonic()
        notes = self._neighbours()
        dpdk = dpdk_version()
        rows = self._rows(dpdk)
        return {
            "schema": SCHEMA,
            "verdict": verdict(_reasons(rows), notes),
            "environment": environment(dpdk, started),
            "seconds": time.monotonic() - began_s,
            "settings": settings_document(self._settings),
            "rows": rows,
        }

    def _neighbours(self) -> list[str]:
        """What else is about on this machine."""
        notes = [
            f"another kernel-path (process {pid}) runs at the same time: both share the CPUs"
            for pid in other_runs()
        ]
        dead = ", ".join(str(left.pid) for left in find_leftovers())
        if dead:
            notes.append(
                f"process {dead} was killed and has left namespaces: wirerate kernel-path --cleanup"
            )
        return notes

    def _rows(self, dpdk: str) -> list[dict[str, Any]]:
        settings = self._settings
        names = row_names(settings)
        found = []
        with self._site() as site:
            for place, name in enumerate(names, 1):
                missing = cannot_run(name.group, settings, dpdk)
                if missing is not None:
                    found.append(absent_row(name, "cannot run", missing.reason, missing.hint))
                elif self._stop:
                    found.append(absent_row(name, "failed", _INTERRUPTED))
                else:
                    found.append(self._row(name, site, f"{place}/{len(names)} {name}"))
                self._done(found[-1])
        return found

    def _site(self) -> SelfContained | RealSite:
        settings = self._settings

        def opened(opening: Opening) -> Bridge:
            return bridge_of(opening, settings)

        if settings.real is not None:
            return RealSite(settings, settings.real, opened)
        return SelfContained(settings, opened)

    def _row(self, name: RowName, site: SelfContained | RealSite, title: str) -> dict[str, Any]:
        """A row, measured or failed with its reason and what was measured before."""
        row = Row(name, self._settings, self._check, lambda text: self._say(f"{title}: {text}"))
        reason = ""
        try:
            row.measure(site)
        except InterruptedError:
            reason = _STOPPED
        except WirerateError as error:
            reason = _STOPPED if self._stop else str(error)
        if reason and not any(row.repeats.values()):
            return absent_row(name, "failed", reason)
        found = row.document(self._linux, len(self._settings.lcores))
        if name.group is Group.LINUX:
            self._linux = row
        return failed_row(found, reason) if reason else found

    def _check(self) -> None:
        if self._stop:
            raise InterruptedError


def dpdk_version() -> str:
    """What the engine says; it is started for that, without a port."""
    memory = choose_memory(0, (), allow_hugepages=False)
    with Engine(eal_arguments((), (), memory, ())) as engine:
        return str(engine.call("engine.info")["dpdk"])


def _reasons(rows: list[dict[str, Any]]) -> list[str]:
    """What speaks against the whole: rows that are not valid, or that there is none."""
    reasons = [
        f"{row['group']} {row['mode']}".strip() + f": {text}"
        for row in rows
        if row["status"] != "cannot run"
        for text in row["verdict"]["reasons"]
    ]
    if all(row["status"] == "cannot run" for row in rows):
        reasons.append("no row can run here")
    return reasons
