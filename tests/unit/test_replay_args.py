# SPDX-License-Identifier: BSD-3-Clause
"""The command line of `wirerate replay`."""

import argparse
import re
import shlex
from pathlib import Path
from typing import Any, ClassVar

import pytest

from wirerate.cli import preview, replay, replay_args
from wirerate.cli.main import OneLineParser
from wirerate.errors import HostSetupError, PlanError
from wirerate.plan.eal_args import EalRequest
from wirerate.plan.location import parse_location
from wirerate.plan.replay_document import RewriteMac, TraceFacts
from wirerate.units import parse_rate

DOCS = Path(__file__).resolve().parents[2] / "docs"


def parsed(line, eal=()):
    parser = OneLineParser(prog="wirerate")
    replay_args.add_parser(parser.add_subparsers(parser_class=OneLineParser))
    args = parser.parse_args(["replay", *shlex.split(line)])
    args.eal_tokens = list(eal)
    return args


def asked(line, eal=()):
    return replay_args.request_from_args(parsed(line, eal))


def test_the_least():
    found = asked("a.pcap")
    request = found.request
    assert request.file == Path.cwd() / "a.pcap"
    assert (found.patterns, found.show_plan) == ((), False)
    assert (request.rate, request.speed) == (parse_rate("100%"), None)
    assert (request.loops, request.duration_ns) == (None, None)
    assert (request.strict, request.rewrite) == (False, None)


def test_everything():
    found = asked(
        "/a.pcap 01:00.1 null:x --loops 3 --duration 5s --rate 5Gbps:L1 --strict --show-plan "
        "--rewrite-mac 02:00:00:00:00:01/02-00-00-00-00-02"
    )
    request = found.request
    assert request.file == Path("/a.pcap")
    assert (found.patterns, found.show_plan) == (("01:00.1", "null:x"), True)
    assert (request.loops, request.duration_ns) == (3, 5_000_000_000)
    assert (request.rate, request.strict) == (parse_rate("5Gbps:L1"), True)
    assert request.rewrite == RewriteMac(b"\2\0\0\0\0\1", b"\2\0\0\0\0\2")


def test_devices_of_eal_are_ports_too():
    found = asked("a.pcap null:x", eal=["-a", "0000:01:00.0"])
    assert found.patterns == ("0000:01:00.0", "null:x")


@pytest.mark.parametrize(
    ("text", "speed"),
    [("original", 1.0), ("x2.5", 2.5), ("0.5x", 0.5), ("X1e3", 1000.0), ("2x", 2.0)],
)
def test_timing(text, speed):
    assert asked(f"a.pcap --timing {text}").request.speed == speed


@pytest.mark.parametrize(
    "text", ["", "2.5", "x", "x0", "0x", "x-1", "xnan", "x1e7", "1e-7x", "x2x"]
)
def test_timing_not_understood(text):
    with pytest.raises(PlanError, match="timing"):
        replay_args.parse_timing(text)


def test_timing_and_rate_exclude_each_other():
    with pytest.raises(PlanError, match="--rate"):
        asked("a.pcap --timing original --rate 1Mpps")


def test_rewrite_mac_own():
    found = replay_args.parse_rewrite("02:00:00:00:00:01/own")
    assert found == RewriteMac(b"\2\0\0\0\0\1", own=True)
    assert replay_args.parse_rewrite("ff:ff:ff:ff:ff:ff") == RewriteMac(b"\xff" * 6)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "own",
        "02:00:00:00:00",
        "02:00:00:00:00:01:02",
        "02:00:00:00:00:0g",
        "020000000001",
        "02:00:00:00:00:01/",
        "/02:00:00:00:00:01",
        "02:00:00:00:00:01/03:00:00:00:00:01",
        "02:00:00:00:00:01/own/own",
    ],
)
def test_rewrite_mac_not_understood(text):
    with pytest.raises(PlanError, match="rewrite-mac"):
        replay_args.parse_rewrite(text)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("", "FILE"),
        ("a.pcap --loops 0", "loops"),
        ("a.pcap --loops -1", "loops"),
        ("a.pcap --loops 1.5", "loops"),
        ("a.pcap --rate 5Gbps", ":L1"),
        ("a.pcap --rewrite-mac x", "rewrite-mac"),
        ("a.pcap --cpu-saver null:x", "--cpu-saver"),
        ("''", "capture file"),
    ],
)
def test_refused(line, part):
    with pytest.raises(PlanError) as error:
        asked(line)
    assert part in str(error.value)


def test_a_name_that_is_not_utf8():
    args = parsed("a.pcap")
    args.file = "\udcff.pcap"
    with pytest.raises(PlanError, match="UTF-8"):
        replay_args.request_from_args(args)


FACTS = TraceFacts("pcap", 10, 600, 60, 60, 0, 0, 0, 0, 0, memory_octets=1 << 30)


def check_memory(monkeypatch, *, ports, huge_mib, ordinary, passthrough=()):
    monkeypatch.setattr(replay, "free_hugepages_mib", lambda: huge_mib)
    monkeypatch.setattr(replay, "_available_octets", lambda: ordinary)
    settings: Any = argparse.Namespace(eal=EalRequest(passthrough=passthrough), warm_up_ns=0)
    replay._check_memory(Path("/a.pcap"), FACTS, ports, settings)


def test_a_trace_that_does_not_fit_is_refused_with_the_memory_it_needs(monkeypatch):
    with pytest.raises(HostSetupError) as error:
        check_memory(monkeypatch, ports=3, huge_mib=1024, ordinary=2 << 30)
    for part in ("3.00 GiB", "3 ports", "1.00 GiB of hugepages", "2.00 GiB"):
        assert part in str(error.value), part


@pytest.mark.parametrize(
    ("huge_mib", "ordinary", "passthrough"),
    [(4096, 0, ()), (0, 3 << 30, ()), (0, None, ()), (0, 0, ("--no-huge", "-m", "4096"))],
)
def test_a_trace_that_fits(monkeypatch, huge_mib, ordinary, passthrough):
    check_memory(
        monkeypatch, ports=3, huge_mib=huge_mib, ordinary=ordinary, passthrough=passthrough
    )


def test_memory_of_the_host(tmp_path):
    (tmp_path / "proc").mkdir()
    meminfo = tmp_path / "proc/meminfo"
    meminfo.write_text("MemTotal: 100 kB\nMemAvailable:   2048 kB\n")
    assert replay._available_octets(tmp_path) == 2 << 20
    meminfo.write_text("MemTotal: 100 kB\nMemAvailable:\n")
    assert replay._available_octets(tmp_path) is None


class FakeEngine:
    """Opens ports whose addresses end in their place."""

    words: ClassVar[list[str]] = []
    asked: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, words, *, passthrough):
        assert passthrough == ()
        FakeEngine.words = list(words)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def call(self, method, params):
        assert method == "ports.open"
        FakeEngine.asked = params["ports"]
        return {"ports": [{"mac": f"02:00:00:00:00:0{n}"} for n in range(len(params["ports"]))]}


def test_nics_are_asked_for_their_addresses_and_nobody_else(monkeypatch):
    monkeypatch.setattr(replay, "Engine", FakeEngine)
    settings: Any = argparse.Namespace(eal=EalRequest(), lcores=(0,))
    locations = [parse_location(text) for text in ("null:x", "01:00.0", "pcap:,y", "82:00.1")]
    macs = replay._own_macs(locations, settings)
    assert macs == {1: b"\2\0\0\0\0\0", 3: b"\2\0\0\0\0\1"}
    asked = [(one["name"], one["location"]) for one in FakeEngine.asked]
    assert asked == [("p1", "0000:01:00.0"), ("p3", "0000:82:00.1")]
    assert "0000:01:00.0" in FakeEngine.words
    assert replay._own_macs(locations[:1], settings) == {}


@pytest.mark.parametrize(
    ("page", "module"),
    [("replay.md", replay_args), ("preview.md", preview)],
    ids=["replay", "preview"],
)
def test_every_option_is_described(page, module):
    parser = OneLineParser(prog="wirerate")
    command = module.add_parser(parser.add_subparsers(parser_class=OneLineParser))
    options = {text for action in command._actions for text in action.option_strings}
    section = (DOCS / page).read_text().split("\n## Options\n")[1].split("\n## ")[0]
    described = {
        word
        for row in re.findall(r"^\| (.*?) \|", section, re.MULTILINE)
        for word in re.findall(r"`(--?[a-zA-Z-]+)", row)
    }
    assert described <= options, "described, but not there"
    long = {text for text in options if text.startswith("--")} - described
    aliases = {"--help", "--map", "--burst-count", "--descriptors", "--mbuf-count", "--jumbo"}
    assert long - aliases - {"--timeout", "--verbose"} == set()
