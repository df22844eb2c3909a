# SPDX-License-Identifier: BSD-3-Clause
"""What the engine says of devices: firmware and clock where there are any, where memory is."""

from __future__ import annotations

import pytest

from support.host import ONE
from wirerate.errors import EngineRefusedError
from wirerate.host.numa import cpu_nodes

EAL = ("--no-huge", "-m", "128", "--no-pci", "--lcores", f"0@{ONE},1@{ONE}")


def parameters(name, location):
    return {
        "name": name,
        "location": location,
        "rx_queues": 1,
        "tx_queues": 1,
        "rx_descriptors": 0,
        "tx_descriptors": 0,
        "mbufs": 2048,
        "frame_size_max": 1518,
        "promiscuous": True,
    }


@pytest.fixture
def engine(engine_here):
    with engine_here(EAL) as made:
        yield made


def test_firmware_and_clock(engine):
    ports = [parameters("p0", "ring:x"), parameters("p1", "null:y")]
    infos = engine.call("ports.open", {"ports": ports})["ports"]
    assert [info["name"] for info in infos] == ["p0", "p1"]
    for info in infos:
        assert (info["firmware"], info["rx_clock"]) == ("", "tsc"), info["driver"]
        assert info["flow_control"] is None, "no virtual device has it"


def test_where_its_memory_is(engine):
    """The kernel tells, or nobody does: containers may forbid the question."""
    assert engine.call("ports.memory") == {"ports": []}
    ports = [parameters("p0", "ring:x"), {**parameters("p1", "null:y"), "rx_queues": 0}]
    engine.call("ports.open", {"ports": ports})
    memory = {port["port"]: port["nodes"] for port in engine.call("ports.memory")["ports"]}
    assert memory["p0"] in ([], [0]) or len(set(cpu_nodes().values())) > 1
    assert memory["p1"] == [], "it has no mbufs yet"
    with pytest.raises(EngineRefusedError, match="not known here"):
        engine.call("ports.memory", {"port": "p0"})


def test_ports_can_be_opened_after_a_refusal(engine):
    """No name of the ports that were opened before the refused one is kept."""
    good = [parameters("p0", "ring:x"), {**parameters("p1", "null:y"), "rx_queues": 0}]
    bad = {**parameters("p2", "ring:z"), "rx_queues": 17}
    for _ in range(2):
        with pytest.raises(EngineRefusedError, match="17 Rx and 1 Tx queues asked"):
            engine.call("ports.open", {"ports": [*good, bad]})
    infos = engine.call("ports.open", {"ports": good})["ports"]
    assert [info["name"] for info in infos] == ["p0", "p1"]


def test_a_ring_that_is_there_twice_is_refused_and_free_again(engine):
    ports = [parameters("p0", "ring:x"), parameters("p1", "ring:x")]
    with pytest.raises(EngineRefusedError):
        engine.call("ports.open", {"ports": ports})
    engine.call("ports.open", {"ports": ports[:1]})
