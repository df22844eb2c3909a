# SPDX-License-Identifier: BSD-3-Clause
"""iperf3, both sides: what it is told, when its server listens, and what its JSON document says.

Versions differ: up to 3.11 the result of UDP may lack `sum_sent` and `sum_received`, its `sum` is
the sender's octets then, and the receiver's are told by the datagrams that it missed. An error is a
key of the document, and the exit code may be 0 all the same.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.errors import HostSetupError, TrialError
from wirerate.host.namespaces import run_tool
from wirerate.host.tree import ROOT, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from wirerate.host.children import Child

SERVER_PORT = 5201
"""iperf3's own. Those of servers that run elsewhere have this one, too."""
_CONNECT_MS = 5_000
_LISTEN_S = 10.0
_POLL_S = 0.01
_BIND = "--bind-dev"
_NO_SERVER = "unable to connect to server"
_LISTENING = "0A"
"""The state in /proc/net/tcp (include/net/tcp_states.h, TCP_LISTEN)."""


@dataclass(frozen=True)
class Iperf3Request:
    """What the client is to do; ``read``: it receives. ``time_s`` [s] is whole.

    ``interface``: nothing goes by another one; empty = as Linux chooses.
    ``rate_bps`` is that of each stream of UDP, 0 = no limit; ``length`` [octets] of a datagram,
    None = iperf3's choice.
    """

    server: str
    port: int
    udp: bool
    read: bool
    time_s: int
    parallel: int = 1
    rate_bps: int = 0
    length: int | None = None
    interface: str = ""


class ServerGoneError(TrialError):
    """Nobody takes the connection: what comes next would fail, too."""


@dataclass(frozen=True)
class Iperf3Result:
    """What a client has told.

    ``seconds`` and ``received_octets`` are the receiver's, of payload. ``retransmits`` are
    segments of TCP, None where the sender does not know; ``segment_octets``: the payload of a
    segment or a datagram. ``datagrams`` were expected, ``datagrams_lost`` of them did not come,
    ``datagrams_sent`` says the sender; None for TCP. ``own_cpu`` and ``peer_cpu`` are shares of one
    CPU.
    """

    seconds: float
    sent_octets: int
    received_octets: int
    retransmits: int | None
    segment_octets: int
    datagrams: int | None
    datagrams_lost: int | None
    own_cpu: float
    peer_cpu: float
    datagrams_sent: int | None = None


def binds_to_interfaces() -> bool:
    """Whether iperf3 can be bound to an interface, as it can since 3.10. Raises HostSetupError."""
    return _BIND in run_tool("iperf3 cannot be asked for its options", ["iperf3", "--help"])


def server_command(port: int) -> list[str]:
    """A server for one client; no pid file, for a stale one keeps it from starting."""
    return ["iperf3", "--server", "--one-off", "--json", "--port", str(port)]


def client_command(request: Iperf3Request) -> list[str]:
    """A client that prints its document."""
    words = ["iperf3", "--client", request.server, "--port", str(request.port), "--json"]
    words += ["--time", str(request.time_s), "--parallel", str(request.parallel)]
    words += ["--connect-timeout", str(_CONNECT_MS)]
    if request.interface:
        words += [_BIND, request.interface]
    if request.read:
        words.append("--reverse")
    if request.udp:
        words += ["--udp", "--bitrate", str(request.rate_bps)]
        if request.length is not None:
            words += ["--length", str(request.length)]
    return words


def wait_until_listening(
    server: Child, port: int, tick: Callable[[], None], root: Path = ROOT
) -> None:
    """Wait for the socket, which is not to be tried: who connects is the client. HostSetupError."""
    end = time.monotonic() + _LISTEN_S
    while not _listens(server.pid, port, root):
        if not server.running():
            raise HostSetupError(f"iperf3's server ended: {_error_of(server)}")
        if time.monotonic() > end:
            raise HostSetupError(f"iperf3's server does not listen on port {port}")
        tick()
        time.sleep(_POLL_S)


def _listens(pid: int, port: int, root: Path) -> bool:
    """Whether somebody listens there, in the network namespace of the process.

    Before it is iperf3 it may still be in another one, where somebody else listens.
    """
    if read_text(root / "proc" / str(pid) / "comm") != "iperf3":
        return False
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in (read_text(root / "proc" / str(pid) / "net" / table) or "").splitlines()[1:]
    ]
    return any(
        words[1].endswith(f":{port:04X}") and words[3] == _LISTENING
        for words in lines
        if len(words) > 3
    )


def _error_of(child: Child) -> str:
    try:
        return str(json.loads(child.output())["error"])
    except (ValueError, KeyError, TypeError):
        return child.complaint() or "it said nothing"


def parse_client(text: str, complaint: str, request: Iperf3Request) -> Iperf3Result:
    """Read a client's document; ``complaint`` is its standard error. Raises TrialError."""
    try:
        found = json.loads(text)
    except ValueError:
        said = complaint or "it said nothing"
        raise TrialError(f"iperf3 gave no result: {said}") from None
    if not isinstance(found, dict):
        raise TrialError("iperf3 gave no result: its document is no object")
    if found.get("error"):
        raise _error(str(found["error"]), request)
    try:
        result = _udp(found) if request.udp else _tcp(found)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        version = _version(found)
        text = f"iperf3's result is not understood ({version}): {type(error).__name__} {error}"
        raise TrialError(text) from error
    if result.seconds <= 0:
        raise TrialError("iperf3 measured no time at all")
    return result


def _error(said: str, request: Iperf3Request) -> TrialError:
    """Of no server iperf3 tells what might be the cause, and behind that what was."""
    if not said.startswith(_NO_SERVER):
        return TrialError(f"iperf3: {said}")
    cause = said.rpartition(": ")[2]
    return ServerGoneError(
        f"iperf3: unable to connect to server {request.server}, port {request.port}: {cause}; "
        f"run iperf3 -s -p {request.port} there, and let that port through its firewall"
    )


def _version(document: Mapping[str, Any]) -> str:
    start = document.get("start")
    return str(start.get("version", "unknown") if isinstance(start, dict) else "unknown")


def _cpu(end: Mapping[str, Any]) -> tuple[float, float]:
    """Shares of the client and the server."""
    percent = end.get("cpu_utilization_percent") or {}
    return percent.get("host_total", 0.0) / 100, percent.get("remote_total", 0.0) / 100


def _tcp(document: Mapping[str, Any]) -> Iperf3Result:
    end = document["end"]
    sent, received = end["sum_sent"], end["sum_received"]
    own, peer = _cpu(end)
    retransmits = sent.get("retransmits")
    return Iperf3Result(
        seconds=float(received["seconds"]),
        sent_octets=int(sent["bytes"]),
        received_octets=int(received["bytes"]),
        retransmits=None if retransmits is None else int(retransmits),
        segment_octets=int(document["start"].get("tcp_mss_default") or 0),
        datagrams=None,
        datagrams_lost=None,
        own_cpu=own,
        peer_cpu=peer,
    )


def _udp(document: Mapping[str, Any]) -> Iperf3Result:
    end = document["end"]
    length = int(document["start"]["test_start"]["blksize"])
    # Where both are there, `sum` is one of them; where they are not, it is of both sides.
    received = end.get("sum_received") or end["sum"]
    sent = end.get("sum_sent") or end["sum"]
    sent_datagrams = int(sent.get("packets") or 0) or int(sent["bytes"]) // length
    expected = int(received.get("packets") or 0)
    lost = int(received.get("lost_packets") or 0)
    if expected == 0:  # nothing came, so that the receiver missed nothing
        expected = lost = sent_datagrams
    own, peer = _cpu(end)
    return Iperf3Result(
        seconds=float(received["seconds"]),
        sent_octets=sent_datagrams * length,
        received_octets=max(0, expected - lost) * length,
        retransmits=None,
        segment_octets=length,
        datagrams=expected,
        datagrams_lost=lost,
        own_cpu=own,
        peer_cpu=peer,
        datagrams_sent=sent_datagrams,
    )
