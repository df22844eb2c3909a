# SPDX-License-Identifier: BSD-3-Clause
"""What a replay shows: the trace, a row per port, the sum in loadgen's columns, the document."""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.made_up import ENVIRONMENT
from wirerate.plan.lcore_map import LcoreMap, PortLcores
from wirerate.plan.location import parse_location
from wirerate.plan.placement import place
from wirerate.plan.replay_document import TraceFacts
from wirerate.report import replay_text as text
from wirerate.report.replay_view import SCHEMA, ReplayView
from wirerate.trial.cpu import CpuUse
from wirerate.trial.cpu_lost import LcoreTime
from wirerate.trial.result import Percentiles
from wirerate.trial.verdict import Verdict

HZ = 1_000_000_000
START = 5 * HZ
FILE = Path("/captures/a.pcap")
PAGE = Path(__file__).resolve().parents[2] / "docs/replay.md"
FACTS = TraceFacts(
    format="pcap",
    frames=1000,
    octets=60_000,
    shortest=60,
    longest=60,
    truncated=0,
    short=0,
    backwards=0,
    first_ns=1_700_000_000 * HZ,
    last_ns=1_700_000_010 * HZ,
    memory_octets=400_000,
)


def port(name="p0", frames=2_000_000, *, done=False, last_s=1.0, **device):
    """A port that has sent frames of 64 octets over one queue."""
    queue = SimpleNamespace(octets=frames * 64, done=done, last_tsc=START + int(last_s * HZ))
    own = {"opackets": frames, "obytes": frames * 60, "ipackets": 0, "ibytes": 0, "oerrors": 0}
    counters = SimpleNamespace(**own | device)
    return SimpleNamespace(name=name, rx=[], tx=[queue], tx_frames=frames, device=counters)


def snapshot(*ports, seconds=1.0):
    by_name = {port.name: port for port in ports}
    return SimpleNamespace(
        tsc_hz=HZ,
        start_tsc=START,
        now_tsc=START + int(seconds * HZ),
        stop_tsc=2**64 - 1,
        ports=ports,
        port=by_name.__getitem__,
    )


def cells(block):
    """The numbers of each row by their heading."""
    head, *rows = block.splitlines()
    names = head.replace("Gbit/s L1", "Gbit/s-L1").split()
    return [dict(zip(names, row.replace(",", "").split(), strict=True)) for row in rows]


def test_a_row_since_the_start():
    (row,) = cells(text.table(snapshot(port()), None, {0: "p0"}, 1000))
    assert (row["Port"], float(row["Mpps"])) == ("0", 2.0)
    assert float(row["Gbit/s-L1"]) == pytest.approx(2e6 * 84 * 8 / 1e9)
    assert (row["frames"], float(row["laps"])) == ("2000000", 2000)
    assert (row["opackets"], row["obytes"]) == ("2000000", "120000000")


def test_rates_are_those_since_the_snapshot_before_and_counts_since_the_start():
    before = snapshot(port(frames=2_000_000), seconds=1)
    now = snapshot(port(frames=5_000_000, ipackets=7, ibytes=420, oerrors=3), seconds=2)
    (row,) = cells(text.table(now, before, {0: "p0"}, 1000))
    assert (float(row["Mpps"]), row["frames"]) == (3.0, "5000000")
    assert (row["ipackets"], row["ibytes"], row["oerrors"]) == ("7", "420", "3")


def test_several_ports_are_summed_up():
    ports = [port("p0", 1_000_000), port("p3", 3_000_000)]
    first, second, total = cells(text.table(snapshot(*ports), None, {0: "p0", 3: "p3"}, 1000))
    assert [row["Port"] for row in (first, second, total)] == ["0", "3", "sum"]
    assert (float(total["Mpps"]), total["frames"], float(total["laps"])) == (4.0, "4000000", 4000)
    assert total["opackets"] == "4000000"


def test_time_ends_with_the_last_frame():
    now = snapshot(port(frames=1_000_000, done=True, last_s=0.5), seconds=3)
    (row,) = cells(text.table(now, None, {0: "p0"}, 1000))
    assert float(row["Mpps"]) == 2.0


def test_nothing_sent_yet():
    (row,) = cells(text.table(snapshot(port(frames=0), seconds=0), None, {0: "p0"}, 1000))
    assert (float(row["Mpps"]), row["frames"], float(row["laps"])) == (0, "0", 0)


@pytest.mark.parametrize(
    ("span_ns", "shown"),
    [
        (0, "in 0 us"),
        (1, "in 0.001 us"),
        (98_000_000, "in 98 ms"),
        (98_000_001, "in 98.000001 ms"),
        (999_999, "in 999.999 us"),
    ],
)
def test_a_short_span_has_all_its_digits(span_ns, shown):
    facts = replace(FACTS, last_ns=FACTS.first_ns + span_ns)
    assert text.trace_lines(FILE, facts)[-1].endswith(shown)


def test_a_narrow_terminal_gets_what_fits():
    ports = [port("p0", 10**9, ipackets=5), port("p1", 10**9)]
    now = snapshot(*ports, seconds=70)
    whole = text.table(now, None, {0: "p0", 1: "p1"}, 1000).splitlines()[0].split()
    lines = text.table(now, None, {0: "p0", 1: "p1"}, 1000, room=80).splitlines()
    assert max(map(len, lines)) <= 80
    shown = lines[0].split()
    assert shown == [name for name in whole if name not in {"obytes", "ibytes"}]
    assert {"frames", "laps", "oerrors"} <= set(shown)
    assert lines[-1].split()[3] == "2,000,000,000"


def test_loadgens_table_fits_a_terminal():
    assert {len(line) for line in text.performance(result(port_result(0)), "good")} == {80}


def test_the_largest_figures_stay_in_their_columns():
    many = 10**12
    row = text.table(snapshot(port(frames=many), seconds=9e4), None, {63: "p0"}, 1)
    head, line = row.splitlines()
    assert len(line) <= len(head) + 8
    assert all(cell for cell in line.split())


@pytest.mark.parametrize(
    ("device", "lcore", "word"),
    [(0, 0, "good"), (1, 0, "bad"), (-1, 0, "-"), (0, -1, "-")],
)
def test_numa(device, lcore, word):
    assert text.numa_word(device, lcore) == word


@pytest.mark.parametrize(
    ("words", "word"),
    [(["good", "-"], "good"), (["good", "bad"], "bad"), (["-", "-"], "-"), ([], "-")],
)
def test_numa_of_all(words, word):
    assert text.numa_of_all(words) == word


def test_the_trace():
    facts = replace(FACTS, octets=590_000, longest=1514)
    shown = "\n".join(text.trace_lines(FILE, facts))
    for part in (str(FILE), "pcap", "1,000 frames", "594,000 octets", "mean 594.0", "64 to 1,518"):
        assert part in shown, part
    assert "2023-11-14 22:13:20 UTC" in shown
    assert "10 s" in shown


def test_times_that_no_calendar_has():
    shown = "\n".join(text.trace_lines(FILE, replace(FACTS, first_ns=2**63, last_ns=2**63 + 1500)))
    assert "1.5 us" in shown
    assert text.trace_lines(FILE, replace(FACTS, first_ns=2**64 * 10**9, last_ns=2**64 * 10**9))


def test_warnings():
    assert text.trace_warnings(FACTS, by_times=True) == []
    facts = replace(FACTS, truncated=3, short=1, backwards=2)
    cut, short, backwards = text.trace_warnings(facts, by_times=True)
    assert cut.startswith("3 frames were cut by the capture: padded with zeros")
    assert "--strict" in cut
    assert short.startswith("1 frame was shorter than 60 octets")
    assert "sent at once" in backwards
    assert "order of the file" in text.trace_warnings(facts, by_times=False)[2]


def port_result(index=0, *, frames=2_000_000, seconds=1.0, late=None):
    location = ["null:a", "null:b"][index]
    none = Percentiles(None, None, None)
    return SimpleNamespace(
        plan=SimpleNamespace(
            index=index, name=f"p{index}", location=location, line_rate_bps=10**10, tx_lcores=(0,)
        ),
        intended_fps=None,
        offered_fps=frames / seconds,
        per_cpu_second_fps=None,
        seconds=seconds,
        tx_frames=frames,
        tx_octets=frames * 64,
        tx_frames_unsent=0,
        cycles_per_frame=12.5,
        lateness_cycles=late or none,
        device=Device(),
    )


@pytest.fixture(autouse=True)
def plain_devices(monkeypatch):
    """The document shows all counters of a device; here it has two."""
    monkeypatch.setattr("wirerate.report.replay_view.asdict", vars)


class Device(SimpleNamespace):
    def __init__(self):
        super().__init__(opackets=2_000_000, obytes=120_000_000)


def result(*ports, share=0.087):
    final = snapshot(*(port(f"p{p.plan.index}", p.tx_frames) for p in ports))
    final.cpu_ns, final.resident_max_octets = 5, 6
    about = {"version": "1", "dpdk": "DPDK", "transmit": "static", "hugepages": False}
    info = {
        "driver": "net_null",
        "mac": "02:00:00:00:00:00",
        "firmware": "",
        "socket": 0,
        "rx_clock": "tsc",
        "tx_loop": {"driver": "igb", "proven": True, "descriptors": 8, "laps": 2},
        "flow_control": None,
    }
    places = [SimpleNamespace(location=parse_location(text)) for text in ("null:a", "null:b")]
    plan = SimpleNamespace(ports=places)
    placements = {p.plan.name: place(p.plan.name, -1, [1], [1], {1: 0}) for p in ports}
    ready = SimpleNamespace(
        about=about,
        infos={p.plan.name: info for p in ports},
        plan=plan,
        placements=placements,
        settings=SimpleNamespace(engine="normal"),
    )
    cpu = CpuUse(share, ((1, 0.25),), (LcoreTime(1, 2.0, 1.5, 0.02),))
    return SimpleNamespace(
        ready=ready,
        ports=ports,
        final=final,
        cpu=cpu,
        verdict=Verdict(("why",), ("so",)),
        environment=ENVIRONMENT,
    )


def shown_setup(*locations):
    view = ReplayView(FILE, FACTS, by_times=False)
    ports = [SimpleNamespace(location=parse_location(location)) for location in locations]
    entries = tuple(PortLcores(index, (), (0,)) for index in range(len(locations)))
    setup: Any = SimpleNamespace(
        plan=SimpleNamespace(ports=ports),
        lcore_map=LcoreMap(entries),
        memory=SimpleNamespace(text="ordinary pages (48 MiB)"),
        settings=SimpleNamespace(lcore_map=None),
        placements=(),
    )
    return view.setup(setup)


def test_setup():
    shown = shown_setup("null:a", "null:b")
    for part in (str(FILE), "Port 0: null:a, lcore 0, NUMA -", "Port 1: null:b", "48 MiB"):
        assert part in shown, part


def test_a_port_that_the_map_lacks():
    view = ReplayView(FILE, FACTS, by_times=False)
    setup: Any = SimpleNamespace(
        plan=SimpleNamespace(
            ports=[SimpleNamespace(location=parse_location(text)) for text in ("null:a", "null:b")]
        ),
        lcore_map=LcoreMap((PortLcores(1, (), (0,)),)),
        memory=SimpleNamespace(text="-"),
        settings=SimpleNamespace(lcore_map=None),
        placements=(),
    )
    assert "Port 0: null:a (not mapped: left alone)" in view.setup(setup)


def test_performance_in_loadgens_columns():
    ports = port_result(0), port_result(1, frames=1_000_000)
    head, _, row = text.performance(result(*ports), "good")
    figures = dict(
        zip(
            [cell.strip() for cell in head.split("|")],
            [cell.strip() for cell in row.split("|")],
            strict=True,
        )
    )
    assert figures == {
        "# ports": "2",
        "frame size": "64.0",
        "NUMA": "good",
        "Mpps": "3.000",
        "Mpps/port": "1.500",
        "Gbit/s L1": "2.016",
        "CPU of one core": "8.7 %",
    }
    assert text.performance(result(ports[0], share=None), "-")[2].endswith(" -")


def test_summary():
    view = ReplayView(FILE, FACTS, by_times=False)
    late = Percentiles(100.0, 2000.0, 30_000)
    shown = view.summary(result(port_result(0, late=late), port_result(1)))
    assert "Port 0: pacing error 0.10 us p50, 2.00 us p99, 30.00 us max" in shown
    assert "Port 1: pacing" not in shown
    assert "Verdict: invalid\n  - why\n  note: so" in shown
    assert shown.index("opackets") < shown.index("# ports") < shown.index("Verdict")


def test_document():
    view = ReplayView(FILE, FACTS, by_times=False)  # with --json nothing is set up
    made = json.loads(json.dumps(view.document(result(port_result(0), port_result(1)))))
    assert made["schema"] == SCHEMA
    assert made["trace"]["frames"] == 1000
    assert made["trace"]["octets"] == 64_000
    first, second = made["ports"]
    assert (first["port"], first["location"], first["lcore"], first["numa"]) == (
        0,
        "null:a",
        0,
        "-",
    )
    assert (second["port"], second["laps"], second["tx_frames"]) == (1, 2000, 2_000_000)
    assert made["total"]["offered_fps"] == 4_000_000
    assert made["total"]["offered_l1_bps"] == pytest.approx(4e6 * 84 * 8)
    assert (made["total"]["cpu_share"], made["total"]["lcores_busy"]) == (0.087, {"1": 0.25})
    assert made["verdict"] == {"valid": False, "reasons": ["why"], "notes": ["so"]}


def leaves(value, path=""):
    """The paths of all values; a device's counters, and objects with keys of their own, are one."""
    if isinstance(value, dict) and not path.endswith(
        (".device", ".lcores_busy", ".lcores_cpu_lost", "environment")
    ):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from leaves(value[0], f"{path}[]")
    else:
        yield path


def expanded(row):
    """a.{b,c} is a.b and a.c."""
    parts = re.split(r"\{([^}]*)\}", row)
    choices = [part.split(",") if at % 2 else [part] for at, part in enumerate(parts)]
    return {"".join(chosen) for chosen in itertools.product(*choices)}


def test_the_document_is_described_field_by_field():
    view = ReplayView(FILE, FACTS, by_times=False)
    section = PAGE.read_text().split("\n## The JSON document\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)`", section, re.MULTILINE)
    described = set().union(*map(expanded, rows))
    assert described == set(leaves(view.document(result(port_result(0)))))
    assert SCHEMA in section
