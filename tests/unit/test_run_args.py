# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate run` and --show-plan: options through the real main, plans from text to plan."""

from __future__ import annotations

import argparse
import itertools
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from support.forwarders import accounted_peer
from support.made_up import REPLIES, flow_queue, port, ready, rx_queue, snapshot, tx_queue
from support.made_up import flow as made_flow
from support.made_up import result as made_result
from wirerate.cli import perf, run, run_args
from wirerate.cli.main import build_parser, main, parse
from wirerate.cli.perf_args import settings_from_args as perf_settings
from wirerate.plan.compile import check_flow
from wirerate.plan.decode import decode_plan
from wirerate.plan.document import parse_document
from wirerate.report import run_json
from wirerate.trial.cpu import CpuUse

PLAN = """\
ports: [{name: a, location: "ring:a"}, {name: b, location: "null:b"}]
flows:
  - name: web
    tx_rx: {port: {tx_name: a, rx_names: [a]}}
    packet: [{ethernet: {}}, {ipv4: {}}, {udp: {}}]
"""


@pytest.fixture
def plan_file(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def settings(line, ports=2, usable=range(64)):
    return run_args.settings_from_args(parse(["run", *shlex.split(line)]), ports, usable)


def test_defaults_are_those_of_perf():
    ours = vars(settings("plan.yaml"))
    theirs = vars(perf_settings(parse(["perf", "ring:a"]), range(64)))
    assert ours == {name: theirs[name] for name in ours}


def options(command):
    group = next(
        action
        for action in build_parser(command)._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    parser = group.choices[command]
    return {text: action.help for action in parser._actions for text in action.option_strings}


def test_options_of_perf_mean_the_same():
    ours, theirs = options("run"), options("perf")
    own = {text for text in ours if text.startswith("--capture")} | {"--keep-bad"}
    assert {text: ours[text] for text in ours.keys() - own} == {
        text: theirs[text] for text in ours.keys() - own
    }
    assert {"-m", "--line-rate", "--cpu-saver", "-T", "--duration", "--json"} <= ours.keys()


def test_all_options():
    found = settings(
        "-l 1-8 -n 4 -- plan.yaml -m 2:3.0/4.1 --line-rate 10G -b 64 -d 2048/512 -M 1024 -j "
        "-T 500ms --duration 2m --cpu-saver=2ms --json -v"
    )
    assert (found.lcores, found.eal.passthrough) == (tuple(range(1, 9)), ("-n", "4"))
    assert (found.lcore_map.text, found.line_rate_bps) == ("2:3.0/4.1", 10**10)
    assert (found.burst, found.rx_descriptors, found.tx_descriptors) == (64, 2048, 512)
    assert (found.mbufs, found.jumbo, found.cpu_saver_ns) == (1024, True, 2 * 10**6)
    assert (found.period_ns, found.duration_ns) == (500 * 10**6, 120 * 10**9)
    assert (found.json, found.verbose) == (True, True)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("run", "required: PLAN"),
        ("run {plan} -m 1.2", "port 2 does not exist; ports are 0-1"),
        ("run -a 03:00.0 -- {plan}", "EAL device 0000:03:00.0: the plan says where its ports are"),
        ("run --cpu-saver {plan}", "put --cpu-saver last"),
        ("run {plan} extra", "unknown argument 'extra'"),
        ("run {plan} -l 1", "(EAL's options go before '--')"),
        ("run {plan}.not", "No such file"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(capsys, plan_file, line, says):
    assert main(shlex.split(line.format(plan=plan_file))) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("wirerate: error: ")
    assert err.count("\n") == 1
    assert says in err


def test_show_plan_prints_what_runs_the_same(capsys, monkeypatch, plan_file):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(8))
    words = f"-l 1-3 -n 4 -- {plan_file} -m 1.0 -b 64 --line-rate 10G --duration 2s --peer [::1]:80"
    assert main(["run", *words.split(), "--show-plan"]) == 0
    text = capsys.readouterr().out
    assert decode_plan(parse_document(text.encode())) == decode_plan(parse_document(PLAN.encode()))
    head = text.splitlines()[:2]
    assert all(line.startswith("# ") for line in head)
    assert settings(head[1].removeprefix("# wirerate run ")) == settings(words)


def test_show_plan_has_whole_paths_of_traces(tmp_path):
    flow = {"x-wirerate": {"trace": {"file": "traces/a.pcap"}}}
    shown = run._traces_absolute({"flows": [{}, flow]}, tmp_path)
    assert shown["flows"][1]["x-wirerate"]["trace"]["file"] == str(tmp_path / "traces/a.pcap")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ring:a", "# wirerate run PLAN"),
        ("ring:a --duration 5", "# wirerate run PLAN"),
        ("ring:a --duration 5 --count 9", "# wirerate run PLAN --duration 5000000us"),
        ("ring:a -m 1:2.0 -b 8 -j", "# wirerate run PLAN -m 1:2.0 -b 8 -j"),
        ("ring:a -d 512 -M 99 --cpu-saver", "PLAN -d 512/512 -M 99 --cpu-saver=1000us"),
        ("-l 1-3 -n 2 -- ring:a", "# wirerate run -n 2 -l 1,2,3 --main-lcore 1 -- PLAN"),
    ],
)
def test_perf_shows_the_command_that_runs_its_plan(capsys, monkeypatch, line, says):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(8))
    assert main(["perf", *shlex.split(line), "--show-plan"]) == 0
    assert says in capsys.readouterr().out.splitlines()[1]


def test_perf_s_plan_is_the_shown_one(capsys, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(8))
    words = ["perf", "ring:a", "null:b", "null:c", "-m", "1:2.0/3:.1", "-r", "1Mpps", "-P"]
    assert main([*words, "--show-plan"]) == 0
    shown = decode_plan(parse_document(capsys.readouterr().out.encode()))
    assert shown == decode_plan(perf.plan_document(perf_settings(parse(words), range(8))))
    assert [port.location.text for port in shown.ports] == ["ring:a", "null:b", "null:c"]
    assert [flow.tx_port for flow in shown.flows] == ["p0"], "only port 0 may transmit"
    assert not any(port.promiscuous for port in shown.ports)


def test_the_plan_of_the_help_is_one(capsys):
    assert main(["run", "--help"]) == 0
    text = capsys.readouterr().out.split("a plan:\n")[1].split("\nlcore maps")[0]
    plan = decode_plan(parse_document(text.encode()))
    assert [flow.name for flow in plan.flows] == ["web"]


def test_every_example_of_the_help_is_understood():
    lines = [line.strip() for line in run_args.EPILOG.splitlines() if "wirerate run " in line]
    assert len(lines) >= 4
    for line in lines:
        parse(shlex.split(line[line.index("wirerate run ") :])[1:])


RUN_PAGE = (Path(__file__).resolve().parents[2] / "docs/run.md").read_text()


def section(title):
    return RUN_PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_option_is_described():
    described = set(re.findall(r"`(-[^` ]+)`", section("Options")))
    own = {
        word
        for row in section("Options").splitlines()
        for word in re.findall(r"^\| `(-[^`]+)`", row)
    }
    assert set(options("run")) - described == set()
    assert own - set(options("run")) == set(), "described, but not there"


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", RUN_PAGE, re.DOTALL))
def test_plans_of_the_page_are_plans(text):
    plan = decode_plan(parse_document(text.encode()))
    assert plan.flows or plan.captures
    for flow in plan.flows:
        if flow.trace is None:
            assert check_flow(flow) >= 64


def leaves(value, path=""):
    """Paths of all values: ports[].device.link_up."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from leaves(value[0], f"{path}[]")
    else:
        yield path


def expanded(text):
    """a.{b,c} is a.b and a.c."""
    parts = [
        part.split(",") if at % 2 else [part] for at, part in enumerate(re.split("[{}]", text))
    ]
    return {"".join(chosen) for chosen in itertools.product(*parts)}


def test_the_json_document_is_described_field_by_field():
    made = replace(port((tx_queue(),), (rx_queue(),), flows=(flow_queue(1),)), replies=REPLIES)
    run_ready = ready([made], [made_flow(measured=True)], settings("plan.yaml", 1))
    result = made_result(run_ready, snapshot(made), cpu=CpuUse(0.1, ((1, 0.1),)))
    captures = ({"path": "/a.pcap", "frames": 1},)
    whole = run_json.document(replace(result, captures=captures, peer=accounted_peer()))
    rows = re.findall(r"^\| `([^`]+)`", section("The JSON document"), re.MULTILINE)
    assert set().union(*map(expanded, rows)) == set(leaves(whole))
    assert run_json.SCHEMA in section("The JSON document")
