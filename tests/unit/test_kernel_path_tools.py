# SPDX-License-Identifier: BSD-3-Clause
"""What iperf3, ping and the kernel say, as they said it once, and what they might say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wirerate.errors import HostSetupError, TrialError
from wirerate.host.cpu_time import machine_busy_ns
from wirerate.host.iperf3 import (
    Iperf3Request,
    ServerGoneError,
    client_command,
    parse_client,
    wait_until_listening,
)
from wirerate.host.namespaces import inside, run_tool
from wirerate.host.net_counters import parse_net_counters
from wirerate.host.ping import (
    PingResult,
    parse_ping,
    percentile,
    ping_command,
    ping_document,
    together,
    why_none,
)

RECORDED = Path(__file__).parent.parent / "support/recorded"
TCP = Iperf3Request("198.18.0.1", 5201, udp=False, read=True, time_s=1)
UDP = Iperf3Request("198.18.0.1", 5201, udp=True, read=False, time_s=1, rate_bps=10**10)


def recorded(name):
    return json.loads((RECORDED / f"iperf3_{name}.json").read_text())


def parsed(document, request):
    return parse_client(json.dumps(document), "", request)


def test_tcp_is_what_the_receiver_got():
    found = parsed(recorded("tcp_read"), TCP)
    assert found.received_octets == 1_221_197_824
    assert found.sent_octets == 1_229_586_432
    assert found.seconds == 1.001482
    assert (found.retransmits, found.segment_octets) == (0, 1448)
    assert found.own_cpu == pytest.approx(0.43034, abs=1e-5)
    assert found.peer_cpu == pytest.approx(0.61718, abs=1e-5)
    assert found.datagrams is None


def test_retransmits_are_the_senders():
    assert parsed(recorded("tcp_write"), TCP).retransmits == 140


def test_udp_agrees_with_iperf3():
    document = recorded("udp_read")
    found = parsed(document, UDP)
    assert found.received_octets == document["end"]["sum_received"]["bytes"]
    assert found.sent_octets == document["end"]["sum_sent"]["bytes"]
    assert (found.datagrams, found.datagrams_lost) == (90_315, 37_533)
    assert found.retransmits is None


def test_udp_of_two_streams():
    document = recorded("udp_write_2_streams")
    found = parsed(document, UDP)
    assert found.received_octets == document["end"]["sum_received"]["bytes"]
    assert found.sent_octets == document["end"]["sum_sent"]["bytes"] == 175_218 * 1448


def test_an_old_version_tells_udp_by_one_sum():
    document = recorded("udp_read")
    new = parsed(document, UDP)
    del document["end"]["sum_sent"], document["end"]["sum_received"]
    old = parsed(document, UDP)
    assert old.received_octets == new.received_octets
    assert old.sent_octets == new.sent_octets
    assert old.datagrams_lost == new.datagrams_lost


def test_nothing_came_is_all_lost():
    document = recorded("udp_read")
    document["end"]["sum_received"] |= {"packets": 0, "lost_packets": 0, "bytes": 0}
    found = parsed(document, UDP)
    assert (found.received_octets, found.datagrams, found.datagrams_lost) == (0, 90_315, 90_315)


def test_an_error_is_told_though_iperf3_exits_with_0():
    said = "unable to connect to server 198.18.0.1, port 5201: Connection refused; run iperf3 -s"
    with pytest.raises(ServerGoneError, match=said):
        parsed(recorded("refused"), TCP)
    with pytest.raises(TrialError, match=r"^iperf3: the server is busy$") as caught:
        parsed({"error": "the server is busy"}, TCP)
    assert not isinstance(caught.value, ServerGoneError)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it complained"),
        ("[]", "no object"),
        ("{}", "not understood"),
        ('{"start": {"version": "iperf 9"}, "end": {"sum_sent": 1}}', "iperf 9"),
        ('{"start": {}, "end": {"sum_sent": {"bytes": 1}, "sum_received": {"bytes": 1}}}', "sec"),
    ],
)
def test_other_answers_are_errors(text, said):
    with pytest.raises(TrialError, match=said):
        parse_client(text, "it complained", TCP)


def test_no_time_is_no_measurement():
    document = recorded("tcp_read")
    document["end"]["sum_received"]["seconds"] = 0
    with pytest.raises(TrialError, match="no time"):
        parsed(document, TCP)


def test_the_clients_words():
    assert "--reverse" in client_command(TCP)
    assert "--udp" not in client_command(TCP)
    words = client_command(UDP)
    assert "--reverse" not in words
    assert words[words.index("--bitrate") + 1] == "10000000000"
    assert "--length" not in words
    assert "--bind-dev" not in words
    bound = client_command(replace(TCP, interface="kp"))
    assert bound[bound.index("--bind-dev") + 1] == "kp"
    ping = ping_command("198.18.0.1", 3, 10, 56, "kp")
    assert ping[ping.index("-I") + 1] == "kp"


class _Server:
    """A process that never ends by itself."""

    pid = 7

    def __init__(self, *, runs: bool = True, said: str = "") -> None:
        self.running = lambda: runs
        self.output = lambda: said
        self.complaint = lambda: "it complained"


def server(**other: Any) -> Any:
    return _Server(**other)


def sockets(root, state="0A", comm="iperf3"):
    folder = root / "proc/7/net"
    folder.mkdir(parents=True)
    (folder.parent / "comm").write_text(f"{comm}\n")
    line = f"   0: {'0' * 32}:1451 {'0' * 32}:0000 {state} 00000000:00000000\n"
    (folder / "tcp6").write_text("  sl  local_address\n" + line)


def test_a_server_that_listens_is_not_asked(tmp_path):
    sockets(tmp_path)
    wait_until_listening(server(), 5201, lambda: None, tmp_path)


@pytest.mark.parametrize(("state", "comm"), [("01", "iperf3"), ("0A", "ip")])
def test_a_server_is_waited_for(tmp_path, state, comm):
    def tick():
        raise InterruptedError

    sockets(tmp_path, state, comm)
    with pytest.raises(InterruptedError):
        wait_until_listening(server(), 5201, tick, tmp_path)


@pytest.mark.parametrize(
    ("said", "reason"), [('{"error": "in use"}', "in use"), ("[1]", "it complained")]
)
def test_a_server_that_ended_says_why(tmp_path, said, reason):
    with pytest.raises(HostSetupError, match=reason):
        wait_until_listening(server(runs=False, said=said), 5201, lambda: None, tmp_path)


PING = """\
PING 198.18.0.1 (198.18.0.1) 56(84) bytes of data.
64 bytes from 198.18.0.1: icmp_seq=1 ttl=64 time=0.092 ms
64 bytes from 198.18.0.1: icmp_seq=3 ttl=64 time=12.5 ms
64 bytes from 198.18.0.1: icmp_seq=3 ttl=64 time=12.6 ms (DUP!)
From 198.18.0.2 icmp_seq=4 Destination Host Unreachable
64 bytes from fd00:18::1: icmp_seq=5 ttl=64 time=1103 ms

--- 198.18.0.1 ping statistics ---
9 packets transmitted, 3 received, +1 duplicates, +1 errors, 66.6667% packet loss, time 72ms
"""


def test_every_reply_counts_once():
    found = parse_ping(PING, 10)
    assert found == PingResult(9, (92.0, 12_500.0, 1_103_000.0))


def test_what_is_on_its_way_when_ping_is_interrupted_is_not_lost():
    text = PING.replace("time=1103 ms", "time=25 ms")
    assert parse_ping(text, 10, interrupted=True).sent == 5
    assert parse_ping(text.replace("9 packets", "99 packets"), 10, interrupted=True).sent == 95


def test_ping_that_was_killed_has_no_summary():
    assert parse_ping(PING.partition("---")[0], 10) == PingResult(5, (92.0, 12_500.0, 1_103_000.0))
    assert parse_ping("", 10) == PingResult(0)


def test_why_there_is_no_reply_is_what_ping_says():
    assert why_none(PING, "") == "Destination Host Unreachable"
    assert why_none("", "ping: x.y: Name or service not known") == "x.y: Name or service not known"
    assert why_none("PING 198.18.0.1", "") == ""


def test_percentiles_are_over_all_replies():
    found = ping_document(together([PingResult(60, tuple(range(1, 51))), PingResult(50)]))
    assert found["sent"] == 110
    assert found["loss"] == pytest.approx(60 / 110)
    assert [found[key] for key in ("p50_us", "p90_us", "p99_us", "max_us")] == [25, 45, 50, 50]
    assert ping_document(PingResult(2))["p50_us"] is None
    assert ping_document(PingResult(0))["loss"] is None
    assert percentile([7.0], 0.01) == 7.0


NET = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo:       0       0    0    0    0     0          0         0        0       0 0 0 0 0 0 0
   far:    1000      10    0    0    0     0          0         0     5000      20 0 0 0 0 0 0
Ip: Forwarding DefaultTTL InReceives InHdrErrors OutRequests
Ip: 2 64 300 0 400
Icmp: InMsgs InErrors
Icmp: 5 0
Ip6InReceives                   	7
Ip6OutRequests                  	8
"""


def test_octets_count_the_fcs_and_both_ip_versions_are_packets():
    found = parse_net_counters(NET)
    far = found.interfaces["far"]
    assert (far.rx_frames, far.rx_octets) == (10, 1040)
    assert (far.tx_frames, far.tx_octets) == (20, 5080)
    assert (found.ip_in, found.ip_out) == (307, 408)
    assert parse_net_counters("") == parse_net_counters("Ip: nothing")


def test_busy_is_neither_idle_nor_stolen(tmp_path):
    (tmp_path / "proc").mkdir()
    stat = tmp_path / "proc/stat"
    stat.write_text("cpu  1 2 4 1000 1000 8 16 1000 1000 1000\ncpu0 9 9\n")
    assert machine_busy_ns(tmp_path) == 31 * 10_000_000
    stat.write_text("cpu")
    with pytest.raises(HostSetupError, match="CPU time"):
        machine_busy_ns(tmp_path)


def test_a_tool_that_fails_says_what_was_wanted():
    with pytest.raises(HostSetupError, match=r"^a wish: oh no$"):
        run_tool("a wish", ["sh", "-c", "echo oh >&2; echo no >&2; exit 3"])
    with pytest.raises(HostSetupError, match=r"^a wish: sh exited with 3$"):
        run_tool("a wish", ["sh", "-c", "exit 3"])
    with pytest.raises(HostSetupError, match="no-such-program is not installed"):
        run_tool("a wish", ["no-such-program"])
    assert inside(None, ["ls"]) == ["ls"]
    assert inside("red", ["ls"]) == ["ip", "netns", "exec", "red", "ls"]


def test_an_interface_that_is_gone_is_an_error_of_the_host():
    """Not a KeyError: the other end of its wire may be removed at any time."""
    with pytest.raises(HostSetupError, match="interface far is gone"):
        parse_net_counters("").interface("far")
