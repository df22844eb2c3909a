# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-testpmd as a peer: started once, then told to forward for a slice of time at a time."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

_PROMPT = b"testpmd> "
_TX_PACKETS = re.compile(rb"TX-packets:\s*(\d+)")


class Testpmd:
    """An interactive testpmd with one forwarding lcore, pinned; ended by closing its input."""

    def __init__(
        self,
        prefix: str,
        *,
        main_cpu: int,
        data_cpu: int,
        vdevs: Sequence[str],
        options: Sequence[str],
    ) -> None:
        command = [
            "dpdk-testpmd",
            "--lcores",
            f"100@{main_cpu},1@{data_cpu}",
            "--main-lcore",
            "100",
        ]
        command += ["--no-pci", "--in-memory", "--file-prefix", prefix]
        for vdev in vdevs:
            command += ["--vdev", vdev]
        command += ["--", "-i", "--nb-cores=1", "--total-num-mbufs=16384", *options]
        # A terminal, since testpmd's prompt overtakes its reports in a pipe (stdio buffers those).
        self._terminal, theirs = pty.openpty()
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self._read_to_prompt()

    def _read_to_prompt(self) -> bytes:
        seen = b""
        while not seen.endswith(_PROMPT):
            try:
                seen += os.read(self._terminal, 65536)
            except OSError as error:
                text = f"dpdk-testpmd ended: {seen[-500:].decode(errors='replace')}"
                raise RuntimeError(text) from error
        return seen

    def command(self, line: str) -> bytes:
        """What testpmd prints in answer, up to its next prompt."""
        os.write(self._terminal, line.encode() + b"\n")
        return self._read_to_prompt()

    def send_for(self, seconds: float) -> float:
        """Frames per second sent by all ports over a slice of forwarding."""
        self.command("start")
        started = time.perf_counter()
        time.sleep(seconds)
        elapsed = time.perf_counter() - started
        report = self.command("stop")
        # The last figure is the accumulated one of all ports.
        return int(_TX_PACKETS.findall(report)[-1]) / elapsed

    def close(self) -> None:
        """Quit testpmd."""
        if self._process.poll() is None:
            os.write(self._terminal, b"stop\nquit\n")
            self._process.wait(timeout=20)
        os.close(self._terminal)

    def __enter__(self) -> Testpmd:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
