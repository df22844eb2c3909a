# SPDX-License-Identifier: BSD-3-Clause
"""The lab's pings: one try of three may be late, a loss in each is a failure."""

import pytest

from lab.guest import transfer
from lab.guest.guest import Guest
from lab.machine import Machine


@pytest.mark.parametrize(
    ("answers", "failed", "asked"),
    [((5,), 0, 1), ((4, 5), 0, 2), ((-1, 4, 5), 0, 3), ((4, 4, 4), 1, 3), ((0, 0, 4), 1, 3)],
)
def test_a_late_try_is_repeated(monkeypatch, answers, failed, asked):
    given = iter(answers)
    monkeypatch.setattr(transfer, "ping", lambda *_: next(given))
    guest = Guest(Machine(nics=()))
    transfer.check_pings(guest, "bridge", "", "198.18.0.1")
    assert (guest.checks.made, guest.checks.failed) == (1, failed)
    assert len(answers) - len(list(given)) == asked
