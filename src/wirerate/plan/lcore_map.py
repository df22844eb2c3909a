# SPDX-License-Identifier: BSD-3-Clause
"""Which lcore serves which port: the map grammar of pktperf and Pktgen, and a choice without one.

    maps   := map { ("/" | ",") map }         several in one -m, and several -m
    map    := lcores "." port                 2-5:6-9.0   [2,4:6-7].0   {2}.0   1.[0-2]
    lcores := list [ ":" list ]               RX:TX; without the colon every lcore does both
    list   := item { ("," | "/") item }       an empty list: the port does not do that direction
    item   := number | number "-" number
    port   := number | "[" list "]"           the index of the location, in the order given

Brackets around lists are optional. Queue ids are given in order of appearance, per port and
direction; several maps for a port add up. An lcore may serve any number of ports. Sources:
pktperf's README and Pktgen-DPDK's usage text. Called by the command line; pure.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn

from wirerate.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

LCORE_MAX = 1023
"""Largest lcore id read from text: a bound for ranges, far above DPDK's RTE_MAX_LCORE."""

Direction = Literal["rx", "tx"]
_DIRECTIONS: tuple[Direction, Direction] = ("rx", "tx")


@dataclass(frozen=True)
class PortLcores:
    """The lcores of one port: ``rx[q]`` serves receive queue q, ``tx[q]`` transmit queue q."""

    port: int
    rx: tuple[int, ...] = ()
    tx: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The map's text: ``2-5:6-9.0``; one list if both directions are alike."""
        both = list_text(self.rx)
        lcores = both if self.rx == self.tx else f"{both}:{list_text(self.tx)}"
        return f"[{lcores}].{self.port}" if "," in lcores else f"{lcores}.{self.port}"


@dataclass(frozen=True)
class QueueTask:
    """One queue that an lcore serves."""

    direction: Direction
    port: int
    queue: int


@dataclass(frozen=True)
class LcoreMap:
    """All ports that have lcores, by ascending index."""

    ports: tuple[PortLcores, ...]

    @property
    def text(self) -> str:
        """Text that `parse_maps` reads back to an equal map."""
        return "/".join(port.text for port in self.ports)

    def __str__(self) -> str:
        """Return ``text``."""
        return self.text

    @property
    def lcores(self) -> tuple[int, ...]:
        """Every lcore with work, ascending."""
        return tuple(sorted({lcore for port in self.ports for lcore in (*port.rx, *port.tx)}))

    def of_port(self, port: int) -> PortLcores:
        """Return the lcores of ``port``; without any lcores if the map does not name it."""
        return next((entry for entry in self.ports if entry.port == port), PortLcores(port))

    def of_lcore(self, lcore: int) -> tuple[QueueTask, ...]:
        """Return the queues that ``lcore`` serves: by port, receive before transmit."""
        return tuple(
            QueueTask(direction, entry.port, queue)
            for entry in self.ports
            for direction in _DIRECTIONS
            for queue, owner in enumerate(getattr(entry, direction))
            if owner == lcore
        )


class NumberListError(ValueError):
    """An item of a number list is wrong; ``at`` is its offset in the list's text."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at = at


def parse_number_list(text: str, separators: str) -> tuple[int, ...]:
    """Read ``1,2-9``: numbers and ranges, in the order given. Raises NumberListError."""
    return tuple(number for _, number in _numbers(text, separators))


def parse_maps(texts: Iterable[str], ports: int, lcores: Collection[int]) -> LcoreMap:
    """Read the texts of all ``-m`` options together.

    ``ports`` is how many locations there are, ``lcores`` which lcores may be used. Raises PlanError
    that names the map's text, the place in it (characters from 1) and what to write.
    """
    queues: dict[tuple[int, Direction], list[int]] = {}
    for text in texts:
        for entry in _entries(text):
            _check(entry, ports, lcores)
            taken = queues.setdefault((entry.port, entry.direction), [])
            if entry.lcore in taken:
                does = "receives" if entry.direction == "rx" else "transmits"
                _fail(
                    text,
                    entry.at,
                    f"lcore {entry.lcore} {does} on port {entry.port} already; name it once",
                )
            taken.append(entry.lcore)
    numbers = sorted({port for port, _ in queues})
    return LcoreMap(
        tuple(
            PortLcores(port, *(tuple(queues.get((port, way), ())) for way in _DIRECTIONS))
            for port in numbers
        ),
    )


@dataclass(frozen=True)
class _Entry:
    """One lcore for one port and direction, and where it stands in the text."""

    text: str
    at: int
    port_at: int
    lcore: int
    port: int
    direction: Direction


_ONE_MAP = re.compile(r"\s*(?P<lcores>[^.]*)\.(?P<port>[0-9]+|\[[^\]]*\]|\{[^}]*\})\s*")


def _entries(text: str) -> Iterator[_Entry]:
    """Go through the maps of one text, in order of appearance."""
    at = 0
    while True:
        match = _ONE_MAP.match(text, at)
        if match is None:
            _fail_without_port(text, at)
        ports = list(_numbers_at(text, *_unbracketed(match["port"], match.start("port"))))
        for direction, listed, listed_at in _sides(text, match["lcores"], match.start("lcores")):
            for lcore_at, lcore in _numbers_at(text, listed, listed_at):
                for port_at, port in ports:
                    yield _Entry(text, lcore_at, port_at, lcore, port, direction)
        at = match.end()
        if at == len(text):
            return
        if text[at] not in ",/":
            _fail(
                text,
                at,
                f"{text[at:]!r} follows the port; end the map there, or write .[0-2] for several "
                "ports",
            )
        at += 1


def _sides(text: str, lcores: str, at: int) -> Iterator[tuple[Direction, str, int]]:
    """Give the two lists of one map, receive first, each with its place in the text."""
    if not lcores.strip("[]{}:"):
        _fail(
            text,
            at,
            "no lcores stand before the port; write 1:2.0 (receive:transmit) or 1.0",
        )
    inner, at = _unbracketed(lcores, at)
    rx, colon, tx = inner.partition(":")
    if ":" in tx:
        _fail(
            text,
            at + inner.rindex(":"),
            "a second colon; write RX:TX.PORT, as in 2-5:6-9.0",
        )
    sides: tuple[tuple[Direction, str, int], ...] = (
        ("rx", rx, at),
        ("tx", tx if colon else rx, at + len(rx) + 1 if colon else at),
    )
    for direction, listed, listed_at in sides:
        if listed:
            yield direction, *_unbracketed(listed, listed_at)


def _unbracketed(text: str, at: int) -> tuple[str, int]:
    """Take off one pair of brackets around all of the text."""
    inner = text[1:-1]
    if text[:1] + text[-1:] in {"[]", "{}"} and not set(inner) & set("[]{}"):
        return inner, at + 1
    return text, at


def _numbers_at(text: str, listed: str, at: int) -> Iterator[tuple[int, int]]:
    """Numbers of a list with their offset in the whole text."""
    try:
        for offset, number in _numbers(listed, ",/"):
            yield at + offset, number
    except NumberListError as error:
        _fail(text, at + error.at, str(error))


def _numbers(text: str, separators: str) -> Iterator[tuple[int, int]]:
    """Numbers of a list with their offset in the list."""
    at = 0
    for item in re.split(f"[{re.escape(separators)}]", text):
        for number in _item(item, at):
            yield at, number
        at += len(item) + 1


def _item(item: str, at: int) -> range:
    match = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", item)
    if match is None:
        what = f"{item!r} is neither a number nor a range" if item else "a number is missing"
        raise NumberListError(at, f"{what}; write 2, 2-5 or 2,4-5")
    first_text, last_text = match[1], match[2] or match[1]
    if max(len(first_text.lstrip("0")), len(last_text.lstrip("0"))) > len(str(LCORE_MAX)):
        raise NumberListError(at, f"{item!r} is too large; the largest number is {LCORE_MAX}")
    first, last = int(first_text), int(last_text)
    if first > last:
        raise NumberListError(at, f"the range {item!r} runs backwards; write {last}-{first}")
    if last > LCORE_MAX:
        raise NumberListError(at, f"{item!r} is too large; the largest number is {LCORE_MAX}")
    return range(first, last + 1)


def _check(entry: _Entry, ports: int, lcores: Collection[int]) -> None:
    if entry.port >= ports:
        there = (
            "there are no ports"
            if ports == 0
            else "the only port is 0"
            if ports == 1
            else f"ports are 0-{ports - 1}"
        )
        _fail(
            entry.text,
            entry.port_at,
            f"port {entry.port} does not exist; {there}: a port for each location",
        )
    if entry.lcore not in lcores:
        _fail(
            entry.text,
            entry.at,
            f"lcore {entry.lcore} is not one this process may use; usable: "
            f"{list_text(sorted(lcores)) or 'none'} "
            "(the CPUs of the process, or those of EAL's -l)",
        )


def _fail(text: str, at: int, why: str) -> NoReturn:
    raise PlanError(f"lcore map {text!r}, character {at + 1}: {why}")


def _fail_without_port(text: str, at: int) -> NoReturn:
    if not text[at:].strip():
        _fail(text, at, "a map is missing; write RX:TX.PORT, as in 2-5:6-9.0")
    dot = text.find(".", at)
    if dot < 0:
        _fail(
            text,
            len(text),
            "the port is missing; end the map with .0 for the first location",
        )
    _fail(
        text,
        dot + 1,
        f"{text[dot + 1 :]!r} is not a port; write its index, .0 for the first location",
    )


def list_text(lcores: Sequence[int]) -> str:
    """Write numbers with ranges where they ascend by one: 2,4-7."""
    runs: list[list[int]] = []
    for lcore in lcores:
        if runs and lcore == runs[-1][-1] + 1:
            runs[-1].append(lcore)
        else:
            runs.append([lcore])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def choose_map(
    ports: Sequence[int],
    cpus: Collection[int],
    numa: Mapping[int, int],
    *,
    control: int | None = None,
    uses: Sequence[Collection[Direction]] | None = None,
) -> LcoreMap:
    """Choose lcores for ports that came without a map.

    ``ports`` is the NUMA node of each port (-1: unknown), ``cpus`` the CPUs that may be used,
    ``numa`` the node of each CPU (a CPU that is not in it has no known node), ``control`` the CPU
    to keep off the data path, by default the lowest; it works too if there is no other. ``uses``
    are the directions of each port, by default both. Where there are enough lcores, each direction
    gets one of its own; with fewer, each port gets one; with fewer lcores than ports, they take
    turns. NUMA-local lcores are preferred. Raises PlanError without a CPU.
    """
    if not cpus:
        raise PlanError(
            "no CPU may be used for lcores; widen the process's CPU set (taskset, cpuset)"
        )
    uses = [_DIRECTIONS] * len(ports) if uses is None else uses
    ordered = sorted(set(cpus))
    keep = ordered[0] if control is None else control
    data = [cpu for cpu in ordered if cpu != keep] or ordered
    if len(data) >= sum(map(len, uses)):
        given = _deal(ports, data, numa, [len(use) for use in uses])
    elif len(data) >= len(ports):
        given = _deal(ports, data, numa, [1] * len(ports))
    else:
        given = _take_turns(ports, data, numa)
    return LcoreMap(
        tuple(
            PortLcores(
                port,
                # Of two lcores, the first receives; of one, it does all there is to do.
                own[:1] if "rx" in use else (),
                own[-1:] if "tx" in use else (),
            )
            for port, (own, use) in enumerate(zip(given, uses, strict=True))
        )
    )


def _deal(
    ports: Sequence[int], data: list[int], numa: Mapping[int, int], wanted: Sequence[int]
) -> list[tuple[int, ...]]:
    """Give each port the lcores it wants: to all ports their local ones, then what is left."""
    left = list(data)
    given: list[list[int]] = [[] for _ in ports]
    for local in (True, False):
        for own, node, want in zip(given, ports, wanted, strict=True):
            fits = [lcore for lcore in left if not local or numa.get(lcore) == node]
            for lcore in fits[: want - len(own)]:
                own.append(lcore)
                left.remove(lcore)
    return [tuple(own) for own in given]


def _take_turns(
    ports: Sequence[int], data: list[int], numa: Mapping[int, int]
) -> list[tuple[int, ...]]:
    """Deal fewer lcores than ports: evenly, and local ones first."""
    most = -(-len(ports) // len(data))
    used: Counter[int] = Counter()
    given: list[tuple[int, ...]] = []
    for node in ports:
        ranks = ((used[cpu] >= most, numa.get(cpu) != node, used[cpu], cpu) for cpu in data)
        lcore = min(ranks)[-1]
        used[lcore] += 1
        given.append((lcore,))
    return given
