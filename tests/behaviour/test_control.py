# SPDX-License-Identifier: BSD-3-Clause
"""The control socket of a live engine takes anything: it answers or hangs up, and goes on."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import stat

import pytest

from support.program import adds_up, port, sandbox

TIMEOUT_S = 20.0
CLIENTS_MAX = 16

HOSTILE = {
    "no JSON": b"hello\n",
    "half an object": b'{"jsonrpc":"2.0","id":1\n',
    "no UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}\n',
    "NUL": b'{"jsonrpc":"2.0",\x00"id":1}\n',
    "nesting": b"[" * 100_000 + b"\n",
    "nested objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"\n",
    "a batch": b'[{"jsonrpc":"2.0","id":1,"method":"engine.info","params":{}}]\n',
    "a number": b"42\n",
    "null": b"null\n",
    "an empty object": b"{}\n",
    "no version": b'{"id":1,"method":"engine.info","params":{}}\n',
    "method a number": b'{"jsonrpc":"2.0","id":1,"method":7,"params":{}}\n',
    "params a list": b'{"jsonrpc":"2.0","id":1,"method":"engine.info","params":[1]}\n',
    "params a string": b'{"jsonrpc":"2.0","id":1,"method":"ports.open","params":"p0"}\n',
    "unknown method": b'{"jsonrpc":"2.0","id":1,"method":"engine.reboot","params":{}}\n',
    "unknown key": b'{"jsonrpc":"2.0","id":1,"method":"engine.info","params":{"x":1}}\n',
    "ports a number": b'{"jsonrpc":"2.0","id":1,"method":"ports.open","params":{"ports":3}}\n',
    "ports again": b'{"jsonrpc":"2.0","id":1,"method":"ports.open","params":{"ports":[]}}\n',
    "workers null": b'{"jsonrpc":"2.0","id":1,"method":"program.load",'
    b'"params":{"workers":null,"streams":[]}}\n',
    "load again": b'{"jsonrpc":"2.0","id":1,"method":"program.load",'
    b'"params":{"workers":[],"streams":[]}}\n',
    "start again": b'{"jsonrpc":"2.0","id":1,"method":"traffic.start","params":{}}\n',
    "negative time": b'{"jsonrpc":"2.0","id":1,"method":"traffic.start",'
    b'"params":{"duration_ns":-1}}\n',
    "huge number": b'{"jsonrpc":"2.0","id":1,"method":"traffic.start",'
    b'"params":{"duration_ns":1' + b"0" * 400 + b"}}\n",
    "70 MiB": b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (70 << 20) + b'"}\n',
    "70 MiB without an end": b"x" * (70 << 20),
    "an empty line": b"\n",
}


@pytest.fixture(scope="module")
def run():
    """One run for all of these; it has to count right to the end."""
    with sandbox() as program:
        with program.start("perf", "ring:x", "-r", "5kpps", "--json") as running:
            directory = running.sending()
            yield directory / "control.sock"
            running.signal(signal.SIGINT)
            done = running.finish()
        assert (done.code, done.err) == (0, "")
        figures = port(done.document)
        adds_up(figures)
        assert figures["tx_frames"] > 0


def connect(path):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(TIMEOUT_S)
    try:
        client.connect(str(path))
    except OSError:
        client.close()
        raise
    return client


def reply_to(client, message):
    """The first line that comes back; empty when the connection is closed."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        client.sendall(message)
    with contextlib.suppress(ConnectionResetError), client.makefile("rb") as lines:
        return lines.readline()
    return b""


def answers(path):
    with connect(path) as client:
        request = {"jsonrpc": "2.0", "id": "still", "method": "engine.info", "params": {}}
        reply = json.loads(reply_to(client, json.dumps(request).encode() + b"\n"))
        assert reply["id"] == "still"
        return reply["result"]["pid"]


@pytest.mark.parametrize("message", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_messages(run, message):
    engine = answers(run)
    with connect(run) as client:
        if not message.strip():
            message += b"{}\n"  # an empty line may be passed over
        reply = reply_to(client, message)
        if reply:
            error = json.loads(reply)["error"]
            assert isinstance(error["code"], int)
            assert error["code"] < 0
            assert error["message"]
    assert answers(run) == engine


def test_half_messages(run):
    with connect(run) as silent, connect(run) as gone:
        silent.sendall(b'{"jsonrpc":')
        gone.sendall(b'{"jsonrpc":"2.0","id":1,"meth')
        gone.close()
        answers(run)
        rest = b'"2.0","id":5,"method":"engine.info","params":{}}\n'
        assert json.loads(reply_to(silent, rest))["id"] == 5


def test_a_client_that_reads_nothing(run):
    with connect(run) as greedy:
        greedy.settimeout(2.0)
        request = b'{"jsonrpc":"2.0","id":1,"method":"engine.info","params":{}}\n'
        with contextlib.suppress(TimeoutError, BrokenPipeError, ConnectionResetError):
            for _ in range(200):
                greedy.sendall(request * 100)
        answers(run)
    answers(run)


def test_a_hundred_clients(run):
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(100):
            with contextlib.suppress(BlockingIOError):  # more at once than the kernel lets wait
                clients.append(stack.enter_context(connect(run)))
        request = b'{"jsonrpc":"2.0","id":1,"method":"engine.info","params":{}}\n'
        replies = [reply_to(client, request) for client in clients]
        served = [reply for reply in replies if reply and "result" in json.loads(reply)]
        assert len(served) == CLIENTS_MAX - 1  # the program itself is one
    answers(run)


def test_nobody_else_gets_in(run):
    assert stat.S_IMODE(run.stat().st_mode) == 0o600
    assert stat.S_IMODE(run.parent.stat().st_mode) == 0o700
    for counters in run.parent.glob("counters-*"):
        assert stat.S_IMODE(counters.stat().st_mode) == 0o600
