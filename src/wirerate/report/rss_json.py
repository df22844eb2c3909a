# SPDX-License-Identifier: BSD-3-Clause
"""The result of `wirerate rss --check` for programs: schema wirerate-rss-check/1 (docs/rss.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wirerate.plan.rss_settings import RECEIVER, SENDER
from wirerate.report.rss_text import verdict_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.plan.rss_hash import Imbalance
    from wirerate.trial.rss_check import Checked, RssResult
    from wirerate.trial.steering import Steering

SCHEMA = "wirerate-rss-check/1"
_MISPLACED_MAX = 1000


def document(result: RssResult, environment: Mapping[str, Any]) -> dict[str, Any]:
    """The whole document. ``environment``: see `wirerate.host.environment`."""
    settings = result.settings
    predicted, observed = result.predicted, result.observed
    expected, seen = result.imbalances()
    given, differing = result.hashes
    return {
        "schema": SCHEMA,
        "passed": result.passed,
        "verdict": verdict_text(result),
        "sender": _port(result, SENDER),
        "receiver": _port(result, RECEIVER) | {"rss": result.infos[RECEIVER]["rss"]},
        "settings": {
            "queues": settings.queues,
            "flows": settings.flows,
            "ip_version": settings.kind.version,
            "layer4": settings.kind.layer4.value or None,
            "spread": str(settings.spread),
            "seed": settings.seed,
        },
        "queues": [
            {
                "queue": queue,
                "predicted": None if predicted is None else predicted[queue],
                "observed": observed[queue],
            }
            for queue in range(settings.queues)
        ],
        "imbalance": {"predicted": _imbalance(expected), "observed": _imbalance(seen)},
        "lost": result.lost,
        "misplaced": None if predicted is None else len(result.misplaced),
        "misplaced_flows": []
        if predicted is None
        else [_misplaced(one) for one in result.misplaced[:_MISPLACED_MAX]],
        "hashes": {"given": given, "differing": differing},
        "steering": [_steering(one) for one in result.steering],
        "engine": {"version": result.about["version"], "dpdk": result.about["dpdk"]},
        "environment": dict(environment),
    }


def _port(result: RssResult, place: int) -> dict[str, Any]:
    info = result.infos[place]
    location = str(result.settings.locations[place])
    return {"location": location, "driver": info["driver"], "mac": info["mac"]}


def _imbalance(index: Imbalance | None) -> dict[str, float] | None:
    return None if index is None else asdict(index)


def _misplaced(one: Checked) -> dict[str, Any]:
    assert one.landing is not None
    return {
        "flow": str(one.flow),
        "hash": one.hash,
        "predicted": one.queue,
        "observed": one.landing.queue,
        "observed_hash": one.landing.hash,
    }


def _steering(one: Steering) -> dict[str, Any]:
    return {
        "rule": one.rule.params,
        "outcome": one.outcome.value,
        "reason": one.reason,
        "before": {str(queue): count for queue, count in sorted(one.before.items())},
        "after": {str(queue): count for queue, count in sorted(one.after.items())},
    }
