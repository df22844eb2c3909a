# SPDX-License-Identifier: BSD-3-Clause
"""The lab's host side: package sources, QEMU's fitness, the initramfs, how a run ends."""

import sys
import time
from pathlib import Path

import pytest

from lab.host import boot
from lab.host.packages import os_release, sources_of, stanzas_of
from lab.host.system import System, load_order, newc, qemu_problem
from lab.host.tsc import tsc_khz
from lab.lab import listing
from lab.machine import Machine, Nic

DEB822 = """\
# a comment
Types: deb deb-src
URIs: mirror+file:/etc/apt/mirrors.list
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://security.example.net/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://off.example.net/debian
Suites: bookworm
"""


def test_os_release():
    assert os_release('ID=debian\nVERSION_CODENAME="bookworm"\n\n# x\n') == {
        "ID": "debian",
        "VERSION_CODENAME": "bookworm",
    }


@pytest.mark.parametrize(
    ("line", "head"),
    [
        (
            "deb http://a.example.net/debian bookworm main contrib",
            "deb http://a.example.net/debian",
        ),
        (
            "deb [arch=amd64 signed-by=/k.gpg] https://b.example.net/x/y/ bookworm main # why",
            "deb [arch=amd64 signed-by=/k.gpg] https://b.example.net/x/y/",
        ),
    ],
)
def test_one_line_sources_keep_their_mirror(line, head):
    assert sources_of(f"# {line}\n{line}\n", "bookworm") == [
        f"{head} bookworm main",
        f"{head} bookworm-backports main",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "deb-src http://a.example.net/debian bookworm main",
        "deb http://security.example.net bookworm-security main",
        "deb http://third.example.net ./",
        "deb [arch=amd64 http://a.example.net/debian bookworm main",
    ],
)
def test_other_one_line_sources_are_left_out(line):
    assert sources_of(line, "bookworm") == []


def test_deb822_sources_keep_their_mirror_and_key():
    (stanza,) = stanzas_of(DEB822, "bookworm")
    assert stanza.splitlines() == [
        "Types: deb",
        "Suites: bookworm bookworm-backports",
        "Components: main",
        "URIs: mirror+file:/etc/apt/mirrors.list",
        "Signed-By:",
        " -----BEGIN PGP PUBLIC KEY BLOCK-----",
        " .",
        " -----END PGP PUBLIC KEY BLOCK-----",
    ]
    assert stanzas_of(DEB822, "trixie") == []


def test_other_suites_of_the_same_mirror():
    line = "deb [arch=amd64] mirror+file:/m bookworm main contrib"
    assert sources_of(line, "bookworm", ("trixie", "forky")) == [
        "deb [arch=amd64] mirror+file:/m trixie main",
        "deb [arch=amd64] mirror+file:/m forky main",
    ]
    (stanza,) = stanzas_of(DEB822, "bookworm", ("forky",))
    assert "Suites: forky\n" in stanza
    assert "bookworm" not in stanza


DEVICES = "".join(
    f'name "{name}", bus PCI\n' for name in ("igb", "virtio-9p-pci", "intel-iommu", "vmxnet3")
)


@pytest.mark.parametrize(
    ("version", "devices", "says"),
    [
        ("QEMU emulator version 10.0.2 (Debian 1:10.0.2)", DEVICES, ""),
        ("QEMU emulator version 7.2.19", DEVICES, "it is version 7.2; 9.0 has what is needed"),
        ("", "", "its version cannot be read"),
        ("QEMU emulator version 9.2.0", DEVICES.replace("igb", "i"), "it has no device igb"),
    ],
)
def test_qemu_that_will_not_do(version, devices, says):
    assert qemu_problem(version, devices) == says


def test_modules_are_loaded_after_what_they_need():
    dependencies = (
        "kernel/9p.ko.xz: kernel/9pnet.ko.xz kernel/fscache.ko.xz kernel/netfs.ko.xz\n"
        "kernel/9pnet.ko.xz:\n"
        "kernel/9pnet_virtio.ko.xz: kernel/9pnet.ko.xz kernel/virtio.ko.xz\n"
    )
    order = [
        Path(path).name.partition(".")[0]
        for path in load_order(dependencies, ("virtio_pci", "9pnet_virtio", "9p"))
    ]
    assert order == ["virtio", "9pnet", "9pnet_virtio", "netfs", "fscache", "9p"]


def test_an_archive_has_folders_before_files():
    archive = newc({"bin/busybox": b"abc", "init": b"#!"})
    assert archive[:6] == b"070701"
    assert len(archive) % 4 == 0
    names = (b"bin\0", b"bin/busybox\0", b"init\0", b"TRAILER!!!\0")
    places = [archive.index(name) for name in names]
    assert places == sorted(places)
    header = archive[archive.index(b"bin/busybox\0") - 110 :]
    assert int(header[14:22], 16) == 0o100755
    assert int(header[54:62], 16) == 3


def test_folders_that_the_guest_would_hide_are_kept():
    folders = [Path(path) for path in ("/tmp/x/.venv", "/tmp/x", "/home/u/x", "/run/e", "/tmpx")]
    assert boot.kept_folders(folders) == [Path("/run/e"), Path("/tmp/x")]


@pytest.fixture
def system(tmp_path):
    """A guest that is a shell script, given what it does."""

    def make(script):
        program = tmp_path / "qemu"
        program.write_text(f"#!/bin/sh\necho boot >> {tmp_path}/boots\n{script}\n")
        program.chmod(0o755)
        return System(
            tmp_path, (str(program),), "", *(tmp_path / name for name in ("k", "i", "m", "kmod"))
        )

    return make


# The share is the path in the second -fsdev.
SHARE = 'share=$(echo "$*" | sed "s/.*id=lab,path=\\([^,]*\\),.*/\\1/")'


def outcome_of(system, tmp_path, **machine):
    return boot.run_job("job", Machine(nics=(), **machine), system, tmp_path / "runs")


def run(system, tmp_path, **machine):
    return outcome_of(system, tmp_path, **machine).code


def test_a_job_that_passes_leaves_nothing(system, tmp_path, capfd):
    guest = system(f"{SHARE}\necho 'ok   it is' >$share/log\necho 0 >$share/exit")
    assert run(guest, tmp_path) == 0
    assert capfd.readouterr().out == "ok   it is\n"
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_job_that_fails_leaves_its_logs(system, tmp_path, capfd):
    assert run(system(f"{SHARE}\necho 1 >$share/exit"), tmp_path) == 1
    (left,) = (tmp_path / "runs").iterdir()
    assert f"lab: job: logs are in {left}" in capfd.readouterr().out
    settings = (left / "share/settings.sh").read_text()
    assert "job=job" in settings
    assert f"python={sys.executable}" in settings


def test_the_guests_checks_are_counted(system, tmp_path):
    counted = '{"made": 7, "failures": ["link: 0, and not 1"], "seconds": 0.0}'
    guest = system(f"{SHARE}\necho '{counted}' >$share/checks.json\necho 1 >$share/exit")
    outcome = outcome_of(guest, tmp_path)
    assert (outcome.checks, outcome.failed) == (7, ("link: 0, and not 1",))
    assert (outcome.code, outcome.again, outcome.seconds > 0) == (1, False, True)


def test_a_guest_whose_clock_is_wrong_is_found_out(system, tmp_path):
    """Seen: the guest's kernel took its TSC for 4.5 times slower than it is."""
    counted = '{"made": 1, "failures": [], "seconds": 526.0}'
    guest = system(f"{SHARE}\necho '{counted}' >$share/checks.json\necho 0 >$share/exit")
    assert outcome_of(guest, tmp_path).reason.startswith("the guest's clock is wrong: 526 s by it")


def test_the_hosts_tsc_is_measured_or_unknown():
    first, second = tsc_khz(), tsc_khz()
    assert abs(first - second) <= first / 1000
    assert first == 0 or 100_000 < first < 20_000_000


def test_a_tsc_that_cannot_be_read_is_unknown(monkeypatch):
    def refused(*_, **__):
        raise PermissionError("no executable pages")

    monkeypatch.setattr("lab.host.tsc.mmap.mmap", refused)
    assert tsc_khz() == 0


@pytest.mark.parametrize("counted", ["", "[", "7", '{"made": 7}'])
def test_a_guest_that_counted_nothing_has_no_checks(system, tmp_path, counted):
    guest = system(f"{SHARE}\necho '{counted}' >$share/checks.json\necho 1 >$share/exit")
    assert outcome_of(guest, tmp_path).checks == 0


def test_a_job_whose_program_dies_says_so(system, tmp_path, capfd):
    guest = system(f"{SHARE}\necho 'ok   first' >$share/log\necho 137 >$share/exit")
    assert outcome_of(guest, tmp_path).reason.startswith("the job's program ended with 137")
    assert "    ok   first" in capfd.readouterr().out


def test_the_ends_of_a_cable_are_qemus(system, tmp_path):
    """Two file descriptors, each the other's peer; both are gone afterwards."""
    speak = (
        "import os, sys; words = [word.rpartition('.str=') for word in sys.argv]; "
        "first, second = (int(end) for _, found, end in words if found); "
        "os.write(first, b'there'); print(os.read(second, 9))"
    )
    guest = system(f'{SHARE}\n{sys.executable} -c "{speak}" "$@" >$share/log\necho 1 >$share/exit')
    machine = Machine(nics=(Nic("virtio"), Nic("virtio")))
    before = list(Path("/proc/self/fd").iterdir())
    assert boot.run_job("job", machine, guest, tmp_path / "runs").code == 1
    assert list(Path("/proc/self/fd").iterdir()) == before
    (log,) = (tmp_path / "runs").glob("*/share/log")
    assert log.read_text() == "b'there'\n"


def test_an_abort_is_tried_again_once_and_said(system, tmp_path, capfd):
    assert run(system("kill -ABRT $$"), tmp_path) == 4
    assert (tmp_path / "boots").read_text().count("boot") == 2
    out = capfd.readouterr().out
    assert out.count("once more") == 1
    assert "QEMU ended with -6 before the job did" in out


def test_a_guest_that_the_same_fault_hangs_is_tried_again_at_once(system, tmp_path, capfd):
    hangs = "echo 'qemu: vtd_mem_write: MMIO over range: addr=0x380' >&2; exec sleep 60"
    began = time.monotonic()
    assert run(system(hangs), tmp_path) == 4
    assert time.monotonic() - began < 30
    assert (tmp_path / "boots").read_text().count("boot") == 2
    assert "write to its timer elsewhere: the guest hangs" in capfd.readouterr().out


def test_any_other_end_is_not_tried_again(system, tmp_path, capfd):
    assert run(system("echo 'no such device' >&2; exit 1"), tmp_path) == 4
    assert (tmp_path / "boots").read_text().count("boot") == 1
    out = capfd.readouterr().out
    assert "QEMU ended with 1 before the job did" in out
    assert "    no such device" in out


def test_a_guest_that_hangs_is_ended(system, tmp_path, capfd):
    guest = system(f"{SHARE}\necho 'ok   first' >$share/log\nexec sleep 60")
    assert run(guest, tmp_path, timeout_s=1) == 4
    out = capfd.readouterr().out
    assert "did not end within 1 s and was ended" in out
    assert "    ok   first" in out


def test_a_job_that_cannot_have_its_taps_says_why(system, tmp_path, capfd, monkeypatch):
    machine = Machine(nics=(Nic("virtio", queues=2),))
    refusing = ["sh", "-c", "echo no tun >&2; exit 1"]
    monkeypatch.setattr(boot, "_namespace", lambda _machine: refusing)
    outcome = boot.run_job("job", machine, system, tmp_path / "run")
    assert (outcome.code, outcome.result) == (3, "cannot run")
    assert "no tun" in outcome.reason
    assert "lab: job: NICs of several queues take TAPs" in (said := capfd.readouterr().out)
    assert "no tun; allow user namespaces" in said


def test_every_job_is_listed_with_a_line():
    jobs = listing()
    assert {"perf", "measured", "plain", "user", "stage"} <= jobs.keys()
    assert all(text.endswith(".") and len(text) < 100 for text in jobs.values())
