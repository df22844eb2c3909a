/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses of a host, found by their IP address in a step or two however many there are. Made once by the control
 * thread and only read from then on, by any thread. Pure.
 */
#ifndef WR_ANSWER_ANSWER_TABLE_H
#define WR_ANSWER_ANSWER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "protocol/host_address.h"

#define ANSWER_ADDRESSES_MAX 1024u

struct answer_table;

/* n (1…ANSWER_ADDRESSES_MAX) addresses are copied; of two with the same IP the first counts. -ENOMEM. */
int answer_table_create(struct answer_table **out, const struct host_address *addresses, uint32_t n,
			struct error *err);
void answer_table_free(struct answer_table *table);

/* ip has 4 or 16 octets. NULL: not one of ours. */
const struct host_address *answer_table_find(const struct answer_table *table, const uint8_t *ip,
					     bool ipv6);

#endif
