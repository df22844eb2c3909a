# SPDX-License-Identifier: BSD-3-Clause
"""What transfers of `wirerate kernel-path` come to, and what is said to limit them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wirerate.host.iperf3 import Iperf3Result
from wirerate.host.ping import PingResult
from wirerate.methods.kernel_figures import Repeat, figures, transfer_document
from wirerate.methods.kernel_limits import limits_of
from wirerate.methods.kernel_transfer import Counts, Sample, Transferred
from wirerate.plan.kernel_path_settings import Transfer
from wirerate.trial.bridge_look import BridgeLook

TCP = Iperf3Result(2.0, 14_480_000, 14_480_000, 0, 1448, None, None, 0.5, 0.25)
UDP = Iperf3Result(2.0, 14_480_000, 7_240_000, None, 1448, 10_000, 5_000, 0.5, 0.25)
NOTHING = Sample(Counts(0, 0, 0, 0, 0, 0), 0, None)


def transferred(kind=Transfer.TCP_READ, iperf3=TCP, frames=10_000, size=1518, **other):
    """So many frames of a size in the data's direction, an ACK for two, 100 pings."""
    ping = 100
    data = (frames + ping, frames * size + ping * 102)
    back = (frames // 2 + ping, frames // 2 * 70 + ping * 102)
    wire = (*data, *back) if kind.read else (*back, *data)
    after = Sample(Counts(*wire, 500 + ping, 600 + ping), 3_000_000_000, None)
    heard = PingResult(ping, (50.0,) * ping)
    return Transferred(kind, iperf3, heard, NOTHING, after, **other)


def test_a_read_is_what_came_to_the_near_side():
    found = figures(transferred(), ipv6=False)
    assert found.reasons == ()
    assert (found.wire_frames, found.wire_octets, found.back_frames) == (10_000, 15_180_000, 5_000)
    assert found.kernel_packets == 500
    assert found.gbps == pytest.approx(0.05792)
    assert found.frame_octets == 1518
    assert found.cpu_s == {
        "application": None,
        "near_iperf": 1.0,
        "far_iperf": 0.5,
        "machine": 3.0,
    }
    assert found.busy is None


def test_a_write_is_what_left_it():
    found = figures(transferred(Transfer.TCP_WRITE), ipv6=False)
    assert (found.wire_frames, found.back_frames, found.kernel_packets) == (10_000, 5_000, 600)
    assert found.reasons == ()


def test_udp_that_was_lost_behind_the_wire_is_valid_and_before_it_too():
    for frames in (5_000, 7_500, 10_000):
        found = figures(transferred(Transfer.UDP_READ, UDP, frames, 1494), ipv6=False)
        assert found.reasons == ()
        assert found.udp_loss == 0.5
        assert found.datagrams == 5_000


@pytest.mark.parametrize("frames", [9_800, 10_200])
def test_a_wire_that_carried_something_else_is_not_valid(frames):
    found = figures(transferred(frames=frames), ipv6=False)
    assert "TCP read: the wire carried" in found.reasons[0]
    udp = figures(transferred(Transfer.UDP_WRITE, UDP, 4_800, 1494), ipv6=False)
    assert "UDP write" in udp.reasons[0]


def test_what_was_sent_again_was_on_the_wire_again():
    again = replace(TCP, retransmits=200)
    assert figures(transferred(iperf3=again, frames=10_200), ipv6=False).reasons == ()


def test_the_application_is_looked_at_before_and_after():
    done = transferred()
    look = BridgeLook(0, busy_ns={1: 10**9, 2: 0}, cpu_ns=5)
    after = replace(look, busy_ns={1: 2 * 10**9, 2: 10**9 // 2}, cpu_ns=10**9 + 5, ring_lost=7)
    done = replace(done, before=replace(NOTHING, look=look), after=replace(done.after, look=after))
    found = figures(done, ipv6=False)
    assert found.busy == 0.5
    assert found.cpu_s["application"] == 1.0
    assert found.lost == {"ring_lost": 7, "kernel_lost": 0, "wire_lost": 0}


def test_cpu_time_is_that_of_iperf3s_seconds():
    done = transferred()
    after = replace(done.after, at_ns=2_500_000_000)
    found = figures(replace(done, after=after), ipv6=False)
    assert found.cpu_s["machine"] == pytest.approx(3.0 * 2.0 / 2.5)
    assert found.cpu_s["near_iperf"] == 1.0


def test_where_ip_has_other_traffic_its_packets_are_not_known():
    done = transferred()
    counts = replace(done.after.counts, kernel_in=None, kernel_out=None)
    before = replace(NOTHING, counts=replace(NOTHING.counts, kernel_in=None, kernel_out=None))
    done = replace(done, before=before, after=replace(done.after, counts=counts))
    found = figures(done, ipv6=False)
    assert (found.kernel_packets, found.reasons) == (None, ())
    document = transfer_document([found])
    assert document["kernel_pps"] is None
    assert document["repeats"][0]["kernel_packets"] is None


def repeat(**other):
    plain = Repeat(
        seconds=1.0,
        octets=10**9,
        wire_frames=700_000,
        wire_octets=700_000 * 1518,
        back_frames=100,
        kernel_packets=700_000,
        datagrams=None,
        udp_loss=None,
        retransmits=None,
        cpu_s={"application": 2.0, "near_iperf": 0.5, "far_iperf": 0.4, "machine": 2.0},
        busy=0.3,
        lost={},
        reasons=(),
    )
    return replace(plain, **other)


def test_medians_are_of_valid_repeats():
    found = transfer_document(
        [repeat(), repeat(octets=3 * 10**9), repeat(octets=1, reasons=("no",))]
    )
    assert found["gbps"] == {"median": 16.0, "min": 8.0, "max": 24.0}
    assert [one["valid"] for one in found["repeats"]] == [True, True, False]
    assert found["cpu"]["s_per_gb"]["application"]["max"] == 2.0
    assert found["cpu"]["ns_per_frame"]["machine"]["median"] == pytest.approx(2857.14, abs=0.01)
    assert found["udp_loss"] is None


def test_nothing_on_the_wire_has_no_size():
    found = transfer_document([repeat(wire_frames=0, octets=0, reasons=("nothing came",))])
    assert found["frame_octets"] is None
    assert found["cpu"]["ns_per_frame"]["machine"] is None


def limits(kind, one, linux=None, *, cpus=8, udp_length=0):
    compared = linux and {kind: [linux]}
    return limits_of({kind: [one]}, compared, cpus=cpus, threads=4, udp_length=udp_length)


def test_limits_name_who_was_busy():
    full = {"application": 2.0, "near_iperf": 0.99, "far_iperf": 0.4, "machine": 2.0}
    assert limits(Transfer.TCP_WRITE, repeat(cpu_s=full)) == [
        "TCP write: one CPU, the near iperf3 was busy to 99%"
    ]
    assert "one lcore" in limits(Transfer.TCP_READ, repeat(busy=0.97))[0]
    assert limits(Transfer.TCP_READ, repeat()) == []
    assert "2 CPUs for 4 busy threads" in limits(Transfer.TCP_READ, repeat(), cpus=2)[0]


def test_limits_name_where_frames_were_lost():
    found = limits(Transfer.UDP_READ, repeat(lost={"ring_lost": 12_345, "kernel_lost": 3}))
    assert found == ["UDP read: 12,345 frames were lost in the ring to the kernel's worker"]
    found = limits(Transfer.UDP_READ, repeat(datagrams=600_000))
    assert found == ["UDP read: 100,000 datagrams were lost in the socket of the near iperf3"]
    assert limits(Transfer.UDP_READ, repeat(datagrams=699_000)) == []


def test_limits_name_what_was_lost_where_the_kernels_packets_are_not_known():
    one = repeat(kernel_packets=None, wire_frames=410_000, sent_datagrams=10**6, datagrams=410_000)
    assert limits(Transfer.UDP_WRITE, one) == [
        "UDP write: 590,000 frames were lost in a queue between the near kernel and the wire"
    ]
    assert limits(Transfer.UDP_WRITE, replace(one, wire_frames=10**6, datagrams=10**6)) == []
    one = replace(one, wire_frames=10**6, datagrams=600_000)
    assert limits(Transfer.UDP_READ, one) == [
        "UDP read: 400,000 frames were lost in a queue between the wire and the near iperf3"
    ]


def test_limits_name_missing_merging_where_linux_has_it():
    linux = repeat(kernel_packets=20_000)
    assert "no GRO at the kernel port: 1.0 frames" in limits(Transfer.TCP_READ, repeat(), linux)[0]
    assert limits(Transfer.TCP_READ, linux, linux) == []
    assert limits(Transfer.TCP_READ, repeat(), repeat()) == []
    assert "no TSO or GSO" in limits(Transfer.TCP_WRITE, repeat(), linux)[0]


def test_limits_tell_what_tcp_sent_again():
    assert limits(Transfer.TCP_READ, repeat(retransmits=25_900)) == [
        "TCP read: 25,900 segments were sent again, 3.7 % of the frames"
    ]
    assert limits(Transfer.TCP_READ, repeat(retransmits=60)) == []


def test_datagrams_of_several_frames_are_not_counted_against_frames():
    one = repeat(datagrams=100_000, udp_loss=0.2, kernel_packets=125_000)
    for kind in (Transfer.UDP_READ, Transfer.UDP_WRITE):
        assert limits(kind, one, udp_length=8_000) == [
            (
                f"{kind.title}: datagrams of 8,000 octets are several frames, and are lost with "
                "any one of them"
            )
        ]
    jumbo = repeat(wire_octets=700_000 * 8_046, datagrams=600_000)
    assert "in the socket" in limits(Transfer.UDP_READ, jumbo, udp_length=8_000)[0]
