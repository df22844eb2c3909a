# SPDX-License-Identifier: BSD-3-Clause
"""What scripts see of a forwarder: what it received, sent and did on purpose, and its verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wirerate.session.files import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from wirerate.trial.forward_result import ForwardResult
    from wirerate.trial.forward_snapshot import LaneCounts
    from wirerate.trial.forward_trial import ForwardTrial


class ForwarderResult:
    """What a forwarder did, over all directions, and whether it was a fair partner.

    Attributes:
        interrupted: Whether it was stopped, rather than at the end of its duration.
        engine_death: How the engine died; None where it lives, or ended as it was to.
        capture_failure: Which capture could not be written, and why; None without one.
        run: All figures, in the engine's words. Its content may change with a release.
    """

    def __init__(
        self, run: ForwardResult, environment: Mapping[str, Any], trial: ForwardTrial
    ) -> None:
        self.run = run
        self.interrupted = trial.interrupted
        self.engine_death = trial.death
        self.capture_failure = trial.unwritten
        self._environment = environment

    def __repr__(self) -> str:
        doubts = "".join(f"; {reason}" for reason in self.reasons)
        return f"<wirerate.ForwarderResult {self.run.verdict}{doubts}>"

    def __str__(self) -> str:
        from wirerate.report.forward_text import summary  # noqa: PLC0415 -- few scripts show it

        return summary(self.run)

    @property
    def valid(self) -> bool:
        """Whether no frame was lost or held up here that was not to be: see `reasons`."""
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
    def seconds(self) -> float:
        """How long it has forwarded [s]."""
        return self.run.seconds

    @property
    def _counts(self) -> LaneCounts:
        return self.run.total

    @property
    def rx_frames(self) -> int:
        """Frames received."""
        return self._counts.rx_frames

    @property
    def tx_frames(self) -> int:
        """Frames sent."""
        return self._counts.tx_frames

    @property
    def dropped(self) -> int:
        """Frames dropped on purpose."""
        return self._counts.dropped

    @property
    def duplicated(self) -> int:
        """Frames sent twice on purpose."""
        return self._counts.duplicated

    @property
    def reordered(self) -> int:
        """Frames sent late on purpose, after later ones."""
        return self._counts.reordered

    @property
    def not_taken(self) -> int:
        """Frames lost because a device did not take them."""
        return self._counts.not_taken

    def document(self) -> dict[str, Any]:
        """The result as `wirerate forward --json` prints it (docs/forward.md)."""
        from wirerate.report.forward_json import document  # noqa: PLC0415 -- few scripts want it

        return document(self.run, self._environment)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document of --json to a file. Raises HostSetupError where it cannot be."""
        write_text(path, f"{json.dumps(self.document(), indent=2)}\n")
