# SPDX-License-Identifier: BSD-3-Clause
"""Where frames were lost, when the forwarder at the other end tells what it has counted.

Two looks at its document (wirerate-forward/1), before and after a trial, and what was counted here
make an account: every frame that was due and did not come is lost in one place. Pure; who asks the
peer is `wirerate.trial.peer_client`. Looks are totals over all ports, here and there.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any

from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wirerate.trial.result import PortResult

SCHEMA = "wirerate-forward/1"
_GROWING = ("received", "returned", "dropped", "duplicated", "not_taken", "overflowed")
"""What only ever grows; devices may clear their counters, and held frames leave."""


@dataclass(frozen=True)
class PeerCounts:
    """What a peer has counted: frames, and octets with FCS.

    ``returned`` are forwarded or answered frames that its device has taken, ``missed``,
    ``no_mbuf`` and ``socket_drops`` what the devices dropped before it could receive them.
    ``held`` are delayed or held back at the moment.
    """

    received: int = 0
    received_octets: int = 0
    returned: int = 0
    returned_octets: int = 0
    missed: int = 0
    no_mbuf: int = 0
    socket_drops: int = 0
    dropped: int = 0
    duplicated: int = 0
    not_taken: int = 0
    overflowed: int = 0
    held: int = 0

    def __sub__(self, before: PeerCounts) -> PeerCounts:
        pairs = zip(astuple(self), astuple(before), strict=True)
        return PeerCounts(*(after - then for after, then in pairs))


@dataclass(frozen=True)
class PeerLook:
    """One look at a peer.

    ``started`` tells one run of it from another, ``ways`` are its directions: port, port or None,
    queues. ``returns``: it sends on what it receives. ``resets`` is how often its devices cleared
    their counters, ``lcores`` how many it has at work.
    """

    started: str
    ways: tuple[tuple[int, int | None, int], ...]
    counts: PeerCounts
    resets: int
    lcores: int

    @property
    def returns(self) -> bool:
        """It sends on what it receives, and does not only count it."""
        return any(target is not None for _, target, _ in self.ways)


@dataclass(frozen=True)
class OwnCounts:
    """What was counted here in the trial [frames].

    ``sent`` are all that the devices took, answers too; ``came`` all that was received, None where
    no port receives.
    """

    unsent: int
    sent: int
    came: int | None


@dataclass(frozen=True)
class Places:
    """Frames by the place where they were lost, or where more left than had come; none below 0.

    ``unsent``: not sent; ``between`` here and the peer; ``queues`` of the peer; ``forwarding`` of
    the peer; ``asked``: dropped or held there as its options ask (of a gain: duplicated, or held
    since before the trial); ``back``: on the way back.
    """

    unsent: int = 0
    between: int = 0
    queues: int = 0
    forwarding: int = 0
    asked: int = 0
    back: int = 0

    @property
    def total(self) -> int:
        """In all places."""
        return sum(astuple(self))


@dataclass(frozen=True)
class PeerAccount:
    """Where the frames of a trial are: due = arrived + lost.total - gained.total.

    ``arrived`` are those that came back, or reached the peer's program where none are to come back
    (``returns`` False). ``counts`` is what the peer has counted meanwhile.
    """

    own: OwnCounts
    counts: PeerCounts
    lost: Places
    gained: Places
    returns: bool
    lcores: int
    notes: tuple[str, ...] = ()

    @property
    def due(self) -> int:
        """Frames sent and unsent."""
        return self.own.sent + self.own.unsent

    @property
    def arrived(self) -> int:
        """Frames at the end of their way."""
        return self.own.came if self.returns and self.own.came is not None else self.counts.received

    @property
    def missing(self) -> int:
        """Frames that were due and have not arrived; below 0: more arrived than were due."""
        return self.due - self.arrived


@dataclass(frozen=True)
class PeerResult:
    """What is known of the peer at the end: an account, or why there is none (``gap``)."""

    address: str
    account: PeerAccount | None
    gap: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What the verdict has to say about it."""
        title = f"peer {self.address}"
        if self.gap is not None:
            return (f"{title}: {self.gap}; where frames were lost is not known",)
        return () if self.account is None else tuple(f"{title}: {n}" for n in self.account.notes)


class PeerDocumentError(ValueError):
    """What a peer answered is not the document it should be."""


def look_of(document: Any) -> PeerLook:
    """Read a peer's document. Raises PeerDocumentError."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise PeerDocumentError(f"it is no document {SCHEMA}")
    try:
        ways = tuple(
            (_count(way, "port"), _target(way), len(way["queues"])) for way in document["ways"]
        )
        lcores = {queue["lcore"] for way in document["ways"] for queue in way["queues"]}
        return PeerLook(
            started=str(document["environment"]["started"]),
            ways=ways,
            counts=_counts(document["total"], document["ports"]),
            resets=sum(_count(port["device"], "resets") for port in document["ports"]),
            lcores=len(lcores),
        )
    except (KeyError, TypeError) as error:
        raise PeerDocumentError(f"its document {SCHEMA} lacks parts ({error})") from error


def _target(way: Mapping[str, Any]) -> int | None:
    return None if way["to_port"] is None else _count(way, "to_port")


def _counts(total: Mapping[str, Any], ports: Sequence[Mapping[str, Any]]) -> PeerCounts:
    answers = [port["answers"] for port in ports if port["answers"] is not None]
    devices = [port["device"] for port in ports]
    return PeerCounts(
        received=_count(total, "rx_frames"),
        received_octets=_count(total, "rx_octets"),
        returned=_count(total, "tx_frames") + sum(_count(answer, "frames") for answer in answers),
        returned_octets=_count(total, "tx_octets"),
        missed=sum(_count(device, "imissed") for device in devices),
        no_mbuf=sum(_count(device, "rx_nombuf") for device in devices),
        socket_drops=sum(_count(device, "socket_drops") for device in devices),
        **{
            name: _count(total, name)
            for name in ("dropped", "duplicated", "not_taken", "overflowed", "held")
        },
    )


def _count(words: Mapping[str, Any], name: str) -> int:
    """A number of things: whole, not negative."""
    value = words[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise PeerDocumentError(f"its document {SCHEMA} has {name} {value!r}, which is no number")
    return value


def own_counts(ports: Sequence[PortResult]) -> OwnCounts:
    """What was counted here, over all ports of a finished trial."""
    receivers = [port for port in ports if port.plan.rx_lcores]
    return OwnCounts(
        unsent=sum(port.tx_frames_unsent for port in ports),
        sent=sum(port.tx_frames + port.reply_frames for port in ports),
        came=sum(port.rx_frames for port in receivers) if receivers else None,
    )


def peer_result(
    address: str, before: PeerLook, after: PeerLook, own: OwnCounts, notes: Sequence[str] = ()
) -> PeerResult:
    """The account of a trial between two looks, or why there can be none.

    ``notes`` are what there is to say of the looks themselves.
    """
    if after.started != before.started:
        return PeerResult(address, None, "it was started anew during the trial")
    if after.ways != before.ways:
        return PeerResult(address, None, "its ports or directions changed during the trial")
    counted = after.counts - before.counts
    if min(getattr(counted, name) for name in _GROWING) < 0:
        return PeerResult(address, None, "its counters went backwards during the trial")
    found = account(before, after, own)
    return PeerResult(address, replace(found, notes=(*notes, *found.notes)))


def account(before: PeerLook, after: PeerLook, own: OwnCounts) -> PeerAccount:
    """Say where each frame was lost; the looks are of one run of the peer.

    What its devices dropped is their own word (imissed, rx_nombuf, socket_drops); the rest of each
    stretch is what went in minus what came out. Several drivers count as rx_nombuf how often they
    lacked an mbuf and leave the frame where it was, so that no more of it is taken than is missing.
    """
    counts = after.counts - before.counts
    unreached = own.sent - counts.received
    told = max(0, counts.missed) + max(0, counts.socket_drops)
    no_mbuf = min(max(0, counts.no_mbuf), max(0, unreached - told))
    between = unreached - told - no_mbuf
    lost = {"unsent": own.unsent, "queues": told + no_mbuf, "between": max(0, between)}
    gained = {"between": max(0, -between)}
    returns = after.returns and own.came is not None
    if returns and own.came is not None:
        asked = counts.dropped + max(0, counts.held)
        added = counts.duplicated + max(0, -counts.held)
        forwarding = counts.received - counts.returned - asked + added
        back = counts.returned - own.came
        lost |= {"forwarding": max(0, forwarding), "asked": asked, "back": max(0, back)}
        gained |= {"forwarding": max(0, -forwarding), "asked": added, "back": max(0, -back)}
    resets = after.resets != before.resets
    return PeerAccount(
        own=own,
        counts=counts,
        lost=Places(**lost),
        gained=Places(**gained),
        returns=returns,
        lcores=after.lcores,
        notes=tuple(_notes(counts, no_mbuf, between, resets=resets)),
    )


def _notes(counts: PeerCounts, no_mbuf: int, between: int, *, resets: bool) -> Iterator[str]:
    if resets:
        yield (
            "its device cleared its counters during the trial: what its queues dropped may be "
            "among what was lost between"
        )
    if counts.no_mbuf > no_mbuf:
        yield (
            f"it lacked an mbuf {format_count(counts.no_mbuf)} times, and lost "
            f"{format_count(no_mbuf)} frames by it at most"
        )
    if between < 0:
        yield (
            f"it counted {format_count(-between)} more frames than were sent: others send to it, "
            "or its device counts a drop twice"
        )
