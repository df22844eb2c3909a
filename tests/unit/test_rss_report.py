# SPDX-License-Identifier: BSD-3-Clause
"""The page and the charts of `wirerate rss`, made of a document alone."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

from support.page import Balance
from support.rss_document import QUEUES, SIZES, WORKS, rss_document
from wirerate.cli.main import main
from wirerate.report.charts import svg_text, write_files
from wirerate.report.rss_html import html
from wirerate.report.rss_plots import charts


def test_the_page_is_whole_and_fetches_nothing():
    page = html(rss_document())
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    assert parser.fetched == []
    assert "<script" not in page
    assert page.count("<svg") == 3
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids)), "charts of one page must not share ids"


def test_what_the_page_says():
    page = html(rss_document())
    assert "the peer &lt;left&gt;" in page, "text is escaped"
    assert "<td>9,333</td>" in page, "a cell that the forwarder limits is shown in full"
    assert 'class="doubt" title="limited by the line rate">10,000<' in page
    assert page.index("work 400 cycles") < page.index("BaseLine")
    bad = {"valid": False, "reasons": ["1 < 2"], "notes": []}
    assert "1 &lt; 2" in html(rss_document(verdict=bad))


def test_every_cell_that_was_measured_is_a_point():
    throughput, speed_up, cost = charts(rss_document())
    assert [panel.title for panel in throughput.panels] == [
        *(f"work {work} cycles" for work in WORKS),
        "BaseLine (no work)",
    ]
    first = throughput.panels[0].lines
    assert [line.label for line in first] == ["1 queue", "2 queues", "4 queues", "line rate"]
    assert [point.x for point in first[0].points] == list(SIZES)
    assert [point.x for point in first[1].points] == [64, 128, 512, 1024], "one failed"
    assert [point.hollow for point in first[1].points] == [True] * 4
    assert first[0].points[0].y == pytest.approx(9.333, abs=0.001)
    assert [point.x for point in speed_up.panels[0].lines[0].points] == list(QUEUES)
    assert [line.label for line in cost.panels[0].lines][:2] == ["1 queue", "80 + 1.01 work"]


def test_charts_with_nothing_to_show_are_left_out():
    none = [cell | {"status": "failed"} for cell in rss_document()["cells"]]
    assert charts(rss_document(cells=none)) == []
    one = [cell for cell in rss_document()["cells"] if cell["queues"] == 1]
    assert [chart.name for chart in charts(rss_document(cells=one))] == ["throughput", "cost"]
    assert html(rss_document(cells=none)).count("<svg") == 0


def test_files(tmp_path):
    folder = tmp_path / "new" / "plots"
    written = write_files(charts(rss_document()), folder)
    assert sorted(path.name for path in written) == sorted(
        f"{name}.{kind}" for name in ("throughput", "speed-up", "cost") for kind in ("png", "svg")
    )
    for path in written:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        else:
            assert ET.fromstring(path.read_text()).tag.endswith("svg")


def test_the_same_document_makes_the_same_chart():
    first, again = (svg_text(charts(rss_document())[0]) for _ in range(2))
    assert first == again


def test_the_command(tmp_path, capsys):
    file, page = tmp_path / "result.json", tmp_path / "page.html"
    file.write_text(json.dumps(rss_document()))
    assert main(["report", str(file), "-o", str(page), "--plots", str(tmp_path / "p")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"Written: {page}"
    assert page.read_text() == html(rss_document())


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (None, 3, "No such file"),
        (b"\xff\xfe", 2, "UTF-8"),
        (b"{", 2, "line 1: not JSON"),
        (b"[]", 2, "schema None has no page"),
        (
            b'{"schema": "wirerate-perf/1"}',
            2,
            "there are pages of wirerate-rss/1, wirerate-kernel-path/1",
        ),
    ],
)
def test_wrong_files(tmp_path, capsys, content, code, words):
    file = tmp_path / "result.json"
    if content is not None:
        file.write_bytes(content)
    assert main(["report", str(file), "-o", str(tmp_path / "x.html")]) == code
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_nowhere_to_write(tmp_path, capsys):
    file = tmp_path / "result.json"
    file.write_text(json.dumps(rss_document()))
    assert main(["report", str(file)]) == 2
    assert main(["report", str(file), "-o", str(tmp_path)]) == 3
    assert main(["report", str(file), "--plots", str(file)]) == 3
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_a_document_with_something_missing(tmp_path, capsys):
    file = tmp_path / "result.json"
    for field in ("cells", "settings", "rss", "fits", "verdict", "environment"):
        document = rss_document()
        del document[field]
        file.write_text(json.dumps(document))
        assert main(["report", str(file), "-o", str(tmp_path / "x.html")]) == 2
        assert f"'{field}' is missing" in capsys.readouterr().err
