# SPDX-License-Identifier: BSD-3-Clause
"""EAL's part of a command line: what becomes ours, what passes through, what is refused."""

import shlex

import pytest

from wirerate.errors import PlanError
from wirerate.plan.eal_args import EalRequest, looks_like_eal, parse_eal_args, unknown_options


def parse(line):
    return parse_eal_args(shlex.split(line))


def test_pktperfs_example():
    request = parse("-l 1,2-9,14-21 -a 03:00.0 -a 82:00.0")
    assert request.lcores == (*range(1, 10), *range(14, 22))
    assert request.main_lcore == 1
    assert [location.text for location in request.locations] == ["0000:03:00.0", "0000:82:00.0"]
    assert request.passthrough == ()


def test_nothing():
    assert parse("") == EalRequest()


@pytest.mark.parametrize(
    ("line", "lcores", "main_lcore"),
    [
        ("-l 1-3", (1, 2, 3), 1),
        ("-l1-3", (1, 2, 3), 1),
        ("-l 5,2-3", (2, 3, 5), 2),  # EAL takes the lowest, whatever the order
        ("-l 1,1-2", (1, 2), 1),
        ("--lcores 1,3", (1, 3), 1),
        ("--lcores=(1-3)", (1, 2, 3), 1),
        ("--lcores '(1,2), 4'", (1, 2, 4), 1),
        ("-c 0x16", (1, 2, 4), 1),
        ("-cf", (0, 1, 2, 3), 0),
        ("-l 1-3 --main-lcore 2", (1, 2, 3), 2),
        ("--main-lcore=2 -l 1-3", (1, 2, 3), 2),
        ("-l 1-3 --main 2", (1, 2, 3), 2),
        ("--main-lcore 2", None, 2),
    ],
)
def test_lcores(line, lcores, main_lcore):
    request = parse(line)
    assert (request.lcores, request.main_lcore) == (lcores, main_lcore)


def test_devices_are_ports_in_order():
    request = parse("--vdev=net_null0,size=64 -a 03:00.0,rx_vec=1 --allow=04:00.0 --vdev net_ring0")
    assert [location.text for location in request.locations] == [
        "vdev:net_null0,size=64",
        "0000:03:00.0,rx_vec=1",
        "0000:04:00.0",
        "vdev:net_ring0",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "-n 4",
        "-n4",
        "-m 512",
        "--socket-mem 1024,1024",
        "--socket-mem=1024",
        "--socket-limit 2048",
        "--file-prefix east",
        "--no-pci",
        "--no-huge",
        "--in-memory --no-telemetry --legacy-mem",
        "--log-level=pmd.net:debug --log-level lib.eal:8",
        "--iova-mode va -r 2 -d librte_net_ring.so -b 03:00.0 -v",
        "--huge-unlink=never --proc-type primary",
        "--huge-unlink --no-pci",
        "--new-in-dpdk-30 value --new-flag --new=1",
        "-Z -Y value",
    ],
)
def test_passed_through_verbatim(line):
    request = parse(line)
    assert request.passthrough == tuple(line.split())
    assert request == EalRequest(passthrough=request.passthrough)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--proc-type=secondary", "must be the primary"),
        ("--proc-type auto", "must be the primary"),
        ("--proc-t=secondary", "must be the primary"),
        ("-w 03:00.0", "became -a"),
        ("--master-lcore 1", "became --main-lcore"),
        ("--master 1", "became --main-lcore"),
        ("--pci-blacklist 03:00.0", "became -b"),
        ("-h", "wirerate perf --help"),
        ("--help", "wirerate perf --help"),
        ("-m 2-5:6-9.0", "put lcore maps after '--'"),
        ("-l", "-l: its value is missing"),
        ("--lcores", "its value is missing"),
        ("-l 1 -c 3", "given before"),
        ("-l 1 -l 2", "given before"),
        ("-l 3-1", "runs backwards"),
        ("-l 1,,2", "a number is missing"),
        ("-l x", "neither a number nor a range"),
        ("-l ''", "a number is missing"),
        ("-l 99999999999", "too large"),
        ("--lcores 1@4", "not supported"),
        ("-c 0", "not a mask"),
        ("-c xyz", "not a mask"),
        ("-c -1", "not a mask"),
        ("-c 1" + "0" * 300, "lcores above 1023"),
        ("--main-lcore x", "not an lcore"),
        ("--main-lcore 99999", "not an lcore"),
        ("-l 1-3 --main-lcore 4", "not one of the lcores"),
        ("-a ring:demo", "not a PCI address"),
        ("-a eth0", "not a PCI address"),
        ("--vdev=", "nothing after vdev:"),
        ("-a 03:00.0 --no-pci", "forbids the PCI device 0000:03:00.0"),
        ("ring:demo", "only EAL options go"),
        ("--no-huge ring:demo", "'ring:demo' stands before '--'"),
        ("-n 4 ring:demo", "'ring:demo' stands before '--'"),
        ("-", "only EAL options go"),
    ],
)
def test_refused(line, says):
    with pytest.raises(PlanError, match=says):
        parse(line)


@pytest.mark.parametrize(
    ("token", "expected"),
    [("-l", True), ("--vdev=a", True), ("--no-huge", True), ("-Q", False), ("--frobnicate", False)],
)
def test_hint(token, expected):
    assert looks_like_eal(token) is expected


@pytest.mark.parametrize(
    ("passthrough", "unknown"),
    [
        (["--no-huge", "-m", "64", "--log-level=8", "--iova", "va"], []),
        (["--bogus=3"], ["--bogus=3"]),
        (["--no-huge", "--bogus", "3", "-m", "64", "--vast"], ["--bogus 3", "--vast"]),
        (["-X", "5"], ["-X 5"]),
        (["-v", "-n4", "-b", "03:00.0"], []),
    ],
)
def test_options_that_only_eal_may_know(passthrough, unknown):
    assert unknown_options(passthrough) == unknown
