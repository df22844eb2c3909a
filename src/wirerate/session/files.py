# SPDX-License-Identifier: BSD-3-Clause
"""Files that scripts ask for."""

from __future__ import annotations

import os
from pathlib import Path

from wirerate.errors import HostSetupError


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a result in place of what is there. Raises HostSetupError where it cannot be."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise HostSetupError(
            f"{os.fspath(path)}: the result cannot be written ({error.strerror}); give another "
            "place"
        ) from error
