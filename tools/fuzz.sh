#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Run every fuzz target of a build for some seconds, starting from its seeds: tools/fuzz.sh BUILD SECONDS.
# New inputs stay in BUILD/corpus/NAME; an input that crashes is kept in BUILD/crashes and named at the end.
set -eu

build=$1
seconds=$2
source=$(cd "$(dirname "$0")/.." && pwd)
found=0

for target in "$build"/engine/fuzz/fuzz_*; do
	[ -f "$target" ] && [ -x "$target" ] || continue
	found=1
	name=$(basename "$target")
	name=${name#fuzz_}
	seeds=$source/engine/fuzz/seeds/$name
	corpus=$build/corpus/$name
	log=$build/fuzz-$name.log
	mkdir -p "$corpus" "$build/crashes"
	directories=("$corpus")
	[ -d "$seeds" ] && directories+=("$seeds")
	if ! "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -close_fd_mask=1 \
		-artifact_prefix="$build/crashes/$name-" "${directories[@]}" >"$log" 2>&1; then
		tail -n 40 "$log" >&2
		echo "fuzz: $name failed; make the input in $build/crashes a seed in engine/fuzz/seeds/$name" >&2
		exit 1
	fi
	echo "$name: $(grep -E '^Done ' "$log" || tail -n 1 "$log")"
done

[ "$found" = 1 ] || echo "no fuzz targets in $build"
