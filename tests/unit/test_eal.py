# SPDX-License-Identifier: BSD-3-Clause
"""EAL arguments: lcores, memory, devices, and that the user's own options win."""

from __future__ import annotations

import pytest

from wirerate.engine import eal
from wirerate.engine.eal import (
    choose_memory,
    device_arguments,
    eal_arguments,
    free_hugepages_mib,
    lcore_arguments,
)
from wirerate.plan.location import parse_location

MIB = 1 << 20


def locations(*texts):
    return [parse_location(text) for text in texts]


@pytest.fixture
def free(monkeypatch):
    """Set how many MiB of hugepages are free."""
    return lambda mib: monkeypatch.setattr(eal, "free_hugepages_mib", lambda _node=None: mib)


def test_enough_hugepages_are_used_in_memory(free):
    free(1024)
    memory = choose_memory(100 * MIB, [], allow_hugepages=True)
    assert memory.arguments == ("--in-memory",)
    assert "1024 MiB" in memory.text


@pytest.mark.parametrize(("mib", "allowed"), [(0, True), (100, True), (1024, False)])
def test_else_ordinary_pages_are(free, mib, allowed):
    free(mib)
    memory = choose_memory(100 * MIB, [], allow_hugepages=allowed)
    assert memory.arguments[:2] == ("--no-huge", "-m")
    assert int(memory.arguments[2]) >= 100
    assert "ordinary pages" in memory.text


def test_parts_of_a_mebibyte_count_as_a_whole(free):
    free(0)
    less, more = (
        int(choose_memory(octets, [], allow_hugepages=True).arguments[2])
        for octets in (10 * MIB, 10 * MIB + 1)
    )
    assert more == less + 1


@pytest.mark.parametrize(
    "words",
    [["--no-huge"], ["--in-memory"], ["-m", "512"], ["--socket-mem=512"], ["--legacy-mem"]],
)
def test_memory_that_the_user_chose_is_left_alone(free, words):
    free(1024)
    assert choose_memory(100 * MIB, words, allow_hugepages=True).arguments == ()


def test_free_hugepages_of_all_sizes_add_up(tmp_path):
    pages = tmp_path / "kernel/mm/hugepages"
    for size_kb, text in ((2048, "10\n"), (1048576, "2\n"), (4, "broken")):
        directory = pages / f"hugepages-{size_kb}kB"
        directory.mkdir(parents=True)
        (directory / "free_hugepages").write_text(text)
    (pages / "hugepages-64kB").mkdir()
    assert free_hugepages_mib(root=tmp_path) == 20 + 2048
    assert free_hugepages_mib(root=tmp_path / "none") == 0


def test_free_hugepages_of_a_node_are_its_own(tmp_path):
    for node, free in ((0, 10), (1, 3)):
        directory = tmp_path / f"devices/system/node/node{node}/hugepages/hugepages-2048kB"
        directory.mkdir(parents=True)
        (directory / "free_hugepages").write_text(f"{free}\n")
    assert [free_hugepages_mib(node, tmp_path) for node in (0, 1, 2)] == [20, 6, 0]


def test_hugepages_must_be_enough_on_every_node_that_is_used(monkeypatch):
    free = {None: 1200, 0: 1000, 1: 200}
    monkeypatch.setattr(eal, "free_hugepages_mib", lambda node=None: free[node])
    words = [
        choose_memory(300 * MIB, [], allow_hugepages=True, nodes=nodes).arguments[0]
        for nodes in ((), (0,), (1,), (0, 1))
    ]
    assert words == ["--in-memory", "--in-memory", "--no-huge", "--no-huge"]
    both = choose_memory(100 * MIB, [], allow_hugepages=True, nodes=(0, 1))
    assert both.text == "hugepages (200 MiB free on each NUMA node that is used)"


def test_ordinary_pages_come_from_the_first_node(free):
    free(0)
    assert choose_memory(MIB, [], allow_hugepages=True, nodes=(1, 0)).node == 1
    assert choose_memory(MIB, [], allow_hugepages=True).node is None
    free(1000)
    assert choose_memory(MIB, [], allow_hugepages=True, nodes=(1, 0)).node is None


def test_data_lcores_have_their_cpus_and_the_main_lcore_the_rest():
    words = lcore_arguments([2, 1], {0, 1, 2, 3})
    assert words == ["--lcores", "127@(0,3),1@1,2@2", "--main-lcore", "127"]


def test_the_main_lcore_shares_where_no_cpu_is_left():
    assert lcore_arguments([0], {0})[1] == "127@(0),0@0"


def test_the_main_lcore_evades_data_lcore_127():
    assert lcore_arguments([127], {0, 127}) == [
        "--lcores",
        "126@(0),127@127",
        "--main-lcore",
        "126",
    ]


def test_only_the_devices_in_use_are_allowed():
    words = device_arguments(locations("03:00.0", "ring:x", "0000:82:00.1,rx=1"))
    assert words == ["-a", "0000:03:00.0", "-a", "0000:82:00.1,rx=1"]
    assert device_arguments(locations("ring:x")) == ["--no-pci"]


@pytest.mark.parametrize("text", ["vhost:/tmp/s", "virtio-user:/tmp/s", "vdev:net_vhost0,iface=s"])
def test_vhost_wants_few_files(text):
    assert "--single-file-segments" in device_arguments(locations(text))


def test_the_whole_line(free):
    free(1024)
    memory = choose_memory(MIB, [], allow_hugepages=True)
    words = eal_arguments(locations("ring:x"), [0], memory, [])
    for word in ("--lcores", "--main-lcore", "--no-pci", "--in-memory", "--log-level"):
        assert words.count(word) == 1
    assert words[words.index("--iova-mode") + 1] == "va"
    assert "--file-prefix" not in words


def test_the_users_options_come_last_and_are_not_doubled(free):
    free(1024)
    own = ["--no-pci", "--log-level=debug", "--iova-mode=pa", "--no-huge"]
    memory = choose_memory(MIB, own, allow_hugepages=True)
    words = eal_arguments(locations("ring:x"), [0], memory, own)
    assert words[-4:] == own
    assert words.count("--no-pci") == 1
    assert "--log-level" not in words
    assert "--iova-mode" not in words
    assert "--in-memory" not in words


def test_iova_is_dpdks_choice_with_a_nic(free):
    free(1024)
    memory = choose_memory(MIB, [], allow_hugepages=True)
    assert "--iova-mode" not in eal_arguments(locations("03:00.0"), [0], memory, [])
