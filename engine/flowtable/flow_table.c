/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Open addressing with linear probing. A chunk of frames is read first and its slots fetched, then looked up: a table
 * of 300,000 flows is larger than a cache, and a miss for each frame, one after the other, would cost 80 ns.
 */
#include "flowtable/flow_table.h"

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "counters/counters.h"
#include "flowtable/flow_mbuf.h"

#define CHUNK 32u
#define PREFETCH_AHEAD 4u

struct lookup {
	struct flow_tuple tuple;
	uint64_t hash;
};

/* What a slot of the tuple holds for its addresses, but for the number of an IPv6 tuple's place. */
static inline uint64_t
slot_addresses(const struct lookup *lookup)
{
	return tuple_version(&lookup->tuple) == TUPLE_IPV4 ? lookup->tuple.addresses[0]
							   : lookup->hash >> 32 << 32;
}

static inline bool
is_in(const struct flow_table *table, const struct flow_slot *slot, const struct lookup *lookup)
{
	const struct flow_tuple *tuple = &lookup->tuple;

	if (slot->rest != tuple->rest)
		return false;
	if (likely(tuple_version(tuple) == TUPLE_IPV4))
		return slot->addresses == tuple->addresses[0];
	return slot->addresses >> 32 == lookup->hash >> 32 &&
	       memcmp(table->ipv6[(uint32_t)slot->addresses], tuple->addresses,
		      sizeof(tuple->addresses)) == 0;
}

/* False where there is no room. */
static inline bool
enter(struct flow_table *table, struct flow_slot *slot, const struct lookup *lookup)
{
	if (table->tuples == table->tuples_max)
		return false;
	slot->addresses = slot_addresses(lookup);
	if (tuple_version(&lookup->tuple) == TUPLE_IPV6) {
		slot->addresses |= table->ipv6_tuples;
		memcpy(table->ipv6[table->ipv6_tuples++], lookup->tuple.addresses,
		       sizeof(lookup->tuple.addresses));
	}
	slot->rest = lookup->tuple.rest;
	table->tuples++;
	return true;
}

/* Half of the slots at least are free, so this ends. */
static inline bool
look_up(struct flow_table *table, const struct lookup *lookup)
{
	uint64_t i = lookup->hash & table->mask;

	while (table->slots[i].rest != 0) {
		if (is_in(table, &table->slots[i], lookup))
			return true;
		i = (i + 1) & table->mask;
	}
	return enter(table, &table->slots[i], lookup);
}

/* Returns for how many frames there was no room. */
static inline uint32_t
note_chunk(struct flow_table *table, struct rte_mbuf *const *mbufs, uint32_t count)
{
	struct lookup lookups[CHUNK];
	uint32_t n = 0, overflow = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (i + 2 * PREFETCH_AHEAD < count)
			rte_prefetch0(mbufs[i + 2 * PREFETCH_AHEAD]);
		if (i + PREFETCH_AHEAD < count)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH_AHEAD], const void *));
		if (unlikely(!tuple_read_mbuf(&lookups[n].tuple, mbufs[i])))
			continue;
		lookups[n].hash = tuple_hash(&lookups[n].tuple);
		rte_prefetch0(&table->slots[lookups[n].hash & table->mask]);
		n++;
	}
	for (uint32_t i = 0; i < n; i++)
		overflow += !look_up(table, &lookups[i]);
	return overflow;
}

void
flow_table_note(struct flow_table *table, struct rte_mbuf *const *mbufs, uint16_t count,
		uint64_t *distinct, uint64_t *overflow)
{
	uint32_t full = 0;

	for (uint32_t from = 0; from < count; from += CHUNK)
		full += note_chunk(table, mbufs + from, RTE_MIN(count - from, CHUNK));
	counter_set(distinct, table->tuples);
	if (unlikely(full > 0))
		counter_add(overflow, full);
}
