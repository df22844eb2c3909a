# SPDX-License-Identifier: BSD-3-Clause
"""A report as one HTML file that needs nothing else: no network, no script, charts as SVG inside.

A command's own module (`rss_html`) says what its sections hold; how a page looks is settled here
and in templates/page.html. All text is escaped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wirerate.report.charts import svg_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.report.charts import Chart


@dataclass(frozen=True)
class Cell:
    """Text of a table's cell.

    ``doubt``: shown pale; ``why``: shown when pointed at; ``words``: flush left, numbers are right.
    """

    text: str
    doubt: bool = False
    why: str = ""
    words: bool = False


@dataclass(frozen=True)
class Table:
    """``columns`` are the heads, each row has a cell for each."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Section:
    """A part of a page, in this order."""

    title: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    charts: Sequence[Chart[Any]] = field(default=())


def page(title: str, subtitle: str, verdict: Mapping[str, Any], sections: Sequence[Section]) -> str:
    """The whole file; ``verdict`` as in JSON documents: ``valid``, ``reasons``, ``notes``."""
    environment = Environment(
        loader=PackageLoader("wirerate.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    number = 0
    shown = []
    for section in sections:
        drawn = []
        for chart in section.charts:
            number += 1
            drawn.append({"svg": _inline(chart, number), "caption": chart.caption})
        shown.append(
            {
                "title": section.title,
                "paragraphs": section.paragraphs,
                "tables": section.tables,
                "charts": drawn,
            }
        )
    return environment.get_template("page.html").render(
        title=title, subtitle=subtitle, verdict=verdict, sections=shown
    )


def _inline(chart: Chart[Any], number: int) -> Markup:
    """The chart's SVG; ids get a prefix, for those of several charts would meet in one page."""
    svg = svg_text(chart)
    prefix = f"c{number}-"
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    svg = re.sub(r'href="#', f'href="#{prefix}', svg)
    return Markup(svg)  # noqa: S704 -- matplotlib's own, which escapes the text in it
