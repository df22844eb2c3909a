/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every fuzz target needs: the entry point's prototype, and with -DWR_FUZZ_STANDALONE a
 * main() that runs it once for each file given, for compilers without libFuzzer and for tests.
 *
 * Included once, by each fuzz target; not by anything else.
 */
#ifndef WR_FUZZ_FUZZ_STANDALONE_H
#define WR_FUZZ_FUZZ_STANDALONE_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef WR_FUZZ_STANDALONE
#include <stdio.h>
#include <stdlib.h>

static int
replay(const char *path)
{
	enum { OCTETS_MAX = 16 << 20 };
	FILE *file = fopen(path, "rb");
	uint8_t *octets = malloc(OCTETS_MAX);
	int rc = -1;

	if (file != NULL && octets != NULL) {
		size_t size = fread(octets, 1, OCTETS_MAX, file);

		rc = ferror(file) ? -1 : LLVMFuzzerTestOneInput(octets, size);
	}
	if (rc < 0)
		fprintf(stderr, "%s: cannot read it\n", path);
	if (file != NULL)
		fclose(file);
	free(octets);
	return rc;
}

int
main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]) != 0;
	return failed;
}
#endif

#endif
