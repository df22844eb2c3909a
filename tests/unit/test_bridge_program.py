# SPDX-License-Identifier: BSD-3-Clause
"""What the engine is told of a bridge, layout by layout."""

import pytest

from support.bridges import ADDRESSES, DATA, KERNEL, program_of, settings_of, tasks_of
from wirerate.plan.bridge_program import (
    BridgeFacts,
    BridgeLcores,
    Layout,
    bridge_memory_octets,
    bridge_ports,
    bridge_program,
    layout_of,
    steer_params,
)

TO_KERNEL = {"to": {"port": "k0", "queues": [0]}}
TO_KERNEL_RING = {"to": {"ring": "kernel"}}
REFLECTED = {"to": {"port": "p0", "queues": [0]}, "rewrite": "reverse", "work_cycles": 7}


def task(source, way, **more):
    return {"kind": "bridge", "from": source, "burst": 32, "kernel": way} | more


def wire(queue):
    return {"port": "p0", "queue": queue}


FROM_K0 = {"port": "k0", "queue": 0}
APART = {"addresses": ["10.0.0.1", "fd00::1"]}


def test_shared():
    program = program_of(Layout.SHARED, *ADDRESSES, queues=2, work_cycles=7, complete=True)
    to_wire = {"to": {"port": "p0", "queues": [1]}, "checksums": "complete"}
    assert tasks_of(program) == {
        DATA: [task(wire(q), TO_KERNEL_RING, fast=REFLECTED, **APART) for q in (0, 1)],
        KERNEL: [task({"ring": "kernel"}, TO_KERNEL), task(FROM_K0, to_wire)],
    }
    assert program["rings"] == [{"name": "kernel", "frames": 2048}]
    assert program["streams"] == []


def test_by_the_device():
    program = program_of(Layout.DEVICE, *ADDRESSES, queues=2, work_cycles=7)
    assert tasks_of(program) == {
        DATA: [task(wire(0), TO_KERNEL_RING, fast=REFLECTED, **APART)],
        KERNEL: [
            task(wire(1), TO_KERNEL),
            task({"ring": "kernel"}, TO_KERNEL),
            task(FROM_K0, {"to": {"port": "p0", "queues": [1]}}),
        ],
    }


def test_in_software():
    program = program_of(Layout.SOFTWARE, *ADDRESSES, "--ring", "64", queues=2, work_cycles=7)
    assert tasks_of(program) == {
        DATA: [task({"ring": "fast"}, REFLECTED)],
        KERNEL: [
            *(task(wire(q), TO_KERNEL, fast={"to": {"ring": "fast"}}, **APART) for q in (0, 1)),
            task(FROM_K0, {"to": {"port": "p0", "queues": [1]}}),
        ],
    }
    assert program["rings"] == [{"name": "fast", "frames": 64}]


def test_kernel_queues():
    """Each is received from; what goes to the kernel is shared out over all."""
    words = (*ADDRESSES, "--kernel-queues", "3")
    for layout in Layout:
        tasks = [task for own in tasks_of(program_of(layout, *words)).values() for task in own]
        polled = [one["from"]["queue"] for one in tasks if one["from"].get("port") == "k0"]
        assert polled == [0, 1, 2]
        ends = [one["kernel"]["to"] for one in tasks if one["kernel"]["to"].get("port") == "k0"]
        assert ends
        assert all(end["queues"] == [0, 1, 2] for end in ends)
    port, kernel = bridge_ports(settings_of(*words))
    assert (port["rx_queues"], kernel["rx_queues"], kernel["tx_queues"]) == (2, 3, 3)


def test_without_addresses_nothing_is_told_apart():
    program = program_of(Layout.SHARED)
    assert tasks_of(program)[DATA] == [task(wire(0), TO_KERNEL_RING)]
    assert tasks_of(program)[KERNEL][1] == task(FROM_K0, {"to": {"port": "p0", "queues": [0]}})


def test_dedicated_without_addresses_leaves_the_data_path_nothing():
    program = program_of(Layout.SOFTWARE, "--mode", "dedicated")
    assert list(tasks_of(program)) == [KERNEL]
    assert program["rings"] == []


def test_a_fast_path_that_drops_still_costs():
    program = program_of(Layout.SHARED, *ADDRESSES, "--fast-path", "drop", work_cycles=9)
    assert tasks_of(program)[DATA][0]["fast"] == {"to": None, "work_cycles": 9}


def test_segments_are_merged_for_the_kernel_and_cut_for_the_wire():
    port = "virtio-user:/dev/vhost-net,iface=kv0"
    words = ("bridge", "null:a", port, "--offloads", "on", "--segments")
    program = program_of(Layout.SHARED, *words, complete=True)
    from_ring, from_kernel = tasks_of(program)[KERNEL]
    assert from_ring["kernel"]["segments"] == "merge"
    assert from_kernel["kernel"]["segments"] == "split"
    assert [port["offloads"] for port in bridge_ports(settings_of(*words))] == [
        {"checksums": True, "segments": True}
    ] * 2


def test_one_lcore_may_do_both():
    facts = BridgeFacts(layout=Layout.SHARED, queues=1, sleep_ns=50_000)
    (worker,) = bridge_program(settings_of(), BridgeLcores(1, 1), facts)["workers"]
    assert (worker["lcore"], worker["sleep_ns"], len(worker["tasks"])) == (1, 50_000, 3)


@pytest.mark.parametrize(("words", "queues"), [((), 1), (ADDRESSES, 2)])
def test_ports(words, queues):
    port, kernel = bridge_ports(settings_of(*words))
    assert (port["name"], port["rx_queues"], port["tx_queues"]) == ("p0", queues, queues)
    assert (kernel["name"], kernel["rx_queues"], kernel["tx_queues"]) == ("k0", 1, 1)
    assert "offloads" not in port
    assert port["promiscuous"]


def test_rules_are_given_and_taken_back():
    settings = settings_of(*ADDRESSES, "--mode", "dedicated")
    rules = [{"ipv4_dst": "10.0.0.1", "queue": 1}, {"ipv6_dst": "fd00::1", "queue": 1}]
    assert steer_params(settings, give=True) == {"port": "p0", "rules": rules}
    assert steer_params(settings, give=False) == {"port": "p0", "rules": []}


def test_which_layout():
    dedicated = settings_of("--mode", "dedicated")
    assert layout_of(settings_of(), by_device=False) is Layout.SHARED
    assert layout_of(dedicated, by_device=True) is Layout.DEVICE
    assert layout_of(dedicated, by_device=False) is Layout.SOFTWARE


def test_memory_grows_with_what_is_asked_for():
    assert bridge_memory_octets(settings_of("-M", "100000")) > bridge_memory_octets(settings_of())
    assert bridge_memory_octets(settings_of("-j")) > bridge_memory_octets(settings_of())
