# SPDX-License-Identifier: BSD-3-Clause
"""Captures of a plan and of the command line: files, filters as libpcap sees them, errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

from support.libpcap import offline_filter
from wirerate.cli.capture_args import capture_words, with_captures
from wirerate.cli.main import parse
from wirerate.errors import PlanError
from wirerate.plan.captures import Capture
from wirerate.plan.decode import decode_plan

FLOW = {
    "name": "f",
    "tx_rx": {"port": {"tx_name": "a", "rx_names": ["a=b"]}},
    "packet": [{"ethernet": {}}],
    "size": {"fixed": 128},
}
PORTS = [{"name": "a", "location": "null:a"}, {"name": "a=b", "location": "null:b"}]


def plan(*captures, **flow):
    return {"ports": PORTS, "flows": [{**FLOW, **flow}], "captures": list(captures)}


def captures_of(*captures):
    return decode_plan(plan(*captures)).captures


def filter_of(*filters):
    (capture,) = captures_of({"name": "c", "port_names": ["a"], "filters": list(filters)})
    return capture.filter


def test_captures_are_read():
    first = {"name": "all/of it", "port_names": ["a", "a=b"]}
    second = {
        "name": "small",
        "port_names": ["a"],
        "format": "pcapng",
        "overwrite": False,
        "packet_size": "64",
    }
    assert captures_of(first, second) == (
        Capture("captures[0]", "a", Path("all_of_it-a.pcap"), "pcap", overwrite=True),
        Capture("captures[0]", "a=b", Path("all_of_it-a_b.pcap"), "pcap", overwrite=True),
        Capture("captures[1]", "a", Path("small-a.pcapng"), "pcapng", octets=64),
    )
    (whole,) = captures_of({"name": "c", "port_names": ["a"], "packet_size": 65535})
    assert whole.octets == 16_384


def test_what_the_engine_is_told():
    capture = Capture("", "a", Path("/x/a.pcap"), "pcap", filter="ip", octets=64, frames=7)
    assert capture.params("p0") == {
        "port": "p0",
        "path": "/x/a.pcap",
        "format": "pcap",
        "filter": "ip",
        "frames": 7,
        "octets": 64,
        "overwrite": False,
        "bad": False,
    }
    assert not {"filter", "octets"} & Capture("", "a", Path("/x")).params("p0").keys()


NAMED = {"name": "c", "port_names": ["a"]}
ERRORS = [
    ({"port_names": None}, r"captures\[0\]\.port_names: it is missing"),
    ({"port_names": []}, r"port_names: there is none"),
    ({"port_names": ["a", "a"]}, r"port_names\[1\]: port a is there twice"),
    ({"port_names": ["x"]}, r"port_names\[0\]: there is no port 'x'"),
    ({"packet_size": 15}, r"packet_size: 15 is not between 16 and 65535"),
    ({"format": "erf"}, r"format: 'erf' is not one of pcap, pcapng"),
    ({"filter": []}, r"captures\[0\]\.filter: there is no such key; is it filters\?"),
    ({"filters": [{"udp": {}}]}, r"filters\[0\]: one of custom, ethernet, vlan, "),
    ({"filters": [{"choice": "custom"}]}, r"filters\[0\]\.custom\.offset: it is missing"),
    (
        {"filters": [{"ethernet": {"dst": {"value": "ff0203040506f7"}}}]},
        r"dst\.value: 'ff0203040506f7' does not fit 48 bits",
    ),
    (
        {"filters": [{"ethernet": {"dst": {"value": 11}}}]},
        r"dst\.value: 11 is not a string of hexadecimal digits; put it in quotes",
    ),
    (
        {"filters": [{"ethernet": {"dst": {"value": "01", "mask": "00"}}}]},
        r"dst\.mask: it compares no more than the bits 0x0, but the value is 0x1",
    ),
    (
        {"filters": [{"ipv4": {"src": {"negate": True}}}]},
        r"src\.negate: the mask compares nothing",
    ),
    ({"filters": [{"ethernet": {"pfc_queue": {"value": "1"}}}]}, r"pfc_queue: wirerate does not"),
    ({"filters": [{"ipv4": {}}, {"vlan": {}}]}, r"filters\[1\]\.vlan: it comes behind ipv4"),
]


@pytest.mark.parametrize(("words", "message"), ERRORS)
def test_what_is_wrong_with_captures(words, message):
    with pytest.raises(PlanError, match=message):
        captures_of({**NAMED, **words})


def test_two_captures_never_write_one_file():
    with pytest.raises(PlanError, match=r"captures\[1\]\.name: its file is c_-a\.pcap, as that of"):
        captures_of({**NAMED, "name": "c/"}, {**NAMED, "name": "c?"})


ETHER = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
V4 = IP(src="10.1.2.3", dst="10.0.0.9", tos=0xB8, ttl=7, id=0x1234, flags="DF", proto=17)
V6 = IPv6(src="fd00::1", dst="fd00::2:3", tc=0xB8, fl=0xABCDE, hlim=9, nh=17)
UDP4 = bytes(ETHER / V4 / UDP() / bytes(60))
UDP6 = bytes(ETHER / V6 / UDP() / bytes(60))
TAGGED = bytes(ETHER / Dot1Q(vlan=100, prio=5) / V4 / UDP() / bytes(60))
TWICE = bytes(ETHER / Dot1Q(vlan=100) / Dot1Q(vlan=7, prio=1) / V6 / UDP())
FRAMES = {"udp4": UDP4, "udp6": UDP6, "tagged": TAGGED, "twice": TWICE}
DST = {"ethernet": {"dst": {"value": "020000000001"}}}
FILTERS = [
    ([], "udp4 udp6 tagged twice"),
    ([DST], "udp4 udp6 tagged twice"),
    ([{"ethernet": {"dst": {"value": "020000000001", "negate": True}}}], ""),
    ([{"ethernet": {"src": {"value": "000000000002", "mask": "0000000000ff"}}}], list(FRAMES)),
    ([{"ethernet": {"src": {"value": "00", "mask": "ff"}}}], ""),
    ([{"ethernet": {"ether_type": {"value": "86dd"}}}], "udp6"),
    ([{"ethernet": {"src": {"value": "00", "mask": "00"}}}], list(FRAMES)),
    ([DST, {"ipv4": {}}], "udp4"),
    ([{"ipv6": {}}], "udp6"),
    ([{"vlan": {}}], "tagged twice"),
    ([{"vlan": {"priority": {"value": "5"}}}], "tagged"),
    ([{"vlan": {"id": {"value": "64"}}}, {"ipv4": {}}], "tagged"),
    ([{"vlan": {"protocol": {"value": "8100"}}}], "twice"),
    ([{"vlan": {}}, {"vlan": {"id": {"value": "7"}}}, {"ipv6": {}}], "twice"),
    ([{"ipv4": {"src": {"value": "0a010000", "mask": "ffff0000"}}}], "udp4"),
    ([{"ipv4": {"src": {"value": "0a010000", "mask": "ffff0000", "negate": True}}}], ""),
    ([{"ipv4": {"priority": {"value": "b8"}, "time_to_live": {"value": "7"}}}], "udp4"),
    ([{"ipv4": {"dont_fragment": {"value": "1"}, "more_fragments": {"value": "0"}}}], "udp4"),
    ([{"ipv4": {"more_fragments": {"value": "1"}}}], ""),
    (
        [
            {
                "ipv4": {
                    "version": {"value": "4"},
                    "header_length": {"value": "5"},
                    "identification": {"value": "1234"},
                    "dont_fragment": {"value": "1"},
                    "fragment_offset": {"value": "0", "mask": "1fff"},
                    "protocol": {"value": "11"},
                    "dst": {"value": "0a000009"},
                }
            }
        ],
        "udp4",
    ),
    ([{"ipv4": {"dont_fragment": {"value": "1", "negate": True}}}], ""),
    (
        [
            {
                "ipv6": {
                    "version": {"value": "6"},
                    "traffic_class": {"value": "b8"},
                    "flow_label": {"value": "abcde"},
                    "next_header": {"value": "11"},
                    "hop_limit": {"value": "9"},
                    "src": {"value": "fd000000000000000000000000000001"},
                    "dst": {"value": "3", "mask": "ffff"},
                }
            }
        ],
        "udp6",
    ),
    ([{"ipv6": {"flow_label": {"value": "abcdf"}}}], ""),
    ([{"custom": {"offset": 5, "value": "01"}}], "udp4 udp6 tagged twice"),
    ([{"custom": {"offset": 12, "bit_length": 20, "value": "08004"}}], "udp4"),
]


@pytest.mark.parametrize(("filters", "passing"), FILTERS)
def test_a_filter_lets_the_right_frames_pass(filters, passing):
    expression = filter_of(*filters)
    words = passing.split() if isinstance(passing, str) else passing
    found = [name for name, frame in FRAMES.items() if offline_filter(expression, frame)]
    assert found == words, expression


def ready(tmp_path, *words, document=None):
    """The captures of a run with these options."""
    args = parse(["run", "plan.yaml", "--capture-dir", str(tmp_path), *words])
    made = decode_plan(document or plan(NAMED))
    return with_captures(made, args).captures


def test_files_of_a_run_are_absolute(tmp_path):
    file = tmp_path / "x.pcapng"
    first, second = ready(
        tmp_path, "--capture", f"a=b={file}", "--capture-filter", "udp", "--capture-frames", "9"
    )
    assert (first.file, first.frames) == (tmp_path / "c-a.pcap", 9)
    assert second == Capture(f"--capture a=b={file}", "a=b", file, "pcapng", filter="udp", frames=9)
    (_, short) = ready(tmp_path, "--capture", f"a={tmp_path}/b.pcap")
    assert (short.port, short.format) == ("a", "pcap")


def test_bad_frames_are_kept_of_ports_that_receive_measured_flows(tmp_path):
    measured = plan(metrics={"enable": True})
    (bad,) = ready(tmp_path, "--keep-bad", "20", document=measured)
    assert bad == Capture("--keep-bad", "a=b", tmp_path / "bad-a_b.pcapng", frames=20, bad=True)
    with pytest.raises(PlanError, match=r"--keep-bad: no flow is measured.* metrics\.enable"):
        ready(tmp_path, "--keep-bad", "20")


def test_what_is_wrong_with_files(tmp_path):
    def wrong(message, *words):
        with pytest.raises(PlanError, match=message):
            ready(tmp_path, *words)

    wrong(r"--capture a: write PORT=FILE", "--capture", "a")
    wrong(r"--capture x=y\.pcap: there is no port 'x'", "--capture", "x=y.pcap")
    wrong(r"must end in \.pcap or \.pcapng", "--capture", "a=y.txt")
    wrong(r"--capture-filter: there is no --capture", "--capture-filter", "udp")
    wrong(r"there is no directory", "--capture", f"a={tmp_path}/none/y.pcap")
    wrong(r"captures\[0\] writes the same file", "--capture", f"a={tmp_path}/c-a.pcap")
    (tmp_path / "d.pcap").mkdir()
    wrong(r"it is there and is no regular file", "--capture", f"a={tmp_path}/d.pcap")


def test_options_are_shown_as_they_were_given():
    words = ["--capture", "a=x.pcap", "--capture-filter", "udp", "--keep-bad", "3"]
    words += ["--capture-dir", "/x"]
    assert sorted(capture_words(parse(["run", "plan.yaml", *words]))) == sorted(words)
    assert capture_words(parse(["run", "plan.yaml"])) == []
