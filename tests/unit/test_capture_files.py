# SPDX-License-Identifier: BSD-3-Clause
"""No port, and no preview, may write a capture file that somebody reads."""

from pathlib import Path

import pytest

from wirerate.errors import PlanError
from wirerate.host.capture_files import check_capture_files, check_output
from wirerate.plan.decode import decode_plan


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A directory with trace.pcap, in it the names of it that are no names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.pcap").write_bytes(b"frames")
    (tmp_path / "link.pcap").symlink_to("trace.pcap")
    (tmp_path / "hard.pcap").hardlink_to("trace.pcap")
    (tmp_path / "there").symlink_to(".")
    (tmp_path / "later.pcap").symlink_to("new.pcap")
    return tmp_path


def plan(*locations, trace=None):
    ports = [{"name": f"n{n}", "location": text} for n, text in enumerate(locations)]
    extension = {"x-wirerate": {"trace": {"file": trace}}} if trace else {}
    flow = {"name": "web", "tx_rx": {"port": {"tx_name": "n0"}}, **extension}
    return decode_plan({"ports": ports, "flows": [flow]})


def check(made):
    check_capture_files(made, [f"port {port.name}" for port in made.ports])


@pytest.mark.parametrize(
    "name", ["trace.pcap", "./trace.pcap", "link.pcap", "hard.pcap", "there/link.pcap"]
)
def test_a_trace_is_not_overwritten(name):
    says = rf"^port n0 \(pcap:,{name}\) would overwrite {name}, which flow web reads"
    with pytest.raises(PlanError, match=says):
        check(plan(f"pcap:,{name}", trace="trace.pcap"))


@pytest.mark.parametrize(
    ("locations", "says"),
    [
        (["pcap:trace.pcap,link.pcap"], r"overwrite link.pcap, which port n0 \(pcap:trace.*reads"),
        (["pcap:trace.pcap,", "pcap:,trace.pcap"], r"port n1 .* overwrite .*which port n0"),
        (["pcap:,trace.pcap", "vdev:net_pcap7,rx_pcap=link.pcap"], r"port n0 .*which port n1"),
        (["vdev:net_pcap7,rx_iface=lo,tx_pcap=a.pcap", "pcap:,a.pcap"], "writes the same file"),
        (["pcap:,new.pcap", "pcap:,there/new.pcap"], "the same file as new.pcap"),
        (["pcap:,later.pcap", "pcap:,new.pcap"], "the same file as later.pcap"),
        (["pcap:,link.pcap", "pcap:,hard.pcap"], "the same file as link.pcap"),
    ],
)
def test_a_file_that_is_written_is_nobody_elses(locations, says):
    with pytest.raises(PlanError, match=says):
        check(plan(*locations))


@pytest.mark.parametrize(
    ("locations", "trace"),
    [
        (["pcap:trace.pcap,new.pcap", "pcap:link.pcap,other.pcap"], "trace.pcap"),
        (["pcap:,/dev/null", "pcap:,/dev/../dev/null"], None),
        (["pcap:,nowhere/a.pcap", "pcap:,nowhere/b.pcap"], None),
        (["vdev:net_null0,tx_pcap=trace.pcap"], "trace.pcap"),
    ],
)
def test_what_takes_nothing_from_anybody(locations, trace):
    check(plan(*locations, trace=trace))


def test_a_preview_does_not_overwrite_a_trace(place):
    made = plan("null:x", trace="trace.pcap")
    with pytest.raises(PlanError, match=r"^-o 'link.pcap': .*flow web reads"):
        check_output(place / "link.pcap", "-o 'link.pcap'", made)
    check_output(Path("new.pcap"), "-o new.pcap", made)
