# SPDX-License-Identifier: BSD-3-Clause
"""Where a port is: one text grammar for flags, plans and the API.

As in docs/design/0002-engine-interface.md:
``0000:03:00.0[,devargs]`` · ``ring:NAME`` · ``null:NAME`` · ``memif:SOCKET[,devargs]`` ·
``vhost:SOCKET[,devargs]`` · ``virtio-user:SOCKET[,devargs]`` ·
``virtio-user:/dev/vhost-net,iface=NAME[,devargs]`` · ``tap:IFNAME`` ·
``af_packet:IFNAME[,framecnt=N]`` · ``af_xdp:IFNAME[,devargs]`` · ``kni:NAME`` · ``pcap:IN,OUT`` ·
``vdev:ANY_DPDK_VDEV_ARGS``.
This module checks the text; whether the device is there, and what it can do, is the engine's to
say.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from enum import Enum

from wirerate.errors import PlanError


class LocationKind(Enum):
    """The kinds; the value is the scheme before the colon, except for PCI, which has none."""

    PCI = "pci"
    RING = "ring"
    NULL = "null"
    MEMIF = "memif"
    VHOST = "vhost"
    VIRTIO_USER = "virtio-user"
    TAP = "tap"
    AF_PACKET = "af_packet"
    AF_XDP = "af_xdp"
    KNI = "kni"
    PCAP = "pcap"
    VDEV = "vdev"


MIXING = frozenset({LocationKind.RING, LocationKind.VDEV})
"""What these receive may be of any pool: a ring gives back what was sent, of a vdev none knows."""


_FORMS = {
    LocationKind.PCI: "0000:03:00.0[,devargs]",
    LocationKind.RING: "ring:NAME",
    LocationKind.NULL: "null:NAME",
    LocationKind.MEMIF: "memif:SOCKET[,devargs]",
    LocationKind.VHOST: "vhost:SOCKET[,devargs]",
    LocationKind.VIRTIO_USER: "virtio-user:SOCKET[,devargs]",
    LocationKind.TAP: "tap:IFNAME",
    LocationKind.AF_PACKET: "af_packet:IFNAME[,framecnt=N]",
    LocationKind.AF_XDP: "af_xdp:IFNAME[,devargs]",
    LocationKind.KNI: "kni:NAME",
    LocationKind.PCAP: "pcap:IN,OUT",
    LocationKind.VDEV: "vdev:ANY_DPDK_VDEV_ARGS",
}
VHOST_NET = "/dev/vhost-net"
"""What a virtio-user connects to, instead of a socket, where its other end is the kernel."""
_VHOST_NET_FORM = f"virtio-user:{VHOST_NET},iface=NAME[,devargs]"
_NAMED = {LocationKind.RING, LocationKind.NULL}
_SOCKETS = {LocationKind.MEMIF, LocationKind.VHOST, LocationKind.VIRTIO_USER}
_INTERFACES = {LocationKind.TAP, LocationKind.AF_PACKET, LocationKind.AF_XDP, LocationKind.KNI}
_WITH_DEVARGS = {*_SOCKETS, LocationKind.AF_PACKET, LocationKind.AF_XDP}
_BY_SCHEME = {kind.value: kind for kind in LocationKind if kind is not LocationKind.PCI}

_PCI = re.compile(
    r"(?:(?P<domain>[0-9a-f]{4,8}):)?(?P<bus>[0-9a-f]{2}):"
    r"(?P<device>[01][0-9a-f])\.(?P<function>[0-7])",
    re.IGNORECASE,
)
_LIKE_PCI = re.compile(
    r"[0-9a-f]{1,8}(?::[0-9a-f]{1,4})+(?:\.[0-9a-f]+)?|[0-9a-f]{1,4}:[0-9a-f.]*",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_INTERFACE_OCTETS_MAX = 15  # IFNAMSIZ - 1
_SOCKET_OCTETS_MAX = 107  # sun_path - 1
_NAME_OCTETS_MAX = 20  # what RTE_RING_NAMESIZE leaves after the prefixes of net_ring
_FRAMECNT = re.compile(r"framecnt=([1-9][0-9]{0,5})")
FRAMECNT_MAX = 65_536
"""Of 2 KiB each, in both directions of every queue (engine/device/location.c)."""
# EAL chooses a vdev's driver by the start of its name; eth_ are the older aliases.
_LISTENERS = {
    "net_vhost": (LocationKind.VHOST, "iface"),
    "eth_vhost": (LocationKind.VHOST, "iface"),
    "net_virtio_user": (LocationKind.VIRTIO_USER, "path"),
    "virtio_user": (LocationKind.VIRTIO_USER, "path"),
    "net_memif": (LocationKind.MEMIF, "socket"),
}
"""Drivers that may listen: what they are, and the devarg that names the socket."""
_VDEVS_OF_VHOST = ("net_virtio_user", "virtio_user", "net_vhost", "eth_vhost")


@dataclass(frozen=True)
class Location:
    """A checked location. ``text`` is what the engine gets.

    ``value`` is the PCI address (with domain, lower case), name, socket, interface, ``IN,OUT`` or
    vdev arguments; ``devargs`` is what follows the first comma, where the kind takes any, else
    empty.
    """

    kind: LocationKind
    value: str
    devargs: str = ""

    @property
    def text(self) -> str:
        """The location in one grammar with the engine: what `parse_location` reads back."""
        scheme = "" if self.kind is LocationKind.PCI else f"{self.kind.value}:"
        return f"{scheme}{self.value}{',' if self.devargs else ''}{self.devargs}"

    def __str__(self) -> str:
        """Return ``text``."""
        return self.text

    @property
    def interface(self) -> str:
        """The interface of the kernel that is its other end, empty where there is none."""
        if self.kind in _INTERFACES:
            return self.value
        if self.kind is LocationKind.VIRTIO_USER and self.value == VHOST_NET:
            return _devarg(self.devargs, "iface")
        return ""

    @property
    def kernel_device(self) -> tuple[str, str] | None:
        """The character device by which it makes that interface, and the module that has it."""
        if self.kind is LocationKind.KNI:
            return "/dev/kni", "rte_kni"
        return (VHOST_NET, "vhost_net") if self.value == VHOST_NET and self.interface else None

    @property
    def listens_at(self) -> str:
        """The file where it makes a socket for its peer to connect to; empty where it makes none.

        DPDK's defaults: net_vhost listens unless ``client=1``, net_virtio_user with ``server=1``,
        net_memif with ``role=server``.
        """
        kind, value, devargs = self.kind, self.value, self.devargs
        if kind is LocationKind.VDEV:
            name, _, devargs = value.partition(",")
            known = [driver for driver in _LISTENERS if name.startswith(driver)]
            if not known:
                return ""
            kind, key = _LISTENERS[known[0]]
            value = _devarg(devargs, key)
        if _devarg(devargs, "socket-abstract") == "yes":
            return ""
        listens = {
            LocationKind.VHOST: _devarg(devargs, "client") != "1",
            LocationKind.VIRTIO_USER: _devarg(devargs, "server") == "1",
            LocationKind.MEMIF: _devarg(devargs, "role") in {"server", "master"},
        }
        return value if listens.get(kind, False) else ""

    @property
    def needs_pci(self) -> bool:
        """EAL must scan the PCI bus and be allowed this device (``-a``)."""
        return self.kind is LocationKind.PCI

    @property
    def needs_single_file_segments(self) -> bool:
        """EAL wants ``--single-file-segments``: vhost hands over few descriptors."""
        if self.kind is LocationKind.VDEV:
            return self.value.startswith(_VDEVS_OF_VHOST)
        return self.kind in {LocationKind.VIRTIO_USER, LocationKind.VHOST}


def parse_location(text: str) -> Location:
    """Read a location. Raises PlanError that names the text, what is wrong and the valid forms."""
    text = text.strip()
    head, _, devargs = text.partition(",")
    pci = _PCI.fullmatch(head)
    if pci is not None:
        domain = int(pci["domain"] or "0", 16)
        address = f"{domain:04x}:{pci['bus']}:{pci['device']}.{pci['function']}"
        return Location(LocationKind.PCI, address.lower(), devargs)
    scheme, colon, rest = text.partition(":")
    kind = _BY_SCHEME.get(scheme)
    if not colon or kind is None:
        raise PlanError(_unknown(text, scheme, colon))
    if not rest.strip(" ,"):
        raise PlanError(f"location {text!r}: nothing after {scheme}:; write {_FORMS[kind]}")
    if (
        any(not letter.isprintable() or letter.isspace() for letter in rest)
        and kind is not LocationKind.PCAP
    ):
        raise PlanError(
            f"location {text!r}: blanks and control characters have no place in {_FORMS[kind]}"
        )
    return _parse_rest(text, kind, rest)


def _parse_rest(text: str, kind: LocationKind, rest: str) -> Location:
    if kind is LocationKind.VDEV:
        return Location(kind, rest)
    if kind is LocationKind.PCAP:
        return _parse_pcap(text, rest)
    value, comma, devargs = rest.partition(",")
    if comma and kind not in _WITH_DEVARGS:
        raise PlanError(
            f"location {text!r}: {kind.value} takes no arguments after a comma; write "
            f"{_FORMS[kind]}"
        )
    _check_value(text, kind, value)
    if kind is LocationKind.AF_PACKET and comma:
        _check_framecnt(text, devargs)
    location = Location(kind, value, devargs)
    if kind is LocationKind.VIRTIO_USER and value == VHOST_NET:
        if not location.interface:
            raise PlanError(
                f"location {text!r}: the kernel's name of it is missing; write {_VHOST_NET_FORM}"
            )
        _check_interface(text, location.interface)
    return location


def _check_framecnt(text: str, devargs: str) -> None:
    """Frames are two to a page, and the kernel takes whole pages."""
    found = _FRAMECNT.fullmatch(devargs)
    if found is None or int(found[1]) % 2 or int(found[1]) > FRAMECNT_MAX:
        raise PlanError(
            f"location {text!r}: after the comma stands framecnt=N, the frames that each of its "
            f"rings holds: an even number from 2 to {FRAMECNT_MAX:,}; write "
            f"{_FORMS[LocationKind.AF_PACKET]}"
        )


def _devarg(devargs: str, key: str) -> str:
    """The value of the first devarg of that name, empty where there is none."""
    words = (word.partition("=") for word in devargs.split(","))
    return next((value for name, _, value in words if name == key), "")


def _check_interface(text: str, name: str) -> None:
    too_long = len(name.encode()) > _INTERFACE_OCTETS_MAX
    if too_long or "/" in name or ":" in name or name in {".", ".."}:
        raise PlanError(
            f"location {text!r}: not an interface name: 1 to {_INTERFACE_OCTETS_MAX} octets "
            "without / and :"
        )


def _check_value(text: str, kind: LocationKind, value: str) -> None:
    octets = len(value.encode())
    if not value:
        raise PlanError(f"location {text!r}: nothing before the comma; write {_FORMS[kind]}")
    if kind in _NAMED and (_NAME.fullmatch(value) is None or octets > _NAME_OCTETS_MAX):
        raise PlanError(
            f"location {text!r}: a name has 1 to {_NAME_OCTETS_MAX} letters, digits, dots, dashes "
            "or underscores",
        )
    if kind in _INTERFACES:
        _check_interface(text, value)
    if kind is LocationKind.KNI and not value.startswith("kni"):
        raise PlanError(
            f"location {text!r}: names of DPDK's net_kni begin with kni; write kni:kni0"
        )
    if kind in _SOCKETS and octets > _SOCKET_OCTETS_MAX:
        raise PlanError(
            f"location {text!r}: a socket's path has at most {_SOCKET_OCTETS_MAX} octets, this one "
            f"{octets}; "
            "use a shorter path",
        )


def _parse_pcap(text: str, rest: str) -> Location:
    if rest.count(",") != 1:
        raise PlanError(
            f"location {text!r}: pcap takes a file to receive from and a file to send to, with one "
            "comma between "
            "them; write pcap:IN,OUT, pcap:IN, or pcap:,OUT",
        )
    if not rest.isprintable():
        raise PlanError(f"location {text!r}: control characters have no place in a file name")
    return Location(LocationKind.PCAP, rest)


def _unknown(text: str, scheme: str, colon: str) -> str:
    forms = "valid: " + ", ".join([*_FORMS.values(), _VHOST_NET_FORM])
    if not text:
        return f"a location is empty; {forms}"
    if _LIKE_PCI.fullmatch(text.partition(",")[0]):
        return (
            f"location {text!r}: not a PCI address; "
            "write 0000:03:00.0 or 03:00.0 (bus:device.function in hex)"
        )
    if not colon:
        return (
            f"location {text!r} has no kind: "
            f"is it af_packet:{text}, tap:{text} or ring:{text}? {forms}"
        )
    near = difflib.get_close_matches(scheme.lower(), _BY_SCHEME, n=1)
    hint = f" (is it {near[0]}?)" if near else ""
    return f"location {text!r}: there is no kind {scheme!r}{hint}; {forms}"
