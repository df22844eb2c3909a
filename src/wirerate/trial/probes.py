# SPDX-License-Identifier: BSD-3-Clause
"""Send single frames from one port and see on which queue of another one each arrives.

By the engine's `ports.exchange`, so without a program. Called by `wirerate.trial.steering` and
`wirerate.trial.rss_check`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.plan.rss_frames import flow_frame, flow_key, frame_key
from wirerate.plan.rss_hash import Layer4

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.plan.rss_hash import RssFlow
    from wirerate.trial.neighbors import Caller

BATCH = 128
"""Frames of one exchange: fewer than the smallest ring of any driver that DPDK has."""
TRIES = 3
TIMEOUT_NS = 1_000_000_000


@dataclass(frozen=True)
class Landing:
    """Where a frame arrived: Rx queue, and what the device hashed it to, if it says so."""

    queue: int
    hash: int | None


@dataclass(frozen=True)
class Probe:
    """A way from one open port to another; both are PORT_INFOs."""

    engine: Caller
    sender: Mapping[str, Any]
    receiver: Mapping[str, Any]

    def send(self, flows: Sequence[RssFlow]) -> list[Landing | None]:
        """Send a frame of each flow, again where it does not arrive; None: it never did.

        The flows are all different and have the same version of IP and layer 4.
        """
        landed: dict[bytes, Landing] = {}
        for _ in range(TRIES):
            missing = [flow for flow in flows if flow_key(flow) not in landed]
            for at in range(0, len(missing), BATCH):
                landed |= self._exchange(missing[at : at + BATCH])
            if not landed:
                break
        return [landed.get(flow_key(flow)) for flow in flows]

    def _exchange(self, flows: Sequence[RssFlow]) -> dict[bytes, Landing]:
        source_mac = bytes.fromhex(self.sender["mac"].replace(":", ""))
        frames = [flow_frame(flow, source_mac, self.receiver["mac"]) for flow in flows]
        params = {
            "port": self.sender["name"],
            "receive": self.receiver["name"],
            "queue": 0,
            "frames": [frame.hex() for frame in frames],
            "filter": f"ether src {self.sender['mac']} and ether dst {self.receiver['mac']}",
            "answers": len(frames),
            "timeout_ns": TIMEOUT_NS,
        }
        got = self.engine.call("ports.exchange", params)
        ports = flows[0].layer4 is not Layer4.NONE
        return {
            frame_key(bytes.fromhex(text), ports=ports): Landing(queue, hashed)
            for text, queue, hashed in zip(got["frames"], got["queues"], got["hashes"], strict=True)
        }
