# SPDX-License-Identifier: BSD-3-Clause
"""Signals that ask for the end: exceptions, which wait where something must be whole."""

from __future__ import annotations

import signal
import threading

import pytest

from wirerate import interrupts
from wirerate.interrupts import AT_END, ENDING, Ended, ended_by_signals, signals_later


def handlers():
    return [signal.getsignal(number) for number in ENDING]


@pytest.fixture(autouse=True)
def _same_afterwards():
    before = handlers()
    yield
    assert handlers() == before
    assert not AT_END


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_an_exception_with_its_number(number):
    with pytest.raises(Ended) as raised, ended_by_signals():
        signal.raise_signal(number)
    assert raised.value.number == number
    assert isinstance(raised.value, KeyboardInterrupt), "whoever handles Ctrl-C handles it"


def test_nohup_is_heeded():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_by_signals():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def ended(block):
    """The number of the signal that ends a block."""
    try:
        with ended_by_signals():
            block()
    except Ended as end:
        return end.number
    return None


def test_a_signal_waits_for_the_end_of_a_block():
    done = []

    def block():
        with signals_later():
            signal.raise_signal(signal.SIGTERM)
            done.append("whole")
        done.append("not reached")

    assert ended(block) == signal.SIGTERM
    assert done == ["whole"]


def test_one_more_is_impatience(monkeypatch):
    called = []
    monkeypatch.setattr(interrupts, "BOUNCE_S", -1)

    def block():
        with signals_later(lambda: called.append("kill")):
            signal.raise_signal(signal.SIGTERM)
            assert called == []
            signal.raise_signal(signal.SIGINT)
            assert called == ["kill"]

    assert ended(block) == signal.SIGTERM


def test_what_was_left_open_is_closed_once():
    closed = []

    def close():
        closed.append("closed")
        AT_END.discard(close)

    def block():
        AT_END.add(close)
        signal.raise_signal(signal.SIGINT)

    assert ended(block) == signal.SIGINT
    assert closed == ["closed"]


def test_other_threads_are_left_alone():
    failed = []

    def run():
        try:
            with ended_by_signals(), signals_later():
                pass
        except ValueError as error:  # of signal.signal, in all but the main thread
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert failed == []
