/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor loop of Intel's 700 series (i40e) and 800 series (ice). Not yet run on hardware.
 *
 * Where a ring lies is no register there but a context in the device, which is read through a window; and the
 * device's number of a queue is the driver's secret. Both come from one search: the function's queue whose context
 * has the ring that the driver's memory is. Virtual functions (iavf) cannot look there and have no head register, so
 * that nothing could be checked nor counted.
 *
 * Sources: Intel X710/XXV710/XL710 datasheet, 8.4.3.4 (Tx queue context), 8.3.2.4 and 8.4.2.1 (descriptors), 10.2.2
 * (QTX_HEAD, QTX_TAIL, PFLAN_QALLOC, PFCM_LANCTX…); Intel E810 datasheet, the same chapters (GLCOMM_QTX_CNTX…);
 * iPXE's intelxl.c and ice.c for the windows; DPDK, drivers/net/i40e and ice, for sizes (a multiple of tx_rs_thresh,
 * 32) and names of memory.
 */
#include "device/tx_loop.h"

#include <errno.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>

#define CONTEXT_WAITS 1000u /* [us] */
#define RING_UNIT 128u      /* of addresses in contexts [octets] */
#define HEAD_MASK 0x1fffu   /* 12:0; other bits say what is pending */
#define QALLOC_VALID (1u << 31)
#define ENTRY_OCTETS 4u /* of registers of which there is one per queue */

/* A data descriptor of a frame in one buffer: its last, FCS to be added, no report (RS). */
#define CMD_EOP (UINT64_C(1) << 4)
#define CMD_FCS (UINT64_C(4) << 4)
#define OCTETS_SHIFT 34

struct descriptor {
	rte_le64_t address;
	rte_le64_t command;
};
_Static_assert(sizeof(struct descriptor) == TX_LOOP_DESCRIPTOR_OCTETS, "as the device reads it");

/* What a queue's context says of its ring. */
struct context {
	uint64_t base; /* [octets] */
	uint32_t descriptors;
};

struct family {
	uint32_t allocation; /* register: first and last of the function's queues */
	uint32_t number_mask;
	uint32_t heads;
	uint32_t tails;
	uint32_t end; /* of the registers used [octets] */
	const char *const *zones;
	/* Read the context of the device's queue `number`; false when the device does not answer. */
	bool (*read)(uint8_t *registers, uint32_t number, struct context *out);
};

static bool
await(const uint8_t *status, uint32_t mask, uint32_t wanted)
{
	for (uint32_t waits = 0; waits < CONTEXT_WAITS; waits++) {
		if ((rte_read32(status) & mask) == wanted)
			return true;
		rte_delay_us_block(1);
	}
	return false;
}

enum {
	LANCTXDATA = 0x0010C100, /* four words, 0x80 apart */
	LANCTXCTL =
		0x0010C300, /* queue 11:0, line of 16 octets 14:12, Tx is type 1 in 16:15, read is 0 */
	LANCTXSTAT = 0x0010C380, /* done: bit 0 */
};

static bool
read_i40e_line(uint8_t *registers, uint32_t number, uint32_t line, uint32_t *words)
{
	rte_write32(number | line << 12 | 1u << 15, registers + LANCTXCTL);
	if (!await(registers + LANCTXSTAT, 1, 1))
		return false;
	for (uint32_t w = 0; w < 4; w++)
		words[w] = rte_read32(registers + LANCTXDATA + w * 0x80);
	return true;
}

static bool
read_i40e(uint8_t *registers, uint32_t number, struct context *out)
{
	uint32_t low[4], high[4];

	if (!read_i40e_line(registers, number, 0, low) ||
	    !read_i40e_line(registers, number, 1, high))
		return false;
	/* Bits 88:32 and 173:161. */
	out->base = ((uint64_t)low[2] << 32 | low[1]) & ((UINT64_C(1) << 57) - 1);
	out->base *= RING_UNIT;
	out->descriptors = high[1] >> 1 & HEAD_MASK;
	return true;
}

enum {
	QTX_CNTX_DATA = 0x002D2D40, /* ten words */
	QTX_CNTX_CTL = 0x002D2DC8,  /* queue 13:0, read is 0 in 18:16, go: bit 19 */
	QTX_CNTX_STAT = 0x002D2DCC, /* busy: bit 0 */
};

static bool
read_ice(uint8_t *registers, uint32_t number, struct context *out)
{
	uint32_t words[5];

	rte_write32(number | 1u << 19, registers + QTX_CNTX_CTL);
	if (!await(registers + QTX_CNTX_STAT, 1, 0))
		return false;
	for (uint32_t w = 0; w < 5; w++)
		words[w] = rte_read32(registers + QTX_CNTX_DATA + w * 4);
	/* Bits 56:0 and 147:135. */
	out->base = ((uint64_t)words[1] << 32 | words[0]) & ((UINT64_C(1) << 57) - 1);
	out->base *= RING_UNIT;
	out->descriptors = words[4] >> 7 & HEAD_MASK;
	return true;
}

/* The queue, counted from the function's first, whose ring is the driver's memory. */
static int
find_queue(struct tx_loop *loop, const struct family *family, uint32_t *out, struct error *err)
{
	uint32_t allocation = rte_read32(loop->registers + family->allocation);
	uint32_t first = allocation & family->number_mask;
	uint32_t last = allocation >> 16 & family->number_mask;

	if ((allocation & QALLOC_VALID) == 0 || last < first)
		return tx_loop_refuse(loop, err, "the device says no range of its queues");
	for (uint32_t q = 0; first + q <= last; q++) {
		struct context context;

		if (!family->read(loop->registers, first + q, &context))
			return tx_loop_refuse(loop, err, "the device does not show its queues");
		if (context.base != loop->iova)
			continue;
		if (context.descriptors != loop->descriptors)
			return tx_loop_refuse(loop, err,
					      "the device's ring has %u descriptors, not %u",
					      context.descriptors, loop->descriptors);
		*out = q;
		return 0;
	}
	return tx_loop_refuse(loop, err, "no queue of the device has the driver's ring (0x%lx)",
			      (unsigned long)loop->iova);
}

static int
find_in(struct tx_loop *loop, const struct family *family, struct error *err)
{
	uint32_t q = 0, head, tail;
	int code = tx_loop_find_zone(loop, family->zones, err);

	if (code == 0)
		code = pci_device_map(&loop->pci, 0, err);
	if (code != 0)
		return code;
	if (loop->pci.regions[0].octets < family->end ||
	    loop->descriptors * TX_LOOP_DESCRIPTOR_OCTETS > loop->octets)
		return tx_loop_refuse(loop, err, "its registers or its ring are too small");
	loop->registers = loop->pci.regions[0].memory;
	code = find_queue(loop, family, &q, err);
	if (code != 0)
		return code;
	head = rte_read32(loop->registers + family->heads + q * ENTRY_OCTETS) & HEAD_MASK;
	tail = rte_read32(loop->registers + family->tails + q * ENTRY_OCTETS) & HEAD_MASK;
	if (head != tail || head >= loop->descriptors)
		return tx_loop_refuse(loop, err,
				      "the device is not idle (head %u, tail %u); is its link up?",
				      head, tail);
	loop->ring = (struct loop_ring){
		.head_register = (volatile uint32_t *)(uintptr_t)(loop->registers + family->heads +
								  q * ENTRY_OCTETS),
		.tail_register = (volatile uint32_t *)(uintptr_t)(loop->registers + family->tails +
								  q * ENTRY_OCTETS),
		.head_mask = HEAD_MASK,
		.size = loop->descriptors,
		.capacity = loop->descriptors - 1,
		.head = head,
		.tail = tail,
	};
	return 0;
}

static int
fill(struct tx_loop *loop, struct rte_mbuf *const *frames, struct error *err)
{
	struct descriptor *descriptors = (struct descriptor *)(void *)loop->memory;
	int code = tx_loop_keep(loop, descriptors, loop->descriptors, err);

	for (uint32_t i = 0; i < loop->descriptors && code == 0; i++) {
		const struct rte_mbuf *frame = frames[i % loop->frames];
		struct descriptor *at = &descriptors[(loop->ring.tail + i) % loop->descriptors];
		uint64_t octets = rte_pktmbuf_data_len(frame);

		at->address = rte_cpu_to_le_64(rte_pktmbuf_iova(frame));
		at->command = rte_cpu_to_le_64(CMD_EOP | CMD_FCS | octets << OCTETS_SHIFT);
	}
	return code;
}

static const char *const i40e_zones[] = {"tx_ring", "i40e_tx_ring", "ci_tx_ring", NULL};
static const char *const ice_zones[] = {"tx_ring", "ice_tx_ring", "ci_tx_ring", NULL};
static const struct family i40e = {0x001C0400, 0x7ff,      0x000E4000, 0x00108000,
				   0x001C0404, i40e_zones, read_i40e};
static const struct family ice = {0x001D2580, 0x3fff,    0x000E0000, 0x002C0000,
				  0x002D2DD0, ice_zones, read_ice};

static int
find_i40e(struct tx_loop *loop, struct error *err)
{
	return find_in(loop, &i40e, err);
}

static int
find_ice(struct tx_loop *loop, struct error *err)
{
	return find_in(loop, &ice, err);
}

static const char *const i40e_pmds[] = {"net_i40e", NULL};
static const char *const ice_pmds[] = {"net_ice", NULL};
static const char *const vf_pmds[] = {"net_iavf", "net_ixgbe_vf", "net_e1000_igb_vf", NULL};

const struct tx_loop_driver tx_loop_i40e = {
	.name = "i40e",
	.pmds = i40e_pmds,
	.proven = false,
	.counts = true,
	.restore = TX_LOOP_RESTORE_START,
	.align = 32,
	.find = find_i40e,
	.fill = fill,
};

const struct tx_loop_driver tx_loop_ice = {
	.name = "ice",
	.pmds = ice_pmds,
	.proven = false,
	.counts = true,
	.restore = TX_LOOP_RESTORE_START,
	.align = 32,
	.find = find_ice,
	.fill = fill,
};

const struct tx_loop_driver tx_loop_iavf = {
	.name = "vf",
	.pmds = vf_pmds,
	.lacks = "a virtual function has not the registers that a ring is checked with",
};
