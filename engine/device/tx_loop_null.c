/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor loop of net_null: head and tail are one word in memory, so that everything is taken at once. For
 * trying it and for tests without a device; its "descriptors" are an address and a length.
 */
#include "device/tx_loop.h"

#include <stdlib.h>

struct descriptor {
	uint64_t address;
	uint64_t octets;
};
_Static_assert(sizeof(struct descriptor) == TX_LOOP_DESCRIPTOR_OCTETS, "one size for all");

/* What stands for the device. */
struct memory_device {
	uint32_t tail;
	struct descriptor descriptors[];
};

static int
find(struct tx_loop *loop, struct error *err)
{
	struct memory_device *device =
		calloc(1, sizeof(*device) + loop->descriptors * sizeof(device->descriptors[0]));

	if (device == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for a ring of %u descriptors",
				 loop->descriptors);
	loop->own = device;
	loop->ring = (struct loop_ring){
		.head_register = &device->tail,
		.tail_register = &device->tail,
		.head_mask = UINT32_MAX,
		.size = loop->descriptors,
		.capacity = loop->descriptors - 1,
	};
	return 0;
}

static int
fill(struct tx_loop *loop, struct rte_mbuf *const *frames, struct error *err)
{
	struct memory_device *device = loop->own;
	int code = tx_loop_keep(loop, device->descriptors, loop->descriptors, err);

	for (uint32_t i = 0; i < loop->descriptors && code == 0; i++) {
		const struct rte_mbuf *frame = frames[i % loop->frames];

		device->descriptors[i] =
			(struct descriptor){(uintptr_t)rte_pktmbuf_mtod(frame, const void *),
					    rte_pktmbuf_data_len(frame)};
	}
	return code;
}

static const char *const pmds[] = {"net_null", NULL};

const struct tx_loop_driver tx_loop_null = {
	.name = "null",
	.pmds = pmds,
	.proven = true,
	.restore = TX_LOOP_RESTORE_NOTHING,
	.align = 1,
	.find = find,
	.fill = fill,
};
