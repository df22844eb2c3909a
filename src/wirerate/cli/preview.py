# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate preview`: the frames of a plan into a capture file, as the engine would send them.

The engine is started on ordinary pages, with a null port in place of each of the plan's: no NIC, no
privilege and no hugepage is needed. It builds the same program as for sending.
"""

from __future__ import annotations

import argparse
import glob
import os
import re
import shutil
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from wirerate.engine.eal import choose_memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.engine.scan import scan_trace
from wirerate.errors import EngineRefusedError, HostSetupError, PlanError
from wirerate.host.capture_files import check_output
from wirerate.host.claims import claimed_file
from wirerate.plan.compile import CompiledFlow, PortFacts, compile_flow
from wirerate.plan.decode import decode_plan
from wirerate.plan.device_flow import wanted_neighbors
from wirerate.plan.document import load_document
from wirerate.plan.eal_args import EalRequest
from wirerate.plan.lcore_map import LcoreMap, PortLcores
from wirerate.plan.line_load import check_line_loads
from wirerate.plan.location import parse_location
from wirerate.plan.pools import memory_octets
from wirerate.plan.port_params import port_params
from wirerate.plan.program import (
    make_program,
    named_refusal,
    port_name,
    stream_name,
)
from wirerate.plan.run_settings import RunSettings
from wirerate.units import format_count, parse_line_rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wirerate.plan.model import Plan

FRAMES_DEFAULT = 1000
FRAMES_MAX = 1 << 24
"""What the engine writes (engine/config/config.h)."""
_NAME_OCTETS_MAX = 31  # of the engine (config_limits.h)
_BURST = 32
_NS_PER_S = 1_000_000_000

EPILOG = """\
examples:
  wirerate preview plan.yaml -o plan.pcapng
      the first 1,000 frames of all ports, an interface for each
  wirerate preview plan.yaml -o p0.pcap --port p0 -n 100000
  wirerate preview plan.yaml -n 10 -o - | tshark -r - -V
      straight into a program that reads pcapng
"""


@dataclass(frozen=True)
class _Output:
    """Where the frames go: an absolute path, or a file without a name, then standard output."""

    path: Path
    pcapng: bool
    nameless: IO[bytes] | None = None

    @property
    def files(self) -> tuple[int, ...]:
        """What the engine has to inherit; ``path`` is how it opens that."""
        return () if self.nameless is None else (self.nameless.fileno(),)


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    parser = subparsers.add_parser(
        "preview",
        help="write the frames of a plan to a capture file, as they would be sent",
        description="Write the frames that a plan would send to a capture file, with the times at "
        "which they would leave.\nNothing is sent, and no port of the plan is opened.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("plan", metavar="PLAN", help="the plan, YAML or JSON; - is standard input")
    add(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="a file.pcapng (all ports) or file.pcap (one port); - is standard output, pcapng",
    )
    add(
        "-n",
        "--count",
        type=_frames,
        default=FRAMES_DEFAULT,
        metavar="N",
        dest="frames",
        help=f"frames of all flows together, 1-{FRAMES_MAX:,} (default %(default)s)",
    )
    add("--port", metavar="NAME", help="only what this port of the plan sends")
    add(
        "--line-rate",
        type=parse_line_rate,
        metavar="BPS",
        dest="line_rate_bps",
        help="line rate to assume, 10G say, for rates in percent",
    )
    parser.set_defaults(run=run)
    return parser


def _frames(text: str) -> int:
    digits = text.strip()
    if re.fullmatch(r"[0-9]{1,30}", digits) is None or not 1 <= int(digits) <= FRAMES_MAX:
        raise PlanError(f"frames {text!r}: give a whole number, 1 to {FRAMES_MAX:,}")
    return int(digits)


def run(args: argparse.Namespace) -> int:
    """Compile the plan, let the engine write, say what was written. Always 0, or an exception."""
    plan = _chosen(decode_plan(load_document(Path(args.plan)), base=_base(args.plan)), args.port)
    senders = [port.name for port in plan.ports if any(f.tx_port == port.name for f in plan.flows)]
    with _output(args.output, senders) as output:
        nameless = output.nameless
        if nameless is None:
            check_output(output.path, f"-o {args.output!r}", plan)
        done = _write(_in_place(plan), args, output)
        about = args.output if nameless is None else "standard output"
        said = sys.stdout if nameless is None else sys.stderr
        print(f"{about}: {_written(done, output)}", file=said)
        if nameless is not None:
            with _files_named(args.output):
                shutil.copyfileobj(nameless, sys.stdout.buffer)
    return 0


def _base(plan: str) -> Path:
    """The directory that files in the plan are relative to."""
    return Path.cwd() if plan == "-" else Path(plan).absolute().parent


def _chosen(plan: Plan, port: str | None) -> Plan:
    """The plan, or what one port of it sends. Raises PlanError when that is nothing."""
    flows = tuple(flow for flow in plan.flows if port in {None, flow.tx_port})
    names = ", ".join(sorted({flow.tx_port for flow in plan.flows})) or "none"
    if port is not None and not flows:
        raise PlanError(f"--port {port!r}: no port of that name sends anything; senders: {names}")
    if not flows:
        raise PlanError("the plan has no flows, so there is nothing to preview; add one to flows")
    return replace(plan, flows=flows)


@contextmanager
def _output(text: str, senders: list[str]) -> Iterator[_Output]:
    """Check where the frames are to go; raises before anything is started."""
    if text == "-":
        if sys.stdout.isatty():
            raise PlanError("-o -: standard output is a terminal; add a pipe, or name a file")
        with ExitStack() as stack:
            with _files_named(text):  # it has no name: nothing is left, whatever ends this process
                file = stack.enter_context(TemporaryFile())
            yield _Output(Path(f"/proc/self/fd/{file.fileno()}"), pcapng=True, nameless=file)
        return
    with _files_named(text):
        path = _checked_path(text, senders)
    with claimed_file(text, f"-o {text!r}"):
        yield _Output(path, pcapng=path.suffix == ".pcapng")


@contextmanager
def _files_named(text: str) -> Iterator[None]:
    """What the system says of the output file, in words; a reader that went away is no fault."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise HostSetupError(
            f"-o {text!r}: {error.strerror or error}{_of(error)}; choose another place"
        ) from error


def _of(error: OSError) -> str:
    return "" if error.filename is None else f" ({os.fsdecode(error.filename)})"


def _checked_path(text: str, senders: list[str]) -> Path:
    path = Path(text).absolute()
    if path.suffix not in {".pcap", ".pcapng"}:
        raise PlanError(f"-o {text!r}: the name must end in .pcap or .pcapng, or be - for a pipe")
    if path.suffix == ".pcap" and len(senders) > 1:
        raise PlanError(
            f"-o {text!r}: {len(senders)} ports send ({', '.join(senders)}), and a pcap file "
            "cannot tell them apart; write .pcapng, or choose one with --port"
        )
    if path.exists() and not path.is_file():
        raise PlanError(f"-o {text!r}: it is there and is no regular file; choose another name")
    if not path.parent.is_dir():
        raise PlanError(f"-o {text!r}: there is no directory {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise HostSetupError(
            f"-o {text!r}: this user may not write into {path.parent}; choose another place"
        )
    return path


def _in_place(plan: Plan) -> Plan:
    """The plan with null ports in place of its own."""
    ports = [
        replace(port, location=parse_location(f"null:preview{index}"))
        for index, port in enumerate(plan.ports)
    ]
    return replace(plan, ports=tuple(ports), devices=(), captures=())


def _notes(flows: Sequence[CompiledFlow]) -> Iterator[str]:
    """What compiling had to say, and which addresses only a run finds out."""
    for flow in flows:
        yield from flow.notes
        if wanted_neighbors(flow.flow.packet):
            yield (
                f"flow {flow.flow.name}: gateways are asked for their MAC addresses when it is run;"
                " here they have 02:57:52:ff:00:00 and those that follow"
            )


def _compile(plan: Plan, line_rate_bps: int | None) -> list[CompiledFlow]:
    """All flows, for ports that have no device: their addresses are made up."""
    scans: dict[Path, Mapping[str, Any]] = {}
    compiled = []
    for number, flow in enumerate(plan.flows):
        scan = None
        if flow.trace is not None:
            file = flow.trace.file
            if file not in scans:
                scans[file] = scan_trace(file)
            scan = scans[file]
        index = plan.port_index(flow.tx_port)
        facts = PortFacts(index, None, line_rate_bps or plan.ports[index].speed_bps)
        compiled.append(compile_flow(flow, stream_name(number), facts, scan))
    line_rates = [line_rate_bps or port.speed_bps for port in plan.ports]
    check_line_loads(plan, compiled, line_rates, [f"port {port.name}" for port in plan.ports])
    return compiled


def _settings(lcore: int, line_rate_bps: int | None) -> RunSettings:
    return RunSettings(
        eal=EalRequest(),
        lcores=(lcore,),
        lcore_map=None,
        burst=_BURST,
        line_rate_bps=line_rate_bps,
        rx_descriptors=0,
        tx_descriptors=0,
        mbufs=0,
        jumbo=False,
        period_ns=_NS_PER_S,
        duration_ns=None,
        cpu_saver_ns=0,
        verbose=False,
        json=False,
    )


def _write(plan: Plan, args: argparse.Namespace, output: _Output) -> dict[str, Any]:
    """Let the engine write the file; its reply, ``frames`` and ``octets`` with FCS."""
    lcore = min(os.sched_getaffinity(0))
    settings = _settings(lcore, args.line_rate_bps)
    senders = sorted({plan.port_index(flow.tx_port) for flow in plan.flows})
    lcore_map = LcoreMap(tuple(PortLcores(index, (), (lcore,)) for index in senders))
    flows = _compile(plan, args.line_rate_bps)
    for note in _notes(flows):
        print(f"wirerate: note: {note}", file=sys.stderr)
    need = memory_octets(plan, settings, lcore_map, flows)
    memory = choose_memory(need, (), allow_hugepages=False)
    locations = [plan.ports[index].location for index in senders]
    sizes = [flow.frame_size_max for flow in flows]
    ports = port_params(plan, settings, lcore_map, sizes)
    program = _named(make_program(plan, settings, lcore_map, flows), ports, plan)
    where = {
        "path": str(output.path),
        "format": "pcapng" if output.pcapng else "pcap",
        "frames": args.frames,
    }
    with Engine(eal_arguments(locations, [lcore], memory, ()), files=output.files) as engine:
        try:
            engine.call("ports.open", {"ports": ports, "any_files": True})
            return engine.call("program.preview", program | where)
        except KeyboardInterrupt:  # millions of frames may be still to come
            engine.kill()
            _remove_parts(output.path, engine.pid)
            raise
        except EngineRefusedError as error:
            titles = [f"port {port.name}" for port in plan.ports]
            raise named_refusal(error, plan, lcore_map, titles) from error


def _remove_parts(path: Path, pid: int) -> None:
    """Take away what an engine that was killed had written so far (trace/trace_writer.h)."""
    for part in path.parent.glob(f"{glob.escape(path.name)}.{pid}-*.part"):
        part.unlink(missing_ok=True)


def _named(program: dict[str, Any], ports: list[dict[str, Any]], plan: Plan) -> dict[str, Any]:
    """The program with the plan's port names, where they fit the engine: a pcapng shows them."""
    if any(len(port.name.encode()) > _NAME_OCTETS_MAX for port in plan.ports):
        return program
    names = {port_name(index): port.name for index, port in enumerate(plan.ports)}
    for entry in ports:
        entry["name"] = names[entry["name"]]
    for task in (task for worker in program["workers"] for task in worker["tasks"]):
        task["port"] = names[task["port"]]
    return program


def _written(done: Mapping[str, Any], output: _Output) -> str:
    text = f"{format_count(done['frames'])} frames, {format_count(done['octets'])} octets with FCS"
    if done["frames"] == 0:
        return text
    scan = scan_trace(output.path, output.files)
    first, last = (f"{scan[key] / _NS_PER_S:.9f} s" for key in ("first_ns", "last_ns"))
    return f"{text}; the first at {first}, the last at {last} after the start"
