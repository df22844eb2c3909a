# SPDX-License-Identifier: BSD-3-Clause
"""All golden plans: importing the modules enters what they rebuild."""

from __future__ import annotations

from golden import (  # noqa: F401 -- they register
    rebuild_control,
    rebuild_flows,
    rebuild_ip,
    rebuild_link,
    rebuild_measured,
    rebuild_schedule,
    rebuild_sizes,
    rebuild_transport,
    rebuild_tunnels,
)
from support.golden import REBUILT

__all__ = ["REBUILT"]
