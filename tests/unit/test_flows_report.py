# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate flows` shows of made-up counters: queues, flows, latencies, BiTester's tables."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest

from support.made_up import (
    FRAME,
    HZ,
    flow,
    flow_queue,
    port,
    ready,
    result,
    rx_queue,
    snapshot,
    tx_queue,
)
from wirerate.cli import flows_args
from wirerate.cli.main import parse
from wirerate.report import flows_json, flows_text
from wirerate.report.flows_ends import ends_of, table_rows
from wirerate.report.flows_live import look_at
from wirerate.trial.cpu import CpuUse
from wirerate.trial.peer import OwnCounts, PeerCounts, PeerLook, peer_result

LINE = "--flow-num 300000 --cps 10000 -m [1-2].0 ring:made-up"


def settings(line=LINE):
    return flows_args.settings_from_args(parse(["flows", *shlex.split(line)]), range(8))[0]


def two_queues(scale=1, seconds=1.0, **rx):
    made = port(
        (
            tx_queue(0, frames=1000 * scale, active_flows=500 * scale, done=False),
            tx_queue(
                1, frames=500 * scale, active_flows=500 * scale, frames_unsent=7 * scale, done=False
            ),
        ),
        (
            rx_queue(0, frames=900 * scale, distinct_flows=499 * scale, **rx),
            rx_queue(1, frames=400 * scale, distinct_flows=500 * scale),
        ),
    )
    return snapshot(made, seconds=seconds)


def looked(now, before=None, line=LINE, flows=None):
    asked = settings(line)
    made = ready([now.ports[0]], flows or [flow()], asked)
    return look_at(made, asked, now, before)


def test_the_first_look_is_from_the_start():
    look = looked(two_queues())
    assert look.seconds == 1.0
    assert [queue.fps for queue in look.tx] == [1000, 500]
    assert look.tx[0].l1_bps == 1000 * (FRAME + 20) * 8
    assert [queue.unsent_fps for queue in look.tx] == [0, 7]
    assert [queue.fps for queue in look.rx] == [900, 400]
    assert (look.active_flows, look.distinct_flows, look.distinct_overflow) == (1000, 999, 0)


def test_later_looks_are_differences():
    look = looked(two_queues(3, 2.0), two_queues(1, 1.0))
    assert [queue.fps for queue in look.tx] == [2000, 1000]
    assert [queue.fps for queue in look.rx] == [1800, 800]
    assert look.active_flows == 3000, "a number of flows is no rate"
    # 50 cycles for each frame sent, 40 for each received, within a second of 10^9 cycles.
    assert dict(look.busy)[1] == pytest.approx((2000 * 50 + 1800 * 40) / HZ)


def test_the_rows():
    look = looked(two_queues())
    text = flows_text.table(look, settings())
    title, first, second, total, flows = text.splitlines()
    assert title.split()[:3] == ["Queue", "Tx", "frames/s"]
    assert first.split()[:5] == ["0", "1,000", "0.001", "0", "500"]
    assert second.split()[:5] == ["1", "500", "0.000", "7", "500"]
    assert total.split() == ["Total", "1,500", "0.001", "7", "1,000", "1,300", "999"]
    assert flows == (
        "1.0 s: 1,000 of 300,000 flows active, 999 distinct received; CPU 0.00 of 2 cores"
    )


def test_no_room_for_more_flows_is_told():
    look = looked(two_queues(distinct_overflow=12))
    assert "(no room to tell 12 more frames)" in flows_text.table(look, settings())


def test_without_a_ramp_all_flows_are_active():
    line = "--flow-num 100 --no-ramp --no-count-flows -m [1-2].0 ring:made-up"
    look = looked(two_queues(), line=line)
    assert look.active_flows is None
    text = flows_text.table(look, settings(line))
    assert text.splitlines()[-1].startswith("1.0 s: 100 of 100 flows active; CPU")


def measured(*latencies):
    return snapshot(port((tx_queue(),), (rx_queue(),), flows=(flow_queue(*latencies),)))


def test_latencies_are_those_since_the_look_before():
    line = "--mode 1 -m 1.0 ring:made-up"
    flows = [flow(measured=True, rx_ports=(0,))]
    before, now = measured(100, 100, 9000), measured(100, 100, 9000, 200, 200, 200, 400)
    look = looked(now, before, line, flows)
    assert look.latency.count == 4
    assert look.latency.mean == 250
    assert (look.latency.p50, look.latency.p99, look.latency.maximum) == (200, 400, 400)
    assert "latency of 4 frames: 0.250 us mean, 0.200 us p50" in flows_text.table(
        look, settings(line)
    )
    floored = replace(settings(line), floor_ns=150.0)
    late = look_at(ready([now.ports[0]], flows, floored), floored, now, before).latency
    assert late is not None
    assert (late.mean, late.p50) == (100, 50)


def test_without_frames_there_is_no_latency():
    same = measured(100)
    assert looked(same, same, "--mode 1 -m 1.0 ring:made-up").latency is None


def finished(line=LINE, peer=None):
    now = two_queues()
    asked = settings(line)
    made = ready([now.ports[0]], [flow(fps=1500.0, ramped=True)], asked)
    return result(made, now, cpu=CpuUse(0.5, ((1, 0.25), (2, 0.5))), peer=peer), asked


PEER = PeerLook("then", ((0, 0, 3),), PeerCounts(), 0, 3)


def peer(received, returned):
    after = replace(PEER, counts=PeerCounts(received=received, returned=returned))
    return peer_result("host:1", PEER, after, OwnCounts(7, 1500, 1300))


def test_the_table_of_two_ways():
    titles, [rates, frames] = table_rows(ends_of(*finished()))
    assert titles == ["Two-way", "Client TX", "Client RX", "Server RX", "Server TX", "Cores"]
    assert rates == ["rate", "1.5 kpps", "1.3 kpps", "-", "-", "2"]
    assert frames == ["frames", "1,500", "1,300", "-", "-", ""]


def test_the_servers_columns_are_the_peers():
    ends = ends_of(*finished(peer=peer(1450, 1400)))
    _, [rates, frames] = table_rows(ends)
    assert rates == ["rate", "1.5 kpps", "1.3 kpps", "1.45 kpps", "1.4 kpps", "2+3"]
    assert frames[1:5] == ["1,500", "1,300", "1,450", "1,400"]
    assert ends.server == "peer host:1"


def test_the_table_of_one_way():
    titles, [_, frames] = table_rows(ends_of(*finished(LINE + " --oneway")))
    assert titles == ["One-way", "Client TX", "Server RX", "Cores"]
    assert frames == ["frames", "1,500", "1,300", ""]
    line = LINE + " --oneway --peer 127.0.0.1:1"
    _, [_, frames] = table_rows(ends_of(*finished(line, peer(1450, 0))))
    assert frames == ["frames", "1,500", "1,450", ""]


def test_a_peer_that_has_gone():
    gone = replace(peer(1, 1), account=None, gap="it was started anew during the trial")
    ends = ends_of(*finished(peer=gone))
    assert (ends.server_rx, ends.server) == (None, f"peer host:1, {gone.gap}")


def test_the_summary():
    text = flows_text.summary(*finished(peer=peer(1450, 1400)))
    assert "  distinct 5-tuples received: 999 of 300,000 flows" in text
    assert "  CPU 0.75 of 2 cores busy: lcore 1 25.0 %, lcore 2 50.0 %" in text
    assert "  Two-way          Client TX        Client RX        Server RX" in text
    assert "  Server: peer host:1." in text
    assert "not sent 7, between 50" in text
    assert "Verdict: invalid" in text


def test_the_document():
    done, asked = finished()
    look = looked(two_queues())
    document = json.loads(json.dumps(flows_json.document(done, asked, [look])))
    assert document["schema"] == "wirerate-flows/1"
    assert document["traffic"]["flow_num"] == 300_000
    assert document["distinct"] == {
        "flows": 999,
        "overflow_frames": 0,
        "room_per_queue": 301_024,
    }
    assert document["ends"]["client_tx"] == {"frames": 1500, "fps": 1500.0}
    assert document["ends"]["server_rx"] is None
    [moment] = document["series"]
    assert (moment["seconds"], moment["active_flows"], moment["distinct_flows"]) == (1.0, 1000, 999)
    assert moment["latency_ns"] is None
    assert "captures" not in document
    assert document["verdict"]["valid"] is False


def test_a_ramps_load_is_judged_by_what_was_due():
    # Two queues, of which one had no flow at first: less was due than the rate says.
    late = port((tx_queue(0, frames=50_000), tx_queue(1, frames=40_000)), (rx_queue(),))
    asked = settings()
    flows = [flow(fps=100_000.0, ramped=True)]
    assert result(ready([late], flows, asked), snapshot(late)).verdict.valid
    flows = [flow(fps=100_000.0)]
    assert not result(ready([late], flows, asked), snapshot(late)).verdict.valid
