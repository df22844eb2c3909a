# SPDX-License-Identifier: BSD-3-Clause
"""Which groups of `wirerate kernel-path` can run on this machine, and why others cannot."""

from __future__ import annotations

import os
import re
import shutil
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.errors import HostSetupError
from wirerate.host.tree import ROOT, is_there, read_text
from wirerate.plan.kernel_path_settings import MODES, Group

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wirerate.plan.kernel_path_settings import KernelPathSettings

_PACKAGES = {
    "iperf3": "iperf3",
    "ping": "iputils-ping",
    "ip": "iproute2",
    "ethtool": "ethtool",
    "setpriv": "util-linux",
}
"""The programs that are run, and Debian's packages of them."""
_AF_XDP = 44
"""AF_XDP of linux/socket.h, which Python's socket does not have."""
_KNI_GONE = (23, 11)
"""The first DPDK without KNI (its release notes)."""


@dataclass(frozen=True)
class RowName:
    """A row of the table; ``mode`` is empty for linux, which has no application."""

    group: Group
    mode: str = ""

    def __str__(self) -> str:
        return f"{self.group.value} {self.mode}".strip()


@dataclass(frozen=True)
class CannotRun:
    """Why a group cannot run here, and a command or a step that would change it."""

    reason: str
    hint: str


def row_names(settings: KernelPathSettings) -> list[RowName]:
    """All rows that were asked for, in the order of the table."""
    modes = [mode for mode in MODES if mode in settings.modes]
    return [
        name
        for group in Group
        if group in settings.groups
        for name in (
            [RowName(group)] if group is Group.LINUX else [RowName(group, mode) for mode in modes]
        )
    ]


def check_tools(which: Callable[[str], str | None] = shutil.which) -> None:
    """Nothing can be measured without root and some programs. Raises HostSetupError."""
    lacking = lacking_tools(which)
    if lacking is not None:
        raise HostSetupError(f"{lacking.reason}: {lacking.hint}")


def lacking_tools(which: Callable[[str], str | None] = shutil.which) -> CannotRun | None:
    """What keeps every group from running: no root, or no program; None where nothing does."""
    if os.geteuid() != 0:
        return CannotRun(
            "kernel-path makes network namespaces and interfaces, which needs root",
            "run it with sudo",
        )
    missing = [program for program in _PACKAGES if which(program) is None]
    if not missing:
        return None
    packages = " ".join(dict.fromkeys(_PACKAGES[program] for program in missing))
    return CannotRun(f"{', '.join(missing)} missing", f"apt-get install {packages}")


def cannot_run(
    group: Group, settings: KernelPathSettings, dpdk: str, root: Path = ROOT
) -> CannotRun | None:
    """Why a group cannot run here; None where it can. ``dpdk``: the engine's version of it."""
    if group is Group.LINUX:
        return _linux(settings)
    if group is Group.TAP:
        return _device(root, "dev/net/tun", "tun")
    if group is Group.AF_PACKET:
        return None
    if group is Group.AF_XDP:
        return _af_xdp()
    if group is Group.VIRTIO_USER:
        return _device(root, "dev/vhost-net", "vhost_net")
    return _kni(dpdk, root)


def _linux(settings: KernelPathSettings) -> CannotRun | None:
    if settings.real is None or settings.real.linux_interface is not None:
        return None
    return CannotRun(
        "the port is not Linux's while the others are measured",
        "--linux-interface NAME, an interface with its own address on the same wire",
    )


def _device(root: Path, name: str, module: str) -> CannotRun | None:
    """A character device that a module of the kernel makes."""
    if is_there(root / name):
        return None
    release = read_text(root / "proc/sys/kernel/osrelease") or ""
    folder = root / "lib/modules" / release
    listed = "".join(read_text(folder / file) or "" for file in ("modules.dep", "modules.builtin"))
    if re.search(rf"/{module}\.ko", listed):
        return CannotRun(f"no /{name}", f"modprobe {module}")
    return CannotRun(
        f"no /{name}, and kernel {release} has no module {module}",
        f"a kernel with {module}, such as Debian's linux-image-amd64; then modprobe {module}",
    )


def _af_xdp() -> CannotRun | None:
    try:
        socket.socket(_AF_XDP, socket.SOCK_RAW).close()
    except PermissionError:
        return None  # the kernel has it; who is not root is told so for all groups
    except OSError as error:
        return CannotRun(
            f"no AF_XDP socket can be made: {error.strerror}",
            "a kernel with CONFIG_XDP_SOCKETS, such as Debian's linux-image-amd64",
        )
    return None


def _kni(dpdk: str, root: Path) -> CannotRun | None:
    found = re.search(r"(\d+)\.(\d+)", dpdk)
    if found and (int(found[1]), int(found[2])) >= _KNI_GONE:
        return CannotRun(
            f"{dpdk} has no KNI: it was removed in 23.11", "an engine that is built with DPDK 22.11"
        )
    if is_there(root / "dev/kni"):
        return None
    return CannotRun(
        "no /dev/kni: the module rte_kni is not loaded",
        "modprobe rte_kni; it is in DPDK's source up to 23.07 (meson -Denable_kmods=true)",
    )
