# SPDX-License-Identifier: BSD-3-Clause
"""Frames: any number of flows is exactly that number, at any size a valid frame."""

import math

from hypothesis import given
from hypothesis import strategies as st

from wirerate.plan.frames import FLOWS_MAX, FrameSpec, Protocol, build_frame, internet_checksum
from wirerate.plan.frames import make_stream as stream_of
from wirerate.units import FRAME_SIZE_MAX, FRAME_SIZE_MIN

specs = st.builds(
    FrameSpec,
    st.integers(FRAME_SIZE_MIN, FRAME_SIZE_MAX),
    st.sampled_from(Protocol),
    st.integers(1, FLOWS_MAX),
    st.integers(0, 65535),
)


@given(st.integers(1, FLOWS_MAX))
def test_the_period_is_the_number_of_flows(flows):
    fields = stream_of("s0", FrameSpec(flows=flows))["fields"]
    assert math.lcm(*(field["count"] for field in fields)) == flows
    # The address alone takes as many values as there are flows, so none comes twice.
    assert flows == 1 or fields[0]["count"] == flows


@given(specs)
def test_receivers_verify_the_checksums(spec):
    frame = build_frame(spec)
    assert len(frame) == spec.frame_size - 4
    assert internet_checksum(frame[14:34]) == 0
    pseudo = frame[26:34] + bytes([0, spec.protocol.value]) + (len(frame) - 34).to_bytes(2, "big")
    assert internet_checksum(pseudo + frame[34:]) == 0
