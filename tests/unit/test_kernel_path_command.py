# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate kernel-path` prints, writes and returns, with a made-up measurement."""

from __future__ import annotations

import json
import re

import pytest

from support.kernel_path_document import absent_row, kernel_path_document, linux_row, measured_row
from wirerate.cli import kernel_path as command
from wirerate.cli.main import main
from wirerate.cli.output_args import check_outputs
from wirerate.errors import HostSetupError
from wirerate.methods.kernel_groups import CannotRun
from wirerate.methods.kernel_leftovers import Leftover

NO_KNI = CannotRun("no kni", "modprobe kni")
GOOD = [linux_row(), absent_row("kni", "shared", "cannot run", "no kni", "modprobe kni")]


class MadeUp:
    """A measurement of these rows, stopped after the first where asked."""

    rows = GOOD
    stops = False

    def __init__(self, _settings, say, done):
        self.say, self.done, self.stopped = say, done, False

    def stop(self):
        self.stopped = True

    def run(self):
        for row in self.rows:
            self.say("1/2 linux: TCP read, 1 of 3")
            self.done(row)
            if self.stops:
                self.stop()
        return kernel_path_document(rows=self.rows)


@pytest.fixture(autouse=True)
def _made_up(monkeypatch):
    monkeypatch.setattr(command, "KernelPath", MadeUp)
    monkeypatch.setattr(command, "check_tools", lambda: None)
    monkeypatch.setattr(command, "lacking_tools", lambda: None)
    monkeypatch.setattr(
        command, "cannot_run", lambda group, *_: NO_KNI if group.value == "kni" else None
    )
    monkeypatch.setattr(command, "dpdk_version", lambda: "DPDK 24.11.0")
    monkeypatch.setattr(MadeUp, "rows", GOOD)
    monkeypatch.setattr(MadeUp, "stops", False)


def run(*words):
    return main(["kernel-path", "--groups", "linux,kni", "--modes", "shared", *words])


def test_rows_as_they_are_done_then_tables(capsys):
    assert run() == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert re.match(r"2 rows, 1 of which can run here: some \d+ (min|s)", lines[0])
    assert lines[1].startswith("[1/2] linux: TCP read 9.47, TCP write 10.42, ")
    assert lines[2] == "[2/2] kni: cannot run: no kni"
    assert "kni: no kni; to change it: modprobe kni" in out
    assert "\x1b" not in out + err, "no terminal, nothing in place"


def test_what_is_being_done_is_shown_in_place(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "31")
    assert run("--json") == 0
    out, err = capsys.readouterr()
    json.loads(out)
    steps = err.split("\r\x1b[K")
    assert steps[1] == "1/2 linux: TCP read, 1 of 3; 53 s left"[:30]
    assert steps[-1] == "", "the line is gone at the end"
    assert "\n" not in "".join(steps[1:])


def test_json_alone(capsys):
    assert run("--json") == 0
    assert json.loads(capsys.readouterr().out) == kernel_path_document(rows=GOOD)


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (measured_row("tap", "shared", 1.0), 0),
        (absent_row("tap", "shared", "failed", "it died"), 1),
        (measured_row("tap", "shared", 1.0) | {"tests": {"tcp_read": {"status": "failed"}}}, 1),
    ],
)
def test_what_failed_is_the_exit_code(monkeypatch, capsys, row, code):
    for test in row["tests"].values():
        test.setdefault("reason", "no connection")
    monkeypatch.setattr(MadeUp, "rows", [linux_row(), row])
    assert run() == code
    assert ("failed" in capsys.readouterr().out) == bool(code)


def test_stopped(monkeypatch, capsys):
    monkeypatch.setattr(MadeUp, "stops", True)
    assert run() == 130
    assert "9.47" in capsys.readouterr().out, "what is done is printed"


def test_files(tmp_path):
    csv, page, plots = (tmp_path / name for name in ("x.csv", "x.html", "plots"))
    assert run("--csv", str(csv), "--report", str(page), "--plots", str(plots)) == 0
    assert csv.read_text().startswith("group,mode,status,")
    assert "linux" in page.read_text()
    assert len(list(plots.iterdir())) == 8


def test_nothing_measured_has_no_report(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(MadeUp, "rows", GOOD[1:])
    page = tmp_path / "x.html"
    assert run("--report", str(page)) == 3, "no row can run here"
    assert not page.exists()
    assert "nothing was measured, so there is no report" in capsys.readouterr().err


def test_list(capsys):
    assert run("--list") == 0
    linux, kni, *_ = capsys.readouterr().out.splitlines()
    assert linux.split() == ["linux", "can", "run"]
    assert kni == "kni    cannot run: no kni; to change it: modprobe kni"
    assert run("--list", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found[0] == {"group": "linux", "reason": "", "hint": ""}


def test_list_says_no_of_groups_that_lack_but_root_or_a_program(monkeypatch, capsys):
    monkeypatch.setattr(command, "lacking_tools", lambda: CannotRun("no root", "sudo"))
    assert run("--list") == 0
    linux, kni, *_ = capsys.readouterr().out.splitlines()
    assert linux == "linux  cannot run: no root; to change it: sudo"
    assert "no kni" in kni, "what would remain is told first"


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ("linux", "1 row: some "),
        ("kni", "1 row, none of which can run here\n"),
        ("linux,tap", "2 rows: some "),
    ],
)
def test_how_many_rows_can_run(capsys, groups, said):
    run("--groups", groups)
    assert capsys.readouterr().out.startswith(said)


def test_what_cannot_be_written_is_refused_before(tmp_path, capsys):
    there = tmp_path / "there.csv"
    there.write_text("kept")
    for words, said in (
        (("--plots", "/proc/no/plots"), "--plots '/proc/no/plots': cannot be written"),
        (("--csv", "/proc/no.csv"), "--csv '/proc/no.csv': cannot be written"),
        (("--csv", str(there), "--report", str(there)), "--csv and --report are both"),
    ):
        assert run(*words) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert said in err
    assert there.read_text() == "kept"


def test_trying_what_can_be_written_leaves_nothing(tmp_path):
    folder = tmp_path / "new" / "plots"
    check_outputs({"--csv": tmp_path / "x.csv", "--report": None}, {"--plots": folder})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "warned"),
    [
        (("--udp-length", "1472"), False),
        (("--udp-length", "1473"), True),
        (("--udp-length", "1453", "--ipv6"), True),
    ],
)
def test_datagrams_larger_than_a_frame_are_warned_of(capsys, words, warned):
    assert run(*words) == 0
    assert ("in fragments" in capsys.readouterr().err) == warned


def test_cleanup(monkeypatch, capsys, tmp_path):
    found = [Leftover(4711, tmp_path / "wr-kp-4711.json", ("wr-kp-4711-far",))]
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(command, "find_leftovers", lambda: found)
    monkeypatch.setattr(
        command, "remove_leftovers", lambda some: [name for one in some for name in one.namespaces]
    )
    assert run("--cleanup") == 0
    assert capsys.readouterr().out == "Removed: wr-kp-4711-far\n"
    found.clear()
    assert run("--cleanup") == 0
    assert capsys.readouterr().out == "Nothing is left of killed runs.\n"
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert run("--cleanup") == 3
    assert "run it with sudo" in capsys.readouterr().err


def test_what_is_missing_is_told_before_anything_starts(monkeypatch, capsys):
    def missing():
        raise HostSetupError("iperf3 missing: apt-get install iperf3")

    monkeypatch.setattr(command, "check_tools", missing)
    assert run() == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "wirerate: error: iperf3 missing: apt-get install iperf3\n"
