# SPDX-License-Identifier: BSD-3-Clause
"""A far end that takes the connection and then stands still, as a stopped virtual machine does."""

from __future__ import annotations

import signal
import socket
from contextlib import contextmanager

from support.host import ONE
from support.program import gone, wait_for


@contextmanager
def still_backend(path):
    """A vhost-user backend that never answers; calling it waits for the first message."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen()
        server.settimeout(60)
        peers = []

        def asked():
            peer, _ = server.accept()
            peers.append(peer)
            assert peer.recv(12), "no message came"

        yield asked
        for peer in peers:
            peer.close()


def test_ctrl_c_ends_an_engine_that_waits_for_its_peer(program, tmp_path):
    """One Ctrl-C is enough: no reply is waited for, and none is taken for that of another call."""
    with still_backend(tmp_path / "vhost.sock") as asked:
        words = ("perf", f"virtio-user:{tmp_path / 'vhost.sock'}", "-m", f"{ONE}.0")
        with program.start(*words) as running:
            asked()
            engine = running.engine_pid()
            running.signal(signal.SIGINT)
            run = running.finish(timeout_s=25)  # 150 s before
    wait_for("the engine's end", lambda: gone(engine))
    assert run.code == 130, run.err
    assert "Traceback" not in run.err
