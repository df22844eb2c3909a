# SPDX-License-Identifier: BSD-3-Clause
"""Units: the figures everybody knows, and every way to get a rate wrong."""

import pytest

from wirerate import units
from wirerate.errors import ExitCode, PlanError
from wirerate.units import Rate, RateKind, parse_duration_ns, parse_line_rate, parse_rate

TEN_G = 10_000_000_000


def test_figures_of_a_64_octet_frame():
    assert units.frame_len_no_fcs(64) == 60
    assert units.line_octets(64) == 84
    assert units.wire_bits(64) == 672  # pktperf's WireSize
    assert units.line_rate_fps(TEN_G, 64) == pytest.approx(14_880_952.38, abs=0.01)


@pytest.mark.parametrize(
    ("line_rate_bps", "frame_size", "fps"),
    # pktperf's printout for 40 and 100 Gbit/s; RFC 2544 appendix B for 10 Mbit/s Ethernet.
    [
        (40e9, 64, 59_523_809),
        (100e9, 64, 148_809_523),
        (10e6, 64, 14_880),
        (10e6, 512, 2_349),
        (10e6, 1518, 812),
    ],
)
def test_line_rate_in_frames(line_rate_bps, frame_size, fps):
    assert int(units.line_rate_fps(line_rate_bps, frame_size)) == fps


def test_bits_of_both_layers():
    assert units.l1_bps(1000, 64) == 672_000
    assert units.l2_bps(1000, 64) == 512_000


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("50", RateKind.PERCENT, 50),
        ("50%", RateKind.PERCENT, 50),
        ("0.5%", RateKind.PERCENT, 0.5),
        (" 100 ", RateKind.PERCENT, 100),
        (".5", RateKind.PERCENT, 0.5),
        ("14.88Mpps", RateKind.FPS, 14_880_000),
        ("1000pps", RateKind.FPS, 1000),
        ("1kpps", RateKind.FPS, 1000),
        ("1Kfps", RateKind.FPS, 1000),
        ("1e6pps", RateKind.FPS, 1_000_000),
        ("5Gbps:L1", RateKind.L1_BPS, 5e9),
        ("5Gbps:L2", RateKind.L2_BPS, 5e9),
        ("5Gbit/s:L1", RateKind.L1_BPS, 5e9),
        ("5gbits/s:l2", RateKind.L2_BPS, 5e9),
        ("0.1Tb/s:L2", RateKind.L2_BPS, 1e11),
    ],
)
def test_rates_that_are_understood(text, kind, value):
    assert parse_rate(text) == Rate(kind, value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0", "zero"),
        ("0%", "zero"),
        ("0.0Mpps", "zero"),
        ("-5", "negative"),
        ("-1Mpps", "negative"),
        ("nan", "not a finite"),
        ("inf", "not a finite"),
        ("nanpps", "not a finite"),
        ("1e999pps", "not a finite"),
        ("1e300Tpps", "not a finite"),
        ("101%", "no more than 100 %"),
        ("100.001", "no more than 100 %"),
        ("5Gbps", "5Gbps:L1 counts all"),
        ("5Gbps", "5Gbps:L2 counts the frame with its FCS"),
        ("5GBps:L1", "B is octets"),
        ("5GB/s:L1", "B is octets"),
        ("5Gbps:L3", "not understood"),
        ("5%:L1", "only bits per second"),
        ("5pps:L2", "only bits per second"),
        ("5M", "m of what"),
        ("999Tbps:L1", "'999Tbps:L1': more than a line of 100 Tbit/s carries"),
        ("101Tbps:L2", "more than a line"),
        ("", "not understood"),
        ("fast", "not understood"),
        ("5 5", "not understood"),
        ("1,000pps", "not understood"),
        ("\u0665\u0660", "not understood"),
    ],
)
def test_rates_that_are_errors(text, says):
    with pytest.raises(PlanError, match=says) as caught:
        parse_rate(text)
    assert caught.value.exit_code == ExitCode.BAD_PLAN


def test_percent_of_a_line():
    assert parse_rate("50").to_fps(64, TEN_G) == pytest.approx(7_440_476.19, abs=0.01)
    assert parse_rate("100").to_fps(64, TEN_G) == units.line_rate_fps(TEN_G, 64)


def test_percent_without_a_line():
    assert parse_rate("100%").to_fps(64, None) is None
    with pytest.raises(PlanError, match="add --line-rate"):
        parse_rate("99.9%").to_fps(64, None)


@pytest.mark.parametrize("line_rate_bps", [None, TEN_G])
def test_absolute_rates(line_rate_bps):
    assert parse_rate("1Mpps").to_fps(64, line_rate_bps) == 1e6
    assert parse_rate("672kbps:L1").to_fps(64, line_rate_bps) == pytest.approx(1000)
    assert parse_rate("512kbps:L2").to_fps(64, line_rate_bps) == pytest.approx(1000)


@pytest.mark.parametrize("text", ["15Mpps", "10.1Gbps:L1", "7.7Gbps:L2", "10Gbps:L2"])
def test_more_than_the_line(text):
    with pytest.raises(PlanError, match=r"a line of 10 Gbit/s carries 14\.88 Mfps"):
        parse_rate(text).to_fps(64, TEN_G)


def test_a_rounded_figure_is_the_line_rate():
    assert parse_rate("14.880953Mpps").to_fps(64, TEN_G) == units.line_rate_fps(TEN_G, 64)


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("10G", TEN_G),
        ("10Gbps", TEN_G),
        ("10Gbit/s", TEN_G),
        ("2.5G", 2_500_000_000),
        ("100M", 10**8),
        ("1T", 10**12),
        ("10000000", 10**7),
    ],
)
def test_line_rates(text, bps):
    assert parse_line_rate(text) == bps


@pytest.mark.parametrize(
    "text", ["10", "0G", "-1G", "nanG", "10X", "", "10GBps", "10%", "1e99G", "G"]
)
def test_line_rates_that_are_errors(text):
    with pytest.raises(PlanError, match="line rate"):
        parse_line_rate(text)


@pytest.mark.parametrize(
    ("text", "duration_ns"),
    [
        ("5", 5 * 10**9),
        ("5s", 5 * 10**9),
        ("0.5", 5 * 10**8),
        ("500ms", 5 * 10**8),
        ("2m", 120 * 10**9),
        ("2min", 120 * 10**9),
        ("1h", 3600 * 10**9),
        ("10us", 10_000),
    ],
)
def test_durations(text, duration_ns):
    assert parse_duration_ns(text) == duration_ns


@pytest.mark.parametrize("text", ["0", "-5", "nan", "inf", "5x", "", "s", "1e30", "9999999h"])
def test_durations_that_are_errors(text):
    with pytest.raises(PlanError, match="duration"):
        parse_duration_ns(text)


def test_counts_for_people():
    assert units.format_count(59_523_809) == "59,523,809"
    assert units.format_count(14_880_952.38) == "14,880,952"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (14_880_952.38, "14.88 Mpps"),
        (1e10, "10 Gpps"),
        (512, "512 pps"),
        (999_999, "1 Mpps"),
        (999_949, "999.9 kpps"),
        (0, "0 pps"),
        (0.5, "0.5 pps"),
        (1234.5, "1.234 kpps"),
        (148_809_523, "148.8 Mpps"),
    ],
)
def test_engineering_notation(value, text):
    assert units.format_engineering(value, "pps") == text


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (5 * 10**9, "5 s"),
        (500_000_000, "500 ms"),
        (1500, "1.5 us"),
        (12, "12 ns"),
        (150 * 10**9, "2 min 30 s"),
        (120 * 10**9, "2 min"),
        (3605 * 10**9, "1 h 0 min 5 s"),
    ],
)
def test_durations_for_people(duration_ns, text):
    assert units.format_duration_ns(duration_ns) == text
