# SPDX-License-Identifier: BSD-3-Clause
"""One look at a bridge: its tasks' counters, added up by what became of frames.

What a task's counts mean follows from the program: where it takes frames from, and where its two
ways lead (docs/design/0009-kernel-path.md).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wirerate.plan.bridge_program import KERNEL, KERNEL_RING, PORT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wirerate.engine.counters import Block, Counters

_NS_PER_S = 1_000_000_000
FLOWS = ("wire_rx", "wire_tx", "to_kernel", "from_kernel", "fast")
LOSSES = ("ring_lost", "kernel_lost", "wire_lost", "fast_lost")
DONE = ("completed", "split", "parts", "merged", "untouchable")


@dataclass(frozen=True)
class Flow:
    """Frames, and their octets with FCS."""

    frames: int = 0
    octets: int = 0

    def __sub__(self, other: Flow) -> Flow:
        return Flow(self.frames - other.frames, self.octets - other.octets)


@dataclass(frozen=True)
class BridgeLook:
    """Counts since the start; ``at_ns`` is the time of the look (monotonic clock).

    ``wire_rx`` and ``wire_tx``: all that the port received and sent. ``to_kernel`` went out at the
    kernel port, ``from_kernel`` came in there. ``fast``: what the data path did, be it sent or
    dropped. ``ring_lost``: the kernel's frames that found the ring full; ``kernel_lost`` and
    ``wire_lost``: those that the kernel port, or the port, did not take; ``fast_lost``: frames of
    the fast path, for either reason. ``busy_ns`` by lcore; ``cpu_ns`` the engine's user and system
    time. The other words are those of the engine's tasks.
    """

    at_ns: int
    wire_rx: Flow = Flow()
    wire_tx: Flow = Flow()
    to_kernel: Flow = Flow()
    from_kernel: Flow = Flow()
    fast: Flow = Flow()
    ring_lost: int = 0
    kernel_lost: int = 0
    wire_lost: int = 0
    fast_lost: int = 0
    completed: int = 0
    split: int = 0
    parts: int = 0
    merged: int = 0
    untouchable: int = 0
    busy_ns: dict[int, int] = field(default_factory=dict)
    cpu_ns: int = 0


@dataclass
class BridgeCounts:
    """Sums over tasks, and over programs that follow each other.

    ``words`` are the names of FLOWS (frames, and with ``_octets`` octets), LOSSES and DONE;
    ``busy_cycles`` by lcore.
    """

    words: Counter[str] = field(default_factory=Counter)
    busy_cycles: Counter[int] = field(default_factory=Counter)

    def plus(self, later: BridgeCounts) -> BridgeCounts:
        """Both together."""
        busy = Counter(self.busy_cycles)
        busy.update(later.busy_cycles)
        words = Counter(self.words)
        words.update(later.words)
        return BridgeCounts(words, busy)

    def look(self, at_ns: int, tsc_hz: int, cpu_ns: int) -> BridgeLook:
        """As of that time."""
        flows = {name: Flow(self.words[name], self.words[f"{name}_octets"]) for name in FLOWS}
        plain = {name: self.words[name] for name in (*LOSSES, *DONE)}
        busy = {
            lcore: cycles * _NS_PER_S // tsc_hz
            for lcore, cycles in sorted(self.busy_cycles.items())
        }
        return BridgeLook(at_ns=at_ns, busy_ns=busy, cpu_ns=cpu_ns, **flows, **plain)  # type: ignore[arg-type]


def count_program(program: Mapping[str, Any], counters: Counters) -> BridgeCounts:
    """The counts of a program that was loaded with these params."""
    blocks = {_source_of(block): block for block in counters.of_kind("bridge")}
    counts = BridgeCounts()
    for worker in program["workers"]:
        for task in worker["tasks"]:
            source = task["from"]
            block = blocks[source_key(source)]
            counts.busy_cycles[worker["lcore"]] += block["busy_cycles"]
            _count_source(counts.words, source, block)
            for way in ("kernel", "fast"):
                _count_way(counts.words, source, task.get(way), block, way)
            for name in DONE:
                counts.words[name] += block[name]
    return counts


def addressed_on(counters: Counters, queue: int) -> int:
    """Frames to the kernel's addresses that came to a queue of the port."""
    return sum(
        block["addressed"]
        for block in counters.of_kind("bridge")
        if _source_of(block) == (PORT, queue)
    )


def source_key(source: Mapping[str, Any]) -> tuple[str, int]:
    """What tells a task from others, as its counters' labels have it."""
    if "ring" in source:
        return f"ring {source['ring']}", 0
    return source["port"], source["queue"]


def _source_of(block: Block) -> tuple[str, int]:
    return block.labels["from"], block.labels["queue"]


def _count_source(words: Counter[str], source: Mapping[str, Any], block: Block) -> None:
    name = {PORT: "wire_rx", KERNEL: "from_kernel"}.get(source.get("port", ""))
    if name is not None:
        words[name] += block["rx_frames"]
        words[f"{name}_octets"] += block["rx_octets"]


def _count_way(
    words: Counter[str],
    source: Mapping[str, Any],
    way: Mapping[str, Any] | None,
    block: Block,
    prefix: str,
) -> None:
    if way is None:
        return
    for name in _arrived(source, way["to"]):
        words[name] += block[f"{prefix}_frames"]
        words[f"{name}_octets"] += block[f"{prefix}_octets"]
    words[_lost(source, way["to"])] += block[f"{prefix}_lost"]


def _arrived(source: Mapping[str, Any], to: Mapping[str, Any] | None) -> Iterator[str]:
    """What frames count as that left by a way; what goes into a ring counts where it comes out."""
    port = None if to is None else to.get("port")
    if port == KERNEL:
        yield "to_kernel"
    if port == PORT:
        yield "wire_tx"
    if to is None or (port == PORT and source.get("port") != KERNEL):
        yield "fast"


def _lost(source: Mapping[str, Any], to: Mapping[str, Any] | None) -> str:
    if to == {"ring": KERNEL_RING}:
        return "ring_lost"
    if to is not None and to.get("port") == KERNEL:
        return "kernel_lost"
    return "wire_lost" if source.get("port") == KERNEL else "fast_lost"
