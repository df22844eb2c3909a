/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects of the params as tables: each key a row with its type, its range and its place in a struct.
 *
 * Called by the config_decode files only; main thread, cold path. Rows are taken in their order, so a row may depend on
 * those before it; the first refusal ends it. A key that is in no row is refused.
 */
#ifndef WR_CONFIG_OPTIONS_H
#define WR_CONFIG_OPTIONS_H

#include "config/json_cursor.h"

enum option_need {
	NEEDED = 0,
	MAY_LACK = 1, /* the struct's value stays as it is then */
	OR_NULL = 2,  /* as if it lacked */
	MAY_LACK_OR_NULL = MAY_LACK | OR_NULL,
};

enum option_type {
	TYPE_END, /* the last row */
	TYPE_BOOL,
	TYPE_UINT32,
	TYPE_UINT64,
	TYPE_DOUBLE,
	TYPE_TEXT,
	TYPE_PATH,
	TYPE_WORD,
	TYPE_OBJECT,
	TYPE_OBJECTS,
	TYPE_BY,
	TYPE_CHOICE,
	TYPE_KEY,
	TYPE_ROWS,
};

struct option {
	enum option_type type;
	enum option_need need;
	const char *key; /* NULL: no key of its own */
	size_t offset;   /* of the value in *out */
	size_t size;     /* [octets] of the value, or of an element */
	size_t beside;   /* of a bool that says whether it is there, or of the number of elements */
	bool has;        /* there is such a bool */
	uint64_t min, max;
	double least, most;
	const struct option *rows; /* of an object, or of each element */
	const char *const *words;  /* NULL at the end; the value is the index */
	const char *what;          /* the words are: "way to do it", say */
	void (*by)(const struct cursor *at, void *out);
};

/* The value at must be an object with no other keys; the whole of *out that the rows name is filled. */
void options_decode(const struct cursor *at, const struct option *rows, void *out);

/* The same, whatever else the object may hold. */
void options_take(const struct cursor *at, const struct option *rows, void *out);

/* The params of a method, of which *out is all zero before. Returns 0 or what is in *err. */
int options_decode_params(const json_t *params, const struct option *rows, void *out,
			  struct error *err);

/* A key for a member that must be of that C type. */
#define OPTION_ROW(type_, key_, need_, struct_, member, ctype, ...) \
	{.type = type_, \
	 .key = key_, \
	 .need = need_, \
	 .size = sizeof(((struct_ *)0)->member), \
	 .offset = \
		 offsetof(struct_, member) + 0 * sizeof(1 ? &((struct_ *)0)->member : (ctype *)0), \
	 ##__VA_ARGS__}
#define OPTION_ANY_ROW(type_, key_, need_, struct_, member, ...) \
	OPTION_ROW(type_, key_, need_, struct_, member, void, ##__VA_ARGS__)

/* A key of the member's name; behind the ranges may stand OPTION_IF(). */
#define OPTION_BOOL(need, type, member) OPTION_ROW(TYPE_BOOL, #member, need, type, member, bool)
#define OPTION_UINT32(need, type, member, min_, max_, ...) \
	OPTION_ROW(TYPE_UINT32, #member, need, type, member, uint32_t, .min = (min_), \
		   .max = (max_), ##__VA_ARGS__)
#define OPTION_UINT64(need, type, member, min_, max_, ...) \
	OPTION_UINT64_AS(#member, need, type, member, min_, max_, ##__VA_ARGS__)
#define OPTION_DOUBLE(need, type, member, least_, most_, ...) \
	OPTION_DOUBLE_AS(#member, need, type, member, least_, most_, ##__VA_ARGS__)
/* 1…size-1 octets into an array of char; an absolute path, malloced. */
#define OPTION_TEXT(need, type, member) OPTION_TEXT_AS(#member, need, type, member)
#define OPTION_PATH(need, type, member) OPTION_ROW(TYPE_PATH, #member, need, type, member, char *)
/* An enum, or a bool, whose values are the indices of words. */
#define OPTION_WORD(need, type, member, words, what) \
	OPTION_WORD_AS(#member, need, type, member, words, what)
/* An object with rows of its own, for a struct in the struct; min…max objects, malloced, n_member of them. */
#define OPTION_OBJECT(need, type, member, rows_) \
	OPTION_ANY_ROW(TYPE_OBJECT, #member, need, type, member, .rows = rows_)
#define OPTION_OBJECTS(need, type, member, min, max, rows) \
	OPTION_OBJECTS_AS(#member, need, type, member, min, max, rows)

/* The same by another name. */
#define OPTION_UINT64_AS(key, need, type, member, min_, max_, ...) \
	OPTION_ROW(TYPE_UINT64, key, need, type, member, uint64_t, .min = (min_), .max = (max_), \
		   ##__VA_ARGS__)
#define OPTION_DOUBLE_AS(key, need, type, member, least_, most_, ...) \
	OPTION_ROW(TYPE_DOUBLE, key, need, type, member, double, .least = (least_), \
		   .most = (most_), ##__VA_ARGS__)
#define OPTION_TEXT_AS(key, need, type, member) OPTION_ANY_ROW(TYPE_TEXT, key, need, type, member)
#define OPTION_WORD_AS(key, need, type, member, words_, what_) \
	OPTION_ANY_ROW(TYPE_WORD, key, need, type, member, .words = words_, .what = what_)
#define OPTION_OBJECTS_AS(key_, need_, struct_, member, min_, max_, rows_) \
	{.type = TYPE_OBJECTS, \
	 .key = key_, \
	 .need = need_, \
	 .offset = offsetof(struct_, member), \
	 .size = sizeof(*((struct_ *)0)->member), \
	 .beside = offsetof(struct_, n_##member), \
	 .min = (min_), \
	 .max = (max_), \
	 .rows = rows_}

/* A bool of the struct that says whether there is a value. */
#define OPTION_IF(type, flag) .has = true, .beside = offsetof(type, flag)

/* What needs a function, which gets the object that has the key; without a key: what relates values to each other. */
#define OPTION_BY(key_, need_, by_) {.type = TYPE_BY, .key = key_, .need = need_, .by = by_}
#define OPTION_THEN(by_) {.type = TYPE_BY, .by = by_}
/* The only row of an object whose rows depend on what is in it: the function decodes it by others. */
#define OPTION_CHOICE(by_) {.type = TYPE_CHOICE, .by = by_}
/* A key that is allowed, and looked at by another row. */
#define OPTION_KEY(key_) {.type = TYPE_KEY, .key = key_, .need = MAY_LACK}
/* Rows that several tables have; rows for a struct in the struct. */
#define OPTION_ROWS(rows_) {.type = TYPE_ROWS, .rows = rows_}
#define OPTION_PART(struct_, member, rows_) \
	{.type = TYPE_ROWS, .offset = offsetof(struct_, member), .rows = rows_}
#define OPTION_END {.type = TYPE_END}

#endif
