# SPDX-License-Identifier: BSD-3-Clause
"""What messages and verdicts call the ports and flows of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from wirerate.plan.model import Flow, Plan, PlanPort


class Titles(Protocol):
    """How a command, or a script, names them."""

    def port_title(self, index: int, port: PlanPort) -> str:
        """How a port is called in messages: ``port 0``; ``index`` is its place in the plan."""

    def flow_title(self, index: int, flow: Flow) -> str:
        """How a flow is called in messages: ``flow web``."""


class PlanTitles:
    """The plan's own names: ``port east``, ``flow web``."""

    def port_title(self, index: int, port: PlanPort) -> str:
        """``port east``."""
        del index
        return f"port {port.name}"

    def flow_title(self, index: int, flow: Flow) -> str:
        """``flow web``."""
        del index
        return f"flow {flow.name}"


def port_titles(plan: Plan, titles: Titles) -> list[str]:
    """What messages call the plan's ports."""
    return [titles.port_title(index, port) for index, port in enumerate(plan.ports)]
