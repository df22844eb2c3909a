# SPDX-License-Identifier: BSD-3-Clause
"""Which of the lab's jobs are run, the table at the end and its exit code."""

import sys

import pytest

from lab import lab
from lab.host.packages import LabUnavailableError
from lab.table import Outcome, selected, table, worst

PASSED = Outcome(0, checks=49, seconds=63.6)
FAILED = Outcome(1, checks=1018, failed=("link: 0, and not 1", "text: no 'x' in\na b"), seconds=9)
CANNOT = Outcome(3, reason="NICs of several queues take TAPs")
DIED = Outcome(4, reason="QEMU ended with -6\n  it said:", again=True, seconds=1200)


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (["all"], ["perf", "rss", "vf"]),
        (["rss"], ["rss"]),
        (["rss", "perf", "rss"], ["rss", "perf"]),
        (["vf", "all"], ["vf", "perf", "rss"]),
        (["all", "vf"], ["perf", "rss", "vf"]),
    ],
)
def test_all_is_every_job_and_each_is_run_once(asked, names):
    assert selected(asked, {"perf": "", "rss": "", "vf": ""}) == names


def test_a_job_that_is_none_is_named_with_those_that_are():
    with pytest.raises(LookupError, match="no job peff; there are perf, rss, and all"):
        selected(["all", "peff"], ["perf", "rss"])


def test_a_row_for_each_job_and_a_line_for_each_reason():
    outcomes = {"perf": PASSED, "rss": FAILED, "virtio": CANNOT, "kill9": DIED}
    assert table(outcomes).splitlines() == [
        "job     result      seconds  checks  failed  reasons",
        "perf    passed           64      49       0",
        "rss     failed            9   1,018       2  link: 0, and not 1",
        "                                             text: no 'x' in",
        "virtio  cannot run        0       0       0  NICs of several queues take TAPs",
        "kill9   died          1,200       0       0  a second try, after a known fault of QEMU's",
        "                                             QEMU ended with -6",
        "4 jobs: 1 passed, 1 failed, 1 cannot run, 1 died; 1,067 checks, 1,273 s",
    ]


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([PASSED], 0),
        ([PASSED, CANNOT], 3),
        ([CANNOT, FAILED, PASSED], 1),
        ([FAILED, DIED, CANNOT], 4),
        ([FAILED, Outcome(130)], 130),
    ],
)
def test_the_exit_code_is_the_gravest(outcomes, code):
    assert worst(outcomes) == code


@pytest.fixture
def lab_of(monkeypatch):
    """The lab's main(), each job's outcome given; returns its exit code."""

    def run(outcomes, *arguments):
        ends = iter(outcomes)

        def run_job(*_):
            if (outcome := next(ends)) is None:
                raise KeyboardInterrupt
            return outcome

        monkeypatch.setattr(lab, "listing", lambda: {"perf": "One.", "rss": "Two.", "vf": "Three."})
        monkeypatch.setattr(lab, "prepare", lambda _: None)
        monkeypatch.setattr(lab, "_machine", lambda _: None)
        monkeypatch.setattr(lab, "run_job", run_job)
        monkeypatch.setattr(sys, "argv", ["lab", *arguments])
        return lab.main()

    return run


def test_all_runs_on_after_a_failure_and_its_exit_code_counts(lab_of, capsys):
    assert lab_of([FAILED, PASSED, CANNOT], "all") == 1
    lines = capsys.readouterr().out.splitlines()
    assert "lab: perf: failed (exit code 1) after 9 s" in lines
    assert "lab: rss: passed after 64 s" in lines
    assert lines[-1] == "3 jobs: 1 failed, 1 passed, 1 cannot run; 1,067 checks, 73 s"


def test_one_job_has_no_table(lab_of, capsys):
    assert lab_of([PASSED], "rss") == 0
    assert capsys.readouterr().out.splitlines() == ["lab: rss: Two.", "lab: rss: passed after 64 s"]


def test_ctrl_c_shows_what_was_run(lab_of, capsys):
    assert lab_of([PASSED, None], "all") == 130
    out = capsys.readouterr().out
    assert "rss   not run" in out
    assert "3 jobs: 1 passed, 2 not run" in out


def test_no_such_job(lab_of, capsys):
    assert lab_of([], "all", "pref") == 2
    assert capsys.readouterr().err == "lab: no job pref; there are perf, rss, vf, and all\n"


@pytest.mark.parametrize(("option", "code"), [((), 3), (("--or-skip",), 0)])
def test_where_there_can_be_no_lab_the_reason_is_printed(monkeypatch, capsys, option, code):
    def unavailable(_):
        raise LabUnavailableError("no mirror")

    monkeypatch.setattr(lab, "prepare", unavailable)
    monkeypatch.setattr(sys, "argv", ["lab", *option, "all"])
    assert lab.main() == code
    out, err = capsys.readouterr()
    assert "there can be no lab here: no mirror" in out + err
