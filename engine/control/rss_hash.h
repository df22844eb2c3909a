/* SPDX-License-Identifier: BSD-3-Clause */
/* RSS in JSON: the method rss.hash, and what PORT_INFO says. docs/design/0006-descriptor-loop.md, "RSS". Control thread. */
#ifndef WR_CONTROL_RSS_HASH_H
#define WR_CONTROL_RSS_HASH_H

#include <jansson.h>

#include "base/error.h"
#include "device/port.h"

/* The result of rss.hash, by DPDK's own Toeplitz hash; NULL for params that do not decode. */
json_t *rss_hash(const json_t *params, struct error *err);

/* "rss" of PORT_INFO; null where the device spreads by no hash. */
json_t *rss_describe(const struct port *port);

#endif
