# SPDX-License-Identifier: BSD-3-Clause
"""The options of `wirerate forward` and `wirerate reflect`."""

from ipaddress import ip_address
from pathlib import Path

import pytest

from support.forwarders import settings_of
from wirerate.errors import PlanError
from wirerate.plan.forward_settings import Capture, HostAddress, Rewrite, Way, Work

PAIR = ("forward", "null:a", "null:b")


def refusal(*words):
    with pytest.raises(PlanError) as caught:
        settings_of(*words)
    return str(caught.value)


def test_pairs_are_forwarded_both_ways():
    ways = settings_of("forward", "null:a", "null:b", "null:c", "null:d").ways
    assert ways == (Way(0, 1), Way(1, 0), Way(2, 3), Way(3, 2))


def test_one_way_is_one_way():
    assert settings_of(*PAIR, "--one-way").ways == (Way(0, 1),)


def test_ports_before_the_dashes_are_ports():
    settings = settings_of("forward", "-a", "03:00.0", "-a", "03:00.1", "--", "-m", "1.0/2.1")
    assert [location.text for location in settings.locations] == ["0000:03:00.0", "0000:03:00.1"]


def test_a_reflector_sends_back_on_each_port():
    settings = settings_of("reflect", "null:a", "null:b")
    assert settings.ways == (Way(0, 0), Way(1, 1))
    assert settings.rewrite is Rewrite.REVERSE


@pytest.mark.parametrize(
    ("option", "rewrite"),
    [
        ("--reverse", Rewrite.REVERSE),
        ("--mac-swap", Rewrite.MAC_SWAP),
        ("--as-is", Rewrite.NONE),
    ],
)
def test_what_a_reflector_rewrites(option, rewrite):
    assert settings_of("reflect", "null:a", option).rewrite is rewrite


@pytest.mark.parametrize(
    ("word", "rewrite"),
    [("none", Rewrite.NONE), ("mac-swap", Rewrite.MAC_SWAP), ("reverse", Rewrite.REVERSE)],
)
def test_what_a_forwarder_rewrites(word, rewrite):
    assert settings_of(*PAIR, "--rewrite", word).rewrite is rewrite


def test_a_forwarder_changes_nothing_by_itself():
    settings = settings_of(*PAIR)
    assert settings.rewrite is Rewrite.NONE
    impairments = settings.impairments
    assert (impairments.drop, impairments.duplicate, impairments.reorder) == (0, 0, 0)
    assert (impairments.delay_ns, impairments.seed, impairments.work) == (0, 1, Work())


def test_receive_only():
    assert settings_of("reflect", "null:a", "--rx-only").ways == (Way(0, None),)


@pytest.mark.parametrize("option", ["--work=1", "--drop=1%", "--delay=1ms"])
def test_who_only_receives_impairs_nothing(option):
    assert "--rx-only: nothing is sent" in refusal("reflect", "null:a", "--rx-only", option)


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("400", Work(cycles=400)),
        ("400cycles", Work(cycles=400)),
        ("1 cycle", Work(cycles=1)),
        ("150ns", Work(time_ns=150)),
        ("1.5us", Work(time_ns=1500)),
        ("0", Work()),
    ],
)
def test_work(text, work):
    assert settings_of(*PAIR, f"--work={text}").impairments.work == work


def test_work_in_time_is_cycles_of_the_clock():
    assert Work(time_ns=150).in_cycles(2_700_000_000) == 405
    assert Work(cycles=400).in_cycles(2_700_000_000) == 400


@pytest.mark.parametrize(
    "text", ["-1", "-150ns", "1e9", "2000000000", "4cycle s", "1h", "101ms", ""]
)
def test_work_that_is_none(text):
    assert refusal(*PAIR, f"--work={text}").startswith(f"--work '{text}'")


@pytest.mark.parametrize(
    ("text", "ratio"), [("0.1%", 0.001), ("0.001", 0.001), ("100%", 1.0), ("1", 1.0), ("0", 0.0)]
)
@pytest.mark.parametrize("name", ["drop", "duplicate", "reorder"])
def test_ratios(name, text, ratio):
    impairments = settings_of(*PAIR, f"--{name}", text).impairments
    assert getattr(impairments, name) == pytest.approx(ratio)


@pytest.mark.parametrize("text", ["1.1", "101%", "-0.1", "nan", "inf", "5 percent", "%", ""])
def test_ratios_that_are_none(text):
    assert refusal(*PAIR, f"--drop={text}").startswith(f"--drop '{text}'")


@pytest.mark.parametrize(
    ("text", "delay_ns"),
    [("1ms", 10**6), ("150ns", 150), ("1s", 10**9), ("0ns", 0), ("1.5us", 1500)],
)
def test_delays(text, delay_ns):
    assert settings_of(*PAIR, "--delay", text).impairments.delay_ns == delay_ns


@pytest.mark.parametrize("text", ["1", "2s", "-1ms", "nanms", "1h"])
def test_delays_that_are_none(text):
    assert refusal(*PAIR, f"--delay={text}").startswith(f"--delay '{text}'")


def test_delayed_frames_need_mbufs():
    assert settings_of(*PAIR).mbufs == 8192
    assert settings_of(*PAIR, "--delay", "1ms").mbufs == 8192 + 10_000
    assert settings_of(*PAIR, "--delay", "10ms").mbufs == 8192 + 100_000
    assert settings_of(*PAIR, "--delay", "1s").mbufs == 8192 + 100_000
    given = settings_of(*PAIR, "--delay", "1ms", "-M", "100")
    assert (given.mbufs, given.mbufs_given) == (100, True)


@pytest.mark.parametrize("option", ["-b", "--burst", "--burst-count"])
def test_bursts(option):
    assert settings_of(*PAIR, option, "64").burst == 64


def test_seeds():
    assert settings_of(*PAIR, "--seed", str(2**63 - 1)).impairments.seed == 2**63 - 1
    assert "--seed" in refusal(*PAIR, "--seed", str(2**63))
    assert "--seed" in refusal(*PAIR, "--seed=-1")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["forward", "null:a"], ["1 locations", "needs pairs", "wirerate reflect"]),
        (["forward", "null:a", "null:b", "null:c"], ["3 locations"]),
        (["forward"], ["no location"]),
        (["reflect"], ["no location"]),
        (["reflect", "null:a", "null:a"], ["null:a", "2 times"]),
        (["forward", "null:a", "null:a"], ["null:a", "2 times"]),
        (["reflect", *(f"null:n{at}" for at in range(65))], ["65 ports", "64"]),
        (["reflect", "null:a", "--as-is", "--mac-swap"], ["not allowed with"]),
        (["forward", "null:a", "null:b", "--rewrite", "5tswap"], ["5tswap"]),
        (["reflect", "null:a", "-q", "0"], ["-q '0'"]),
        (["reflect", "null:a", "-m", "1.1"], ["port 1 does not exist"]),
    ],
)
def test_what_is_refused(words, parts):
    text = refusal(*words)
    assert [part for part in parts if part not in text] == []


def test_addresses():
    settings = settings_of(
        *PAIR, "--address", "10.0.0.2/24", "--address", "1=fd00::2", "--address", "0=fd00::1/64"
    )
    assert settings.addresses == (
        HostAddress(0, ip_address("10.0.0.2")),
        HostAddress(1, ip_address("fd00::2")),
        HostAddress(0, ip_address("fd00::1")),
    )


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("10.0.0", "no IPv4 or IPv6 address"),
        ("2=10.0.0.1", "there is no port 2"),
        ("224.0.0.1", "no host has this address"),
        ("0.0.0.0", "no host has this address"),
        ("255.255.255.255", "no host has this address"),
        ("ff02::1", "no host has this address"),
        ("", "no IPv4 or IPv6 address"),
    ],
)
def test_addresses_that_are_none(text, part):
    found = refusal(*PAIR, "--address", text)
    assert found.startswith(f"--address '{text}'")
    assert part in found


def test_addresses_are_given_once_and_where_something_is_received():
    twice = refusal(*PAIR, "--address", "10.0.0.1", "--address", "10.0.0.1/8")
    assert "10.0.0.1 2 times" in twice
    assert "port 1 receives nothing" in refusal(*PAIR, "--one-way", "--address", "1=10.0.0.1")


def test_captures():
    settings = settings_of(
        *PAIR, "--capture", "/x/a.pcap", "--capture", "1=b.pcapng,udp port 53", "--capture-frames=5"
    )
    assert settings.captures == (
        Capture(0, "/x/a.pcap", "", 5),
        Capture(1, str(Path.cwd() / "b.pcapng"), "udp port 53", 5),
    )


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--capture", ",udp"], "no file"),
        (["--capture", "7=x.pcap"], "there is no port 7"),
        (["--capture", "a.pcap", "--capture", "b.pcap"], "port 0 is given 2 times"),
        (["--capture", "a.pcap", "--capture", "1=a.pcap"], "is given 2 times"),
    ],
)
def test_captures_that_are_none(words, part):
    assert part in refusal(*PAIR, *words)


@pytest.mark.parametrize(
    ("words", "most"),
    [((), 0), (("--count-flows",), 1 << 20), (("--count-flows=16777216",), 1 << 24)],
)
def test_flows_are_counted(words, most):
    assert settings_of(*PAIR, *words).distinct_max == most


@pytest.mark.parametrize("text", ["0", "16777217", "-1", "1.5", "1M", "", "null:c"])
def test_flows_that_cannot_be_counted(text):
    assert "--count-flows" in refusal(*PAIR, f"--count-flows={text}")


def test_where_counters_are_told():
    assert settings_of(*PAIR).listen is None
    assert str(settings_of(*PAIR, "--listen", "8080").listen) == "127.0.0.1:8080"
    assert str(settings_of(*PAIR, "--listen", "[::]:0").listen) == "[::]:0"
    assert "--listen" in refusal(*PAIR, "--listen", "everywhere")
