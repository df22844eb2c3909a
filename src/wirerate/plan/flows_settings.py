# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate flows` is asked to do: BiTester's keys as checked values, and the rest. Pure."""

from __future__ import annotations

import ipaddress
import math
import re
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NoReturn

from wirerate.errors import PlanError
from wirerate.plan.converge_settings import ConvergeTo
from wirerate.plan.decode_extension import FLOWS_MAX
from wirerate.plan.flows_conf import Given
from wirerate.plan.layout import STAMP_OCTETS
from wirerate.plan.reader import shown
from wirerate.plan.run_settings import RunSettings
from wirerate.units import (
    FCS_OCTETS,
    FRAME_SIZE_JUMBO,
    FRAME_SIZE_MIN,
    FRAME_SIZE_ORDINARY,
    Rate,
    RateKind,
    parse_rate,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.plan.location import Location

PORT_FLOWS = 65_536
"""Flows of one source address; the next have the next address."""

CPS_MAX = 1_000_000_000
DISTINCT_MAX = 1 << 24
"""Most 5-tuples that each receive queue is given room for."""

LATENCY_RATE = Rate(RateKind.FPS, 50_000.0)
"""Of latency probes: 0.05 Mpps, which is what BiTester (and about what sockperf) sends."""

DEFAULTS = {
    "src_mac": "own",
    "dst_mac": "02:57:52:01:00:00",
    "src_ip": "198.18.0.1",
    "dst_ip": "198.19.0.1",
    "src_port": "1024",
    "dst_port": "9",
    "flow_num": "1",
    "cps": "10000",
    "payload": "18",
    "mode": "0",
}
"""What a missing key means. Addresses are those of RFC 2544 appendix C.2.2, as in `perf`."""

_DEFAULT_IPV6 = {"src_ip": "2001:2::1", "dst_ip": "2001:2:0:1::1"}
"""For the other address when one is IPv6: the block for benchmarks, RFC 5180 section 8."""
_OWN = "own"
_ETHERNET_OCTETS = 14
_UDP_OCTETS = 8
_IP_OCTETS = {4: 20, 6: 40}
_MAC = re.compile(r"[0-9A-Fa-f]{1,2}([:-])[0-9A-Fa-f]{1,2}(?:\1[0-9A-Fa-f]{1,2}){4}")
_WHOLE = re.compile(r"[0-9]{1,30}")
_BARE = re.compile(r"\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Mode(IntEnum):
    """BiTester's modes; the number is that of its files."""

    THROUGHPUT = 0
    ONE_CORE = 1
    TWO_CORES = 2

    @property
    def measures(self) -> bool:
        """Every frame is stamped, for its latency."""
        return self is not Mode.THROUGHPUT

    @property
    def text(self) -> str:
        """What it is, for people."""
        return (
            "throughput",
            "latency, each core receives and sends",
            "latency, separate cores receive and send",
        )[self]


@dataclass(frozen=True)
class FlowTraffic:
    """What BiTester's keys say.

    ``src_mac`` None = the port's own. ``cps`` are flows added each second, over all cores.
    ``payload`` [octets] is that of UDP.
    """

    src_mac: str | None
    dst_mac: str
    src_ip: Address
    dst_ip: Address
    src_port: int
    dst_port: int
    flow_num: int
    cps: float
    payload: int
    mode: Mode

    @property
    def frame_size(self) -> int:
        """Octets of a frame with its FCS; never less than Ethernet's 64."""
        headers = _ETHERNET_OCTETS + _IP_OCTETS[self.src_ip.version] + _UDP_OCTETS
        return max(FRAME_SIZE_MIN, headers + self.payload + FCS_OCTETS)


@dataclass(frozen=True)
class FlowsSettings(RunSettings):
    """The settings of a run, and what `wirerate flows` was asked to send and where.

    ``rx_port`` and ``tx_port`` are places in ``locations``. ``queues`` are those that each of them
    has. ``rate`` is that of all queues together, ``probe`` that of the latency probes beside, None
    = none. ``ramp`` False: all flows from the start. With ``ramp_down`` they become fewer again,
    ``hold_ns`` after the last was added. ``oneway``: nothing is to come back from a peer.
    """

    locations: tuple[Location, ...]
    traffic: FlowTraffic
    rx_port: int
    tx_port: int
    queues: int
    rate: Rate
    probe: Rate | None
    ramp: bool
    ramp_down: bool
    hold_ns: int
    oneway: bool
    promiscuous: bool

    @property
    def receives(self) -> bool:
        """Frames are to arrive here, and not only at a peer."""
        return not self.oneway or self.peer is None

    @property
    def measured(self) -> bool:
        """All frames of the flows are stamped: for their latency, or to know what is lost."""
        loss = self.converge is not None and self.converge.to is ConvergeTo.LOSS
        return self.traffic.mode.measures or loss

    @property
    def ramped(self) -> bool:
        """Each queue has flows of its own, which a plan needs our extension to say.

        A queue without a flow would send nothing, so that fewer flows than queues are sent by all.
        """
        flows = self.traffic.flow_num
        grows = self.ramp or self.ramp_down or flows > PORT_FLOWS
        return grows and flows > 1 and flows >= self.queues


def flow_traffic(given: Mapping[str, Given], *, jumbo: bool, stamped: bool) -> FlowTraffic:
    """Check the values of keys; what is missing has its default. Raises PlanError.

    ``jumbo``: ports are opened for long frames. ``stamped``: frames have a stamp in any mode.
    """
    is_ipv6 = any(":" in given[key].text for key in _DEFAULT_IPV6 if key in given)
    defaults = DEFAULTS | (_DEFAULT_IPV6 if is_ipv6 else {})
    texts = {key: Given(text, f"default of {key}") for key, text in defaults.items()} | dict(given)
    traffic = FlowTraffic(
        src_mac=_src_mac(texts["src_mac"]),
        dst_mac=_mac(texts["dst_mac"]),
        src_ip=_address(texts["src_ip"]),
        dst_ip=_address(texts["dst_ip"]),
        src_port=_whole(texts["src_port"], 0, 65535),
        dst_port=_whole(texts["dst_port"], 0, 65535),
        flow_num=_whole(texts["flow_num"], 1, FLOWS_MAX),
        cps=_cps(texts["cps"]),
        payload=_whole(texts["payload"], 0, 1 << 30),
        mode=Mode(_whole(texts["mode"], 0, 2)),
    )
    _check_addresses(traffic, texts)
    _check_payload(traffic, texts["payload"], jumbo=jumbo, stamped=stamped or traffic.mode.measures)
    return traffic


def parse_speed(text: str, option: str, mode: Mode) -> Rate:
    """Read a rate: a bare number as BiTester has it, else as everywhere in wirerate.

    Bare numbers are Mbit/s of line (layer 1) in mode 0, and million frames/s in the others. Raises
    PlanError.
    """
    if _BARE.fullmatch(text.strip()) is None:
        try:
            return parse_rate(text)
        except PlanError as error:
            raise PlanError(f"{option}: {error}") from error
    value = float(text) * 1e6
    if value == 0 or not math.isfinite(value):
        raise PlanError(f"{option} {text!r}: nothing can be sent at that; give more than 0")
    if mode.measures:
        return Rate(RateKind.FPS, value)
    return parse_rate(f"{value!r}bps:L1")


def _fail(given: Given, why: str) -> NoReturn:
    raise PlanError(f"{given.place} {shown(given.text)}: {why}")


def _whole(given: Given, low: int, high: int) -> int:
    if _WHOLE.fullmatch(given.text) is None or not low <= int(given.text) <= high:
        _fail(given, f"give a whole number, {low:,} to {high:,}")
    return int(given.text)


def _cps(given: Given) -> float:
    number = float(given.text) if _BARE.fullmatch(given.text) else -1.0
    if number == 0:
        _fail(given, "no flow would ever be added; give more than 0, or --no-ramp")
    if not 1e-6 <= number <= CPS_MAX:
        _fail(given, f"give flows per second, up to {CPS_MAX:,}")
    return number


def _src_mac(given: Given) -> str | None:
    if given.text.lower() == _OWN:
        return None
    mac = _mac(given)
    if int(mac[:2], 16) & 1:
        _fail(given, "it is the address of a group, which sends nothing; give a station's, or own")
    return mac


def _mac(given: Given) -> str:
    if _MAC.fullmatch(given.text) is None:
        _fail(given, "give six octets in hexadecimal digits, 02:57:52:00:00:01 say")
    return ":".join(f"{int(part, 16):02x}" for part in re.split("[:-]", given.text))


def _address(given: Given) -> Address:
    try:
        address = ipaddress.ip_address(given.text)
    except ValueError:
        _fail(given, "give an IPv4 or IPv6 address, 198.18.0.1 or 2001:2::1 say")
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        _fail(given, "frames hold no zones; leave out % and what follows")
    return address


def _check_addresses(traffic: FlowTraffic, texts: Mapping[str, Given]) -> None:
    src, dst = traffic.src_ip, traffic.dst_ip
    if src.version != dst.version:
        _fail(
            texts["dst_ip"],
            f"it is IPv{dst.version}, but src_ip {src} is IPv{src.version}; give two of a kind",
        )
    if src.is_multicast or src.is_unspecified:
        _fail(texts["src_ip"], "no station sends from it; give an address of a station")
    if dst.is_unspecified:
        _fail(texts["dst_ip"], "nobody has it; give the address of a station or a group")
    last = int(src) + (traffic.flow_num - 1) // PORT_FLOWS
    if last >= 1 << src.max_prefixlen:
        _fail(
            texts["src_ip"],
            f"{traffic.flow_num:,} flows need {last - int(src) + 1:,} source addresses, and there "
            "are not so many behind it; give a lower one",
        )


def _check_payload(traffic: FlowTraffic, given: Given, *, jumbo: bool, stamped: bool) -> None:
    headers = _IP_OCTETS[traffic.src_ip.version] + _UDP_OCTETS
    frame_max = FRAME_SIZE_JUMBO if jumbo else FRAME_SIZE_ORDINARY
    mtu = frame_max - _ETHERNET_OCTETS - FCS_OCTETS
    if headers + traffic.payload > mtu:
        more = "" if jumbo else ", or add --jumbo"
        _fail(
            given,
            f"with IPv{traffic.src_ip.version} and UDP headers a packet has "
            f"{headers + traffic.payload:,} octets, more than the MTU of {mtu:,}; lower it to "
            f"{mtu - headers:,}{more}",
        )
    room = traffic.frame_size - FCS_OCTETS - _ETHERNET_OCTETS - headers
    if stamped and room < STAMP_OCTETS:
        _fail(
            given,
            f"the stamp for the latency takes {STAMP_OCTETS} octets of it; raise it to "
            f"{STAMP_OCTETS}",
        )
