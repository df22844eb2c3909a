# SPDX-License-Identifier: BSD-3-Clause
"""A sweep as far as no engine is needed: who runs where, what is sent, what is kept and shown."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from support.rss_document import rss_document
from wirerate.cli import rss
from wirerate.cli.main import build_parser
from wirerate.cli.rss_sweep_args import sweep_settings_of
from wirerate.errors import HostSetupError, PlanError
from wirerate.methods.rss_figures import Cell, CellFigures, TrialFigures
from wirerate.methods.rss_load import (
    Generator,
    flows_of_queues,
    forwarder_program,
    generator_program,
)
from wirerate.methods.rss_placement import (
    generator_placement,
    placed_flows,
    placement_document,
)
from wirerate.methods.rss_resume import append, begin, read_done
from wirerate.methods.rss_settings import places
from wirerate.methods.rss_sweep import cells_of
from wirerate.report.rss_csv import csv_text
from wirerate.report.rss_sweep_text import progress, tables


def settings(*words):
    args = build_parser("rss").parse_args(["rss", *words])
    args.eal_tokens = []
    return sweep_settings_of(args)


def test_defaults_are_the_references():
    asked = settings()
    assert (asked.queues, asked.works, asked.sizes) == (
        (1, 2, 4),
        (100, 200, 300, 400),
        (64, 128, 256, 512, 1024),
    )
    assert asked.line_rate_bps == 10**10
    cells = cells_of(asked)
    assert len(cells) == 3 * 5 * 5
    assert [cell.queues for cell in cells] == sorted(cell.queues for cell in cells)
    assert cells[4] == Cell(1, None, 64)
    assert cells[24] == Cell(1, None, 1024)
    assert len(cells_of(settings("--no-baseline"))) == 3 * 4 * 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-q 1,1", "given twice"),
        ("-q 0", "-q"),
        ("--sizes 63", "--sizes"),
        ("--sizes 9000", "above the MTU"),
        ("--sizes 64,,65", "commas"),
        ("--sizes ,", "commas"),
        ("--work 0", "above 0"),
        ("--work fast", "above 0"),
        ("--trial-time 0", "--trial-time"),
        ("--repeats 0", "--repeats"),
        ("--line-rate much", "much"),
        ("--flows 3", "fewer than 4 queues"),
        ("--flows 100000", "65,536 at most"),
        ("--steer", "--check"),
        ("--reta 0", "--check"),
        ("--spread odd", "--spread"),
        ("--csv /nowhere/at/all.csv", "--csv"),
        ("--report /", "--report"),
        ("--resume /nowhere/cells", "--resume"),
        ("--plots /dev/null/p", "--plots"),
    ],
)
def test_bad_input(words, said):
    with pytest.raises(PlanError) as caught:
        settings(*words.split())
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("queues", "cpus", "generator", "forwarder", "shared"),
    [
        (1, (0, 1), 0, (1,), False),
        (2, (0, 1), 0, (0, 1), True),
        (4, (0, 1), 0, (0, 1), True),
        (2, (0, 1, 2, 3), 0, (2, 3), False),
        (4, (3, 5, 7, 9, 11), 3, (5, 7, 9, 11), False),
        (1, (0,), 0, (0,), True),
    ],
)
def test_places(queues, cpus, generator, forwarder, shared):
    where = places(queues, cpus)
    assert (where.generator, where.forwarder, where.shared) == (generator, forwarder, shared)


def shares_of(asked, queues):
    """The flows of each of the generator's queues."""
    placement = generator_placement(asked, queues)
    return flows_of_queues(placed_flows(asked, placement), placement.sender_rss, queues)


@pytest.mark.parametrize("spread", ["even", "skewed:0.5", "random"])
def test_each_flow_is_on_the_queue_of_its_hash(spread):
    asked = settings("--spread", spread, "--flows", "256")
    shares, rss = shares_of(asked, 4), generator_placement(asked, 4).rss
    assert sum(map(len, shares)) == 256
    assert rss is not None
    for queue, flows in enumerate(shares):
        assert all(rss.queue_of(rss.hash_of(flow)) == queue for flow in flows)
    if spread == "even":
        assert [len(flows) for flows in shares] == [64] * 4
    if spread == "skewed:0.5":
        assert len(shares[0]) == 128


def test_the_load_is_the_line_shared_out_by_flows():
    asked = settings("--spread", "skewed:0.5", "--flows", "64")
    shares = shares_of(asked, 2)
    program = generator_program(Generator(3, 2), shares, asked.kind, 64, 10**10)
    rates = [stream["fps"] for stream in program["streams"]]
    assert sum(rates) == pytest.approx(10**10 / 8 / 84)
    assert rates[0] == pytest.approx(rates[1])
    (worker,) = program["workers"]
    assert worker["lcore"] == 3
    assert [(task["kind"], task["queue"]) for task in worker["tasks"]] == [
        ("rx", 0),
        ("rx", 1),
        ("tx", 0),
        ("tx", 1),
    ]
    values = [field["values"] for field in program["streams"][0]["fields"]]
    assert all(len(value) == 32 for value in values if len(value) > 1)
    free = generator_program(Generator(3, 2), shares, asked.kind, 64, None)
    assert [stream["fps"] for stream in free["streams"]] == [None, None]


def test_a_queue_without_flows_sends_nothing():
    asked = settings("--flows", "8", "-q", "2")
    flows = placed_flows(asked, generator_placement(asked, 2))
    program = generator_program(Generator(0, 2), [flows, []], asked.kind, 64, 10**10)
    assert [stream["name"] for stream in program["streams"]] == ["s0"]


def test_queues_are_dealt_to_the_forwarders_lcores():
    program = forwarder_program((5, 6), 4, 100, {0: 0})
    assert [
        (worker["lcore"], [task["queue"] for task in worker["tasks"]])
        for worker in program["workers"]
    ] == [(5, [0, 2]), (6, [1, 3])]
    assert program["workers"][0]["tasks"][0]["work_cycles"] == 100


def test_the_placement():
    asked = settings("--spread", "even", "--flows", "100", "-q", "1,4")
    placements = [generator_placement(asked, queues) for queues in asked.queues]
    placed = placement_document(asked, placements, [])
    assert [entry["flows"] for entry in placed["per_queue_flows"]] == [[100], [25] * 4]
    assert placed["per_queue_flows"][1]["max_over_mean"] == 1


TRIAL = TrialFigures(1e6, 2e6, 0.5, (1e6,), (0.99,), 100, 1, 0.5, 0, 0, 0, valid=True)
DONE = CellFigures(Cell(2, 100, 64), shared_cores=True, trials=(TRIAL,), binds="forwarder")


def test_what_is_done_is_kept(tmp_path):
    file, asked = tmp_path / "cells.jsonl", settings().document()
    assert read_done(file, asked) == {}
    begin(file, asked, {})
    append(file, DONE)
    failed = CellFigures(Cell(4, None, 64), shared_cores=True, reason="the peer left")
    append(file, failed)
    assert read_done(file, asked) == {DONE.cell: DONE}, "what failed is tried again"
    with file.open("a") as cut:
        cut.write('{"queues": 1, "wor')
    assert read_done(file, asked) == {DONE.cell: DONE}
    with pytest.raises(PlanError, match="another flows"):
        read_done(file, settings("--flows", "2048").document())
    file.write_text("something else\n")
    with pytest.raises(PlanError, match="not a file of cells"):
        read_done(file, asked)
    with pytest.raises(HostSetupError):
        begin(tmp_path / "no" / "where", asked, {})


def test_the_tables():
    text = tables(rss_document())
    lines = text.splitlines()
    at = lines.index("WORK=100 cycles")
    assert lines[at + 1] == "size                   64      128      256      512     1024"
    assert lines[at + 3].split() == [
        "1Q(1",
        "lcores)",
        "9333",
        "10000=",
        "10000=",
        "10000=",
        "10000=",
    ]
    assert lines[at + 4].split()[-3] == "x"
    assert lines[at + 6].split()[0] == "BaseLine"
    assert "failed: 2Q, work 100, 256 octets: the peer <left>" in text
    assert "* lcores shared CPUs" in text
    assert "g the generator" not in text, "marks that do not occur are not explained"
    assert "Fit 1Q: cycles = 80.0 + 1.010 work, residual 1.00 %, 4 cells" in text


def test_progress():
    cell = rss_document()["cells"][0]
    text = progress(cell, 1, 75, "3 min 2 s")
    assert text.startswith("[1/75] 1Q, work 100, 64 octets: 9333 Mbit/s, 13.889 Mframes/s")
    assert text.endswith("; 3 min 2 s left")


def test_csv():
    document = rss_document()
    document["cells"] = [DONE.document(), document["cells"][7]]
    rows = list(csv.DictReader(io.StringIO(csv_text(document))))
    assert (rows[0]["queues"], rows[0]["forwarding_fps"], rows[0]["trial"]) == (
        "2",
        "1000000.0",
        "0",
    )
    assert (rows[1]["status"], rows[1]["reason"]) == ("failed", "the peer <left>")
    assert len(rows) == 2


def test_the_document_of_a_cell_is_read_back():
    again = json.loads(json.dumps(DONE.document()))
    assert again["binds"] == "forwarder"
    assert replace(DONE, speed_up=2.0).document()["efficiency"] == 1.0
    assert rss.DESCRIPTION
