# SPDX-License-Identifier: BSD-3-Clause
"""One element of OTG's ``packet`` list to a `Header`.

Headers that are a table of fields are here and in link, ip, transport and tunnel; those whose
shape depends on what they hold have a module of their own, imported when a plan has one. Called by
`wirerate.plan.decode`; pure but for the seeds of ``seed: 0``.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, cast

from wirerate.plan.headers import ip, ip_options, link, transport, tunnel
from wirerate.plan.headers.table import Layout, child_or_empty, decode_layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirerate.plan.fields import Header
    from wirerate.plan.reader import Reader

LAYOUTS: tuple[Layout, ...] = (
    link.ETHERNET,
    link.VLAN,
    link.MPLS,
    link.PPP,
    link.ARP,
    link.PFC_PAUSE,
    link.ETHERNET_PAUSE,
    ip.IPV4,
    ip.RAW,
    ip.DSCP,
    ip.TOS,
    ip_options.CUSTOM_TYPE,
    ip.IPV6,
    ip.USIDS,
    transport.UDP,
    transport.TCP,
    transport.ICMP,
    transport.ICMPV6,
    transport.IGMPV1,
    tunnel.VXLAN,
    tunnel.GRE,
    tunnel.GTPV1,
    tunnel.GTPV1_EXTENSION,
    tunnel.GTPV2,
    link.CUSTOM,
)
"""All tables, in the order of the documentation; a dotted kind is an object inside a header."""

MODULES = {
    "snmpv2c": "snmp",
    "rsvp": "rsvp",
    "macsec": "macsec",
    "lacp": "lacp",
    "ipv6_extension_header": "ipv6_extension",
    "cfm": "cfm",
}
"""Kinds of header that a table does not do, and the module whose ``decode`` does."""

_DECODERS: dict[str, Callable[[Reader], Header]] = {
    **{
        layout.kind: partial(decode_layout, layout=layout)
        for layout in LAYOUTS
        if "." not in layout.kind
    },
    "ethernet": link.decode_ethernet,
    "ipv4": ip.decode_ipv4,
    "ipv6": ip.decode_ipv6,
    "icmp": transport.decode_icmp,
    "icmpv6": transport.decode_icmpv6,
    "gtpv1": tunnel.decode_gtpv1,
    "custom": link.decode_custom,
}

KINDS: tuple[str, ...] = (*_DECODERS, *MODULES)
"""OTG's choices of a header, all of those of 1.62."""


def decode_header(reader: Reader) -> Header:
    """The header that one object of a ``packet`` list describes. Raises PlanError."""
    kind = reader.choice(KINDS, "ethernet")
    branch = child_or_empty(reader, kind)
    header = _decoder(kind)(branch)
    branch.done()
    reader.done()
    return header


def _decoder(kind: str) -> Callable[[Reader], Header]:
    decoder = _DECODERS.get(kind)
    if decoder is None:
        module = import_module(f"{__name__}.{MODULES[kind]}")
        decoder = _DECODERS[kind] = cast("Callable[[Reader], Header]", module.decode)
    return decoder
