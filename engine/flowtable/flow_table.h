/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. How many different 5-tuples a task has received: exact up to the number that there is room for.
 *
 * One thread, the task's, fills and reads it; nothing is ever taken out. Contract: "Distinct flows" in
 * docs/design/0007-flows.md. Made by program/flow_table_build.h.
 */
#ifndef WR_FLOWTABLE_FLOW_TABLE_H
#define WR_FLOWTABLE_FLOW_TABLE_H

#include <stdint.h>

#include <rte_mbuf.h>

/*
 * A place for one tuple; one of IPv4 is in it as a whole. The addresses of IPv6 are elsewhere; here are the number of that
 * place, below, and half of the tuple's hash above, which saves most looks at other tuples' addresses.
 */
struct flow_slot {
	uint64_t rest; /* of struct flow_tuple; 0: free */
	uint64_t addresses;
};

struct flow_table {
	struct flow_slot *slots; /* mask + 1 of them, at least twice as many as tuples */
	uint64_t (*ipv6)[4];     /* room for tuples_max */
	uint64_t mask;
	uint32_t tuples_max; /* at least 1 */
	uint32_t tuples;
	uint32_t ipv6_tuples; /* of these, of IPv6 */
};

/*
 * Note the tuples of a burst; frames without one are left out. Sets *distinct to how many there are now, adds to *overflow the
 * frames of those for which there was no room.
 */
void flow_table_note(struct flow_table *table, struct rte_mbuf *const *mbufs, uint16_t count,
		     uint64_t *distinct, uint64_t *overflow);

#endif
