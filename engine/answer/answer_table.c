/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer/answer_table.h"

#include <stdlib.h>

#include "base/random.h"

/* A power of two, four times as many as there are addresses: nearly every search ends at the first slot. */
#define SLOTS (4u * ANSWER_ADDRESSES_MAX)

struct answer_table {
	struct host_address *addresses;
	uint16_t slots[SLOTS]; /* number of the address plus 1; 0: free */
};

static uint32_t
slot_of(const uint8_t *ip, bool ipv6)
{
	uint64_t halves[2] = {0, ipv6};

	memcpy(halves, ip, ipv6 ? IPV6_OCTETS : IPV4_OCTETS);
	return (uint32_t)splitmix64(halves[0], splitmix64(halves[1], 0)) % SLOTS;
}

int
answer_table_create(struct answer_table **out, const struct host_address *addresses, uint32_t n,
		    struct error *err)
{
	struct answer_table *table = calloc(1, sizeof(*table));

	if (table != NULL)
		table->addresses = calloc(n, sizeof(table->addresses[0]));
	if (table == NULL || table->addresses == NULL) {
		answer_table_free(table);
		return error_set(err, -ENOMEM, NULL, "no memory for %u addresses", n);
	}
	memcpy(table->addresses, addresses, n * sizeof(addresses[0]));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = slot_of(addresses[i].ip, addresses[i].ipv6);

		while (table->slots[slot] != 0)
			slot = (slot + 1) % SLOTS;
		table->slots[slot] = (uint16_t)(i + 1);
	}
	*out = table;
	return 0;
}

void
answer_table_free(struct answer_table *table)
{
	if (table == NULL)
		return;
	free(table->addresses);
	free(table);
}

const struct host_address *
answer_table_find(const struct answer_table *table, const uint8_t *ip, bool ipv6)
{
	for (uint32_t slot = slot_of(ip, ipv6); table->slots[slot] != 0;
	     slot = (slot + 1) % SLOTS) {
		const struct host_address *found = &table->addresses[table->slots[slot] - 1];

		if (found->ipv6 == ipv6 &&
		    memcmp(found->ip, ip, ipv6 ? IPV6_OCTETS : IPV4_OCTETS) == 0)
			return found;
	}
	return NULL;
}
