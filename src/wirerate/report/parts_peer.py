# SPDX-License-Identifier: BSD-3-Clause
"""What the peer of --peer has counted, for people and for programs. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirerate.trial.peer import PeerAccount, PeerResult
    from wirerate.trial.result import RunResult

_GAINS = {
    "between": "reached the peer beside those sent",
    "forwarding": "left it beside those received",
    "asked": "were duplicated there, or held since before",
    "back": "came back beside those it sent",
}


def peer_lines(peer: PeerResult | None) -> Iterator[str]:
    """Where frames were lost; the figures of the second and third line add up to the first's."""
    if peer is None:
        return
    account = peer.account
    if account is None:
        yield f"  Peer {peer.address}: {peer.gap}"
        return
    back = f", sent back {format_count(account.counts.returned)}" if account.returns else ""
    yield (
        f"  Peer {peer.address}: received {format_count(account.counts.received)}{back}; "
        f"{_missing_text(account)}"
    )
    yield f"    {_losses_text(account)}"
    gains = [
        f"{format_count(value)} {_GAINS[place]}"
        for place, value in asdict(account.gained).items()
        if value
    ]
    if gains:
        yield f"    less {', less '.join(gains)}"


def _missing_text(account: PeerAccount) -> str:
    where = "back here" if account.returns else "there"
    due = format_count(account.due)
    if account.missing == 0:
        return f"all {due} that were due arrived {where}"
    number = format_count(abs(account.missing))
    if account.missing < 0:
        return f"{number} more arrived {where} than the {due} that were due"
    return f"{number} of {due} that were due did not arrive {where}"


def _losses_text(account: PeerAccount) -> str:
    """Every place at which frames of this way can be lost."""
    lost = account.lost
    parts = [
        f"not sent {format_count(lost.unsent)}",
        f"between {format_count(lost.between)}",
        f"dropped by its queues {format_count(lost.queues)}",
    ]
    if account.returns:
        parts.append(f"by its forwarding {format_count(lost.forwarding)}")
        if lost.asked:
            parts.append(f"as it was asked to {format_count(lost.asked)}")
        parts.append(f"on the way back {format_count(lost.back)}")
    return ", ".join(parts)


def peer_part(result: RunResult) -> dict[str, Any]:
    """The part ``peer`` of a document, where there is a peer."""
    return {} if result.peer is None else {"peer": peer_document(result.peer)}


def peer_document(peer: PeerResult) -> dict[str, Any]:
    """Frames are integers: due = arrived + the sum of ``lost`` - the sum of ``gained``."""
    account = peer.account
    if account is None:
        return {"address": peer.address, "complete": False, "reason": peer.gap}
    return {
        "address": peer.address,
        "complete": True,
        "reason": None,
        "returns": account.returns,
        "lcores": account.lcores,
        "due": account.due,
        "sent": account.own.sent,
        "arrived": account.arrived,
        "missing": account.missing,
        "lost": asdict(account.lost),
        "gained": asdict(account.gained),
        "counters": asdict(account.counts),
    }
