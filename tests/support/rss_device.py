# SPDX-License-Identifier: BSD-3-Clause
"""A made-up device that spreads frames by RSS and may steer, in place of an engine."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from wirerate.plan.rss_hash import DEFAULT_KEY, FIELDS, Layer4, Rss, RssFlow, toeplitz

SENDER = {"name": "p0", "driver": "net_made_up", "mac": "02:00:00:00:00:01", "location": "null:a"}
LAYER4 = {17: Layer4.UDP, 6: Layer4.TCP}


def flow_of(frame: bytes) -> RssFlow:
    """The flow of a frame, taken apart by itself."""
    if frame[12:14] == b"\x08\x00":
        addresses, layer4, ports = frame[26:34], LAYER4.get(frame[23], Layer4.NONE), frame[34:38]
    else:
        addresses, layer4, ports = frame[22:54], LAYER4.get(frame[20], Layer4.NONE), frame[54:58]
    half = len(addresses) // 2
    ends = ip_address(addresses[:half]), ip_address(addresses[half:])
    if layer4 is Layer4.NONE:
        return RssFlow(*ends)
    return RssFlow(
        *ends, layer4, int.from_bytes(ports[:2], "big"), int.from_bytes(ports[2:], "big")
    )


class RssDevice:
    """Answers `ports.exchange`, `ports.steer` and `rss.hash` of an engine.

    ``reta`` is what it does; ``said_reta`` what it says. ``lose`` frames are lost at first;
    ``steers``: rules work; ``refuses``: it takes none.
    """

    def __init__(
        self,
        reta: tuple[int, ...] = tuple(range(4)) * 32,
        *,
        said_reta: tuple[int, ...] | None = None,
        said: bool = True,
        hashes: bool = True,
        lose: int = 0,
        steers: bool = True,
        refuses: str = "",
    ) -> None:
        self.rss = Rss(DEFAULT_KEY, frozenset(FIELDS), reta)
        self.hashes, self.lose, self.steers, self.refuses = hashes, lose, steers, refuses
        self.rules: list[dict[str, Any]] = []
        self.given: list[list[dict[str, Any]]] = []
        self.largest_batch = 0
        about = {"key": DEFAULT_KEY.hex(), "fields": list(FIELDS), "hash": "toeplitz"}
        self.info: dict[str, Any] = {
            **SENDER,
            "name": "p1",
            "mac": "02:00:00:00:00:02",
            "rss": {**about, "reta": list(said_reta or reta)} if said else None,
        }

    def call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        assert params is not None
        return {
            "ports.exchange": self._exchange,
            "ports.steer": self._steer,
            "rss.hash": self._hash,
        }[method](params)

    def _hash(self, params: dict[str, Any]) -> dict[str, Any]:
        key = bytes.fromhex(params["key"])
        return {"hashes": [toeplitz(key, bytes.fromhex(text)) for text in params["inputs"]]}

    def _steer(self, params: dict[str, Any]) -> dict[str, Any]:
        rules = params["rules"]
        self.given.append(rules)
        self.rules = rules if self.steers and not self.refuses else []
        return {
            "accepted": [not self.refuses] * len(rules),
            "reasons": [self.refuses] * len(rules),
        }

    def _exchange(self, params: dict[str, Any]) -> dict[str, Any]:
        assert (params["port"], params["receive"]) == ("p0", "p1")
        self.largest_batch = max(self.largest_batch, len(params["frames"]))
        frames, queues, hashes = [], [], []
        for text in params["frames"]:
            if self.lose:
                self.lose -= 1
                continue
            flow = flow_of(bytes.fromhex(text))
            hashed = self.rss.hash_of(flow)
            frames.append(text + "0000")  # a device may show what was filled up
            queues.append(self._queue(flow, hashed))
            hashes.append(hashed if self.hashes else None)
        return {"frames": frames, "queues": queues, "hashes": hashes, "sent": len(params["frames"])}

    def _queue(self, flow: RssFlow, hashed: int | None) -> int:
        for rule in self.rules:
            address = rule.get("ipv4_dst") or rule.get("ipv6_dst")
            ports = {rule.get("udp_dst"), None}
            if str(flow.destination) == address and ports & {flow.destination_port, None}:
                return int(rule["queue"])
        return self.rss.queue_of(hashed)
