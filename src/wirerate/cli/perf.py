# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate perf`: open the ports, run one trial, show it, judge it."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wirerate.cli import perf_args
from wirerate.engine.eal import choose_memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.engine.run_dir import lcores_in_use
from wirerate.errors import EngineRefusedError, ExitCode
from wirerate.host.numa import cpu_nodes, pci_node
from wirerate.host.ports import check_port
from wirerate.plan.lcore_map import LcoreMap, choose_map
from wirerate.plan.perf_plan import (
    make_program,
    memory_octets,
    named_refusal,
    plan_ports,
    port_params,
)
from wirerate.report import perf_json, perf_text
from wirerate.report.screen import open_screen
from wirerate.trial.result import port_results
from wirerate.trial.trial import Trial
from wirerate.trial.verdict import judge

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterator, Sequence

    from wirerate.engine.eal import Memory
    from wirerate.plan.perf_plan import PortPlan
    from wirerate.plan.perf_settings import PerfSettings

_NS_PER_S = 1_000_000_000


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    parser = perf_args.add_parser(subparsers)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Measure and report; 0 whenever something was measured, 4 when the engine died."""
    settings = perf_args.settings_from_args(args)
    busy = lcores_in_use()
    lcore_map = settings.lcore_map or _choose(settings, busy)
    shared = sorted(busy.intersection(lcore_map.lcores))
    if shared:
        lcores = ", ".join(str(lcore) for lcore in shared)
        print(f"wirerate: warning: another run polls on lcore {lcores} too", file=sys.stderr)
    memory = choose_memory(
        memory_octets(settings, lcore_map), settings.eal.passthrough, allow_hugepages=True
    )
    if not settings.json:
        _print_setup(settings, lcore_map, memory)
    used = [settings.locations[entry.port] for entry in lcore_map.ports]
    for entry, location in zip(lcore_map.ports, used, strict=True):
        check_port(entry.port, location, max(len(entry.rx), len(entry.tx)))
    words = eal_arguments(used, lcore_map.lcores, memory, settings.eal.passthrough)
    if settings.verbose:
        print("EAL arguments:", " ".join(words), file=sys.stderr)
    with Engine(words, lcore_map.lcores) as engine:
        return _measure(engine, settings, lcore_map)


def _choose(settings: PerfSettings, busy: Collection[int]) -> LcoreMap:
    """A map without the lcores that other runs poll on, if any are left beside the control CPU."""
    nodes = [pci_node(location) for location in settings.locations]
    idle = [lcore for lcore in settings.lcores if lcore not in busy]
    lcores = idle if len(idle) > 1 else settings.lcores
    return choose_map(nodes, lcores, cpu_nodes(), control=settings.eal.main_lcore)


def _print_setup(settings: PerfSettings, lcore_map: LcoreMap, memory: Memory) -> None:
    if settings.default_location:
        print(
            f"No device given: using {settings.locations[0]}, "
            "a ring in memory that sends back what it gets."
        )
    mapped = {entry.port for entry in lcore_map.ports}
    for index, location in enumerate(settings.locations):
        what = "" if index in mapped else " (not mapped: left alone)"
        print(f"Port {index}: {location}{what}")
    chosen = "" if settings.lcore_map else " (chosen; -m sets it)"
    print(f"Lcore map: {lcore_map}{chosen}. Memory: {memory.text}.\n", flush=True)


@contextmanager
def _stopping(trial: Trial) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the trial in good order instead of this process."""

    def stop(_number: int, _frame: object) -> None:
        trial.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _measure(engine: Engine, settings: PerfSettings, lcore_map: LcoreMap) -> int:
    about = engine.call("engine.info")
    opened = _open_ports(engine, settings, lcore_map)
    plans = plan_ports(settings, lcore_map, opened)
    infos = {info["name"]: info for info in opened}
    if settings.verbose:
        _print_verbose(engine, about, opened)
    macs = {plan.index: infos[plan.name]["mac"] for plan in plans if _is_nic(settings, plan)}
    counters = engine.load(make_program(settings, lcore_map, plans, macs))
    trial = Trial(engine, counters, settings.duration_ns, settings.period_ns / _NS_PER_S)
    with _stopping(trial):
        _watch(trial, settings, plans, infos)
    return _report(trial, settings, plans, infos, about)


def _open_ports(
    engine: Engine, settings: PerfSettings, lcore_map: LcoreMap
) -> list[dict[str, Any]]:
    """Open the mapped ports; a refusal names port and map as the user gave them."""
    try:
        reply = engine.call("ports.open", {"ports": port_params(settings, lcore_map)})
    except EngineRefusedError as error:
        raise named_refusal(error, lcore_map) from error
    infos: list[dict[str, Any]] = reply["ports"]
    for entry, info in zip(lcore_map.ports, infos, strict=True):
        if not info["link_up"]:
            text = (
                f"port {entry.port} ({info['location']}): the link is down, or no peer has come yet"
            )
            print(f"wirerate: warning: {text}", file=sys.stderr)
    return infos


def _is_nic(settings: PerfSettings, plan: PortPlan) -> bool:
    """NICs send from their own address; virtual ports from a made-up one, the same in every run."""
    return settings.locations[plan.index].needs_pci


def _print_verbose(engine: Engine, about: dict[str, Any], opened: Sequence[dict[str, Any]]) -> None:
    print(
        f"Engine: pid {engine.pid}, {about['dpdk']}, {about['transmit']}ally linked, "
        f"telemetry: dpdk-telemetry.py -f {engine.file_prefix}, log {engine.log_path}",
        file=sys.stderr,
    )
    for info in opened:
        print(f"Port {info['name']}: {json.dumps(info)}", file=sys.stderr)


def _watch(
    trial: Trial,
    settings: PerfSettings,
    plans: Sequence[PortPlan],
    infos: dict[str, dict[str, Any]],
) -> None:
    before = None
    with open_screen(quiet=settings.json) as screen:
        for tick, snapshot in enumerate(trial.watch()):
            screen.show(
                perf_text.table(snapshot, before, plans, infos=infos, settings=settings, tick=tick)
            )
            before = snapshot
        if trial.final is not None and not settings.json and before is None:
            screen.show(
                perf_text.table(trial.final, None, plans, infos=infos, settings=settings, tick=0)
            )


def _report(
    trial: Trial,
    settings: PerfSettings,
    plans: Sequence[PortPlan],
    infos: dict[str, dict[str, Any]],
    about: dict[str, Any],
) -> int:
    assert trial.final is not None
    results = port_results(trial.final, plans, settings.frame_size, settings.frames)
    verdict = judge(
        trial.final,
        results,
        sent=trial.sent,
        interrupted=trial.interrupted,
        death=trial.death,
    )
    if settings.json:
        text = json.dumps(perf_json.document(results, verdict, trial.final, infos, about), indent=2)
    else:
        text = perf_text.summary(results, verdict, trial.final)
    print(text, flush=True)
    if trial.death is None:
        return ExitCode.PASS
    print(f"wirerate: error: {trial.death}", file=sys.stderr)
    return ExitCode.ENGINE_DIED
