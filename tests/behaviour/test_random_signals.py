# SPDX-License-Identifier: BSD-3-Clause
"""Signals at random moments of start, run and end: nothing is left, and no traceback is printed.

The moments are drawn from the seed in the test's name; WIRERATE_SIGNAL_TRIALS=N tries N, not 20,
WIRERATE_SIGNAL_SEED=N begins at another seed.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sys
import time

import pytest

from support.host import ONE, is_root, wire
from support.host import run as host_run
from support.program import wait_for
from wirerate.host.namespaces import namespaces

TRIALS = int(os.environ.get("WIRERATE_SIGNAL_TRIALS", "20"))
SEED = int(os.environ.get("WIRERATE_SIGNAL_SEED", "1"))
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
RATE = ("-r", "10kpps", "-m", f"{ONE}.0", "--duration", "300ms")
USUAL = (
    ("perf", "ring:x", *RATE),
    ("perf", "ring:x", *RATE, "--json"),
    ("forward", "ring:a", "ring:b", "--duration", "300ms", "-m", f"{ONE}.0/{ONE}.1"),
    ("preview", "{plan}", "-n", "20000", "-o", "{tmp}/preview.pcapng"),
    ("preview", "{plan}", "-n", "20000", "-o", "-"),
)
AS_ROOT = (
    ("perf", "tap:wrsig0", *RATE),
    ("perf", "af_packet:wr-left", *RATE),
    ("perf", "af_xdp:wr-left", *RATE),
    ("bridge", "af_packet:wr-left", "tap:wrsig0", "--duration", "300ms"),
)
KERNEL_PATH = ("kernel-path", "--groups", "linux", "--repeats", "1", "--time", "1", "--json")
TRACEBACK_OF_OURS = re.compile(r'File ".*/wirerate/(?!__main__)')
LONGEST_S = 2.5
"""A run takes about 1.5 s here; on a busy machine more, and then signals come early in it."""


@pytest.fixture
def net():
    if not is_root():
        yield None
        return
    with wire() as made:
        yield made


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """For previews."""
    file = tmp_path_factory.mktemp("signals") / "plan.yaml"
    file.write_text(
        "ports: [{name: p, location: 'null:x'}]\n"
        "flows: [{name: f, tx_rx: {port: {tx_name: p}}, packet: [{ethernet: {}}], "
        "size: {fixed: 1000}, rate: {pps: 1000}}]\n"
    )
    return file


def interfaces(net):
    """What is in the namespace, and what is attached to it."""
    shown = host_run("ip", "-netns", net.namespace, "-details", "-oneline", "link", "show")
    mine = ("wr", "lo:", "xdp", "promiscuity")
    return [[w for w in line.split() if w.startswith(mine)] for line in shown.splitlines()]


@pytest.mark.parametrize("seed", range(SEED, SEED + TRIALS))
def test_nothing_is_left(program, net, plan, tmp_path, seed):
    drawn = random.Random(seed)
    kinds = USUAL + (AS_ROOT if net is not None else ())
    if net is not None and all(map(shutil.which, ("iperf3", "ethtool", "ping"))):
        kinds += (KERNEL_PATH,)
    words = [word.format(plan=plan, tmp=tmp_path) for word in drawn.choice(kinds)]
    numbers = [drawn.choice(ENDINGS) for _ in range(drawn.choice((1, 1, 2)))]
    after_s = [drawn.uniform(0, LONGEST_S), drawn.uniform(0, 1)]
    if net is not None:
        there = interfaces(net)
        if words[0] != "kernel-path":  # it makes namespaces of its own
            program.prefix = net.inside
    program.command = ("sh", "-c", 'exec "$0" "$@" >/dev/null', sys.executable, "-m", "wirerate")
    program.environment["TMPDIR"] = str(tmp_path)
    program.prefix += ("env", "--default-signal=HUP")
    print(" ".join(words), *zip(after_s, (number.name for number in numbers), strict=False))
    with program.start(*words) as running:
        for number, delay_s in zip(numbers, after_s, strict=False):
            time.sleep(delay_s)
            if not running.over():
                running.signal(number)
        run = running.finish()
    assert "internal error" not in run.err, run.err
    assert not TRACEBACK_OF_OURS.search(run.err), run.err
    # 0: it had ended, or ends in good order; killed by it: before the program began, which Python
    # says in its own way.
    ended = {0, *(128 + number for number in numbers), 130, *(-number for number in numbers)}
    assert run.code in ended or "KeyboardInterrupt" in run.err, (run.code, run.err)
    wait_for("the end of all processes", lambda: not program.leftovers())
    assert not list(tmp_path.glob("*.part"))
    assert [file for file in tmp_path.iterdir() if file.name != "preview.pcapng"] == []
    assert not [name for name in namespaces() if name.startswith(f"wr-kp-{running.pid}-")]
    assert not list(program.runs.glob("wr-kp-*"))
    if net is not None and len(numbers) == 1:  # the second one may kill the engine: docs/perf.md
        assert interfaces(net) == there
