# SPDX-License-Identifier: BSD-3-Clause
"""Others at the far end: testpmd over memif and vhost, and a kernel that routes and translates."""

from __future__ import annotations

import json

import pytest

from support.host import ONE, hugepages, needs, needs_root, needs_two_cpus, run
from support.peers import forwarding_testpmd, kernel_router, measured_plan
from support.verdicts import skip_where_busy

pytestmark = pytest.mark.alone

FRAMES = 100_000
TRIES = 6


def all_came_back(program, plan, *words):
    """Nothing lost, doubled or out of order; the document of the run.

    A trial during which an lcore lost its CPU is repeated, aloud.
    """
    for _ in range(TRIES):
        done = program.run("run", plan, *words, "--json")
        assert done.code == 0, done.err
        result = done.document
        if result["verdict"]["valid"]:
            break
        print("invalid:", *result["verdict"]["reasons"], sep="\n  ")
    skip_where_busy(result["verdict"])
    assert result["verdict"]["valid"], result["verdict"]
    back = result["total"]["received"]
    bad = [back[what] for what in ("lost", "duplicates", "reordered")]
    assert (back["frames"], *bad) == (result["total"]["tx_frames"], 0, 0, 0)
    return result


@needs("dpdk-testpmd")
@needs_two_cpus
@pytest.mark.parametrize("mode", ["io", "macswap", "5tswap"])
def test_testpmd_reflects_over_memif(program, tmp_path, mode):
    socket = tmp_path / "memif.sock"
    device = f"net_memif0,role=server,socket-abstract=no,socket={socket}"
    plan = measured_plan(tmp_path / "plan.json", [f"memif:{socket}"], frames=FRAMES, pps=50_000)
    with forwarding_testpmd([device], mode):
        all_came_back(program, plan, "-m", f"{ONE}.0")


@needs("dpdk-testpmd")
@needs_two_cpus
def test_testpmd_reflects_over_vhost(program, tmp_path):
    socket = tmp_path / "vhost.sock"
    location = f"virtio-user:{socket}"
    plan = measured_plan(tmp_path / "plan.json", [location], frames=FRAMES, pps=50_000)
    device = f"net_vhost0,iface={socket}"
    with hugepages(1024), forwarding_testpmd([device], "macswap", memory="hugepages"):
        all_came_back(program, plan, "-m", f"{ONE}.0")


def routed_plan(file, router, kind, *, version):
    """From our left end to our right one by way of the kernel's addresses."""
    left, right = (f"{kind}:{name}" for name in (router.left, router.right))
    end = {4: ("10.{0}.0.2", "10.{0}.0.1", 24), 6: ("fd0{0}::2", "fd0{0}::1", 64)}[version]
    devices = []
    for number, name in enumerate(("left", "right"), start=1):
        address = {
            "name": f"{name}-ip",
            "address": end[0].format(number),
            "gateway": end[1].format(number),
            "prefix": end[2],
        }
        ethernet = {
            "name": f"{name}-eth",
            "connection": {"choice": "port_name", "port_name": name},
            "mac": f"02:57:52:aa:00:0{number}",
            f"ipv{version}_addresses": [address],
        }
        devices.append({"name": name + "-host", "ethernets": [ethernet]})
    document = {
        "ports": [{"name": "left", "location": left}, {"name": "right", "location": right}],
        "devices": devices,
        "flows": [
            {
                "name": "routed",
                "tx_rx": {"device": {"tx_names": ["left-ip"], "rx_names": ["right-ip"]}},
                "packet": [{"choice": "ethernet"}, {"choice": f"ipv{version}"}, {"choice": "udp"}],
                "size": {"fixed": 128},
                "rate": {"pps": 20000},
                "duration": {"fixed_packets": {"packets": 40000}},
                "metrics": {"enable": True, "loss": True, "latency": {"enable": True}},
            }
        ],
    }
    file.write_text(json.dumps(document))
    return str(file)


@needs_root
@needs_two_cpus
@pytest.mark.parametrize("kind", ["af_packet", "af_xdp"])
@pytest.mark.parametrize("version", [4, 6])
def test_a_kernel_routes(program, tmp_path, kind, version):
    with kernel_router() as router:
        program.prefix = router.inside
        plan = routed_plan(tmp_path / "plan.json", router, kind, version=version)
        all_came_back(program, plan, "-m", f"{ONE}.0,{ONE}.1")


@needs("nft")
@needs_root
@needs_two_cpus
def test_a_kernel_translates(program, tmp_path):
    """Masquerading changes addresses, ports and checksums; the stamps are found all the same."""
    with kernel_router() as router:
        program.prefix = router.inside
        for words in (
            ("add", "table", "ip", "wr"),
            ("add", "chain", "ip", "wr", "out", "{ type nat hook postrouting priority 100 ; }"),
            ("add", "rule", "ip", "wr", "out", "oifname", "wr-far2", "masquerade"),
        ):
            run("ip", "netns", "exec", router.routes, "nft", *words)
        plan = routed_plan(tmp_path / "plan.json", router, "af_packet", version=4)
        all_came_back(program, plan, "-m", f"{ONE}.0,{ONE}.1")
