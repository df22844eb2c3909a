/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any text as a port's location.
 *
 * Called by libFuzzer; with -DWR_FUZZ_STANDALONE a program that replays the files given to it.
 * Whatever the text: strings end inside their arrays, and a refusal gives a printable reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "device/location.h"
#include "fuzz/fuzz_standalone.h"

static void
must(int condition)
{
	if (!condition)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1); /* of its own size: reading beyond it is seen */
	struct location location;
	struct error err = {0};
	int code;

	must(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	code = location_parse(&location, text, (unsigned int)size, (uint16_t)size, &err);
	must(code == err.code && (code == 0 || code == -EINVAL));
	must(code == 0 || err.text[0] != '\0');
	must(code != 0 || location.device[0] != '\0');
	must(strnlen(location.device, sizeof(location.device)) < sizeof(location.device));
	must(strnlen(location.args, sizeof(location.args)) < sizeof(location.args));
	must(strnlen(location.interface, sizeof(location.interface)) < sizeof(location.interface));
	free(text);
	return 0;
}
