# SPDX-License-Identifier: BSD-3-Clause
"""The doctor's line on the frequency of the TSC, of what the engine says and does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirerate.host.clock import probe_tsc

CALIBRATED = '{"tsc_hz": 2596125890, "bound_ppm": 0.412, "dpdk_tsc_hz": 2600000000}'


@pytest.mark.parametrize(
    ("output", "code", "level", "says"),
    [
        (CALIBRATED, 0, "ok", "TSC 2,596,125,890 Hz by the kernel's raw clock (within 0.41 ppm)"),
        (CALIBRATED, 0, "ok", "DPDK has 2,600,000,000 Hz: +1,492.3 ppm"),
        ("EAL: a line\n" + CALIBRATED, 0, "ok", "2,596,125,890 Hz"),
        (CALIBRATED.replace("0.412", "80.5"), 0, "warning", "(within 80 ppm)"),
        ("EAL: Cannot init\n", 1, "warning", "--clock said: EAL: Cannot init"),
        ("", 0, "warning", "--clock said: no output"),
        ("{}", 0, "warning", "not measured"),
        ('{"tsc_hz": 0, "bound_ppm": 1, "dpdk_tsc_hz": 1}', 0, "warning", "not measured"),
    ],
)
def test_the_frequency_of_the_tsc(output, code, level, says):
    [finding] = probe_tsc(Path("/opt/wirerate-engine"), lambda _: (code, output))
    assert finding.level == level
    assert says in finding.text
