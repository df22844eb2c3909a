# SPDX-License-Identifier: BSD-3-Clause
"""Every exception that wirerate raises on purpose, and the exit code it stands for.

    WirerateError            1
    ├── PlanError            2  the plan or the command line is wrong
    ├── HostSetupError       3  the host is not ready: hugepages, driver, permission
    │   └── PeerError        3  who is to count at the other end does not answer
    ├── TrialError           1  one measurement of several failed; the others go on
    ├── SessionError         2  a session is used as it cannot be: closed, busy, its plan changed
    └── EngineError          4
        ├── EngineStartError    3  the engine did not come up: nearly always the host
        ├── EngineDiedError     4  the engine was up and is gone
        └── EngineRefusedError  2 or 3  an operation was refused: by its parameters or by the host

A missed target is a result, not an exception. Messages are one sentence for people: what, where,
which value, what to do. ``wirerate.cli.main`` prints them in one line and exits with ``exit_code``.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process tells its caller."""

    PASS = 0
    CRITERION_FAILED = 1
    """A criterion failed, or the verdict is invalid and the user asked to be told so."""
    BAD_PLAN = 2
    HOST_SETUP = 3
    ENGINE_DIED = 4
    INTERRUPTED = 130
    """128 + SIGINT, as shells have it."""
    BROKEN_PIPE = 141
    """128 + SIGPIPE: the reader of our output went away."""


class WirerateError(Exception):
    """The root. ``exit_code`` is what the command line exits with."""

    exit_code: ExitCode = ExitCode.CRITERION_FAILED


class PlanError(WirerateError):
    """The plan, an option or an argument is wrong; nothing was started."""

    exit_code = ExitCode.BAD_PLAN


class HostSetupError(WirerateError):
    """The host lacks something: hugepages, a driver binding, a permission, the engine's binary."""

    exit_code = ExitCode.HOST_SETUP


class PeerError(HostSetupError):
    """The peer of --peer does not answer, or with something else than its counters."""


class TrialError(WirerateError):
    """One measurement of several failed; its place in the result says so, the others go on."""


class SessionError(WirerateError):
    """A script uses a session as it cannot be used: closed, busy, or with a plan that changed."""

    exit_code = ExitCode.BAD_PLAN


class EngineError(WirerateError):
    """Something between the package and its engine."""

    exit_code = ExitCode.ENGINE_DIED


class EngineStartError(EngineError):
    """The engine did not come up; the message carries what it said on stderr."""

    exit_code = ExitCode.HOST_SETUP


class EngineDiedError(EngineError):
    """The engine was up and is gone, or no longer answers."""

    exit_code = ExitCode.ENGINE_DIED


#: What the host, not the plan, must change: memory, permissions, devices, descriptors.
_HOST_ERRNOS = frozenset(
    {
        "EACCES",
        "EAGAIN",
        "EBUSY",
        "EIO",
        "EMFILE",
        "ENFILE",
        "ENODEV",
        "ENOMEM",
        "ENOSPC",
        "ENXIO",
        "EPERM",
        "ETIMEDOUT",
    },
)


class EngineRefusedError(EngineError):
    """The engine answered a request with an error; it lives on as it was before the request.

    ``path`` is the place in the request's params (``ports[0].rx_queues``), ``errno_name`` the
    symbol of the failure (``EINVAL``), both as in the contract's error ``data``
    (docs/design/0002-engine-interface.md). The exit code is 3 when the errno is one that the host
    must cure, else 2.
    """

    def __init__(
        self, message: str, *, path: str | None = None, errno_name: str | None = None
    ) -> None:
        super().__init__(message)
        self.path = path
        self.errno_name = errno_name
        self.exit_code = ExitCode.HOST_SETUP if errno_name in _HOST_ERRNOS else ExitCode.BAD_PLAN
