# SPDX-License-Identifier: BSD-3-Clause
"""--floor, --histogram, --settle, --warm-up: read, checked, refused."""

from __future__ import annotations

import json

import pytest

from wirerate.cli.latency_args import floor_ns
from wirerate.cli.main import main, parse
from wirerate.cli.perf_args import settings_from_args as perf_settings
from wirerate.errors import PlanError


def settings(*words):
    return perf_settings(parse(["perf", "ring:a", *words]), [1, 2])


def result(tmp_path, **latency):
    path = tmp_path / "direct.json"
    made = {"total": {"latency_ns": {"min": 412.5, "floor_ns": 0.0} | latency}}
    path.write_text(json.dumps(made))
    return path


def test_defaults():
    made = settings()
    assert (made.settle_ns, made.warm_up_ns) == (2 * 10**9, 0)
    assert (made.histogram, made.floor_ns) == (None, 0.0)


def test_all_of_them(tmp_path):
    file = tmp_path / "latency.hlog"
    words = ["--settle", "500ms", "--warm-up", "2", "--histogram", str(file), "--floor", "350ns"]
    made = settings(*words)
    assert (made.settle_ns, made.warm_up_ns) == (5 * 10**8, 2 * 10**9)
    assert (made.histogram, made.floor_ns) == (file, 350.0)


def test_a_floor_may_be_a_result(tmp_path):
    assert settings("--floor", str(result(tmp_path))).floor_ns == 412.5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("350", "more than a second; give the unit too"),
        ("0ns", "zero"),
        ("soon", "not understood"),
        ("missing.json", "No such file"),
    ],
)
def test_a_floor_that_is_none(text, says):
    with pytest.raises(PlanError, match=says):
        floor_ns(text)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[1]", "it is no result"),
        ("{}", "it has no total.latency_ns.min"),
        ('{"total": null}', "it has no total.latency_ns.min"),
        ('{"total": [1]}', "it has no total.latency_ns.min"),
        ('{"total": {"latency_ns": {"min": null}}}', "it has no total.latency_ns.min"),
        ('{"total": {"latency_ns": {"min": true}}}', "it has no total.latency_ns.min"),
        ('{"total": {"latency_ns": {"min": NaN}}}', "it has no total.latency_ns.min"),
        ('{"total": {"latency_ns": {"min": -1}}}', "it has no total.latency_ns.min"),
    ],
)
def test_a_file_that_is_no_result(tmp_path, content, says):
    path = tmp_path / "direct.json"
    path.write_text(content)
    with pytest.raises(PlanError, match=says) as refused:
        floor_ns(str(path))
    assert str(path) in str(refused.value)


def test_a_floor_is_not_taken_off_twice(tmp_path):
    with pytest.raises(PlanError, match="a floor has been taken off that result itself"):
        floor_ns(str(result(tmp_path, floor_ns=100.0)))


def test_a_histogram_needs_a_folder(tmp_path, capsys):
    for place in (tmp_path, tmp_path / "none/latency.hlog"):
        assert main(["perf", "ring:a", "--histogram", str(place), "--show-plan"]) == 2
        assert "--histogram" in capsys.readouterr().err


def test_the_shown_plan_is_run_in_the_same_way(capsys):
    words = ["--settle", "3s", "--warm-up", "1ms", "--floor", "350ns"]
    assert main(["perf", "ring:a", *words, "--show-plan"]) == 0
    shown = capsys.readouterr().out.splitlines()[1]
    assert shown.endswith("--warm-up 1000us --settle 3000000us --floor 350ns")
