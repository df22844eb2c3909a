# SPDX-License-Identifier: BSD-3-Clause
"""Virtual functions of igb: of a PF that the kernel drives, and of one that DPDK drives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lab.guest.results import reasons_against
from lab.machine import Machine, Nic, mac

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(nics=(Nic("igb"), Nic("igb")), timeout_s=900)
_FRAMES = 2000
_MACS = ("02:00:00:00:0a:00", "02:00:00:00:0a:01")
_SHARED_UUID = "2ab74924-c335-45f4-9b16-8569e5b08258"
_FLOW = """
  - name: {name}
    tx_rx: {{port: {{tx_name: {tx}, rx_names: [{rx}]}}}}
    packet:
      - ethernet: {{dst: {{value: "{dst}"}}, src: {{choice: auto}}}}
      - ipv4: {{src: {{value: 198.18.0.1}}, dst: {{value: 198.19.0.1}}}}
      - udp: {{src_port: {{value: 1024}}, dst_port: {{value: 9}}}}
    size: {{fixed: 128}}
    rate: {{pps: 1000}}
    duration: {{fixed_packets: {{packets: {frames}}}}}
    metrics: {{enable: true}}
"""
_ALL = "ff:ff:ff:ff:ff:ff"
_DEVICES = Path("/sys/bus/pci/devices")


def run(guest: Guest) -> None:
    """Frames from VF to VF, from VF to wire and back."""
    _check_kernels_pf(guest)
    _check_dpdks_pf(guest)


def _functions(address: str, count: int) -> list[str]:
    """Make VFs of a PF, which no driver takes by itself; their PCI addresses."""
    pf = _DEVICES / address
    (pf / "sriov_drivers_autoprobe").write_text("0")
    (pf / "sriov_numvfs").write_text(str(count))
    return [(pf / f"virtfn{number}").resolve().name for number in range(count)]


def _plan(ports: dict[str, str], flows: list[tuple[str, str, str]]) -> str:
    """A plan of ports by name, and flows (from, to, Ethernet destination)."""
    lines = ["ports:"]
    lines += [f'  - {{name: {name}, location: "{place}"}}' for name, place in ports.items()]
    text = "\n".join([*lines, "flows:"])
    for tx, rx, dst in flows:
        text += _FLOW.format(name=f"{tx}-{rx}", tx=tx, rx=rx, dst=dst, frames=_FRAMES)
    return text


def _check(guest: Guest, what: str, plan: str, *options: str) -> None:
    path = Path("/run/plan.yaml")
    path.write_text(plan)
    ran = guest.wirerate("run", *options, str(path), "--cpu-saver", "--json")
    if not guest.checks.equal(f"{what}: exit code", ran.code, 0):
        print(ran)
        return
    document = ran.document
    for flow in document["flows"]:
        back = flow["received"]
        told = (flow["tx_frames"], back["frames"], back["lost"], back["misdirected"])
        title = f"{what}: {flow['name']}: sent, received, lost, misdirected"
        guest.checks.equal(title, told, (_FRAMES, _FRAMES, 0, 0))
    for port in document["ports"]:
        counted = (port["device"]["opackets"], port["device"]["ipackets"])
        handed = (port["tx_frames"], port["rx_frames"])
        if port["name"] == "pf":
            handed = (2 * _FRAMES, _FRAMES)  # its counters are those of its line: VFs count, too
        title = f"{what}: {port['name']} ({port['driver']}): sent and received by its device"
        guest.checks.equal(title, counted, handed)
    against = [reason for reason in reasons_against(document) if "port pf" not in reason]
    guest.checks.equal(f"{what}: blamed but for times and the PF's counters", against, [])


def _check_kernels_pf(guest: Guest) -> None:
    (interface,) = guest.kernel(0)
    (wire,) = guest.vfio(1)
    guest.run(["ip", "link", "set", interface, "up"])
    functions = _functions(guest.address(0), 2)
    for number, (address, own) in enumerate(zip(functions, _MACS, strict=True)):
        guest.run(["ip", "link", "set", interface, "vf", str(number), "mac", own])
        guest.bind(address, "vfio-pci")
    ports = {"vf0": functions[0], "vf1": functions[1], "wire": wire}
    flows = [
        ("vf0", "wire", mac(1)),
        ("wire", "vf0", _MACS[0]),
        ("vf0", "vf1", _MACS[1]),
        ("vf1", "wire", mac(1)),
    ]
    _check(guest, "the kernel's PF", _plan(ports, flows))
    (_DEVICES / guest.address(0) / "sriov_numvfs").write_text("0")


def _check_dpdks_pf(guest: Guest) -> None:
    """The PF and its VF belong to one process, which opens both by the same token.

    Frames from the wire are broadcasts: QEMU's igb gives no unicast to a PF that DPDK drives beside
    VFs, and the VF's address is made up when the PF is opened.
    """
    pf, wire = guest.vfio(0, 1)
    Path("/sys/module/vfio_pci/parameters/enable_sriov").write_text("1")
    (function,) = _functions(pf, 1)
    guest.bind(function, "vfio-pci")
    ports = {"pf": pf, "vf": function, "wire": wire}
    plan = _plan(ports, [("pf", "wire", mac(1)), ("vf", "wire", mac(1)), ("wire", "vf", _ALL)])
    _check(guest, "DPDK's PF", plan, "--vfio-vf-token", _SHARED_UUID, "--")
    ran = guest.wirerate("perf", function, "--duration", "1", "--json")
    guest.checks.that(ran.code in {3, 4}, "a VF without its token is refused", ran.code)
    print(ran.err)
