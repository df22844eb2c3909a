# SPDX-License-Identifier: BSD-3-Clause
"""Options of `wirerate kernel-path`, and how long it is said to take."""

from __future__ import annotations

import pytest

from wirerate.cli.kernel_path_args import settings_of
from wirerate.cli.main import main, parse
from wirerate.methods.kernel_groups import row_names
from wirerate.methods.kernel_path_time import expected_s, left_s
from wirerate.plan.kernel_path_settings import Group, settings_document

REAL = ("--port", "03:00.0", "--address", "192.0.2.2/24", "--server", "192.0.2.1")


def settings(*words):
    return settings_of(parse(["kernel-path", *words]))


def test_defaults():
    found = settings()
    assert found.groups == tuple(Group)
    assert found.modes == ("shared", "dedicated")
    document = settings_document(found)
    assert document | {"cpus": 0} == {
        "groups": ["linux", "tap", "af_packet", "af_xdp", "virtio-user", "kni"],
        "modes": ["shared", "dedicated"],
        "repeats": 3,
        "time_s": 3,
        "parallel": 1,
        "offloads": False,
        "udp_rate_bps": 10**10,
        "udp_length": None,
        "ipv6": False,
        "fast_path": True,
        "fast_path_work_ns": 5000,
        "cpu_saver": False,
        "setting": "self-contained",
        "real": None,
        "cpus": 0,
    }


def test_all_of_them():
    found = settings(
        *("--groups", "tap, linux", "--modes", "dedicated", "--time", "1m", "--repeats", "5"),
        *("--parallel", "4", "--offloads", "on", "--udp-rate", "none", "--udp-length", "64"),
        *("--ipv6", "--fast-path-work", "1.5us", "--no-fast-path", "--cpu-saver"),
    )
    assert found.groups == (Group.TAP, Group.LINUX)
    assert (found.modes, found.time_s, found.repeats) == (("dedicated",), 60, 5)
    assert (found.parallel, found.offloads, found.udp_rate_bps) == (4, True, 0)
    assert (found.udp_length, found.ipv6, found.fast_path) == (64, True, False)
    assert (found.fast_path_work_ns, found.cpu_saver) == (1500, True)


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("192.0.2.1", ("192.0.2.1", 5201)),
        ("192.0.2.1:5300", ("192.0.2.1", 5300)),
        ("peer.example:1", ("peer.example", 1)),
        ("2001:db8::1", ("2001:db8::1", 5201)),
        ("[2001:db8::1]", ("2001:db8::1", 5201)),
        ("[2001:db8::1]:65535", ("2001:db8::1", 65535)),
    ],
)
def test_servers(server, expected):
    real = settings(*REAL[:-1], server).real
    assert (real.server, real.server_port) == expected


def test_real_ports():
    found = settings(*REAL, "--linux-interface", "eth1")
    assert found.real.location.text == "0000:03:00.0"
    assert str(found.real.address) == "192.0.2.2/24"
    assert found.real.linux_interface == "eth1"
    assert not found.ipv6
    document = settings_document(found)
    assert document["setting"] == "real"
    assert set(document["real"]) == {"port", "address", "server", "linux_interface"}
    assert document["real"]["linux_interface"] == "eth1"
    assert settings(*REAL[:3], "2001:db8::2/64", *REAL[4:]).ipv6, "by the address"
    settings(*REAL[:3], "192.0.2.1/31", *REAL[4:])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--groups", "taps"), "there is no group 'taps'; there are linux, tap, "),
        (("--groups", "tap,tap"), "given twice"),
        (("--groups", ""), "linux,tap say"),
        (("--modes", "both"), "there is no mode 'both'; there are shared, dedicated"),
        (("--time", "0"), "--time '0'"),
        (("--time", "1500ms"), "whole seconds, 1 to 3,600"),
        (("--time", "2h"), "whole seconds"),
        (("--repeats", "0"), "--repeats '0'"),
        (("--parallel", "129"), "1 to 128"),
        (("--offloads", "maybe"), "--offloads"),
        (("--udp-rate", "fast"), "--udp-rate 'fast' is not understood"),
        (("--udp-length", "65508"), "16 to 65,507"),
        (("--fast-path-work", "2ms"), "--fast-path-work '2ms': not between 0 and 1 ms"),
        (("--port", "03:00.0"), "--address, --server missing"),
        (REAL[:4], "--server missing"),
        (("--linux-interface", "eth1"), "give --port, --address and --server too"),
        ((*REAL, "--linux-interface", "a/b"), "--linux-interface 'a/b'"),
        ((*REAL, "--ipv6"), "the address 192.0.2.2/24 is IPv4"),
        ((*REAL[:3], "192.0.2.2", *REAL[4:]), "--address '192.0.2.2'"),
        ((*REAL[:3], "192.0.2.255/24", *REAL[4:]), "--address '192.0.2.255/24'"),
        ((*REAL[:3], "hello/24", *REAL[4:]), "--address 'hello/24'"),
        (("--port", "eth0", *REAL[2:]), "'eth0'"),
        ((*REAL[:-1], "a b"), "--server 'a b'"),
        ((*REAL[:-1], ""), "--server ''"),
        ((*REAL[:-1], "host:0"), "port '0'"),
        ((*REAL[:-1], "host:"), "port ''"),
        ((*REAL[:-1], "[192.0.2.1]:x"), "port 'x'"),
        ((*REAL[:-1], "1::2::3"), "--server '1::2::3'"),
        (("--csv", "/nowhere/x.csv"), "--csv '/nowhere/x.csv'"),
        (("--plots", "/dev/null/x"), "no folder can be there"),
        (("--list", "--cleanup"), "not allowed with"),
        (("tap",), "unknown argument 'tap'"),
    ],
)
def test_what_is_refused(words, said, capsys):
    assert main(["kernel-path", *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_time():
    found = settings("--groups", "linux,tap", "--modes", "shared")
    names = row_names(found)
    times = [expected_s(name, found) for name in names]
    assert times[0] > 3 * 4 * 3, "no less than the transfers"
    assert times[1] > times[0], "with the fast path"
    assert left_s(names, 0, found, 0.0) == sum(times)
    assert left_s(names, 1, found, 2 * times[0]) == 2 * times[1], "a slow machine stays slow"
    assert left_s(names, 2, found, 99.0) == 0
    without = settings("--groups", "tap", "--modes", "shared", "--no-fast-path")
    assert expected_s(row_names(without)[0], without) == times[0]
