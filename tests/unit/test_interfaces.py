# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces of Linux as ip and ethtool tell them."""

import json
import os
from contextlib import ExitStack

import pytest

from support.bridges import settings_of
from wirerate.errors import HostSetupError
from wirerate.host.interfaces import (
    Feature,
    Link,
    Network,
    changes,
    interfaces_of,
    parse_features,
)
from wirerate.trial.bridge_interfaces import (
    check_interfaces,
    let_frames_be,
    settle_kernel_side,
)

TOLD = """\
Features for kp0:
tx-checksumming: on
\ttx-checksum-ipv4: off [fixed]
\ttx-checksum-ip-generic: on
tcp-segmentation-offload: on
\ttx-tcp-segmentation: on
generic-receive-offload: on
large-receive-offload: off [fixed]
rx-gro-hw: off [fixed]
tx-udp-segmentation: off [requested on]
"""


class MadeUp(Network):
    """Interfaces that need no kernel: ``state`` is every interface's, ``fixed`` cannot change."""

    LINKS = (
        {"ifname": "near", "linkinfo": {"info_kind": "veth"}, "link_netnsid": 0, "link_index": 4},
        {"ifname": "kp0", "linkinfo": {"info_kind": "veth"}, "link": "kp"},
        {"ifname": "kp", "linkinfo": {"info_kind": "veth"}, "link": "kp0"},
    )

    def __init__(self, told=TOLD, fixed=(), links=LINKS):
        super().__init__(None)
        self.state = told
        self.fixed = fixed
        self.links = links
        self.ran = []

    def _run(self, what, *words):
        assert what
        if words[0] == "ls":
            return "rx-0\nrx-1\ntx-0\n"
        return json.dumps(self.links) if words[0] == "ip" else self.state

    def _set(self, name, features):
        words = [word for key, on in features.items() for word in (key, "on" if on else "off")]
        self.ran.append((name, *words))
        self._switch(words)

    def _switch(self, words):
        named = {"gro": "generic-receive-offload", "tx": "tx-checksum", "tso": "tcp-segmentation"}
        lines = self.state.splitlines()
        for name, state in zip(words[::2], words[1::2], strict=True):
            full = named.get(name, name)
            lines = [
                line.replace(": on", f": {state}").replace(": off", f": {state}")
                if full in line and "[fixed]" not in line and name not in self.fixed
                else line
                for line in lines
            ]
        self.state = "\n".join(lines) + "\n"


def test_features_are_read():
    features = parse_features(TOLD)
    assert features["tx-checksumming"] == Feature(on=True, wanted=True)
    assert features["tx-checksum-ipv4"] == Feature(on=False, fixed=True)
    assert features["tx-udp-segmentation"] == Feature(on=False, wanted=True)


def test_what_changed_is_put_back_part_by_part():
    before = parse_features(TOLD)
    now = parse_features(TOLD.replace(": on", ": off"))
    assert changes(now, before) == {
        "tx-checksum-ip-generic": True,
        "tx-tcp-segmentation": True,
        "gro": True,
    }
    assert changes(before, before) == {}


def test_what_was_only_asked_for_is_asked_for_again():
    before = parse_features(TOLD)
    now = parse_features(TOLD.replace("off [requested on]", "off"))
    assert changes(now, before) == {"tx-udp-segmentation": True}


def test_links():
    network = MadeUp()
    assert network.link("near") == Link("near", veth=True, far_peer=True)
    assert network.link("kp0") == Link("kp0", veth=True, peer="kp")
    assert network.link("nobody") is None


def test_the_interfaces_of_a_process_are_those_of_its_namespace():
    assert "lo" in interfaces_of(os.getpid())
    assert interfaces_of(0) == frozenset()


def test_merging_is_off_meanwhile():
    network = MadeUp()
    with ExitStack() as stack:
        notes = let_frames_be(settings_of(), network, stack)
        assert notes == ["near: gro off while this runs"]
        assert not network.features("near")["generic-receive-offload"].on
    assert network.features("near")["generic-receive-offload"].on


def test_a_signal_while_it_is_switched_leaves_nothing_behind():
    class Interrupted(MadeUp):
        def switch(self, name, wanted):
            super().switch(name, wanted)
            raise KeyboardInterrupt

    network = Interrupted()
    with ExitStack() as stack, pytest.raises(KeyboardInterrupt):
        let_frames_be(settings_of(), network, stack)
    assert network.features("near")["generic-receive-offload"].on


def test_merging_that_cannot_be_switched_off_is_refused():
    with ExitStack() as stack, pytest.raises(HostSetupError) as caught:
        let_frames_be(settings_of(), MadeUp(fixed=("gro",)), stack)
    assert "near merges frames (gro)" in str(caught.value)


VETH = ("bridge", "af_packet:near", "af_packet:kp0")


def test_the_kernel_computes_checksums_unless_asked_otherwise():
    network = MadeUp()
    with ExitStack() as stack:
        side = settle_kernel_side(settings_of(*VETH), network, stack)
        assert (side.interface, side.complete, side.notes) == ("kp", False, ())
        assert not network.features("kp")["tcp-segmentation-offload"].on
    assert network.features("kp")["tx-checksum-ip-generic"].on
    assert {words[0] for words in network.ran} == {"kp"}


def test_with_offloads_the_kernel_leaves_them_out():
    with ExitStack() as stack:
        side = settle_kernel_side(settings_of(*VETH, "--offloads", "on"), MadeUp(), stack)
    assert side.complete
    assert side.notes == ("kp: Linux leaves checksums out, they are completed",)


def test_what_counts_is_what_the_interface_does():
    """Not what was asked for: checksums are right in any case."""
    with ExitStack() as stack:
        side = settle_kernel_side(settings_of(*VETH), MadeUp(fixed=("tx",)), stack)
    assert side.complete
    deaf = MadeUp(TOLD.replace("on", "off"), fixed=("tx",))
    with ExitStack() as stack:
        side = settle_kernel_side(settings_of(*VETH, "--offloads", "on"), deaf, stack)
    assert not side.complete
    assert "nothing is left to complete" in side.notes[0]


def test_where_nobody_knows_checksums_are_completed():
    with ExitStack() as stack:
        side = settle_kernel_side(
            settings_of("bridge", "af_packet:kp0", "af_packet:near"), MadeUp(), stack
        )
    assert (side.interface, side.complete) == ("", True)
    assert "in another network namespace" in side.notes[0]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("bridge", "af_packet:nobody", "tap:dtap0"), "port: there is no interface nobody"),
        (("bridge", "af_packet:near", "af_xdp:nobody"), "kernel port: there is no interface"),
        (("bridge", "af_packet:near", "af_xdp:kp"), "ethtool -L kp combined 1 leaves no other"),
        (("bridge", "af_packet:near", "tap:kp"), "there is an interface kp already"),
    ],
)
def test_interfaces_that_are_missing_or_in_the_way(words, part):
    with pytest.raises(HostSetupError) as caught:
        check_interfaces(settings_of(*words), MadeUp())
    assert part in str(caught.value)


def test_an_address_on_the_port_is_noted():
    links = [{"ifname": "near", "addr_info": [{"local": "10.0.0.1", "scope": "global"}]}]
    (note,) = check_interfaces(settings_of(), MadeUp(links=links))
    assert "Linux answers there, too" in note
