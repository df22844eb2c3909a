# SPDX-License-Identifier: BSD-3-Clause
"""The lab's guest side, as far as it needs no guest: checks, documents, the closing line."""

import json
import sys
from types import SimpleNamespace

import pytest

from lab.guest import main as guest_main
from lab.guest.checks import Checks
from lab.guest.guest import Ran
from lab.guest.results import reasons_against
from lab.machine import Machine


def test_each_check_is_a_line_and_counted(capsys):
    checks = Checks()
    assert checks.equal("link", 1, 1)
    assert not checks.equal("link", 0, 1)
    assert checks.between("rate", 5000, 4999, 5000)
    assert not checks.between("rate", 5001, 4999, 5000)
    assert checks.contains("words", "a b", "b")
    assert not checks.contains("words", "a b", "c")
    assert capsys.readouterr().out.splitlines() == [
        "ok   link: 1",
        "FAIL link: 0, and not 1",
        "ok   rate: 5,000",
        "FAIL rate: 5,001, and not 4,999 to 5,000",
        "ok   words: b",
        "FAIL words: no 'c' in",
        "a b",
    ]
    assert (checks.made, checks.failed) == (6, 3)


def test_a_document_that_is_none_is_shown_in_full():
    with pytest.raises(ValueError, match="exit code 3\nnot ready"):
        _ = Ran("wirerate perf", 3, "", "not ready").document


def test_only_what_emulation_explains_is_let_pass():
    reasons = ["port 0: load not offered: 1 of 2", "clock unsteady: 2 ms", "port 1: 3 frames lost"]
    assert reasons_against({"verdict": {"reasons": reasons}}) == ["port 1: 3 frames lost"]


@pytest.mark.parametrize(
    ("job", "ends"),
    [
        (lambda guest: guest.checks.equal("x", 1, 1), (0, "job: 1 checks, 0 failed")),
        (lambda guest: guest.checks.equal("x", 1, 2), (1, "job: 1 checks, 1 failed")),
        (lambda _: None, (1, "FAIL the job made no check")),
        (lambda guest: guest.address(0), (1, "IndexError")),
    ],
)
def test_how_a_job_ends(monkeypatch, capsys, tmp_path, job, ends):
    code, says = ends
    module = SimpleNamespace(MACHINE=Machine(nics=()), run=job)
    monkeypatch.setitem(sys.modules, "lab.jobs.job", module)
    monkeypatch.setattr(sys, "argv", ["main", "job", str(tmp_path / "checks.json")])
    monkeypatch.setattr("lab.guest.guest.Guest.set_up", lambda _: None)
    assert guest_main.main() == code
    assert says in capsys.readouterr().out
    made = 0 if "no check" in says else 1
    counted = json.loads((tmp_path / "checks.json").read_text())
    assert (counted["made"], len(counted["failures"])) == (made, made and code)
