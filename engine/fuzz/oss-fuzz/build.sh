#!/bin/bash -eu
# SPDX-License-Identifier: BSD-3-Clause
# Build the fuzz targets by OSS-Fuzz's conventions: called in the repository's folder, with CC, CFLAGS, CXX, CXXFLAGS,
# LIB_FUZZING_ENGINE, OUT and WORK set, as OSS-Fuzz's images and `make fuzz` do. docs/fuzzing.md has the whole story.
# For each target OUT gets: the program, NAME_seed_corpus.zip, NAME.dict, NAME.options; in lib/ the libraries that the
# machine which runs them need not have.

build=$WORK/wirerate
if [ ! -f "$build/build.ninja" ]; then
	# Nothing of Meson's own is added to the flags; the engine's runtime is C++, which may stand in none of our objects.
	meson setup "$build" --buildtype=plain -Db_lundef=false -Db_pie=false -Ddpdk_link=shared -Dunit_tests=disabled \
		-Dfuzz=true -Dfuzz_engine="$LIB_FUZZING_ENGINE" >/dev/null
fi
ninja -C "$build" --quiet

# Words that the decoders know: a quoted word of C is what libFuzzer's dictionaries have on a line. The rows of
# config/options.h name a member.
words() {
	cat engine/fuzz/dictionaries/json.dict
	{
		grep -ohE '"[a-z][a-z0-9_.-]+"' "$@"
		sed -nE 's/.*\bOPTION_[A-Z0-9]+\([A-Z_]+, [^,()]+, ([a-z][a-z0-9_]*)\b.*/"\1"/p' "$@"
	} | sort -u
}

mkdir -p "$OUT/lib"
for source in engine/fuzz/fuzz_*.c; do
	target=$(basename "$source" .c)
	name=${target#fuzz_}
	cp "$build/engine/fuzz/$target" "$OUT/"
	python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" engine/fuzz/seeds/"$name"/*
	case $name in
	config) words engine/config/*.c >"$OUT/$target.dict" ;;
	rpc) words engine/control/control_rpc.c engine/fuzz/fuzz_rpc.c >"$OUT/$target.dict" ;;
	*) cp "engine/fuzz/dictionaries/$name.dict" "$OUT/$target.dict" ;;
	esac
	printf '[libfuzzer]\nclose_fd_mask = 1\n' >"$OUT/$target.options" # stdout is a target's own
	# The compiler's and the C library's own are everywhere.
	ldd "$build/engine/fuzz/$target" | awk '$2 == "=>" && $3 ~ "^/" {print $3}' |
		grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|libstdc\+\+)\.so' |
		xargs -r cp --dereference --target-directory="$OUT/lib"
done
