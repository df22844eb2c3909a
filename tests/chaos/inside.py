# SPDX-License-Identifier: BSD-3-Clause
"""Runs trials in namespaces of its own: network, mounts, processes.

It is the first process of its PID namespace (`space.py` starts it), so that whatever happens to it,
the kernel ends every process, interface and mount of the trials with it. Trials come as lines on
standard input, outcomes leave as lines on standard output; the end of the input ends it at once.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaos import site, wire
from chaos.host import Hogs, Threads, stolen_s
from chaos.recount import recount
from chaos.trials import Trial, draw

if TYPE_CHECKING:
    from chaos.side import Side

_CPUS = sorted(os.sched_getaffinity(0))
WORKER_CPU, OTHER_CPU = _CPUS[-1], _CPUS[0]
_PERIOD_S = 0.004
_LIMIT_S = 40.0
_NICE = -20
"""What else runs on this machine hardly starves the program; what a trial starves it with has the
same priority."""
_KILLED = {"engine killed", "killed at the end"}


class Running:
    """A trial on its way."""

    def __init__(self, trial: Trial, other: Side | None) -> None:
        self.trial = trial
        self.other = other
        self.threads = Threads()
        self.hogs: list[Hogs] = []
        self.facts: dict[str, Any] = {}
        self.began = time.monotonic()
        self.traffic_at: float | None = None
        self.step = 0
        self.engine = 0
        environment = dict(os.environ)
        environment["WIRERATE_RUNTIME_DIR"] = str(site.ROOM / "run")
        environment["RUNTIME_DIRECTORY"] = str(site.ROOM)
        words = [sys.executable, "-m", "wirerate.cli.main", *site.command(trial, WORKER_CPU)]
        self.out = (site.ROOM / "out").open("w+b")
        self.err = (site.ROOM / "err").open("w+b")
        self.process = subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err
        )

    def watch(self) -> None:
        """Until the program has ended: sample its threads, do to it what the trial says."""
        while self.process.poll() is None:
            _end_with_input()
            now = time.monotonic()
            if now - self.began > _LIMIT_S:
                self.facts["hung"] = True
                self.process.kill()
                self.process.wait()
                break
            engine = _first_child(self.process.pid)
            if engine and engine != self.engine:  # there may be others before it
                self.engine = engine
                _prefer(str(engine))
            if self.engine:
                self.threads.sample(self.engine)
            if self.traffic_at is None:
                if self._started():
                    self.traffic_at = now
                    self.stolen = stolen_s(WORKER_CPU)
            else:
                self._act(now - self.traffic_at)
            time.sleep(_PERIOD_S)
        for hogs in self.hogs:
            hogs.end()

    def _started(self) -> bool:
        """Frames have been sent, or, where none can be seen, counters are there."""
        source = {"af_packet": "r0", "af_xdp": "r0", "tap": "t0"}.get(self.trial.port)
        if source and self.trial.command not in {"forward", "reflect"}:
            return wire.counter(source, "rx_packets") > 0
        return bool(list((site.ROOM / "run").rglob("counters-*")))

    def _act(self, since_s: float) -> None:
        """The next step of the trial's fault, when its time has come."""
        trial = self.trial
        if trial.command in {"forward", "reflect"}:
            self._drive(since_s)
        fault = trial.fault
        at_s = trial.at_s + (0.2 if trial.command in {"forward", "reflect"} else 0.0)
        if fault == "killed at the end":
            at_s = trial.seconds + trial.at_s * 4
        if self.step == 0 and since_s >= at_s:
            self.step = 1
            self._begin(fault)
        elif self.step == 1 and since_s >= at_s + trial.for_s:
            self.step = 2
            self._undo(fault)

    def _drive(self, since_s: float) -> None:
        assert self.other is not None
        if since_s >= 0.15 and "driven" not in self.facts:
            self.facts["driven"] = True
            self.other.say("go")
        if "driven" in self.facts and "ended" not in self.facts and self.other.idle():
            self.facts["ended"] = True
            self.process.send_signal(signal.SIGINT)

    def _begin(self, fault: str) -> None:
        trial = self.trial
        if fault in {"starved", "flooded"}:
            self.hogs.append(Hogs(WORKER_CPU, trial.busy))
        elif fault == "control starved":
            self.hogs.append(Hogs(OTHER_CPU, trial.busy))
        elif fault == "engine stopped":
            self._stop_engine()
        elif fault in _KILLED:
            self._kill_engine()
        elif fault == "interrupted":
            self.process.send_signal(signal.SIGINT)
        elif fault == "link down":
            self.facts["down"] = ("e0", "e1", "r0")[trial.seed % 3]
            if trial.command == "reflect":
                self.facts["down"] = ("e0", "r0")[trial.seed % 2]
            wire.ip("link", "set", self.facts["down"], "down")
        elif fault.startswith("peer") and self.other is not None:
            stop = fault == "peer stopped"
            self.other.signal(signal.SIGSTOP if stop else signal.SIGKILL)
        self.facts["began_s"] = time.monotonic() - self.began

    def _undo(self, fault: str) -> None:
        if fault == "link down":
            wire.ip("link", "set", self.facts["down"], "up")
        elif fault == "peer stopped" and self.other is not None:
            self.other.signal(signal.SIGCONT)
        elif fault == "peer restarted" and self.other is not None:
            self.other.restart()
        for hogs in self.hogs:
            hogs.end()
        self.hogs = []

    def _stop_engine(self) -> None:
        """Stop all of its threads; the time is taken around."""
        with suppress(ProcessLookupError):
            os.kill(self.engine, signal.SIGSTOP)
            before = time.monotonic()
            time.sleep(self.trial.for_s)
            os.kill(self.engine, signal.SIGCONT)
            self.facts["stopped_s"] = time.monotonic() - before

    def _kill_engine(self) -> None:
        state = _state(self.engine)
        if state and state not in "ZX":
            with suppress(ProcessLookupError):
                os.kill(self.engine, signal.SIGKILL)
                self.facts["killed"] = True

    def result(self) -> dict[str, Any]:
        """What the program printed, and all that the witnesses know."""
        workers = self.threads.workers()
        self.facts |= {
            "code": self.process.returncode,
            "workers": [asdict(one) for one in workers],
            "mains": [asdict(one) for one in self.threads.seen.values() if one not in workers],
            "stolen_s": stolen_s(WORKER_CPU) - getattr(self, "stolen", 0.0),
            "traffic": self.traffic_at is not None,
            "wall_s": time.monotonic() - self.began,
            "counters": {
                f"{name} {what}": wire.counter(name, what)
                for name in ("e0", "e1", "e2", "r0", "r1", "r2")
                for what in ("rx_packets", "tx_packets", "rx_dropped", "tx_dropped")
            },
            "leftovers": [path.name for path in (site.ROOM / "run").glob("*")],
        }
        texts = []
        for file in (self.out, self.err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        return {"out": texts[0], "err": texts[1], "facts": self.facts}


def _prefer(pid: str) -> None:
    """Priority among the kernel's groups of sessions, without which nice is for one of them."""
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(_NICE))


def _first_child(pid: int) -> int:
    try:
        words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    return int(words[0]) if words else 0


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def _end_with_input() -> None:
    """The harness outside has ended, or was interrupted: the kernel tidies up."""
    ready, _, _ = select.select([sys.stdin], [], [], 0)
    if ready:
        os._exit(1)


def run(trial: Trial) -> dict[str, Any]:
    """One trial, from its wires to what is known of it."""
    _make_wires()
    for name in ("disk", "full"):
        with suppress(FileNotFoundError):
            (site.ROOM / name / "out.pcap").unlink()
    other = site.other_end(trial, OTHER_CPU)
    if other is not None and trial.port != "tap":
        other.ready()
    running = Running(trial, other)
    running.watch()
    if other is not None:
        with suppress(ProcessLookupError):
            other.signal(signal.SIGCONT)
    truth = None if other is None else other.finish()
    outcome = running.result()
    file = site.out_file(trial)
    if trial.port == "pcap" and file.exists():
        truth = recount(file)
    return {**outcome, "truth": truth}


def _make_wires() -> None:
    names = [path.name for path in Path("/sys/class/net").iterdir()]
    lines = [f"link del {name}" for name in ("e0", "e1", "e2") if name in names]
    for at in range(3):
        lines.append(f"link add e{at} type veth peer name r{at}")
        lines += [f"link set {end}{at} arp off up" for end in "er"]
    subprocess.run(("ip", "-batch", "-"), input="\n".join(lines), text=True, check=True, timeout=20)


def _mount(kind: str, where: Path, *words: str) -> None:
    where.mkdir(exist_ok=True)
    subprocess.run(("mount", "-t", kind, *words, kind, str(where)), check=True)


def prepare() -> None:
    """Mounts and settings that all trials share."""
    _mount("sysfs", Path("/sys"))
    _mount("tmpfs", site.ROOM)
    _mount("tmpfs", site.ROOM / "disk")
    _mount("tmpfs", site.ROOM / "full", "-o", "size=64k")
    (site.ROOM / "run").mkdir()
    for what in ("all", "default"):
        Path(f"/proc/sys/net/ipv6/conf/{what}/disable_ipv6").write_text("1")


def main() -> None:
    """Serve trials until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare()
    os.setsid()
    os.setpriority(os.PRIO_PROCESS, 0, _NICE)
    _prefer("self")
    lines = os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
    while line := lines.readline():
        asked = json.loads(line)
        outcome = run(draw(asked["seed"], asked["fault"]))
        try:
            sys.stdout.write(json.dumps(outcome) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:  # the harness outside was killed
            os._exit(1)


if __name__ == "__main__":
    main()
