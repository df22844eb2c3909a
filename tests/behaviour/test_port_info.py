# SPDX-License-Identifier: BSD-3-Clause
"""What the engine says of a device that has neither firmware nor a clock: no more than that."""

from __future__ import annotations

import pytest

from support.host import ONE
from wirerate.engine.process import Engine

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
def engine(tmp_path, monkeypatch):
    monkeypatch.setenv("WIRERATE_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    with Engine(EAL) as made:
        yield made


def test_firmware_and_clock(engine):
    ports = [parameters("p0", "ring:x"), parameters("p1", "null:y")]
    infos = engine.call("ports.open", {"ports": ports})["ports"]
    assert [info["name"] for info in infos] == ["p0", "p1"]
    for info in infos:
        assert (info["firmware"], info["rx_clock"]) == ("", "tsc"), info["driver"]
