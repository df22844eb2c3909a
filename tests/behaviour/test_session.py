# SPDX-License-Identifier: BSD-3-Clause
"""The Python API: sessions and forwarders in this process, and what they leave behind: nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import wirerate
from support.program import wait_for
from support.verdicts import only_for_want_of_cpu

ENGINE = "wirerate-engine"


def plan_of(*, location="ring:demo", measured=True, pps=2000):
    return {
        "ports": [{"name": "west", "location": location}],
        "flows": [
            {
                "name": "web",
                "tx_rx": {"port": {"tx_name": "west", "rx_names": ["west"]}},
                "packet": [
                    {"ethernet": {"dst": {"value": "02:00:00:00:00:01"}}},
                    {"ipv4": {"dst": {"value": "198.19.0.1"}}},
                    {"udp": {"dst_port": {"value": 9}}},
                ],
                "size": {"fixed": 128},
                "rate": {"pps": pps},
                "metrics": {"enable": measured},
            }
        ],
    }


@pytest.fixture(autouse=True)
def places(monkeypatch, tmp_path):
    """Run directories of this test alone; none of them, and no engine, is left at its end."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    yield tmp_path
    assert engines_of(os.getpid()) == []
    assert left_in(tmp_path) == []


def left_in(folder):
    return [path for path in folder.glob("wirerate/*") if path.is_dir()]


def engines_of(parent):
    """Process ids of the engines that a process has started."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (process / "stat").read_text().rpartition(")")
            if ENGINE[:15] in name and int(rest.split()[1]) == parent:
                found.append(int(process.name))
        except OSError:
            continue
    return found


def said(result):
    return {"valid": result.valid, "reasons": result.reasons, "notes": result.notes}


def test_several_trials_in_one_session(tmp_path):
    with wirerate.Session(plan_of()) as session:
        results = [session.run(0.2), session.run("300ms"), session.run(0.2)]
    for result in results:
        assert only_for_want_of_cpu(said(result))
        flow = result.flow("web")
        assert flow.tx_frames == result.tx_frames == flow.rx_frames + flow.lost
        latency = flow.latency
        assert latency.minimum is not None
        assert latency.p99 is not None
        assert latency.p99 >= latency.minimum
        assert result.lost == flow.lost
    assert "Verdict: " in str(results[0])
    assert results[0].port("west").location == "ring:demo"
    results[1].save(tmp_path / "run.json")
    document = json.loads((tmp_path / "run.json").read_text())
    assert document == results[1].document()
    assert document["flows"][0]["tx_frames"] == results[1].tx_frames


def test_snapshots_lead_to_the_result():
    with wirerate.Session(plan_of()) as session:
        trial = session.trial(0.5, period=0.1)
        seen = list(trial)
        result = trial.result
    assert [snapshot.number for snapshot in seen] == list(range(len(seen)))
    counts = [snapshot.flows["web"].tx_frames for snapshot in seen]
    assert counts == sorted(counts)
    assert counts[-1] <= result.tx_frames
    assert all(snapshot.ports["west"].tx_frames == snapshot.tx_frames for snapshot in seen)
    assert trial.result is result


def test_a_loop_that_is_left_early_leaves_the_trial_to_be_stopped():
    with wirerate.Session(plan_of()) as session:
        trial = session.trial(60, period=0.05)
        for _ in trial:
            break
        with pytest.raises(wirerate.SessionError, match="a trial is still running"):
            session.run(0.1)
        trial.stop()
        assert trial.result.interrupted
        assert not session.run(0.1).interrupted


def test_what_a_callback_raises_ends_the_trial_alone():
    def refuse(snapshot):
        raise ValueError(snapshot.number)

    with wirerate.Session(plan_of()) as session:
        with pytest.raises(ValueError, match="0"):
            session.run(60, period=0.05, on_snapshot=refuse)
        assert session.run(0.1).tx_frames > 0


def test_two_sessions_at_once_and_threads():
    with wirerate.Session(plan_of()) as one, wirerate.Session(plan_of()) as other:
        results = {}
        threads = [
            threading.Thread(
                target=lambda name=name, session=session: results.update({name: session.run(0.3)})
            )
            for name, session in (("one", one), ("other", other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {name: result.tx_frames > 0 for name, result in results.items()} == {
        "one": True,
        "other": True,
    }


@pytest.mark.parametrize("how", ["stop", "close"])
def test_a_trial_is_ended_from_another_thread(how):
    begun = threading.Event()
    ended: list[Any] = []

    def measure():
        try:
            ended.append(session.run(60, period=0.02, on_snapshot=lambda _: begun.set()))
        except wirerate.SessionError as error:
            ended.append(error)

    with wirerate.Session(plan_of()) as session:
        thread = threading.Thread(target=measure)
        thread.start()
        assert begun.wait(60)
        getattr(session, how)()
        thread.join()
    if how == "stop":
        assert ended[0].interrupted
        assert ended[0].tx_frames > 0
    else:  # a result, or why there is none: the end may come between two snapshots
        assert "it was closed" in str(ended[0]) or ended[0].interrupted


def test_used_after_its_end():
    session = wirerate.Session(plan_of())
    with pytest.raises(wirerate.SessionError, match="not open; use it in a with statement"):
        session.run(1)
    with session:
        pass
    for use in (session.run, session.trial, session.warm_up):
        with pytest.raises(wirerate.SessionError, match="it was closed; open a new one"):
            use(1)
    with pytest.raises(wirerate.SessionError, match="it was closed"):
        session.open()
    session.close()
    session.stop()


def test_a_plan_that_was_changed():
    plan = plan_of()
    with wirerate.Session(plan) as session:
        plan["flows"][0]["rate"]["pps"] = 7
        with pytest.raises(wirerate.SessionError) as raised:
            session.run(0.1)
    assert str(raised.value) == (
        "the plan was changed after its session began: flows[0].rate.pps was 2000 and is 7; make "
        "another session of it"
    )


def test_loss_that_nobody_measured_is_not_zero():
    with wirerate.Session(plan_of(measured=False)) as session:
        result = session.run(0.1)
    assert not result.measured
    with pytest.raises(wirerate.SessionError, match="flow web is not measured"):
        _ = result.flow("web").latency
    with pytest.raises(wirerate.SessionError, match="is not measured, so that its loss"):
        _ = result.lost
    with pytest.raises(wirerate.SessionError, match="no such flow; there are: web"):
        result.flow("wbe")


def test_a_trial_without_an_end_is_refused():
    with (
        wirerate.Session(plan_of()) as session,
        pytest.raises(wirerate.PlanError, match="flow web has no end"),
    ):
        session.run()


def test_one_device_is_of_one_session(tmp_path):
    location = f"memif:{tmp_path}/dut.sock,role=server"
    with wirerate.reflect(location) as dut:
        with pytest.raises(wirerate.SessionError, match="another session of this process has it"):
            wirerate.Session(plan_of(location=location)).open()
        assert dut.result().rx_frames == 0
    with wirerate.reflect(location):
        pass  # it is free again


def test_a_forwarder_is_a_device_under_test(tmp_path):
    west, east = f"memif:{tmp_path}/west.sock", f"memif:{tmp_path}/east.sock"
    plan = plan_of()
    plan["ports"] = [{"name": "west", "location": west}, {"name": "east", "location": east}]
    plan["flows"][0]["tx_rx"]["port"]["rx_names"] = ["east"]
    server = ",role=server"
    with wirerate.forward(west + server, east + server, drop=0.5, listen="0") as dut:
        with wirerate.Session(plan, peer=dut.address) as session:
            result = session.run(0.5)
        now = dut.result()
    after = dut.result()
    assert now.rx_frames == after.rx_frames == result.tx_frames
    assert now.dropped == result.lost > 0
    assert dut.result().engine_death is None
    assert after.document()["schema"] == "wirerate-forward/1"


def test_an_engine_that_dies_is_told_in_the_result():
    with wirerate.Session(plan_of()) as session:
        trial = session.trial(60, period=0.05)
        next(trial)
        os.kill(engines_of(os.getpid())[0], signal.SIGKILL)
        result = trial.result
        assert not result.valid
        assert "killed by SIGKILL" in result.reasons[0]
        assert "killed by SIGKILL" in str(result.engine_death)
        with pytest.raises(wirerate.EngineDiedError, match="killed by SIGKILL"):
            session.run(0.1)


SCRIPT = """
import json, sys, wirerate
session = wirerate.Session(json.loads(sys.argv[1]))
session.open()
session.run(60, period=0.05, on_snapshot=lambda _: print("sending", flush=True))
"""


def test_ctrl_c_ends_traffic_and_engine_without_a_with_statement(places):
    code = (
        "try:\n"
        f"{''.join(f'    {line}' + chr(10) for line in SCRIPT.splitlines())}"
        "except KeyboardInterrupt:\n"
        "    try:\n"
        "        session.run(1)\n"
        "    except wirerate.SessionError as error:\n"
        "        print(error, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(plan_of())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "sending\n"
        assert len(engines_of(process.pid)) == 1
        process.send_signal(signal.SIGINT)
        lines = iter(process.stdout.readline, "")
        refusal = next(line for line in lines if line != "sending\n")
        assert refusal == "session: it was interrupted; open a new one\n"
        wait_for("the engine's end", lambda: not engines_of(process.pid))
        assert left_in(places) == []
        process.stdin.close()
        assert process.wait(60) == 0
