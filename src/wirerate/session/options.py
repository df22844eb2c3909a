# SPDX-License-Identifier: BSD-3-Clause
"""What scripts may choose of the machine: the options of the command line, as Python values."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypedDict

from wirerate.errors import PlanError
from wirerate.plan.eal_args import allowed_lcores, parse_eal_args
from wirerate.plan.lcore_map import parse_maps
from wirerate.plan.peer_address import PeerAddress, parse_peer
from wirerate.plan.program import BURST_MAX
from wirerate.plan.run_settings import (
    BURST_DEFAULT,
    BURST_SLEEPING,
    CPU_SAVER_DEFAULT_NS,
    CPU_SAVER_MAX_NS,
    DESCRIPTORS_MAX,
    ENGINE_LOOP,
    ENGINE_NORMAL,
    MBUFS_DEFAULT,
    MBUFS_MAX,
    PERIOD_DEFAULT_NS,
    SETTLE_DEFAULT_NS,
    RunSettings,
)
from wirerate.session.values import NS_PER_S, optional_ns, small_time_ns, whole, words
from wirerate.units import format_duration_ns, parse_line_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wirerate.session.values import Time

_FLOOR_MAX_NS = 1_000_000_000


class MachineOptions(TypedDict, total=False):
    """Options of sessions and forwarders; what is left out has the command line's default.

    Attributes:
        lcores: The lcore map, as `-m` has it: ``"1.0"``, ``"2:3.0/4:5.1"``. Default: chosen.
        burst: Frames per burst, 1 to 512. Default 32, or 256 with ``cpu_saver``.
        descriptors: Rx and Tx descriptors per queue. Default 1024 and 1024, of a NIC 4096 and 1024.
        mbufs: Receive mbufs per port. Default 8192.
        jumbo: Open ports for frames up to 9,618 octets.
        cpu_saver: How long lcores sleep when nothing is due: True for 1 ms, or a time up to 5 ms.
        eal: EAL options, a list of words: ``["-l", "1-3", "--no-huge"]``.
    """

    lcores: str | None
    burst: int | None
    descriptors: tuple[int, int] | None
    mbufs: int | None
    jumbo: bool
    cpu_saver: Time | bool | None
    eal: Sequence[str]


class SessionOptions(MachineOptions, total=False):
    """Options of a `Session`, besides those of `MachineOptions`.

    Attributes:
        line_rate: Line rate of devices without a real line: ``"10G"``, or [bit/s].
        settle: How long frames may still arrive after the last one was sent. Default 2 s.
        floor: Subtracted from every latency: seconds, or ``"350ns"``.
        engine: How frames are handed to devices: ``"normal"``, or ``"descriptor-loop"``.
        peer: The forwarder at the other end, ``"HOST:PORT"`` of its ``--listen`` (or of
            `Forwarder.address`): its counters say where frames were lost.
    """

    line_rate: str | int | None
    settle: Time
    floor: Time | None
    engine: str
    peer: str | PeerAddress | None


def machine_settings(ports: int, options: Mapping[str, Any]) -> RunSettings:
    """Checked settings of the machine for so many ports, from MachineOptions. Raises PlanError."""
    eal = parse_eal_args(words(options.get("eal", ()), "eal"))
    if eal.locations:
        raise PlanError(
            f"eal: device {eal.locations[0]}: leave -a and --vdev out; ports are given by location"
        )
    lcores = allowed_lcores(eal)
    lcore_map = options.get("lcores")
    sleep_ns = _cpu_saver_ns(options.get("cpu_saver"))
    usual = BURST_SLEEPING if sleep_ns else BURST_DEFAULT
    rx, tx = _descriptors(options.get("descriptors"))
    return RunSettings(
        eal=eal,
        lcores=lcores,
        lcore_map=None if lcore_map is None else parse_maps([lcore_map], ports, lcores),
        burst=whole(_or(options.get("burst"), usual), "burst", 1, BURST_MAX),
        line_rate_bps=None,
        rx_descriptors=rx,
        tx_descriptors=tx,
        mbufs=whole(_or(options.get("mbufs"), MBUFS_DEFAULT), "mbufs", 1, MBUFS_MAX),
        jumbo=options.get("jumbo", False),
        period_ns=PERIOD_DEFAULT_NS,
        duration_ns=None,
        cpu_saver_ns=sleep_ns,
        verbose=False,
        json=False,
        several=True,
    )


def session_settings(ports: int, options: Mapping[str, Any]) -> RunSettings:
    """Checked settings of a session with so many ports, from SessionOptions. Raises PlanError."""
    check_options(options, SessionOptions)
    engine = options.get("engine", ENGINE_NORMAL)
    if engine not in {ENGINE_NORMAL, ENGINE_LOOP}:
        raise PlanError(f"engine={engine!r}: give {ENGINE_NORMAL!r} or {ENGINE_LOOP!r}")
    machine = machine_settings(ports, options)
    loop_sleep_ns = CPU_SAVER_DEFAULT_NS if engine == ENGINE_LOOP else 0
    return replace(
        machine,
        line_rate_bps=_line_rate_bps(options.get("line_rate")),
        settle_ns=optional_ns(options.get("settle", SETTLE_DEFAULT_NS / NS_PER_S), "settle"),
        floor_ns=small_time_ns(options.get("floor") or 0, "floor", _FLOOR_MAX_NS),
        engine=engine,
        peer=_peer(options.get("peer")),
        cpu_saver_ns=machine.cpu_saver_ns or loop_sleep_ns,
    )


def check_options(options: Iterable[str], known: Any) -> None:
    """Raise PlanError for an option that ``known``, a TypedDict, does not have."""
    names = sorted(known.__required_keys__ | known.__optional_keys__)
    for name in options:
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
            raise PlanError(f"{name}: there is no such option; {hint}")


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _descriptors(value: Any) -> tuple[int, int]:
    if value is None:
        return 0, 0
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise PlanError(f"descriptors={value!r}: give those of Rx and Tx queues, as in (1024, 512)")
    rx, tx = (whole(side, "descriptors", 1, DESCRIPTORS_MAX) for side in value)
    return rx, tx


def _cpu_saver_ns(value: Any) -> int:
    if isinstance(value, bool):
        return CPU_SAVER_DEFAULT_NS if value else 0
    sleep_ns = optional_ns(value, "cpu_saver")
    if sleep_ns > CPU_SAVER_MAX_NS:
        raise PlanError(
            f"cpu_saver={value!r}: more than {format_duration_ns(CPU_SAVER_MAX_NS)}; frames that "
            "are due would not be sent in time"
        )
    return sleep_ns


def _line_rate_bps(value: str | int | None) -> int | None:
    return None if value is None else parse_line_rate(str(value), "line_rate")


def _peer(value: str | PeerAddress | None) -> PeerAddress | None:
    return value if value is None or isinstance(value, PeerAddress) else parse_peer(value)
