/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Typed, ranged access to JSON with paths in every refusal; see json_cursor.h.
 *
 * Called by the config_decode files; main thread, cold path. Strings: json_cursor_text.c.
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

void
cursor_refuse_value(const struct cursor *at, const char *key, const json_t *json,
		    const char *wanted)
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
cursor_must_be_object(const struct cursor *at)
{
	if (at->d->rc == 0 && !json_is_object(at->json))
		cursor_refuse_value(at, NULL, at->json, "an object");
}

void
cursor_closed_object(const struct cursor *at, const char *const *keys)
{
	/* The iteration interface has no const variant; it does not change the object. */
	json_t *object = (json_t *)(uintptr_t)at->json;
	const char *key;
	json_t *value;

	cursor_must_be_object(at);
	if (at->d->rc < 0)
		return;
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

bool
cursor_has(const struct cursor *at, const char *key)
{
	return at->d->rc == 0 && json_object_get(at->json, key) != NULL;
}

bool
cursor_has_value(const struct cursor *at, const char *key)
{
	return cursor_has(at, key) && !json_is_null(json_object_get(at->json, key));
}

struct cursor
cursor_child(const struct cursor *at, const char *key)
{
	return (struct cursor){.d = at->d, .up = at, .key = key, .json = cursor_get(at, key)};
}

void *
cursor_new_array(const struct cursor *at, size_t n, size_t size)
{
	void *array;

	if (at->d->rc < 0 || n == 0)
		return NULL;
	array = calloc(n, size);
	if (array == NULL)
		cursor_no_memory(at);
	return array;
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
	cursor_refuse_value(at, key, json, wanted);
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
cursor_get_uint64(const struct cursor *at, const char *key, uint64_t min, uint64_t max,
		  uint64_t *out)
{
	const json_t *json = cursor_get(at, key);
	int64_t value;

	if (json != NULL && take_int64(at, key, json, (int64_t)min, (int64_t)max, &value))
		*out = (uint64_t)value;
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
		cursor_refuse_value(at, key, json, "true or false");
	else
		*out = json_is_true(json);
}

static void
take_double(const struct cursor *at, const char *key, const json_t *json, double min, double max,
	    const char *or_else, double *out)
{
	double value = json_number_value(json);
	char wanted[80];

	if (json_is_number(json) && value >= min && value <= max) {
		*out = value;
		return;
	}
	snprintf(wanted, sizeof(wanted), "a number from %g to %g%s", min, max, or_else);
	cursor_refuse_value(at, key, json, wanted);
}

void
cursor_get_double(const struct cursor *at, const char *key, double min, double max, bool or_null,
		  double *out)
{
	const json_t *json = cursor_get(at, key);

	if (json != NULL)
		take_double(at, key, json, min, max, or_null ? ", or null" : "", out);
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
		cursor_refuse_value(array, NULL, json, "an array");
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

void
cursor_element_int64(const struct cursor *array, size_t index, int64_t min, int64_t max,
		     int64_t *out)
{
	const struct cursor at = cursor_element(array, index);

	if (at.d->rc == 0)
		take_int64(&at, NULL, at.json, min, max, out);
}
