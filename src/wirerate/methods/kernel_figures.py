# SPDX-License-Identifier: BSD-3-Clause
"""What the transfers of a row come to: the figures of each, and their medians. Pure.

What iperf3 says has to agree with what was seen on the wire, or the transfer is not valid. All of
a transfer is over the receiver's seconds. The wire carries what the receiver got and what was
under way at the end, at most what the sender sent and sent again.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from wirerate.plan.kernel_path_settings import PING_OCTETS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wirerate.methods.kernel_transfer import Counts, Transferred

    Figure = Callable[["Repeat"], float | None]

_NS_PER_S = 1_000_000_000
_GB = 1e9
_TOLERANCE = 0.01
_ETHERNET_OCTETS = 18
"""Header and FCS."""
_IP_OCTETS = {False: 20, True: 40}
_TCP_OCTETS = 32
"""With timestamps, which Linux sends with every segment."""
_UDP_OCTETS = 8
_CPU = ("application", "near_iperf", "far_iperf", "machine")
_LOSSES = ("ring_lost", "kernel_lost", "wire_lost")


@dataclass(frozen=True)
class Repeat:
    """One transfer in figures.

    ``wire_frames`` and ``wire_octets`` (with FCS) are those of the data's direction,
    ``back_frames`` the other's; ``kernel_packets`` those of the near kernel's IP in the data's
    direction, None where it has other traffic, too. ``sent_datagrams`` are the sending iperf3's,
    ``datagrams`` the receiving one's. ``cpu_s`` is CPU time [s] by who used it, ``application``
    None without one; ``busy`` the share of time in which the busiest lcore moved frames. ``lost``:
    frames, by where.
    """

    seconds: float
    octets: int
    wire_frames: int
    wire_octets: int
    back_frames: int
    kernel_packets: int | None
    datagrams: int | None
    udp_loss: float | None
    retransmits: int | None
    cpu_s: dict[str, float | None]
    busy: float | None
    lost: dict[str, int]
    reasons: tuple[str, ...]
    sent_datagrams: int | None = None

    @property
    def gbps(self) -> float:
        """Goodput of the receiver [Gbit/s]."""
        return self.octets * 8 / self.seconds / _GB

    def per_second(self, number: float) -> float:
        """A rate over the transfer's seconds."""
        return number / self.seconds

    @property
    def frame_octets(self) -> float | None:
        """Octets of a frame on the wire; None without any."""
        return self.wire_octets / self.wire_frames if self.wire_frames else None

    @property
    def kernel_octets(self) -> float | None:
        """Of the wire's octets, those in a packet of the near kernel; None without any."""
        return self.wire_octets / self.kernel_packets if self.kernel_packets else None


def figures(done: Transferred, *, ipv6: bool) -> Repeat:
    """The figures of a transfer."""
    counts = _without_ping(done, done.after.counts - done.before.counts, ipv6=ipv6)
    read, said = done.kind.read, done.iperf3
    frames, back = counts.to_near, counts.from_near
    octets = counts.to_near_octets
    if not read:
        frames, back, octets = back, frames, counts.from_near_octets
    loss = None
    if said.datagrams is not None and said.datagrams_lost is not None:
        loss = said.datagrams_lost / said.datagrams if said.datagrams else 0.0
    return Repeat(
        seconds=said.seconds,
        octets=said.received_octets,
        wire_frames=frames,
        wire_octets=octets,
        back_frames=back,
        kernel_packets=counts.kernel_in if read else counts.kernel_out,
        datagrams=_received_datagrams(done),
        udp_loss=loss,
        retransmits=said.retransmits,
        cpu_s=_cpu(done),
        busy=_busy(done),
        lost=_lost(done),
        reasons=_reasons(done, frames, octets, ipv6=ipv6),
        sent_datagrams=said.datagrams_sent,
    )


def _received_datagrams(done: Transferred) -> int | None:
    said = done.iperf3
    if said.datagrams is None or said.datagrams_lost is None:
        return None
    return said.datagrams - said.datagrams_lost


def _without_ping(done: Transferred, counts: Counts, *, ipv6: bool) -> Counts:
    """Requests came from near, replies to it."""
    size = _ETHERNET_OCTETS + _IP_OCTETS[ipv6] + 8 + PING_OCTETS
    sent, received = done.ping.sent, len(done.ping.times_us)
    return type(counts)(
        counts.to_near - received,
        counts.to_near_octets - received * size,
        counts.from_near - sent,
        counts.from_near_octets - sent * size,
        None if counts.kernel_in is None else counts.kernel_in - received,
        None if counts.kernel_out is None else counts.kernel_out - sent,
    )


def _cpu(done: Transferred) -> dict[str, float | None]:
    """Over iperf3's seconds: what was counted a little longer is taken in proportion."""
    before, after = done.before, done.after
    window_s = (after.at_ns - before.at_ns) / _NS_PER_S
    share = min(1.0, done.iperf3.seconds / window_s) if window_s > 0 else 1.0
    application = None
    if before.look is not None and after.look is not None:
        application = share * (after.look.cpu_ns - before.look.cpu_ns) / _NS_PER_S
    return {
        "application": application,
        "near_iperf": done.iperf3.own_cpu * done.iperf3.seconds,
        "far_iperf": done.iperf3.peer_cpu * done.iperf3.seconds,
        "machine": share * (after.machine_ns - before.machine_ns) / _NS_PER_S,
    }


def _busy(done: Transferred) -> float | None:
    """Frames move only during the transfer, so its time is what busy time is a share of."""
    before, after = done.before.look, done.after.look
    if before is None or after is None:
        return None
    spent = [ns - before.busy_ns.get(lcore, 0) for lcore, ns in after.busy_ns.items()]
    return min(1.0, max(spent, default=0) / _NS_PER_S / done.iperf3.seconds)


def _lost(done: Transferred) -> dict[str, int]:
    before, after = done.before.look, done.after.look
    if before is None or after is None:
        return {}
    return {word: getattr(after, word) - getattr(before, word) for word in _LOSSES}


def _reasons(done: Transferred, frames: int, octets: int, *, ipv6: bool) -> tuple[str, ...]:
    """Where payload on the wire and iperf3's do not agree.

    Headers of UDP count as payload, since a datagram may be several frames.
    """
    said = done.iperf3
    headers = _ETHERNET_OCTETS + _IP_OCTETS[ipv6] + (0 if done.kind.udp else _TCP_OCTETS)
    payload = octets - frames * headers
    least, most = said.received_octets, said.sent_octets
    if done.kind.udp:
        size = max(1, said.segment_octets)
        least, most = (number + number // size * _UDP_OCTETS for number in (least, most))
    else:
        most += (said.retransmits or 0) * said.segment_octets
    if least * (1 - _TOLERANCE) <= payload <= most * (1 + _TOLERANCE):
        return ()
    text = (
        f"{done.kind.title}: the wire carried {payload:,} octets of payload, but iperf3 received "
        f"{least:,} and sent {most:,}"
    )
    return (text,)


def stat(values: Sequence[float]) -> dict[str, float]:
    """STAT of docs/design/0009-kernel-path.md; of at least one value."""
    return {"median": median(values), "min": min(values), "max": max(values)}


def _stat(repeats: Sequence[Repeat], what: Figure) -> dict[str, float] | None:
    """Of those that have a value; None where none has."""
    found = [value for value in map(what, repeats) if value is not None]
    return stat(found) if found else None


def transfer_document(repeats: Sequence[Repeat]) -> dict[str, Any]:
    """TEST of at least one repeat; medians are of valid ones where there are any."""
    good = [one for one in repeats if not one.reasons] or list(repeats)

    def of(what: Figure) -> dict[str, float] | None:
        return _stat(good, what)

    return {
        "status": "ok",
        "reason": "",
        "gbps": of(lambda one: one.gbps),
        "pps": of(lambda one: one.per_second(one.wire_frames)),
        "goodput_of": "receiver",
        "frame_octets": of(lambda one: one.frame_octets),
        "kernel_pps": of(
            lambda one: None if one.kernel_packets is None else one.per_second(one.kernel_packets)
        ),
        "socket_pps": of(
            lambda one: None if one.datagrams is None else one.per_second(one.datagrams)
        ),
        "udp_loss": of(lambda one: one.udp_loss),
        "retransmits": of(lambda one: one.retransmits),
        "back_pps": of(lambda one: one.per_second(one.back_frames)),
        "cpu": _cpu_document(good),
        "repeats": [_repeat_document(one) for one in repeats],
    }


def failed_test(reason: str) -> dict[str, Any]:
    """TEST of which no repeat came to an end."""
    return {"status": "failed", "reason": reason}


def _cpu_document(repeats: Sequence[Repeat]) -> dict[str, Any]:
    def each(unit: float, what: Callable[[Repeat], int]) -> dict[str, Any]:
        """CPU time of everybody in parts of a second, for each of what was done."""
        return {who: _stat(repeats, _cost(who, unit, what)) for who in _CPU}

    return {
        "application_busy": _stat(repeats, lambda one: one.busy),
        "ns_per_frame": each(_NS_PER_S, lambda one: one.wire_frames),
        "s_per_gb": each(_GB, lambda one: one.octets),
    }


def _cost(who: str, unit: float, what: Callable[[Repeat], int]) -> Figure:
    def cost(one: Repeat) -> float | None:
        spent, done = one.cpu_s[who], what(one)
        return None if spent is None or done <= 0 else spent * unit / done

    return cost


def _repeat_document(one: Repeat) -> dict[str, Any]:
    return {
        "gbps": one.gbps,
        "seconds": one.seconds,
        "octets": one.octets,
        "wire_frames": one.wire_frames,
        "wire_octets": one.wire_octets,
        "back_frames": one.back_frames,
        "kernel_packets": one.kernel_packets,
        "socket_datagrams": one.datagrams,
        "udp_loss": one.udp_loss,
        "retransmits": one.retransmits,
        "cpu_s": dict(one.cpu_s),
        "application_busy": one.busy,
        "lost": dict(one.lost),
        "valid": not one.reasons,
        "reasons": list(one.reasons),
    }
