# SPDX-License-Identifier: BSD-3-Clause
"""A file or an interface belongs to one run; a second one is refused, and told whose it is."""

from __future__ import annotations

import signal

from support.host import ONE, needs_root
from support.program import port, wait_for

RATE = ("-r", "1kpps", "-m", f":{ONE}.0")


def second_is_refused(program, other, words, *parts):
    with program.start("perf", *words) as running:
        running.sending()
        other.run("perf", *words, "--count", "1").refused(
            *parts, f"another run, process {running.pid} (", code=3
        )
        running.signal(signal.SIGINT)
        assert running.finish().code == 0


def test_a_pcap_file(program, other_program, tmp_path):
    file = tmp_path / "out.pcap"
    words = (f"pcap:,{file}", *RATE, "--json")
    second_is_refused(program, other_program, words, f"{file} is in use by", "write another file")
    document = other_program.measure(*words, "--count", "10")
    assert port(document)["tx_frames"] == 10, "free again"


def test_another_name_of_the_file(program, other_program, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    with program.start("perf", f"pcap:,{tmp_path}/a.pcap", *RATE) as running:
        running.sending()
        other = other_program.run("perf", f"pcap:,{tmp_path}/link/a.pcap", *RATE, "--count", "1")
        other.refused("link/a.pcap is in use by", str(running.pid), code=3)


def test_a_capture_and_a_preview(program, other_program, tmp_path):
    file = tmp_path / "a.pcap"
    plan = tmp_path / "plan.yaml"
    plan.write_text(program.run("perf", "ring:x", "--count", "5", "--show-plan").out)
    with program.start("forward", "null:a", "null:b", "--capture", str(file)) as running:
        running.sending()
        preview = other_program.run("preview", str(plan), "-o", str(file))
        preview.refused(f"{file} is in use by", str(running.pid), code=3)
        words = ("forward", "null:a", "null:b", "--capture", str(file), "--duration", "300ms")
        capture = other_program.run(*words)
        capture.refused(f"{file} is in use by", str(running.pid), code=3)


def test_what_is_no_file_is_free(program, other_program):
    with program.start("perf", "pcap:,/dev/null", *RATE) as running:
        running.sending()
        assert other_program.run("perf", "pcap:,/dev/null", *RATE, "--count", "5").code == 0


@needs_root
def test_a_tap(program, other_program, veth):
    program.prefix = other_program.prefix = veth.inside
    words = ("tap:wrclaim0", "-r", "1kpps", "-m", f"{ONE}.0", "--json")
    second_is_refused(program, other_program, words, "interface wrclaim0 is in use by")


@needs_root
def test_other_namespaces_have_interfaces_of_their_own(program, other_program, veth):
    program.prefix = veth.inside
    with program.start("perf", "af_packet:lo", *RATE) as running:
        running.sending()
        wait_for("the run", lambda: not running.over())
        assert other_program.run("perf", "af_packet:lo", *RATE, "--count", "5").code == 0
