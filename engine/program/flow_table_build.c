/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/flow_table_build.h"

#include <errno.h>

#include <rte_common.h>
#include <rte_malloc.h>

#define SLOTS_PER_TUPLE 2u /* at least: chains of full slots stay short */

int
flow_table_create(struct flow_table **out, uint32_t tuples_max, int socket, struct error *err)
{
	uint64_t slots = rte_align64pow2((uint64_t)tuples_max * SLOTS_PER_TUPLE);
	struct flow_table *table =
		rte_zmalloc_socket("flow table", sizeof(*table), RTE_CACHE_LINE_SIZE, socket);

	if (table != NULL) {
		table->mask = slots - 1;
		table->tuples_max = tuples_max;
		table->slots = rte_zmalloc_socket("flow slots", slots * sizeof(table->slots[0]),
						  RTE_CACHE_LINE_SIZE, socket);
		table->ipv6 =
			rte_malloc_socket("flow addresses", tuples_max * sizeof(table->ipv6[0]),
					  RTE_CACHE_LINE_SIZE, socket);
	}
	if (table == NULL || table->slots == NULL || table->ipv6 == NULL) {
		flow_table_free(table);
		return error_set(err, -ENOMEM, NULL,
				 "no memory to tell %u flows apart; lower distinct_max",
				 tuples_max);
	}
	*out = table;
	return 0;
}

void
flow_table_free(struct flow_table *table)
{
	if (table == NULL)
		return;
	rte_free(table->slots);
	rte_free(table->ipv6);
	rte_free(table);
}
