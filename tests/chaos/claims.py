# SPDX-License-Identifier: BSD-3-Clause
"""What a valid result claims, held against what the witnesses saw. Each contradiction is a line.

Counts are compared exactly. Rates and latencies have the tolerances below, which cover the time
stamps' own uncertainty and nothing else.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from chaos.site import TRACE_FRAMES, loops
from chaos.truth import envelope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.trials import Trial

RATE = 300e-6
"""[ratio] The clock's share; the time stamps' comes on top (`truth.envelope`)."""
CPU_SHARE = 0.95
"""A worker without pacing that had less of its CPU has not shown what the device takes [ratio]."""
LATENCY_SHARE = 200e-6
LATENCY_NS = 2_000
"""No latency is below the relay's own time by more than these [ratio, ns]."""
P50_NS = 600_000
"""A median is not above the relay's by more: what a reader that polls can add [ns]."""
LATENESS_S = 0.003
"""Frames of a paced flow are not later than the greatest pacing error says by more [s]."""

Truth = dict[str, Any]


def contradictions(trial: Trial, outcome: Truth, document: Truth) -> Iterator[str]:
    """Everything in a valid document that is not true."""
    facts, truth = outcome["facts"], outcome["truth"]
    if facts.get("killed"):
        yield "the engine was killed"
    yield from _stopped(trial, facts, truth)
    if trial.command in {"forward", "reflect"}:
        yield from _forwarded(trial, facts, truth, document)
    else:
        yield from _sent(trial, outcome, document)


def _sent(trial: Trial, outcome: Truth, document: Truth) -> Iterator[str]:
    """Of what the program itself sends."""
    facts, truth = outcome["facts"], outcome["truth"]
    if any(flow.pps is None for flow in trial.flows):
        yield from _cpu(facts)
    if truth is None or trial.fault == "peer restarted":
        yield from _interfaces(trial, facts, document)
    elif trial.command == "replay":
        yield from _same("frames sent", document["ports"][0]["tx_frames"], truth["came"])
        yield from _trace(trial, document)
    elif trial.port == "pcap":
        for at, flow in enumerate(document["flows"]):
            yield from _same(
                "frames sent", flow["tx_frames"], truth["ports"].get(f"{5000 + at}", 0)
            )
    else:
        yield from _flows(trial, outcome, document)
    if trial.port == "ring":
        for flow in _entries(document):
            if flow.get("latency_ns") and flow["latency_ns"]["p50"] > P50_NS:
                yield f"p50 of a ring {flow['latency_ns']['p50']:,.0f} ns"


def _same(what: str, claimed: float, true: float) -> Iterator[str]:
    if claimed != true:
        yield f"{what}: {claimed:,} claimed, {true:,} true"


def _entries(document: Truth) -> list[Truth]:
    """Of each flow: those of `run`, or the first port of `perf`."""
    flows: list[Truth] = document.get("flows") or document["ports"][:1]
    return flows


def _stopped(trial: Trial, facts: Truth, truth: Truth | None) -> Iterator[str]:
    """Stopped for over 10 ms while frames were under way: no document calls that valid."""
    stop_s = facts.get("stopped_s", 0.0)
    if stop_s < 0.015 or truth is None:
        return
    if trial.command in {"forward", "reflect"}:
        held = truth["delay_ns"]
        if held and held["max"] > stop_s * 0.8e9 + 30e6 * bool(trial.impair):
            yield f"stopped for {1000 * stop_s:.1f} ms while it forwarded"
    elif "flows" in truth and all(flow.pps for flow in trial.flows):
        for flow in truth["flows"].values():
            times = [at for _, at in flow["times"]]
            gaps = [after - before for before, after in pairwise(times)]
            if gaps and max(gaps) > stop_s * 0.8e9:
                yield f"stopped for {1000 * stop_s:.1f} ms while it sent"


def _cpu(facts: Truth) -> Iterator[str]:
    for worker in facts["workers"]:
        wanted = worker["ran"] + worker["waited"]
        if wanted > 0.2 and worker["ran"] < CPU_SHARE * wanted:
            yield (
                f"unpaced, and {worker['name']} had {100 * worker['ran'] / wanted:.0f} % of the CPU"
            )


def _trace(trial: Trial, document: Truth) -> Iterator[str]:
    if "stopped by the user" not in document["verdict"]["notes"]:
        wanted = loops(trial) * TRACE_FRAMES
        yield from _same("frames of all laps", document["ports"][0]["tx_frames"], wanted)


def _interfaces(trial: Trial, facts: Truth, document: Truth) -> Iterator[str]:
    """A relay that was killed has no book; the kernel's counters have."""
    if trial.port != "af_packet":
        return
    sent = sum(flow["tx_frames"] for flow in _entries(document))
    yield from _same("frames sent", sent, facts["counters"]["r0 rx_packets"])
    read = document["ports"][1]["rx_frames"]
    yield from _same("frames received", read, facts["counters"]["e1 rx_packets"])


def _flows(trial: Trial, outcome: Truth, document: Truth) -> Iterator[str]:
    facts, truth = outcome["facts"], outcome["truth"]
    if truth["relay_drops"]:
        return
    counters = facts["counters"]
    given = truth["gave"] + truth.get("flooded", 0)
    whole = trial.port != "af_packet" or given == sum(
        counters[f"e{at} rx_packets"] for at in (1, 2)
    )
    measured = [flow.measured for flow in trial.flows]
    for at, flow in enumerate(_entries(document)):
        port = "9" if trial.command == "perf" else str(5000 + at)
        true = truth["flows"].get(port)
        if true is None:
            if port != "9" or truth["came"] == 0:
                yield from _same(f"flow {at}: frames sent", flow["tx_frames"], 0)
            continue
        for line in _flow(trial, flow, true, measured=measured[at], whole=whole):
            yield f"flow {at}: {line}"
    if trial.fault == "damaged" and trial.command == "run" and whole:  # only with --keep-bad
        found = _damaged(document)
        if found is not None:
            yield from _same("damaged frames", found, truth["damaged"])
    if trial.port == "af_packet" and trial.fault != "two ports" and whole:
        read = document["ports"][1]["rx_frames"]
        yield from _same("frames read", read, counters["e1 rx_packets"])


def _damaged(document: Truth) -> int | None:
    """None where the document has no word for it."""
    queues = [queue for port in document["ports"] for queue in port.get("rx_queues", ())]
    found = [int(queue["damaged_frames"]) for queue in queues if "damaged_frames" in queue]
    return sum(found) if len(found) == len(queues) else None


def _flow(trial: Trial, flow: Truth, true: Truth, *, measured: bool, whole: bool) -> Iterator[str]:
    yield from _same("frames sent", flow["tx_frames"], true["sent"])
    if not measured:
        return
    yield from _rate(trial, flow, true)
    if not whole:
        return
    back = flow["received"]
    yield from _same("received", back["frames"], true["received"])
    yield from _same("lost", back["lost"], true["sent"] - true["received"])
    yield from _same("duplicates", back["duplicates"], true["duplicates"])
    if trial.fault != "two ports":  # in which order two ports received is not known
        yield from _same("reordered", back["reordered"], true["reordered"])
    if true["low_ns"] and flow["latency_ns"]:
        yield from _latency(flow["latency_ns"], true["low_ns"])
        if _sees_arrivals(trial) and flow["latency_ns"]["p50"] > true["high_ns"]["p50"] + P50_NS:
            late = flow["latency_ns"]["p50"]
            yield f"latency p50 {late:,.0f} ns, the relay's {true['high_ns']['p50']:,.0f}"


def _sees_arrivals(trial: Trial) -> bool:
    """A relay at a memif has only the time at which it looked: not when it was kept from that."""
    kept = trial.fault in {"peer stopped", "control starved", "flooded"}
    return trial.port != "memif" or not (kept or any(flow.pps is None for flow in trial.flows))


def _rate(trial: Trial, flow: Truth, true: Truth) -> Iterator[str]:
    """The claimed rate, and the claimed pacing, against the kernel's times."""
    if not flow["intended_load"]:
        return
    fps = flow["intended_load"]["fps"]
    found = envelope([(seq, at) for seq, at in true["times"] if seq >= 0], fps)
    if found is None:
        return
    if abs(found["drift"]) > RATE + found["doubt"]:
        yield f"rate {1e6 * found['drift']:+.0f} ppm off (doubt {1e6 * found['doubt']:.0f})"
    pacing = flow.get("pacing_error_ns")
    if pacing and trial.port != "memif" and found["late_s"] > pacing["max"] / 1e9 + LATENESS_S:
        yield (
            f"a frame left {1000 * found['late_s']:.1f} ms late, "
            f"{pacing['max'] / 1e6:.1f} ms claimed at most"
        )


def _latency(claimed: Truth, low: Truth) -> Iterator[str]:
    for rank in ("min", "p50", "mean", "max"):
        bound = low[rank] * (1 - LATENCY_SHARE - (0.001 if rank == "p50" else 0)) - LATENCY_NS
        if claimed[rank] < bound:
            yield f"latency {rank} {claimed[rank]:,.0f} ns, the relay alone {low[rank]:,.0f}"


def _forwarded(trial: Trial, facts: Truth, truth: Truth | None, document: Truth) -> Iterator[str]:
    if truth is None or truth["drops"] or not facts.get("ended"):
        return  # stopped while frames still came
    total = document["total"]
    counters = facts["counters"]
    yield from _same("received", total["rx_frames"], counters["e0 rx_packets"])
    out = "r1" if trial.command == "forward" else "r0"
    yield from _same("sent", total["tx_frames"], counters[f"{out} rx_packets"])
    yield from _same("sent, by a recount", total["tx_frames"], truth["out"] + truth["strange"])
    yield from _same("duplicated", total["duplicated"], truth["copies"])
    if truth["damaged"]:
        yield f"{truth['damaged']} frames left damaged"
    held = truth["delay_ns"]
    if held and "--delay" in trial.impair:
        asked = float(trial.impair[trial.impair.index("--delay") + 1].removesuffix("ms")) * 1e6
        if held["min"] < asked * (1 - LATENCY_SHARE) - LATENCY_NS:
            yield f"delayed by {held['min']:,} ns at least, {asked:,.0f} asked for"
