# SPDX-License-Identifier: BSD-3-Clause
"""Who may run it, and with how much memory: root with hugepages and without, anybody without."""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from support.host import ONE, free_hugepages_mib, is_root, needs_root
from support.program import adds_up, port
from wirerate.engine.process import find_engine

NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
ORDINARY_PAGES = ("--no-huge", "-m", "128", "--")
MIB = 1 << 20
FRAMES = 10_000
RUN = ("-m", f"{ONE}.0", "--count", str(FRAMES))


@needs_root
def test_root_with_hugepages(program):
    if free_hugepages_mib() < 128:
        pytest.skip("no 128 MiB of hugepages are free")
    document = program.valid("ring:root", *RUN)
    assert document["engine"]["hugepages"] is True
    adds_up(port(document))


def test_without_hugepages(program):
    document = program.valid(*ORDINARY_PAGES, "ring:plain", *RUN)
    assert document["engine"]["hugepages"] is False
    adds_up(port(document))


def test_memory_of_one_port_on_ordinary_pages(program):
    document = program.valid(*ORDINARY_PAGES, "ring:small", "-M", "8192", *RUN)
    assert document["engine"]["resident_max_octets"] < 64 * MIB


def test_memory_is_chosen_to_suffice(program):
    # Many mbufs, on ordinary pages too: --no-huge alone would give 64 MiB.
    document = program.valid("ring:large", "-M", "65536", "-s", "1518", *RUN)
    adds_up(port(document))


def python_for_all() -> str:
    """A Python that anybody may run and that has what wirerate needs; skips without one."""
    for python in (sys.executable, "/usr/bin/python3"):
        words = [*AS_NOBODY, python, "-c", "import sys; assert sys.version_info >= (3, 10)"]
        if subprocess.run(words, capture_output=True, check=False).returncode == 0:
            return python
    return pytest.skip("an ordinary user may run none of the Pythons here (3.10 or later)")


@pytest.fixture
def ordinary(program):
    """The program as user nobody, installed where that user can read it."""
    if not is_root():
        return program
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    python = python_for_all()
    place = program.root / "installed"
    packages = place / "packages"
    for name in ("wirerate", "rich", "markdown_it", "mdurl", "pygments"):
        found = importlib.util.find_spec(name)
        assert found is not None, name
        assert found.origin is not None, name
        shutil.copytree(Path(found.origin).parent, packages / name)
    engine = shutil.copy(find_engine(), place / "wirerate-engine")
    Path(engine).chmod(0o755)
    program.root.chmod(0o755)
    for path in packages.rglob("*"):
        path.chmod(path.stat().st_mode | stat.S_IRGRP | stat.S_IROTH)
    for name in ("run", "dpdk"):
        (program.root / name).mkdir()
        os.chown(program.root / name, NOBODY, NOBODY)
    program.prefix = AS_NOBODY
    program.command = (python, "-B", "-m", "wirerate.cli.main")
    program.environment = {
        "PYTHONPATH": str(packages),
        "WIRERATE_ENGINE": engine,
        "HOME": str(program.root),
    }
    return program


@pytest.mark.parametrize("location", ["ring:mine", "null:mine"])
def test_an_ordinary_user(ordinary, location):
    for eal in ((), ORDINARY_PAGES):
        document = ordinary.valid(*eal, location, *RUN)
        assert port(document)["tx_frames"] == FRAMES
    assert document["engine"]["hugepages"] is False


def test_an_ordinary_user_writes_a_file(ordinary):
    file = ordinary.root / "run" / "sent.pcap"
    document = ordinary.valid(f"pcap:,{file}", "-m", f":{ONE}.0", "--count", "100")
    assert port(document)["tx_frames"] == 100
    assert file.stat().st_size == 24 + 100 * (16 + 60)


@needs_root
def test_an_ordinary_user_is_told_what_needs_more(ordinary, veth):
    ordinary.prefix = (*veth.inside, *AS_NOBODY)
    run = ordinary.run("perf", f"af_packet:{veth.left}", "--duration", "1")
    run.refused("af_packet", code=3)


def test_a_run_directory_that_cannot_be_made(ordinary):
    ordinary.environment["WIRERATE_RUNTIME_DIR"] = "/proc/wirerate"
    run = ordinary.run("perf", "ring:x", "--duration", "1")
    run.refused("/proc/wirerate", "WIRERATE_RUNTIME_DIR", code=3)


def test_an_engine_that_is_not_there(program, tmp_path):
    program.environment["WIRERATE_ENGINE"] = str(tmp_path / "nothing")
    program.run("perf", "ring:x", "--duration", "1").refused("WIRERATE_ENGINE", code=3)


def test_an_engine_that_does_not_start(program, tmp_path):
    broken = tmp_path / "engine"
    broken.write_text("#!/bin/sh\necho 'engine: error: it is Monday' >&2\nexit 1\n")
    broken.chmod(0o755)
    program.environment["WIRERATE_ENGINE"] = str(broken)
    program.run("perf", "ring:x", "--duration", "1").refused("it is Monday", code=3)
