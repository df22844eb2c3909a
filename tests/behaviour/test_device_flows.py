# SPDX-License-Identifier: BSD-3-Clause
"""Flows between devices, through a router that has to know and be known: Linux, in a namespace."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from support import tagged_gateway as tagged_gateway_program
from support.devices import routed_plan, two_hosts
from support.host import is_root
from support.router import router

PORTS = ("af_packet:wr-east", "af_packet:wr-west")
FRAMES = 2000
END = {"fixed_packets": {"packets": FRAMES}}
RATE = {"pps": 4000}
FOUR = [{"ethernet": {}}, {"ipv4": {}}, {"udp": {"dst_port": {"value": 9}}}]
SIX = [{"ethernet": {}}, {"ipv6": {}}, {"udp": {"dst_port": {"value": 9}}}]
GATEWAY_MAC = "02:00:00:00:00:aa"
TALK = 50
"""Frames that a router may send for itself: ARP, neighbour discovery, its own announcements."""


@pytest.fixture
def linux(program):
    if not is_root():
        pytest.skip("needs root for network namespaces with veth pairs")
    with router() as made:
        program.prefix = made.prefix
        yield made


def plan_file(tmp_path, devices, **words):
    path = tmp_path / "plan.json"
    words = {"rate": RATE, "duration": END, **words}
    document = routed_plan(devices, locations=PORTS, **words)
    path.write_text(json.dumps(document))
    return str(path)


def measured(program, path):
    done = program.run("run", path, "--json")
    assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
    return {port["name"]: port for port in done.document["ports"]}


def routed(ports):
    """All that was sent has come through, but for what the router had to say."""
    sent, received = ports["east"]["tx_frames"], ports["west"]["rx_frames"]
    assert sent == FRAMES
    assert FRAMES <= received <= FRAMES + TALK
    return True


@pytest.mark.parametrize("packet", [FOUR, SIX], ids=["ipv4", "ipv6"])
@pytest.mark.usefixtures("linux")
def test_frames_are_routed_by_a_gateway_that_was_asked(program, tmp_path, packet):
    """The router, in turn, finds the receiving device, which has no kernel behind it."""
    assert routed(measured(program, plan_file(tmp_path, two_hosts(), packet=packet)))


def test_the_router_knows_devices_before_it_must_forward(program, linux, tmp_path):
    assert routed(measured(program, plan_file(tmp_path, two_hosts(), packet=FOUR)))
    known = linux.run("ip", "neigh")
    for address, mac in (("10.0.0.2", "02:00:00:00:0e:01"), ("10.0.1.2", "02:00:00:00:0e:02")):
        (line,) = [line for line in known.splitlines() if line.startswith(f"{address} ")]
        assert mac in line


@contextmanager
def tagged_gateway(linux, vlan):
    """A gateway of 10.0.0.0/24 that hears and says nothing without the tag."""
    linux.run("ip", "addr", "flush", "dev", "wr-r-east")
    script = Path(tagged_gateway_program.__file__)
    inside = ("ip", "netns", "exec", linux.namespace, sys.executable, str(script))
    process = subprocess.Popen(
        [*inside, "wr-r-east", str(vlan), "10.0.0.1", GATEWAY_MAC],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_tags_of_a_device_are_those_of_its_gateway(program, linux, tmp_path):
    devices = two_hosts()
    devices[0]["ethernets"][0]["vlans"] = [{"name": "v", "id": 7}]
    with tagged_gateway(linux, 7) as gateway:
        ports = measured(program, plan_file(tmp_path, devices, packet=FOUR))
        came, _ = gateway.communicate("how many?\n", timeout=10)
    assert ports["east"]["tx_frames"] == int(came) == FRAMES


def test_a_gateway_on_another_vlan_is_not_there(program, linux, tmp_path):
    devices = two_hosts()
    devices[0]["ethernets"][0]["vlans"] = [{"name": "v", "id": 8}]
    with tagged_gateway(linux, 7):
        done = program.run("run", plan_file(tmp_path, devices, packet=FOUR), "--json")
    done.refused("gateway 10.0.0.1 of device d1 (port east) did not answer ARP", code=3)


@pytest.mark.usefixtures("linux")
def test_a_gateway_that_is_not_there_is_named(program, tmp_path):
    devices = two_hosts()
    devices[0]["ethernets"][0]["ipv4_addresses"][0]["gateway"] = "10.0.0.77"
    done = program.run("run", plan_file(tmp_path, devices, packet=FOUR), "--json")
    done.refused("gateway 10.0.0.77 of device d1 (port east) did not answer ARP within 3 s", code=3)


@pytest.mark.usefixtures("linux")
def test_a_gateway_that_is_not_there_for_ipv6_is_named(program, tmp_path):
    devices = two_hosts()
    devices[0]["ethernets"][0]["ipv6_addresses"][0]["gateway"] = "fd00::77"
    done = program.run("run", plan_file(tmp_path, devices, packet=SIX), "--json")
    done.refused("gateway fd00::77 of device d1 (port east) did not answer neighbour", code=3)


@pytest.mark.usefixtures("linux")
def test_the_router_must_be_sent_to(program, tmp_path):
    """With a wrong address the same frames do not come through: the other tests can fail."""
    devices = two_hosts()
    wrong = {"gateway_mac": {"value": "02:00:00:00:00:99"}}
    devices[0]["ethernets"][0]["ipv4_addresses"][0].update(wrong)
    ports = measured(program, plan_file(tmp_path, devices, packet=FOUR))
    assert ports["east"]["tx_frames"] == FRAMES
    assert ports["west"]["rx_frames"] <= TALK


PING = """
import socket, struct
def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - (total & 0xFFFF) - (total >> 16)
port = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
port.settimeout(2)
port.connect(("10.0.1.2", 0))
request = struct.pack("!BBHHH", 8, 0, 0, 7, 1) + b"are you there"[:12]
port.send(request[:2] + struct.pack("!H", checksum(request)) + request[4:])
answer = port.recv(2048)[20:]
print(answer[:2].hex(), answer[4:] == request[4:])
"""
"""An echo request out of the router, without a program of the system's."""


def test_devices_of_an_idle_port_answer_pings(program, linux, tmp_path):
    """Port west sends nothing, and answers all the same; the router has to ask who it is."""
    duration = {"fixed_seconds": {"seconds": 2}}
    path = plan_file(tmp_path, two_hosts(), packet=FOUR, duration=duration)
    with program.start("run", path, "--json") as running:
        running.sending()
        linux.run("ip", "neigh", "flush", "all")
        said = linux.run(sys.executable, "-c", PING)
        done = running.finish()
    assert (done.code, done.err) == (0, "")
    assert said.strip() == "0000 True"
