/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filling struct error; see error.h for the contract.
 *
 * Called on cold paths only, from any thread.
 * Texts quote what clients sent, sometimes cut in the middle of a character; jansson refuses to
 * encode such a string, so everything that is not valid UTF-8 (RFC 3629 section 4) becomes '?'.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Octets of the printable character at s, 0 when there is none. */
static size_t
utf8_char_octets(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t octets;

	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	octets = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0; /* shorter forms exist */
	else if (s[0] == 0xed)
		high = 0x9f; /* surrogates */
	else if (s[0] == 0xf0)
		low = 0x90; /* shorter forms exist */
	else if (s[0] == 0xf4)
		high = 0x8f; /* above U+10FFFF */
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < octets; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return octets;
}

static void
make_printable(char *text)
{
	while (*text != '\0') {
		size_t octets = utf8_char_octets((const unsigned char *)text);

		if (octets == 0) {
			*text = '?';
			octets = 1;
		}
		text += octets;
	}
}

int
error_set(struct error *err, int code, const char *path, const char *fmt, ...)
{
	struct error made = {.code = code};
	va_list ap;

	if (err == NULL)
		return code;
	snprintf(made.path, sizeof(made.path), "%s", path != NULL ? path : "");
	va_start(ap, fmt);
	vsnprintf(made.text, sizeof(made.text), fmt, ap);
	va_end(ap);
	make_printable(made.path);
	make_printable(made.text);
	*err = made;
	return code;
}

void
error_clear(struct error *err)
{
	if (err != NULL)
		memset(err, 0, sizeof(*err));
}
