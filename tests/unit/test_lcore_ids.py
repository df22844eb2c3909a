# SPDX-License-Identifier: BSD-3-Clause
"""CPUs above EAL's lcore ids: which id each gets, and that people see CPUs only."""

from __future__ import annotations

import pytest

from wirerate.engine import run_dir
from wirerate.engine.eal import Memory, eal_arguments, lcore_arguments
from wirerate.engine.lcore_ids import IDS, NONE, LcoreIds
from wirerate.errors import PlanError
from wirerate.host.numa import cpu_nodes
from wirerate.host.tree import format_cpu_list
from wirerate.plan.lcore_map import choose_map, parse_maps

MEMORY = Memory(("--no-huge", "-m", "64"), "made up")


def test_cpus_with_an_lcore_of_their_number_keep_it():
    ids = LcoreIds.choose([2, 0, 127])
    assert ids.of_cpu == {0: 0, 2: 2, 127: 127}
    assert ids.alike
    program = {"workers": [{"lcore": 2}, "nonsense"]}
    assert ids.for_engine(program) is program


def test_cpus_above_get_the_smallest_free_ids():
    ids = LcoreIds.choose([191, 0, 2, 128])
    assert ids.of_cpu == {0: 0, 2: 2, 128: 1, 191: 3}
    assert not ids.alike


def test_eal_maps_them_and_the_main_lcore_keeps_out():
    words = lcore_arguments([130, 1, 127], {0, 1, 127, 128, 130, 131})
    assert words == ["--lcores", "126@(0,128,131),1@1,127@127,0@130", "--main-lcore", "126"]


def test_the_ids_are_read_back_from_the_arguments(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0, 1, 200, 201, 1023})
    words = eal_arguments([], [1, 200, 1023], MEMORY, ["-n", "4"])
    assert words[:2] == ["--lcores", "127@(0,201),1@1,0@200,2@1023"]
    assert LcoreIds.read(words) == LcoreIds.choose([1, 200, 1023])
    assert LcoreIds.read(["--lcores", "127@(5,6@7),0@130", "-n", "4"]).of_cpu[130] == 0
    assert LcoreIds.read(["--no-pci"]) == NONE


def test_programs_go_out_and_labels_come_back_translated():
    ids = LcoreIds.choose([1, 130])
    workers = [{"lcore": 130, "sleep_ns": 7}, {"lcore": 1}]
    program = {"workers": workers, "streams": []}
    assert ids.for_engine(program) == {
        "workers": [{"lcore": 0, "sleep_ns": 7}, {"lcore": 1}],
        "streams": [],
    }
    assert workers[0]["lcore"] == 130
    assert ids.for_engine({"ports": []}) == {"ports": []}
    assert ids.labels({"port": "p0", "lcore": 0}) == {"port": "p0", "lcore": 130}
    assert ids.labels({"port": "p0"}) == {"port": "p0"}
    said = "lcore 0 is busy, and lcore 127 is the main lcore"
    assert ids.for_people(said) == "lcore 130 is busy, and lcore 127 is the main lcore"


def test_no_cpu_is_taken_for_another_whose_id_it_has():
    with pytest.raises(KeyError):
        LcoreIds.choose([130]).for_engine({"workers": [{"lcore": 0}]})


@pytest.mark.parametrize("cpus", [range(IDS), range(1, IDS + 1), range(200, 200 + IDS)])
def test_more_than_eal_has_is_one_clear_error(cpus):
    with pytest.raises(PlanError, match="128 lcores for one engine: DPDK has 128, and one is"):
        lcore_arguments(cpus, set(cpus))
    fits = list(cpus)[1:]
    ids = LcoreIds.read(lcore_arguments(fits, set(cpus)))
    assert set(ids.of_cpu) == set(fits)
    assert len(set(ids.of_cpu.values())) == IDS - 1


def test_a_node_whose_cpus_are_all_above_is_used_locally(tmp_path, monkeypatch):
    """Two nodes of 96 CPUs, twice (SMT): node 1 has 96-191 and 288-383; here, above 127 only."""
    node_1 = [*range(128, 192), *range(288, 384)]
    for node, cpus in ((0, [*range(96), *range(192, 288)]), (1, node_1)):
        directory = tmp_path / f"sys/devices/system/node/node{node}"
        directory.mkdir(parents=True)
        (directory / "cpulist").write_text(f"{format_cpu_list(cpus)}\n")
    nodes = cpu_nodes(tmp_path)
    monkeypatch.setattr(run_dir, "lcores_in_use", lambda: frozenset({128, 129}))
    idle = run_dir.idle_of(sorted(nodes))
    chosen = choose_map([1], idle, nodes)
    assert chosen.text == "130:131.0"
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: set(node_1))
    words = eal_arguments([], chosen.lcores, MEMORY, ())
    assert words[1].endswith("),0@130,1@131")
    assert words[1].startswith("127@(128,129,132,")
    assert parse_maps(["130:131.0"], 1, node_1) == chosen
