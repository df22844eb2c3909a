# SPDX-License-Identifier: BSD-3-Clause
"""The engines of an RSS sweep for a number of queues: who runs where, and their ports opened.

The forwarder's engine opens its ports first, so that its ends of sockets are the servers. Where
the forwarder is elsewhere, there is the generator's engine alone.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirerate.engine.eal import choose_memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.errors import EngineRefusedError, HostSetupError, PlanError
from wirerate.host.claims import claimed_ports
from wirerate.host.ports import check_port
from wirerate.methods.rss_load import rx_task
from wirerate.methods.rss_settings import PAIRED, places
from wirerate.methods.rss_trial import PairTrial
from wirerate.plan.location import MIXING, parse_location
from wirerate.plan.pools import rx_pool_octets
from wirerate.plan.program import port_name
from wirerate.plan.rss_settings import rss_refusal
from wirerate.units import FRAME_SIZE_ORDINARY, HEADER_AND_FCS_OCTETS, format_engineering

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wirerate.methods.rss_settings import Places, SweepSettings
    from wirerate.plan.location import Location

_LINK_S = 10
"""So long a link may take: a line of copper needs some 4 s."""
_POLL_NS = 5_000_000


@dataclass(frozen=True)
class Pair:
    """Both sides, open; the facts are PORT_INFO objects.

    ``receiver``: of the port where the forwarder receives, None where it is elsewhere.
    ``rx_queues``: of the port where the generator receives; ``rx_port``: its place.
    """

    trial: PairTrial
    places: Places
    senders: tuple[Mapping[str, Any], ...]
    receiver: Mapping[str, Any] | None
    rx_queues: int
    rx_port: int


@dataclass(frozen=True)
class _Port:
    title: str
    location: Location
    rx_queues: int
    tx_queues: int
    one_pool: bool = True


@contextmanager
def open_pair(settings: SweepSettings, queues: int) -> Iterator[Pair]:
    """Start the engines and open their ports. Raises PlanError, HostSetupError, EngineError."""
    where = places(queues, settings.lcores, foreign=settings.foreign)
    with ExitStack() as stack:
        here, there = settings.locations, settings.dut_locations
        if not here:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wr-rss-")))
            server, client = settings.link.locations(folder)
            here, there = (parse_location(client),), (parse_location(server),)
        own, other = _generator_ports(here, queues), _forwarder_ports(there, queues)
        for port in (*other, *own):
            check_port(port.title, port.location, max(port.rx_queues, port.tx_queues))
        stack.enter_context(claimed_ports((port.title, port.location) for port in (*other, *own)))
        forwarder = None
        infos: tuple[Mapping[str, Any], ...] = ()
        if other:
            forwarder = stack.enter_context(_engine(settings, other, where.forwarder))
            infos = _opened(settings, forwarder, other)
        generator = stack.enter_context(_engine(settings, own, (where.generator,)))
        senders = _opened(settings, generator, own)
        if settings.locations:
            _wait_for_links(generator, own, where.generator)
        trial = PairTrial(generator, forwarder, where.shared)
        receiver = infos[0] if infos else None
        yield Pair(trial, where, senders, receiver, own[-1].rx_queues, len(own) - 1)


def _generator_ports(locations: Sequence[Location], queues: int) -> list[_Port]:
    """Where it sends, where it receives; one queue each where queues are not joined to a peer's."""
    if len(locations) == 1:
        return [_port("the generator's port", locations[0], 1, 1, queues)]
    return [
        _port("the generator's sending port", locations[0], 0, 1, queues),
        _port("the generator's receiving port", locations[1], 1, 0, queues),
    ]


def _forwarder_ports(locations: Sequence[Location], queues: int) -> list[_Port]:
    """Where it receives, where it sends."""
    if len(locations) == 1:
        ports = [_port("the forwarder's port", locations[0], queues, queues, queues)]
    else:
        ports = [
            _port("the forwarder's receiving port", location, queues, 0, queues)
            if place == 0
            else _port("the forwarder's sending port", location, 0, queues, queues)
            for place, location in enumerate(locations)
        ]
    own = all(location.kind not in MIXING for location in locations)
    return [replace(port, one_pool=own) for port in ports]


def _port(title: str, location: Location, rx: int, tx: int, queues: int) -> _Port:
    """A port with so many queues that are served; joined ones are as many of both."""
    return _Port(title, location, *((queues, queues) if location.kind in PAIRED else (rx, tx)))


def _engine(settings: SweepSettings, ports: Sequence[_Port], lcores: Sequence[int]) -> Engine:
    need = settings.frames_octets + sum(
        rx_pool_octets(settings, port.rx_queues, FRAME_SIZE_ORDINARY, nic=port.location.needs_pci)
        for port in ports
    )
    passthrough = settings.eal.passthrough
    memory = choose_memory(need, passthrough, allow_hugepages=True)
    locations = [port.location for port in ports]
    return Engine(eal_arguments(locations, lcores, memory, passthrough), lcores, passthrough)


def _opened(
    settings: SweepSettings, engine: Engine, ports: Sequence[_Port]
) -> tuple[Mapping[str, Any], ...]:
    """PORT_INFO of the ports; refusals and limits of a device are named with the port."""
    params = [
        {
            "name": port_name(place),
            "location": port.location.text,
            "rx_queues": port.rx_queues,
            "tx_queues": port.tx_queues,
            "rx_descriptors": 0,
            "tx_descriptors": 0,
            "mbufs": settings.mbufs,
            "frame_size_max": FRAME_SIZE_ORDINARY,
            "promiscuous": True,
            "one_pool": port.one_pool,
        }
        for place, port in enumerate(ports)
    ]
    try:
        infos = engine.call("ports.open", {"ports": params})["ports"]
    except EngineRefusedError as error:
        raise rss_refusal(error, [(port.title, port.location) for port in ports]) from error
    for port, info in zip(ports, infos, strict=True):
        _check_limits(settings, port, info)
    return tuple(infos)


def _wait_for_links(generator: Engine, ports: Sequence[_Port], lcore: int) -> None:
    """Lines take seconds to come up, peers a moment. Raises HostSetupError where one does not."""
    tasks = [
        rx_task(place, queue) for place, port in enumerate(ports) for queue in range(port.rx_queues)
    ]
    workers = [{"lcore": lcore, "sleep_ns": _POLL_NS, "tasks": tasks}]
    counters = generator.load({"workers": workers, "streams": []})
    end = time.monotonic() + _LINK_S
    try:
        while down := [
            port
            for port, block in zip(ports, counters.of_kind("port"), strict=True)
            if not block["link_up"]
        ]:
            if time.monotonic() > end:
                raise HostSetupError(
                    f"{down[0].title}: {down[0].location}: the link is down, or no peer has come, "
                    f"in {_LINK_S} s; is the other side started and joined?"
                )
            time.sleep(_POLL_NS / 1e9)
    finally:
        generator.call("program.unload")


def _check_limits(settings: SweepSettings, port: _Port, info: Mapping[str, Any]) -> None:
    """Frames that are too large, and a load above the line of the port. Raises PlanError."""
    most = info["mtu"] + HEADER_AND_FCS_OCTETS
    if max(settings.sizes) > most:
        raise PlanError(
            f"--sizes: {max(settings.sizes)} octets are above the MTU of {port.title}, "
            f"{port.location}, which takes frames of {most}; give smaller ones"
        )
    line_bps, asked_bps = info["link_speed_bps"], settings.line_rate_bps
    if port.tx_queues and line_bps and asked_bps is not None and asked_bps > line_bps:
        line = format_engineering(line_bps, "bit/s")
        raise PlanError(
            f"--line-rate: {format_engineering(asked_bps, 'bit/s')}, but the link of {port.title}, "
            f"{port.location}, has {line}; give that or less"
        )
