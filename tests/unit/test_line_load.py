# SPDX-License-Identifier: BSD-3-Clause
"""Flows that share a line: what of them meets, and whether it fits."""

import pytest

from wirerate.errors import PlanError
from wirerate.plan.compile import PortFacts, compile_flow
from wirerate.plan.decode import decode_plan
from wirerate.plan.line_load import check_line_loads

LINE = 10**9
FRAME_NS = 672  # of 64 octets on that line


def percent(value):
    return {"percentage": value}


def packets(number, delay_ns=0):
    delay = {"nanoseconds": delay_ns}
    return {"fixed_packets": {"packets": number, "delay": delay}}


def seconds(number, delay_ns=0):
    return {"fixed_seconds": {"seconds": number, "delay": {"nanoseconds": delay_ns}}}


def bursts(frames, gap_ns, number=0):
    gap = {"nanoseconds": gap_ns}
    return {"burst": {"bursts": number, "packets": frames, "inter_burst_gap": gap}}


def check(*flows, line=LINE, until_ns=None):
    """Flows of (port, rate, duration) on the ports a and b."""
    ports = [{"name": name, "location": f"null:{name}"} for name in "ab"]
    parts = [
        {
            "name": f"f{n}",
            "tx_rx": {"port": {"tx_name": port}},
            "packet": [{"ethernet": {}}],
            "rate": rate,
            "duration": duration,
        }
        for n, (port, rate, duration) in enumerate(flows)
    ]
    plan = decode_plan({"ports": ports, "flows": parts})
    compiled = [
        compile_flow(flow, f"s{n}", PortFacts(0, None, line)) for n, flow in enumerate(plan.flows)
    ]
    check_line_loads(plan, compiled, [line, line], ["port a", "port b"], until_ns)


def test_two_of_60_percent():
    says = (
        r"^port a: at one time flows f0 and f2 ask for 1\.2 Gbit/s at layer 1, but its line "
        r"carries 1 Gbit/s"
    )
    with pytest.raises(PlanError, match=says):
        check(("a", percent(60), {}), ("b", percent(60), {}), ("a", percent(60), {}))


FITS = {
    "all of the line": [(percent(60), {}), (percent(40), {})],
    "thirds": [(percent(33.33333334), {})] * 3,
    "a rounded sum": [(percent(50), {}), (percent(50.00004), {})],
    "one after the other": [(percent(60), seconds(1)), (percent(60), seconds(1, 10**9))],
    "frames, then frames": [
        (percent(50), packets(10)),
        (percent(100), packets(10, 20 * FRAME_NS)),
    ],
    "the mean of bursts": [
        (percent(100), bursts(10, 10 * FRAME_NS)),
        (percent(50), {}),
    ],
    "after the last burst": [
        (percent(100), bursts(10, 10 * FRAME_NS, number=2)),
        (percent(60), seconds(1, 30 * FRAME_NS)),
    ],
    "one frame each": [(percent(90), packets(1))] * 5,
}


@pytest.mark.parametrize("flows", FITS.values(), ids=FITS.keys())
def test_what_fits(flows):
    check(*(("a", *flow) for flow in flows))


TOO_MUCH = {
    "rounded too far": ([(percent(50), {}), (percent(50.001), {})], "f0 and f1"),
    "the second meets the third": (
        [(percent(60), seconds(1)), (percent(60), seconds(1, 10**9)), (percent(60), seconds(2))],
        "f0 and f2",
    ),
    "a late one that meets nobody is not named": (
        [(percent(60), seconds(1)), (percent(50), seconds(1)), (percent(60), seconds(1, 10**9))],
        "f0 and f1",
    ),
    "the mean of bursts": ([(percent(100), bursts(10, 9 * FRAME_NS)), (percent(50), {})], "f0"),
    "before the last burst": (
        [
            (percent(100), bursts(10, 10 * FRAME_NS, number=2)),
            (percent(60), seconds(1, 28 * FRAME_NS)),
        ],
        "f0 and f1",
    ),
    "many": ([(percent(20), {})] * 9, "f0, f1, f2, f3, f4, f5 and 3 more ask"),
}


@pytest.mark.parametrize(("flows", "says"), TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_what_does_not_fit(flows, says):
    with pytest.raises(PlanError, match=says):
        check(*(("a", *flow) for flow in flows))


def test_a_run_that_ends_before_they_meet():
    flows = [("a", percent(60), {}), ("a", percent(60), seconds(1, 2 * 10**9))]
    check(*flows, until_ns=2 * 10**9)
    with pytest.raises(PlanError, match="f0 and f1"):
        check(*flows, until_ns=2 * 10**9 + 1)


def test_an_unknown_line_carries_anything():
    check(("a", {"gbps": 600}, {}), ("a", {"gbps": 600}, {}), ("a", percent(100), {}), line=None)
