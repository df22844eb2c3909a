# SPDX-License-Identifier: BSD-3-Clause
"""The program `wirerate`: find the command, import it alone, and turn errors into exit codes.

A command is a module with ``add_parser(subparsers)``, whose parser sets ``run``: a function that
takes the arguments and returns the exit code. It is imported only when it is called, so that
`wirerate --help` answers at once.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

from wirerate import __version__
from wirerate.errors import ExitCode, HostSetupError, PlanError, WirerateError
from wirerate.interrupts import Ended, ended_by_signals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EPILOG = """\
Try it without a NIC, root or hugepages:
  wirerate perf ring:demo --duration 5
  wirerate perf ring:demo --show-plan > plan.yaml
  wirerate run plan.yaml --duration 5
Is this machine ready for more?
  wirerate doctor
"""
_STDOUT = "standard output"
_INTERNAL_ERROR = 70
"""EX_SOFTWARE of sysexits.h: a fault of wirerate itself, none of the documented ends."""


@dataclass(frozen=True)
class _Command:
    """A subcommand; ``takes_eal``: what stands before ``--`` are EAL's options."""

    module: str
    summary: str
    takes_eal: bool = False


_COMMANDS = {
    "perf": _Command(
        "wirerate.cli.perf",
        "send and receive on many lcores and queues, and tell what each did",
        takes_eal=True,
    ),
    "run": _Command(
        "wirerate.cli.run",
        "send the flows of a plan, each with its own headers, sizes, rate and end",
        takes_eal=True,
    ),
    "flows": _Command(
        "wirerate.cli.flows",
        "send growing numbers of UDP flows, as BiTester does",
        takes_eal=True,
    ),
    "replay": _Command(
        "wirerate.cli.replay",
        "send the frames of a capture file over and over",
        takes_eal=True,
    ),
    "reflect": _Command(
        "wirerate.cli.reflect",
        "send back what ports receive, or only count it",
        takes_eal=True,
    ),
    "forward": _Command(
        "wirerate.cli.forward",
        "forward between pairs of ports, with a cost per frame and faults if asked",
        takes_eal=True,
    ),
    "bridge": _Command(
        "wirerate.cli.bridge",
        "pass what is the kernel's on to it, as an application that owns a port does",
        takes_eal=True,
    ),
    "kernel-path": _Command(
        "wirerate.cli.kernel_path",
        "what the way from a DPDK application into the kernel costs",
    ),
    "report": _Command(
        "wirerate.cli.report",
        "make a page or plots of a result's JSON document",
    ),
    "rss": _Command(
        "wirerate.cli.rss",
        "check how a device spreads flows over its Rx queues",
        takes_eal=True,
    ),
    "preview": _Command(
        "wirerate.cli.preview",
        "write the frames of a plan to a capture file, as they would be sent",
    ),
    "doctor": _Command(
        "wirerate.cli.doctor",
        "tell what of this host helps or hurts a measurement, and how to mend it",
    ),
}


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose errors are PlanErrors: one line, no usage, exit code 2."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("allow_abbrev", False)
        super().__init__(**options)

    def error(self, message: str) -> NoReturn:
        """Raise PlanError instead of printing the usage."""
        raise PlanError(f"{message}; see '{self.prog} --help'")


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Build the program's parser; only ``command`` is imported and gets its options."""
    parser = OneLineParser(
        prog="wirerate",
        description="Measure what a wire, a NIC, a kernel path or a network function can do.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"wirerate {__version__}")
    parser.add_argument("--debug", action="store_true", help="show where in wirerate errors arise")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, entry in _COMMANDS.items():
        if name == command:
            importlib.import_module(entry.module).add_parser(subparsers)
        else:
            subparsers.add_parser(name, help=entry.summary)
    return parser


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line.

    Returns the command's arguments; ``run`` is what to call, ``eal_tokens`` what stood before
    ``--``. Raises PlanError; SystemExit after --help and --version.
    """
    left = list(arguments)
    command = next((word for word in left if not word.startswith("-")), None)
    _check_command(command, left)
    eal_tokens: list[str] = []
    if command is not None and _COMMANDS[command].takes_eal:
        eal_tokens, left = _split_eal(command, left)
    args, extra = build_parser(command).parse_known_args(left)
    _take_extra(args, extra, takes_eal=command is not None and _COMMANDS[command].takes_eal)
    args.eal_tokens = eal_tokens
    return args


def _check_command(command: str | None, arguments: list[str]) -> None:
    if command is None and not {"-h", "--help", "--version"} & set(arguments):
        unknown = next((word for word in arguments if word != "--"), None)
        what = f"unknown option {unknown!r}" if unknown else "no command"
        raise PlanError(f"{what}; commands are {', '.join(_COMMANDS)}; see 'wirerate --help'")
    if command is not None and command not in _COMMANDS:
        near = difflib.get_close_matches(command, _COMMANDS, n=1)
        hint = f" (is it {near[0]!r}?)" if near else ""
        raise PlanError(
            f"there is no command {command!r}{hint}; commands are {', '.join(_COMMANDS)}; "
            "see 'wirerate --help'",
        )


def _split_eal(command: str, arguments: list[str]) -> tuple[list[str], list[str]]:
    """Part EAL's options from the command's. Without ``--``, all are the command's."""
    if "--" not in arguments:
        return [], arguments
    start, end = arguments.index(command) + 1, arguments.index("--")
    eal_tokens = arguments[start:end]
    if {"-h", "--help"} & set(eal_tokens):
        return [], [command, "--help"]
    return eal_tokens, arguments[:start] + arguments[end + 1 :]


def _take_extra(args: argparse.Namespace, extra: list[str], *, takes_eal: bool) -> None:
    """Locations between options are left over by argparse; anything else is a mistake."""
    for token in extra:
        if not token.startswith("-") and "locations" in args:
            args.locations.append(token)
            continue
        hint = _eal_hint(token) if takes_eal else ""
        raise PlanError(f"unknown argument {token!r}{hint}; see 'wirerate {args.command} --help'")


def _eal_hint(token: str) -> str:
    from wirerate.plan.eal_args import looks_like_eal  # noqa: PLC0415 -- only for this message

    return " (EAL's options go before '--')" if looks_like_eal(token) else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code (wirerate.errors.ExitCode)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    stdout = sys.stdout
    try:
        sys.stdout = _named_stdout()
        code = _run([word for word in arguments if word != "--debug"])
        sys.stdout.flush()  # here, where a reader that went away can still be reported quietly
    except WirerateError as error:
        _report(f"wirerate: error: {_one_line(error)}", debug=debug)
        return error.exit_code
    except KeyboardInterrupt as end:
        return 128 + end.number if isinstance(end, Ended) else ExitCode.INTERRUPTED
    except BrokenPipeError:
        _silence(sys.stdout)
        return ExitCode.BROKEN_PIPE
    except OSError as error:
        _report(f"wirerate: error: {_system_error(error)}", debug=debug)
        return ExitCode.HOST_SETUP
    except Exception as error:  # noqa: BLE001 -- a fault of ours must not end as exit code 1
        what = f"{type(error).__name__}: {_one_line(error)}"
        _report(
            f"wirerate: internal error: {what}; run it again with --debug and report that",
            debug=debug,
        )
        return _INTERNAL_ERROR
    finally:
        sys.stdout = stdout
    return code


def _run(arguments: list[str]) -> int:
    try:
        args = parse(arguments)
    except SystemExit as end:  # argparse, after --help and --version
        return end.code if isinstance(end.code, int) else ExitCode.PASS
    with ended_by_signals():
        return int(args.run(args))


class _Named:
    """A stream whose errors have a file name."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @property
    def buffer(self) -> Any:
        return _Named(self._stream.buffer, self._name)

    def write(self, content: Any) -> Any:
        with self._named():
            return self._stream.write(content)

    def flush(self) -> None:
        with self._named():
            self._stream.flush()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = self._name
            raise


def _named_stdout() -> TextIO:
    if sys.stdout is None:  # Python's way to say that it is closed
        raise HostSetupError(f"{_STDOUT} is closed; redirect it, to /dev/null if need be")
    return cast("TextIO", _Named(sys.stdout, _STDOUT))


def _system_error(error: OSError) -> str:
    """Which file, if that is known, and what is wrong with it."""
    why = error.strerror or _one_line(error)
    if error.filename is None:
        return f"{why}; run it again with --debug to see where"
    if error.filename == _STDOUT:
        _silence(sys.stdout)
    return f"{_one_line(error.filename)}: {why}"


def _one_line(error: object) -> str:
    return " ".join(str(error).split())


def _report(line: str, *, debug: bool) -> None:
    try:
        if debug:
            traceback.print_exc()
        print(line, file=sys.stderr, flush=True)
    except OSError:  # full, too
        _silence(sys.stderr)


def _silence(stream: TextIO) -> None:
    """Let nobody complain at exit about what can no longer be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
