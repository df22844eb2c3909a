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


def sources_of(listing: str, release: str, suites: tuple[str, ...] = ()) -> list[str]:
    """One-line sources of `release` in a sources.list, with the suites in place of it.

    Suites: the release and its backports, if none are given.
    """
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
                " ".join(["deb", *options, words[1], suite, "main"])
                for suite in suites or _suites(release)
            ]
    return found


def stanzas_of(listing: str, release: str, suites: tuple[str, ...] = ()) -> list[str]:
    """Stanzas of `release` in a deb822 .sources file, with the suites in its place."""
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
        head = ["Types: deb", f"Suites: {' '.join(suites or _suites(release))}", "Components: main"]
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


def _suites(release: str) -> tuple[str, ...]:
    return (release, f"{release}-backports")


class PrivateApt:
    """apt with a state of its own in one folder, which is its owner's to remove."""

    def __init__(
        self, folder: Path, release: str, suites: tuple[str, ...] = (), *, alone: bool = False
    ) -> None:
        """Write the configuration and fetch the lists. Raises LabUnavailableError.

        ``suites``: other ones of the mirror in place of the release and its backports. ``alone``:
        nothing counts as installed, so that packages bring all that they need.
        """
        self._folder = folder
        self._release = release
        self._suites = suites or _suites(release)
        for name in ("lists/partial", "cache/archives/partial", "parts", "unpacked"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        # A copy: apt locks the folder that it is in, and the system's is root's.
        shutil.copyfile("/dev/null" if alone else "/var/lib/dpkg/status", folder / "status")
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
            for line in sources_of(path.read_text(errors="replace"), self._release, self._suites)
        ]
        stanzas = [
            stanza
            for path in sorted(etc.glob("sources.list.d/*.sources"))
            for stanza in stanzas_of(path.read_text(errors="replace"), self._release, self._suites)
        ]
        if not lines and not stanzas:
            raise LabUnavailableError(
                f"/etc/apt has no source of {self._release}, so there is no mirror to ask"
            )
        # One mirror is enough, and two would only ask twice.
        (self._folder / "sources.list").write_text("\n".join(lines[: len(self._suites)]) + "\n")
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

    def _run(self, command: list[str], purpose: str, folder: Path | None = None) -> str:
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
                cwd=folder,
            )
        except subprocess.TimeoutExpired as error:
            raise LabUnavailableError(f"cannot {purpose}: apt took over {_APT_S} s") from error
        # apt-get update only warns when a mirror cannot be reached.
        complaints = [
            line
            for line in done.stderr.splitlines()
            if line.startswith(("E:", "W: Failed to fetch"))
        ]
        if done.returncode or complaints:
            text = complaints[0].partition(": ")[2] if complaints else f"exit {done.returncode}"
            raise LabUnavailableError(f"cannot {purpose}: {text}")
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
        self._download(["--reinstall", "-t", suite, "install", *packages], purpose)
        return self._unpacked()

    def unpack_only(self, package: str, suite: str) -> Path:
        """Download and unpack one package without what it needs."""
        archives = self._folder / "cache/archives"
        self._run(
            ["apt-get", "download", f"{package}/{suite}"],
            f"download {package} of {suite}",
            archives,
        )
        return self._unpacked()

    def _download(self, command: list[str], purpose: str) -> None:
        archives = self._folder / "cache/archives"
        for old in archives.glob("*.deb"):
            old.unlink()
        self._run(["apt-get", "--yes", "--download-only", *command], purpose)

    def _unpacked(self) -> Path:
        archives = self._folder / "cache/archives"
        for archive in sorted(archives.glob("*.deb")):
            self._run(
                ["dpkg", "-x", str(archive), str(self._folder / "unpacked")],
                f"unpack {archive.name}",
            )
            archive.unlink()
        return self._folder / "unpacked"
