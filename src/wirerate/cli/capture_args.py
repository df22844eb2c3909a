# SPDX-License-Identifier: BSD-3-Clause
"""Options of `wirerate run` about captures, and what they add to those of the plan.

Nothing is opened here but the directories are looked at: a run that cannot write its captures is
refused before it starts.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.cli.common_args import whole
from wirerate.errors import HostSetupError, PlanError
from wirerate.host.capture_files import check_output, file_identity
from wirerate.plan.captures import FRAMES_DEFAULT, FRAMES_MAX, Capture, file_name
from wirerate.plan.reader import port_reference

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from wirerate.plan.model import Plan


def add_captures(group: argparse._ArgumentGroup) -> None:
    """Options about captures."""
    add = group.add_argument
    add(
        "--capture",
        action="append",
        default=[],
        metavar="PORT=FILE",
        dest="captures",
        help="record what a port of the plan receives into FILE, .pcapng or .pcap; repeatable",
    )
    add(
        "--capture-filter",
        default="",
        metavar="EXPR",
        help="only frames that libpcap's expression EXPR matches, for all --capture",
    )
    add(
        "--capture-frames",
        type=whole("--capture-frames", 1, FRAMES_MAX),
        default=FRAMES_DEFAULT,
        metavar="N",
        help=f"frames of each capture at most, 1-{FRAMES_MAX} (default %(default)s)",
    )
    add(
        "--capture-dir",
        default=".",
        metavar="DIR",
        help="where the files of the plan's captures and of --keep-bad go (default: here)",
    )
    add(
        "--keep-bad",
        type=whole("--keep-bad", 1, FRAMES_MAX),
        metavar="N",
        help="keep the first N frames that each receiving port gets duplicated, out of order or "
        "damaged, in bad-PORT.pcapng",
    )


def capture_words(args: argparse.Namespace) -> list[str]:
    """The options that differ from their defaults, as words of a command line."""
    words: list[str] = []
    for text in args.captures:
        words += ["--capture", text]
    if args.capture_filter:
        words += ["--capture-filter", args.capture_filter]
    if args.capture_frames != FRAMES_DEFAULT:
        words += ["--capture-frames", str(args.capture_frames)]
    if args.capture_dir != ".":
        words += ["--capture-dir", args.capture_dir]
    if args.keep_bad is not None:
        words += ["--keep-bad", str(args.keep_bad)]
    return words


def with_captures(plan: Plan, args: argparse.Namespace) -> Plan:
    """The plan with all captures that it and the options ask for, their files absolute.

    Raises PlanError and HostSetupError where a file cannot be written, or is another's.
    """
    directory = Path(args.capture_dir).absolute()
    captures = [
        *(replace(own, frames=args.capture_frames) for own in plan.captures),
        *(_asked(text, plan, args) for text in args.captures),
        *_bad(plan, args.keep_bad),
    ]
    if args.capture_filter and not args.captures:
        raise PlanError("--capture-filter: there is no --capture that it is for; add one")
    captures = [replace(own, file=directory / own.file) for own in captures]
    _check_files(plan, captures)
    return replace(plan, captures=tuple(captures))


def _asked(text: str, plan: Plan, args: argparse.Namespace) -> Capture:
    """What ``PORT=FILE`` stands for; a port's name may hold an equals sign, too."""
    option = f"--capture {shlex.quote(text)}"
    names = [port.name for port in plan.ports]
    name, equals, file = text.partition("=")
    for known in names:
        if text.startswith(f"{known}="):
            name, file = known, text[len(known) + 1 :]
    if not equals or not file:
        raise PlanError(f"{option}: write PORT=FILE, with the name of a port of the plan")
    port = port_reference(name, option, names)
    path = Path(file).absolute()
    if path.suffix not in {".pcap", ".pcapng"}:
        raise PlanError(f"{option}: the name of the file must end in .pcap or .pcapng")
    return Capture(
        path=option,
        port=port,
        file=path,
        format="pcap" if path.suffix == ".pcap" else "pcapng",
        filter=args.capture_filter,
        frames=args.capture_frames,
    )


def _bad(plan: Plan, frames: int | None) -> Iterator[Capture]:
    """A capture of bad frames for each port that receives measured flows."""
    if frames is None:
        return
    measured = {name for flow in plan.flows if flow.measured for name in flow.rx_ports}
    ports = [port.name for port in plan.ports if port.name in measured]
    if not ports:
        raise PlanError(
            "--keep-bad: no flow is measured, so nobody knows what is bad; set metrics.enable to "
            "true in the flows"
        )
    for port in ports:
        file = file_name("bad", port, suffix="pcapng")
        yield Capture("--keep-bad", port, file, frames=frames, bad=True)


def _check_files(plan: Plan, captures: list[Capture]) -> None:
    there: dict[tuple[object, ...], Capture] = {}
    for capture in captures:
        folder = capture.file.parent
        where = f"{capture.path}: {capture.file}"
        if not folder.is_dir():
            raise PlanError(f"{where}: there is no directory {folder}; make it first")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise HostSetupError(
                f"{where}: this user may not write into {folder}; choose another place"
            )
        if capture.file.exists() and not capture.file.is_file():
            raise PlanError(f"{where}: it is there and is no regular file; choose another name")
        check_output(capture.file, where, plan)
        identity = file_identity(str(capture.file))
        if identity is None:
            continue
        other = there.setdefault(identity, capture)
        if other is not capture:
            raise PlanError(f"{where}: {other.path} writes the same file; give each its own")
