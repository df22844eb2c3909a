# SPDX-License-Identifier: BSD-3-Clause
"""The options of `wirerate bridge`."""

from ipaddress import ip_address

import pytest

from support.bridges import ADDRESSES, settings_of
from wirerate.errors import PlanError
from wirerate.plan.bridge_settings import FastPath, Mode, Offloads
from wirerate.plan.forward_settings import Work


def refusal(*words):
    with pytest.raises(PlanError) as caught:
        settings_of(*words)
    return str(caught.value)


def test_defaults_are_those_of_the_contract():
    settings = settings_of()
    assert [location.text for location in settings.locations] == ["af_packet:near", "tap:dtap0"]
    assert (settings.mode, settings.fast_path) == (Mode.SHARED, FastPath.REFLECT)
    assert (settings.offloads, settings.work) == (Offloads(), Work())
    assert (settings.addresses, settings.ring_frames) == ((), 2048)


def test_everything_can_be_asked_for():
    settings = settings_of(
        *("--mode", "dedicated", *ADDRESSES, "--offloads", "on", "--ring", "64"),
        *("--fast-path", "drop", "--work", "5us", "-m", "2.0/3.1"),
    )
    assert (settings.mode, settings.fast_path) == (Mode.DEDICATED, FastPath.DROP)
    assert settings.addresses == (ip_address("10.0.0.1"), ip_address("fd00::1"))
    assert settings.offloads == Offloads(checksums=True)
    assert (settings.work, settings.ring_frames) == (Work(time_ns=5000), 64)


def test_segments_are_for_vhost_net():
    words = ("--offloads", "on", "--segments")
    kernel_port = "virtio-user:/dev/vhost-net,iface=kv0"
    settings = settings_of("bridge", "null:a", kernel_port, *words)
    assert settings.offloads == Offloads(checksums=True, segments=True)
    assert "frames up to the MTU only" in refusal(*words)
    assert "--offloads on" in refusal("bridge", "null:a", kernel_port, "--segments")


@pytest.mark.parametrize("kernel_port", ["null:a", "03:00.0", "ring:b", "memif:/run/a.sock"])
def test_a_kernel_port_has_the_kernel_behind_it(kernel_port):
    said = refusal("bridge", "af_packet:near", kernel_port)
    assert "tap:NAME, af_packet:IF, af_xdp:IF, virtio-user:/dev/vhost-net,iface=NAME" in said


def test_a_virtio_user_of_another_process_is_no_kernel_port():
    assert "vhost-net" in refusal("bridge", "af_packet:near", "virtio-user:/run/a.sock")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("bridge",), "no location"),
        (("bridge", "null:a"), "1 location:"),
        (("bridge", "null:a", "tap:b", "tap:c"), "3 locations"),
        (("bridge", "tap:b", "tap:b"), "given 2 times"),
        (("--work", "5us"), "add --address"),
        (("--ring", "100"), "power of two"),
        (("--ring", "32"), "--ring"),
        (("--address", "ten"), "no IPv4 or IPv6 address; write 10.0.0.1"),
        (("--address", "224.0.0.1"), "no host has this address"),
        (("--address", "192.0.2.4/24"), "not networks; leave /24 out"),
        (("--address", "10.0.0.1", "--address", "10.0.0.1"), "2 times"),
        (tuple(w for at in range(65) for w in ("--address", f"10.0.1.{at}")), "at most 64"),
    ],
)
def test_what_cannot_be_done_is_refused(words, part):
    assert part in refusal(*words)


def test_the_port_gets_a_second_queue_only_where_both_workers_use_it():
    assert not settings_of().two_queues
    assert settings_of(*ADDRESSES).two_queues
    assert not settings_of(*ADDRESSES, "--fast-path", "drop").two_queues
    assert settings_of(*ADDRESSES, "--fast-path", "drop", "--mode", "dedicated").two_queues
