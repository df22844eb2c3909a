# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate kernel-path` makes on this machine, and what it removes; no tool is run."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace
from typing import Any

import pytest

from support.made_up_bridge import opened, real, settings
from wirerate.errors import HostSetupError
from wirerate.host import namespaces
from wirerate.methods import kernel_leftovers, kernel_site
from wirerate.methods.kernel_groups import RowName
from wirerate.methods.kernel_site import RealSite, SelfContained
from wirerate.plan.kernel_path_settings import Group
from wirerate.plan.location import parse_location


@pytest.fixture
def base(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_leftovers, "base_directory", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def tools(monkeypatch):
    """What would have been run, and failures by a word in the command."""
    found = SimpleNamespace(commands=[], fails={})

    def run(what, command):
        line = " ".join(command)
        found.commands.append(line)
        for word, said in found.fails.items():
            if word in line:
                raise HostSetupError(f"{what}: {said}")
        return ""

    monkeypatch.setattr(namespaces, "run_tool", run)
    return found


def test_all_that_is_made_is_noted_first_and_removed(base, tools):
    pid = os.getpid()
    openings: list[Any] = []

    def noting(opening):
        openings.append(opening)
        return opened(opening)

    note = base / f"wr-kp-{pid}.json"
    with SelfContained(settings(offloads=True), noting) as site:
        assert json.loads(note.read_text())["namespaces"] == [
            f"wr-kp-{pid}-far",
            f"wr-kp-{pid}-near",
        ]
        with site.link(RowName(Group.AF_PACKET, "shared"), work_ns=7) as link:
            assert link.interface == "kp"
            assert link.server == "198.18.0.1"
        (opening,) = openings
        assert (opening.port, opening.kernel_port) == ("af_packet:near", "af_packet:kp0")
        assert opening.addresses == ("198.18.0.2", "fd00:18::2")
        assert opening.work_ns == 7
        said = "\n".join(tools.commands)
        near = f"ip netns exec wr-kp-{pid}-near ethtool -K"
        assert f"{near} near tx off tso off gro off" in said
        assert f"{near} kp0 tx off tso off gro off" in said
        assert f"{near} kp tx on tso off gro on" in said
        assert "-far ethtool -K far tx off tso off gro on" in said
        assert f"ip -n wr-kp-{pid}-near link delete dev kp0" in said
    assert tools.commands[-1] == f"ip netns delete wr-kp-{pid}-far"
    assert not note.exists()


@pytest.mark.usefixtures("base")
def test_linux_has_the_wire_itself(tools):
    linux = RowName(Group.LINUX)
    with SelfContained(settings(ipv6=True), opened) as site, site.link(linux) as link:
        assert (link.interface, link.application, link.near_merges) == ("near", None, True)
        assert link.server == "fd00:18::1"
    assert any("near tx off tso off gro on" in line for line in tools.commands)
    assert any("fd00:18::2/64 dev near nodad" in line for line in tools.commands)


def test_what_fails_halfway_is_removed(base, tools):
    tools.fails["netns add wr-kp-" + str(os.getpid()) + "-near"] = "File exists"
    with pytest.raises(HostSetupError, match="File exists"), SelfContained(settings(), opened):
        pass
    assert tools.commands[-1] == f"ip netns delete wr-kp-{os.getpid()}-far"
    assert list(base.iterdir()) == []


def test_an_interface_that_vanished_needs_no_removal(tools):
    tools.fails["link delete"] = 'Cannot find device "near"'
    namespaces.remove_interface(None, "near")
    tools.fails["link delete"] = "Operation not permitted"
    with pytest.raises(HostSetupError, match="permitted"):
        namespaces.remove_interface(None, "near")


@pytest.mark.parametrize(
    ("group", "port"),
    [
        (Group.TAP, "tap:kp"),
        (Group.KNI, "kni:knikp"),
        (Group.AF_XDP, "af_xdp:kp0"),
        (Group.VIRTIO_USER, "virtio-user:/dev/vhost-net,iface=kp"),
    ],
)
def test_kernel_ports(group, port):
    assert kernel_site.kernel_location(group, "kp", "kp0") == port
    parse_location(port)


def test_a_real_port_is_in_this_namespace(base, tools, monkeypatch):
    monkeypatch.setattr(kernel_site, "check_real", lambda *_, **__: None)
    monkeypatch.setattr(kernel_site, "binds_to_interfaces", lambda: True)
    with RealSite(settings(), real(linux_interface="eth8"), opened) as site:
        with site.link(RowName(Group.AF_XDP, "dedicated")) as link:
            assert (link.near, link.far, link.server) == (None, None, "192.0.2.9")
            assert link.interface == link.bound == f"wrk{os.getpid()}"
            application: Any = link.application
            assert application.opening.port == "af_packet:eth9"
            assert len(link.interface) <= 15
        with site.link(RowName(Group.LINUX)) as link:
            assert (link.interface, link.application) == ("eth8", None)
    assert not any("eth8" in line or "eth9" in line for line in tools.commands)
    assert list(base.iterdir()) == []


@pytest.mark.usefixtures("tools")
def test_only_what_the_dead_have_left_is_removed(base, monkeypatch):
    dead, lives = 2**22 + 1, os.getpid()  # beyond the kernel's largest process id
    names = [f"wr-kp-{dead}-far", f"wr-kp-{dead}-near", f"wr-kp-{lives}-near", "wr-other"]
    monkeypatch.setattr(kernel_leftovers, "namespaces", lambda: names)
    (base / f"wr-kp-{dead}.json").write_text("garbage")
    (left,) = kernel_leftovers.find_leftovers()
    assert (left.pid, left.namespaces) == (dead, tuple(names[:2]))
    assert kernel_leftovers.remove_leftovers([left]) == [
        f"namespace {names[0]}",
        f"namespace {names[1]}",
        str(base / f"wr-kp-{dead}.json"),
    ]
    assert list(base.iterdir()) == []


def test_a_process_that_got_the_number_later_is_another_one(base, monkeypatch):
    monkeypatch.setattr(kernel_leftovers, "namespaces", list)
    pid = os.getppid()
    note = base / f"wr-kp-{pid}.json"
    note.write_text(json.dumps({"start": kernel_leftovers.start_time(pid)}))
    assert kernel_leftovers.find_leftovers() == []
    assert kernel_leftovers.other_runs() == [pid]
    note.write_text(json.dumps({"start": 1}))
    assert [left.pid for left in kernel_leftovers.find_leftovers()] == [pid]
    assert kernel_leftovers.other_runs() == []
