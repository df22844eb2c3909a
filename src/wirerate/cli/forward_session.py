# SPDX-License-Identifier: BSD-3-Clause
"""Show a forwarder on the terminal: of `forward` and `reflect`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from wirerate.cli.engine_session import ending_code, notices, stopping
from wirerate.plan.placement import placement_lines
from wirerate.report import forward_text
from wirerate.report.screen import open_screen

if TYPE_CHECKING:
    from wirerate.plan.forward_settings import ForwardSettings
    from wirerate.session.forwarder import Forwarder


def execute_forward(settings: ForwardSettings) -> int:
    """Forward and report; 0 whenever it was done, 4 when the engine died.

    Raises PlanError, HostSetupError and EngineError for what keeps it from starting.
    """
    from wirerate.session.counters_server import PATH  # noqa: PLC0415 -- as `cli.execute` does
    from wirerate.session.forwarder import Forwarder  # noqa: PLC0415 -- likewise

    forwarder = Forwarder(settings, notices(verbose=settings.verbose))
    address = forwarder.listen()
    if address:
        text = f"Counters: http://{address}{PATH}"
        print(text, file=sys.stderr if settings.json else sys.stdout, flush=True)
    forwarder.prepare()
    if not settings.json:
        for line in placement_lines(forwarder.placements):
            print(line)
        assert forwarder.memory is not None
        print(forward_text.setup_text(settings, forwarder.lanes, forwarder.memory), flush=True)
    with forwarder:
        with stopping(forwarder):
            _watch(forwarder)
            forwarder.end_engine()
        return _report(forwarder)


def _watch(forwarder: Forwarder) -> None:
    """Show progress; a run shorter than a period shows its one block at the end."""
    before = None
    with open_screen(quiet=forwarder.settings.json) as screen:
        for now in forwarder.watch():
            screen.show(forward_text.table(forwarder.ready, now, before))
            before = now
        if before is None:
            final = forwarder.result().run.final
            screen.show(forward_text.table(forwarder.ready, final, None))


def _report(forwarder: Forwarder) -> int:
    result = forwarder.result()
    if forwarder.settings.json:
        print(json.dumps(result.document(), indent=2), flush=True)
    else:
        print(result, flush=True)
    return ending_code(result.engine_death, result.capture_failure)
