# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces of Linux, by ip and ethtool: what is there, and features switched for a while.

All of it in this process's network namespace or in a named one.
"""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirerate.errors import HostSetupError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TIMEOUT_S = 10.0
_SETTABLE = {"generic-receive-offload": "gro", "large-receive-offload": "lro"}
"""Features without parts that have a short name only, by the name they are listed by."""


@dataclass(frozen=True)
class Feature:
    """A feature as `ethtool -k` has it. ``part`` of the one listed above it."""

    on: bool
    fixed: bool
    part: bool = False


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

    @property
    def inside(self) -> tuple[str, ...]:
        """What goes before a command that is to see it."""
        return () if self.namespace is None else ("ip", "netns", "exec", self.namespace)

    def link(self, name: str) -> Link | None:
        """An interface; None where there is none of that name. Raises HostSetupError."""
        done = self._run("ip", "-d", "-j", "address", "show")
        if done.returncode != 0:
            raise HostSetupError(f"ip address show: {_first_line(done.stderr)}")
        return next(
            (_link(entry) for entry in json.loads(done.stdout) if entry.get("ifname") == name),
            None,
        )

    def rx_queues(self, name: str) -> int:
        """How many Rx queues an interface has; 0 where that is not told."""
        done = self._run("ls", f"/sys/class/net/{name}/queues")
        return sum(entry.startswith("rx-") for entry in done.stdout.split())

    def features(self, name: str) -> dict[str, Feature]:
        """The features of an interface, by ethtool's names. Raises HostSetupError."""
        done = self._run("ethtool", "-k", name)
        if done.returncode != 0:
            raise HostSetupError(f"ethtool -k {name}: {_first_line(done.stderr)}")
        return parse_features(done.stdout)

    def switch(self, name: str, wanted: Mapping[str, bool]) -> None:
        """Switch features; one that the device does not let go stays as it is."""
        for feature, on in wanted.items():
            self._run("ethtool", "-K", name, feature, _word(on))

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [*self.inside, *words]
        try:
            return subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                timeout=_TIMEOUT_S,
                start_new_session=True,  # Ctrl-C is this process's, which puts back what it set
            )
        except FileNotFoundError as error:
            raise HostSetupError(
                f"{error.filename} is not installed; apt-get install iproute2 ethtool"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise HostSetupError(f"{' '.join(command)}: no answer in {_TIMEOUT_S:.0f} s") from error

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
        words = [word for feature, on in back.items() for word in (feature, _word(on))]
        if words:
            self._run("ethtool", "-K", name, *words)


def changes(now: Mapping[str, Feature], before: Mapping[str, Feature]) -> dict[str, bool]:
    """What to switch so that an interface is as it was."""
    return {
        _SETTABLE.get(name, name): was.on
        for name, was in before.items()
        if (was.part or name in _SETTABLE) and name in now and now[name].on != was.on
    }


def parse_features(text: str) -> dict[str, Feature]:
    """What `ethtool -k` printed."""
    found = {}
    for line in text.splitlines()[1:]:
        name, colon, state = line.partition(":")
        if colon and state.split():
            on = state.split()[0] == "on"
            found[name.strip()] = Feature(on, "[fixed]" in state, line[:1].isspace())
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


def _word(on: bool) -> str:  # noqa: FBT001 -- a state, not an option
    return "on" if on else "off"


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0] if lines else "it failed and said nothing"
