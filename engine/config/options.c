/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of options: see options.h. The values themselves are taken by json_cursor.h. */
#include "config/options.h"

#include <stdio.h>
#include <string.h>

#include "config/config_limits.h"

#define KEYS_MAX 32u /* of one object, with the end */

static uint32_t
collect_keys(const struct option *row, const char **keys, uint32_t n)
{
	for (; row->type != TYPE_END; row++) {
		if (row->type == TYPE_ROWS)
			n = collect_keys(row->rows, keys, n);
		else if (row->key != NULL && n < KEYS_MAX - 1)
			keys[n++] = row->key;
	}
	return n;
}

/* Is there something to take? */
static bool
is_there(const struct cursor *at, const struct option *row)
{
	if (row->key == NULL)
		return true;
	if ((row->need & OR_NULL) != 0 && cursor_has(at, row->key))
		return cursor_has_value(at, row->key);
	return (row->need & MAY_LACK) == 0 || cursor_has(at, row->key);
}

/* The value has the size of the enum or the bool that it is. */
static void
take_word(const struct cursor *at, const struct option *row, void *value)
{
	char word[CONFIG_NAME_SIZE] = "", allowed[128] = "";
	const char *const *words = row->words;
	size_t used = 0;

	cursor_get_text(at, row->key, word, sizeof(word));
	for (uint32_t i = 0; words[i] != NULL; i++) {
		const char *joint = i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ";

		if (strcmp(word, words[i]) == 0) {
			memset(value, 0, row->size);
			*(uint8_t *)value = (uint8_t)i; /* little-endian */
			return;
		}
		used += (size_t)snprintf(allowed + used, sizeof(allowed) - used, "%s\"%s\"", joint,
					 words[i]);
	}
	cursor_refuse(at, row->key, "\"%s\" is no %s; it must be %s", word, row->what, allowed);
}

static void
take_objects(const struct cursor *at, const struct option *row, void *value, uint32_t *count)
{
	struct cursor array;
	uint32_t n = cursor_get_array(at, row->key, (uint32_t)row->min, (uint32_t)row->max, &array);
	char *elements = cursor_new_array(&array, n, row->size);

	memcpy(value, &elements, sizeof(elements));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);

		(*count)++; /* what a refused element holds is freed, too */
		options_decode(&element, row->rows, elements + i * row->size);
	}
}

static void
take(const struct cursor *at, const struct option *row, void *out)
{
	void *value = (char *)out + row->offset, *beside = (char *)out + row->beside;
	struct cursor child;

	switch (row->type) {
	case TYPE_BOOL:
		cursor_get_bool(at, row->key, value);
		break;
	case TYPE_UINT32:
		cursor_get_uint32(at, row->key, (uint32_t)row->min, (uint32_t)row->max, value);
		break;
	case TYPE_UINT64:
		cursor_get_uint64(at, row->key, row->min, row->max, value);
		break;
	case TYPE_DOUBLE:
		cursor_get_double(at, row->key, row->least, row->most, (row->need & OR_NULL) != 0,
				  value);
		break;
	case TYPE_TEXT:
		cursor_get_text(at, row->key, value, row->size);
		break;
	case TYPE_PATH:
		cursor_get_file_path(at, row->key, CONFIG_PATH_SIZE, value);
		break;
	case TYPE_WORD:
		take_word(at, row, value);
		break;
	case TYPE_OBJECT:
		child = cursor_child(at, row->key);
		options_decode(&child, row->rows, value);
		break;
	case TYPE_OBJECTS:
		take_objects(at, row, value, beside);
		break;
	case TYPE_BY:
	case TYPE_CHOICE:
		row->by(at, out);
		break;
	case TYPE_ROWS:
		options_take(at, row->rows, value);
		break;
	case TYPE_KEY:
	case TYPE_END:
		break;
	}
	if (row->has)
		*(bool *)beside = true;
}

void
options_take(const struct cursor *at, const struct option *row, void *out)
{
	for (; row->type != TYPE_END && at->d->rc == 0; row++) {
		if (is_there(at, row))
			take(at, row, out);
	}
}

void
options_decode(const struct cursor *at, const struct option *rows, void *out)
{
	const char *keys[KEYS_MAX] = {NULL};

	collect_keys(rows, keys, 0);
	if (rows->type == TYPE_CHOICE)
		cursor_must_be_object(at);
	else
		cursor_closed_object(at, keys);
	options_take(at, rows, out);
}

int
options_decode_params(const json_t *params, const struct option *rows, void *out, struct error *err)
{
	struct decoding d = {.err = err};
	const struct cursor root = {.d = &d, .json = params};

	options_decode(&root, rows, out);
	return d.rc;
}
