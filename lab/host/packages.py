# SPDX-License-Identifier: BSD-3-Clause
"""Debian packages by an apt state of our own; the system's stays as it is.

The mirror is the one that the system's own sources name; the release's backports are looked at
besides. Packages are only downloaded and unpacked, nothing is installed. No root is needed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

_APT_S = 600
"""A download that takes longer than ten minutes has hung."""


class LabUnavailableError(Exception):
    """The lab cannot be had on this machine; the text is the reason, in a sentence."""


def os_release(text: str) -> dict[str, str]:
    """The fields of /etc/os-release (os-release(5))."""
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {key: value.strip("\"'") for key, value in pairs}


def sources_of(listing: str, release: str) -> list[str]:
    """One-line sources of `release` in a sources.list, with release's backports in place of it."""
    found = []
    for line in listing.splitlines():
        words = line.split("#")[0].split()
        if not words or words[0] != "deb":
            continue
        options = []
        if len(words) > 1 and words[1].startswith("["):
            end = next((at for at, word in enumerate(words) if word.endswith("]")), None)
            if end is None:
                continue
            options, words = words[1 : end + 1], [words[0], *words[end + 1 :]]
        if len(words) >= 4 and words[2].strip("/") == release:
            found += [
                " ".join(["deb", *options, words[1], suite, "main"]) for suite in _suites(release)
            ]
    return found


def stanzas_of(listing: str, release: str) -> list[str]:
    """Stanzas of `release` in a deb822 .sources file, with release's backports beside it."""
    found = []
    for stanza in listing.replace("\n\n", "\0").split("\0"):
        lines = [line for line in stanza.splitlines() if line and not line.startswith("#")]
        fields = {
            line.split(":", 1)[0].lower(): line.split(":", 1)[1]
            for line in lines
            if ":" in line and not line[0].isspace()
        }
        if (
            release not in fields.get("suites", "").split()
            or fields.get("enabled", "").strip() == "no"
        ):
            continue
        kept = _without(lines, {"suites", "components", "types", "enabled"})
        head = ["Types: deb", f"Suites: {' '.join(_suites(release))}", "Components: main"]
        found.append("\n".join([*head, *kept]) + "\n")
    return found


def _without(lines: list[str], fields: set[str]) -> list[str]:
    """The lines of a stanza but for some fields, which may go on over several lines."""
    kept, dropping = [], False
    for line in lines:
        if not line[0].isspace():
            dropping = line.split(":", 1)[0].lower() in fields
        if not dropping:
            kept.append(line)
    return kept


def _suites(release: str) -> list[str]:
    return [release, f"{release}-backports"]


class PrivateApt:
    """apt with a state of its own in one folder, which is its owner's to remove."""

    def __init__(self, folder: Path, release: str) -> None:
        """Write the configuration and fetch the lists. Raises LabUnavailableError."""
        self._folder = folder
        self._release = release
        for name in ("lists/partial", "cache/archives/partial", "parts", "unpacked"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        # A copy: apt locks the folder that it is in, and the system's is root's.
        shutil.copyfile("/var/lib/dpkg/status", folder / "status")
        self._write_sources()
        self._write_configuration()
        self._run(["apt-get", "update"], "fetch lists of packages")

    def _write_sources(self) -> None:
        etc = Path("/etc/apt")
        lists = [etc / "sources.list", *sorted(etc.glob("sources.list.d/*.list"))]
        lines = [
            line
            for path in lists
            if path.is_file()
            for line in sources_of(path.read_text(errors="replace"), self._release)
        ]
        stanzas = [
            stanza
            for path in sorted(etc.glob("sources.list.d/*.sources"))
            for stanza in stanzas_of(path.read_text(errors="replace"), self._release)
        ]
        if not lines and not stanzas:
            raise LabUnavailableError(
                f"/etc/apt has no source of {self._release}, so there is no mirror to ask for QEMU"
            )
        # One mirror is enough, and two would only ask twice.
        (self._folder / "sources.list").write_text("\n".join(lines[:2]) + "\n")
        if stanzas and not lines:
            (self._folder / "parts/lab.sources").write_text(stanzas[0])

    def _write_configuration(self) -> None:
        """Our folders, and what the system says of the network: proxies, certificates, retries."""
        asked = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True)
        network = [
            line
            for line in asked.stdout.splitlines()
            if line.startswith("Acquire::") and not line.startswith("Acquire::IndexTargets")
        ]
        folder = self._folder
        ours = {
            "Dir::State": folder,
            "Dir::State::lists": folder / "lists",
            "Dir::State::status": folder / "status",
            "Dir::Cache": folder / "cache",
            "Dir::Etc::sourcelist": folder / "sources.list",
            "Dir::Etc::sourceparts": folder / "parts",
            "Dir::Etc::parts": folder / "none",
            "Dir::Etc::main": "/dev/null",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": folder / "none",
            "APT::Sandbox::User": "",
            "APT::Install-Recommends": "false",
            "APT::Get::List-Cleanup": "false",
            "Acquire::Languages": "none",
            "Dir::Log": folder,
            "Acquire::Retries": "2",
        }
        (folder / "none").mkdir(exist_ok=True)
        text = network + [f'{key} "{value}";' for key, value in ours.items()]
        (folder / "apt.conf").write_text("\n".join(text) + "\n")

    def _run(self, command: list[str], purpose: str) -> str:
        environment = {**os.environ, "APT_CONFIG": str(self._folder / "apt.conf"), "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                timeout=_APT_S,
                env=environment,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as error:
            raise LabUnavailableError(f"cannot {purpose}: apt took over {_APT_S} s") from error
        # apt-get update only warns when a mirror cannot be reached.
        complaints = [
            line
            for line in (done.stderr + done.stdout).splitlines()
            if line.startswith(("E:", "Err:", "W: Failed to fetch"))
        ]
        if done.returncode or complaints:
            reason = complaints[-1] if complaints else f"{command[0]} gave {done.returncode}"
            raise LabUnavailableError(f"cannot {purpose}: {reason}")
        return done.stdout

    def version(self, package: str, suite: str) -> str:
        """The version of a package in a suite, as apt would install it; empty without one."""
        out = self._run(["apt-cache", "madison", package], f"look for {package}")
        for line in out.splitlines():
            _, version, where = (part.strip() for part in line.split("|"))
            if f" {suite}/" in where:
                return version
        return ""

    def unpack(self, packages: list[str], suite: str) -> Path:
        """Download packages and what they need that the system lacks; unpack all in one folder."""
        purpose = f"download {', '.join(packages)} of {suite}"
        archives = self._folder / "cache/archives"
        for old in archives.glob("*.deb"):
            old.unlink()
        self._run(
            [
                "apt-get",
                "--yes",
                "--download-only",
                "--reinstall",
                "-t",
                suite,
                "install",
                *packages,
            ],
            purpose,
        )
        for archive in sorted(archives.glob("*.deb")):
            self._run(
                ["dpkg", "-x", str(archive), str(self._folder / "unpacked")],
                f"unpack {archive.name}",
            )
            archive.unlink()
        return self._folder / "unpacked"
