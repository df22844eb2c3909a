# SPDX-License-Identifier: BSD-3-Clause
"""`make bench`: wirerate beside dpdk-testpmd, on the same lcore of the same machine, in turns.

Each repeat is a slice of testpmd followed by a slice of wirerate, half a second each by default,
while the other process stands still; what is reported is the median of the pairs' ratios and their
range. Machines are noisy: a wide range says so. Prints a table and writes JSON. Not a test: nothing
fails on a slow day.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import plans
from testpmd import Testpmd
from wirerate_sender import Sender

from wirerate.engine.eal import free_hugepages_mib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BURST = 64
MAIN_CPU, DATA_CPU = 0, 1
HUGEPAGES_MIB = 512
TX_OPTIONS = (f"--burst={BURST}", "--txd=1024")


@dataclass(frozen=True)
class Case:
    """One comparison; rates in frames/s of 64-octet frames, `asked` is the ratio aimed at."""

    name: str
    peer: str
    asked: float
    peer_fps: tuple[float, ...]
    wirerate_fps: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        """Pair by pair."""
        return [
            ours / theirs for ours, theirs in zip(self.wirerate_fps, self.peer_fps, strict=True)
        ]


def alternate(
    peer: Callable[[], float], ours: Callable[[], float], repeats: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Slices in turns: peer, ours, peer, ours…; one pair first that does not count."""
    pairs = []
    for _ in range(repeats + 1):
        pairs.append((peer(), ours()))
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    counted = pairs[1:]
    return tuple(p for p, _ in counted), tuple(o for _, o in counted)


VDEV = "net_null0,copy=0,no-rx=1"


@contextmanager
def into_null(forward_mode: str) -> Iterator[tuple[Testpmd, Sender]]:
    """A testpmd and a sender, one lcore into net_null each, on the same CPU."""
    options = (f"--forward-mode={forward_mode}", *TX_OPTIONS)
    with (
        Testpmd(
            "wrbench", main_cpu=MAIN_CPU, data_cpu=DATA_CPU, vdevs=[VDEV], options=options
        ) as peer,
        Sender(f"vdev:{VDEV}", data_cpu=DATA_CPU, burst=BURST) as ours,
    ):
        yield peer, ours


def null_cases(repeats: int, seconds: float) -> Iterator[Case]:
    """One lcore into net_null: what a frame costs, rendered beforehand."""
    with tempfile.TemporaryDirectory(prefix="wr-bench-") as directory:
        trace = Path(directory) / "mixed.pcap"
        plans.write_mixed_trace(trace, 1000)
        with into_null("txonly") as (peer, ours):
            for name, asked, flows in (
                ("null, constant frame", 2.3, [plans.udp_flow()]),
                ("null, 4,096 5-tuples", 2.2, [plans.udp_flow(tuples=4096)]),
                ("null, 1,000-frame trace", 2.1, [plans.trace_flow(trace)]),
                ("null, IMIX", 2.1, [plans.imix_flow()]),
                ("null, 16 paced flows", 1.0, plans.mixed_flows(16, 150e6)),
            ):
                streams = plans.streams_of(flows)
                theirs, mine = alternate(
                    lambda: peer.send_for(seconds),
                    lambda s=streams: ours.send_for(seconds, s),  # type: ignore[misc]
                    repeats,
                )
                yield Case(name, "testpmd txonly", asked, theirs, mine)


def walk_cases(repeats: int, seconds: float) -> Iterator[Case]:
    """A million 5-tuples, and 300,000 flows in turn; checksums valid, written before each burst."""
    flow = plans.udp_flow(tuples=1_000_000, ports=50_000)
    with into_null("flowgen") as (peer, ours):
        streams = plans.streams_of([flow])
        theirs, mine = alternate(
            lambda: peer.send_for(seconds), lambda: ours.send_for(seconds, streams), repeats
        )
        yield Case("null, 1 M 5-tuples", "testpmd flowgen", 2.3, theirs, mine)
        streams = plans.ramp_of(300_000)
        theirs, mine = alternate(
            lambda: peer.send_for(seconds), lambda: ours.send_for(seconds, streams), repeats
        )
        yield Case("null, 300,000 flows", "testpmd flowgen", 2.3, theirs, mine)


def memif_case(repeats: int, seconds: float) -> Iterator[Case]:
    """Into memif; one testpmd on the other CPU drains both senders' ports."""
    with tempfile.TemporaryDirectory(prefix="wr-bench-") as directory:
        sockets = [f"{directory}/{end}.sock" for end in ("peer", "ours")]
        servers = [
            f"net_memif{i},role=server,id=0,socket={path},socket-abstract=no"
            for i, path in enumerate(sockets)
        ]
        client = f"net_memif0,role=client,id=0,socket={sockets[0]},socket-abstract=no"
        with Testpmd(
            "wrbenchrx",
            main_cpu=MAIN_CPU,
            data_cpu=MAIN_CPU,
            vdevs=servers,
            options=("--forward-mode=rxonly", f"--burst={BURST}", "--no-flush-rx"),
        ) as receiver:
            receiver.command("start")
            with (
                Testpmd(
                    "wrbenchtx",
                    main_cpu=MAIN_CPU,
                    data_cpu=DATA_CPU,
                    vdevs=[client],
                    options=("--forward-mode=txonly", *TX_OPTIONS),
                ) as peer,
                Sender(f"memif:{sockets[1]}", data_cpu=DATA_CPU, burst=BURST) as ours,
            ):
                # testpmd's 64 octets are without FCS: the same 64 octets to copy for both.
                streams = plans.streams_of([plans.udp_flow(size=68)])
                theirs, mine = alternate(
                    lambda: peer.send_for(seconds),
                    lambda: ours.send_for(seconds, streams),
                    repeats,
                )
                yield Case("memif to testpmd rxonly", "testpmd txonly", 1.0, theirs, mine)


GROUPS: dict[str, Callable[[int, float], Iterator[Case]]] = {
    "null": null_cases,
    "walk": walk_cases,
    "memif": memif_case,
}


def tsc_hz() -> int:
    """What the engine says its clock runs at."""
    with Sender("null:hz", data_cpu=DATA_CPU, burst=BURST) as sender:
        return int(str(sender.about["tsc_hz"]))


def machine() -> dict[str, object]:
    """What a reader needs to compare figures."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    return {"cpu": model, "cpus": os.cpu_count(), "kernel": platform.release()}


def row(case: Case, hz: int) -> str:
    """One line of the table."""
    theirs, mine = statistics.median(case.peer_fps), statistics.median(case.wirerate_fps)
    ratios = case.ratios
    return (
        f"{case.name:<26} {case.peer:<15} {theirs / 1e6:>8.1f} {hz / theirs:>7.1f} "
        f"{mine / 1e6:>9.1f} {hz / mine:>7.1f} {statistics.median(ratios):>7.2f} "
        f"{min(ratios):>6.2f}-{max(ratios):<6.2f}{case.asked:>5.1f}"
    )


def main() -> int:
    """Run the cases asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=11, help="pairs that count (default 11)")
    parser.add_argument(
        "--seconds", type=float, default=0.5, help="length of a slice (default 0.5)"
    )
    parser.add_argument("--case", choices=tuple(GROUPS), action="append", help="default: all")
    parser.add_argument("--json", type=Path, default=Path("build/bench/perf.json"))
    args = parser.parse_args()
    chosen = args.case or list(GROUPS)
    if free_hugepages_mib() < HUGEPAGES_MIB:
        print(
            f"bench: {HUGEPAGES_MIB} MiB of free hugepages are needed, by testpmd as well; "
            f"echo {HUGEPAGES_MIB} >/proc/sys/vm/nr_hugepages gives twice that (2 MiB pages)",
            file=sys.stderr,
        )
        return 3
    cases = [case for name in chosen for case in GROUPS[name](args.repeats, args.seconds)]
    hz = tsc_hz()
    print(
        f"{'case':<26} {'peer':<15} {'Mpps':>8} {'cycles':>7} "
        f"{'wirerate':>9} {'cycles':>7} {'ratio':>7} {'range':>13} {'aim':>5}"
    )
    for case in cases:
        print(row(case, hz))
    args.json.parent.mkdir(parents=True, exist_ok=True)
    document = machine() | {"tsc_hz": hz, "cases": [asdict(case) for case in cases]}
    args.json.write_text(json.dumps(document, indent=2) + "\n")
    print(
        f"Medians of {args.repeats} alternating pairs; cycles are TSC cycles per frame. "
        f"JSON: {args.json}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
