# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate.forward` and `wirerate.reflect`: a device under test in a script or a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.plan.forward_program import default_mbufs
from wirerate.plan.forward_settings import (
    DELAY_MAX_NS,
    DISTINCT_DEFAULT,
    REWRITES,
    SEED_MAX,
    WORK_MAX_CYCLES,
    ForwardSettings,
    HostAddress,
    Impairments,
    Way,
    Work,
)
from wirerate.plan.forward_values import (
    DISTINCT_MAX,
    QUEUES_MAX,
    check_impairs,
    check_locations,
    host_address,
    pair_ways,
    parse_work,
)
from wirerate.plan.location import parse_location
from wirerate.plan.peer_address import parse_listen
from wirerate.session.forwarder import Forwarder
from wirerate.session.options import MachineOptions, check_options, machine_settings
from wirerate.session.values import ratio, small_time_ns, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Unpack

    from wirerate.plan.location import Location
    from wirerate.session.values import Time


class ForwardOptions(MachineOptions, total=False):
    """Options of `forward` and `reflect`, besides those of `MachineOptions`.

    Attributes:
        rewrite: What becomes of addresses: ``"none"``, ``"mac-swap"`` or ``"reverse"``.
        queues: Queues of each port that receives. Default: one for each of its lcores.
        work: What each frame costs: cycles of the TSC, or text: ``"400cycles"``, ``"150ns"``.
        drop: Share of the frames that is dropped, 0 to 1.
        duplicate: Share of the frames that is sent twice, 0 to 1.
        reorder: Share of the frames that is sent after three later ones, 0 to 1.
        delay: How long each frame waits, up to 1 s.
        seed: Of drop, duplicate and reorder. Default 1.
        addresses: Answer ARP, neighbour solicitations and ping: ``["10.0.0.2", "1=10.0.1.2"]``,
            the number being that of the port, 0 unless given.
        count_flows: Count distinct 5-tuples: True, or how many there is room for.
        listen: Serve the counters at ``"[HOST:]PORT"``, port 0 being a free one: the ``peer`` of
            a `Session`.
    """

    rewrite: str
    queues: int | None
    work: int | str
    drop: float
    duplicate: float
    reorder: float
    delay: Time
    seed: int
    addresses: Sequence[str]
    count_flows: bool | int
    listen: str | None


def forward(*locations: str, one_way: bool = False, **options: Unpack[ForwardOptions]) -> Forwarder:
    """Forward between pairs of ports: A and B, C and D.

    ``one_way``: from A to B only. The options are those of `ForwardOptions`. Raises PlanError and
    HostSetupError; frames are forwarded in the block of a ``with`` statement.
    """
    found = _locations(locations, "forward")
    ways = pair_ways(len(found), one_way=one_way)
    return _forwarder("forward", found, ways, {"rewrite": "none", **options})


def reflect(*locations: str, rx_only: bool = False, **options: Unpack[ForwardOptions]) -> Forwarder:
    """Send back what ports receive, addresses exchanged (``rewrite="reverse"``) unless given.

    ``rx_only``: count it and send nothing. Otherwise as `forward`.
    """
    found = _locations(locations, "reflect")
    ways = [Way(port, None if rx_only else port) for port in range(len(found))]
    forwarder = _forwarder("reflect", found, ways, {"rewrite": "reverse", **options})
    if rx_only:
        check_impairs(forwarder.settings.impairments)
    return forwarder


def _locations(texts: Sequence[str], command: str) -> tuple[Location, ...]:
    found = tuple(parse_location(text) for text in texts)
    check_locations(found, command)
    return found


def _forwarder(
    command: str, locations: tuple[Location, ...], ways: Sequence[Way], options: Mapping[str, Any]
) -> Forwarder:
    check_options(options, ForwardOptions)
    if options["rewrite"] not in REWRITES:
        raise PlanError(f"rewrite={options['rewrite']!r}: give one of {', '.join(REWRITES)}")
    impairments = _impairments(options)
    mbufs_given = options.get("mbufs") is not None
    machine = machine_settings(
        len(locations),
        {**options, "mbufs": options.get("mbufs") or default_mbufs(impairments.delay_ns)},
    )
    queues = options.get("queues")
    listen = options.get("listen")
    settings = ForwardSettings(
        **vars(machine) | {"distinct_max": _distinct_max(options.get("count_flows", False))},
        command=command,
        locations=locations,
        ways=tuple(ways),
        queues=None if queues is None else whole(queues, "queues", 1, QUEUES_MAX),
        rewrite=REWRITES[options["rewrite"]],
        impairments=impairments,
        addresses=tuple(_host(text, len(locations)) for text in options.get("addresses", ())),
        mbufs_given=mbufs_given,
        listen=None if listen is None else parse_listen(listen),
    )
    forwarder = Forwarder(settings)
    forwarder.prepare()
    return forwarder


def _impairments(options: Mapping[str, Any]) -> Impairments:
    work = options.get("work", 0)
    if not isinstance(work, str):
        cost = Work(cycles=whole(work, "work", 0, WORK_MAX_CYCLES))
    else:
        cost = parse_work(work)
    return Impairments(
        work=cost,
        drop=ratio(options.get("drop", 0.0), "drop"),
        duplicate=ratio(options.get("duplicate", 0.0), "duplicate"),
        reorder=ratio(options.get("reorder", 0.0), "reorder"),
        delay_ns=round(small_time_ns(options.get("delay", 0), "delay", DELAY_MAX_NS)),
        seed=whole(options.get("seed", 1), "seed", 0, SEED_MAX),
    )


def _distinct_max(value: Any) -> int:
    if isinstance(value, bool):
        return DISTINCT_DEFAULT if value else 0
    return whole(value, "count_flows", 1, DISTINCT_MAX)


def _host(text: str, ports: int) -> HostAddress:
    """Read ``10.0.0.2``, or ``1=10.0.0.2`` for port 1."""
    before, equals, rest = text.rpartition("=")
    port = int(before) if before.isdecimal() else 0
    if port >= ports or (equals and not before.isdecimal()):
        raise PlanError(f"addresses: {text!r}: there is no port {before}; ports are 0-{ports - 1}")
    return HostAddress(port, host_address(text, rest, "10.0.0.2, fd00::2, or 1=10.0.0.2"))
