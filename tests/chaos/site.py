# SPDX-License-Identifier: BSD-3-Clause
"""Where a trial runs: its ports, the words of its command, the process at the other end."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from chaos.driver import Errand
from chaos.driver import serve as drive
from chaos.relay import Duties
from chaos.relay import serve as relay
from chaos.side import Side
from chaos.stamp import plain_frame
from chaos.trials import plan_of

if TYPE_CHECKING:
    from chaos.trials import Trial

ROOM = Path("/mnt")
"""The harness's own, in its mount namespace (`inside.py`)."""
MEMIF = str(ROOM / "memif.sock")
TRACE_FRAMES = 50
_FLOOD = 12_000
_TREATED = {
    "dropped",
    "copied",
    "copied late",
    "reordered",
    "damaged",
    "forged sequence",
    "forged future",
    "forged stale",
    "two ports",
}


def out_file(trial: Trial) -> Path:
    """What a pcap port writes."""
    return ROOM / ("full" if trial.fault == "full disk" else "disk") / "out.pcap"


def locations(trial: Trial) -> tuple[str, ...]:
    """Of the program's ports, the sender first."""
    kind = trial.port
    if kind == "memif":
        return (f"memif:{MEMIF},role=client",)
    if kind == "tap":
        return ("tap:t0",)
    if kind == "pcap":
        return (f"pcap:,{out_file(trial)}",)
    if kind in {"ring", "null"}:
        return (f"{kind}:chaos",)
    count = 3 if trial.fault == "two ports" else 1 if trial.command in {"reflect", "replay"} else 2
    return tuple(f"{kind}:e{at}" for at in range(count))


def command(trial: Trial, cpu: int) -> list[str]:
    """The words after `wirerate`."""
    words = {
        "run": _run_words,
        "perf": _perf_words,
        "replay": _replay_words,
        "forward": _forward_words,
        "reflect": _forward_words,
    }[trial.command](trial, cpu)
    return [trial.command, *words, "--json", *(["--cpu-saver"] if trial.cpu_saver else [])]


def _run_words(trial: Trial, cpu: int) -> list[str]:
    where = locations(trial)
    plan = ROOM / "plan.json"
    document = plan_of(trial, where)
    if trial.port in {"pcap", "null"}:
        for flow in document["flows"]:
            del flow["tx_rx"]["port"]["rx_names"]
    plan.write_text(json.dumps(document))
    maps = f"{cpu}.[0-{len(where) - 1}]" if len(where) > 1 else f"{cpu}.0"
    if trial.port in {"pcap", "null"}:
        maps = f":{cpu}.0"
    keep = ["--keep-bad", "100", "--capture-dir", str(ROOM / "disk")]  # checksums are looked at
    return [str(plan), "-m", maps, "--settle", "500ms", *(keep if trial.fault == "damaged" else ())]


def _perf_words(trial: Trial, cpu: int) -> list[str]:
    where = locations(trial)
    flow = trial.flows[0]
    words = [*where, "-s", str(flow.size), "--count", str(flow.frames), "--settle", "500ms"]
    words += ["-r", f"{flow.pps}fps"] if flow.pps else []
    words += ["--measure"] if flow.measured else []
    if trial.port == "null":
        return [*words, "-m", f":{cpu}.0"]
    return [*words, *(["-m", f":{cpu}.0/{cpu}:.1"] if len(where) > 1 else ["-m", f"{cpu}.0"])]


def _replay_words(trial: Trial, cpu: int) -> list[str]:
    flow = trial.flows[0]
    trace = ROOM / "trace.pcap"
    write_trace(trace, flow.size - 4)
    words = [str(trace), *locations(trial), "-m", f":{cpu}.0", "--loops", str(loops(trial))]
    return [*words, *(["--rate", f"{flow.pps}fps"] if flow.pps else [])]


def loops(trial: Trial) -> int:
    """How often a replay sends its trace."""
    return max(1, trial.flows[0].frames // TRACE_FRAMES)


def _forward_words(trial: Trial, cpu: int) -> list[str]:
    one_way = ["--one-way"] if trial.command == "forward" else []
    return [*locations(trial), *one_way, "-m", f"{cpu}.0", *trial.impair, "--seed", "7"]


def write_trace(file: Path, octets: int) -> None:
    """A pcap of numbered frames, 10 us apart."""
    records = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for number in range(TRACE_FRAMES):
        frame = plain_frame(number, max(60, octets))
        records += [struct.pack("<IIII", 1, 10 * number, len(frame), len(frame)), frame]
    file.write_bytes(b"".join(records))


def other_end(trial: Trial, cpu: int) -> Side | None:
    """The process at the other end of the program's ports, on a CPU; None where there is none."""
    if trial.command in {"forward", "reflect"}:
        flow = trial.flows[0]
        sink = "r1" if trial.command == "forward" else "r0"
        flood = _FLOOD if trial.fault == "flooded" else 0
        pps = min(flow.pps or 5000, 6000)
        octets = max(60, flow.size - 4)
        return Side(drive, Errand("r0", sink, octets, int(pps * 0.4), pps, flood), cpu)
    ends = {
        "af_packet": ("r0", ("r1", "r2") if trial.fault == "two ports" else ("r1",)),
        "af_xdp": ("r0", ("r1",)),
        "tap": ("t0", ("t0",)),
        "memif": (MEMIF, (MEMIF,)),
    }.get(trial.port)
    if ends is None:
        return None
    duties = Duties(
        source=ends[0],
        sinks=() if trial.command == "replay" else ends[1],
        seed=trial.seed,
        fault=trial.fault if trial.fault in _TREATED else "none",
        share=trial.share,
        delay_ns=trial.delay_ns,
        flood=_FLOOD if trial.fault == "flooded" else 0,
    )
    return Side(relay, duties, cpu)
