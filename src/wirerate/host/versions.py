# SPDX-License-Identifier: BSD-3-Clause
"""Versions of kernel, Python, wirerate, engine and DPDK: what bug reports and results must name."""

from __future__ import annotations

import platform
import signal
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.host.findings import Finding, error, ok, warning
from wirerate.host.tree import ROOT, read_text, unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wirerate.errors import HostSetupError

    Run = Callable[[Sequence[str]], tuple[int, str]]

COMMAND_TIMEOUT_S = 5
LOADER_FAILED = 127  # exit code of a program whose shared libraries are missing
BUILD = "make build"


def run_command(command: Sequence[str]) -> tuple[int, str]:
    """Return (exit code, stdout and stderr); (-1, reason) when it cannot run or takes over 5 s."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
    except (OSError, ValueError) as problem:
        return -1, str(problem)
    except subprocess.TimeoutExpired:
        return -1, f"no answer within {COMMAND_TIMEOUT_S} s"
    return done.returncode, (done.stdout + done.stderr).strip()


def probe_versions(
    root: Path = ROOT,
    *,
    engine: Path | HostSetupError | None = None,
    run: Run = run_command,
) -> list[Finding]:
    """Return findings on every version.

    `engine` is the binary that a measurement would start, or the error of looking for it.
    """
    findings = [_kernel(root), ok("versions", f"Python {platform.python_version()}"), _wirerate()]
    if not isinstance(engine, Path):
        text = f"nothing can be measured: {engine or 'wirerate-engine is not found'}"
        return [*findings, error("versions", text, BUILD), _dpdk_to_build_with(run)]
    return findings + _engine(engine, run)


def _kernel(root: Path) -> Finding:
    path = root / "proc/sys/kernel/osrelease"
    release = read_text(path)
    if not release:
        return warning("versions", f"kernel unknown: {unreadable(path)}")
    return ok("versions", f"Linux {release} {platform.machine()}")


def _wirerate() -> Finding:
    try:
        return ok("versions", f"wirerate {version('wirerate')}")
    except PackageNotFoundError:
        return ok("versions", "wirerate from a source tree, not installed")


def _engine(engine: Path, run: Run) -> list[Finding]:
    """Ask the engine for its version and DPDK's."""
    code, output = run([str(engine), "--version"])
    said = (output.splitlines() or ["no output"])[0]
    if code == LOADER_FAILED:
        fix = f"ldd {engine} | grep 'not found'  (install what it names, or {BUILD})"
        return [error("versions", f"{engine} does not start: {said}", fix)]
    if code == -signal.SIGILL:
        text = f"{engine} uses instructions that this CPU does not have: built for another machine"
        return [error("versions", text, BUILD)]
    if code != 0:
        return [error("versions", f"{engine} --version failed ({code}): {said}", BUILD)]
    findings = [ok("versions", f"{said} at {engine}")]
    return findings if "DPDK" in said else [*findings, _dpdk_installed(run)]


def _dpdk_installed(run: Run) -> Finding:
    found = _libdpdk(run)
    return ok("versions", f"DPDK {found} (pkg-config)" if found else "DPDK: version not told")


def _dpdk_to_build_with(run: Run) -> Finding:
    found = _libdpdk(run)
    if found:
        return ok("versions", f"DPDK {found} (pkg-config)")
    text = "no DPDK to build the engine with: pkg-config finds no libdpdk"
    return warning("versions", text, "apt-get install libdpdk-dev pkg-config")


def _libdpdk(run: Run) -> str | None:
    """Return the version of the libdpdk that pkg-config knows; None without one."""
    code, output = run(["pkg-config", "--modversion", "libdpdk"])
    return output if code == 0 and output else None
