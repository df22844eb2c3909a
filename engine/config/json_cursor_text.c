/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings and hex digits out of JSON, with paths in every refusal; see json_cursor.h.
 *
 * Called by the config_decode files; main thread, cold path.
 */
#include <stdlib.h>
#include <string.h>

#include "config/json_cursor.h"

static bool
is_plain_text(const char *text, size_t octets)
{
	for (size_t i = 0; i < octets; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	return true;
}

/* The string, which is at key, when it has 1…size-1 octets and no control character, else NULL and refused. */
static const char *
take_text(const struct cursor *at, const char *key, const json_t *json, size_t size, size_t *octets)
{
	const char *text;

	if (json == NULL)
		return NULL;
	text = json_string_value(json);
	*octets = json_string_length(json);
	if (text == NULL)
		cursor_refuse_value(at, key, json, "a string");
	else if (*octets == 0 || *octets >= size)
		cursor_refuse(at, key, "\"%.40s\" has %zu octets; it must have 1 to %zu", text,
			      *octets, size - 1);
	else if (!is_plain_text(text, *octets))
		cursor_refuse(at, key, "\"%.40s\" has a control character; leave it out", text);
	else
		return text;
	return NULL;
}

void
cursor_get_text(const struct cursor *at, const char *key, char *out, size_t size)
{
	size_t octets;
	const char *text = take_text(at, key, cursor_get(at, key), size, &octets);

	if (text != NULL)
		memcpy(out, text, octets + 1);
}

void
cursor_get_file_path(const struct cursor *at, const char *key, size_t size, char **out)
{
	size_t octets;
	const char *text = take_text(at, key, cursor_get(at, key), size, &octets);

	if (text == NULL)
		return;
	if (text[0] != '/') {
		cursor_refuse(at, key, "\"%.100s\" is no absolute path; begin it with \"/\"", text);
		return;
	}
	*out = strdup(text);
	if (*out == NULL)
		cursor_no_memory(at);
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The index of the first character that is no hex digit, or digits when all are. */
static size_t
hex_decode(const char *text, size_t digits, uint8_t *out)
{
	for (size_t i = 0; i < digits; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			return i;
		out[i / 2] = (uint8_t)(i % 2 == 0 ? digit << 4 : out[i / 2] | digit);
	}
	return digits;
}

static void
take_hex(const struct cursor *at, const char *key, const json_t *json, uint32_t min, uint32_t max,
	 uint8_t **octets, uint32_t *n_octets)
{
	size_t digits = json_string_length(json), bad;
	uint8_t *out;

	if (json == NULL)
		return;
	if (!json_is_string(json)) {
		cursor_refuse_value(at, key, json, "a string of hex digits");
		return;
	}
	if (digits % 2 != 0 || digits / 2 < min || digits / 2 > max) {
		cursor_refuse(at, key,
			      "it has %zu hex digits; it must have two per octet, for %u "
			      "to %u octets",
			      digits, min, max);
		return;
	}
	out = malloc(digits / 2);
	if (out == NULL) {
		cursor_no_memory(at);
		return;
	}
	bad = hex_decode(json_string_value(json), digits, out);
	if (bad < digits) {
		cursor_refuse(at, key, "character %zu, '%c', is no hex digit", bad,
			      json_string_value(json)[bad]);
		free(out);
		return;
	}
	*octets = out;
	*n_octets = (uint32_t)(digits / 2);
}

void
cursor_get_hex(const struct cursor *at, const char *key, uint32_t min, uint32_t max,
	       uint8_t **octets, uint32_t *n_octets)
{
	take_hex(at, key, cursor_get(at, key), min, max, octets, n_octets);
}

void
cursor_element_hex(const struct cursor *array, size_t index, uint32_t min, uint32_t max,
		   uint8_t **octets, uint32_t *n_octets)
{
	const struct cursor at = cursor_element(array, index);

	take_hex(&at, NULL, at.json, min, max, octets, n_octets);
}

void
cursor_element_text(const struct cursor *array, size_t index, char *out, size_t size)
{
	const struct cursor at = cursor_element(array, index);
	size_t octets;
	const char *text = take_text(&at, NULL, at.json, size, &octets);

	if (text != NULL)
		memcpy(out, text, octets + 1);
}
