# SPDX-License-Identifier: BSD-3-Clause
"""The options of a search, and how it is shown."""

from __future__ import annotations

import json
import math

import pytest

from wirerate.cli import perf_args
from wirerate.cli.converge_args import converge_words
from wirerate.cli.main import main, parse
from wirerate.errors import PlanError
from wirerate.plan.converge_settings import Converge, ConvergeTo
from wirerate.report.search_json import search_document
from wirerate.report.search_text import HEADER, outcome_lines, step_row
from wirerate.search.step import Bounds, Ended, Judgement, Outcome, Progress, Step

BOUNDS = Bounds(1e6, 2e6)
STEP = Step(2e6, 1.9e6, 0.001, 0.5, offered=False)
ABOVE = Progress(3, STEP, Judgement.ABOVE, BOUNDS, None)


def settings(*words):
    return perf_args.settings_from_args(parse(["perf", "ring:a", *words]), range(4))


def converge(*words):
    return settings("--converge", *words).converge


def test_without_the_option_there_is_no_search():
    assert settings().converge is None


def test_defaults():
    assert converge("loss") == Converge(ConvergeTo.LOSS, 0.0, 0.01, None, follow=False)
    assert settings("--converge", "loss").measure, "loss is measured"
    assert not settings("--converge", "cpu").measure


def test_all_options():
    loss = converge("loss", "--max-loss", "0.1%", "--tolerance", "3%", "--max-time", "1m")
    assert loss == Converge(ConvergeTo.LOSS, 0.001, 0.03, 60_000_000_000)
    assert converge("cpu", "--follow").follow


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--max-loss", "1%"], "add --converge loss"),
        (["--tolerance", "1%"], "--tolerance: there is no such search; add --converge,"),
        (["--max-time", "9"], "--max-time: there is no such search"),
        (["--follow"], "add --converge cpu"),
        (["--converge", "cpu", "--max-loss", "0"], "add --converge loss"),
        (["--converge", "loss", "--follow"], "add --converge cpu"),
        (["--converge", "loss", "--max-loss", "100%"], "give less than 100%"),
        (["--converge", "loss", "--max-loss", "-1"], "--max-loss '-1'"),
        (["--converge", "loss", "--tolerance", "0"], "not between 0.01% and 50%"),
        (["--converge", "loss", "--tolerance", "51%"], "not between 0.01% and 50%"),
        (["--converge", "loss", "--max-time", "soon"], "--max-time 'soon'"),
    ],
)
def test_what_does_not_fit(words, part):
    with pytest.raises(PlanError) as refused:
        settings(*words)
    assert part in str(refused.value)


def test_an_unknown_search(capsys):
    assert main(["perf", "ring:a", "--converge", "fast"]) == 2
    assert "--converge" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--converge", "loss"],
        ["--converge", "loss", "--max-loss", "0.001", "--tolerance", "0.5"],
        ["--converge", "cpu", "--max-time", "1500000us", "--follow"],
    ],
)
def test_words_say_the_same(words):
    assert converge_words(settings(*words).converge) == words
    assert converge_words(None) == []


def test_a_plan_that_is_shown_is_searched_with(capsys):
    assert main(["perf", "ring:a", "-r", "1Mpps", "--converge", "loss", "--show-plan"]) == 0
    out = capsys.readouterr().out
    assert "PLAN --converge loss" in out
    assert "metrics" in out


def test_rows_stand_below_their_header():
    row = step_row(ABOVE)
    ends = {"asked fps": "2,000,000", "offered fps": "1,900,000", "loss": "0.1%", "CPU": "0.500"}
    ends |= {"lower fps": "1,000,000", "upper fps": "2,000,000"}
    at = 0
    for title, value in ends.items():
        at = HEADER.index(title, at) + len(title)
        assert row[:at].endswith(value), title
    assert row.endswith("above: could not be sent")


def test_rows_without_figures():
    step = Step(math.inf, 5e6, valid=False, reasons=("the link is down", "x"))
    bounds = Bounds(1.0, math.inf)
    row = step_row(Progress(1, step, Judgement.INVALID, bounds, None)).splitlines()
    assert row[0].split() == ["1", "all", "5,000,000", "-", "-", "1", "all", "invalid"]
    assert [line.strip() for line in row[1:]] == ["- the link is down", "- x"]


def test_outcomes():
    found = Outcome(Ended.CONVERGED, "between", 1e6, STEP, BOUNDS)
    assert outcome_lines(found) == [
        "Found: 1,000,000 frames/s (converged: between)",
        "  too high, or not tried: 2,000,000 frames/s",
    ]
    nothing = Outcome(Ended.TIME, "the time was up", None, None, Bounds(1.0, math.inf))
    assert outcome_lines(nothing) == ["Found: no rate (time: the time was up)"]


def test_the_document_is_json():
    asked = Converge(ConvergeTo.LOSS, 0.001)
    unpaced = Progress(1, Step(math.inf, 3e6, 0.5), Judgement.ABOVE, Bounds(1, math.inf), None)
    outcome = Outcome(Ended.CONVERGED, "between", 1e6, STEP, BOUNDS)
    document = json.loads(json.dumps(search_document(asked, outcome, [unpaced, ABOVE])))
    assert (document["converge"], document["max_loss"], document["fps"]) == ("loss", 0.001, 1e6)
    assert (document["ended"], document["reason"]) == ("converged", "between")
    assert document["bounds"] == {"lower_fps": 1e6, "upper_fps": 2e6}
    first, second = document["steps"]
    assert (first["intended_fps"], first["bounds"]["upper_fps"]) == (None, None)
    assert (second["step"], second["judgement"], second["offered"]) == (3, "above", False)
    assert (second["utilisation"], second["loss_ratio"]) == (0.5, 0.001)
