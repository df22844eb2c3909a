# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate rss --check` as a user runs it, and the engine's hash against the package's.

No device of a host without NICs spreads frames by a hash it tells (docs/rss.md), so that here the
settings and the refusals are tried; the lab's job `rss` has igb.
"""

from __future__ import annotations

import random
import re

import pytest

from wirerate.engine.eal import Memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.plan.rss_hash import toeplitz

NULL = ("rss", "--check", "null:a", "null:b", "-q", "4", "--flows", "4")


def test_what_a_device_has_is_read_back(program):
    done = program.run(*NULL, "--reta", "3,2", "--fields", "ipv4,ipv6-udp", "--steer", "--json")
    result = done.document
    assert (done.code, result["schema"]) == (1, "wirerate-rss-check/1")
    rss = result["receiver"]["rss"]
    assert rss["reta"] == [3, 2] * 64
    assert set(rss["fields"]) == {"ipv4", "ipv6-udp"}
    assert re.fullmatch("[0-9a-f]{80}", rss["key"])
    assert result["lost"] == 4  # net_null delivers nothing
    assert sum(queue["predicted"] for queue in result["queues"]) == 4
    assert [one["outcome"] for one in result["steering"]] == ["refused"] * 4


def test_no_rss_is_said(program):
    done = program.run("rss", "--check", "null:a", "ring:b", "-q", "4", "--flows", "4")
    assert done.code == 1
    assert "RSS: this device has none" in done.out


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        ((*NULL, "--key", "symmetric"), 2, "the receiver: null:b (net_null) took the key"),
        (
            ("rss", "--check", "null:a", "ring:b", "-q", "4", "--reta", "1"),
            2,
            "the receiver: ring:b (net_ring) has no RSS",
        ),
        (("rss", "--check", "null:a", "ring:b", "-q", "17"), 2, "16"),
        (("rss", "--check", "null:a", "-q", "4"), 2, "rss needs two"),
    ],
)
def test_refusals(program, words, code, why):
    done = program.run(*words)
    assert (done.code, done.out) == (code, "")
    assert why in done.err
    assert done.err.count("\n") == 1


def test_the_engines_hash_is_the_packages():
    chance = random.Random(5)
    key = chance.randbytes(52)
    inputs = [chance.randbytes(size) for size in (8, 12, 32, 36) for _ in range(250)]
    memory = Memory(("--no-huge", "-m", "48"), "")
    with Engine(eal_arguments([], (), memory, ())) as engine:
        params = {"key": key.hex(), "inputs": [octets.hex() for octets in inputs]}
        hashes = engine.call("rss.hash", params)["hashes"]
    assert hashes == [toeplitz(key, octets) for octets in inputs]
