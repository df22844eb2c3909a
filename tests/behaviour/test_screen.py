# SPDX-License-Identifier: BSD-3-Clause
"""What is shown while a run lasts: in a pipe, on a terminal, as JSON, and by DPDK's telemetry."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shutil
import socket
import subprocess
import sys
import time

import pytest

from support.host import CPUS, ONE
from support.program import wait_for
from support.verdicts import may_want_cpu

HEAD = "Port    : Rate Statistics per queue"
ROWS = ["RxQs   :", "TxQs   :", "Unsent :", "NoMBUF :", "TxCycle:", "RxMissed:"]
RATE = ("-r", "20kpps")
CURSOR_UP = re.compile(rb"\x1b\[[0-9]*A")


def blocks(text):
    return text.partition("\nSummary\n")[0].split(HEAD)[1:]


def test_pktperfs_command_line(program):
    lcores = ",".join(str(cpu) for cpu in CPUS[-2:])
    words = f"-l {lcores} --no-pci --vdev net_null0 -- -b 64 -s 64 -r 100 -d 1024/1024"
    words += f" -m {ONE}.0 -T 1 -M 8192 --duration 1"
    run = program.run("perf", *words.split())
    assert (run.code, run.err) == (0, "")
    assert "Burst: 64, MBUF Count: 8,192, PktSize:64, Rx/Tx 1,024/1,024, Rate 100" in run.out
    assert "Verdict: valid" in run.out or may_want_cpu(run.out)
    assert re.search(r"sent +[1-9]", run.out)


def test_a_pipe_gets_a_block_per_period(program):
    run = program.run("perf", "ring:x", "-m", f"{ONE}.0", "-T", "500ms", "--duration", "2", *RATE)
    assert (run.code, run.err) == (0, "")
    assert "\x1b" not in run.out
    shown = blocks(run.out)
    assert 2 <= len(shown) <= 4
    for block in shown:
        places = [block.index(row) for row in ROWS]
        assert places == sorted(places)
        total = re.search(r"TxQs   : +([\d,]+) Total: +([\d,]+)", block)
        assert total is not None
        assert total[1] == total[2]
    order = [run.out.index(word) for word in (HEAD, "\nSummary\n", "\nVerdict: ")]
    assert order == sorted(order)


def test_a_row_has_a_cell_per_queue(program):
    lcores = ",".join(str(cpu) for cpu in CPUS[-2:])
    run = program.run("perf", "ring:x", "-m", f"[{lcores}].0", "--duration", "1.2s", *RATE)
    assert run.code == 0
    row = re.search(r"TxQs   :(.*)Total:", run.out)
    assert row is not None
    assert len(row[1].split()) == len(CPUS[-2:])


def test_a_short_run_shows_its_one_block(program):
    run = program.run("perf", "ring:x", "--count", "100")
    assert len(blocks(run.out)) == 1


def on_a_terminal(program, *words, columns=100):
    """Everything written to a terminal of 24 lines, and the exit code."""
    main, sub = pty.openpty()
    process = subprocess.Popen(
        ["sh", "-c", f'stty rows 24 cols {columns}; exec "$@"', "sh", *program.words(words)],
        env=program.environ() | {"TERM": "xterm"},
        stdin=sub,
        stdout=sub,
        stderr=sub,
        start_new_session=True,
    )
    os.close(sub)
    seen = bytearray()
    with contextlib.suppress(OSError):  # EIO: the other end is closed
        while part := os.read(main, 65536):
            seen += part
    os.close(main)
    return bytes(seen), process.wait(timeout=20)


def test_a_terminal_is_refreshed_in_place(program):
    words = ["perf", "ring:x", "-T", "200ms", "--duration", "1500ms", *RATE]
    seen, code = on_a_terminal(program, *words)
    assert code == 0
    assert CURSOR_UP.search(seen)
    last = seen[seen.rindex(HEAD.encode()) :].decode()
    for row in ROWS:
        assert row in last, "the last block stays"
    assert "Summary" in last
    assert "Verdict:" in last
    assert seen.count(HEAD.encode()) >= 3


PLAN = """\
ports: [{name: a-port-with-a-long-name, location: "ring:x"}]
flows:
  - name: a-flow-with-a-long-name
    tx_rx: {port: {tx_name: a-port-with-a-long-name, rx_names: [a-port-with-a-long-name]}}
    rate: {pps: 1000}
"""


def test_80_columns_are_enough(program, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    words = ["run", str(plan), "-T", "200ms", "--duration", "900ms"]
    seen, code = on_a_terminal(program, *words, columns=80)
    assert code == 0
    text = re.sub(r"\x1b\[[0-9?;]*[A-Za-z]", "", seen.decode()).replace("\r", "\n")
    assert max(map(len, text.splitlines())) <= 80
    for column in ("sent", "unsent", "received", "missed"):
        assert re.search(rf"frames/s.* {column}\b", text), column


def test_json_is_all_there_is(program):
    run = program.run("perf", "ring:x", "-T", "100ms", "--duration", "500ms", "--json", *RATE)
    assert (run.code, run.err) == (0, "")
    document, end = json.JSONDecoder().raw_decode(run.out)
    assert run.out[end:] == "\n"
    assert document["schema"] == "wirerate-perf/1"
    assert {"schema", "verdict", "ports", "engine"} <= document.keys()


def test_verbose_goes_to_stderr(program):
    run = program.run("perf", "ring:x", "--count", "10", "--json", "-v")
    assert run.code == 0
    json.loads(run.out)
    assert "EAL arguments:" in run.err


def test_telemetry_answers_during_a_run(program):
    with program.start("perf", "--telemetry", "--", "ring:x", *RATE) as running:
        prefix = running.sending().name
        path = program.root / "dpdk" / prefix / "dpdk_telemetry.v2"
        wait_for("telemetry", path.exists)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.settimeout(10)
            client.connect(str(path))
            assert json.loads(client.recv(4096))["version"].startswith("DPDK")
            client.send(b"/ethdev/list")
            assert json.loads(client.recv(4096)) == {"/ethdev/list": [0]}
            client.send(b"/ethdev/stats,0")
            assert json.loads(client.recv(16384))["/ethdev/stats"]["opackets"] > 0


def test_dpdks_telemetry_script_finds_it(program):
    script = shutil.which("dpdk-telemetry.py")
    if script is None:
        pytest.skip("dpdk-telemetry.py is not installed")
    with program.start("perf", "--telemetry", "--", "ring:x", *RATE) as running:
        prefix = running.sending().name
        done = subprocess.run(
            [sys.executable, script, "-f", prefix],
            env=program.environ(),
            input="/ethdev/list\nquit\n",
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    assert '"/ethdev/list"' in done.stdout, done.stdout + done.stderr


def test_time_between_blocks_is_the_period(program):
    began = time.monotonic()
    run = program.run("perf", "ring:x", "-T", "1", "--duration", "1500ms", *RATE)
    assert time.monotonic() - began >= 1.5
    assert len(blocks(run.out)) == 1
