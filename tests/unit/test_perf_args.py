# SPDX-License-Identifier: BSD-3-Clause
"""The command line: perf's options through the real main, and how main ends."""

import os
import shlex
import subprocess
import sys
import types

import pytest

from wirerate.cli import main as main_module
from wirerate.cli import perf_args
from wirerate.cli.main import main
from wirerate.errors import EngineDiedError, EngineRefusedError, HostSetupError
from wirerate.plan.perf_settings import DEFAULT_LOCATION, Protocol
from wirerate.units import Rate, RateKind


class Perf:
    """Stands in for wirerate.cli.perf: reads the settings and does as told."""

    def __init__(self):
        self.settings = None
        self.usable = range(64)
        self.ends_with = None

    def add_parser(self, subparsers):
        perf_args.add_parser(subparsers).set_defaults(run=self.run)

    def run(self, args):
        self.settings = perf_args.settings_from_args(args, self.usable)
        if self.ends_with is not None:
            raise self.ends_with
        return 0


@pytest.fixture
def perf(monkeypatch):
    stub = Perf()
    module = types.ModuleType("wirerate.cli.perf")
    monkeypatch.setattr(module, "add_parser", stub.add_parser, raising=False)
    monkeypatch.setitem(sys.modules, "wirerate.cli.perf", module)
    return stub


@pytest.fixture
def settings(perf):
    def read(line):
        assert main(["perf", *shlex.split(line)]) == 0
        return perf.settings

    return read


def test_defaults_are_pktperfs(settings):
    found = settings("ring:demo")
    assert [location.text for location in found.locations] == ["ring:demo"]
    assert (found.burst, found.frame_size, found.rate) == (32, 64, Rate(RateKind.PERCENT, 100))
    # Descriptors: 0 is pktperf's 1024, fitted to what the device takes.
    assert (found.rx_descriptors, found.tx_descriptors, found.mbufs) == (0, 0, 8192)
    assert (found.period_ns, found.duration_ns, found.frames) == (10**9, None, None)
    assert (found.protocol, found.promiscuous, found.jumbo) == (Protocol.UDP, True, False)
    assert (found.lcore_map, found.lcores) == (None, tuple(range(64)))
    assert (found.line_rate_bps, found.verbose, found.json) == (None, False, False)
    assert found.cpu_saver_ns == 0
    assert not found.measure


def test_measuring(settings):
    assert settings("ring:a --measure").measure


def test_all_short_options(settings):
    found = settings("-b 64 -s 512 -r 50% -d 2048/512 -m 1:2.0 -T 0.5 -P -M 131072 -v -t -j ring:a")
    assert (found.burst, found.frame_size, found.rate) == (64, 512, Rate(RateKind.PERCENT, 50))
    assert (found.rx_descriptors, found.tx_descriptors, found.mbufs) == (2048, 512, 131072)
    assert (found.lcore_map.text, found.period_ns) == ("1:2.0", 500_000_000)
    assert (found.promiscuous, found.verbose, found.protocol) == (False, True, Protocol.TCP)
    assert found.jumbo


def test_all_long_options(settings):
    found = settings(
        "--burst-count=1 --pkt-size=1518 --rate=100kpps --descriptors=256 --map=1.0 --timeout=2s "
        "--no-promiscuous --mbuf-count=64 --verbose --udp --duration 2m --count 1000 "
        "--line-rate 10G --flows 65536 --json ring:a"
    )
    assert (found.burst, found.frame_size, found.rate) == (1, 1518, Rate(RateKind.FPS, 1e5))
    assert (found.rx_descriptors, found.tx_descriptors, found.mbufs) == (256, 256, 64)
    assert (found.duration_ns, found.frames) == (120 * 10**9, 1000)
    assert (found.line_rate_bps, found.flows, found.json) == (10**10, 65536, True)
    assert found.protocol == Protocol.UDP


def test_the_largest_frames(settings):
    assert settings("--frame-size 16384 ring:a").frame_size == 16384


@pytest.mark.parametrize(
    ("line", "sleep_ns"),
    [("--cpu-saver", 10**6), ("--cpu-saver 200us", 200_000), ("--cpu-saver=5ms", 5 * 10**6)],
)
def test_how_long_to_sleep(settings, line, sleep_ns):
    assert settings(f"ring:a {line}").cpu_saver_ns == sleep_ns


def test_locations_between_options_keep_their_order(settings):
    found = settings("ring:a -b 1 ring:b -v ring:c")
    assert [location.text for location in found.locations] == ["ring:a", "ring:b", "ring:c"]


def test_pktperfs_command_line(settings):
    found = settings(
        '-l 1,2-9,14-21 -a 03:00.0 -a 82:00.0 -n 4 -- -m "2-5:6-9.0" -m "14-17:18-21.1"'
    )
    assert [location.text for location in found.locations] == ["0000:03:00.0", "0000:82:00.0"]
    assert found.lcores == (*range(1, 10), *range(14, 22))
    assert (found.eal.main_lcore, found.eal.passthrough) == (1, ("-n", "4"))
    assert found.lcore_map.text == "2-5:6-9.0/14-17:18-21.1"


def test_eal_devices_come_before_locations(settings):
    found = settings("--vdev=net_null0 -- ring:a -m 1.0/2.1")
    assert [location.text for location in found.locations] == ["vdev:net_null0", "ring:a"]


@pytest.mark.parametrize("line", ["", "-v", "-- -v", "-l 1-2 --"])
def test_without_a_location_there_is_a_ring(settings, line):
    found = settings(line)
    assert found.default_location
    assert found.locations == (DEFAULT_LOCATION,)
    assert not settings("ring:demo").default_location


def test_ports_may_stay_without_lcores(settings):
    assert settings("-m 1.1 ring:a ring:b").lcore_map.of_port(0).rx == ()


def test_an_empty_eal_part(settings):
    assert settings("-- ring:a").locations[0].text == "ring:a"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ring:a ring:a", "'ring:a' is given 2 times"),
        ("-a 03:00.0 -- 0000:03:00.0", "'0000:03:00.0' is given 2 times"),
        ("rings:a", "no kind 'rings'"),
        ("-b 0 ring:a", "burst '0': give a whole number, 1 to 512"),
        ("-b 513 ring:a", "1 to 512"),
        ("-b x ring:a", "burst 'x'"),
        ("-b 1.5 ring:a", "burst '1.5'"),
        ("-b ring:a", "burst 'ring:a'"),
        ("ring:a -b", "expected one argument"),
        ("-s 63 ring:a", "frame size '63': give a whole number, 64 to 16,384"),
        ("-s 16385 ring:a", "64 to 16,384"),
        ("-r 0 ring:a", "rate '0': zero"),
        ("-r -5 ring:a", "negative"),
        ("-r 5Gbps ring:a", "5Gbps:L1"),
        ("-r 20Mpps --line-rate 10G ring:a", "carries 14.88 Mfps"),
        ("--line-rate x ring:a", "line rate 'x'"),
        ("-d 0 ring:a", "descriptors '0'"),
        ("-d 1/2/3 ring:a", "give RX/TX"),
        ("-d 1024/ ring:a", "descriptors ''"),
        ("-M 0 ring:a", "mbufs '0'"),
        ("-M 1048577 ring:a", "1 to 1,048,576"),
        ("-T 1ms ring:a", "not between 10ms and 1h"),
        ("-T 0 ring:a", "-T '0': zero"),
        ("--cpu-saver 6ms ring:a", "--cpu-saver '6ms': more than 5 ms"),
        ("--cpu-saver ring:a", "put --cpu-saver last"),
        ("--duration 5x ring:a", "--duration '5x'"),
        ("--count 0 ring:a", "count '0'"),
        ("--flows 0 ring:a", "flows '0'"),
        ("--flows 65537 ring:a", "1 to 65,536"),
        ("-t -u ring:a", "not allowed with"),
        ("-m 1.1 ring:a", "port 1 does not exist"),
        ("-m 64.0 ring:a", "lcore 64 is not one"),
        ("-l 1-2 -- -m 3.0 ring:a", "lcore 3 is not one"),
        ("-l 1 ring:a", "'-l' (EAL's options go before '--')"),
        ("--no-huge ring:a", "(EAL's options go before '--')"),
        ("--burst 5 ring:a", "unknown argument '--burst'"),
        ("--frobnicate 5 ring:a", "unknown argument '--frobnicate'; see"),
        ("ring:a -- ring:b", "'ring:a' stands before '--'"),
        ("-m 1.0 -- ring:a", "put lcore maps after '--'"),
        ("--proc-type=secondary -- ring:a", "primary"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(perf, capsys, line, says):
    assert main(["perf", *shlex.split(line)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("wirerate: error: ")
    assert err.count("\n") == 1
    assert says in err
    assert perf.settings is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "",
            "no command; commands are perf, run, flows, replay, reflect, forward, ",
        ),
        ("prf", "is it 'perf'?"),
        ("frobnicate", "no command 'frobnicate'"),
        ("--frobnicate", "unknown option '--frobnicate'"),
        ("--frobnicate perf ring:a", "unknown argument '--frobnicate'"),
    ],
)
def test_mistakes_before_the_command(perf, capsys, line, says):
    assert main(shlex.split(line)) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1
    assert perf.settings is None


@pytest.mark.parametrize("line", ["perf -h", "perf --help", "perf -l 1 -h -- ring:a"])
def test_perf_help(perf, capsys, line):
    assert main(line.split()) == 0
    out, err = capsys.readouterr()
    assert "--line-rate" in out
    assert "2-5:6-9.0" in out
    assert err == ""
    assert perf.settings is None


def test_every_example_of_the_help_is_understood(settings):
    lines = [line.strip() for line in perf_args.EPILOG.splitlines() if "wirerate perf " in line]
    assert len(lines) >= 5
    for line in lines:
        settings(line.removeprefix("sudo ").removeprefix("wirerate perf "))


def test_help_and_version(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert "perf" in out
    assert "doctor" in out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("wirerate ")


def test_help_imports_no_command():
    code = (
        "import sys; from wirerate.cli.main import main; main(['--help']); "
        "bad = [m for m in sys.modules if m.startswith(('wirerate.', 'rich'))]; "
        "print(sorted(bad), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == str(
        ["wirerate.cli", "wirerate.cli.main", "wirerate.errors", "wirerate.interrupts"]
    )


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (HostSetupError("no hugepages"), 3),
        (EngineDiedError("gone"), 4),
        (EngineRefusedError("queues", path="ports[0].rx_queues", errno_name="EINVAL"), 2),
        (EngineRefusedError("memory", errno_name="ENOMEM"), 3),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
        (ValueError("a fault"), 70),
    ],
)
def test_how_a_run_ends(perf, capsys, monkeypatch, error, code):
    monkeypatch.setattr(main_module, "_silence", lambda _: None)
    perf.ends_with = error
    assert main(["perf", "ring:a"]) == code
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert err.count("\n") == (0 if code in {130, 141} else 1)


def test_debug_shows_where(perf, capsys):
    perf.ends_with = HostSetupError("no hugepages")
    for line in (["--debug", "perf", "ring:a"], ["perf", "ring:a", "--debug"]):
        assert main(line) == 3
        err = capsys.readouterr().err
        assert "Traceback" in err
        assert err.endswith("wirerate: error: no hugepages\n")


def test_a_closed_pipe_is_quiet():
    code = "import sys; from wirerate.cli.main import main; sys.exit(main(['--help']))"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"
    done = subprocess.run(
        ["bash", "-c", f"(sleep 0.5; exec {command}) | true; exit ${{PIPESTATUS[0]}}"],
        # Unbuffered, argparse would meet the closed pipe first, and say nothing at all.
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (141, "")


def test_without_a_hint_lcores_are_this_process_s(perf, settings):
    perf.usable = None
    assert settings("ring:a").lcores
