# SPDX-License-Identifier: BSD-3-Clause
"""What scripts see of a trial that has ended: figures by the names of the plan, and its verdict."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from wirerate.errors import SessionError
from wirerate.session.files import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Mapping

    from wirerate.trial.received import Jitter, Latency, Received
    from wirerate.trial.result import FlowResult as MeasuredFlow
    from wirerate.trial.result import PortResult as MeasuredPort
    from wirerate.trial.result import RunResult, Transmitted
    from wirerate.trial.trial import Trial


def _known(received: Received | None, what: str) -> Received:
    if received is None:
        raise SessionError(
            f"{what} is not measured, so that its loss and latency are not known; give it "
            "metrics: {enable: true} and rx_names in the plan"
        )
    return received


class _Sent:
    """Figures of what was sent, by a flow or by a port."""

    def __init__(self, name: str, sent: Transmitted) -> None:
        self.name = name
        self._sent = sent

    @property
    def tx_frames(self) -> int:
        """Frames sent."""
        return self._sent.tx_frames

    @property
    def tx_frames_unsent(self) -> int:
        """Frames that were due and could not be sent in time."""
        return self._sent.tx_frames_unsent

    @property
    def offered_fps(self) -> float:
        """The offered load (RFC 2285 section 3.5.2): frames sent per second [fps]."""
        return self._sent.offered_fps

    @property
    def seconds(self) -> float:
        """The time over which the offered load is taken [s]."""
        return self._sent.seconds


class _Measured:
    """Figures of what was received, of measured frames.

    All of them raise SessionError where nothing was measured.
    """

    _received: Received | None
    _title: str

    @property
    def measured(self) -> bool:
        """Whether it is known which frames arrived, and when."""
        return self._received is not None

    @property
    def rx_frames(self) -> int:
        """Frames received, each once."""
        return _known(self._received, self._title).frames

    @property
    def lost(self) -> int:
        """Frames sent and not received."""
        return _known(self._received, self._title).lost

    @property
    def loss_ratio(self) -> float | None:
        """Lost frames as a share of those sent (0 to 1); None where none was sent."""
        return _known(self._received, self._title).loss_ratio

    @property
    def duplicates(self) -> int:
        """Frames received once more."""
        return _known(self._received, self._title).duplicates

    @property
    def reordered(self) -> int:
        """Frames received after one that was sent later."""
        return _known(self._received, self._title).reordered

    @property
    def misdirected(self) -> int:
        """Frames received by a port that was not to have them; they count as lost."""
        return _known(self._received, self._title).misdirected

    @property
    def forwarding_fps(self) -> float | None:
        """Frames received per second, from the first to the last [fps]; None for fewer than two."""
        return _known(self._received, self._title).forwarding_fps

    @property
    def latency(self) -> Latency:
        """Latency of every frame received [ns]: ``minimum``, ``mean``, ``p50``, ``p99`` and more.

        Its figures are None where no frame arrived.
        """
        return _known(self._received, self._title).latency

    @property
    def jitter(self) -> Jitter:
        """Variation of the latency [ns]: ``ipdv_mean`` and ``pdv_p99_9``."""
        return _known(self._received, self._title).jitter


class FlowResult(_Measured, _Sent):
    """One flow. What was received is known of a measured flow only; see `measured`."""

    def __init__(self, flow: MeasuredFlow) -> None:
        super().__init__(flow.plan.label, flow)
        self._title = f"flow {self.name}"
        self._received = flow.received
        self._flow = flow

    @property
    def intended_fps(self) -> float | None:
        """The intended load (RFC 2285 section 3.5.1) [fps]; None without a rate."""
        return self._flow.plan.intended_fps


class PortResult(_Sent):
    """One open port, over all its flows."""

    def __init__(self, name: str, port: MeasuredPort) -> None:
        super().__init__(name, port)
        self._port = port

    @property
    def location(self) -> str:
        """Where the port is, as in the plan."""
        return self._port.plan.location

    @property
    def line_rate_bps(self) -> int | None:
        """Rate of its line [bit/s]; None for a device without one."""
        return self._port.plan.line_rate_bps

    @property
    def rx_frames(self) -> int:
        """Frames received, whoever sent them."""
        return self._port.rx_frames

    @property
    def forwarding_fps(self) -> float | None:
        """Frames received per second, from the first to the last [fps]; None for too few."""
        return self._port.forwarding_fps


class Result(_Measured):
    """What a trial came to, and whether that can be believed.

    ``print(result)`` shows what `wirerate run` prints at its end. Its own loss and latency are
    those of all measured flows together.

    Attributes:
        interrupted: Whether the trial was stopped before its end.
        engine_death: How the engine died; None where it lives, or ended as it was to.
        capture_failure: Which capture of the plan could not be written, and why; None without one.
        run: All figures, in the engine's words. Its content may change with a release.
    """

    def __init__(self, measured: RunResult, trial: Trial) -> None:
        self.run = measured
        self._title = "the plan: no flow of it"
        self._received = measured.total
        self.interrupted = trial.interrupted
        self.engine_death = trial.death
        self.capture_failure = trial.unwritten

    def __repr__(self) -> str:
        doubts = "".join(f"; {reason}" for reason in self.reasons)
        return f"<wirerate.Result {self.run.verdict}{doubts}>"

    def __str__(self) -> str:
        from wirerate.report.run_text import summary  # noqa: PLC0415 -- not every script shows it

        return summary(self.run)

    @property
    def valid(self) -> bool:
        """Whether the figures can be believed: there are no `reasons` against it."""
        return self.run.verdict.valid

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the result is invalid, a sentence each; empty where it is valid."""
        return self.run.verdict.reasons

    @property
    def notes(self) -> tuple[str, ...]:
        """What explains the figures without making them invalid, a sentence each."""
        return self.run.verdict.notes

    @property
    def tx_frames(self) -> int:
        """Frames sent, by all ports."""
        return sum(port.tx_frames for port in self.run.ports)

    @cached_property
    def flows(self) -> Mapping[str, FlowResult]:
        """Each flow of the plan, by its name."""
        return {flow.plan.label: FlowResult(flow) for flow in self.run.flows}

    @cached_property
    def ports(self) -> Mapping[str, PortResult]:
        """Each open port of the plan, by its name."""
        names = [port.name for port in self.run.ready.plan.ports]
        return {
            names[port.plan.index]: PortResult(names[port.plan.index], port)
            for port in self.run.ports
        }

    def flow(self, name: str) -> FlowResult:
        """The flow called ``name``. Raises SessionError for one that the plan has not."""
        _check_named(self.flows, "flow", name)
        return self.flows[name]

    def port(self, name: str) -> PortResult:
        """The port called ``name``. Raises SessionError for one that is not open."""
        _check_named(self.ports, "port", name)
        return self.ports[name]

    def document(self) -> dict[str, Any]:
        """The result as `--json` of `wirerate run` prints it (docs/run.md)."""
        from wirerate.report.run_json import document  # noqa: PLC0415 -- not every script wants it

        return document(self.run)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the `document` to a file as JSON, in place of what is there.

        Raises HostSetupError where it cannot be written.
        """
        write_text(path, f"{json.dumps(self.document(), indent=2)}\n")


def _check_named(found: Collection[str], what: str, name: str) -> None:
    if name not in found:
        there = ", ".join(found) or "none"
        raise SessionError(f"{what} {name!r}: there is no such {what}; there are: {there}")
