# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel says of the program's threads, and what takes their CPU.

/proc/PID/task/TID/schedstat has how long a thread ran and how long it waited for a CPU: the witness
of lcores that lose theirs.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

_NS = 1e9


@dataclass
class Waiting:
    """Of one thread, from the first sample to the last [s]; ``longest``: between two samples."""

    name: str
    ran: float = 0.0
    waited: float = 0.0
    longest: float = 0.0
    _first: tuple[int, int] | None = field(default=None, repr=False)
    _last: tuple[int, int] = field(default=(0, 0), repr=False)

    def sample(self, ran: int, waited: int) -> None:
        """The kernel's sums at a moment [ns]."""
        if self._first is None:
            self._first = self._last = (ran, waited)
        self.longest = max(self.longest, (waited - self._last[1]) / _NS)
        self._last = (ran, waited)
        self.ran = (ran - self._first[0]) / _NS
        self.waited = (waited - self._first[1]) / _NS


class Threads:
    """All threads of the engine."""

    def __init__(self) -> None:
        self.seen: dict[int, Waiting] = {}

    def sample(self, pid: int) -> None:
        """Ask the kernel once."""
        try:
            tasks = [*Path(f"/proc/{pid}/task").iterdir()]
        except OSError:  # it has ended
            return
        for task in tasks:
            try:
                words = (task / "schedstat").read_text().split()
                number = int(task.name)
                if number not in self.seen:
                    self.seen[number] = Waiting((task / "comm").read_text().strip())
            except OSError:
                continue
            self.seen[number].sample(int(words[0]), int(words[1]))

    def workers(self) -> list[Waiting]:
        """Those of the data path, by DPDK's names of lcores' threads."""
        return [one for one in self.seen.values() if "worker" in one.name]


class Hogs:
    """Busy processes on one CPU."""

    def __init__(self, cpu: int, count: int) -> None:
        self._pids = [self._one(cpu) for _ in range(count)]

    @staticmethod
    def _one(cpu: int) -> int:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.sched_setaffinity(0, {cpu})
            while True:
                pass
        return pid

    def end(self) -> None:
        """Give the CPU back."""
        for pid in self._pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self._pids = []


def stolen_s(cpu: int) -> float:
    """Time that the hypervisor took from a CPU since the boot [s]."""
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith(f"cpu{cpu} "):
            return int(line.split()[8]) / os.sysconf("SC_CLK_TCK")
    return 0.0
