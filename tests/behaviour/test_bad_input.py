# SPDX-License-Identifier: BSD-3-Clause
"""Bad input: one line that says what is wrong, the right exit code, and nothing left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.host import CPUS, MTU, ONE, needs_root, needs_two_cpus

SHORT = ("--duration", "1")
BEYOND = str(max(CPUS) + 1)

REFUSED = {
    "size below 64": (["ring:x", "-s", "63"], ["'63'", "64"]),
    "size beyond all": (["ring:x", "-s", "16385"], ["'16385'"]),
    "size no number": (["ring:x", "-s", "big"], ["'big'"]),
    "burst 0": (["ring:x", "-b", "0"], ["'0'", "512"]),
    "burst 513": (["ring:x", "-b", "513"], ["'513'", "512"]),
    "descriptors 0": (["ring:x", "-d", "0/1024"], ["descriptors"]),
    "descriptors beyond all": (["ring:x", "-d", "65536"], ["'65536'"]),
    "descriptors thrice": (["ring:x", "-d", "1/2/3"], ["RX/TX"]),
    "mbufs 0": (["ring:x", "-M", "0"], ["mbufs"]),
    "flows 0": (["ring:x", "--flows", "0"], ["flows"]),
    "flows 65537": (["ring:x", "--flows", "65537"], ["65,536"]),
    "count 0": (["ring:x", "--count", "0"], ["count"]),
    "period 0": (["ring:x", "-T", "0"], ["'0'"]),
    "UDP and TCP": (["ring:x", "--udp", "--tcp"], ["--tcp"]),
    "line rate": (["ring:x", "--line-rate", "fast"], ["fast"]),
    "unknown option": (["ring:x", "--fast"], ["--fast"]),
    "abbreviated option": (["ring:x", "--dur", "1"], ["--dur"]),
    "EAL option after --": (["--", "ring:x", "--no-huge"], ["--no-huge", "before '--'"]),
    "unknown scheme": (["foo:bar"], ["'foo'", "ring:NAME"]),
    "unknown scheme, near": (["rnig:bar"], ["is it ring?"]),
    "no scheme": (["eth0"], ["af_packet:eth0"]),
    "nothing after the scheme": (["ring:"], ["ring:NAME"]),
    "no PCI address": (["0000:zz:00.0"], []),
    "pcap without comma": (["pcap:file"], ["pcap:IN,OUT"]),
    "unknown vdev": (["vdev:net_nosuch0"], ["net_nosuch0"]),
    "location twice": (["ring:x", "ring:x"], ["ring:x", "2 times"]),
    "map without port": (["ring:x", "-m", ONE], [f"'{ONE}'"]),
    "map of letters": (["ring:x", "-m", "a.0"], ["'a.0'"]),
    "map of nothing": (["ring:x", "-m", ".0"], ["'.0'"]),
    "map with open bracket": (["ring:x", "-m", f"[{ONE}.0"], []),
    "map of no such port": (["ring:x", "-m", f"{ONE}.1"], []),
    "map of no such lcore": (["ring:x", "-m", f"{BEYOND}.0"], [f"lcore {BEYOND}"]),
    "same lcore twice": (["ring:x", "-m", f"{ONE},{ONE}.0"], [f"lcore {ONE}", "once"]),
    "same lcore in two maps": (["ring:x", "-m", f"{ONE}.0", "-m", f"{ONE}.0"], ["once"]),
    "lcore that EAL lacks": (["-l", BEYOND, "--", "ring:x", "-m", f"{ONE}.0"], []),
    "unknown EAL device": (["--vdev", "net_nosuch0", "--"], ["net_nosuch0"]),
    "unknown command": (None, ["'pref'", "is it 'perf'?"]),
}


@pytest.mark.parametrize(("words", "parts"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_one_line(program, words, parts):
    run = program.run("pref") if words is None else program.run("perf", *words, *SHORT)
    run.refused(*parts)


@needs_two_cpus
@pytest.mark.parametrize("direction", ["", ":"])
def test_more_queues_than_the_device_has(program, tmp_path, direction):
    lcores = f"{direction}{CPUS[0]},{CPUS[1]}"
    run = program.run("perf", f"pcap:,{tmp_path / 'x.pcap'}", "-m", f"{lcores}.0", *SHORT)
    run.refused("2 ", "queues", "net_pcap")


def test_no_such_interface(program):
    run = program.run("perf", "af_packet:nosuchif", *SHORT)
    run.refused("nosuchif", code=3)


def test_no_such_pci_device(program):
    run = program.run("perf", "0000:ff:1f.7", *SHORT)
    run.refused("0000:ff:1f.7", code=3)


def test_no_such_file(program, tmp_path):
    run = program.run("perf", f"pcap:{tmp_path / 'none.pcap'},", *SHORT)
    assert run.code in {2, 3}
    run.refused("none.pcap", code=run.code)


@needs_root
@pytest.mark.parametrize("kind", ["af_packet", "af_xdp"])
def test_a_frame_larger_than_the_interface_takes(program, veth, kind):
    program.prefix = veth.inside
    run = program.run("perf", f"{kind}:{veth.left}", "-s", "3000", *SHORT)
    run.refused("3000", str(MTU))
    assert veth.mtu(veth.left) == MTU


@needs_root
def test_descriptors_that_the_device_refuses(program, veth):
    program.prefix = veth.inside
    run = program.run("perf", f"af_xdp:{veth.left}", "-d", "1000", *SHORT)  # no power of two
    run.refused("af_xdp")


@needs_root
def test_an_interface_is_as_it_was(program, veth):
    program.prefix = veth.inside
    for kind in ("af_packet", "af_xdp"):
        location = f"{kind}:{veth.left}"
        assert program.run("perf", location, "-r", "1kpps", "--count", "10").code == 0
        assert veth.mtu(veth.left) == MTU


def test_errors_with_json_leave_stdout_empty(program):
    for words in (["ring:x", "-b", "0"], ["vdev:net_nosuch0"]):
        run = program.run("perf", *words, "--json", *SHORT)
        run.refused()
        assert run.out == ""


@needs_root
def test_nothing_is_left_in_the_usual_places(program):
    places = [Path("/run/wirerate"), Path("/var/run/dpdk")]
    before = {path for place in places for path in place.glob("wr-*")}
    program.usual_places = True
    # Other people's runs may get a warning printed; this is about what is left.
    assert program.run("perf", "ring:x", "--count", "10").code == 0
    assert program.run("perf", "vdev:net_nosuch0", *SHORT).code == 2
    after = {path for place in places for path in place.glob("wr-*")}
    mine = [path for path in after - before if not in_use(path)]
    assert not mine


def in_use(path: Path) -> bool:
    """Another run, of somebody else, has begun meanwhile and lives."""
    return any(path.name in line for line in command_lines())


def command_lines() -> list[str]:
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(file.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return lines


def test_help_is_no_error(program):
    for words in (["--help"], ["perf", "--help"], ["--version"]):
        run = program.run(*words)
        assert (run.code, run.err) == (0, "")
        assert run.out


def test_a_reader_that_goes_away(program):
    words = " ".join(program.words(["perf", "ring:x", "-T", "100ms", "--duration", "1"]))
    run = program.__class__(program.root, command=("sh", "-c", f"{words} | true")).run()
    assert "Traceback" not in run.err
    assert os.linesep.join(run.err.splitlines()[1:]) == ""
