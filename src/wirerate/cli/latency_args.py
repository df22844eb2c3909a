# SPDX-License-Identifier: BSD-3-Clause
"""Readers of the options about latencies: a floor to take off.

A result that is to be the floor is opened here, when the settings are made.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wirerate.errors import PlanError
from wirerate.units import parse_duration_ns

FLOOR_MAX_NS = 1_000_000_000
_RESULT_OCTETS_MAX = 64 << 20


def floor_ns(text: str) -> float:
    """A latency to take off all others [ns]: ``350ns``, or a file with an earlier JSON result.

    Of that it is the least latency of all flows. Raises PlanError.
    """
    path = Path(text)
    if text.endswith(".json") or path.is_file():
        return _least_of_result(path)
    floor = parse_duration_ns(text, "--floor")
    if floor > FLOOR_MAX_NS:
        raise PlanError(f"--floor {text!r}: more than a second; give the unit too, as in 350ns")
    return float(floor)


def _least_of_result(path: Path) -> float:
    least: Any = _result(path).get("total")
    for key in ("latency_ns", "min"):
        least = least.get(key) if isinstance(least, dict) else None
    known = isinstance(least, (int, float)) and not isinstance(least, bool)
    if not known or not 0 <= float(least) <= FLOOR_MAX_NS:
        raise PlanError(
            f"--floor {path}: it has no total.latency_ns.min of up to a second; give a JSON result "
            "of measured flows"
        )
    return float(least)


def _result(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            document = json.loads(file.read(_RESULT_OCTETS_MAX))
    except OSError as error:
        raise PlanError(f"--floor {path}: {error.strerror}; give a time or a result") from error
    except (ValueError, RecursionError) as error:
        raise PlanError(f"--floor {path}: it is not JSON ({error}); give a JSON result") from error
    if not isinstance(document, dict):
        raise PlanError(f"--floor {path}: it is no result; give a JSON result of measured flows")
    if document.get("total", {}) and _own_floor(document["total"]) != 0:
        raise PlanError(
            f"--floor {path}: a floor has been taken off that result itself; give one without"
        )
    return document


def _own_floor(total: Any) -> Any:
    latency = total.get("latency_ns") if isinstance(total, dict) else None
    return latency.get("floor_ns", 0) if isinstance(latency, dict) else 0
