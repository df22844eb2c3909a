# SPDX-License-Identifier: BSD-3-Clause
"""How long a `wirerate kernel-path` still takes, by its settings, then by its rows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.kernel_path_settings import Group, Transfer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.methods.kernel_groups import RowName
    from wirerate.plan.kernel_path_settings import KernelPathSettings

_SETUP_S = 2.0
"""Of the two sides and, where there is one, the application."""
_TRANSFER_S = 1.0
"""Of a transfer beside its time: both iperf3 start, connect, end and tell."""
_GENERATOR_S = 3.0
"""The same of the fast path's generator, whose frames settle after the last one."""


def expected_s(name: RowName, settings: KernelPathSettings) -> float:
    """The time of a row [s], about."""
    transfers = settings.repeats * len(Transfer) * (settings.time_s + _TRANSFER_S)
    total = _SETUP_S + settings.time_s + transfers
    if name.group is Group.LINUX or not settings.fast_path or settings.real is not None:
        return total
    fast = 3 * (settings.time_s + _GENERATOR_S)  # alone, beside a transfer, saturated
    return total + fast + _SETUP_S


def left_s(
    names: Sequence[RowName], done: int, settings: KernelPathSettings, gone_s: float
) -> float:
    """What rows after the first ``done`` ones take [s]; those took ``gone_s`` together."""
    times = [expected_s(name, settings) for name in names]
    foretold = sum(times[:done])
    slower = gone_s / foretold if foretold else 1.0
    return slower * sum(times[done:])
