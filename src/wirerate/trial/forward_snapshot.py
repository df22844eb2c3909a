# SPDX-License-Identifier: BSD-3-Clause
"""One look at the counters of a forwarder, lane by lane.

The words are those of docs/design/0005-measurement.md, Forwarding and Answering. A lane that only
counts (an rx task) has nothing in the words of what was sent.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from wirerate.plan.program import port_name
from wirerate.trial.snapshot import Snapshot, take

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wirerate.engine.counters import Block, Counters
    from wirerate.plan.forward_lanes import Lane


@dataclass(frozen=True)
class LaneCounts:
    """Frames, octets (with FCS) and cycles of one lane, or of several together.

    ``held`` are delayed or held back at the moment. ``distinct_flows`` are the 5-tuples seen, where
    they are counted, ``distinct_overflow`` frames of those for which there was no room. ``chained``
    of those not taken came in several mbufs, which the device to send on cannot send.
    ``first_tsc`` 0 = nothing has come yet; ``last_tsc`` is the clock after the last burst received
    or sent.
    """

    rx_frames: int = 0
    rx_octets: int = 0
    tx_frames: int = 0
    tx_octets: int = 0
    dropped: int = 0
    duplicated: int = 0
    reordered: int = 0
    not_taken: int = 0
    overflowed: int = 0
    held: int = 0
    busy_cycles: int = 0
    distinct_flows: int = 0
    distinct_overflow: int = 0
    chained: int = 0
    first_tsc: int = 0
    last_tsc: int = 0


_SUMMED = tuple(field.name for field in fields(LaneCounts) if not field.name.endswith("_tsc"))
_RX_NAMES = {"rx_frames": "frames", "rx_octets": "octets"}
_RX_WORDS = (
    *("rx_frames", "rx_octets", "busy_cycles", "distinct_flows", "distinct_overflow"),
    *("first_tsc", "last_tsc"),
)


def add_up(counts: Iterable[LaneCounts]) -> LaneCounts:
    """The sum; from the first burst of any to the last of any."""
    listed = list(counts)
    sums = {name: sum(getattr(one, name) for one in listed) for name in _SUMMED}
    begun = [one.first_tsc for one in listed if one.first_tsc]
    return LaneCounts(
        **sums,
        first_tsc=min(begun, default=0),
        last_tsc=max((one.last_tsc for one in listed), default=0),
    )


@dataclass(frozen=True)
class Answers:
    """What a port that has addresses has sent: frames by kind, and what it could not send."""

    frames: int
    arp: int
    neighbors: int
    echoes: int
    not_taken: int
    overflowed: int


@dataclass(frozen=True)
class ForwardSnapshot:
    """Everything at about one time.

    ``base`` has the clock, ports and workers; ``start_tsc`` is the clock when the first worker
    began to poll; ``lanes`` are in the order of the settled lanes; ``answers`` by the engine's name
    of the port; ``capture_missed`` frames of each port that found no room in its capture.
    """

    base: Snapshot
    start_tsc: int
    lanes: tuple[LaneCounts, ...]
    answers: dict[str, Answers]
    capture_missed: Mapping[str, int]

    @property
    def tsc_hz(self) -> int:
        """Cycles per second."""
        return self.base.tsc_hz

    def seconds_since(self, before: ForwardSnapshot | None) -> float:
        """The time between two looks [s], above 0; before None: since the start."""
        then = self.start_tsc if before is None else max(before.base.now_tsc, self.start_tsc)
        return max(1, self.base.now_tsc - then) / self.tsc_hz


def take_forward(counters: Counters, lanes: Sequence[Lane]) -> ForwardSnapshot:
    """Read the whole segment; ``lanes`` give the order."""
    blocks = {_key(block): block for kind in ("forward", "rx") for block in counters.of_kind(kind)}
    starts = [block["start_tsc"] for block in counters.of_kind("worker")]
    return ForwardSnapshot(
        base=take(counters),
        start_tsc=min((start for start in starts if start), default=0),
        lanes=tuple(
            _counts(blocks[port_name(lane.source), lane.queue], counts_only=lane.target is None)
            for lane in lanes
        ),
        answers={block.labels["port"]: _answers(block) for block in counters.of_kind("reply")},
        capture_missed=_missed(counters.of_kind("capture")),
    )


def _missed(blocks: Iterable[Block]) -> Counter[str]:
    """Over all queues of a port."""
    missed: Counter[str] = Counter()
    for block in blocks:
        missed[block.labels["port"]] += block["missed"]
    return missed


def _key(block: Block) -> tuple[str, int]:
    return block.labels["port"], block.labels["queue"]


def _counts(block: Block, *, counts_only: bool) -> LaneCounts:
    if counts_only:
        return LaneCounts(**{name: block[_RX_NAMES.get(name, name)] for name in _RX_WORDS})
    return LaneCounts(**{field.name: block[field.name] for field in fields(LaneCounts)})


def _answers(block: Block) -> Answers:
    return Answers(**{field.name: block[field.name] for field in fields(Answers)})
