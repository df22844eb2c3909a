# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate kernel-path`: what the way into the kernel costs, by each kind of kernel port."""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import TYPE_CHECKING, Any

from wirerate.cli.engine_session import notices, stopping, warn
from wirerate.cli.kernel_path_args import (
    add_outputs,
    add_real,
    add_transfers,
    add_what,
    outputs_of,
    settings_of,
)
from wirerate.cli.report import write_csv, write_report
from wirerate.cli.status_line import StatusLine
from wirerate.errors import ExitCode, HostSetupError
from wirerate.host.tree import plural
from wirerate.methods.kernel_groups import cannot_run, check_tools, lacking_tools, row_names
from wirerate.methods.kernel_leftovers import check_within_reach, find_leftovers, remove_leftovers
from wirerate.methods.kernel_path import KernelPath, dpdk_version
from wirerate.methods.kernel_path_time import left_s
from wirerate.plan.kernel_path_settings import UDP_FRAME_MAX, Group
from wirerate.report.columns import terminal_columns, wrapped
from wirerate.report.kernel_path_csv import csv_text
from wirerate.report.kernel_path_text import kernel_path_text, row_line
from wirerate.report.kernel_path_view import failures, tried_rows
from wirerate.report.parts_text import time_text
from wirerate.session.engine_start import warn_of_shared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.cli.kernel_path_args import Outputs
    from wirerate.plan.kernel_path_settings import KernelPathSettings

DESCRIPTION = """\
Measure how fast Linux gets traffic that a DPDK application hands over, compared with Linux on the
port itself: TCP and UDP, read and write, in Gbit/s and frames/s, with CPU time, ping and the
disturbance of the application's own frames. Groups are kernel ports (see wirerate bridge), shared
with the application's worker or dedicated. All of it is on this machine, in network namespaces
that are removed at the end, unless ports are given.
"""

EPILOG = """\
groups: linux is the kernel on the port itself; the others are kernel ports. What cannot run here
is told with the reason and what would change it, see --list.

examples:
  sudo wirerate kernel-path
      everything that can run here, some minutes
  sudo wirerate kernel-path --groups linux,tap --modes shared --repeats 5 --report page.html
  sudo wirerate kernel-path --offloads on --parallel 4 --csv repeats.csv --json
  sudo wirerate kernel-path --list
  sudo wirerate kernel-path --cleanup
      removes what a run has left that was killed
  sudo wirerate kernel-path --port 03:00.0 --address 192.0.2.2/24 --server 192.0.2.1
      a NIC of this host, and iperf3 -s at the other end of its wire

exit codes:
  0 measured, 1 a row or a test failed, 2 wrong options, 3 the host is not ready (see wirerate
  doctor) or no row can run here, 4 the engine died, 130 stopped by Ctrl-C, with the tables of
  what is done
"""


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    parser = subparsers.add_parser(
        "kernel-path",
        help="what the way from a DPDK application into the kernel costs",
        usage="wirerate kernel-path [OPTIONS]",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_what(parser.add_argument_group("what is measured"))
    add_transfers(parser.add_argument_group("transfers"))
    add_real(parser.add_argument_group("between real ports"))
    add_outputs(parser.add_argument_group("output"))
    instead = parser.add_argument_group("instead of measuring").add_mutually_exclusive_group()
    instead.add_argument(
        "--list", action="store_true", help="tell which groups can run here, and why others cannot"
    )
    instead.add_argument(
        "--cleanup", action="store_true", help="remove what killed runs have left, and tell it"
    )
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Measure, list or clean up. Raises WirerateError for what keeps it from starting."""
    if args.cleanup:
        return _cleanup()
    settings = settings_of(args)
    if args.list:
        return _list(settings, as_json=args.json)
    return _measure(settings, outputs_of(args))


def _cleanup() -> int:
    if os.geteuid() != 0:
        raise HostSetupError("kernel-path --cleanup removes namespaces: run it with sudo")
    found = find_leftovers()
    removed = remove_leftovers(found)
    for line in removed:
        print(f"Removed: {line}")
    check_within_reach(found)
    if not removed:
        print("Nothing is left of killed runs.")
    return ExitCode.PASS


def _list(settings: KernelPathSettings, *, as_json: bool) -> int:
    """Every group that was asked for, in a line or an object."""
    dpdk, lacking = dpdk_version(), lacking_tools()
    found = []
    for group in Group:
        if group in settings.groups:
            missing = cannot_run(group, settings, dpdk) or lacking
            reason, hint = (missing.reason, missing.hint) if missing else ("", "")
            found.append({"group": group.value, "reason": reason, "hint": hint})
    if as_json:
        print(json.dumps(found, indent=2))
        return ExitCode.PASS
    width = max(len(one["group"]) for one in found)
    for one in found:
        text = f"cannot run: {one['reason']}" if one["reason"] else "can run"
        hint = f"; to change it: {one['hint']}" if one["hint"] else ""
        print(wrapped(f"{one['group']:<{width}}  {text}{hint}", terminal_columns()))
    return ExitCode.PASS


class _Progress:
    """What is being done, in place, and rows as they are done."""

    def __init__(self, settings: KernelPathSettings, *, quiet: bool) -> None:
        self._settings = settings
        self._quiet = quiet
        self._line = StatusLine()
        names = row_names(settings)
        self._total = len(names)
        self._measured = [name for name in names if cannot_run(name.group, settings, "") is None]
        self._began_s = time.monotonic()
        self._rows = self._ran = 0

    def begin(self) -> None:
        """Say how long it may take."""
        if not self._quiet:
            about = time_text(left_s(self._measured, 0, self._settings, 0.0))
            rows = plural(self._total, "row")
            can = len(self._measured)
            if can == 0:
                text = f"{rows}, none of which can run here"
            elif can == self._total:
                text = f"{rows}: some {about}"
            else:
                text = f"{rows}, {can} of which can run here: some {about}"
            print(text, flush=True)

    def say(self, text: str) -> None:
        """One step of a row."""
        gone_s = time.monotonic() - self._began_s
        left = left_s(self._measured, self._ran, self._settings, gone_s)
        self._line.show(f"{text}; {time_text(left)} left")

    def done(self, row: Mapping[str, Any]) -> None:
        """A row."""
        self._rows += 1
        self._ran += row["status"] != "cannot run"
        self._line.clear()
        if not self._quiet:
            print(f"[{self._rows}/{self._total}] {row_line(row)}", flush=True)

    def end(self) -> None:
        """Leave the terminal as it was."""
        self._line.clear()


def _measure(settings: KernelPathSettings, outputs: Outputs) -> int:
    check_tools()
    warn_of_shared(settings.lcores, notices(verbose=False))
    _warn_of_fragments(settings)
    progress = _Progress(settings, quiet=outputs.json)
    path = KernelPath(settings, progress.say, progress.done)
    progress.begin()
    try:
        with stopping(path):
            document = path.run()
    finally:
        progress.end()
    _write(document, outputs)
    if path.stopped:
        return ExitCode.INTERRUPTED
    tried = tried_rows(document)
    if not tried:
        return ExitCode.HOST_SETUP
    failed = any(any(failures(row)) for row in tried)
    return ExitCode.CRITERION_FAILED if failed else ExitCode.PASS


def _warn_of_fragments(settings: KernelPathSettings) -> None:
    fits = UDP_FRAME_MAX[settings.ipv6]
    if settings.udp_length is not None and settings.udp_length > fits:
        warn(
            f"--udp-length {settings.udp_length:,}: more than the {fits:,} octets that a frame "
            "carries at an MTU of 1,500: such datagrams are sent in fragments, and lost with any "
            "one of them"
        )


def _write(document: Mapping[str, Any], outputs: Outputs) -> None:
    if outputs.json:
        print(json.dumps(document, indent=2), flush=True)
    else:
        print()
        print(kernel_path_text(document, terminal_columns()), flush=True)
    if outputs.csv is not None:
        write_csv(csv_text(document), outputs.csv)
    if any(row["tests"] for row in document["rows"]):
        write_report(document, outputs.report, outputs.plots)
    elif outputs.report is not None or outputs.plots is not None:
        warn("nothing was measured, so there is no report")
