# SPDX-License-Identifier: BSD-3-Clause
"""The options of `wirerate rss`. Text in, checked settings out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wirerate.cli.common_args import run_settings, whole
from wirerate.cli.forward_args import request_of
from wirerate.errors import PlanError
from wirerate.plan.rss_flows import FLOWS_MAX, FlowKind, Spread, SpreadKind, parse_spread
from wirerate.plan.rss_hash import DEFAULT_KEY, FIELDS, KEY_OCTETS_MIN, SYMMETRIC_KEY, Layer4
from wirerate.plan.rss_settings import RssSettings

if TYPE_CHECKING:
    import argparse

QUEUES_MAX = 1024
RETA_MAX = 2048
KEY_OCTETS_MAX = 255
"""Limits of the engine and of ethdev (engine/config/config_limits.h)."""
FLOWS_DEFAULT = 512
RUN_DEFAULTS: dict[str, Any] = {
    "maps": [],
    "burst": None,
    "line_rate_bps": None,
    "descriptors": (0, 0),
    "mbufs": None,
    "jumbo": False,
    "period_ns": 0,
    "duration_ns": None,
    "cpu_saver_ns": 0,
}
"""What `run_settings` reads beside this command's own options: nothing is run for long here."""
_SEED_MAX = (1 << 63) - 1
_KEYS = {"default": DEFAULT_KEY, "symmetric": SYMMETRIC_KEY}
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")


def add_settings(group: argparse._ArgumentGroup) -> None:
    """What the receiver is set to."""
    add = group.add_argument
    add(
        "-q",
        "--queues",
        type=parse_queues,
        metavar="LIST",
        help="numbers of queues that are swept (default 1,2,4); with --check one number, of the "
        "receiver's Rx queues",
    )
    add(
        "--key",
        type=parse_key,
        metavar="KEY",
        help="of the hash: hex digits, default (Microsoft's) or symmetric (default: the device's)",
    )
    add(
        "--fields",
        type=parse_fields,
        metavar="LIST",
        help=f"what is hashed: {', '.join(FIELDS)} (default: all that the device can)",
    )
    add(
        "--reta",
        type=parse_reta,
        metavar="LIST",
        help="entries of the table, 0,1,2,3 say, repeated to its size (default: the device's)",
    )
    add("--steer", action="store_true", help="try a steering rule for each queue, too")


def add_flows(group: argparse._ArgumentGroup) -> None:
    """What is sent."""
    add = group.add_argument
    add(
        "--flows",
        type=whole("--flows", 1, FLOWS_MAX),
        metavar="N",
        help="flows (default 1024); with --check, of which a frame each is sent "
        f"(default {FLOWS_DEFAULT})",
    )
    add(
        "--spread",
        type=parse_spread,
        default=Spread(SpreadKind.RANDOM),
        metavar="SPREAD",
        help="how flows are chosen: random, even, skewed:0.5 (default random)",
    )
    add("--ipv6", action="store_true", help="packets of IPv6 (default IPv4)")
    layer4 = group.add_mutually_exclusive_group()
    for option, kind, text in (
        ("--udp", Layer4.UDP, "UDP (default)"),
        ("--tcp", Layer4.TCP, "TCP"),
        ("--l3", Layer4.NONE, "packets without ports"),
    ):
        layer4.add_argument(
            option,
            action="store_const",
            const=kind,
            dest="layer4",
            default=Layer4.UDP,
            help=text,
        )
    add(
        "--seed",
        type=whole("--seed", 0, _SEED_MAX),
        default=1,
        metavar="N",
        help="of the flows (default %(default)s)",
    )


def parse_key(text: str) -> bytes:
    """Read a key: hex digits, ``default``, ``symmetric``. Raises PlanError."""
    if text in _KEYS:
        return _KEYS[text]
    if _HEX.fullmatch(text) is None:
        raise PlanError(
            f"--key {text!r}: give hex digits, two for each octet, default or symmetric"
        )
    key = bytes.fromhex(text)
    if not KEY_OCTETS_MIN <= len(key) <= KEY_OCTETS_MAX:
        raise PlanError(
            f"--key: {len(key)} octets; a key has {KEY_OCTETS_MIN} to {KEY_OCTETS_MAX}, most "
            f"devices take {KEY_OCTETS_MIN}"
        )
    return key


def parse_queues(text: str) -> tuple[int, ...]:
    """Read ``1,2,4``. Raises PlanError."""
    read = whole("-q", 1, QUEUES_MAX)
    queues = tuple(read(word) for word in text.split(","))
    if len(set(queues)) < len(queues):
        raise PlanError(f"-q {text!r}: a number is given twice; leave one out")
    return queues


def parse_fields(text: str) -> tuple[str, ...]:
    """Read ``ipv4,ipv4-udp``. Raises PlanError."""
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    for word in words:
        if word not in FIELDS:
            raise PlanError(f"--fields {text!r}: there is no {word!r}; valid: {', '.join(FIELDS)}")
    return words


def parse_reta(text: str) -> tuple[int, ...]:
    """Read ``0,1,2,3``. Raises PlanError."""
    read = whole("--reta", 0, QUEUES_MAX - 1)
    queues = tuple(read(word) for word in text.split(","))
    if len(queues) > RETA_MAX:
        raise PlanError(f"--reta: {len(queues):,} entries, but at most {RETA_MAX:,}")
    return queues


def settings_of(args: argparse.Namespace) -> RssSettings:
    """Check what the parser read. Raises PlanError."""
    eal, locations = request_of(args)
    if len(locations) != 2:
        raise PlanError(f"{len(locations)} locations: rss needs two, who sends and who receives")
    queues = _one(args.queues)
    beyond = [queue for queue in args.reta or () if queue >= queues]
    if beyond:
        raise PlanError(
            f"--reta: there is no queue {beyond[0]}; with -q {queues} queues are 0-{queues - 1}"
        )
    return RssSettings(
        **vars(run_settings(args, eal, len(locations))),
        locations=(locations[0], locations[1]),
        queues=queues,
        key=args.key,
        fields=args.fields,
        reta=args.reta,
        flows=args.flows or FLOWS_DEFAULT,
        kind=FlowKind(6 if args.ipv6 else 4, args.layer4),
        spread=args.spread,
        seed=args.seed,
        steer=args.steer,
    )


def _one(queues: tuple[int, ...] | None) -> int:
    """The number of Rx queues to check."""
    if queues is None or len(queues) != 1:
        raise PlanError("-q: --check needs one number of queues, those of the receiver: -q 4")
    return queues[0]
