# SPDX-License-Identifier: BSD-3-Clause
"""BiTester's files: read as they are, every mistake with its line, every value checked."""

import pytest

from wirerate.errors import PlanError
from wirerate.plan.flows_conf import FILE_OCTETS_MAX, KEYS, Given, load_conf, read_conf
from wirerate.plan.flows_settings import DEFAULTS, Mode, flow_traffic, parse_speed
from wirerate.units import Rate, RateKind

AS_BITESTER_HAS_IT = b"""\
src_mac   08:00:27:00:00:83
_dst_mac   08:00:27:00:00:82
dst_mac   08:00:27:00:00:9b
_dst_mac   08:00:27:00:00:5e  \n\
src_ip    192.168.201.1
dst_ip    192.168.201.2
src_port  7788
dst_port  5001
flow_num  1000  # \xe6\xb5\x81 more than one
cps       100
payload   1470  #Throughput:1~1470
mode      0  #0:throughput 1:latency
"""


def traffic(*, jumbo=False, stamped=False, **given):
    values = {key: Given(text, f"a.conf:1: {key}") for key, text in given.items()}
    return flow_traffic(values, jumbo=jumbo, stamped=stamped)


def refused(*parts, **given):
    with pytest.raises(PlanError) as error:
        traffic(**given)
    for part in parts:
        assert part in str(error.value), str(error.value)


def test_a_file_of_bitester_as_it_is():
    conf = read_conf(AS_BITESTER_HAS_IT, "bw.conf")
    assert conf.warnings == ()
    found = flow_traffic(conf.values, jumbo=False, stamped=False)
    assert (found.src_mac, found.dst_mac) == ("08:00:27:00:00:83", "08:00:27:00:00:9b")
    assert (str(found.src_ip), str(found.dst_ip)) == ("192.168.201.1", "192.168.201.2")
    assert (found.src_port, found.dst_port) == (7788, 5001)
    assert (found.flow_num, found.cps, found.payload) == (1000, 100.0, 1470)
    assert found.mode is Mode.THROUGHPUT
    assert found.frame_size == 14 + 20 + 8 + 1470 + 4


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("blank", [b" ", b"\t", b" \t  "])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_blanks_and_marks(end, blank, mark):
    text = mark + end.join([b"cps" + blank + b"5" + blank, b"", b"  mode" + blank + b"1#x"])
    conf = read_conf(text, "a.conf")
    assert {key: given.text for key, given in conf.values.items()} == {"cps": "5", "mode": "1"}
    assert conf.values["mode"].place == "a.conf:3: mode"


def test_unknown_keys_warn_with_their_line():
    conf = read_conf(b"\nspeed 5\ncsp 3\ncps=9\nflow_num 2 3 4\n_what ever\n", "a.conf")
    assert [given.text for given in conf.values.values()] == ["2"]
    speed, near, equals, rest = conf.warnings
    assert speed.startswith("a.conf:2: there is no key 'speed' (keys are src_mac, ")
    assert near == "a.conf:3: there is no key 'csp' (is it cps?); it is left out"
    assert equals.startswith("a.conf:4: there is no key 'cps=9' (write cps, a blank, and the value")
    assert rest.startswith("a.conf:5: '3 4' behind the value of flow_num is left out; put #")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"cps 1\ncps 2", "a.conf:2: cps is given in line 1 already; leave out one"),
        (b"\ncps", "a.conf:2: cps has no value; write it behind a blank"),
        (b"cps # 5", "a.conf:1: cps has no value"),
        ("cps 5".encode("utf-16"), "a.conf: it is text in UTF-16; save it as UTF-8"),
    ],
)
def test_refused_files(text, message):
    with pytest.raises(PlanError) as error:
        read_conf(text, "a.conf")
    assert str(error.value).startswith(message)


def test_files_that_cannot_be_read(tmp_path):
    large = tmp_path / "large"
    large.write_bytes(b"#" * (FILE_OCTETS_MAX + 1))
    for path, part in (
        (tmp_path / "none", "cannot be read: No such file"),
        (tmp_path, "it is a directory"),
        (large, "more than 1 MiB"),
        ("/dev/zero", "not a regular file"),
        ("a\0b", "not the name of a file"),
    ):
        with pytest.raises(PlanError, match=part):
            load_conf(type(tmp_path)(path))
    large.write_bytes(b"cps 7")
    assert load_conf(large).values["cps"] == Given("7", f"{large}:1: cps")


def test_defaults():
    assert set(DEFAULTS) == set(KEYS)
    found = traffic()
    assert found.src_mac is None
    assert (str(found.src_ip), str(found.dst_ip)) == ("198.18.0.1", "198.19.0.1")
    assert (found.flow_num, found.cps, found.payload, found.mode) == (1, 10000.0, 18, 0)
    assert found.frame_size == 64


def test_an_ipv6_address_makes_the_other_one_too():
    assert str(traffic(src_ip="2001:2::9").dst_ip) == "2001:2:0:1::1"
    assert str(traffic(dst_ip="2001:2::9").src_ip) == "2001:2::1"
    assert traffic(src_ip="2001:2::9").frame_size == 84


def test_payloads_make_frames():
    assert traffic(payload="0").frame_size == 64
    assert traffic(payload="19").frame_size == 65
    assert traffic(payload="1472").frame_size == 1518
    assert traffic(payload="9572", jumbo=True).frame_size == 9618
    assert traffic(payload="0", src_ip="::2").frame_size == 66


BAD = {
    "src_mac": [("08:00", "six octets"), ("01:00:5e:00:00:01", "group"), ("gg:0:0:0:0:0", "six")],
    "dst_mac": [("", "six octets"), ("08:00:27:00:00:83:99", "six octets"), ("own", "six octets")],
    "src_ip": [
        ("198.18.0", "IPv4 or IPv6"),
        ("198.18.0.256", "IPv4 or IPv6"),
        ("0.0.0.0", "no station"),
        ("224.0.0.1", "no station"),
        ("host", "IPv4 or IPv6"),
    ],
    "dst_ip": [("0.0.0.0", "nobody"), ("fe80::1%eth0", "zones"), ("1.2.3.4/24", "IPv4 or IPv6")],
    "src_port": [("65536", "0 to 65,535"), ("-1", "0 to 65,535"), ("http", "whole number")],
    "dst_port": [("65536", "0 to 65,535"), ("1.5", "whole number")],
    "flow_num": [("0", "1 to 4,294,967,296"), ("4294967297", "1 to"), ("9" * 40, "1 to")],
    "cps": [("0", "no flow would ever be added"), ("-5", "flows per second"), ("nan", "flows per")],
    "payload": [
        ("1473", "1,501 octets, more than the MTU of 1,500; lower it to 1,472, or add --jumbo"),
        ("-1", "whole number"),
        ("big", "whole number"),
    ],
    "mode": [("3", "0 to 2"), ("bps", "whole number")],
}


@pytest.mark.parametrize(
    ("key", "text", "part"),
    [(key, text, part) for key, cases in BAD.items() for text, part in cases],
)
def test_nonsense_values(key, text, part):
    refused(f"a.conf:1: {key} {text[:20]!r}"[:-1], part, **{key: text})


def test_values_that_do_not_fit_each_other():
    refused("dst_ip", "IPv4", "src_ip 2001:2::1 is IPv6", src_ip="2001:2::1", dst_ip="1.2.3.4")
    refused("65,536 source addresses", src_ip="255.255.0.1", flow_num=str(1 << 32))
    assert traffic(src_ip="255.255.0.0", flow_num=str(1 << 32)).flow_num == 1 << 32
    refused("takes 16 octets", "raise it to 16", src_ip="2001:2::1", payload="15", mode="1")
    assert traffic(src_ip="2001:2::1", payload="16", mode="1").frame_size == 82
    with pytest.raises(PlanError, match=r"MTU of 9,600; lower it to 9,572$"):
        traffic(payload="9573", jumbo=True)
    with pytest.raises(PlanError, match="stamp"):
        traffic(src_ip="2001:2::1", payload="15", stamped=True)


def test_speeds():
    assert parse_speed("5000", "-s", Mode.THROUGHPUT) == Rate(RateKind.L1_BPS, 5e9)
    assert parse_speed(".5", "-s", Mode.ONE_CORE) == Rate(RateKind.FPS, 5e5)
    assert parse_speed("0.05", "-s", Mode.TWO_CORES) == Rate(RateKind.FPS, 5e4)
    assert parse_speed("10%", "-s", Mode.TWO_CORES) == Rate(RateKind.PERCENT, 10)
    assert parse_speed("5Mpps", "-s", Mode.THROUGHPUT) == Rate(RateKind.FPS, 5e6)
    assert parse_speed("3Gbps:L2", "-s", Mode.THROUGHPUT) == Rate(RateKind.L2_BPS, 3e9)
    for text in ("0", "1e999", "fast", "3Gbps", "", "-1"):
        with pytest.raises(PlanError, match=r"^-s"):
            parse_speed(text, "-s", Mode.THROUGHPUT)
