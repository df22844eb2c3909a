# SPDX-License-Identifier: BSD-3-Clause
"""The environment of a result, from made-up /proc and /sys."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

from wirerate.host.environment import environment

STARTED = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=timezone(timedelta(hours=1)))


def write(root, path, text):
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{text}\n")


def machine(root):
    flags = "flags\t\t: fpu tsc hypervisor"
    write(root, "proc/cpuinfo", f"processor\t: 0\nmodel name\t: Some CPU @ 2.5GHz\n{flags}")
    write(root, "proc/sys/kernel/osrelease", "6.1.0-9")
    write(root, "etc/os-release", 'NAME="X"\nPRETTY_NAME="Some Linux 12 (word)"')
    cpus = "sys/devices/system/cpu"
    write(root, f"{cpus}/online", "0-3")
    write(root, f"{cpus}/isolated", "2-3")
    for cpu, governor in enumerate(("powersave", "performance", "performance", "performance")):
        write(root, f"{cpus}/cpu{cpu}/cpufreq/scaling_governor", governor)
    for node in range(2):
        pages = f"sys/devices/system/node/node{node}/hugepages/hugepages-2048kB"
        write(root, f"{pages}/nr_hugepages", str(512 * node))
        write(root, f"{pages}/free_hugepages", "12")


def test_what_a_machine_tells(tmp_path):
    machine(tmp_path)
    made = environment("DPDK 22.11.11", STARTED, ["wirerate", "run", "x"], tmp_path)
    assert made.pop("python").startswith("3.")
    made.pop("wirerate")
    assert made == {
        "cpu": "Some CPU @ 2.5GHz",
        "cpus": 4,
        "numa_nodes": 2,
        "kernel": "6.1.0-9",
        "os": "Some Linux 12 (word)",
        "hypervisor": True,
        "governor": "performance, powersave",
        "isolated_cpus": [2, 3],
        "hugepages": [{"node": 1, "size_octets": 2 << 20, "pages": 512, "free_pages": 12}],
        "dpdk": "DPDK 22.11.11",
        "command": ["wirerate", "run", "x"],
        "started": "2026-01-02T02:04:05.678+00:00",
    }


def test_what_no_machine_tells_is_null(tmp_path):
    made = environment("DPDK", STARTED, [], tmp_path)
    unknown = {"cpu", "cpus", "numa_nodes", "kernel", "os", "governor", "isolated_cpus"}
    assert {name for name in unknown if made[name] is not None} == set()
    assert (made["hypervisor"], made["hugepages"]) == (False, [])


def test_the_real_one_is_json():
    made = environment("DPDK", STARTED)
    assert json.loads(json.dumps(made)) == made
    assert made["kernel"]
