# SPDX-License-Identifier: BSD-3-Clause
"""What is in a capture file, as the engine's own reader sees it: `wirerate-engine --scan-trace`."""

from __future__ import annotations

import json
import subprocess
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wirerate.engine.process import find_engine
from wirerate.errors import EngineDiedError, PlanError

if TYPE_CHECKING:
    from pathlib import Path

_COMPLAINT = "wirerate-engine: "


@lru_cache(maxsize=64)
def scan_trace(file: Path, files: tuple[int, ...] = ()) -> dict[str, Any]:
    """Read a capture file through; the keys are those of docs/design/0002-engine-interface.md.

    A file is read once in a process. ``files``: open ones that the engine is to have, by the same
    numbers. Needs neither EAL nor privileges, and as long as reading the
    file takes. Raises PlanError with the reader's complaint when the file cannot be sent,
    HostSetupError without an engine, EngineDiedError when it crashes.
    """
    done = subprocess.run(
        [str(find_engine()), "--scan-trace", str(file)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        pass_fds=files,
    )
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode == 1:
        raise PlanError(said.removeprefix(_COMPLAINT) or f"trace {file}: the engine refused it")
    if done.returncode != 0:
        raise EngineDiedError(
            f"trace {file}: the engine's scan ended with {done.returncode}: {said}"
        )
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts
