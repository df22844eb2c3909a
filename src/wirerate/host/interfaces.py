# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces of Linux, by ip and ethtool: what is there, and features switched for a while.

All of it in this process's network namespace or in a named one.
"""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface, ip_interface
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirerate.errors import HostSetupError
from wirerate.host.namespaces import inside, run_tool, set_features

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Address = IPv4Interface | IPv6Interface
_SHORT = {
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
    "rx-checksumming": "rx",
    "rx-vlan-offload": "rxvlan",
    "tx-vlan-offload": "txvlan",
    "ntuple-filters": "ntuple",
    "receive-hashing": "rxhash",
}
"""What `ethtool -K` calls a feature that it lists by another name."""
_SUMS = frozenset(
    ("tx-checksumming", "scatter-gather", "tcp-segmentation-offload", "udp-fragmentation-offload")
)
"""What it lists above the parts that they stand for."""


@dataclass(frozen=True)
class Feature:
    """A feature as `ethtool -k` has it.

    ``wanted``: what was asked of it; it may be off all the same, for another one that is off.
    """

    on: bool
    fixed: bool = False
    wanted: bool = False


@dataclass(frozen=True)
class Link:
    """An interface.

    ``peer``: the other end of a veth pair, where it is in the same namespace; ``far_peer``: it is
    in another one. ``addresses`` of IPv4 and IPv6, without link-local ones.
    """

    name: str
    veth: bool
    peer: str = ""
    far_peer: bool = False
    addresses: tuple[str, ...] = ()


class Network:
    """A network namespace as ip and ethtool see it; ``namespace`` None = this process's."""

    def __init__(self, namespace: str | None = None) -> None:
        self.namespace = namespace

    def link(self, name: str) -> Link | None:
        """An interface; None where there is none of that name. Raises HostSetupError."""
        said = self._run("ip address show", "ip", "-d", "-j", "address", "show")
        return next(
            (_link(entry) for entry in json.loads(said) if entry.get("ifname") == name),
            None,
        )

    def addresses(self) -> list[tuple[str, Address]]:
        """Every interface that is up, with each of its addresses. Raises HostSetupError."""
        return _used_addresses(self._run("ip address show", "ip", "-j", "address", "show"))

    def rx_queues(self, name: str) -> int:
        """How many Rx queues an interface has; 0 where that is not told."""
        with suppress(HostSetupError):
            queues = self._run(f"queues of {name}", "ls", f"/sys/class/net/{name}/queues")
            return sum(queue.startswith("rx-") for queue in queues.split())
        return 0

    def features(self, name: str) -> dict[str, Feature]:
        """The features of an interface, by ethtool's names. Raises HostSetupError."""
        what = f"features of interface {name} cannot be read"
        return parse_features(self._run(what, "ethtool", "-k", name))

    def switch(self, name: str, wanted: Mapping[str, bool]) -> None:
        """Switch features; one that the device does not let go stays as it is."""
        for feature, on in wanted.items():
            with suppress(HostSetupError):
                self._set(name, {feature: on})

    def _run(self, what: str, *words: str) -> str:
        return run_tool(what, inside(self.namespace, words))

    def _set(self, name: str, features: Mapping[str, bool]) -> None:
        set_features(self.namespace, name, features)

    @contextmanager
    def switched(self, name: str, wanted: Mapping[str, bool]) -> Iterator[dict[str, Feature]]:
        """Switch features for the block, and let it have them as they are then.

        What changed, by itself or along with another, is put back at the end, unless the interface
        is gone by then.
        """
        before = self.features(name)
        try:
            self.switch(name, wanted)
            yield self.features(name)
        finally:
            self._restore(name, before)

    def _restore(self, name: str, before: Mapping[str, Feature]) -> None:
        try:
            now = self.features(name)
        except HostSetupError:
            return
        back = changes(now, before)
        if back:
            with suppress(HostSetupError):
                self._set(name, back)


def changes(now: Mapping[str, Feature], before: Mapping[str, Feature]) -> dict[str, bool]:
    """What to switch so that an interface is as it was."""
    return {
        _SHORT.get(name, name): was.wanted
        for name, was in before.items()
        if name not in _SUMS and name in now and now[name].wanted != was.wanted
    }


def parse_features(text: str) -> dict[str, Feature]:
    """What `ethtool -k` printed."""
    found = {}
    for line in text.splitlines()[1:]:
        name, colon, state = line.partition(":")
        if colon and state.split():
            on = state.split()[0] == "on"
            wanted = "[requested on]" in state if "[requested" in state else on
            found[name.strip()] = Feature(on, "[fixed]" in state, wanted)
    return found


def interfaces_of(pid: int) -> frozenset[str]:
    """The interfaces in the network namespace of a process; empty when it has ended. Cheap."""
    try:
        lines = Path(f"/proc/{pid}/net/dev").read_text(errors="replace").splitlines()
    except OSError:
        return frozenset()
    return frozenset(line.partition(":")[0].strip() for line in lines[2:])


def _link(entry: Mapping[str, Any]) -> Link:
    return Link(
        name=entry["ifname"],
        veth=entry.get("linkinfo", {}).get("info_kind") == "veth",
        peer=entry.get("link", ""),
        far_peer="link_netnsid" in entry or "link" not in entry,
        addresses=_addresses(entry.get("addr_info", ())),
    )


def _addresses(listed: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(address["local"] for address in listed if address.get("scope") != "link")


def _used_addresses(said: str) -> list[tuple[str, Address]]:
    return [
        (entry["ifname"], ip_interface(f"{address['local']}/{address['prefixlen']}"))
        for entry in json.loads(said)
        if "UP" in entry.get("flags", ())
        for address in entry.get("addr_info", ())
        if address.get("scope") != "link"
    ]
