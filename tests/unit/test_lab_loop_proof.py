# SPDX-License-Identifier: BSD-3-Clause
"""The lab's loops: what overran the receiver is sent again, at half the rate, twice at most."""

from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from lab.guest import loop_proof
from lab.guest.loop_proof import Loop

FRAMES = 1000


@pytest.mark.parametrize(
    ("fps", "received", "rates"),
    [
        (40e3, (FRAMES,), [40e3]),
        (40e3, (900, FRAMES), [40e3, 20e3]),
        (40e3, (900, 901, 902), [40e3, 20e3, 10e3]),
        (40e3, (FRAMES + 1,), [40e3]),
        (None, (900,), [None]),
    ],
)
def test_what_overran_the_receiver_is_sent_again(monkeypatch, tmp_path, fps, received, rates):
    capture, given, asked = tmp_path / "looped", iter(received), []

    def send(_engine, stream, _task, *, capture, frames):
        assert not capture.exists()
        assert (stream["frames"], frames) == (FRAMES, FRAMES + 1000)
        capture.touch()
        asked.append(stream["fps"])
        count = next(given)
        return SimpleNamespace(seconds=1.0, unloaded={}, word=lambda *_: count)

    monkeypatch.setattr(loop_proof, "send", send)
    ended = loop_proof._received_whole(Mock(), Loop("igb", fps, frames=FRAMES), capture)
    assert asked == rates
    assert ended.word("rx", "frames", "p1") == received[len(rates) - 1]
