/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A refusal is a row: change one thing in a good document, expect this path and these words.
 *
 * Included by test_config_*refusals.c, once each.
 */
#ifndef WR_TESTS_CONFIG_REFUSALS_H
#define WR_TESTS_CONFIG_REFUSALS_H

#include "tests/config_documents.h"

struct refusal {
	const char *put_path; /* NULL: put_json is the whole document */
	const char *put_json; /* NULL: remove the key */
	const char *path;     /* expected; NULL: put_path */
	const char *words;    /* expected in the text */
};

typedef int (*decode_fn)(const json_t *params, struct error *err);

static void
assert_refused(const struct refusal *row, decode_fn decode, const char *good)
{
	json_t *value = row->put_json != NULL ? load(row->put_json) : NULL;
	json_t *params = row->put_path != NULL ? load(good) : value;
	const char *path = row->path != NULL ? row->path : row->put_path;
	struct error err = {0};
	int rc;

	if (row->put_path != NULL)
		put(params, row->put_path, value);
	rc = decode(params, &err);
	if (rc != ERROR_PARAMS || err.code != rc || strcmp(err.path, path) != 0 ||
	    strstr(err.text, row->words) == NULL)
		fail_msg("%s = %s:\n  wanted %s: %s\n  got %d %s: %s", row->put_path, row->put_json,
			 path, row->words, rc, err.path, err.text);
	assert_int_equal(decode(params, NULL), ERROR_PARAMS);
	json_decref(params);
}

static void
assert_all_refused(const struct refusal *rows, size_t n, decode_fn decode, const char *good)
{
	for (size_t i = 0; i < n; i++)
		assert_refused(&rows[i], decode, good);
}

#endif
