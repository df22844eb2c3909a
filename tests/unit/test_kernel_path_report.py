# SPDX-License-Identifier: BSD-3-Clause
"""Text, CSV, charts and page of `wirerate kernel-path`, made of a document alone."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET

import pytest

from support.kernel_path_document import (
    absent_row,
    kernel_path_document,
    linux_row,
    measured_row,
)
from support.page import Balance
from wirerate.cli.main import main
from wirerate.methods.kernel_row import failed_row
from wirerate.report.charts import Bar, BarPanel, Bars, Chart, svg_text, write_files
from wirerate.report.kernel_path_csv import csv_text
from wirerate.report.kernel_path_html import html
from wirerate.report.kernel_path_plots import charts
from wirerate.report.kernel_path_text import WIDTH, kernel_path_text, row_line
from wirerate.report.kernel_path_view import spread_of, title_of


def lines_of(document, room=None):
    return kernel_path_text(document, room).splitlines()


def words_of(lines, first):
    """The words of the line that begins with one."""
    return next(line.split() for line in lines if line.split()[:1] == [first])


# --- text ---


def test_the_reference_s_table():
    lines = lines_of(kernel_path_document())
    at = lines.index(next(line for line in lines if line.startswith("---")))
    heads = [line.split() for line in lines[at - 3 : at]]
    columns = list(zip(*heads, strict=True))
    assert columns == [
        (protocol, direction, unit)
        for protocol in ("TCP", "UDP")
        for unit in ("Gbps", "pps")
        for direction in ("read", "write")
    ]
    assert lines[at + 1].split() == [
        *("linux", "9.47", "10.42", "779,809", "857,790"),
        *("11.36", "12.31", "935,771", "1,013,752"),
    ]
    assert lines[at + 2].split() == ["±3%"] * 8
    assert [line.split()[0] for line in lines[at + 1 : at + 11 : 2]] == [
        *("linux", "tap", "tap(dedicated)", "af_packet*", "af_packet(dedicated)*"),
    ]


def test_one_repeat_has_no_spread():
    document = kernel_path_document()
    document["settings"]["repeats"] = 1
    text = kernel_path_text(document, None)
    assert "±" not in text
    assert "repeats go" not in text


def test_nothing_is_dropped_silently():
    text = kernel_path_text(kernel_path_document(), None)
    assert "virtio-user: there is no /dev/vhost-net; to change it: modprobe vhost_net" in text
    assert "kni: DPDK 22.11 here is built without net_kni" in text
    assert "af_packet: failed: UDP write: iperf3: unable to connect" in text
    assert text.count("UDP write: iperf3: unable to connect") == 1, "told once"
    assert "af_packet(dedicated): failed: the engine died" in text
    several = "tap, tap(dedicated), af_packet: TCP write: one CPU, the near iperf3 was busy to 99 %"
    assert several in text, "said once for all"
    assert "Verdict: invalid" in text


def test_what_was_not_measured_is_a_dash():
    lines = lines_of(kernel_path_document())
    table = lines[next(at for at, line in enumerate(lines) if line.startswith("Ping")) :]
    assert words_of(table, "linux")[-2:] == ["-", "-"], "nothing is saturated without an engine"
    assert words_of(table, "af_packet")[6] == "-", "no reply came"
    table = lines[next(at for at, line in enumerate(lines) if line.startswith("CPU")) :]
    assert words_of(table, "linux") == ["linux", *"----", *["3,300"] * 4]
    assert words_of(table, "tap") == ["tap", *["500"] * 4, *["3,300"] * 4]


def test_loss_and_disturbance():
    lines = lines_of(kernel_path_document())
    table = lines[next(at for at, line in enumerate(lines) if line.startswith("Loss")) :]
    assert " ".join(words_of(table, "tap")) == (
        "tap 12.5 % 12.5 % 0 % 120 10 % 4,200 400,000 183,456"
    )


@pytest.mark.parametrize("room", [None, 80, 100, 200])
def test_no_line_is_too_long(room):
    document = kernel_path_document(
        rows=[linux_row(), measured_row("virtio-user", "dedicated", 99.99)]
    )
    document["rows"][1]["limits"] = ["very long " * 30]
    for gbps in (0.01, 9.99, 123.4):
        document["rows"][1]["tests"]["tcp_read"]["gbps"]["median"] = gbps
        assert max(map(len, lines_of(document, room))) <= min(room or WIDTH, WIDTH)


def test_nothing_measured():
    none = [absent_row("tap", "shared", "cannot run", "no net_tap")]
    text = kernel_path_text(kernel_path_document(rows=none), None)
    assert "tap: no net_tap" in text
    assert "Gbps" not in text
    assert kernel_path_text(kernel_path_document(rows=[]), None).startswith("Kernel path: ")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (measured_row("tap", "dedicated", 2.0), "tap(dedicated): TCP read 2.00, TCP write 2.20, "),
        (absent_row("tap", "shared", "failed", "it died"), "tap: failed: it died"),
        (absent_row("kni", "shared", "cannot run", "no kni"), "kni: cannot run: no kni"),
    ],
)
def test_a_row_in_one_line(row, said):
    assert row_line(row).startswith(said)


@pytest.mark.parametrize(
    ("stat", "spread"),
    [((10, 9, 10.5), 0.1), ((10, 9.9, 12), 0.2), ((10, 10, 10), 0), ((0, 0, 1), None)],
)
def test_spread(stat, spread):
    found = spread_of(dict(zip(("median", "min", "max"), stat, strict=True)))
    assert found == (None if spread is None else pytest.approx(spread))


def test_settings_in_one_line():
    document = kernel_path_document()
    assert "UDP offered as fast as it goes in 1,470 octets, offloads off" in title_of(document)
    document["settings"] |= {"setting": "real", "udp_rate_bps": 10**10, "udp_length": None}
    assert title_of(document).startswith("a remote iperf3 server, "), "as earlier documents have it"
    document["settings"]["real"] = {"port": "03:00.0", "server": "192.0.2.1:5201"}
    assert title_of(document).startswith("03:00.0 to 192.0.2.1:5201, ")
    assert "UDP offered 10 Gbit/s, offloads off" in title_of(document)


# --- CSV ---


def test_a_row_for_each_repeat():
    document = kernel_path_document()
    document["rows"][0]["tests"]["tcp_read"]["repeats"][1] |= {
        "valid": False,
        "reasons": ["a, b", "c"],
        "steal": 7,
    }
    rows = list(csv.DictReader(io.StringIO(csv_text(document))))
    own = [row for row in rows if row["group"] == "linux" and row["test"] == "tcp_read"]
    assert [row["repeat"] for row in own] == ["0", "1"]
    assert [row["steal"] for row in own] == ["", "7"], "what a repeat has besides is a column"
    assert (own[1]["valid"], own[1]["reasons"]) == ("False", "a, b; c")
    assert float(own[1]["gbps"]) == pytest.approx(1.02 * 9.47)
    assert len(rows) == 8 + 8 + 8 + 7 + 3


def test_what_has_no_repeat_has_a_row_too():
    rows = list(csv.DictReader(io.StringIO(csv_text(kernel_path_document()))))
    failed = next(row for row in rows if row["test_status"] == "failed")
    assert failed["test_reason"] == "iperf3: unable to connect"
    absent = next(row for row in rows if row["group"] == "kni")
    assert absent["reason"] == "DPDK 22.11 here is built without net_kni"
    assert absent["repeat"] == ""


# --- charts and page ---


def test_charts():
    gbps, pps, cpu, ping = charts(kernel_path_document())
    assert [chart.name for chart in (gbps, pps, cpu, ping)] == ["gbps", "pps", "cpu", "ping"]
    titles = ["TCP read", "TCP write", "UDP read", "UDP write"]
    assert [panel.title for panel in gbps.panels] == titles
    read = gbps.panels[0]
    assert read.categories == ("linux", "tap", "af_packet")
    assert [series.label for series in read.series] == ["Linux itself", "shared", "dedicated"]
    linux, shared, dedicated = (series.bars for series in read.series)
    assert [bar is None for bar in linux] == [False, True, True]
    assert shared[1] == Bar(2.61, 0.97 * 2.61, 1.02 * 2.61)
    assert dedicated[1] == Bar(3.67, 0.97 * 3.67, 1.02 * 3.67)
    assert gbps.panels[3].series[1].bars[2] is None, "the test that failed"


def test_parts_of_the_cpu_time_are_the_whole():
    cpu = charts(kernel_path_document())[2].panels[0]
    assert cpu.stacked
    assert cpu.categories == ("linux", "tap", "tap(dedicated)", "af_packet")
    linux, tap = ([bar.value for s in cpu.series if (bar := s.bars[at])] for at in (0, 1))
    assert sum(tap) == pytest.approx(3300.0)
    assert linux == [0.0, 1000.0, 1500.0, 800.0]


def test_ping_without_a_reply_has_no_bar():
    document = kernel_path_document(rows=[measured_row("tap", "shared", 1.0)])
    lost = {"p50_us": None, "p99_us": None, "loss": 1.0}
    document["rows"][0]["ping"]["saturated"] |= lost
    panel = charts(document)[3].panels[0]
    assert [series.label for series in panel.series] == ["idle", "beside a test (the worst)"]


def test_charts_with_nothing_to_show_are_left_out():
    assert charts(kernel_path_document(rows=[])) == []
    page = html(kernel_path_document(rows=[]))
    assert page.count("<svg") == 0
    assert page.count("<table") == 0


def test_bars_are_drawn_where_they_belong():
    bars = (Bar(1.0, 0.9, 1.1), None, Bar(0.5, 0.5, 0.5))
    series = (Bars("one", bars), Bars("two", (None, None, Bar(20.0, 20.0, 20.0)), 1))
    for more in ({}, {"stacked": True}, {"log_x": True}):
        chart = Chart("c", "t", "", (BarPanel("p", "x", ("a", "b", "c"), series, **more),))
        assert svg_text(chart) == svg_text(chart), "the same data, the same file"
        texts = {"".join(one.itertext()).strip() for one in ET.fromstring(svg_text(chart)).iter()}
        assert {"a", "b", "c", "one", "two"} <= texts


def test_files(tmp_path):
    written = write_files(charts(kernel_path_document()), tmp_path / "plots")
    names = ("gbps", "pps", "cpu", "ping")
    assert sorted(path.name for path in written) == sorted(
        f"{name}.{kind}" for name in names for kind in ("png", "svg")
    )


def test_the_page_is_whole_and_fetches_nothing():
    page = html(kernel_path_document())
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    assert parser.fetched == []
    assert page.count("<svg") == 4
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids)), "charts of one page must not share ids"


def test_what_the_page_says():
    page = html(kernel_path_document())
    assert "the engine died &lt;there&gt;" in page, "text is escaped"
    assert 'title="2.53 to 2.66">2.61<' in page
    assert 'class="doubt" title="1.01 to 1.06">1.04<' in page, "a row that is not valid is pale"
    assert "modprobe vhost_net" in page
    assert '<td>tap, tap(dedicated), af_packet</td><td class="words">limit</td>' in page
    assert "<td>42 %</td>" in page


@pytest.mark.parametrize("field", ["rows", "settings", "verdict", "environment"])
def test_a_document_with_something_missing(tmp_path, capsys, field):
    file = tmp_path / "result.json"
    document = kernel_path_document()
    del document[field]
    file.write_text(json.dumps(document))
    assert main(["report", str(file), "-o", str(tmp_path / "x.html")]) == 2
    assert f"'{field}' is missing" in capsys.readouterr().err


def test_the_report_command(tmp_path, capsys):
    file, page = tmp_path / "result.json", tmp_path / "page.html"
    file.write_text(json.dumps(kernel_path_document()))
    assert main(["report", str(file), "-o", str(page), "--plots", str(tmp_path / "p")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 9
    assert page.read_text() == html(kernel_path_document())


def test_a_row_that_ended_early_keeps_what_was_measured():
    row = failed_row(measured_row("tap", "shared", 2.61), "it died")
    row["tests"]["udp_write"] = {"status": "failed", "reason": "not run"}
    text = kernel_path_text(kernel_path_document(rows=[row]), None)
    assert words_of(text.splitlines(), "tap*")[1:3] == ["2.61", "2.87"]
    assert "  tap: failed: it died\n" in text
    assert "not run" not in text, "what a failure before it kept from being run"
    assert text.count("it died") == 1
