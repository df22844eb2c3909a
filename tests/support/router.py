# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of a namespace as a router between two veth pairs, whose other ends are ports."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.host import run

if TYPE_CHECKING:
    from collections.abc import Iterator

SIDES = ("east", "west")


@dataclass(frozen=True)
class Router:
    """Interfaces wr-east and wr-west are in ``outside``; the router has 10.0.0.1 and fd00::1 there,
    10.0.1.1 and fd00:1::1.
    """

    outside: str
    namespace: str

    @property
    def prefix(self) -> tuple[str, ...]:
        """Goes before a command that is to see the ports."""
        return ("ip", "netns", "exec", self.outside)

    def run(self, *words: str) -> str:
        """Run a tool inside the router."""
        return run("ip", "netns", "exec", self.namespace, *words)


def _addresses(router: Router, name: str, number: int) -> None:
    router.run("ip", "addr", "add", f"10.0.{number}.1/24", "dev", name)
    six = "fd00::1/64" if number == 0 else f"fd00:{number}::1/64"
    router.run("ip", "addr", "add", six, "dev", name, "nodad")


@contextmanager
def router() -> Iterator[Router]:
    """The outside has no addresses and asks nothing: what answers there is what is tested."""
    made = Router(f"wr-{secrets.token_hex(4)}", f"wr-{secrets.token_hex(4)}")
    names = (made.outside, made.namespace)
    try:
        for name in names:
            run("ip", "netns", "add", name)
        for setting in ("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"):
            made.run("sysctl", "-qw", setting)
        for number, side in enumerate(SIDES):
            port, inner = f"wr-{side}", f"wr-r-{side}"
            peer = ("peer", "name", inner, "netns", made.namespace)
            run("ip", "-n", made.outside, "link", "add", port, "type", "veth", *peer)
            run(*made.prefix, "sysctl", "-qw", f"net.ipv6.conf.{port}.disable_ipv6=1")
            run("ip", "-n", made.outside, "link", "set", port, "arp", "off", "up")
            made.run("ip", "link", "set", inner, "up")
            _addresses(made, inner, number)
        yield made
    finally:
        for name in names:
            run("ip", "netns", "del", name)
