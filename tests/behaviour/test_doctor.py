# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate doctor` on the real machine, and the probes that read more than files."""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import wirerate
from wirerate.cli import doctor as command
from wirerate.errors import HostSetupError
from wirerate.host.findings import AREAS, Finding, error, ok, warning
from wirerate.host.memlock import probe_memlock
from wirerate.host.nics import Nic
from wirerate.host.tree import format_cpu_list, parse_cpu_list
from wirerate.host.user import probe_user
from wirerate.host.versions import probe_versions


def having(findings: list[Finding], part: str) -> Finding:
    [finding] = [finding for finding in findings if part in finding.text]
    return finding


def with_status(root: Path, text: str) -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/status").write_text(text)
    return root


# --- user, memory lock limit, CPU lists ---


@pytest.mark.parametrize(
    ("uid", "limit", "driver", "level"),
    [
        (0, (8 << 20, 8 << 20), "vfio-pci", "ok"),
        (1000, (8 << 20, 8 << 20), "ixgbe", "ok"),
        (1000, (8 << 20, 8 << 20), "vfio-pci", "warning"),
        (1000, (-1, -1), "vfio-pci", "ok"),
    ],
)
def test_memlock_matters_only_to_an_ordinary_user_with_vfio(uid, limit, driver, level):
    nics = [Nic("0000:03:00.0", driver=driver)]
    [finding] = probe_memlock(uid=uid, limit_octets=limit, nics=nics)
    assert finding.level == level
    assert bool(finding.fix) == (level == "warning")


def test_root_in_a_container_lacks_capabilities(tmp_path):
    [finding] = probe_user(
        with_status(tmp_path, "CapEff:\t00000000a80425fb\n"), uid=0
    )  # Docker's default set
    assert finding.level == "warning"
    assert "CAP_NET_ADMIN" in finding.text
    assert "CAP_NET_RAW" not in finding.text
    assert "--cap-add NET_ADMIN" in (finding.fix or "")


def test_an_ordinary_user_is_no_fault(tmp_path):
    [finding] = probe_user(with_status(tmp_path, "CapEff:\t0000000000000000\n"), uid=1000)
    assert (finding.level, finding.fix) == ("ok", None)
    assert "ring, null, pcap and memif" in finding.text


def test_cpu_lists():
    assert parse_cpu_list("0-2,8\n") == [0, 1, 2, 8]
    assert parse_cpu_list("(null)") == parse_cpu_list(None) == parse_cpu_list("-1") == []
    assert parse_cpu_list("70000-99999999,5") == [5]
    assert format_cpu_list([8, 0, 1, 2]) == "0-2,8"
    assert format_cpu_list([]) == "none"


# --- versions ----------------------------------------------------------------------------------


def test_versions_without_an_engine(tmp_path):
    why = HostSetupError("wirerate-engine is not installed; `make build` builds it")
    findings = probe_versions(tmp_path, engine=why, run=lambda _: (0, "23.11.2"))
    assert having(findings, "nothing can be measured: wirerate-engine is not").level == "error"
    assert having(findings, "DPDK").text == "DPDK 23.11.2 (pkg-config)"
    findings = probe_versions(tmp_path, engine=None, run=lambda _: (1, ""))
    assert having(findings, "no DPDK to build").level == "warning"


@pytest.mark.parametrize(
    ("answer", "level", "part"),
    [
        ((0, "wirerate-engine 0.1.0 (DPDK 22.11.11)"), "ok", "engine 0.1.0 (DPDK 22.11.11) at /x/"),
        ((0, "wirerate-engine 0.1.0"), "ok", "DPDK wirerate-engine 0.1.0 (pkg-config)"),
        ((1, "unknown option"), "error", "--version failed (1): unknown option"),
        ((127, "librte_eal.so.23: cannot open"), "error", "does not start: librte_eal.so.23"),
        ((-4, ""), "error", "instructions that this CPU does not have"),
        ((-1, "no answer within 5 s"), "error", "no answer"),
    ],
)
def test_versions_asks_the_engine(tmp_path, answer, level, part):
    findings = probe_versions(tmp_path, engine=Path("/x/wirerate-engine"), run=lambda _: answer)
    assert having(findings, part).level == level


def test_versions_runs_a_real_program(tmp_path):
    engine = tmp_path / "wirerate-engine"
    engine.write_text("#!/bin/sh\necho 'wirerate-engine 9.9 (DPDK 22.11.11)'\n")
    engine.chmod(0o755)
    assert having(probe_versions(tmp_path, engine=engine), "9.9").level == "ok"
    findings = probe_versions(tmp_path, engine=tmp_path / "absent")
    assert having(findings, "--version failed").level == "error"


# --- the command -------------------------------------------------------------------------------

SCRIPT = """
import argparse, sys
from wirerate.cli.doctor import add_parser
parser = argparse.ArgumentParser(prog="wirerate")
add_parser(parser.add_subparsers(required=True))
args = parser.parse_args()
sys.exit(args.run(args))
"""


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    source = str(Path(wirerate.__file__).parent.parent)
    return kept | {"PYTHONPATH": source, "TERM": "xterm"} | more


def doctor(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, "doctor", *arguments],
        capture_output=True, text=True, timeout=60, check=False, env=environment(**more),
    )  # fmt: skip


def on_a_terminal(**more: str) -> str:
    """Run the command with a pseudo-terminal as its standard output; return what it printed."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "doctor"], stdout=theirs, env=environment(**more)
    ):
        os.close(theirs)
        printed = b""
        try:
            while part := os.read(ours, 65536):
                printed += part
        except OSError:  # EIO: the other end is closed
            pass
    os.close(ours)
    return printed.decode()


def test_text_on_this_machine():
    done = doctor()
    assert done.stderr == ""
    *lines, last = done.stdout.splitlines()
    shapes = (r"(ok     |warning|error  )  (\S+) +\S.*", r" {9}fix: \S.*")
    assert all(any(re.fullmatch(shape, line) for shape in shapes) for line in lines)
    assert re.fullmatch(r"\d+ ok, \d+ warnings?, \d+ errors?", last)
    assert done.returncode == (3 if any(line.startswith("error") for line in lines) else 0)
    assert "\x1b" not in done.stdout


def test_json_on_this_machine():
    done = doctor("--json")
    document = json.loads(done.stdout)
    assert list(document) == ["schema", "findings", "summary"]
    assert document["schema"] == "wirerate-doctor/1"
    assert all(
        list(finding) == ["area", "level", "text", "fix"] for finding in document["findings"]
    )
    assert {finding["area"] for finding in document["findings"]} == set(AREAS)
    assert sum(document["summary"].values()) == len(document["findings"])
    assert done.returncode == (3 if document["summary"]["error"] else 0)


def test_colour_only_on_a_terminal_that_wants_it():
    assert "\x1b[32mok" in on_a_terminal()
    assert "\x1b" not in on_a_terminal(NO_COLOR="1")


def test_the_user_page_explains_every_area():
    page = (Path(__file__).parents[2] / "docs/doctor.md").read_text()
    assert re.findall(r"^\*\*(\w+)\*\*", page, re.MULTILINE) == list(AREAS)


def test_help_has_examples_and_exit_codes():
    text = doctor("--help").stdout
    assert "wirerate doctor --json" in text
    assert "Exit code" in text


@pytest.mark.parametrize(
    ("findings", "code"),
    [([ok("nics", "a"), warning("nics", "b")], 0), ([ok("nics", "a"), error("nics", "b", "c")], 3)],
)
def test_exit_code(monkeypatch, capsys, findings, code):
    monkeypatch.setattr(command, "examine", lambda **_: findings)
    assert command.run(argparse.Namespace(json=False)) == code
    assert capsys.readouterr().out.splitlines()[0] == "ok       nics       a"


def test_text_never_passes_control_characters_on():
    text = command.to_text([warning("nics", "a\x1b[2Jb\n")], colour=False)
    assert text.splitlines()[0] == "warning  nics       a?[2Jb?"


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become nobody")
def test_an_ordinary_user_is_served_too():
    # Imported first: this Python may lie in a folder that is closed to nobody.
    script = """
import os
import wirerate
from wirerate.host.doctor import examine
wirerate.__version__
os.setgroups([]); os.setgid(65534); os.setuid(65534)
print("\\n".join(f.text for f in examine()))
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True, text=True, timeout=60, check=False, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "ordinary user (uid 65534)" in done.stdout
