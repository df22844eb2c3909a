# SPDX-License-Identifier: BSD-3-Clause
"""The four columns of BiTester's tables: what the client sent and received, and the server. Pure.

The client is this run. The server is the peer, where it is asked (--peer); with --oneway and
without a peer it is the port that receives here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.units import format_count, format_engineering

if TYPE_CHECKING:
    from wirerate.plan.flows_settings import FlowsSettings
    from wirerate.trial.result import PortResult, RunResult

_UNKNOWN = "-"


@dataclass(frozen=True)
class Passed:
    """What passed an end: frames, and their rate [frames/s], None where it is not known."""

    frames: int
    fps: float | None

    @property
    def text(self) -> str:
        """The rate."""
        return _UNKNOWN if self.fps is None else format_engineering(self.fps, "pps")


@dataclass(frozen=True)
class Ends:
    """Each end of the way; None = nobody knows, or there is nothing to know.

    ``server``: what the server's columns are of. ``server_cores`` None: not known.
    """

    oneway: bool
    client_tx: Passed
    client_rx: Passed | None
    server_rx: Passed | None
    server_tx: Passed | None
    client_cores: int
    server_cores: int | None
    server: str

    @property
    def columns(self) -> tuple[tuple[str, Passed | None], ...]:
        """Those of BiTester's table, in its order."""
        if self.oneway:
            return (("Client TX", self.client_tx), ("Server RX", self.server_rx))
        return (
            ("Client TX", self.client_tx),
            ("Client RX", self.client_rx),
            ("Server RX", self.server_rx),
            ("Server TX", self.server_tx),
        )


def ends_of(result: RunResult, settings: FlowsSettings) -> Ends:
    """The ends of a finished run."""
    peer = result.peer
    sender = _port(result, settings.tx_port)
    receiver = _port(result, settings.rx_port)
    plans = [port.plan for port in result.ports]
    lcores = {lcore for plan in plans for lcore in (*plan.rx_lcores, *plan.tx_lcores)}
    assert sender is not None, "the sending port is open"
    client_tx = Passed(sender.tx_frames, sender.offered_fps)
    here = None if receiver is None else _over(receiver.rx_frames, sender.seconds)
    server_rx = server_tx = server_cores = None
    server = "not known (--peer asks wirerate reflect --listen there)"
    if peer is not None and peer.account is not None:
        counts, seconds = peer.account.counts, sender.seconds
        server_rx = _over(counts.received, seconds)
        server_tx = _over(counts.returned, seconds)
        server_cores, server = peer.account.lcores, f"peer {peer.address}"
    elif peer is not None:
        server = f"peer {peer.address}, {peer.gap}"
    elif settings.peer is not None:
        server = "not asked while a rate is sought"
    elif settings.oneway and here is not None:
        server_rx, server = here, f"port {settings.rx_port} of this run"
    return Ends(
        oneway=settings.oneway,
        client_tx=client_tx,
        client_rx=None if settings.oneway else here,
        server_rx=server_rx,
        server_tx=None if settings.oneway else server_tx,
        client_cores=len(lcores),
        server_cores=server_cores,
        server=server,
    )


def _port(result: RunResult, index: int) -> PortResult | None:
    return next((port for port in result.ports if port.plan.index == index), None)


def _over(frames: int, seconds: float) -> Passed:
    """What was counted elsewhere, over the time in which it was sent: rates of a row compare."""
    return Passed(frames, frames / seconds if seconds > 0 else None)


def table_rows(ends: Ends) -> tuple[list[str], list[list[str]]]:
    """Titles of the columns, and the rows: rates, and frames."""
    way = "One-way" if ends.oneway else "Two-way"
    titles = [way, *(name for name, _ in ends.columns), "Cores"]
    passed = [value for _, value in ends.columns]
    cores = str(ends.client_cores)
    if ends.server_cores is not None:
        cores += f"+{ends.server_cores}"
    rates = [_UNKNOWN if value is None else value.text for value in passed]
    frames = [_UNKNOWN if value is None else format_count(value.frames) for value in passed]
    return titles, [["rate", *rates, cores], ["frames", *frames, ""]]
