#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Run every fuzz target that engine/fuzz/oss-fuzz/build.sh made, for some seconds each: tools/fuzz.sh BUILD SECONDS.
# Programs and dictionaries are in BUILD/out. New inputs stay in BUILD/corpus/NAME; an input that crashes is kept in
# BUILD/crashes and named at the end.
set -eu

build=$1
seconds=$2
source=$(cd "$(dirname "$0")/.." && pwd)

for code in "$source"/engine/fuzz/fuzz_*.c; do
	name=$(basename "$code" .c)
	name=${name#fuzz_}
	target=$build/out/fuzz_$name
	corpus=$build/corpus/$name
	log=$build/fuzz-$name.log
	mkdir -p "$corpus" "$build/crashes"
	if ! "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -close_fd_mask=1 -dict="$target.dict" \
		-artifact_prefix="$build/crashes/$name-" "$corpus" "$source/engine/fuzz/seeds/$name" >"$log" 2>&1; then
		tail -n 40 "$log" >&2
		echo "fuzz: $name failed; make the input in $build/crashes a seed in engine/fuzz/seeds/$name" >&2
		exit 1
	fi
	echo "$name: $(grep -E '^Done ' "$log" || tail -n 1 "$log")"
done
