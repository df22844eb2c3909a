# SPDX-License-Identifier: BSD-3-Clause
"""What `--converge` asks for, whoever asks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

TOLERANCE_DEFAULT = 0.01
TRIAL_DEFAULT_NS = 2_000_000_000
INTERVAL_DEFAULT_NS = 1_000_000_000
"""BiTester looks about every second."""


class ConvergeTo(Enum):
    """What limits the rate that is sought."""

    LOSS = "loss"
    CPU = "cpu"


@dataclass(frozen=True)
class Converge:
    """Search for a rate instead of running one trial.

    ``max_loss`` and ``tolerance`` are ratios, ``max_time_ns`` None = until it ends by itself.
    ``follow``: go on, and search anew when conditions change (CPU only).
    """

    to: ConvergeTo
    max_loss: float = 0.0
    tolerance: float = TOLERANCE_DEFAULT
    max_time_ns: int | None = None
    follow: bool = False
