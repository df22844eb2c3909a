# SPDX-License-Identifier: BSD-3-Clause
"""docs/schema: results are what it says, and it is strict enough to say something."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path

import pytest

from support.forwarders import accounted_peer
from support.made_up import (
    REPLIES,
    flow,
    flow_queue,
    port,
    ready,
    result,
    rx_queue,
    snapshot,
    tx_queue,
)
from wirerate.cli.main import parse
from wirerate.cli.run_args import settings_from_args
from wirerate.report import run_json

SCHEMA = Path(__file__).resolve().parents[2] / "docs/schema/wirerate-run-1.json"
jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed (make setup)")


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def document(*, measured=True, received=True):
    own = (flow_queue(10, 20),) if received else ()
    made = port((tx_queue(frames=3),), (rx_queue(),), flows=own)
    made = replace(made, replies=REPLIES if measured else None)
    settings = settings_from_args(parse(["run", "plan.yaml"]), 1, [1, 2])
    flows = [flow(measured=measured, rx_ports=(0,), fps=None if measured else 3.0)]
    made_result = result(ready([made], flows, settings), snapshot(made))
    made_result = replace(made_result, peer=accounted_peer() if measured else None)
    return json.loads(json.dumps(run_json.document(made_result)))


@pytest.mark.parametrize("about", [{}, {"measured": False}, {"received": False}])
def test_results_are_what_the_schema_says(validator, about):
    validator.validate(document(**about))


def test_fields_may_be_added(validator):
    made = document()
    made["later"] = made["flows"][0]["later"] = 1
    validator.validate(made)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "wirerate-run/2"),
        (("verdict", "valid"), "yes"),
        (("flows", 0, "tx_frames"), 1.5),
        (("flows", 0, "received", "lost"), -1),
        (("flows", 0, "received", "loss_ratio"), 1.01),
        (("total", "latency_ns", "floor_ns"), None),
        (("ports", 0, "rx_clock"), "sun"),
        (("ports", 0, "flow_control"), "on"),
        (("ports", 0, "device", "pause_frames"), -1),
        (("environment", "command"), "wirerate"),
        (("peer", "lost", "queues"), -1),
        (("peer", "complete"), 1),
    ],
)
def test_wrong_results_are_refused(validator, path, value):
    made = document()
    *parents, last = path
    place = made
    for key in parents:
        place = place[key]
    missing = copy.deepcopy(made)
    place[last] = value
    assert not validator.is_valid(made)
    place = missing
    for key in parents:
        place = place[key]
    del place[last]
    assert not validator.is_valid(missing)
