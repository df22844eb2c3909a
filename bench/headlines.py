# SPDX-License-Identifier: BSD-3-Clause
"""Figures of whole runs: CPU of a 100 Gbit/s replay, 20 ports on an lcore, fidelity, start-up.

`make bench` prints them below the comparisons. Each run is the program itself with ``--json``;
several repeats, median and range, since machines are noisy. Not a test: nothing fails here.
"""

from __future__ import annotations

import json
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plans

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PROGRAM = (sys.executable, "-m", "wirerate.cli.main")
_REPEATS = 5
_FULL_100G_FPS = 8_127_438
"""1,518-octet frames that fill 100 Gbit/s at layer 1."""
_FLOWS = 1000
_READY = 65536


def run(*words: str) -> dict[str, Any]:
    """The JSON of a run; its verdict is shown with the figure."""
    done = subprocess.run([*_PROGRAM, *words, "--json"], capture_output=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def said(values: Sequence[float], unit: str, scale: float = 1.0) -> str:
    """Median and range."""
    low, middle, high = (
        scale * value for value in (min(values), statistics.median(values), max(values))
    )
    return f"{middle:.2f} {unit} ({low:.2f} to {high:.2f})"


def write_trace(path: Path, lengths: Sequence[int], gap_ns: int) -> None:
    """A pcap of frames of these lengths (without FCS), gap_ns apart."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for number, length in enumerate(lengths):
            seconds, rest = divmod(number * gap_ns, 10**9)
            octets = bytes(12) + b"\x88\xb5" + bytes(length - 14)
            file.write(struct.pack("<IIII", seconds, rest, length, length) + octets)


def verdicts(documents: Sequence[dict[str, Any]]) -> str:
    """How many of the runs were valid."""
    return f"{sum(d['verdict']['valid'] for d in documents)} of {len(documents)} valid"


def headline(directory: Path) -> str:
    """What loadgen claims: 100 Gbit/s with less than 10 % of a CPU."""
    trace = directory / "large.pcap"
    write_trace(trace, [1514] * 1000, 123)
    words = ("--rate", f"{_FULL_100G_FPS}pps", "--cpu-saver", "--duration", "3")
    runs = [run("replay", str(trace), "null:a", *words) for _ in range(_REPEATS)]
    rates = [d["total"]["offered_l1_bps"] for d in runs]
    cpu = [d["total"]["cpu_share"] for d in runs]
    return f"{said(rates, 'Gbit/s', 1e-9)}, CPU {said(cpu, '%', 100)}, {verdicts(runs)}"


def twenty_ports(directory: Path) -> str:
    """As loadgen's table: 20 ports, one lcore."""
    trace = directory / "small.pcap"
    write_trace(trace, [60] * 1000, 67)
    ports = [f"null:n{number}" for number in range(20)]
    maps = [word for number in range(20) for word in ("-m", f":1.{number}")]
    runs = [run("replay", str(trace), *ports, *maps, "--duration", "2") for _ in range(_REPEATS)]
    each = [d["total"]["offered_fps_per_port"] for d in runs]
    total = [d["total"]["offered_fps"] for d in runs]
    mpps = f"{said(total, 'Mpps', 1e-6)}, {said(each, 'Mpps per port', 1e-6)}"
    return f"{mpps}, {verdicts(runs)}"


def original_timing(directory: Path) -> str:
    """Departures against the times of a 10 s trace."""
    trace = directory / "timed.pcap"
    write_trace(trace, [60 + 7 * (n % 200) for n in range(100_000)], 100_000)
    words = ("--timing", "original", "--loops", "1")
    runs = [run("replay", str(trace), "null:a", *words) for _ in range(3)]
    ports = [d["ports"][0] for d in runs]
    p99 = [port["pacing_error_ns"]["p99"] for port in ports]
    drift = [abs(port["seconds"] - 9.9999) for port in ports]
    return f"p99 {said(p99, 'us', 1e-3)}, end off by {said(drift, 'ms', 1e3)}, {verdicts(runs)}"


def many_flows(directory: Path) -> str:
    """From the command to its end, for a plan of 1,000 flows that end after a frame each."""
    plan = directory / "flows.json"
    flows = [plans.udp_flow(f"flow{n}", size=64 + n, rate={"pps": 1000}) for n in range(_FLOWS)]
    for flow in flows:
        flow["duration"] = {"fixed_packets": {"packets": 1}}
    plan.write_text(json.dumps({"ports": [{"name": "p0", "location": "null:a"}], "flows": flows}))
    return said([wall(lambda: run("run", str(plan))) for _ in range(_REPEATS)], "s, ends included")


def rendering(directory: Path) -> str:
    """8 flows of 8,192 ready frames each: what they add to a run that sends a frame of each."""

    def plan(tuples: int) -> str:
        flows = [plans.udp_flow(f"f{n}", tuples=tuples, size=1518) for n in range(8)]
        for flow in flows:
            flow["duration"] = {"fixed_packets": {"packets": 1}}
        path = directory / f"ready-{tuples}.json"
        ports = [{"name": "p0", "location": "null:a"}]
        path.write_text(json.dumps({"ports": ports, "flows": flows}))
        return str(path)

    many, one = plan(_READY // 8), plan(1)
    extra = [
        wall(lambda: run("run", many)) - wall(lambda: run("run", one)) for _ in range(_REPEATS)
    ]
    return said(extra, "s")


def wall(call: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def main() -> int:
    """Run all and print a line for each."""
    with tempfile.TemporaryDirectory(prefix="wr-bench-") as name:
        directory = Path(name)
        print(f"8,127,438 frames/s of 1,518 octets, --cpu-saver: {headline(directory)}", flush=True)
        print(f"20 null ports on one lcore, 64 octets: {twenty_ports(directory)}", flush=True)
        print(f"--timing original, 10 s at 10 kpps: {original_timing(directory)}", flush=True)
        print(f"plan of 1,000 flows, whole run: {many_flows(directory)}", flush=True)
        print(f"65,536 frames of 1,518 octets, rendering: {rendering(directory)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
