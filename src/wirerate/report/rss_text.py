# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate rss --check` shows: the device's settings, a row per queue, verdict, steering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.rss_hash import DEFAULT_KEY, SYMMETRIC_KEY
from wirerate.plan.rss_settings import RECEIVER, SENDER
from wirerate.report.columns import Column, table_lines, terminal_columns, wrapped
from wirerate.trial.steering import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.plan.rss_hash import Imbalance
    from wirerate.trial.rss_check import RssResult
    from wirerate.trial.steering import Steering

_COLUMNS = (
    Column("queue", 5),
    Column("predicted", 10),
    Column("observed", 10),
    Column("as predicted", 12),
)
_RETA_SHOWN = 16
_SHOWN = 5
"""Flows that went elsewhere are named up to this number."""
_OUTCOMES = {
    Outcome.STEERS: "steers",
    Outcome.IGNORED: "accepted but IGNORED",
    Outcome.REFUSED: "refused",
    Outcome.UNDECIDED: "cannot be told",
}


def rss_text(result: RssResult) -> str:
    """The whole report."""
    settings = result.settings
    drivers = [info["driver"] for info in result.infos]
    receiver = f"{settings.locations[RECEIVER]} ({drivers[RECEIVER]}), {settings.queues} queues"
    flows = f"{settings.flows:,}, {settings.kind}, spread {settings.spread}, seed {settings.seed}"
    lines = [
        f"Sender: {settings.locations[SENDER]} ({drivers[SENDER]})",
        f"Receiver: {receiver}",
        *_device_lines(result),
        f"Flows: {flows}; a frame of each",
        "",
        *table_lines(_COLUMNS, _rows(result), terminal_columns()),
        "",
        *_judgement(result),
        *_steering_lines(result.steering),
    ]
    return wrapped("\n".join(lines), terminal_columns())


def _device_lines(result: RssResult) -> Iterator[str]:
    rss = result.rss
    if rss is None:
        yield "RSS: this device has none; what it does with flows is only observed"
        return
    known = {
        DEFAULT_KEY: " (Microsoft's default)",
        SYMMETRIC_KEY: " (symmetric)",
    }
    name = known.get(rss.key[: len(DEFAULT_KEY)], "")
    yield f"Key: {rss.key.hex() or 'the device does not say'}{name}"
    yield f"Fields: {', '.join(sorted(rss.fields))}"
    yield f"Table: {_reta_text(rss.reta)}"


def _reta_text(reta: Sequence[int]) -> str:
    if not reta:
        return "the device does not say"
    period = next(
        n for n in range(1, len(reta) + 1) if all(reta[i] == reta[i % n] for i in range(len(reta)))
    )
    shown = " ".join(str(queue) for queue in reta[: min(period, _RETA_SHOWN)])
    more = " ..." if period > _RETA_SHOWN else ""
    return f"{len(reta)} entries, {shown}{more}" + (" repeated" if period < len(reta) else "")


def _rows(result: RssResult) -> Iterator[tuple[str, ...]]:
    predicted, observed = result.predicted, result.observed
    for queue in range(result.settings.queues):
        right = sum(one.as_predicted for one in result.checked if one.queue == queue)
        told = ("-", "-") if predicted is None else (f"{predicted[queue]:,}", f"{right:,}")
        yield f"{queue}", told[0], f"{observed[queue]:,}", told[1]


def _judgement(result: RssResult) -> Iterator[str]:
    predicted, observed = result.imbalances()
    if predicted is not None:
        yield f"Imbalance predicted: {_imbalance_text(predicted)}"
    if observed is not None:
        yield f"Imbalance observed: {_imbalance_text(observed)}"
    given, differing = result.hashes
    if result.predicted is not None:
        said = f"equal to the prediction for {given - differing:,} of {given:,} flows"
        yield f"Hashes: {said if given else 'the device gives none with its frames'}"
    yield f"Verdict: {verdict_text(result)}"
    for one in result.misplaced[:_SHOWN] if result.predicted is not None else ():
        assert one.landing is not None
        yield f"  {one.flow}: queue {one.landing.queue} instead of {one.queue}"


def _imbalance_text(index: Imbalance) -> str:
    return f"max/mean {index.max_over_mean:.3f}, Jain {index.jain:.4f}"


def verdict_text(result: RssResult) -> str:
    """One sentence."""
    flows = len(result.checked)
    if result.predicted is None:
        return "no prediction: the device does not say how it spreads flows"
    if result.passed:
        return f"all {flows:,} flows as predicted"
    parts = []
    if result.misplaced:
        parts.append(f"{len(result.misplaced):,} of {flows:,} flows not as predicted")
    if result.lost:
        parts.append(f"{result.lost:,} of {flows:,} frames did not arrive")
    if result.hashes[1]:
        parts.append(f"{result.hashes[1]:,} hashes differ")
    return "; ".join(parts)


def _steering_lines(steering: Sequence[Steering]) -> Iterator[str]:
    if steering:
        yield ""
    for one in steering:
        rule = one.rule
        port = "" if rule.udp_port is None else f" UDP {rule.udp_port}"
        reason = f": {one.reason}" if one.reason else ""
        yield (
            f"Steering {rule.destination}{port} to queue {rule.queue}: "
            f"{_OUTCOMES[one.outcome]}{reason}"
        )
