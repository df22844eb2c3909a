# SPDX-License-Identifier: BSD-3-Clause
"""The fuzz targets' files are as OSS-Fuzz wants them; `make fuzz` builds and runs them."""

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml

FUZZ = Path(__file__).parents[2] / "engine/fuzz"
HANDED_IN = FUZZ / "oss-fuzz"
NAMES = sorted(path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.c"))
OF_WORDS = {"config", "rpc"}
"""build.sh makes their dictionaries of the decoders' sources."""
WORD = re.compile(r'([a-z][a-z0-9_]*=)?"(\\\\|\\"|\\x[0-9a-f]{2}|[ !#-\[\]-~])+"')
"""libFuzzer's syntax of a line (llvm.org/docs/LibFuzzer.html#dictionaries)."""
EVERYWHERE = re.compile(r"(libc|libm|libgcc_s|libstdc\+\+)\.so")
"""The C and C++ libraries: the machine that runs targets has them."""


def test_there_are_targets():
    assert {"config", "location", "receive", "rpc", "trace"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_target_is_built_and_has_seeds(name):
    assert f"'fuzz_{name}'" in (FUZZ / "meson.build").read_text()
    seeds = [path for path in (FUZZ / "seeds" / name).iterdir() if path.is_file()]
    assert len(seeds) >= 5
    assert all(path.name[0] != "." for path in seeds)


def test_every_target_has_a_dictionary():
    made = {path.stem for path in (FUZZ / "dictionaries").glob("*.dict")} - {"json"}
    assert made | OF_WORDS == set(NAMES)


@pytest.mark.parametrize(
    "path", sorted((FUZZ / "dictionaries").iterdir()), ids=lambda path: path.stem
)
def test_dictionaries_can_be_read(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not WORD.fullmatch(line)] == []
    assert len(set(lines)) == len(lines)


def test_the_project_names_what_oss_fuzz_asks_for():
    project = yaml.safe_load((HANDED_IN / "project.yaml").read_text())
    assert {"homepage", "main_repo", "primary_contact"} <= project.keys()
    assert project["language"] == "c"
    assert set(project["sanitizers"]) <= {"address", "undefined", "memory"}
    assert "libfuzzer" in project["fuzzing_engines"]


def test_the_image_is_of_the_projects_release_and_has_the_build_script():
    project = yaml.safe_load((HANDED_IN / "project.yaml").read_text())
    lines = (HANDED_IN / "Dockerfile").read_text().splitlines()
    assert f"FROM gcr.io/oss-fuzz-base/base-builder:{project['base_os_version']}" in lines
    assert "WORKDIR $SRC/wirerate" in lines
    assert "COPY build.sh $SRC/" in lines


def test_the_build_script_takes_what_the_image_sets():
    script = (HANDED_IN / "build.sh").read_text()
    assert script.startswith("#!/bin/bash -eu\n")
    assert {"$OUT", "$WORK", "$LIB_FUZZING_ENGINE"} <= set(re.findall(r"\$[A-Z_]+", script))
    assert "_seed_corpus.zip" in script
    assert (HANDED_IN / "build.sh").stat().st_mode & 0o111


def _compiler(folder, name, calls):
    """A compiler of another name, which notes how it is called."""
    path = folder / f"our-{name}"
    path.write_text(f'#!/bin/sh\necho "$*" >>{calls}\nexec {name} "$@"\n')
    path.chmod(0o755)
    return str(path)


def _own_engine(folder):
    """A fuzzing engine as an archive: main() runs the target once for each file."""
    source = folder / "engine.c"
    source.write_text('#define WR_FUZZ_STANDALONE\n#include "fuzz/fuzz_standalone.h"\n')
    objects = ["gcc", "-c", f"-I{FUZZ.parent}", "-o", str(source.with_suffix(".o")), str(source)]
    subprocess.run(objects, check=True)
    archive = source.with_suffix(".a")
    subprocess.run(["ar", "rcs", archive, source.with_suffix(".o")], check=True)
    return str(archive)


@pytest.mark.timeout(600)
def test_any_compiler_and_engine_make_targets_that_run_elsewhere(tmp_path):
    calls, out = tmp_path / "calls", tmp_path / "out"
    given = {
        "CC": _compiler(tmp_path, "gcc", calls),
        "CXX": _compiler(tmp_path, "g++", calls),
        "CFLAGS": "-O0 -DOF_OSS_FUZZ",
        "CXXFLAGS": "-O0",
        "LIB_FUZZING_ENGINE": _own_engine(tmp_path),
        "OUT": str(out),
        "WORK": str(tmp_path / "work"),
    }
    script = [str(HANDED_IN / "build.sh")]
    subprocess.run(script, cwd=FUZZ.parents[1], env={**os.environ, **given}, check=True)
    compiled = [line for line in calls.read_text().splitlines() if line.endswith(".c")]
    assert len(compiled) > len(NAMES)
    assert [line for line in compiled if "meson" not in line and "-DOF_OSS_FUZZ" not in line] == []
    shutil.rmtree(tmp_path / "work")
    elsewhere = out.rename(tmp_path / "elsewhere")
    known = (elsewhere / "fuzz_config.dict").read_text().splitlines()
    assert {'"rx_descriptors"', '"workers"', '"lcore"', '"mac_swap"'} <= set(known)
    assert [line for line in known if line[0] == '"' and not WORD.fullmatch(line)] == []
    for name in NAMES:
        target = elsewhere / f"fuzz_{name}"
        assert {f"{target.name}.dict", f"{target.name}.options"} <= {
            path.name for path in elsewhere.iterdir()
        }
        seeds = tmp_path / "seeds" / name
        with zipfile.ZipFile(f"{target}_seed_corpus.zip") as corpus:
            corpus.extractall(seeds)
        assert len(list(seeds.iterdir())) == len(list((FUZZ / "seeds" / name).iterdir()))
        subprocess.run([target, *seeds.iterdir()], check=True, capture_output=True)
        needs = subprocess.run(["ldd", target], check=True, capture_output=True, text=True).stdout
        outside = rf"^\s*(\S+) => (?!{re.escape(str(elsewhere))})"
        others = re.findall(outside, needs, re.MULTILINE)
        assert [library for library in others if not EVERYWHERE.match(library)] == []
