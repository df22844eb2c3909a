/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of a port's parameter, for errors. */
#ifndef WR_DEVICE_WHERE_H
#define WR_DEVICE_WHERE_H

#include <stdio.h>

/* Where in the parameters an error lies: "ports[0].rx_queues". */
struct where {
	char text[128];
};

/* The path of parameter `name` of the port at `path`; kept in *where. */
static inline const char *
key(struct where *where, const char *path, const char *name)
{
	snprintf(where->text, sizeof(where->text), "%s.%s", path, name);
	return where->text;
}

#endif
