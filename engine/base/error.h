/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What went wrong on a cold path, and where.
 *
 * Called by everything that can fail before or after frames move; never by worker/.
 * Any thread; a struct error belongs to the caller that made it, there is no global.
 * Convention: `int f(..., struct error *err)` returns 0 or a negative errno, and on failure has
 * filled err unless err is NULL.
 */
#ifndef WR_BASE_ERROR_H
#define WR_BASE_ERROR_H

#include <errno.h>

/* The code of "these params do not decode": the control socket answers -32602 and says EINVAL. */
#define ERROR_PARAMS (-EBADMSG)

struct error {
	int code;       /* 0 or a negative errno */
	char path[128]; /* where in the params, "ports[1].rx_queues"; "" when nowhere */
	char text[256]; /* a sentence for people: what, which value, what to do */
};

/*
 * Fill err, when not NULL, and return code, so that callers can `return error_set(...)`.
 * path may be NULL (nowhere). Path and text are cut to fit; both end up as valid UTF-8 without
 * control characters, whatever was quoted, so they can always be sent as JSON and printed on one
 * line. The arguments may point into err itself: "%s: %s", device, err->text adds context.
 */
int error_set(struct error *err, int code, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Back to "no error". err may be NULL. */
void error_clear(struct error *err);

#endif
