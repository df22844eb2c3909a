# SPDX-License-Identifier: BSD-3-Clause
"""What all reports of `wirerate kernel-path` read of its JSON document: labels, rows, figures.

The document: docs/design/0009-kernel-path.md. A figure that was not measured is None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.plan.kernel_path_settings import Transfer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Row = Mapping[str, Any]

TESTS = {transfer.value: transfer.title for transfer in Transfer}
"""What each is called; in the order of columns."""
RATES = [
    (name, key)
    for protocol in ("tcp", "udp")
    for key in ("gbps", "pps")
    for name in TESTS
    if name.startswith(protocol)
]
"""Test and figure of each column of the reference's table, in its order."""
CPU_PARTS = {
    "application": "application",
    "near_iperf": "near iperf3",
    "far_iperf": "far iperf3",
    "machine": "machine",
}
"""Whose CPU time; `machine` has all the others in it."""
NONE = "-"
"""Shown for what was not measured."""
_NOT_RUN = "not run"
"""Of tests that a failure before them kept from being run."""
_GIGA = 1e9
NS_PER_FRAME = "ns_per_frame"
S_PER_GB = "s_per_gb"


def label(row: Row) -> str:
    """As the reference calls its rows: `tap`, `tap(dedicated)`."""
    dedicated = row["mode"] == "dedicated"
    return f"{row['group']}(dedicated)" if dedicated else str(row["group"])


def measured_rows(document: Mapping[str, Any]) -> list[Row]:
    """Rows with anything measured, whatever became of them then."""
    return [row for row in tried_rows(document) if row.get("tests") or row.get("ping")]


def tried_rows(document: Mapping[str, Any]) -> list[Row]:
    """Rows that could run, failed ones too."""
    return [row for row in document["rows"] if row["status"] != "cannot run"]


def test_of(row: Row, name: str) -> Mapping[str, Any] | None:
    """A test that was measured."""
    test = (row.get("tests") or {}).get(name)
    return test if test is not None and test["status"] == "ok" else None


def stat_of(row: Row, name: str, *keys: str) -> Mapping[str, float] | None:
    """A figure of a test (median, min, max), by the keys that lead to it."""
    found: Any = test_of(row, name)
    for key in keys:
        if found is None:
            return None
        found = found.get(key)
    return found if found is None or found["median"] is not None else None


def median_of(row: Row, name: str, *keys: str) -> float | None:
    """Its median."""
    stat = stat_of(row, name, *keys)
    return None if stat is None else stat["median"]


def spread_of(stat: Mapping[str, float]) -> float | None:
    """How far the repeats go from the median at most, as a share of it; None: of a median of 0."""
    median = stat["median"]
    if not median:
        return None
    return max(stat["max"] - median, median - stat["min"]) / median


def ping_of(row: Row, when: str) -> Mapping[str, Any] | None:
    """Of `idle`, a test's name, or `saturated`."""
    found: Mapping[str, Any] | None = (row.get("ping") or {}).get(when)
    return found


def ping_figure(row: Row, when: str, key: str) -> float | None:
    """One figure of it."""
    ping = ping_of(row, when)
    return None if ping is None else ping[key]


def loaded_ping(row: Row, key: str) -> float | None:
    """The worst of the four tests."""
    pings = [ping_of(row, name) for name in TESTS]
    values = [one[key] for one in pings if one is not None and one[key] is not None]
    return max(values, default=None)


def fast_of(row: Row, when: str, key: str) -> float | None:
    """Of the fast path: `idle`, `loaded` or `saturated`."""
    part = (row.get("fast_path") or {}).get(when)
    return None if part is None else part.get(key)


def failures(row: Row) -> Iterator[str]:
    """What failed in a row, a sentence each; nothing of rows that cannot run at all."""
    if row["status"] == "failed":
        yield row["reason"]
    for name, title in TESTS.items():
        test = (row.get("tests") or {}).get(name)
        if test is not None and test["status"] != "ok" and test["reason"] != _NOT_RUN:
            yield f"{title}: {test['reason']}"


def doubts(row: Row) -> list[str]:
    """Why a row that was measured is not valid, but for what `failures` tells."""
    told = set(failures(row))
    return [reason for reason in row["verdict"]["reasons"] if reason not in told]


def percent(ratio: float | None) -> str:
    """Three digits of it."""
    return NONE if ratio is None else f"{100 * ratio:.3g} %"


def whole(value: float | None) -> str:
    """Without digits behind the point."""
    return NONE if value is None else f"{value:,.0f}"


def title_of(document: Mapping[str, Any]) -> str:
    """The settings that matter to the figures, in one line."""
    settings = document["settings"]
    parts = [
        _setting(settings),
        f"{settings['repeats']} x {settings['time_s']:g} s",
        f"{settings['parallel']} stream{'s' if settings['parallel'] > 1 else ''}",
        "IPv6" if settings["ipv6"] else "IPv4",
        _udp(settings),
        f"offloads {'on' if settings['offloads'] else 'off'}",
        f"{settings['cpus']} CPUs",
    ]
    return ", ".join(parts)


def _setting(settings: Mapping[str, Any]) -> str:
    if settings["setting"] != "real":
        return "self-contained"
    real = settings.get("real")  # earlier documents do not have it
    return f"{real['port']} to {real['server']}" if real else "a remote iperf3 server"


def _udp(settings: Mapping[str, Any]) -> str:
    rate, octets = settings["udp_rate_bps"], settings["udp_length"]
    offered = f"{rate / _GIGA:g} Gbit/s" if rate else "as fast as it goes"
    return f"UDP offered {offered}" + (f" in {octets:,} octets" if octets else "")
