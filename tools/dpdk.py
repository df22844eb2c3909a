# SPDX-License-Identifier: BSD-3-Clause
"""Other DPDKs than the system's: do our sources compile, and does the engine run with them?

`headers` compiles every C source against the headers of Debian's other long-term DPDKs, without
code generation. `tree VERSION` makes a folder of its own with that DPDK and all that it needs,
builds the engine in it, and runs its unit tests and traffic over ports in memory. Packages come
from the mirror of this system and are unpacked below build/dpdk; nothing is installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from lab.host.packages import LabUnavailableError, PrivateApt, os_release

SUITES = {"22.11": "bookworm", "24.11": "trixie", "25.11": "forky"}
"""DPDK's long-term versions, and the release of Debian that has each."""
ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/dpdk"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
PACKAGES = [
    *("libdpdk-dev", "dpdk-dev", "libjansson-dev", "libcmocka-dev", "libpcap-dev"),
    *("zlib1g-dev", "libc6-dev", "libsystemd-dev"),
]
FLAGS = [
    *("-std=gnu17", "-D_GNU_SOURCE", "-DNDEBUG", '-DWR_VERSION=\\"0\\"', "-march=corei7"),
    *("-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types"),
    *("-Wno-deprecated-declarations", '-DWR_DPDK_LINK=\\"static\\"'),
    *("-Iengine", "-Iengine/tests/strict"),
]
"""As engine/meson.build has them, as far as they decide what compiles."""


def apt(folder: Path, suites: tuple[str, ...], *, alone: bool) -> PrivateApt:
    """Packages of other releases, from this system's mirror. Raises LabUnavailableError."""
    path = Path("/etc/os-release")
    release = os_release(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if release.get("ID") != "debian" or shutil.which("apt-get") is None:
        name = release.get("PRETTY_NAME", "an unknown system")
        raise LabUnavailableError(f"this is {name}: other DPDKs are Debian's packages")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return PrivateApt(folder, release["VERSION_CODENAME"], suites, alone=alone)


def headers_of(versions: list[str]) -> None:
    """Fetch what is not there yet. Raises LabUnavailableError."""
    missing = [version for version in versions if not (FOLDER / f"headers-{version}").is_dir()]
    if not missing:
        return
    print(f"every-dpdk: fetching the headers of DPDK {', '.join(missing)}, once", flush=True)
    state = FOLDER / "headers.apt"
    source = apt(state, tuple(SUITES[version] for version in missing), alone=False)
    for version in missing:
        unpacked = source.unpack_only("libdpdk-dev", SUITES[version])
        shutil.move(unpacked / "usr/include", FOLDER / f"headers-{version}")
        shutil.rmtree(unpacked)
        unpacked.mkdir()
    shutil.rmtree(state)


def ninja_text(versions: list[str], sources: list[Path]) -> str:
    """A rule per version and an edge per source, so that only what changed is compiled again."""
    lines = [f"builddir = {FOLDER}"]
    for version in versions:
        headers = FOLDER / f"headers-{version}"
        includes = f"-isystem {headers}/x86_64-linux-gnu/dpdk -isystem {headers}/dpdk"
        words = " ".join([*FLAGS, includes, "-include rte_config.h"])
        lines += [
            f"rule syntax-{version}",
            f"  command = cc -fsyntax-only -MD -MT $out -MF $out.d {words} $in && touch $out",
            f"  description = DPDK {version}: $in",
            "  depfile = $out.d",
            "  deps = gcc",
        ]
        for source in sources:
            stamp = FOLDER / f"checked-{version}" / source.with_suffix(".ok")
            lines.append(f"build {stamp}: syntax-{version} {source}")
    return "\n".join(lines) + "\n"


def check_headers() -> int:
    """Every C source against every version but the system's, which the build itself is for."""
    asked = subprocess.run(
        ["pkg-config", "--modversion", "libdpdk"], capture_output=True, text=True, check=False
    )
    versions = [version for version in SUITES if not asked.stdout.startswith(version)]
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        headers_of(versions)
    except LabUnavailableError as error:
        print(f"every-dpdk: SKIPPED, {error}")
        return 0
    places = ("engine/*.c", "engine/**/*.c", "bench/*.c")
    sources = sorted({path.relative_to(ROOT) for place in places for path in ROOT.glob(place)})
    script = FOLDER / "headers.ninja"
    script.write_text(ninja_text(versions, sources))
    for version in versions:
        for source in sources:
            (FOLDER / f"checked-{version}" / source).parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["ninja", "--quiet", "-k", "0", "-f", str(script)], cwd=ROOT, check=False)
    if done.returncode == 0:
        print(f"every-dpdk: {len(sources)} sources compile with DPDK {', '.join(versions)}, too")
    return done.returncode


def make_root(version: str) -> Path:
    """A folder with this DPDK, its libraries, libc included, and their .pc files for that place."""
    root = FOLDER / version / "root"
    if root.is_dir():
        return root
    print(f"dpdk: fetching DPDK {version} and what it needs, once (about 70 MB)", flush=True)
    state = FOLDER / version / "apt"
    unpacked = apt(state, (SUITES[version],), alone=True).unpack(PACKAGES, SUITES[version])
    for name in ("lib", "lib64"):
        if not (unpacked / name).exists():
            (unpacked / name).symlink_to(f"usr/{name}")
    for path in unpacked.glob(f"{LIBRARIES}/pkgconfig/*.pc"):
        if not path.is_symlink():
            text = path.read_text(errors="replace")
            for before in ("=", "-I", "-L"):
                text = text.replace(f"{before}/usr", f"{before}{root}/usr")
            path.write_text(text)
    unpacked.rename(root)
    shutil.rmtree(state)
    return root


def run(command: list[str], environment: dict[str, str]) -> None:
    """Run a command, shown first; SystemExit when it fails."""
    print("+", " ".join(command[:6]), "..." if len(command) > 6 else "", flush=True)
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    if code != 0:
        raise SystemExit(code)


def make_tree(version: str) -> int:
    """Build, unit tests, and runs over ring, null and memif."""
    try:
        root = make_root(version)
    except LabUnavailableError as error:
        print(f"dpdk: {error}", file=sys.stderr)
        return 3
    libraries, build = root / LIBRARIES, FOLDER / version / "engine"
    environment = {**os.environ, "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}
    link = f"--dynamic-linker={root}/lib64/ld-linux-x86-64.so.2,--disable-new-dtags"
    if not (build / "build.ninja").is_file():
        arguments = [
            *("-Ddpdk_link=static", "-Dmarch=native", f"-Dc_args=--sysroot={root}"),
            f"-Dc_link_args=--sysroot={root} -Wl,{link},-rpath,{libraries}",
        ]
        run(["meson", "setup", str(build), *arguments], environment)
    run(["ninja", "-C", str(build), "--quiet", "engine/wirerate-engine"], environment)
    # EAL would load the driver of ordinary pools from a folder of the system's.
    pools = f"env LD_PRELOAD={libraries}/librte_mempool_ring.so"
    unit = ["--suite", "unit", "--print-errorlogs", "--wrapper", pools]
    run(["meson", "test", "-C", str(build), *unit], environment)
    environment["WIRERATE_ENGINE"] = str(build / "engine/wirerate-engine")
    for line in ("perf ring:dpdk -r 1Mpps --measure", "perf null:dpdk -m :1.0"):
        run([sys.executable, "-m", "wirerate", *line.split(), "--duration", "2"], environment)
    tests = ["tests/behaviour/test_accounting.py", "-k", "memif"]
    run([sys.executable, "-m", "pytest", "-q", *tests], environment)
    print(f"dpdk: the engine with DPDK {version} is {environment['WIRERATE_ENGINE']}")
    return 0


def main() -> int:
    """Do what is asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_subparsers(dest="what", required=True)
    what.add_parser("headers")
    what.add_parser("tree").add_argument("version", choices=list(SUITES))
    args = parser.parse_args()
    return check_headers() if args.what == "headers" else make_tree(args.version)


if __name__ == "__main__":
    sys.exit(main())
