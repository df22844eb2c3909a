# SPDX-License-Identifier: BSD-3-Clause
"""What the documents show is so: command lines, options, fields of the JSON document, links."""

import argparse
import itertools
import re
import shlex
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.bridges import bridge_of, end_of
from support.forwarders import (
    ANSWERED,
    accounted_peer,
    counts,
    look,
    ready_of,
    result_of,
    settings_of,
)
from support.kernel_path_document import kernel_path_document
from support.made_up import ENVIRONMENT
from support.rss_device import SENDER, RssDevice
from wirerate.cli import flows_args, perf_args
from wirerate.cli.main import build_parser, parse
from wirerate.cli.rss_args import settings_of as rss_settings_of
from wirerate.engine.counters import Histogram
from wirerate.plan.kernel_path_settings import Transfer
from wirerate.plan.location import parse_location
from wirerate.plan.model import Plan, PlanPort
from wirerate.plan.placement import place
from wirerate.plan.program import FlowPlan, PortPlan
from wirerate.plan.replay_document import TraceFacts
from wirerate.report import (
    bridge_json,
    flows_json,
    forward_json,
    perf_json,
    replay_view,
    rss_json,
    run_json,
)
from wirerate.report.flows_live import LatencyLook, Look
from wirerate.trial.bridge_look import BridgeLook
from wirerate.trial.cpu import CpuUse
from wirerate.trial.cpu_lost import LcoreTime
from wirerate.trial.ready_plan import ReadyPlan
from wirerate.trial.result import RunResult, flow_results, port_results, total_received
from wirerate.trial.rss_check import check_rss
from wirerate.trial.snapshot import (
    Device,
    FlowQueue,
    Port,
    Replies,
    RxQueue,
    Snapshot,
    TxQueue,
)
from wirerate.trial.verdict import Verdict

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PERF = ROOT / "docs/perf.md"
EXAMPLES = sorted(ROOT.glob("examples/*.yaml"))
LCORES = range(64)

FENCE = re.compile(r"^```[a-z]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMES = (["run"], ["replay"], ["preview"], ["report"], ["rss"], ["bridge"])
"""Commands that need more words, so alone they are no command line."""
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
    if words in NAMES:
        assert f"`wirerate {words[0]}`" in page.read_text(), "a name in a sentence only"
        return
    if "--help" in words or "--version" in words:
        with pytest.raises(SystemExit) as end:
            parse(words)
        assert end.value.code == 0
        return
    args = parse(words)
    if args.command == "perf":
        perf_args.settings_from_args(args, LCORES)


def section_of(command, title):
    """The text below a heading of a command's page."""
    return (ROOT / f"docs/{command}.md").read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]


def options_of(command):
    """All spellings of each option."""
    subparsers = next(
        action
        for action in build_parser(command)._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return [set(action.option_strings) for action in subparsers.choices[command]._actions]


WITH_OPTIONS = [
    *("perf", "run", "replay", "preview", "forward", "reflect", "bridge", "report", "rss", "flows"),
    "kernel-path",
]


@pytest.mark.parametrize("command", WITH_OPTIONS)
def test_every_option_is_described(command):
    """A page with options of another one's may name one spelling of each."""
    section = section_of(command, "Options")
    described = {
        span.split("=")[0].split("[")[0]
        for row in re.findall(r"^\| (`-[^|]*) \|", section, re.MULTILINE)
        for span in re.findall(r"`(-[^` ]+)", row)
    }
    options = options_of(command)
    missing = [option for option in options if option and not option & described]
    assert missing == ([] if command in {"perf", "run"} else [{"-h", "--help"}])
    assert described - set().union(*options) == set(), "described, but not there"
    if command == "perf":
        assert set().union(*options) - described == set(), "the page that others refer to"


def test_every_location_kind_is_described():
    section = PERF.read_text().split("\n## Locations\n")[1].split("\n## ")[0]
    from wirerate.plan.location import _FORMS, _VHOST_NET_FORM

    described = set(re.findall(r"^\| `([^`]+)`", section, re.MULTILINE))
    assert described == {*_FORMS.values(), _VHOST_NET_FORM}


def fake(kind, **given):
    """An instance of a dataclass: what is given, 1 in all other fields."""
    return kind(**{field.name: 1 for field in fields(kind)} | given)


def tiny_result():
    """One port that sent and received a frame, paced."""
    histogram = Histogram.of_words((0, 1, 0), 5)
    tx = fake(TxQueue, stream="s0", burst_cycles=histogram, lateness_cycles=histogram)
    rx = fake(RxQueue, frames=2, last_tsc=2)
    back = fake(FlowQueue, stream="s0", latency_cycles=histogram)
    port = Port("p0", (rx,), (tx,), fake(Device), (back,), fake(Replies))
    final = fake(Snapshot, ports=(port,), workers=())
    plan = fake(PortPlan, index=0, name="p0", rx_lcores=(1,), tx_lcores=(1,))
    flow = fake(FlowPlan, name="s0", port=0, intended_fps=1.0, measured=True, rx_ports=(0,))
    info = {
        "driver": "net_ring",
        "mac": "02:57:52:00:00:00",
        "firmware": "",
        "socket": 0,
        "rx_clock": "tsc",
        "tx_loop": {"driver": "igb", "proven": True, "descriptors": 8, "laps": 2},
        "flow_control": "none",
    }
    engine = {"version": "0.1.0", "dpdk": "DPDK", "transmit": "static", "hugepages": True}
    whole = Plan((fake(PlanPort, name="p0", location=parse_location("ring:p0")),), ())
    ready = fake(
        ReadyPlan,
        plan=whole,
        settings=SimpleNamespace(engine="normal"),
        ports=(plan,),
        flows=(flow,),
        infos={"p0": info},
        about=engine,
        placements={"p0": place("port 0", 0, [1], [1], {1: 0})},
    )
    flows = flow_results(final, [flow])
    return RunResult(
        ready,
        flows,
        port_results(final, [plan], [flow]),
        Verdict(("a reason",), ("a note",)),
        final,
        CpuUse(1.0, ((1, 1.0),), (LcoreTime(1, 1.0, 0.0, 0.0),)),
        total_received(final, flows),
        ENVIRONMENT,
        ({"path": "/captures/a.pcap", "frames": 1},),
        accounted_peer(),
    )


def tiny_forwarder():
    """A forwarder that answered and captured."""
    words = ("forward", "null:a", "null:b", "-m", "1.0", "--one-way", "--address", "10.0.0.2")
    ready = ready_of(settings_of(*words, "--capture", "/x.pcap"))
    result = result_of(ready, look(counts(), answers={"p0": ANSWERED}))
    return replace(result, captured={"/x.pcap": 5})


def tiny_check():
    """A device that does something else than it says."""
    settings = rss_settings_of(parse(["rss", "--check", "null:a", "null:b", "-q4", "--steer"]))
    device = RssDevice((1, 0), said_reta=(0, 1))
    return check_rss(device, settings, {"version": "0", "dpdk": "DPDK"}, [SENDER, device.info])


def tiny_way_document(command):
    """Of what passes frames on."""
    if command == "forward":
        return forward_json.document(tiny_forwarder(), ENVIRONMENT)
    look = BridgeLook(at_ns=0, busy_ns={1: 1})
    return bridge_json.document(bridge_of(), end_of(look), ENVIRONMENT)


def tiny_document(command):
    """What the command prints of it with --json."""
    made: dict[str, Any] = {
        "rss": lambda: rss_json.document(tiny_check(), ENVIRONMENT),
        "kernel-path": kernel_path_document,
        "forward": lambda: tiny_way_document(command),
        "bridge": lambda: tiny_way_document(command),
    }
    if command in made:
        return made[command]()
    result = tiny_result()
    if command == "perf":
        return perf_json.document(result, 64)
    if command == "run":
        return run_json.document(result)
    if command == "flows":
        settings, _ = flows_args.settings_from_args(parse(["flows"]), LCORES)
        result = replace(result, ready=replace(result.ready, settings=settings))
        look = fake(Look, tx=(), rx=(), busy=(), latency=fake(LatencyLook))
        return flows_json.document(result, settings, [look])
    facts = replace(fake(TraceFacts), format="pcap")
    return replay_view.ReplayView(Path("trace.pcap"), facts, by_times=False).document(result)


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


SCHEMAS = {
    "perf": perf_json.SCHEMA,
    "run": run_json.SCHEMA,
    "replay": replay_view.SCHEMA,
    "forward": forward_json.SCHEMA,
    "bridge": bridge_json.SCHEMA,
    "rss": rss_json.SCHEMA,
    "flows": flows_json.SCHEMA,
    "kernel-path": "wirerate-kernel-path/1",
}
WHOLE = {
    "replay": ("environment", "ports[].device", "total.lcores_busy", "total.lcores_cpu_lost"),
    "forward": ("environment", "ports[].device"),
    "bridge": ("environment", "ports[].device", "counters.busy_ns"),
    "rss": (
        "environment",
        "receiver.rss",
        *(f"imbalance.{which}" for which in ("predicted", "observed")),
        *(f"steering[].{which}" for which in ("rule", "before", "after")),
    ),
    "flows": (
        *("verdict", "environment", "flows", "total", "ports", "cpu", "engine", "peer"),
        "traffic",
        *(f"ends.{end}" for end in ("client_tx", "client_rx", "server_rx", "server_tx")),
        "series[].latency_ns",
    ),
    "kernel-path": (
        *("verdict", "environment", "settings", "rows[].verdict"),
        *(f"rows[].tests.{transfer.value}" for transfer in Transfer),
        *(f"rows[].ping.{when}" for when in ("idle", *(one.value for one in Transfer))),
    ),
}
"""Objects that a page describes as one."""


def as_described(path, whole):
    """The object that is described in place of the leaf, or the leaf."""
    return next((name for name in whole if path.startswith((f"{name}.", f"{name}["))), path)


@pytest.mark.parametrize("command", SCHEMAS)
def test_the_json_document_is_described_field_by_field(command):
    section = section_of(command, "The JSON document")
    rows = re.findall(r"^\| `([^`]+)`", section, re.MULTILINE)
    described = set().union(*map(expanded, rows))
    leaves = paths(tiny_document(command))
    assert described == {as_described(path, WHOLE.get(command, ())) for path in leaves}
    assert SCHEMAS[command] in section


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_is_listed_and_its_commands_are_understood(path):
    assert f"(examples/{path.name})" in (ROOT / "README.md").read_text()
    shown = re.findall(r"^#   wirerate (.*?)(?:   .*)?$", path.read_text(), re.MULTILINE)
    assert shown
    for line in shown:
        args = parse(shlex.split(line))
        assert args.plan == f"examples/{path.name}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.conf")), ids=lambda path: path.name)
def test_every_file_of_flows_is_listed_and_its_commands_are_understood(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert f"(examples/{path.name})" in (ROOT / "README.md").read_text()
    shown = re.findall(r"^#   wirerate (.*?)(?:   .*)?$", path.read_text(), re.MULTILINE)
    assert len(shown) >= 2
    for line in shown:
        args = parse(shlex.split(line))
        assert args.file == f"examples/{path.name}"
        _, warnings = flows_args.settings_from_args(args, LCORES)
        assert warnings == ()


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
