#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Mutate plans at random and read them: every outcome but a Plan or a PlanError is a bug.

Usage: fuzz_plan.py SECONDS [SEED]. Structure is mutated (keys and values deleted, doubled, renamed,
replaced by nasty ones), then text (octets changed, cut, copied). A document that is neither read
nor refused properly is kept as fuzz-plan-crash.yaml in the working directory; the exit code is 1.
"""

from __future__ import annotations

import copy
import json
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from wirerate.errors import PlanError
from wirerate.plan.decode import decode_plan
from wirerate.plan.document import dump_document, load_document

CRASH = Path("fuzz-plan-crash.yaml")
SLOW_S = 5.0
"""A document of this size that takes longer than this is a bug too."""

_MAC = "02:00:00:00:00:01"
_STACKS: list[list[dict[str, Any]]] = [
    [
        {"ethernet": {"src": {"value": _MAC}, "dst": {"values": [_MAC, "10:11:22:33:44:55"]}}},
        {"vlan": {"id": {"increment": {"start": 1, "step": 1, "count": 4094}}}},
        {"ipv4": {"src": {"increment": {"start": "10.0.0.1", "step": "0.0.0.1", "count": 9}}}},
        {"udp": {"src_port": {"random": {"min": 1, "max": 9, "seed": 1, "count": 5}}}},
    ],
    [
        {"choice": "ethernet", "ethernet": {"ether_type": {"choice": "auto"}}},
        {"ipv6": {"src": {"value": "2001:db8::1"}, "flow_label": {"decrement": {"count": 3}}}},
        {"tcp": {"ctl_syn": {"value": 1}, "checksum": {"generated": "bad"}}},
    ],
    [
        {"ethernet": {}},
        {"mpls": {"label": {"value": 16}}},
        {"ipv4": {"priority": {"dscp": {"phb": {"value": 46}}}, "header_checksum": {"custom": 1}}},
        {"gre": {}},
        {"ipv4": {"options": [{"choice": "router_alert"}]}},
        {"icmp": {"echo": {"identifier": {"value": 1}}}},
        {"custom": {"bytes": "00ff"}},
    ],
    [
        {"ethernet": {}},
        {"ipv4": {}},
        {"udp": {"dst_port": {"value": "4789"}}},
        {"vxlan": {"vni": {"value": 5}}},
        {"ethernet": {}},
        {"arp": {"sender_hardware_addr": {"value": _MAC}}},
    ],
    [{"ethernet": {}}, {"ipv6": {}}, {"icmpv6": {"echo": {}}}],
]
_SIZES: list[dict[str, Any]] = [
    {"choice": "fixed", "fixed": 128},
    {"increment": {"start": 64, "end": 1518, "step": 100}},
    {"random": {"min": 64, "max": 256}},
    {"weight_pairs": {"predefined": "imix"}},
    {"weight_pairs": {"custom": [{"size": 64, "weight": 58.67}, {"size": 1518, "weight": 1}]}},
]
_RATES: list[dict[str, Any]] = [{"pps": "1000"}, {"percentage": 12.5}, {"mbps": 100}, {"gbps": 1}]
_DURATIONS: list[dict[str, Any]] = [
    {"continuous": {"delay": {"microseconds": 1.5}}},
    {"fixed_packets": {"packets": 7, "gap": 12, "delay": {"bytes": 64}}},
    {"fixed_seconds": {"seconds": 0.5}},
    {"burst": {"bursts": 3, "packets": 5, "inter_burst_gap": {"nanoseconds": 1000}}},
]
_PAYLOADS: list[dict[str, Any]] = [
    {"fixed": {"pattern": "c0ffee", "repeat": False}},
    {"choice": "increment_word"},
]
_TRACE = {
    "file": "a.pcap",
    "speed": 2.5,
    "strict": True,
    "overwrite": [{"offset": 6, "octets": _MAC}],
}


def _pick(choices: list[dict[str, Any]], index: int) -> dict[str, Any]:
    return choices[index % len(choices)]


def _flow(index: int) -> dict[str, Any]:
    return {
        "name": f"f{index}",
        "tx_rx": {"port": {"tx_name": "a", "rx_names": ["b"]}},
        "packet": _STACKS[index],
        "size": _pick(_SIZES, index),
        "rate": _pick(_RATES, index),
        "duration": _pick(_DURATIONS, index),
        "payload": _pick(_PAYLOADS, index),
        "metrics": {"enable": True, "latency": {"enable": False}},
    }


def _plan(flow: dict[str, Any]) -> dict[str, Any]:
    return {
        "ports": [{"name": "a", "location": "null:a"}, {"name": "b", "location": "0000:03:00.0"}],
        "layer1": [{"name": "l", "port_names": ["a"], "speed": "speed_10_gbps", "mtu": 9000}],
        "options": {"port_options": {"location_preemption": False}},
        "flows": [flow],
    }


def _host(name: str, port: str, address: str, gateway: dict[str, Any]) -> dict[str, Any]:
    ip = {"name": f"{name}.ip", "address": address, "gateway": "10.0.0.254", "gateway_mac": gateway}
    interface = {
        "name": f"{name}.eth",
        "connection": {"port_name": port},
        "mac": _MAC,
        "mtu": 9000,
        "vlans": [{"name": f"{name}.vlan", "id": 5, "priority": 1, "tpid": "x88A8"}],
        "ipv4_addresses": [{**ip, "prefix": 25}],
        "ipv6_addresses": [{"name": f"{name}.6", "address": "fd00::2", "gateway": "fe80::1"}],
    }
    return {"name": name, "ethernets": [interface]}


_MASKED = {"value": "0a00", "mask": "ff00", "negate": True}
_DEVICES: dict[str, Any] = {
    "devices": [
        _host("d1", "a", "10.0.0.1", {"choice": "auto"}),
        _host("d2", "b", "10.0.0.130", {"value": _MAC}),
    ],
    "captures": [
        {
            "name": "c",
            "port_names": ["a", "b"],
            "filters": [
                {"ethernet": {"ether_type": _MASKED}},
                {"vlan": {"id": {"value": "5"}}},
                {"ipv4": {"identification": _MASKED}},
                {"custom": {"offset": 3, "bit_length": 16, **_MASKED}},
            ],
            "packet_size": 64,
            "overwrite": False,
            "format": "pcapng",
        },
        {"name": "d", "port_names": ["b"], "filters": [{"ipv6": {"flow_label": _MASKED}}]},
    ],
}
_DEVICE_FLOW = {
    "name": "d",
    "tx_rx": {"device": {"mode": "one_to_one", "tx_names": ["d1"], "rx_names": ["d2.ip"]}},
    "packet": [{"ethernet": {}}, {"ipv4": {}}, {"udp": {}}],
    "size": {"fixed": 128},
}

SEEDS: list[dict[str, Any]] = [
    *(_plan(_flow(index)) for index in range(len(_STACKS))),
    _plan({"name": "t", "tx_rx": {"port": {"tx_name": "a"}}, "x-wirerate": {"trace": _TRACE}}),
    _plan(_DEVICE_FLOW) | _DEVICES,
]
"""Valid plans, one for each of the stacks, one for a trace and one for devices and captures."""

NASTY: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    64,
    65536,
    2**32,
    2**64,
    -(2**63) - 1,
    10**30,
    0.0,
    -0.5,
    1e-300,
    1e300,
    58.67,
    "",
    " ",
    "\n",
    "\0",
    "é" * 300,
    "1000",
    "-1",
    "0x10",
    "nan",
    "1e999",
    "9" * 5000,
    "a",
    "auto",
    "ipv4",
    "::",
    "::1%lo",
    "1.2.3.4",
    "255.255.255.256",
    "02:00:00:00:00:0g",
    "generated",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"choice": "value"},
    {"value": []},
    {"values": [1, "a", None]},
    {"increment": {}},
    {"increment": {"start": 0, "step": 0, "count": 0}},
    {"random": {"min": 9, "max": 1}},
    {"choice": "fixed", "random": {}},
]
_SPLICES = ["{", "}", "[", "]", ":", "- ", "&a ", "*a ", "!!str ", "? ", "'", '"', "\t", "\0"]


def containers_of(document: Any) -> list[Any]:
    """Return all objects and lists of a document that hold something."""
    found, rest = [], [document]
    while rest:
        value = rest.pop()
        if isinstance(value, (dict, list)) and value:
            found.append(value)
            rest.extend(value.values() if isinstance(value, dict) else value)
    return found


NAMES = sorted(
    {name for value in containers_of(SEEDS) if isinstance(value, dict) for name in value}
    | {"", "no such key", "k" * 500, "choice", "value", "values", "increment", "random"}
)
"""Keys of the language, and some that are not."""


def mutate(document: dict[str, Any], rng: random.Random, changes: int) -> None:
    """Change a document in some places."""
    for _ in range(changes):
        # Mostly in the flows, where most of the language is.
        where = document.get("flows") if rng.random() < 0.85 else document
        containers = containers_of(where) or containers_of(document)
        if not containers:
            return
        container = rng.choice(containers)
        keys = list(container) if isinstance(container, dict) else range(len(container))
        key = rng.choice(keys)
        action = rng.randrange(5)
        if action == 0:
            del container[key]
        elif action == 1:
            _rename_or_double(container, key, rng)
        elif action == 2:
            container[key] = copy.deepcopy(rng.choice(rng.choice(SEEDS)["flows"]))
        elif action == 3:
            container[key] = [container[key]] if rng.random() < 0.5 else {"value": container[key]}
        else:
            container[key] = copy.deepcopy(rng.choice(NASTY))


def _rename_or_double(container: Any, key: Any, rng: random.Random) -> None:
    if isinstance(container, list):
        container.append(copy.deepcopy(container[key]))
        return
    container[rng.choice(NAMES)] = container.pop(key)


def mutate_text(text: str, rng: random.Random) -> bytes:
    """Change a text in a place or two: an octet, a cut, a copy, a piece of YAML."""
    data = bytearray(text.encode())
    for _ in range(rng.randrange(3)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.randrange(1, 40))
        action = rng.randrange(4)
        if action == 0 and start < len(data):
            data[start] = rng.randrange(256)
        elif action == 1:
            del data[start:end]
        elif action == 2:
            data[start:start] = data[start:end]
        else:
            data[start:start] = rng.choice(_SPLICES).encode()
    return bytes(data)


def make_input(rng: random.Random) -> bytes:
    """Return the octets of a damaged plan, in YAML or JSON."""
    document = copy.deepcopy(rng.choice(SEEDS))
    mutate(document, rng, rng.randrange(5))
    text = dump_document(document) if rng.random() < 0.2 else json.dumps(document)
    return mutate_text(text, rng) if rng.random() < 0.3 else text.encode()


def survives(path: Path) -> bool:
    """Read the plan at a path; tell whether that went as it must."""
    started = time.monotonic()
    try:
        decode_plan(load_document(path))
    except PlanError as error:
        if not str(error).isprintable():
            print(f"not one line: {str(error)!r}", file=sys.stderr)
            return False
    except Exception:  # noqa: BLE001 -- whatever else is what we look for
        traceback.print_exc()
        return False
    if time.monotonic() - started > SLOW_S:
        print(f"took longer than {SLOW_S} s", file=sys.stderr)
        return False
    return True


def main(arguments: list[str]) -> int:
    """Run for the given time; return 1 when something was found."""
    if len(arguments) not in {1, 2}:
        print(__doc__, file=sys.stderr)
        return 2
    seconds = float(arguments[0])
    seed = int(arguments[1]) if len(arguments) == 2 else random.SystemRandom().getrandbits(32)
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    inputs = 0
    with tempfile.NamedTemporaryFile() as file:
        while time.monotonic() < end:
            data = make_input(rng)
            file.seek(0)
            file.truncate()
            file.write(data)
            file.flush()
            inputs += 1
            if not survives(Path(file.name)):
                CRASH.write_bytes(data)
                print(f"plan: input {inputs} of seed {seed} is kept as {CRASH}", file=sys.stderr)
                return 1
    print(f"plan: {inputs:,} inputs in {seconds:g} s, seed {seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
