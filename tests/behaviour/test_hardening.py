# SPDX-License-Identifier: BSD-3-Clause
"""What an engine that is attacked could still do: its binary, its capabilities, its sockets."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

from support.host import ONE, is_root, needs, needs_root
from support.program import wait_for
from wirerate.engine.process import find_engine

OBJECTS = Path(__file__).parents[2] / "build/release/engine"
RATE = ("-r", "1kpps", "-m", f"{ONE}.0")
SEND = ("-r", "1kpps", "-m", f":{ONE}.0")
NOBODY = 65534
NET_ADMIN, NET_RAW, IPC_LOCK, SYS_ADMIN, BPF = (1 << bit for bit in (12, 13, 14, 21, 39))
MASKS = ("CapInh", "CapPrm", "CapEff", "CapAmb")


def readelf(*words):
    done = subprocess.run(
        ["readelf", "--wide", *map(str, words)], capture_output=True, text=True, check=True
    )
    return done.stdout


@needs("readelf")
def test_the_engine_is_hardened():
    engine = find_engine()
    assert "DYN (Position-Independent Executable file)" in readelf("--file-header", engine)
    segments = readelf("--segments", engine)
    assert "GNU_RELRO" in segments
    (stack,) = re.findall(r"GNU_STACK .*", segments)
    assert " RW " in stack
    assert " RWE" not in segments
    flags = readelf("--dynamic", engine)
    assert "BIND_NOW" in flags
    assert re.search(r"FLAGS_1.*NOW", flags), "full RELRO: all is bound before the start"


@needs("readelf")
@pytest.mark.parametrize("library", ["libwirerate-pure.a", "libwirerate-eal.a"])
def test_our_own_objects_have_canaries_and_fortify(library):
    """DPDK's objects are in the engine, too, so that its symbols say nothing of ours."""
    objects = list(OBJECTS.glob(f"{library}.p/*.o"))
    assert objects, f"no objects in {OBJECTS}"
    symbols = {file.name: readelf("--symbols", file) for file in objects}
    for checked in ("__stack_chk_fail", "__snprintf_chk"):
        having = [name for name, text in symbols.items() if f"UND {checked}\n" in text]
        print(f"{checked}: {len(having)} of {len(objects)} objects")
        assert having, f"no object of {library} has {checked}"


def threads(pid):
    """The fields of /proc/PID/task/TID/status, by thread name and id."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        pairs = (line.partition(":") for line in (task / "status").read_text().splitlines())
        status = {key: value.strip() for key, _, value in pairs}
        found[f"{status['Name']} {task.name}"] = status
    return found


def kept_while_sending(program, *words):
    """The union of all masks of all threads of the engine while it sends."""
    with program.start("perf", *words) as running:
        running.sending()
        seen = threads(running.engine_pid())
        print(*((name, *(status[mask] for mask in MASKS)) for name, status in seen.items()))
        assert len(seen) > 2, "EAL's threads are there"
        assert {status["NoNewPrivs"] for status in seen.values()} == {"1"}
    masks = {int(status[mask], 16) for status in seen.values() for mask in MASKS}
    kept = 0
    for mask in masks:
        kept |= mask
    return kept


@pytest.mark.parametrize("location", ["ring:x", "null:x"])
def test_no_thread_keeps_a_capability(program, location):
    """For an ordinary user there are none to give up; as root it is seen that there were."""
    before = int(threads(os.getpid()).popitem()[1]["CapEff"], 16)
    assert bool(before) == is_root()
    assert kept_while_sending(program, location, *(SEND if "null" in location else RATE)) == 0


@needs_root
@pytest.mark.parametrize(
    ("location", "kept"),
    [
        ("tap:wrcap0", NET_ADMIN),
        ("af_packet:wr-left", NET_ADMIN | NET_RAW),
        ("af_xdp:wr-left", NET_ADMIN | NET_RAW | IPC_LOCK | SYS_ADMIN | BPF),
    ],
)
def test_interfaces_are_put_back_by_what_is_kept(program, veth, location, kept):
    program.prefix = veth.inside
    before = interface(veth)
    assert kept_while_sending(program, location, *RATE) == kept
    assert interface(veth) == before, "promiscuity and XDP programs"


def interface(veth):
    words = ["ip", "-details", "-netns", veth.namespace, "link", "show"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\d+: (\S+)|(promiscuity \d+)|(xdp\S*)", shown, re.MULTILINE)


@needs_root
def test_memif_sockets_in_folders_of_others_are_removed(program, tmp_path):
    folder = folder_of_nobody(tmp_path)
    socket = folder / "memif.sock"
    with program.start("perf", f"memif:{socket},role=server", *RATE) as running:
        running.sending()
        assert socket.exists()
    assert not socket.exists()


@needs_root
def test_files_of_others_are_read_and_written(program, tmp_path):
    """A trace and a capture, both in a folder that only its owner and root may look into."""
    folder = folder_of_nobody(tmp_path)
    trace = folder / "trace.pcap"
    written = program.run("perf", "ring:x", *RATE, "--count", "50", "--show-plan")
    plan = tmp_path / "plan.yaml"
    plan.write_text(written.out)
    made = program.run("preview", str(plan), "-n", "50", "-o", str(trace))
    assert made.code == 0, made.err
    os.chown(trace, NOBODY, NOBODY)
    trace.chmod(0o600)
    run = program.run("replay", str(trace), "ring:x", *RATE, "--loops", "1")
    assert run.code == 0, run.err
    capture = folder / "capture.pcap"
    run = program.run(
        "forward", f"pcap:{trace},", "null:x", "--capture", str(capture), "--duration", "300ms"
    )
    assert run.code == 0, run.err
    assert capture.stat().st_size > 0


def folder_of_nobody(tmp_path):
    """Closed to everybody else, but for the test's own way there."""
    for path in (tmp_path, *tmp_path.parents):
        if stat.S_IMODE(path.stat().st_mode) & 0o005 != 0o005 and path != Path("/"):
            path.chmod(stat.S_IMODE(path.stat().st_mode) | 0o005)
    folder = tmp_path / "nobody"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    folder.chmod(0o700)
    return folder


def test_no_telemetry_unless_asked_for(program):
    with program.start("perf", "ring:x", *RATE, "-v") as running:
        running.sending()
        wait_for("DPDK's folder or the run's", lambda: list(program.root.iterdir()))
        assert list(program.root.rglob("dpdk_telemetry*")) == []
