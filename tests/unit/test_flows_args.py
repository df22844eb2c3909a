# SPDX-License-Identifier: BSD-3-Clause
"""The options of `wirerate flows`: BiTester's, stronger than its file; every mistake in a line."""

import argparse
import shlex

import pytest

from wirerate.cli import flows_args
from wirerate.cli.common_args import plan_text
from wirerate.cli.main import build_parser, parse
from wirerate.errors import PlanError
from wirerate.plan.flows_conf import KEYS
from wirerate.units import Rate, RateKind

CONF = "src_ip 10.0.0.1\nflow_num 500 # many\ncps 100\npayload 1000\nmode 0\n"


@pytest.fixture
def conf(tmp_path):
    path = tmp_path / "a.conf"
    path.write_text(CONF)
    return path


def read(line, usable=range(16)):
    return flows_args.settings_from_args(parse(["flows", *shlex.split(line)]), usable)


def refused(line, *parts):
    with pytest.raises(PlanError) as error:
        read(line)
    for part in parts:
        assert part in str(error.value), str(error.value)


def test_defaults():
    found, warnings = read("")
    assert warnings == ()
    assert [location.text for location in found.locations] == ["ring:wirerate"]
    assert (found.rx_port, found.tx_port, found.queues) == (0, 0, 1)
    assert (found.rate, found.probe) == (Rate(RateKind.PERCENT, 100), None)
    assert (found.ramp, found.ramp_down, found.oneway, found.promiscuous) == (
        True,
        False,
        False,
        True,
    )
    assert (found.burst, found.distinct_max, found.live_latencies) == (32, 1025, False)
    assert found.receives


def test_bitesters_own_words(conf):
    found, _ = read(f"-a 01:00.1 -- -r 0 -t 0 -n 14 -f {conf}")
    assert [location.text for location in found.locations] == ["0000:01:00.1"]
    assert (found.queues, found.traffic.flow_num, found.traffic.payload) == (14, 500, 1000)
    assert read("-q 3")[0].queues == 3


def test_options_are_stronger_than_the_file(conf):
    found, _ = read(f"-f {conf} --flow-num 7 --payload 20 --src-mac 2:0:0:0:0:1 --mode 1 ring:x")
    assert (found.traffic.flow_num, found.traffic.payload, found.traffic.cps) == (7, 20, 100)
    assert (found.traffic.src_mac, found.traffic.mode) == ("02:00:00:00:00:01", 1)
    assert (str(found.traffic.src_ip), found.burst) == ("10.0.0.1", 1)
    refused(f"-f {conf} --cps 0", "--cps '0': no flow would ever be added")


def test_every_key_is_an_option():
    parser = build_parser("flows")
    [subparsers] = [action for action in parser._actions if action.dest == "command"]
    assert isinstance(subparsers, argparse._SubParsersAction)
    there = {word for a in subparsers.choices["flows"]._actions for word in a.option_strings}
    assert {f"--{key.replace('_', '-')}" for key in KEYS} <= there


def test_warnings_have_the_line(conf):
    conf.write_text("flow 3\ncps 5\n")
    _, [warning] = read(f"-f {conf}")
    assert warning.startswith(f"{conf}:1: there is no key 'flow'")


def test_a_file_of_something_else(conf):
    conf.write_bytes(b"\x7fELF\x00 nothing\nof flows\n")
    with pytest.raises(PlanError, match="no line of it has a key"):
        read(f"-f {conf}")


def test_what_will_not_be_as_one_may_think():
    _, [few] = read("--flow-num 3 -n 4")
    assert few.startswith("3 flows are fewer than the 4 queues")
    found, [many] = read("--flow-num 20000000")
    assert many.startswith("receivers tell 16,777,216 5-tuples apart")
    assert found.distinct_max == 1 << 24
    found, none = read("--flow-num 20000000 --no-count-flows")
    assert (found.distinct_max, none) == (0, ())


def test_speeds_and_probes():
    assert read("-s 5000")[0].rate == Rate(RateKind.L1_BPS, 5e9)
    assert read("--mode 2 -s 5")[0].rate == Rate(RateKind.FPS, 5e6)
    assert read("--mode 1")[0].rate == Rate(RateKind.FPS, 5e4)
    found = read("--probe")[0]
    assert (found.probe, found.live_latencies) == (Rate(RateKind.FPS, 5e4), True)
    assert read("--probe=1Mpps")[0].probe == Rate(RateKind.FPS, 1e6)


def test_searches():
    found, _ = read("--converge loss --max-loss 0.1% --payload 18 -s 10000")
    assert (found.measured, found.live_latencies) == (True, False)
    assert found.converge.max_loss == 0.001
    assert not read("--converge cpu")[0].measured
    assert read("--mode 1 --converge cpu")[0].rate == Rate(RateKind.PERCENT, 100)


def test_ramps():
    found, _ = read("--flow-num 5 --ramp-down --hold 2")
    assert (found.ramp_down, found.hold_ns, found.ramped) == (True, 2_000_000_000, True)
    assert not read("--flow-num 5 --no-ramp")[0].ramped


REFUSED = {
    "no file": ("-f nowhere.conf", ["-f nowhere.conf: cannot be read: No such file"]),
    "no port": ("-r 1", ["-r 1: there is no such location, the only one is 0"]),
    "no port of two": ("-t 2 ring:a ring:b", ["-t 2", "0 to 1"]),
    "location for nothing": ("ring:a ring:b", ["location 1 (ring:b) neither receives nor sends"]),
    "location twice": ("ring:a ring:a -r 1", ["'ring:a' is given 2 times"]),
    "no queue": ("-n 0", ["-n '0'"]),
    "queues and map": ("-n 2 -m 1.0", ["-n 2", "1 Tx queues; leave out one"]),
    "map that sends nothing": ("-m 1:.0", ["no lcore transmits on port 0; add :LCORE.0"]),
    "down without up": ("--no-ramp --ramp-down", ["--ramp-down: with --no-ramp"]),
    "hold without down": ("--hold 3", ["--hold: without --ramp-down"]),
    "probe in latency": ("--mode 1 --probe", ["--probe: in mode 1 every frame is measured"]),
    "probe that eats": ("--probe ring:x", ["--probe 'ring:x': not a rate; write --probe=0.05"]),
    "probe in a search": ("--probe --converge cpu", ["--probe: a search changes the rate of all"]),
    "both ways": ("--oneway --twoway", ["not allowed with"]),
    "latency that nobody receives": (
        "--mode 1 --oneway --peer 127.0.0.1:1",
        ["--oneway: with --peer no frame is to arrive here"],
    ),
    "loss that nobody sees": (
        "--converge loss --oneway --peer 127.0.0.1:1",
        ["--oneway: with --peer no frame is to arrive here"],
    ),
    "follow without search": ("--follow", ["--follow: there is no such search"]),
    "speed": ("-s much", ["-s: rate 'much' is not understood"]),
    "bits of no layer": ("-s 3Gbps", ["-s: rate '3Gbps' does not say which bits"]),
    "line": ("-s 20% --line-rate much", ["line rate 'much'"]),
    "unknown": ("--flows 3", ["--flows"]),
}


@pytest.mark.parametrize(("line", "parts"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(line, parts):
    refused(line, *parts)


def test_the_plan_is_run_in_the_same_way():
    args = parse(["flows", "--mode", "2", "-T", "2", "ring:x"])
    found, _ = flows_args.settings_from_args(args, range(16))
    text = plan_text({}, args, found.eal, with_duration=False, more=["-m", "1:2.0"])
    assert "# wirerate run PLAN -b 1 -m 1:2.0\n" in text
