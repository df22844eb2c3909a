# SPDX-License-Identifier: BSD-3-Clause
"""What the documents show is so: command lines, options, fields of the JSON document, links."""

import argparse
import itertools
import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from wirerate.cli import perf_args
from wirerate.cli.main import build_parser, parse
from wirerate.engine.counters import Histogram
from wirerate.plan.model import Plan
from wirerate.plan.program import FlowPlan, PortPlan
from wirerate.report.perf_json import SCHEMA, document
from wirerate.trial.cpu import CpuUse
from wirerate.trial.result import RunResult, flow_results, port_results
from wirerate.trial.session import Session
from wirerate.trial.snapshot import Device, Port, RxQueue, Snapshot, TxQueue
from wirerate.trial.verdict import Verdict

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PERF = ROOT / "docs/perf.md"
LCORES = range(64)

FENCE = re.compile(r"^```[a-z]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ )?(?:sudo )?(?:\.venv/bin/)?wirerate (.*)$")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page):
    """Fenced text, lines that end in a backslash joined."""
    return [block.replace("\\\n", " ") for block in FENCE.findall(page.read_text())]


def spans(page):
    """Code within a line."""
    return re.findall(r"`([^`\n]+)`", FENCE.sub("", page.read_text()))


def command_lines(page):
    """The words after `wirerate` of every command line shown, up to a pipe."""
    shown = [line for block in blocks(page) for line in block.splitlines()]
    for line in [*shown, *spans(page)]:
        found = COMMAND.match(line.strip())
        if found and "…" not in line:
            words = shlex.split(found[1], comments=True)
            yield list(itertools.takewhile(lambda word: word not in {"|", ">", "&&"}, words))


COMMANDS = [(page, words) for page in PAGES for words in command_lines(page)]


def id_of(value):
    return name_of(value) if isinstance(value, Path) else " ".join(value)


def test_there_are_command_lines():
    assert sum(page == ROOT / "README.md" for page, _ in COMMANDS) > 8
    assert sum(page == PERF for page, _ in COMMANDS) > 4


@pytest.mark.parametrize(("page", "words"), COMMANDS, ids=id_of)
def test_command_lines_are_understood(page, words):
    del page
    if "--help" in words or "--version" in words:
        with pytest.raises(SystemExit) as end:
            parse(words)
        assert end.value.code == 0
        return
    args = parse(words)
    if args.command == "perf":
        perf_args.settings_from_args(args, LCORES)


def perf_parser():
    subparsers = next(
        action
        for action in build_parser("perf")._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return subparsers.choices["perf"]


def test_every_option_of_perf_is_described():
    section = PERF.read_text().split("\n## Options\n")[1].split("\n## ")[0]
    described = set(re.findall(r"`(-[^` ]+)`", section))
    options = {text for action in perf_parser()._actions for text in action.option_strings}
    assert options - described == set()
    own = {word for row in section.splitlines() for word in re.findall(r"^\| `(-[^`]+)`", row)}
    assert own - options == set(), "described, but not there"


def test_every_location_kind_is_described():
    section = PERF.read_text().split("\n## Locations\n")[1].split("\n## ")[0]
    from wirerate.plan.location import _FORMS

    assert set(re.findall(r"^\| `([^`]+)`", section, re.MULTILINE)) == set(_FORMS.values())


def fake(kind, **given):
    """An instance of a dataclass: what is given, 1 in all other fields."""
    return kind(**{field.name: 1 for field in fields(kind)} | given)


def tiny_document():
    """The document of one port that sent and received a frame, paced."""
    histogram = Histogram((0, 1, 0), 5)
    tx = fake(TxQueue, stream="s0", burst_cycles=histogram, lateness_cycles=histogram)
    port = Port("p0", (fake(RxQueue, frames=2, last_tsc=2),), (tx,), fake(Device))
    final = fake(Snapshot, ports=(port,), workers=())
    plan = fake(PortPlan, index=0, name="p0", rx_lcores=(1,), tx_lcores=(1,))
    flow = fake(FlowPlan, name="s0", port=0, intended_fps=1.0)
    info = {"driver": "net_ring", "mac": "02:57:52:00:00:00"}
    engine = {"version": "0.1.0", "dpdk": "DPDK", "transmit": "static", "hugepages": True}
    session = fake(
        Session, plan=Plan((), ()), ports=(plan,), flows=(flow,), infos={"p0": info}, about=engine
    )
    result = RunResult(
        session,
        flow_results(final, [flow]),
        port_results(final, [plan], [flow]),
        Verdict(("a reason",), ("a note",)),
        final,
        CpuUse(None, ()),
    )
    return document(result, 64)


def paths(value, path=""):
    """The paths of all leaves: ports[].device.link_up."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from paths(value[0], f"{path}[]")
    else:
        yield path


def expanded(text):
    """a.{b,c} is a.b and a.c."""
    parts = re.split(r"\{([^}]*)\}", text)
    choices = [part.split(",") if at % 2 else [part] for at, part in enumerate(parts)]
    return {"".join(chosen) for chosen in itertools.product(*choices)}


def test_the_json_document_is_described_field_by_field():
    section = PERF.read_text().split("\n## The JSON document\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)`", section, re.MULTILINE)
    described = set().union(*map(expanded, rows))
    assert described == set(paths(tiny_document()))
    assert SCHEMA in section


def anchors(page):
    """What GitHub makes of headings: lower case, no punctuation, dashes for blanks."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text())
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        assert found.is_relative_to(ROOT), target
        if anchor:
            assert anchor in anchors(found), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_named_sources_exist(page):
    """`worker/tx_task.h`, `cli/main.py`, `tools/setup.sh` name files of this repository."""
    places = [ROOT, ROOT / "engine", ROOT / "src/wirerate"]
    for span in spans(page):
        if re.fullmatch(r"[a-z_]+/[a-z0-9_/.-]+\.(?:c|h|py|sh|md|build|json)", span):
            where = [place for place in places if (place / span).is_file()]
            assert where or span.startswith("build/"), span
