# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces and veth pairs: made, configured and removed by ip(8) and ethtool(8).

What fails is a HostSetupError that says what was wanted, and the tool's own words.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.errors import HostSetupError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAMED = Path("/run/netns")
"""Where ip(8) keeps the names."""
_NOT_THERE = "Cannot find device"
"""What ip(8) says of an interface that does not exist."""
_TIMEOUT_S = 20


def inside(namespace: str | None, command: Sequence[str]) -> list[str]:
    """The command as it runs in a namespace, whose /sys it sees too; None = this process's."""
    return [*([] if namespace is None else ["ip", "netns", "exec", namespace]), *command]


def run_tool(what: str, command: Sequence[str]) -> str:
    """What the command printed. Raises HostSetupError, which begins with ``what`` was wanted."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
            start_new_session=True,  # Ctrl-C is for this process, which is perhaps tidying up
        )
    except FileNotFoundError as error:
        text = f"{what}: {error.filename} is not installed; apt-get install iproute2 ethtool"
        raise HostSetupError(text) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostSetupError(f"{what}: {error}") from error
    if done.returncode != 0:
        said = " ".join((done.stderr.strip() or done.stdout.strip()).split())
        raise HostSetupError(f"{what}: {said or f'{command[0]} exited with {done.returncode}'}")
    return done.stdout


def _ip(what: str, namespace: str | None, *words: str) -> None:
    run_tool(what, ["ip", *([] if namespace is None else ["-n", namespace]), *words])


def namespaces() -> list[str]:
    """All that have a name."""
    try:
        return sorted(path.name for path in NAMED.iterdir())
    except OSError:
        return []  # ip(8) makes the folder with the first of them


def add_namespace(name: str) -> None:
    """Make an empty one."""
    _ip(f"namespace {name} cannot be made", None, "netns", "add", name)


def remove_namespace(name: str) -> None:
    """End what runs in it and remove it, with the virtual interfaces that are in it."""
    for pid in _processes(name):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _ip(f"namespace {name} cannot be removed", None, "netns", "delete", name)


def _processes(name: str) -> list[int]:
    """Those in a namespace."""
    command = ["ip", "netns", "pids", name]
    return [int(word) for word in run_tool(f"namespace {name}", command).split()]


def add_veth(near: tuple[str | None, str], far: tuple[str | None, str]) -> None:
    """Make a pair of interfaces; an end is (namespace, name)."""

    def words(namespace: str | None, name: str) -> list[str]:
        return [name, *([] if namespace is None else ["netns", namespace])]

    what = f"veth pair {near[1]}, {far[1]} cannot be made"
    _ip(what, None, "link", "add", *words(*near), "type", "veth", "peer", "name", *words(*far))


def remove_interface(namespace: str | None, name: str) -> None:
    """Remove it, if it is still there; of a veth pair both ends go."""
    try:
        _ip(f"interface {name} cannot be removed", namespace, "link", "delete", "dev", name)
    except HostSetupError as error:
        if _NOT_THERE not in str(error):
            raise


def set_features(namespace: str | None, name: str, features: Mapping[str, bool]) -> None:
    """Switch what ethtool -K calls tx, tso, gro… on or off."""
    words = [word for key, on in features.items() for word in (key, "on" if on else "off")]
    run_tool(
        f"features of interface {name} cannot be set ({' '.join(words)})",
        inside(namespace, ["ethtool", "-K", name, *words]),
    )


def add_address(namespace: str | None, name: str, address: str) -> None:
    """Give it an address, as 198.18.0.2/24; an IPv6 one is usable at once."""
    at_once = ["nodad"] if ":" in address else []
    what = f"interface {name} cannot have the address {address}"
    _ip(what, namespace, "address", "add", address, "dev", name, *at_once)


def set_up(namespace: str | None, name: str) -> None:
    """Bring it up."""
    _ip(f"interface {name} cannot be set up", namespace, "link", "set", "dev", name, "up")


def silence(namespace: str | None, name: str) -> None:
    """The kernel says and answers nothing on it: an engine has it."""
    path = f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6"
    # The shell opens the file when it is in the namespace already: which one is seen depends on it.
    command = ["sh", "-c", f"[ ! -e {path} ] || echo 1 >{path}"]
    run_tool(f"IPv6 of interface {name} cannot be switched off", inside(namespace, command))
    what = f"ARP of interface {name} cannot be switched off"
    _ip(what, namespace, "link", "set", "dev", name, "arp", "off")
