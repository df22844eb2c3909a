# SPDX-License-Identifier: BSD-3-Clause
"""Run directories: private, locked while in use, swept when their owner is gone."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import pytest

from wirerate.engine.run_dir import (
    RunDirectory,
    base_directory,
    dpdk_directory,
    dpdk_environment,
    sweep,
)
from wirerate.errors import HostSetupError


@pytest.fixture
def base(tmp_path, monkeypatch):
    monkeypatch.setenv("WIRERATE_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path / "runtime"))
    return tmp_path / f"wirerate-{os.geteuid()}"


def dead_run(base, name="wr-dead"):
    """What kill -9 leaves: files, and a lock that nobody holds."""
    base.mkdir(mode=0o700, exist_ok=True)
    directory = base / name
    directory.mkdir()
    (directory / "lock").touch()
    (directory / "counters-1").write_bytes(b"x")
    dpdk_directory(name).mkdir(parents=True)
    return directory


def test_a_run_directory_is_private_and_removed(base):
    run = RunDirectory()
    assert run.path.parent == base
    assert run.file_prefix == run.path.name
    for path in (base, run.path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    dpdk_directory(run.file_prefix).mkdir(parents=True)
    run.close()
    assert list(base.glob("wr-*")) == []
    assert not dpdk_directory(run.file_prefix).exists()


def test_dead_runs_are_swept_by_the_next_one(base):
    dead = dead_run(base)
    run = RunDirectory()
    assert not dead.exists()
    assert not dpdk_directory("wr-dead").exists()
    run.close()


def test_live_runs_are_not_swept(base):
    first = RunDirectory()
    (first.path / "counters-1").touch()
    second = RunDirectory()
    sweep(base)
    assert (first.path / "counters-1").exists()
    assert second.path.exists()
    first.close()
    second.close()


def test_only_runs_are_swept(base):
    base.mkdir()
    other = base / "notes"
    other.mkdir()
    (other / "lock").touch()
    without_lock = base / "wr-being-made"
    without_lock.mkdir()
    sweep(base)
    assert other.exists()
    assert without_lock.exists(), "its owner has not come to the lock yet"


def test_a_lock_held_by_another_process_protects(base):
    directory = dead_run(base)
    with (directory / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sweep(base)
        assert directory.exists()
    sweep(base)
    assert not directory.exists()


def test_a_base_open_to_others_is_refused_and_left_as_it_is(base):
    base.mkdir()
    base.chmod(0o777)
    with pytest.raises(HostSetupError, match=r"mode 777.*chmod 700"):
        RunDirectory()
    assert stat.S_IMODE(base.stat().st_mode) == 0o777


def test_a_shared_runtime_directory_is_neither_closed_nor_swept(base):
    shared = base.parent
    shared.chmod(0o755)
    somebody_elses = dead_run(shared, "wr-keep")
    RunDirectory().close()
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    assert (somebody_elses / "counters-1").exists()


def test_a_foreign_base_is_refused(base, monkeypatch):
    base.mkdir()
    owner = base.stat().st_uid
    monkeypatch.setattr("os.geteuid", lambda: owner + 1)
    with pytest.raises(HostSetupError, match="belongs to somebody else"):
        RunDirectory()
    assert list(base.glob("wr-*")) == []


def test_a_link_in_place_of_the_base_is_refused(base, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    base.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HostSetupError):
        RunDirectory()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_in_place_of_the_base_is_refused(base):
    base.write_text("mine")
    with pytest.raises(HostSetupError, match="WIRERATE_RUNTIME_DIR"):
        RunDirectory()


def test_where_runs_live(monkeypatch, tmp_path):
    monkeypatch.delenv("WIRERATE_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert base_directory() == Path("/run/wirerate")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert base_directory() == tmp_path / "wirerate"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "gone"))
    assert base_directory() == Path("/dev/shm/wirerate-1000")


def test_where_dpdk_keeps_its_files(monkeypatch):
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert dpdk_directory("wr-x") == Path("/var/run/dpdk/wr-x")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.delenv("WIRERATE_RUNTIME_DIR", raising=False)
    ours = "/dev/shm/wirerate-1000"  # not /tmp/dpdk, which may be another user's
    assert dpdk_environment() == {"RUNTIME_DIRECTORY": ours}
    assert dpdk_directory("wr-x") == Path(ours, "dpdk/wr-x")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1000")
    assert dpdk_environment() == {}
    assert dpdk_directory("wr-x") == Path("/run/user/1000/dpdk/wr-x")
    monkeypatch.setenv("RUNTIME_DIRECTORY", "/run/unit")
    assert dpdk_directory("wr-x") == Path("/run/unit/dpdk/wr-x")


@pytest.mark.usefixtures("base")
def test_the_lock_is_not_inherited():
    run = RunDirectory()
    assert not os.get_inheritable(run._lock)
    run.close()
