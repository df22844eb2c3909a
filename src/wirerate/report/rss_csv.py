# SPDX-License-Identifier: BSD-3-Clause
"""The trials of an RSS sweep as CSV (RFC 4180): a row for each, made of the JSON document."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_CELL = ("queues", "work", "size", "status", "reason", "shared_cores", "binds", "speed_up")
_TRIAL = (
    "forwarding_fps",
    "offered_fps",
    "loss_ratio",
    "generator_busy",
    "bursts_short",
    "unsent",
    "missed",
    "valid",
)
_LISTS = ("per_queue_fps", "forwarder_busy")


def csv_text(document: Mapping[str, Any]) -> str:
    """A heading, then a row per trial; a failed cell without trials has one row of its own.

    What each queue or lcore did is one column, with blanks between the values.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*_CELL, "trial", *_TRIAL, *_LISTS])
    for cell in document["cells"]:
        head = [cell[name] for name in _CELL]
        if not cell["trials"]:
            writer.writerow([*head, *("" for _ in range(1 + len(_TRIAL) + len(_LISTS)))])
        for number, trial in enumerate(cell["trials"]):
            lists = [" ".join(f"{value:.6g}" for value in trial[name]) for name in _LISTS]
            writer.writerow([*head, number, *(trial[name] for name in _TRIAL), *lists])
    return text.getvalue()
