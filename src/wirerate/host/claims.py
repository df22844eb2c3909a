# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces of Linux that one run at a time may have.

A claim is an abstract Unix socket: of this network namespace, as the interface is, and gone with
its process however that ends.
"""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from wirerate.errors import HostSetupError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def claimed(name: str, title: str) -> Iterator[None]:
    """Have an interface of this namespace for the block; ``title`` says what it is to the run.

    Raises HostSetupError where another bridge has it: both would receive every frame, and put the
    other's settings back.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
        try:
            claim.bind(f"\0wirerate/interface/{name}")
        except OSError as error:
            raise HostSetupError(
                f"{title}: {name} belongs to another bridge that runs now; end that one first, or "
                "take another interface"
            ) from error
        yield
