# SPDX-License-Identifier: BSD-3-Clause
"""What the peer's counters say of a trial: reading them, asking for them, what is shown."""

from __future__ import annotations

import copy
import json
import socket
import threading
import time
from dataclasses import replace

import pytest

from support.forwarders import ANSWERED, counts, look, ready_of, result_of, settings_of
from support.made_up import ENVIRONMENT, plan, port, rx_queue, snapshot, tx_queue
from support.network import free_port
from wirerate.errors import PeerError
from wirerate.plan.peer_address import PeerAddress
from wirerate.report import forward_json
from wirerate.report.parts_peer import peer_document, peer_lines
from wirerate.session.counters_server import CountersServer
from wirerate.trial import peer_client
from wirerate.trial.peer import (
    OwnCounts,
    PeerDocumentError,
    PeerResult,
    look_of,
    own_counts,
    peer_result,
)
from wirerate.trial.peer_client import PeerWatch, ask
from wirerate.trial.result import port_results

HERE = "127.0.0.1"
MS = 1_000_000


def document(*lanes, words=("reflect", "null:a", "-m", "1.0"), **other):
    """What a reflector would answer."""
    ready = ready_of(settings_of(*words))
    ports = len(ready.settings.locations)
    facts = dict(ENVIRONMENT)
    return forward_json.document(result_of(ready, look(*lanes, ports=ports, **other)), facts)


def shown(result):
    return list(peer_lines(result))


def result_between(before, after, own):
    return peer_result("dut:80", look_of(before), look_of(after), own)


def test_a_document_is_read():
    device = {"imissed": 1, "rx_nombuf": 2, "resets": 4}
    answers = {"p0": ANSWERED}
    lane = counts(100, tx_frames=90, dropped=5, duplicated=4, not_taken=3, overflowed=2, held=1)
    found = look_of(document(lane, device=device, socket_drops={"p0": 3}, answers=answers))
    assert found.started == ENVIRONMENT["started"]
    assert found.ways == ((0, 0, 1),)
    assert (found.resets, found.lcores, found.returns) == (4, 1, True)
    have = found.counts
    assert (have.received, have.returned) == (100, 96)
    assert (have.missed, have.no_mbuf, have.socket_drops) == (1, 2, 3)
    assert (have.dropped, have.duplicated, have.held) == (5, 4, 1)
    assert (have.not_taken, have.overflowed) == (3, 2)


def test_who_only_counts_returns_nothing():
    words = ("reflect", "null:a", "-m", "1.0", "--rx-only")
    assert look_of(document(counts(tx_frames=0), words=words)).returns is False


def broken(path, value):
    made = copy.deepcopy(document(counts()))
    at = made
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return made


@pytest.mark.parametrize(
    ("made", "part"),
    [
        ([], "no document"),
        ({}, "no document"),
        ({"schema": "wirerate-forward/2"}, "no document"),
        ({"schema": "wirerate-forward/1"}, "lacks parts"),
        (broken(["total"], None), "lacks parts"),
        (broken(["ports"], {"a": 1}), "lacks parts"),
        (broken(["total", "rx_frames"], -1), "rx_frames -1"),
        (broken(["total", "rx_frames"], "9"), "rx_frames '9'"),
        (broken(["total", "held"], 1.5), "held 1.5"),
        (broken(["ways", 0, "queues"], 3), "lacks parts"),
        (broken(["ways", 0, "queues"], [{"lcore": []}]), "lacks parts"),
    ],
)
def test_what_is_no_document_is_refused(made, part):
    with pytest.raises(PeerDocumentError, match=part):
        look_of(made)


def test_a_way_out_and_back():
    after = counts(
        1000, tx_frames=950, tx_octets=0, dropped=20, not_taken=25, overflowed=5, duplicated=0
    )
    result = result_between(
        document(counts(0)),
        document(after, device={"imissed": 100}, socket_drops={"p0": 10}),
        OwnCounts(unsent=30, sent=1200, came=940),
    )
    assert shown(result) == [
        (
            "  Peer dut:80: received 1,000, sent back 950; 290 of 1,230 that were due did not "
            "arrive back here"
        ),
        (
            "    not sent 30, between 90, dropped by its queues 110, by its forwarding 30, as it "
            "was asked to 20, on the way back 10"
        ),
    ]
    made = peer_document(result)
    assert made["missing"] == 290 == sum(made["lost"].values()) - sum(made["gained"].values())
    assert (made["complete"], made["due"], made["arrived"]) == (True, 1230, 940)


def test_one_way_ends_at_a_peer_that_only_counts():
    words = ("reflect", "null:a", "-m", "1.0", "--rx-only")
    before, after = (document(counts(n, tx_frames=0), words=words) for n in (5, 105))
    result = result_between(before, after, OwnCounts(unsent=3, sent=110, came=7))
    assert shown(result) == [
        "  Peer dut:80: received 100; 13 of 113 that were due did not arrive there",
        "    not sent 3, between 10, dropped by its queues 0",
    ]


def test_one_way_ends_at_the_peer_when_nothing_is_received_here():
    own = OwnCounts(unsent=0, sent=100, came=None)
    result = result_between(document(counts(0)), document(counts(100, not_taken=50)), own)
    assert shown(result)[0].endswith("; all 100 that were due arrived there")
    assert "on the way back" not in shown(result)[1]
    assert result.account.missing == 0


def test_more_than_was_sent_is_said():
    own = OwnCounts(unsent=0, sent=100, came=115)
    result = result_between(document(counts(0)), document(counts(110, duplicated=2)), own)
    assert "15 more arrived back here than the 100 that were due" in shown(result)[0]
    assert ", ".join(shown(result)[2:]) == (
        "    less 10 reached the peer beside those sent, less 2 were duplicated there, or held "
        "since before, less 5 came back beside those it sent"
    )
    assert any("10 more frames than were sent" in note for note in result.notes)


def test_tries_without_an_mbuf_are_no_lost_frames():
    own = OwnCounts(unsent=0, sent=1000, came=990)
    after = document(counts(990), device={"rx_nombuf": 5000})
    result = result_between(document(counts(0)), after, own)
    assert (result.account.lost.queues, result.account.lost.between) == (10, 0)
    assert any("lacked an mbuf 5,000 times" in note for note in result.notes)


def test_held_frames_that_left_are_no_loss():
    before, after = (
        document(counts(100 + n, tx_frames=90 + 20 * n, held=held))
        for n, held in ((0, 10), (10, 0))
    )
    own = OwnCounts(unsent=0, sent=10, came=200)
    found = result_between(before, after, own).account
    assert found.gained.asked == 10
    assert found.missing == found.lost.total - found.gained.total


@pytest.mark.parametrize(
    ("path", "value", "part"),
    [
        (["environment", "started"], "later", "started anew"),
        (["ways", 0, "to_port"], None, "directions changed"),
        (["ways", 0, "port"], 1, "directions changed"),
        (["total", "rx_frames"], 5, "went backwards"),
    ],
)
def test_what_is_not_computed(path, value, part):
    result = result_between(document(counts()), broken(path, value), OwnCounts(0, 1, 1))
    assert part in result.gap
    (line,) = shown(result)
    assert part in line
    assert peer_document(result) == {
        "address": "dut:80",
        "complete": False,
        "reason": result.gap,
    }
    assert "where frames were lost is not known" in result.notes[0]


def test_a_device_that_cleared_its_counters_is_said():
    before = document(counts(0), device={"imissed": 50})
    after = document(counts(90), device={"imissed": 3, "resets": 1})
    result = result_between(before, after, OwnCounts(0, 100, None))
    assert (result.account.lost.queues, result.account.lost.between) == (0, 10)
    assert any("cleared its counters" in note for note in result.notes)


def test_own_counts():
    both = port(tx=(tx_queue(frames=70, frames_unsent=5),), rx=(rx_queue(frames=30),))
    results = port_results(snapshot(both), [plan(both)], [])
    assert own_counts(results) == OwnCounts(unsent=5, sent=70, came=30)
    silent = replace(results[0], plan=replace(results[0].plan, rx_lcores=()), reply_frames=2)
    assert own_counts([silent]) == OwnCounts(unsent=5, sent=72, came=None)


@pytest.fixture
def serve():
    """A server with the documents of a list, the last one for ever."""
    made = CountersServer(PeerAddress(HERE, 0))
    documents = [document(counts(0))]
    with made, made.serving(lambda: documents.pop(0) if len(documents) > 1 else documents[0]):
        yield made.address, documents


def test_a_watch_waits_until_the_peer_is_quiet(serve):
    address, documents = serve
    watch = PeerWatch(address, 5000 * MS)
    with watch:
        documents[:] = [document(counts(frames)) for frames in (5, 50, 500)]
    found = watch.result(OwnCounts(0, 500, 500)).account
    assert found is not None
    assert found.counts.received == 500
    assert found.missing == 0
    assert found.notes == ()


def test_a_peer_that_counts_on_is_said(serve):
    address, documents = serve
    watch = PeerWatch(address, 0)
    watch.begin()
    documents[:] = [document(counts(frames)) for frames in (5, 50, 500)]
    watch.end()
    result = watch.result(OwnCounts(0, 50, 50))
    assert any("still counting" in note for note in result.notes)


def test_a_peer_that_vanishes_leaves_a_result():
    with CountersServer(PeerAddress(HERE, 0)) as made:
        watch = PeerWatch(made.address, 0)
        with made.serving(lambda: document(counts())):
            watch.begin()
    watch.end()
    result = watch.result(OwnCounts(0, 1, 1))
    assert "its counters are missing, for it is gone: connection refused" in str(result.gap)
    assert result.account is None


def test_nobody_there():
    with pytest.raises(PeerError, match=r"connection refused; start wirerate reflect --listen"):
        ask(PeerAddress(HERE, free_port()))


def test_no_such_host():
    with pytest.raises(PeerError, match=r"--peer no\.such\.invalid:80: "):
        ask(PeerAddress("no.such.invalid", 80))


def answering(*pieces, pause=0.0):
    """A server of one client that answers with pieces, and what it is then asked."""
    listener = socket.create_server((HERE, 0))

    def answer():
        with listener, listener.accept()[0] as client:
            client.recv(65536)
            for piece in pieces:
                try:
                    client.sendall(piece)
                except OSError:
                    return
                time.sleep(pause)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    return PeerAddress(HERE, listener.getsockname()[1])


OK = b"HTTP/1.0 200 OK\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (b"", "no wirerate"),
        (b"SSH-2.0-OpenSSH_9\r\n", "no wirerate"),
        (OK + b"<html>", "no wirerate"),
        (OK + b"\xff\xfe{", "no wirerate"),
        (OK + b"[" * 100_000, "no wirerate"),
        (OK + b'{"schema": "other"}', "no document wirerate-forward/1"),
        (b"HTTP/1.0 404 Not Found\r\n\r\n", "answers 404"),
    ],
)
def test_somebody_else(answer, part):
    with pytest.raises(PeerError, match=part):
        ask(answering(answer))


def test_no_answer_in_time(monkeypatch):
    """Octets that trickle in are no answer."""
    monkeypatch.setattr(peer_client, "TIMEOUT_S", 0.4)
    began = time.monotonic()
    with pytest.raises(PeerError, match=r"no answer within 0\.4 s"):
        ask(answering(OK, *[b" "] * 20, pause=0.1))
    assert time.monotonic() - began < 1.5


def test_a_large_answer(serve):
    address, documents = serve
    documents[:] = [document(counts()) | {"more": ["x" * 1000] * 1000}]
    assert ask(address) == look_of(json.loads(json.dumps(documents[0])))


def test_without_a_peer_nothing_is_shown():
    assert shown(None) == []
    assert PeerResult("a:1", None, "gone").notes[0].startswith("peer a:1: gone; ")
