# SPDX-License-Identifier: BSD-3-Clause
"""What one trial is, all of it drawn from its seed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

ENGINE_FAULTS = (
    "none",
    "starved",
    "control starved",
    "engine stopped",
    "engine killed",
    "killed at the end",
    "interrupted",
)
"""What can happen to any run."""
FRAME_FAULTS = (
    "dropped",
    "copied",
    "reordered",
    "damaged",
    "forged sequence",
    "forged future",
    "forged stale",
    "delayed",
)
"""What the relay does to frames."""
PEER_FAULTS = ("peer stopped", "peer killed", "peer restarted", "flooded")
_WIRES = ("af_packet", "af_xdp", "tap", "memif")
_MEASURING = ("run", "perf")
SCENES: tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    (_MEASURING, _WIRES, (*ENGINE_FAULTS, *FRAME_FAULTS, *PEER_FAULTS)),
    (_MEASURING, ("af_packet", "af_xdp"), ("link down",)),
    (("run",), ("af_packet",), ("two ports",)),
    (("run",), ("memif",), ("copied late",)),
    (_MEASURING, ("ring", "null"), ENGINE_FAULTS),
    (("replay",), ("af_packet", "null", "pcap"), ENGINE_FAULTS),
    (("run", "replay"), ("pcap",), (*ENGINE_FAULTS, "full disk")),
    (("forward", "reflect"), ("af_packet",), (*ENGINE_FAULTS, "link down", "flooded")),
)
"""Commands, kinds of port, and the faults that each pair of these can have."""
FAULTS = tuple(dict.fromkeys(fault for _, _, faults in SCENES for fault in faults))


@dataclass(frozen=True)
class Flow:
    """A flow of a plan; ``pps`` None: as fast as the device takes them (perf and replay)."""

    size: int
    frames: int
    pps: int | None
    measured: bool = True


@dataclass(frozen=True)
class Trial:
    """A run of the program, and what is done to it.

    ``at_s`` and ``for_s``: when the fault begins after the start of the traffic, and for how long.
    ``busy``: how many other programs want the CPU of a starved thread. ``impair``: options of a
    forwarder. ``cpu`` is that of the worker.
    """

    seed: int
    command: str
    port: str
    fault: str
    flows: tuple[Flow, ...]
    cpu_saver: bool
    at_s: float
    for_s: float
    busy: int
    share: float
    impair: tuple[str, ...] = ()
    delay_ns: int = 0

    @property
    def title(self) -> str:
        """In a few words."""
        saver = " --cpu-saver" if self.cpu_saver else ""
        return f"{self.command}{saver} {self.port}, {self.fault}"

    @property
    def seconds(self) -> float:
        """How long its flows take, if they have a rate."""
        return max((one.frames / one.pps for one in self.flows if one.pps), default=0.3)


def draw(seed: int, fault: str | None = None) -> Trial:
    """The trial of a seed; with a fault if one is asked for."""
    dice = random.Random(seed)
    drawn = dice.choice(FAULTS)
    fault = fault or drawn
    scenes = [
        (command, port)
        for commands, ports, faults in SCENES
        if fault in faults
        for command in commands
        for port in ports
    ]
    command, port = dice.choice(scenes)
    flows = _flows(dice, command, port, fault)
    paced = all(flow.pps for flow in flows)
    stopping = fault in {"engine stopped", "peer stopped"}
    return Trial(
        seed=seed,
        command=command,
        port=port,
        fault=fault,
        flows=flows,
        cpu_saver=dice.random() < 0.3 and (paced or command in {"forward", "reflect"}),
        at_s=dice.uniform(0.02, 0.12),
        for_s=dice.uniform(0.015, 0.06) if stopping else dice.uniform(0.05, 0.3),
        busy=dice.randint(1, 3),
        share=dice.choice((0.002, 0.02, 0.2)),
        impair=_impairments(dice) if command in {"forward", "reflect"} else (),
        delay_ns=dice.randint(10, 60) * 1_000_000 if fault == "delayed" else 0,
    )


def _flows(dice: random.Random, command: str, port: str, fault: str) -> tuple[Flow, ...]:
    if fault == "copied late":
        return (Flow(dice.choice((64, 128)), 70_000, 60_000),)
    seconds = dice.uniform(0.25, 0.6)
    unpaced = {"perf": 0.3, "replay": 0.5}.get(command, 0) > dice.random()
    count = dice.randint(1, 3) if command == "run" else 1
    fast = {"ring": 400_000, "null": 400_000, "pcap": 100_000}.get(port, 12_000)
    made = []
    for _ in range(count):
        pps = dice.randint(fast // 10, fast) // count
        frames = int(pps * seconds)
        if unpaced:  # relays are slow
            frames = 3000 if port in _WIRES else dice.randint(1_000_000, 4_000_000)
        if port == "pcap":
            frames = min(frames, 60_000)
        measured = command in _MEASURING and port not in {"null", "pcap"} and dice.random() < 0.9
        made.append(
            Flow(
                size=dice.choice((64, 65, 128, 300, 1024, 1518)),
                frames=frames,
                pps=None if unpaced else pps,
                measured=measured or fault in FRAME_FAULTS or fault == "two ports",
            )
        )
    return tuple(made)


def _impairments(dice: random.Random) -> tuple[str, ...]:
    words: list[str] = []
    for option, values in (
        ("--drop", ("1%", "10%")),
        ("--duplicate", ("1%", "5%")),
        ("--delay", ("1ms", "20ms")),
    ):
        if dice.random() < 0.4:
            words += [option, dice.choice(values)]
    return tuple(words)


def plan_of(trial: Trial, locations: tuple[str, ...]) -> dict[str, Any]:
    """The plan of `run`: flow i goes to UDP port 5000 + i."""
    names = [f"p{at}" for at in range(len(locations))]
    receivers = names[1:] or names
    return {
        "ports": [
            {"name": name, "location": location}
            for name, location in zip(names, locations, strict=True)
        ],
        "flows": [
            {
                "name": f"f{at}",
                "tx_rx": {"port": {"tx_name": names[0], "rx_names": receivers}},
                "packet": [
                    {"ethernet": {"dst": {"value": "02:57:52:00:00:02"}}},
                    {"ipv4": {"src": {"value": "198.18.0.1"}, "dst": {"value": "198.19.0.1"}}},
                    {"udp": {"dst_port": {"value": 5000 + at}}},
                ],
                "size": {"fixed": flow.size},
                "rate": {"pps": flow.pps},
                "duration": {"fixed_packets": {"packets": flow.frames}},
                "metrics": {"enable": flow.measured},
            }
            for at, flow in enumerate(trial.flows)
        ],
    }
