/* SPDX-License-Identifier: BSD-3-Clause */
/* A file's name as messages show it: a long path must not push the reason out of struct error. Pure. */
#ifndef WR_TRACE_TRACE_PATH_H
#define WR_TRACE_TRACE_PATH_H

#include <stdio.h>
#include <string.h>

#define TRACE_NAME_OCTETS 100 /* with the 0: leaves more than half of error.text */

/* The path, or "..." and its end. */
static inline void
trace_path_show(char shown[TRACE_NAME_OCTETS], const char *path)
{
	size_t n = strlen(path), most = TRACE_NAME_OCTETS - 1;

	if (n <= most)
		memcpy(shown, path, n + 1);
	else
		snprintf(shown, TRACE_NAME_OCTETS, "...%s", path + n - (most - 3));
}

#endif
