# SPDX-License-Identifier: BSD-3-Clause
"""Which lcores a bridge gets, when its workers sleep, and how refusals are worded."""

from dataclasses import replace

import pytest

from support.bridges import ADDRESSES, settings_of
from wirerate.errors import EngineRefusedError, PlanError
from wirerate.trial import bridge_setup
from wirerate.trial.bridge_setup import named, set_up


@pytest.fixture
def machine(monkeypatch):
    """A machine of so many CPUs, on some of which other runs poll."""

    def made(cpus, *, busy=()):
        idle = [cpu for cpu in range(cpus) if cpu not in busy]
        monkeypatch.setattr("os.sched_getaffinity", lambda _pid: set(range(cpus)))
        monkeypatch.setattr(bridge_setup, "idle_of", lambda _lcores: idle)
        monkeypatch.setattr(bridge_setup, "lcores_in_use", lambda: frozenset(busy))
        monkeypatch.setattr(bridge_setup, "cpu_nodes", dict)

    return made


def set_up_with(*words, **changes):
    return set_up(replace(settings_of(*words), **{"lcores": ()} | changes))


def test_enough_cpus_need_no_sleep(machine):
    machine(4)
    setup = set_up_with()
    assert len(setup.lcores.used) == 2
    assert 0 not in setup.lcores.used, "left to the rest"
    assert (setup.sleep_ns, setup.notes) == (0, ())


def test_scarce_cpus_are_shared_and_that_is_noted(machine):
    machine(2)
    setup = set_up_with()
    assert setup.lcores.used == (0, 1)
    assert setup.sleep_ns == 50_000
    (note,) = setup.notes
    assert note.startswith("2 CPUs for 2 workers and the rest: workers sleep 50 us")


def test_one_cpu_does_both(machine):
    machine(1)
    setup = set_up_with()
    assert setup.lcores.used == (0,)
    assert any("neither is spared" in note for note in setup.notes)


def test_what_the_user_says_is_done(machine):
    machine(16, busy=(5,))
    setup = set_up_with("-m", "7.0/5.1", "--cpu-saver=10us")
    assert (setup.lcores.data, setup.lcores.kernel) == (7, 5)
    assert setup.sleep_ns == 10_000
    sleeps, shared = setup.notes
    assert sleeps.startswith("lcores sleep for 10 us when no frame comes")
    assert shared == "another run polls on lcore 5 too"


@pytest.mark.parametrize("text", ["[1-2].0/3.1", "1.0", "1:2.0/3.1"])
def test_a_map_has_one_lcore_for_each(machine, text):
    machine(16)
    with pytest.raises(PlanError) as caught:
        set_up_with("-m", text)
    assert "write LCORE.0/LCORE.1" in str(caught.value)


def test_refusals_name_the_port():
    error = EngineRefusedError(
        "ports[0].tx_queues: 2 Tx queues asked, pcap:a,b has 1; use fewer",
        path="ports[0].tx_queues",
    )
    said = str(named(error, settings_of(*ADDRESSES)))
    assert said.startswith("port: 2 Tx queues asked, pcap:a,b has 1; the data path and")
    other = EngineRefusedError("ports[1].location: no such device", path="ports[1].location")
    assert str(named(other, settings_of())) == "kernel port: no such device"
    unrelated = EngineRefusedError("out of memory")
    assert named(unrelated, settings_of()) is unrelated
