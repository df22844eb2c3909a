# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate bridge`: a port, and the way from it into the kernel."""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from wirerate.cli.bridge_args import add_fast_path, add_machine, add_ways, settings_of
from wirerate.cli.engine_session import ending_code, notices, stopping, warn
from wirerate.cli.forward_args import new_parser
from wirerate.errors import EngineDiedError
from wirerate.host.environment import environment
from wirerate.report import bridge_json, bridge_text
from wirerate.report.screen import open_screen
from wirerate.session.engine_start import report_ports
from wirerate.trial.bridge import Bridge
from wirerate.trial.bridge_interfaces import TITLES
from wirerate.trial.bridge_setup import engine_words
from wirerate.trial.bridge_verdict import BridgeEnd

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from wirerate.report.screen import Screen
    from wirerate.trial.bridge_look import BridgeLook

_POLL_S = 0.05
_NS_PER_S = 1_000_000_000

DESCRIPTION = """\
Own a port as a DPDK application does, and hand what is the kernel's to a kernel port: a device
whose other end is a network interface of Linux. What the kernel sends there leaves by the port.
"""

EPILOG = """\
kernel ports:
  tap:NAME         makes the interface NAME, which is gone at the end
  af_packet:IF     an interface's frames by a packet socket, af_xdp:IF by AF_XDP: one end of a veth
                   pair, say; the kernel uses the other
  virtio-user:/dev/vhost-net,iface=NAME    by vhost-net; kni:NAME (DPDK up to 23.07)

The kernel's interface keeps its own Ethernet address; give it its addresses once this runs.
Features of interfaces that frames need (GRO, TSO, checksums) are set meanwhile, and put back at
the end; kill -9 leaves them as they are then.

lcore maps, LCORE.PORT: 2.0/3.1 has the data path on lcore 2, the kernel port on lcore 3.

examples:
  sudo wirerate bridge 03:00.0 tap:dpdk0
      all frames of a NIC are the kernel's: ip address add 10.0.0.1/24 dev dpdk0
  sudo wirerate bridge 03:00.0 tap:dpdk0 --address 10.0.0.1 --address fd00::1 --mode dedicated
      what is sent to these, ARP and neighbour discovery are the kernel's, the rest is reflected
  sudo wirerate bridge af_packet:eth1 af_packet:kp0 --offloads on --json --duration 10
      the kernel has kp, the other end of kp0, and leaves checksums out
  sudo wirerate bridge 03:00.0 tap:dpdk0 --address 10.0.0.1 --fast-path drop --work 5us
      a busy application in front of the kernel

exit codes:
  0 bridged until it was to end, 2 wrong options, 3 the host is not ready (see wirerate doctor), or
  an interface vanished, 4 the engine died
"""


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    texts = ("PORT KERNEL_PORT", DESCRIPTION, EPILOG)
    parser, frames = new_parser(subparsers, "bridge", "hand the kernel its frames", texts)
    add_ways(frames)
    add_fast_path(parser.add_argument_group("the fast path: frames that are not the kernel's"))
    add_machine(parser)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Bridge and report; 0 whenever it was done, 3 when an interface vanished, 4 when it died.

    Raises PlanError, HostSetupError and EngineError for what keeps it from starting.
    """
    bridge = Bridge(settings_of(args))
    settings = bridge.settings
    for placement in bridge.setup.placements:
        for text in placement.warnings():
            warn(text)
    if settings.verbose:
        print("EAL arguments:", " ".join(engine_words(settings, bridge.setup)), file=sys.stderr)
    started = datetime.now(timezone.utc)
    session = _Session(bridge)
    with stopping(session), session.ending(), bridge:
        session.opened()
        opened = list(zip(TITLES, bridge.infos, strict=True))
        said = notices(verbose=settings.verbose)
        report_ports(bridge.engine, settings, bridge.about, opened, said)
        if not settings.json:
            print(bridge_text.setup_text(bridge), flush=True)
        session.watch()
    end = session.end()
    if settings.json:
        facts = environment(bridge.about["dpdk"], started)
        print(json.dumps(bridge_json.document(bridge, end, facts), indent=2), flush=True)
    else:
        print(bridge_text.summary(bridge, end), flush=True)
    return ending_code(end.death, end.gone or None)


class _Session:
    """A bridge, from its opening until what it has set is put back."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._first: BridgeLook | None = None
        self._last: BridgeLook | None = None
        self._stopped = False
        self._death: str | None = None
        self._counted = False

    def stop(self) -> None:
        """Ask for an orderly end; may be called from a signal handler.

        While it is still opened that is a KeyboardInterrupt: interfaces are put back on its way.
        """
        if self._first is None and not self._stopped:
            self._stopped = True
            raise KeyboardInterrupt
        self._stopped = True

    def opened(self) -> None:
        """From now on frames pass."""
        self._first = self._bridge.look()

    @property
    def _start(self) -> BridgeLook:
        assert self._first is not None
        return self._first

    def watch(self) -> None:
        """Show progress; a run shorter than a period shows its one block at the end."""
        before = self._start
        with open_screen(quiet=self._bridge.settings.json) as screen:
            try:
                while not self._over():
                    before = self._step(screen, before)
                self._bridge.unload()
                self._counted = True
            except EngineDiedError as error:
                self._death = str(error)
            self._last = self._bridge.look()
            if before is self._start:
                screen.show(bridge_text.table(self._bridge, self._last, before))

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Note that the engine dies while it is ended, after the last look."""
        try:
            yield
        except EngineDiedError as error:
            if self._last is None:
                raise
            self._death = self._death or str(error)

    def _step(self, screen: Screen, before: BridgeLook) -> BridgeLook:
        """Wait for a moment; the look that was shown last."""
        period_ns = self._bridge.settings.period_ns
        time.sleep(min(_POLL_S, period_ns / _NS_PER_S))
        self._bridge.poll()
        now = self._bridge.look()
        if now.at_ns - before.at_ns < period_ns:
            return before
        screen.show(bridge_text.table(self._bridge, now, before))
        return now

    def _over(self) -> bool:
        if self._stopped or self._bridge.gone:
            return True
        duration = self._bridge.settings.duration_ns
        return duration is not None and time.monotonic_ns() - self._start.at_ns >= duration

    def end(self) -> BridgeEnd:
        """What it came to."""
        bridge, look = self._bridge, self._last
        assert look is not None
        return BridgeEnd(
            settings=bridge.settings,
            look=look,
            seconds=max(1, look.at_ns - self._start.at_ns) / _NS_PER_S,
            looks=bridge.snapshots(),
            notes=bridge.notes,
            death=self._death,
            counted=self._counted,
            gone=bridge.gone,
        )
