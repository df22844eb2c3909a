#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Install what this machine lacks: `tools/setup.sh run` for building and running wirerate, `tools/setup.sh dev`
# for testing it too. Debian and Ubuntu packages come through apt (as root or with sudo), Python packages go
# into .venv and nowhere else. Says and does nothing when all is there. Touches no system setting: wirerate
# runs without hugepages.
set -eu

cd "$(dirname "$0")/.."
profile=${1:-}
case $profile in
run | dev) ;;
*)
	echo "usage: tools/setup.sh run|dev" >&2
	exit 2
	;;
esac

# libsystemd-dev: named on DPDK's static link line. libdpdk-dev brings every driver.
packages="make gcc libc6-dev pkg-config libdpdk-dev libjansson-dev libpcap-dev zlib1g-dev libsystemd-dev
	python3 python3-venv iproute2"
if [ "$profile" = dev ]; then
	# dpdk-dev: testpmd, the forwarder of some tests and the peer of some benchmarks. clang: fuzzing.
	# nftables, ping: what a kernel at the other end does with frames. iperf3, ethtool, ping: what kernel-path
	# runs, which names them where they are missing. chromium: does a report open?
	packages="$packages git dpdk-dev libcmocka-dev tshark clang nftables iputils-ping iperf3 ethtool chromium"
fi

fail() {
	printf 'setup: %s\n' "$@" >&2
	exit 1
}

installed() {
	# A package may be installed for a second architecture: any "installed" line counts.
	dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# The fuzzer's runtime is a package of its own on newer releases (libclang-rt-14-dev on Debian 12), part of
# libclang-common-*-dev on older ones (Ubuntu 22.04); only the compiler itself knows where it looks.
fuzzer_works() {
	compgen -G "$(clang -print-resource-dir)/lib/*/libclang_rt.fuzzer*" >/dev/null
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif [ -t 0 ]; then
		sudo "$@"
	else
		sudo -n "$@"
	fi
}

apt_install() {
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		fail "these packages are missing: $*" \
			"neither root nor sudo here; ask somebody who is: apt-get install $*"
	fi
	echo "setup: installing $*"
	log=$(mktemp)
	# env: sudo drops the variables. tshark asks whether users may capture; noninteractive keeps its "no".
	if ! { as_root apt-get -o DPkg::Lock::Timeout=300 update &&
		as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
			install --yes --no-install-recommends "$@"; } >"$log" 2>&1 </dev/null; then
		tail -n 30 "$log" >&2
		rm -f "$log"
		fail "apt-get could not install: $*"
	fi
	rm -f "$log"
}

debian_packages() {
	missing=
	for package in $packages; do
		installed "$package" || missing="$missing $package"
	done
	# shellcheck disable=SC2086 # a list of words
	[ -z "$missing" ] || apt_install $missing
	if [ "$profile" = dev ] && ! fuzzer_works; then
		version=$(clang -dumpversion | cut -d. -f1)
		apt_install "libclang-rt-$version-dev"
		fuzzer_works || fail "clang $version has no fuzzer runtime (libclang_rt.fuzzer)"
	fi
}

# Elsewhere: no guessing at package names, only a look whether the things themselves are there.
other_system() {
	missing=
	commands="make gcc pkg-config python3 ip"
	libraries="libdpdk jansson libpcap zlib"
	if [ "$profile" = dev ]; then
		commands="$commands git dpdk-testpmd tshark clang nft ping iperf3 ethtool"
		libraries="$libraries cmocka"
	fi
	for name in $commands; do
		command -v "$name" >/dev/null || missing="$missing $name"
	done
	for name in $libraries; do
		pkg-config --exists "$name" 2>/dev/null || missing="$missing $name(headers)"
	done
	[ -z "$missing" ] || fail "this is not Debian or Ubuntu; install these yourself:$missing" \
		"(on Debian they are: $(echo $packages))"
}

# The stamp holds what .venv was made from, so that an unchanged one costs nothing.
python_packages() {
	stamp=.venv/.setup-$profile
	python=${PYTHON:-python3}
	recipe=$(cat pyproject.toml tools/setup.sh | cksum)
	# What is there for dev is there for run.
	if [ -x .venv/bin/python ] && grep -qxsF "$recipe" "$stamp" .venv/.setup-dev; then
		return
	fi
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
		fail "$python is $("$python" --version 2>&1), wirerate needs 3.10; set PYTHON=/path/to/a/newer/python3"
	if [ ! -e .venv ]; then
		echo "setup: making .venv"
		"$python" -m venv .venv
	elif [ ! -w .venv ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
		fail "$PWD/.venv cannot be used by $(id -un): made by somebody else, or its Python is gone; remove it"
	fi
	echo "setup: Python packages for '$profile' into .venv"
	requirements=$(mktemp)
	trap 'rm -f "$requirements"' EXIT
	.venv/bin/python - "$profile" >"$requirements" <<-'PYTHON'
		import pathlib, sys
		try:
		    import tomllib
		except ModuleNotFoundError:  # Python 3.10
		    from pip._vendor import tomli as tomllib
		text = tomllib.loads(pathlib.Path("pyproject.toml").read_text(encoding="utf-8"))
		names = text["build-system"]["requires"] + text["project"]["dependencies"]
		if sys.argv[1] == "dev":
		    names += text["project"]["optional-dependencies"]["dev"]
		print("\n".join(["pip>=23.1", *names]))  # Debian 12's pip, 23.0, has no -C
	PYTHON
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$requirements" ||
		fail "pip could not install; see its lines above (network, proxy, certificates?)"
	echo "$recipe" >"$stamp"
}

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
	debian_packages
else
	other_system
fi
python_packages
