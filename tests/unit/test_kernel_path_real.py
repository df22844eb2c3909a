# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate kernel-path` refuses between real ports before it measures; no tool is run."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from ipaddress import ip_interface
from types import SimpleNamespace
from typing import Any

import pytest

from support.made_up_bridge import opened, real, settings
from wirerate.errors import HostSetupError
from wirerate.methods import kernel_leftovers, kernel_site
from wirerate.methods.kernel_leftovers import noted
from wirerate.methods.kernel_real import check_real, server_address, used_ports
from wirerate.methods.kernel_site import RealSite
from wirerate.plan.location import parse_location

SERVER = "192.0.2.9"


def network(*links: str, queues: int = 1, **addresses: Any) -> Any:
    """Interfaces; those with an address have one."""
    there = {"eth9", *links, *addresses}
    listed = [(name, ip_interface(address)) for name, address in addresses.items()]
    return SimpleNamespace(
        link=lambda name: name if name in there else None,
        rx_queues=lambda _name: queues,
        addresses=lambda: listed,
    )


def refused(asked, seen, *, binds=True):
    with pytest.raises(HostSetupError) as caught:
        check_real(asked, SERVER, seen, binds=binds)
    return str(caught.value)


def test_a_port_without_addresses_is_the_only_way():
    check_real(real(), SERVER, network(eth0="198.51.100.1/24", lo="127.0.0.1/8"), binds=False)


@pytest.mark.parametrize("name", ["eth9", "eth0"])
def test_an_interface_in_the_servers_network_is_another_way(name):
    has: dict[str, Any] = {name: "192.0.2.77/24"}
    said = refused(real(), network(**has))
    assert f"{name} has the address 192.0.2.77/24, and the server {SERVER} is in its" in said
    assert f"ip address del 192.0.2.77/24 dev {name}" in said


def test_the_address_is_the_kernel_ports_alone():
    assert "eth0 has this address" in refused(real(), network(eth0="192.0.2.1/32"))
    asked = real(linux_interface="eth8")
    assert "eth8 has this address" in refused(asked, network(eth8="192.0.2.1/24"))


def test_the_interface_of_linux_may_be_on_the_same_wire_where_iperf3_can_be_bound():
    asked, seen = real(linux_interface="eth8"), network(eth8="192.0.2.3/24")
    check_real(asked, SERVER, seen, binds=True)
    assert "--bind-dev" in refused(asked, seen, binds=False)


def test_interfaces_that_are_missing_are_named_with_their_option():
    missing = replace(real(), location=parse_location("af_packet:nope"))
    assert refused(missing, network()).startswith("--port: there is no interface nope")
    asked = real(linux_interface="nope")
    assert refused(asked, network()).startswith("--linux-interface: there is no interface nope")
    assert "is the port itself" in refused(real(linux_interface="eth9"), network())
    assert "no IPv4 address" in refused(real(linux_interface="eth8"), network("eth8"))


def test_af_xdp_needs_a_queue_for_each_worker():
    asked = replace(real(), location=parse_location("af_xdp:eth9"))
    said = refused(asked, network())
    assert "ethtool -L eth9 combined 2" in said
    assert "--fast-path" not in said
    check_real(asked, SERVER, network(queues=2), binds=True)


def test_a_server_behind_a_router_is_reached_another_way():
    with pytest.raises(HostSetupError, match="not in the network of --address"):
        check_real(real(), "198.51.100.1", network(), binds=True)


def test_a_server_that_has_no_address():
    assert server_address(real()) == SERVER
    with pytest.raises(HostSetupError, match="--server fd00::1: no IPv4 address of it is known"):
        server_address(replace(real(), server="fd00::1"))


def test_a_port_is_for_one_run_at_a_time(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_leftovers, "base_directory", lambda: tmp_path)
    other = os.getppid()
    note = {
        "start": kernel_leftovers.start_time(other),
        "ports": ["eth9"],
        "network": kernel_leftovers.network_id(),
    }
    file = tmp_path / f"wr-kp-{other}.json"
    file.write_text(json.dumps(note))
    said = f"eth9 is in use by another kernel-path \\(process {other}\\)"
    with pytest.raises(HostSetupError, match=said), RealSite(settings(), real(), opened):
        pass
    assert list(tmp_path.iterdir()) == [file]
    with noted((), (), ("eth8",)):
        pass
    file.write_text(json.dumps(note | {"network": "another"}))
    with noted((), (), used_ports(real())):
        pass


# --- Leftovers in another network namespace ----------------------------------------------------

DEAD = 2**22 + 1
"""Beyond the kernel's largest process id."""


@pytest.fixture
def record(monkeypatch, tmp_path):
    """The note of a dead run, in a network namespace `one` or in one that has no name."""
    base, named = tmp_path / "base", tmp_path / "netns"
    base.mkdir()
    named.mkdir()
    (named / "one").touch()
    monkeypatch.setattr(kernel_leftovers, "base_directory", lambda: base)
    monkeypatch.setattr(kernel_leftovers, "NAMED", named)
    monkeypatch.setattr(kernel_leftovers, "namespaces", lambda: ["one"])
    seen = SimpleNamespace(interfaces={f"wrk{DEAD}": None})
    monkeypatch.setattr(kernel_leftovers, "read_net_counters", lambda _name: seen)
    file = base / f"wr-kp-{DEAD}.json"

    def write(place):
        network_id = kernel_leftovers.network_id(place)
        file.write_text(json.dumps({"interfaces": [f"wrk{DEAD}"], "network": network_id}))
        return file

    return write


def test_leftovers_are_removed_in_a_namespace_that_has_a_name(record, monkeypatch, tmp_path):
    file = record(tmp_path / "netns/one")
    gone: list[Any] = []
    monkeypatch.setattr(kernel_leftovers, "remove_interface", lambda *words: gone.append(words))
    left = kernel_leftovers.find_leftovers()
    kernel_leftovers.check_within_reach(left)
    kernel_leftovers.remove_leftovers(left)
    assert gone == [("one", f"wrk{DEAD}")]
    assert not file.exists()


def test_leftovers_that_are_out_of_reach_keep_their_record(record, tmp_path):
    place = tmp_path / "proc/7/ns"
    place.mkdir(parents=True)
    (place / "net").touch()
    file = record(place / "net")
    left = kernel_leftovers.find_leftovers(tmp_path)
    assert kernel_leftovers.remove_leftovers(left) == []
    assert file.exists()
    with pytest.raises(HostSetupError, match=f"{DEAD} has left wrk{DEAD} in .* of process 7: nse"):
        kernel_leftovers.check_within_reach(left)


def test_a_namespace_that_is_gone_took_its_interfaces_along(record, tmp_path):
    lost = tmp_path / "lost"
    lost.touch()
    file = record(lost)
    left = kernel_leftovers.find_leftovers(tmp_path)
    kernel_leftovers.check_within_reach(left)
    assert kernel_leftovers.remove_leftovers(left) == [str(file)]


def test_the_site_checks_and_forgets(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_leftovers, "base_directory", lambda: tmp_path)
    monkeypatch.setattr(kernel_site, "binds_to_interfaces", lambda: True)
    monkeypatch.setattr(kernel_site, "Network", lambda: network(eth9="192.0.2.2/24"))
    with pytest.raises(HostSetupError, match="eth9 has"), RealSite(settings(), real(), opened):
        pass
    assert list(tmp_path.iterdir()) == []
