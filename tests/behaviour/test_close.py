# SPDX-License-Identifier: BSD-3-Clause
"""The end of a run while a device still holds frames of another port's pool."""

from __future__ import annotations

import subprocess
import sys

from support.host import CPUS, ONE, hugepages, needs_two_cpus
from support.program import wait_for

FLOOD = """
import socket, time
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("wr-right", 0))
frame = bytes.fromhex("020000000002" "020000000001" "0800") + bytes(50)
while True:
    for _ in range(16):
        out.send(frame)
    time.sleep(0.001)
"""


def heard(running):
    """The engine of a server listens: its ports are open."""
    return wait_for("counters", lambda: list(running.directory().glob("counters-*")))


@needs_two_cpus
def test_a_device_that_holds_frames_of_another_port(program, other_program, veth):
    """virtio's driver gives back what was sent when it needs room, or when it is closed."""
    socket = other_program.root / "vhost.sock"
    program.prefix = veth.inside
    peer = ("reflect", f"vhost:{socket}", "--rx-only", "-m", f"{ONE}.0")
    words = [f"af_packet:{veth.left}", f"virtio-user:{socket}", "-m", f"{CPUS[0]}.[0-1]"]
    words += ["--duration", "2", "--json"]
    with (
        hugepages(512),
        other_program.start(*peer) as server,
        subprocess.Popen((*veth.inside, sys.executable, "-c", FLOOD)) as sender,
    ):
        try:
            heard(server)
            done = program.run("forward", *words)
        finally:
            sender.kill()
    assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
    found = done.document
    assert found["ways"][0]["tx_frames"] > 0
    assert not [reason for reason in found["verdict"]["reasons"] if "engine" in reason]
