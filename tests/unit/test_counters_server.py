# SPDX-License-Identifier: BSD-3-Clause
"""The counters by HTTP: one answer for each client, whatever it does."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import ExitStack

import pytest

from support.network import exchange, free_port
from wirerate.errors import HostSetupError, PlanError
from wirerate.plan.peer_address import PeerAddress, parse_listen, parse_peer
from wirerate.session import counters_server
from wirerate.session.counters_server import CLIENTS_MAX, ROOM_S, CountersServer

DOCUMENT = {"schema": "wirerate-forward/1", "frames": 7}


@pytest.fixture
def server():
    with (
        CountersServer(PeerAddress("127.0.0.1", 0)) as made,
        made.serving(lambda: DOCUMENT),
    ):
        yield made


def ask(server, line, *headers):
    """The status and the body of the answer to a request line."""
    lines = "".join(f"{text}\r\n" for text in (line, *headers, ""))
    head, _, body = exchange(server.address.port, lines.encode()).partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode(), body


@pytest.mark.parametrize("path", ["/counters", "/counters?pretty=1"])
def test_the_document(server, path):
    status, head, body = ask(server, f"GET {path} HTTP/1.1", "Host: here")
    assert status == 200
    assert "Content-Type: application/json" in head
    assert "Server: wirerate\r\n" in head
    assert json.loads(body) == DOCUMENT
    assert body.endswith(b"}\n")


def test_head_has_no_body(server):
    status, head, body = ask(server, "HEAD /counters HTTP/1.0")
    assert (status, body) == (200, b"")
    assert "Content-Length: 46" in head


@pytest.mark.parametrize("path", ["/", "/counters/", "/../counters", "/favicon.ico"])
def test_other_paths(server, path):
    status, _, body = ask(server, f"GET {path} HTTP/1.0")
    assert (status, body) == (404, b"404 Not Found\nThere is /counters only.\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "JUMP"])
def test_other_methods(server, method):
    status, head, _ = ask(server, f"{method} /counters HTTP/1.0")
    assert status == 405
    assert "Allow: GET, HEAD" in head


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET /counters HTTP/9.0\r\n\r\n", 505),
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\r\n\r\n", 400),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.0\r\n\r\n", 414),
        (b"GET /counters HTTP/1.0\r\nA: " + b"b" * 70_000 + b"\r\n\r\n", 431),
        (b"GET /counters HTTP/1.0\r\n" + b"A: b\r\n" * 200 + b"\r\n", 431),
    ],
)
def test_broken_requests_are_answered(server, request_line, status):
    try:
        answer = exchange(server.address.port, request_line)
    except ConnectionResetError:  # what it did not read is thrown away by the kernel
        answer = b""
    assert not answer or b"%d " % status in answer.splitlines()[0]
    assert ask(server, "GET /counters HTTP/1.0")[0] == 200


def drip(port):
    with socket.create_connection(("127.0.0.1", port)) as client:
        for _ in range(100):
            client.sendall(b"G")
            time.sleep(0.05)


def test_slow_clients_are_cut_off(server, monkeypatch):
    """One that sends an octet now and then, for ever."""
    monkeypatch.setattr(counters_server, "CLIENT_S", 0.5)
    began = time.monotonic()
    with pytest.raises(OSError, match=r"reset|Broken pipe"):
        drip(server.address.port)
    assert time.monotonic() - began < 4


def test_so_many_clients_at_a_time(server, monkeypatch):
    """Those beyond are turned away at once; when the first have gone, others are served."""
    monkeypatch.setattr(counters_server, "ROOM_S", 3600)
    idle = [socket.create_connection(("127.0.0.1", server.address.port)) for _ in range(40)]
    time.sleep(0.5)
    assert threading.active_count() <= CLIENTS_MAX + 10
    assert exchange(server.address.port, b"").startswith(b"HTTP/1.0 503 "), "turned away"
    for client in idle:
        client.close()
    time.sleep(0.3)
    assert ask(server, "GET /counters HTTP/1.0")[0] == 200


def test_slow_clients_shut_nobody_out(server):
    """All places are taken by clients that never finish their request, and more wait."""
    with ExitStack() as stack:
        for _ in range(2 * CLIENTS_MAX):
            address = ("127.0.0.1", server.address.port)
            slow = stack.enter_context(socket.create_connection(address))
            slow.sendall(b"GET /counters HTT")
        time.sleep(2 * ROOM_S)
        for _ in range(3):
            assert ask(server, "GET /counters HTTP/1.0")[0] == 200


def test_a_reader_that_goes_away_is_no_trouble(server, capfd):
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.address.port)) as client:
            client.sendall(b"GET /counters HTTP/1.0\r\n\r\n")
    assert ask(server, "GET /counters HTTP/1.0")[0] == 200
    assert capfd.readouterr() == ("", "")


def test_an_ipv6_address():
    if not socket.has_ipv6:
        pytest.skip("Python has no IPv6")
    try:
        server = CountersServer(parse_listen("[::1]:0"))
    except HostSetupError as error:
        pytest.skip(f"no IPv6 here: {error}")
    with server, server.serving(lambda: DOCUMENT):
        assert str(server.address).startswith("[::1]:")
        answer = exchange(server.address.port, b"GET /counters HTTP/1.0\r\n\r\n", "::1")
    assert answer.startswith(b"HTTP/1.0 200")


@pytest.mark.parametrize(
    ("host", "reason"), [("198.51.100.7", "cannot assign"), ("no.such.invalid", "choose another")]
)
def test_addresses_that_cannot_be_had(host, reason):
    with pytest.raises(HostSetupError, match=reason):
        CountersServer(PeerAddress(host, 0))


def test_a_port_in_use(server):
    with pytest.raises(HostSetupError, match=r"--listen 127.0.0.1:\d+: address already in use"):
        CountersServer(server.address)


def test_it_ends_with_its_block():
    port = free_port()
    with CountersServer(PeerAddress("127.0.0.1", port)) as made, made.serving(dict):
        pass
    with pytest.raises(ConnectionRefusedError):
        exchange(port, b"")


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("8080", "127.0.0.1", 8080),
        ("0", "127.0.0.1", 0),
        ("0.0.0.0:1", "0.0.0.0", 1),
        ("dut.example:65535", "dut.example", 65535),
        ("[fe80::1]:80", "fe80::1", 80),
    ],
)
def test_addresses(text, host, port):
    address = parse_listen(text)
    assert (address.host, address.port) == (host, port)
    assert parse_listen(str(address)) == address


@pytest.mark.parametrize(
    "text", ["", ":", ":80", "::1:80", "[::1]", "[::g]:80", "a b:1", "1:2:3", "x:", "70000", "-1"]
)
def test_no_addresses(text):
    with pytest.raises(PlanError, match="--listen"):
        parse_listen(text)


def test_a_peer_has_a_port():
    with pytest.raises(PlanError, match="TCP ports are 1 to 65,535"):
        parse_peer("dut:0")
