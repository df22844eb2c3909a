# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate replay`: make a plan that loops a capture file on the chosen ports, and run it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from wirerate.cli import replay_args
from wirerate.cli.common_args import eal_request, run_settings
from wirerate.cli.execute import execute
from wirerate.engine.eal import choose_memory, eal_arguments, free_hugepages_mib
from wirerate.engine.process import Engine
from wirerate.engine.scan import scan_trace
from wirerate.errors import HostSetupError, PlanError
from wirerate.host.tree import ROOT, plural, read_text, to_int
from wirerate.host.usable_ports import choose_ports
from wirerate.plan.decode import decode_plan
from wirerate.plan.document import dump_document
from wirerate.plan.program import port_name
from wirerate.plan.replay_document import TraceFacts, memory_octets, replay_document
from wirerate.report.replay_view import ReplayView
from wirerate.units import FRAME_SIZE_ORDINARY

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from wirerate.plan.location import Location
    from wirerate.plan.replay_document import ReplayRequest
    from wirerate.plan.run_settings import RunSettings

PORTS_MAX = 64
"""Of the engine (docs/design/0002-engine-interface.md)."""

_GIB = 1 << 30
_MIB = 1 << 20


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    parser = replay_args.add_parser(subparsers)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Send the trace and report; 0 whenever something was measured, 4 when the engine died."""
    asked = replay_args.request_from_args(args)
    request = asked.request
    chosen = choose_ports(asked.patterns)
    if len(chosen.locations) > PORTS_MAX:
        raise PlanError(
            f"{len(chosen.locations)} ports, but the engine opens at most {PORTS_MAX}; choose some "
            "with patterns"
        )
    for address in chosen.left_out:
        text = f"{address} carries the default route and is left out; name it in full to use it"
        print(f"wirerate: note: {text}", file=sys.stderr)
    eal = eal_request(args)
    settings = run_settings(args, eal, len(chosen.locations))
    facts = TraceFacts.from_scan(scan_trace(request.file))
    _check_trace(request, facts)
    own = request.rewrite is not None and request.rewrite.own
    macs = _own_macs(chosen.locations, settings) if own else {}
    document = replay_document(request, facts, chosen.locations, macs)
    if asked.show_plan:
        print(json.dumps(document, indent=2) if args.json else dump_document(document).rstrip())
        return 0
    _check_memory(request.file, facts, len(chosen.locations), settings)
    view = ReplayView(request.file, facts, by_times=request.speed is not None)
    return execute(decode_plan(document), settings, view)


def _check_trace(request: ReplayRequest, facts: TraceFacts) -> None:
    """Refuse what the options do not allow, or what has no meaning with this file."""
    if request.speed is not None and facts.frames > 1 and facts.span_ns == 0:
        raise PlanError(
            f"trace {request.file}: all {facts.frames:,} frames have the same time, so there is "
            "no timing to keep; leave --timing out, or give --rate"
        )
    if request.strict and facts.truncated:
        raise PlanError(
            f"trace {request.file}: {facts.truncated:,} of {plural(facts.frames, 'frame')} were "
            "cut by the capture, which --strict refuses; capture whole frames, or leave --strict "
            "out to have them padded with zeros"
        )


def _check_memory(file: Path, facts: TraceFacts, ports: int, settings: RunSettings) -> None:
    """Refuse a trace that does not fit, before the machine starts to swap.

    Who gives EAL options about memory knows better.
    """
    need = memory_octets(facts, ports) * (2 if settings.warm_up_ns else 1)
    if not choose_memory(need, settings.eal.passthrough, allow_hugepages=True).arguments:
        return
    huge, ordinary = free_hugepages_mib() * _MIB, _available_octets()
    if ordinary is None or need <= max(huge, ordinary):
        return
    raise HostSetupError(
        f"trace {file}: its ready frames take {need / _GIB:,.2f} GiB for "
        f"{plural(ports, 'port')}, but {huge / _GIB:,.2f} GiB of hugepages and "
        f"{ordinary / _GIB:,.2f} GiB of other memory are free; use fewer ports, or a part of the "
        "trace (editcap -r)"
    )


def _available_octets(root: Path = ROOT) -> int | None:
    """What the kernel could give without swapping; None when it does not say."""
    for line in (read_text(root / "proc/meminfo") or "").splitlines():
        name, _, rest = line.partition(":")
        kib = to_int(rest.split()[0] if rest.split() else None)
        if name == "MemAvailable" and kib is not None:
            return kib << 10
    return None


def _own_macs(locations: Sequence[Location], settings: RunSettings) -> dict[int, bytes]:
    """The Ethernet addresses of the NICs, by place; their drivers alone can tell.

    So they are opened, by an engine that sends nothing, and closed again.
    """
    nics = {index: location for index, location in enumerate(locations) if location.needs_pci}
    if not nics:
        return {}
    lcore = settings.lcores[0]
    memory = choose_memory(0, settings.eal.passthrough, allow_hugepages=True)
    words = eal_arguments(list(nics.values()), [lcore], memory, settings.eal.passthrough)
    ports = [
        {
            "name": port_name(index),
            "location": location.text,
            "rx_queues": 0,
            "tx_queues": 1,
            "rx_descriptors": 0,
            "tx_descriptors": 0,
            "mbufs": 0,
            "frame_size_max": FRAME_SIZE_ORDINARY,
            "promiscuous": False,
        }
        for index, location in nics.items()
    ]
    with Engine(words, passthrough=settings.eal.passthrough) as engine:
        infos = engine.call("ports.open", {"ports": ports})["ports"]
    return {
        index: bytes.fromhex(info["mac"].replace(":", ""))
        for index, info in zip(nics, infos, strict=True)
    }
