# SPDX-License-Identifier: BSD-3-Clause
"""CPUs that have no lcore of their number run, and people see their own numbers only.

This machine may not have 129 CPUs: here, no CPU has an lcore of its number.
"""

from __future__ import annotations

import sys

import pytest

from support.host import CPUS, needs_two_cpus
from support.program import sandbox

CPU = CPUS[-1]
_START = (
    "import sys; from wirerate.engine import lcore_ids; lcore_ids.ALIKE = 0; "
    "from wirerate.cli.main import main; sys.exit(main())"
)
pytestmark = needs_two_cpus


@pytest.fixture
def mapped():
    with sandbox() as made:
        made.command = (sys.executable, "-c", _START)
        yield made


def lcores_of(found):
    """Every lcore that a document names, wherever that is."""
    if isinstance(found, dict):
        own = [found["lcore"]] if "lcore" in found else []
        return own + [lcore for value in found.values() for lcore in lcores_of(value)]
    return (
        [lcore for value in found for lcore in lcores_of(value)] if isinstance(found, list) else []
    )


def test_a_trial_on_a_mapped_cpu(mapped):
    """CPU N is lcore 0 of EAL, which other CPUs are not: the JSON names N, and only N."""
    run = mapped.run(
        "perf", "-v", "--json", "ring:ids", "-m", f"{CPU}.0", "-r", "100kpps", "--duration", "0.3s"
    )
    assert f"),0@{CPU} --main-lcore 127 " in run.err
    document = run.document
    assert set(lcores_of(document)) == {CPU}
    [figures] = document["ports"]
    assert figures["tx_frames"] > 0
    assert figures["rx_frames"] > 0
    assert "wirerate: error" not in run.err
    if not document["verdict"]["valid"]:
        reasons = " ".join(document["verdict"]["reasons"])
        assert "lcore 0" not in reasons or CPU == 0
        pytest.skip(f"the CPU was right, but the machine is busy: {reasons}")
    assert run.code == 0


def test_what_people_read_names_the_cpu(mapped):
    """Of a worker that spins all the time, text shows rows and the CPU it took."""
    run = mapped.run(
        "forward",
        "ring:ids-a",
        "ring:ids-b",
        "-m",
        f"{CPU}.0",
        "-m",
        f"{CPU}.1",
        "--duration",
        "0.3s",
    )
    assert f"lcore {CPU} " in run.out
    assert "lcore 0 " not in run.out or CPU == 0
