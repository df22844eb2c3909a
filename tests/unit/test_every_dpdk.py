# SPDX-License-Identifier: BSD-3-Clause
"""What `make every-dpdk` compiles: each source for each DPDK; one that does not is a failure."""

import subprocess
from pathlib import Path

import pytest

from tools import dpdk


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(dpdk, "FOLDER", tmp_path / "dpdk")
    for version, member in (("24.11", "struct { char a[16]; } address;"), ("25.11", "int other;")):
        folder = tmp_path / "dpdk" / f"headers-{version}" / "dpdk"
        folder.mkdir(parents=True)
        (folder / "rte_config.h").write_text("")
        (folder / "rte_thing.h").write_text(f"struct thing {{ {member} }};\n")
    return tmp_path


def compiled(tree, source):
    (tree / "a.c").write_text(f"#include <rte_thing.h>\n{source}\n")
    script = tree / "check.ninja"
    script.write_text(dpdk.ninja_text(["24.11", "25.11"], [Path("a.c")]))
    done = subprocess.run(
        ["ninja", "-k", "0", "-f", str(script)],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_a_source_that_compiles_with_all_is_compiled_once(tree):
    assert compiled(tree, "int size = sizeof(struct thing);")[0] == 0
    again = subprocess.run(
        ["ninja", "-f", str(tree / "check.ninja")],
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no work to do" in again.stdout


def test_a_source_that_one_of_them_refuses_is_a_failure(tree):
    code, said = compiled(tree, "int size = sizeof(((struct thing *)0)->address);")
    assert code != 0
    assert "FAILED" in said
    assert "checked-25.11/a.ok" in said
    assert not (tree / "dpdk/checked-25.11/a.ok").exists()
    assert (tree / "dpdk/checked-24.11/a.ok").exists()


def test_a_changed_header_is_noticed(tree):
    source = "int size = sizeof(struct thing);"
    assert compiled(tree, source)[0] == 0
    header = tree / "dpdk/headers-25.11/dpdk/rte_thing.h"
    header.write_text("struct other;\n")
    assert compiled(tree, source)[0] != 0
