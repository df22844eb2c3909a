/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Typed, ranged access to JSON with paths in every refusal; see json_cursor.h.
 *
 * Called by config_decode.c; main thread, cold path.
 * jansson holds integers in 64 signed bits and refuses larger ones while parsing.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/json_cursor.h"

/* Append to a string in a buffer of size octets; cut when full. */
static void __attribute__((format(printf, 3, 4)))
append(char *text, size_t size, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, size - len, fmt, ap);
	va_end(ap);
}

static void
append_path(const struct cursor *at, char *path, size_t size)
{
	if (at->up == NULL)
		return;
	append_path(at->up, path, size);
	if (at->key == NULL)
		append(path, size, "[%zu]", at->index);
	else
		append(path, size, "%s%s", path[0] != '\0' ? "." : "", at->key);
}

void
cursor_refuse(const struct cursor *at, const char *key, const char *fmt, ...)
{
	const struct cursor leaf = {.d = at->d, .up = at, .key = key};
	char path[sizeof(at->d->err->path)] = "";
	char text[sizeof(at->d->err->text)];
	va_list ap;

	if (at->d->rc < 0)
		return;
	append_path(key != NULL ? &leaf : at, path, sizeof(path));
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	at->d->rc =
		error_set(at->d->err, ERROR_PARAMS, path[0] != '\0' ? path : "params", "%s", text);
}

void
cursor_no_memory(const struct cursor *at)
{
	char path[sizeof(at->d->err->path)] = "";

	if (at->d->rc < 0)
		return;
	append_path(at, path, sizeof(path));
	at->d->rc = error_set(at->d->err, -ENOMEM, path, "out of memory while decoding params");
}

/* A short rendering of a value for a refusal: the number itself, otherwise its type. */
static const char *
describe(const json_t *json, char *text, size_t size)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
		[JSON_TRUE] = "true",        [JSON_FALSE] = "false",    [JSON_NULL] = "null",
	};

	if (json_is_integer(json))
		snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
	else if (json_is_real(json))
		snprintf(text, size, "%g", json_real_value(json));
	else if (json_is_string(json))
		snprintf(text, size, "the string \"%.40s\"", json_string_value(json));
	else
		snprintf(text, size, "%s", names[json_typeof(json)]);
	return text;
}

static void
refuse_value(const struct cursor *at, const char *key, const json_t *json, const char *wanted)
{
	char value[64];

	cursor_refuse(at, key, "it is %s; it must be %s", describe(json, value, sizeof(value)),
		      wanted);
}

static bool
is_one_of(const char *key, const char *const *keys)
{
	for (; *keys != NULL; keys++)
		if (strcmp(key, *keys) == 0)
			return true;
	return false;
}

static void
refuse_key(const struct cursor *at, const char *key, const char *const *keys)
{
	char known[160] = "";

	for (size_t i = 0; keys[i] != NULL; i++)
		append(known, sizeof(known), "%s%s", i > 0 ? ", " : "", keys[i]);
	if (keys[0] == NULL)
		append(known, sizeof(known), "no key at all");
	cursor_refuse(at, key, "\"%.40s\" is not known here; allowed: %s", key, known);
}

void
cursor_closed_object(const struct cursor *at, const char *const *keys)
{
	/* The iteration interface has no const variant; it does not change the object. */
	json_t *object = (json_t *)(uintptr_t)at->json;
	const char *key;
	json_t *value;

	if (at->d->rc < 0)
		return;
	if (!json_is_object(object)) {
		refuse_value(at, NULL, object, "an object");
		return;
	}
	json_object_foreach(object, key, value) {
		if (!is_one_of(key, keys)) {
			refuse_key(at, key, keys);
			return;
		}
	}
}

const json_t *
cursor_get(const struct cursor *at, const char *key)
{
	const json_t *value;

	if (at->d->rc < 0)
		return NULL;
	value = json_object_get(at->json, key);
	if (value == NULL)
		cursor_refuse(at, key, "it is missing; it has no default, add it");
	return value;
}

/* json is what was found at key (or at `at` itself when key is NULL). */
static bool
take_int64(const struct cursor *at, const char *key, const json_t *json, int64_t min, int64_t max,
	   int64_t *out)
{
	char wanted[80];

	if (json_is_integer(json) && json_integer_value(json) >= min &&
	    json_integer_value(json) <= max) {
		*out = json_integer_value(json);
		return true;
	}
	snprintf(wanted, sizeof(wanted), "an integer from %" PRId64 " to %" PRId64, min, max);
	refuse_value(at, key, json, wanted);
	return false;
}

void
cursor_get_int64(const struct cursor *at, const char *key, int64_t min, int64_t max, int64_t *out)
{
	const json_t *json = cursor_get(at, key);

	if (json != NULL)
		take_int64(at, key, json, min, max, out);
}

void
cursor_get_uint32(const struct cursor *at, const char *key, uint32_t min, uint32_t max,
		  uint32_t *out)
{
	const json_t *json = cursor_get(at, key);
	int64_t value;

	if (json != NULL && take_int64(at, key, json, min, max, &value))
		*out = (uint32_t)value;
}

void
cursor_get_bool(const struct cursor *at, const char *key, bool *out)
{
	const json_t *json = cursor_get(at, key);

	if (json == NULL)
		return;
	if (!json_is_boolean(json))
		refuse_value(at, key, json, "true or false");
	else
		*out = json_is_true(json);
}

void
cursor_get_uint64_or_null(const struct cursor *at, const char *key, uint64_t min, uint64_t max,
			  bool *has, uint64_t *out)
{
	const json_t *json = cursor_get(at, key);
	int64_t value;

	if (json == NULL)
		return;
	*has = false;
	if (json_is_null(json) || !take_int64(at, key, json, (int64_t)min, (int64_t)max, &value))
		return;
	*has = true;
	*out = (uint64_t)value;
}

void
cursor_get_double_or_null(const struct cursor *at, const char *key, double min, double max,
			  bool *has, double *out)
{
	const json_t *json = cursor_get(at, key);
	char wanted[80];
	double value;

	if (json == NULL)
		return;
	*has = false;
	if (json_is_null(json))
		return;
	value = json_number_value(json);
	if (!json_is_number(json) || !(value >= min && value <= max)) {
		snprintf(wanted, sizeof(wanted), "a number from %g to %g, or null", min, max);
		refuse_value(at, key, json, wanted);
		return;
	}
	*has = true;
	*out = value;
}

static bool
is_plain_text(const char *text, size_t octets)
{
	for (size_t i = 0; i < octets; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	return true;
}

void
cursor_get_text(const struct cursor *at, const char *key, char *out, size_t size)
{
	const json_t *json = cursor_get(at, key);
	const char *text;
	size_t octets;

	if (json == NULL)
		return;
	text = json_string_value(json);
	octets = json_string_length(json);
	if (text == NULL)
		refuse_value(at, key, json, "a string");
	else if (octets == 0 || octets >= size)
		cursor_refuse(at, key, "\"%.40s\" has %zu octets; it must have 1 to %zu", text,
			      octets, size - 1);
	else if (!is_plain_text(text, octets))
		cursor_refuse(at, key, "\"%.40s\" has a control character; leave it out", text);
	else
		memcpy(out, text, octets + 1);
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

void
cursor_get_hex(const struct cursor *at, const char *key, uint32_t min, uint32_t max,
	       uint8_t **octets, uint32_t *n_octets)
{
	const json_t *json = cursor_get(at, key);
	size_t digits = json_string_length(json), bad;
	uint8_t *out;

	if (json == NULL)
		return;
	if (!json_is_string(json)) {
		refuse_value(at, key, json, "a string of hex digits");
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

uint32_t
cursor_get_array(const struct cursor *at, const char *key, uint32_t min, uint32_t max,
		 struct cursor *array)
{
	const json_t *json = cursor_get(at, key);

	*array = (struct cursor){.d = at->d, .up = at, .key = key, .json = json};
	if (json == NULL)
		return 0;
	if (!json_is_array(json)) {
		refuse_value(array, NULL, json, "an array");
		return 0;
	}
	if (json_array_size(json) < min || json_array_size(json) > max) {
		cursor_refuse(array, NULL, "it has %zu elements; it must have %u to %u",
			      json_array_size(json), min, max);
		return 0;
	}
	return (uint32_t)json_array_size(json);
}

struct cursor
cursor_element(const struct cursor *array, size_t index)
{
	return (struct cursor){.d = array->d,
			       .up = array,
			       .index = index,
			       .json = json_array_get(array->json, index)};
}

void
cursor_element_uint32(const struct cursor *array, size_t index, uint32_t min, uint32_t max,
		      uint32_t *out)
{
	const struct cursor at = cursor_element(array, index);
	int64_t value;

	if (at.d->rc == 0 && take_int64(&at, NULL, at.json, min, max, &value))
		*out = (uint32_t)value;
}
