# SPDX-License-Identifier: BSD-3-Clause
"""The options of `wirerate bridge`. Text in, checked settings out; nothing is opened here."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wirerate.cli.common_args import add_map, add_run, add_sizes, run_settings, whole
from wirerate.cli.forward_args import request_of
from wirerate.errors import PlanError
from wirerate.plan.bridge_settings import (
    KERNEL_FORMS,
    KERNEL_QUEUES_MAX,
    RING_DEFAULT,
    RING_MAX,
    RING_MIN,
    BridgeSettings,
    FastPath,
    Mode,
    Offloads,
    check_bridge,
)
from wirerate.plan.forward_settings import Work
from wirerate.plan.forward_values import host_address, parse_work

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Sequence
    from ipaddress import IPv4Address, IPv6Address


def add_ways(group: argparse._ArgumentGroup) -> None:
    """Options about which frames go where."""
    add = group.add_argument
    add(
        "--mode",
        choices=[mode.value for mode in Mode],
        default=Mode.SHARED.value,
        help="who receives the kernel's frames: the data path's worker, or a worker that the data "
        "path cannot delay (default %(default)s)",
    )
    add(
        "--address",
        action="append",
        default=[],
        metavar="ADDRESS",
        dest="addresses",
        help="an IPv4 or IPv6 address of the kernel's; the rest is the fast path (default: all "
        "frames are the kernel's); repeatable",
    )
    add(
        "--offloads",
        choices=("on", "off"),
        default="off",
        help="on: the kernel's interface leaves checksums out, and the bridge computes them "
        "(default %(default)s)",
    )
    add(
        "--segments",
        action="store_true",
        help="with --offloads on and a virtio-user: frames larger than the MTU between here and "
        "the kernel, cut and merged by the bridge",
    )


def add_fast_path(group: argparse._ArgumentGroup) -> None:
    """Options about frames that are not the kernel's."""
    add = group.add_argument
    add(
        "--fast-path",
        choices=[path.value for path in FastPath],
        default=FastPath.REFLECT.value,
        help="send them back to where they came from, or drop them (default %(default)s)",
    )
    add(
        "--work",
        type=parse_work,
        default=Work(),
        metavar="COST",
        help="what each of them costs: 400 (cycles of the TSC), 150ns, 1.5us",
    )


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Options about lcores, queues and the run."""
    machine = parser.add_argument_group("lcores, queues and memory")
    add_map(machine)
    machine.add_argument(
        "--kernel-queues",
        type=whole("--kernel-queues", 1, KERNEL_QUEUES_MAX),
        default=1,
        metavar="N",
        help="of the kernel port, each way; frames of a flow stay on one (default %(default)s)",
    )
    machine.add_argument(
        "--ring",
        type=whole("--ring", RING_MIN, RING_MAX),
        default=RING_DEFAULT,
        metavar="FRAMES",
        help="room of the ring between the workers, a power of two (default %(default)s)",
    )
    add_sizes(machine, "8192", "--burst")
    add_run(parser.add_argument_group("run and output"))
    parser.set_defaults(line_rate_bps=None)


def settings_of(
    args: argparse.Namespace, usable_lcores: Collection[int] | None = None
) -> BridgeSettings:
    """Check what the parser read; ``usable_lcores`` as for `run_settings`. Raises PlanError."""
    eal, locations = request_of(args)
    if len(locations) != 2:
        raise PlanError(
            f"{len(locations)} location{'s' if len(locations) > 1 else ''}: a bridge has a port "
            f"and a kernel port, the latter one of {', '.join(KERNEL_FORMS)}"
        )
    settings = BridgeSettings(
        **vars(run_settings(args, eal, len(locations), usable_lcores)),
        port=locations[0],
        kernel_port=locations[1],
        mode=Mode(args.mode),
        addresses=_addresses(args.addresses),
        offloads=Offloads(args.offloads == "on", args.segments),
        fast_path=FastPath(args.fast_path),
        work=args.work,
        ring_frames=args.ring,
        kernel_queues=args.kernel_queues,
    )
    check_bridge(settings)
    return settings


def _addresses(texts: Sequence[str]) -> tuple[IPv4Address | IPv6Address, ...]:
    for text in texts:
        if "/" in text:
            raise PlanError(
                f"--address {text!r}: single addresses are the kernel's, not networks; leave "
                f"/{text.partition('/')[2]} out"
            )
    addresses = tuple(host_address(text, text, "10.0.0.1 or fd00::1") for text in texts)
    for address, times in Counter(addresses).items():
        if times > 1:
            raise PlanError(f"--address: {address} is given {times} times")
    return addresses
