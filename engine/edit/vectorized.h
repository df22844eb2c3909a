/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that GCC compiles for several levels of x86-64; the fitting one is chosen when the program is loaded. Not
 * with sanitizers, which are not up by then. The loops in them are plain C, which the compiler turns into vector code.
 */
#ifndef WR_EDIT_VECTORIZED_H
#define WR_EDIT_VECTORIZED_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
	!defined(__SANITIZE_ADDRESS__)
#define VECTORIZED \
	__attribute__((target_clones("arch=skylake-avx512", "avx2", "default"), optimize("O3"), \
		       noinline))
#else
#define VECTORIZED
#endif

#endif
