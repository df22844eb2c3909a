# SPDX-License-Identifier: BSD-3-Clause
"""Rows of `wirerate kernel-path` as far as no namespace and no engine is needed."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.made_up_bridge import FakeBridge, real, settings
from wirerate.errors import EngineDiedError, HostSetupError, TrialError
from wirerate.host.iperf3 import Iperf3Result, ServerGoneError
from wirerate.host.ping import PingResult
from wirerate.methods import kernel_path, kernel_row
from wirerate.methods.kernel_fast_path import fast_document, fast_plan, parse_generated
from wirerate.methods.kernel_groups import RowName, cannot_run, check_tools, row_names
from wirerate.methods.kernel_row import Row, Watch
from wirerate.methods.kernel_site import Link
from wirerate.methods.kernel_transfer import Counts, Sample, Transferred
from wirerate.plan.decode import decode_plan
from wirerate.plan.kernel_path_settings import Group, Transfer
from wirerate.trial.bridge_look import BridgeLook

RECORDED = Path(__file__).parent.parent / "support/recorded"
DPDK = "DPDK 22.11.11"


def test_rows_are_in_the_order_of_the_table():
    names = row_names(settings(groups=(Group.TAP, Group.LINUX), modes=("dedicated", "shared")))
    assert [str(name) for name in names] == ["linux", "tap shared", "tap dedicated"]
    assert len(row_names(settings())) == 11
    assert row_names(settings(groups=(Group.KNI,), modes=("shared",))) == [
        RowName(Group.KNI, "shared")
    ]


def why(*words: Any) -> Any:
    """Why a group cannot run, which it cannot."""
    return cannot_run(*words)


def machine(root, *files, modules=""):
    for name in (*files, "proc/sys/kernel/osrelease"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("6.1\n")
    (root / "lib/modules/6.1").mkdir(parents=True)
    (root / "lib/modules/6.1/modules.dep").write_text(modules)
    return root


def test_what_has_its_device_can_run(tmp_path):
    root = machine(tmp_path, "dev/net/tun", "dev/vhost-net", "dev/kni")
    for group in Group:
        if group is not Group.AF_XDP:  # asks the kernel itself
            assert cannot_run(group, settings(), DPDK, root) is None


def test_a_module_that_is_there_is_to_be_loaded(tmp_path):
    root = machine(tmp_path, modules="kernel/drivers/vhost/vhost_net.ko.xz: kernel/x.ko\n")
    found = why(Group.VIRTIO_USER, settings(), DPDK, root)
    assert (found.reason, found.hint) == ("no /dev/vhost-net", "modprobe vhost_net")
    assert "no module tun" in why(Group.TAP, settings(), DPDK, root).reason


@pytest.mark.parametrize(
    ("dpdk", "said"),
    [("DPDK 23.11.0", "removed in 23.11"), ("DPDK 24.03.0", "removed"), (DPDK, "no /dev/kni")],
)
def test_kni_needs_an_old_dpdk_and_its_module(tmp_path, dpdk, said):
    assert said in why(Group.KNI, settings(), dpdk, machine(tmp_path)).reason


def test_linux_on_a_real_port_needs_an_interface():
    asked = settings(real=real())
    assert "--linux-interface" in why(Group.LINUX, asked, DPDK).hint
    assert cannot_run(Group.LINUX, settings(real=real(linux_interface="e")), DPDK) is None


def test_missing_tools_and_rights_are_named(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(HostSetupError, match=r"^iperf3, ping missing: .* iperf3 iputils-ping$"):
        check_tools(lambda name: None if name in {"iperf3", "ping"} else name)
    check_tools(lambda name: name)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(HostSetupError, match="sudo"):
        check_tools(lambda name: name)


def test_an_ordinary_user_is_not_told_that_the_kernel_lacks_af_xdp(monkeypatch):
    def refused(error):
        def socket(*_):
            raise error

        return socket

    monkeypatch.setattr("socket.socket", refused(PermissionError(1, "not permitted")))
    assert cannot_run(Group.AF_XDP, settings(), DPDK) is None
    monkeypatch.setattr("socket.socket", refused(OSError(97, "not supported")))
    assert "CONFIG_XDP_SOCKETS" in why(Group.AF_XDP, settings(), DPDK).hint


# --- Rows --------------------------------------------------------------------------------------


def done(kind):
    counts = {"to_near": 10_000, "to_near_octets": 15_180_000, "from_near": 10_000}
    after = Counts(**counts, from_near_octets=15_180_000, kernel_in=9, kernel_out=9)
    nothing = Sample(Counts(0, 0, 0, 0, 0, 0), 0, BridgeLook(0, busy_ns={}))
    said = Iperf3Result(1.0, 14_480_000, 14_480_000, 0, 1448, None, None, 0.5, 0.5)
    if kind.udp:
        said = Iperf3Result(1.0, 14_720_000, 14_720_000, None, 1472, 10_000, 0, 0.5, 0.5)
    look = BridgeLook(1, busy_ns={0: 5}, cpu_ns=9)
    return Transferred(kind, said, PingResult(0), nothing, Sample(after, 1, look))


class FakeSite:
    """A site whose link is always the same."""

    def __init__(self, application, far="far"):
        self.made = Link("near", far, "198.18.0.1", 5201, "kp", application)
        self.works = []

    @contextmanager
    def link(self, _row, work_ns=0):
        self.works.append(work_ns)
        yield self.made


@pytest.fixture
def quick(monkeypatch):
    """Nothing is run: transfers and pings are made up."""
    monkeypatch.setattr(kernel_row, "wait_until_reachable", lambda *_: None)
    monkeypatch.setattr(kernel_row, "pinged", lambda *_: PingResult(2, (1.0, 2.0)))
    monkeypatch.setattr(kernel_row, "transfer", lambda _link, _settings, kind, _tick: done(kind))
    monkeypatch.setattr(
        kernel_row, "started", lambda *_: nullcontext(SimpleNamespace(running=lambda: True))
    )
    monkeypatch.setattr(kernel_row, "generator", lambda *_: nullcontext(None))
    monkeypatch.setattr(kernel_row, "_when_moving", lambda *_: BridgeLook(-10, busy_ns={}))
    text = (RECORDED / "run_fast_path.json").read_text()
    monkeypatch.setattr(kernel_row, "result_of", lambda *_: parse_generated(text, ""))


def row(**other):
    said: list[str] = []
    return Row(RowName(Group.TAP, "shared"), settings(**other), lambda: None, said.append), said


@pytest.mark.usefixtures("quick")
def test_a_row_is_all_of_the_contract():
    one, said = row()
    site = FakeSite(FakeBridge())
    one.measure(site)
    assert site.works == [0, 5_000]
    found = one.document(None, 8)
    assert found["status"] == "ok"
    assert found["verdict"] == {"valid": True, "reasons": [], "notes": ["a note"]}
    assert found["steering"] == {"by": "software", "reason": "no rules here"}
    assert found["sleep_ns"] == 50_000
    assert set(found["tests"]) == {kind.value for kind in Transfer}
    assert set(found["ping"]) == {"idle", "saturated", *found["tests"]}
    assert found["fast_path"]["idle"]["p50_us"] == pytest.approx(27.328)
    assert set(found["fast_path"]) == {"idle", "loaded", "saturated"}
    assert [len(test["repeats"]) for test in found["tests"].values()] == [2, 2, 2, 2]
    assert "TCP read, 2 of 2" in said
    json.dumps(found)


@pytest.mark.usefixtures("quick")
def test_linux_and_real_ports_have_no_fast_path():
    for site in (FakeSite(None), FakeSite(FakeBridge(), far=None)):
        one, _ = row()
        one.measure(site)
        found = one.document(None, 8)
        assert found["fast_path"] is None
        assert found["ping"]["saturated"] is None


@pytest.mark.usefixtures("quick")
def test_a_transfer_that_fails_leaves_the_others(monkeypatch):
    def failing(_link, _settings, kind, _tick):
        if kind is Transfer.UDP_READ:
            raise TrialError("no server")
        return done(kind)

    monkeypatch.setattr(kernel_row, "transfer", failing)
    one, _ = row()
    one.measure(FakeSite(FakeBridge()))
    found = one.document(None, 8)
    assert found["tests"]["udp_read"] == {"status": "failed", "reason": "no server"}
    assert found["tests"]["udp_write"]["status"] == "ok"
    assert found["verdict"]["reasons"] == ["UDP read: no server"]


@pytest.mark.usefixtures("quick")
def test_a_server_elsewhere_that_is_gone_ends_the_row(monkeypatch):
    def failing(_link, _settings, kind, _tick):
        if kind is not Transfer.TCP_READ:
            raise ServerGoneError("no server")
        return done(kind)

    monkeypatch.setattr(kernel_row, "transfer", failing)
    one, _ = row()
    with pytest.raises(ServerGoneError, match="no server"):
        one.measure(FakeSite(FakeBridge(), far=None))
    one.measure(FakeSite(FakeBridge()))


@pytest.mark.usefixtures("quick")
def test_a_fast_path_that_fails_leaves_the_transfers(monkeypatch):
    def failing(*_):
        raise TrialError("no frame")

    monkeypatch.setattr(kernel_row, "result_of", failing)
    one, _ = row()
    one.measure(FakeSite(FakeBridge()))
    found = one.document(None, 8)
    assert found["fast_path"] is None
    assert "fast path: no frame" in found["verdict"]["reasons"]
    assert found["tests"]["tcp_read"]["status"] == "ok"


def test_waiting_sees_a_dead_engine_and_an_interface_that_vanished():
    bridge: Any = FakeBridge()
    watch = Watch(lambda: None, bridge)
    watch.look()
    bridge.gone = "interface kp is gone"
    with pytest.raises(HostSetupError, match="kp is gone"):
        Watch(lambda: None, bridge).look()
    bridge.died = "killed"
    with pytest.raises(EngineDiedError, match="killed"):
        Watch(lambda: None, bridge).look()


@pytest.fixture
def path(monkeypatch):
    """A comparison of three rows, whose `measure` is made up."""
    monkeypatch.setattr(kernel_path, "check_tools", lambda: None)
    monkeypatch.setattr(kernel_path, "dpdk_version", lambda: DPDK)
    monkeypatch.setattr(kernel_path, "find_leftovers", list)
    monkeypatch.setattr(kernel_path, "other_runs", lambda: [77])
    monkeypatch.setattr(
        kernel_path, "SelfContained", lambda *_: nullcontext(FakeSite(FakeBridge()))
    )
    monkeypatch.setattr(kernel_path, "cannot_run", lambda *_: None)
    groups = (Group.LINUX, Group.TAP)
    return kernel_path.KernelPath(settings(groups=groups), lambda _: None)


@pytest.mark.usefixtures("quick")
def test_a_row_that_fails_leaves_the_others(path, monkeypatch):
    measure = Row.measure

    def failing(self, site):
        if self._name.mode == "shared":
            raise EngineDiedError("the engine was killed")
        measure(self, site)

    monkeypatch.setattr(Row, "measure", failing)
    found = path.run()
    assert [one["status"] for one in found["rows"]] == ["ok", "failed", "ok"]
    assert found["verdict"]["reasons"] == ["tap shared: the engine was killed"]
    assert "process 77" in found["verdict"]["notes"][0]
    assert found["schema"] == "wirerate-kernel-path/1"
    json.dumps(found)


@pytest.mark.usefixtures("quick")
def test_stopped_it_measures_no_more(path, monkeypatch):
    def stopping(_self, _site):
        path.stop()
        raise InterruptedError

    monkeypatch.setattr(Row, "measure", stopping)
    found = path.run()
    assert [one["reason"] for one in found["rows"]] == [
        "interrupted",
        *["interrupted before it was measured"] * 2,
    ]
    assert path.stopped


def test_nothing_that_can_run_is_no_valid_result(path, monkeypatch):
    lacking = SimpleNamespace(reason="no device", hint="modprobe it")
    monkeypatch.setattr(kernel_path, "cannot_run", lambda *_: lacking)
    found = path.run()
    assert found["verdict"]["reasons"] == ["no row can run here"]
    assert {(one["status"], one["hint"]) for one in found["rows"]} == {
        ("cannot run", "modprobe it")
    }


# --- The fast path -----------------------------------------------------------------------------


def test_the_generators_plan_is_one():
    (flow,) = decode_plan(fast_plan(10_000)).flows
    assert flow.measured


def test_what_the_generator_found():
    found = parse_generated((RECORDED / "run_fast_path.json").read_text(), "")
    assert fast_document(found) == {
        "offered_fps": 10_000.0,
        "sent": 10_000,
        "lost": 0,
        "loss": 0.0,
        "p50_us": pytest.approx(27.328),
        "p99_us": pytest.approx(1097.3184),
    }
    for text in ("", "{}", '{"flows": []}', '{"flows": [{"received": null, "latency_ns": null}]}'):
        with pytest.raises(TrialError, match="it complained"):
            parse_generated(text, "it complained")
