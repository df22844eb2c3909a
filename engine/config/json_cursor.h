/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walking JSON strictly while always knowing where one is.
 *
 * Called by the config_decode files only; main thread, cold path.
 * A cursor is one JSON value plus the way to it, on the stack of the function that looks at it.
 * The path is spelled out only when something is refused. The first refusal sticks in the
 * decoding and turns every later call into nothing, so callers read straight down and look at
 * `d->rc` only where a loop or an allocation depends on it. Getters leave *out alone on refusal.
 */
#ifndef WR_CONFIG_JSON_CURSOR_H
#define WR_CONFIG_JSON_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"

struct decoding {
	struct error *err; /* the caller's, may be NULL */
	int rc;            /* 0 or the first failure */
};

struct cursor {
	struct decoding *d;
	const struct cursor *up; /* NULL: this is the params object */
	const char *key;         /* in up, NULL when up is an array */
	size_t index;            /* in up, when up is an array */
	const json_t *json;      /* NULL after a refusal */
};

/* Refuse key of the object at (NULL: the value at itself) with a sentence; ERROR_PARAMS sticks. */
void cursor_refuse(const struct cursor *at, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, as "it is 7; it must be WANTED", where json is what was found at key. */
void cursor_refuse_value(const struct cursor *at, const char *key, const json_t *json,
			 const char *wanted);

/* An allocation failed; -ENOMEM sticks. */
void cursor_no_memory(const struct cursor *at);

/* Room for n zeroed elements, the caller's; NULL when n is 0 or after a refusal. */
void *cursor_new_array(const struct cursor *at, size_t n, size_t size);

/* The value must be an object. */
void cursor_must_be_object(const struct cursor *at);

/* The value must be an object with no other keys than these (NULL at the end). */
void cursor_closed_object(const struct cursor *at, const char *const *keys);

/* The value of a required key, any type; NULL and refused when missing. */
const json_t *cursor_get(const struct cursor *at, const char *key);

/* Is an optional key there; is it there and not null? False after a refusal. */
bool cursor_has(const struct cursor *at, const char *key);
bool cursor_has_value(const struct cursor *at, const char *key);

/* A required key's value as a cursor, which must not outlive *at. */
struct cursor cursor_child(const struct cursor *at, const char *key);

void cursor_get_int64(const struct cursor *at, const char *key, int64_t min, int64_t max,
		      int64_t *out);
void cursor_get_uint64(const struct cursor *at, const char *key, uint64_t min, uint64_t max,
		       uint64_t *out);
void cursor_get_uint32(const struct cursor *at, const char *key, uint32_t min, uint32_t max,
		       uint32_t *out);
void cursor_get_bool(const struct cursor *at, const char *key, bool *out);

/* or_null: the refusal says that null may stand there, too. */
void cursor_get_double(const struct cursor *at, const char *key, double min, double max,
		       bool or_null, double *out);

/* 1…size-1 octets without control characters, copied with a final NUL. */
void cursor_get_text(const struct cursor *at, const char *key, char *out, size_t size);

/* As cursor_get_text(), an absolute path; *out is malloced, the caller's. */
void cursor_get_file_path(const struct cursor *at, const char *key, size_t size, char **out);

/* Hex digits, two per octet; *octets is malloced, the caller's. */
void cursor_get_hex(const struct cursor *at, const char *key, uint32_t min, uint32_t max,
		    uint8_t **octets, uint32_t *n_octets);

/* An array of min…max elements; its length, and 0 with *array unusable when refused. */
uint32_t cursor_get_array(const struct cursor *at, const char *key, uint32_t min, uint32_t max,
			  struct cursor *array);
struct cursor cursor_element(const struct cursor *array, size_t index);

/* An element of an array of numbers, of texts or of hex digits, as cursor_get_text() and cursor_get_hex(). */
void cursor_element_uint32(const struct cursor *array, size_t index, uint32_t min, uint32_t max,
			   uint32_t *out);
void cursor_element_int64(const struct cursor *array, size_t index, int64_t min, int64_t max,
			  int64_t *out);
void cursor_element_text(const struct cursor *array, size_t index, char *out, size_t size);
void cursor_element_hex(const struct cursor *array, size_t index, uint32_t min, uint32_t max,
			uint8_t **octets, uint32_t *n_octets);

#endif
