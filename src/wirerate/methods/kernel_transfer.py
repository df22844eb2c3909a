# SPDX-License-Identifier: BSD-3-Clause
"""One transfer of `wirerate kernel-path`: iperf3 at both ends, ping beside it.

Meanwhile is counted: on the wire, in the near kernel, in the application, and CPU time.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.errors import HostSetupError, TrialError
from wirerate.host.children import child
from wirerate.host.cpu_time import machine_busy_ns
from wirerate.host.iperf3 import (
    Iperf3Request,
    client_command,
    parse_client,
    server_command,
    wait_until_listening,
)
from wirerate.host.net_counters import read_net_counters
from wirerate.host.ping import first_reply_command, parse_ping, ping_command, why_none
from wirerate.methods.kernel_site import FAR
from wirerate.plan.kernel_path_settings import PING_INTERVAL_MS, PING_OCTETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wirerate.host.children import Child
    from wirerate.host.iperf3 import Iperf3Result
    from wirerate.host.net_counters import NetCounters
    from wirerate.host.ping import PingResult
    from wirerate.methods.kernel_site import Link
    from wirerate.plan.kernel_path_settings import KernelPathSettings, Transfer
    from wirerate.trial.bridge_look import BridgeLook

    Tick = Callable[[], None]

_MS_PER_S = 1000
_GRACE_S = 20.0
"""What iperf3 may need beyond its time to connect, to end, and to tell."""
_REACH_S = 15
_ETHERNET_OCTETS = 14
_PING_PATIENCE_S = 2.0
_HEARD_SHARE = 0.95
"""Pings are sent in this share of a transfer's time, so that the last replies come within it."""


@dataclass(frozen=True)
class Counts:
    """Frames and octets (with FCS) on the wire, by direction, and packets of the near kernel's IP.

    The latter are None where IP has other traffic, too.
    """

    to_near: int
    to_near_octets: int
    from_near: int
    from_near_octets: int
    kernel_in: int | None
    kernel_out: int | None

    def __sub__(self, other: Counts) -> Counts:
        theirs = vars(other)
        less: dict[str, Any] = {
            word: None if mine is None else mine - theirs[word] for word, mine in vars(self).items()
        }
        return Counts(**less)


@dataclass(frozen=True)
class Sample:
    """A look at all that is counted, at ``at_ns``; ``look`` None = there is no application."""

    counts: Counts
    machine_ns: int
    look: BridgeLook | None
    at_ns: int = 0


@dataclass(frozen=True)
class Transferred:
    """A transfer and what was counted from just before to just after it."""

    kind: Transfer
    iperf3: Iperf3Result
    ping: PingResult
    before: Sample
    after: Sample


def sample(link: Link) -> Sample:
    """Look at the counters. Raises HostSetupError where the kernel port's interface has gone."""
    look = None if link.application is None else link.application.look()
    near = read_net_counters(link.near)
    if link.interface not in near.interfaces:
        raise HostSetupError(f"there is no interface {link.interface}, or no longer")
    counts = _remote_counts(link, look, near) if link.far is None else _counts(link, link.far, near)
    return Sample(counts, machine_busy_ns(), look, time.monotonic_ns())


def _counts(link: Link, far_namespace: str, near: NetCounters) -> Counts:
    """Self-contained: the far end of the wire, and the near kernel's IP, which has nothing else."""
    wire = read_net_counters(far_namespace).interface(FAR)
    # Where the receiving end of a veth pair merges, frames are counted there, behind the header.
    uncounted = _ETHERNET_OCTETS if link.near_merges else 0
    return Counts(
        wire.tx_frames,
        wire.tx_octets + wire.tx_frames * uncounted,
        wire.rx_frames,
        wire.rx_octets + wire.rx_frames * _ETHERNET_OCTETS,
        near.ip_in,
        near.ip_out,
    )


def _remote_counts(link: Link, look: BridgeLook | None, near: NetCounters) -> Counts:
    """A real wire: the engine's counts of its port, where there is one, and the interface's."""
    own = near.interface(link.interface)
    if look is None:
        wire = (own.rx_frames, own.rx_octets, own.tx_frames, own.tx_octets)
    else:
        rx, tx = look.wire_rx, look.wire_tx
        wire = (rx.frames, rx.octets, tx.frames, tx.octets)
    return Counts(*wire, None, None)


def pinged(link: Link, seconds: float, tick: Tick) -> PingResult:
    """Ping for so long, nothing else going on but what the caller does."""
    with _ping(link, seconds) as ping:
        return _heard(ping, seconds + _PING_PATIENCE_S, tick)


def wait_until_reachable(link: Link, tick: Tick) -> None:
    """Wait for the first reply, which takes both neighbours' resolution. Raises TrialError."""
    command = first_reply_command(link.server, link.interface, _REACH_S)
    began_s = time.monotonic()
    with child(command, link.near) as ping:
        ping.wait(_REACH_S + _PING_PATIENCE_S, tick)
        if not parse_ping(ping.output(), PING_INTERVAL_MS).times_us:
            waited = f"nothing came in {time.monotonic() - began_s:.0f} s"
            reason = why_none(ping.output(), ping.complaint()) or waited
            raise TrialError(
                f"{link.server} does not answer ping through interface {link.interface}: {reason}"
            )


@contextmanager
def _ping(link: Link, seconds: float) -> Iterator[Child]:
    count = max(1, round(seconds * _MS_PER_S / PING_INTERVAL_MS))
    command = ping_command(link.server, count, PING_INTERVAL_MS, PING_OCTETS, link.interface)
    with child(command, link.near) as ping:
        yield ping


def _heard(ping: Child, timeout_s: float, tick: Tick) -> PingResult:
    """What came back; whoever takes longer than it may is told to sum up."""
    interrupted = not ping.wait(timeout_s, tick)
    if interrupted:
        ping.interrupt()
        ping.wait(_PING_PATIENCE_S, tick)
    return parse_ping(ping.output(), PING_INTERVAL_MS, interrupted=interrupted)


def request_of(
    link: Link, settings: KernelPathSettings, kind: Transfer, time_s: int
) -> Iperf3Request:
    """What iperf3 is asked for a transfer."""
    return Iperf3Request(
        server=link.server,
        port=link.server_port,
        udp=kind.udp,
        read=kind.read,
        time_s=time_s,
        parallel=settings.parallel,
        rate_bps=settings.udp_rate_bps,
        length=settings.udp_length,
        interface=link.bound,
    )


@contextmanager
def started(link: Link, request: Iperf3Request, tick: Tick) -> Iterator[Child]:
    """A client that has begun, with its server where that is ours; both end with the block."""
    with served(link, request, tick), child(client_command(request), link.near) as client:
        yield client


@contextmanager
def served(link: Link, request: Iperf3Request, tick: Tick) -> Iterator[None]:
    """With a server that listens; it ends with the block, unless it is somebody else's."""
    with ExitStack() as stack:
        if link.far is not None:
            server = stack.enter_context(child(server_command(request.port), link.far))
            wait_until_listening(server, request.port, tick)
        yield


def transfer(link: Link, settings: KernelPathSettings, kind: Transfer, tick: Tick) -> Transferred:
    """Do one transfer. Raises TrialError, HostSetupError, and what ``tick`` does."""
    request = request_of(link, settings, kind, settings.time_s)
    with ExitStack() as stack:
        stack.enter_context(served(link, request, tick))
        before = sample(link)  # close to the transfer, for CPU time is spent before it, too
        client = stack.enter_context(child(client_command(request), link.near))
        ping = stack.enter_context(_ping(link, settings.time_s * _HEARD_SHARE))
        if not client.wait(request.time_s + _GRACE_S, tick):
            raise TrialError(
                f"iperf3 has not ended {_GRACE_S:.0f} s after its {request.time_s} s: "
                f"{client.complaint() or 'it says nothing'}"
            )
        after = sample(link)
        heard = _heard(ping, 0.0, tick)
        result = parse_client(client.output(), client.complaint(), request)
    return Transferred(kind, result, heard, before, after)
