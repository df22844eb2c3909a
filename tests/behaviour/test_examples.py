# SPDX-License-Identifier: BSD-3-Clause
"""The plans in examples/: each can be previewed without a fault in any frame, and run as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.host import needs, tshark
from support.verdicts import only_for_want_of_cpu
from wirerate.plan.decode import decode_plan
from wirerate.plan.document import load_document

FOLDER = Path(__file__).resolve().parents[2] / "examples"
PLANS = sorted(FOLDER.glob("*.yaml"))
FRAMES = 2000
FAULTS = " || ".join(
    [
        "_ws.malformed",
        "_ws.expert.severity >= 6291456",  # warnings and errors
        *(f'{name}.checksum.status == "Bad"' for name in ("ip", "tcp", "udp")),
    ]
)
MEMORY = ("ring:", "null:")


def name_of(path):
    return path.stem


def test_there_are_examples():
    assert len(PLANS) > 5


@pytest.mark.parametrize("path", PLANS, ids=name_of)
def test_an_example_needs_neither_nic_nor_privilege(path):
    plan = decode_plan(load_document(path), base=path.parent)
    assert [port.name for port in plan.ports if not port.location.text.startswith(MEMORY)] == []


@pytest.mark.parametrize("path", PLANS, ids=name_of)
def test_an_example_says_how_it_is_run(path):
    assert f"wirerate run examples/{path.name}" in path.read_text()


@needs("tshark")
@pytest.mark.parametrize("path", PLANS, ids=name_of)
def test_the_frames_of_an_example_are_faultless(program, tmp_path, path):
    out = tmp_path / "out.pcapng"
    done = program.run("preview", str(path), "-o", str(out), "-n", str(FRAMES))
    assert (done.code, done.err) == (0, "")
    assert len(tshark(out, ["frame.number"])) == FRAMES
    assert tshark(out, ["frame.number", "_ws.expert.message"], FAULTS) == []


@needs("tshark")
def test_the_judge_sees_faults(program, tmp_path):
    """The filter is not empty by mistake."""
    text = (FOLDER / "vxlan.yaml").read_text()
    wrong = text.replace("dst_port: {value: 9}", "dst_port: {value: 9}, checksum: {generated: bad}")
    assert wrong != text
    (tmp_path / "plan.yaml").write_text(wrong)
    out = tmp_path / "out.pcapng"
    done = program.run("preview", str(tmp_path / "plan.yaml"), "-o", str(out), "-n", "20")
    assert (done.code, done.err) == (0, "")
    assert len(tshark(out, ["frame.number"], FAULTS)) == 20


def test_an_example_is_run(program):
    """On a busy machine frames may go unsent; nothing else may be wrong."""
    done = program.run("run", str(FOLDER / "qinq-priorities.yaml"), "--duration", "500ms", "--json")
    assert (done.code, done.err) == (0, "")
    verdict, flows = done.document["verdict"], done.document["flows"]
    assert only_for_want_of_cpu(verdict)
    handled = {flow["name"]: flow["tx_frames"] + flow["tx_frames_unsent"] for flow in flows}
    assert handled == {
        "background": 10_000,
        "best-effort": 10_000,
        "video": handled["video"],
        "voice": 2500,
    }
    assert abs(handled["video"] - 50e6 / (1358 * 8) / 2) < 1
    (port,) = done.document["ports"]
    assert port["rx_frames"] == port["tx_frames"]
