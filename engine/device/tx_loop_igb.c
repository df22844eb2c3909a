/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor loop of Intel's 82575, 82576, 82580, I350, I210 and I211; its registers and descriptors also serve
 * the 82599 to X550 (tx_loop_ixgbe.c), where they lie elsewhere.
 *
 * Sources: Intel 82576 datasheet, 7.2.2.3 (advanced transmit data descriptor), 8.12 (transmit registers); names of
 * the ring's memory: DPDK, drivers/net/e1000/igb_rxtx.c.
 */
#include "device/tx_loop.h"

#include <rte_byteorder.h>

/* From TDBAL on. */
enum {
	TDBAL = 0x00,
	TDBAH = 0x04,
	TDLEN = 0x08,
	TDH = 0x10,
	TDT = 0x18,
	TXDCTL = 0x28,
};
#define TXDCTL_ENABLE (1u << 25)

/* An advanced data descriptor of a frame in one buffer: no report of its status (RS). */
#define CMD_DATA (3u << 20)
#define CMD_EOP (1u << 24)
#define CMD_FCS (1u << 25)
#define CMD_ADVANCED (1u << 29)
#define PAYLOAD_SHIFT 14

struct descriptor {
	rte_le64_t address;
	rte_le32_t command_length;
	rte_le32_t payload_status;
};
_Static_assert(sizeof(struct descriptor) == TX_LOOP_DESCRIPTOR_OCTETS, "as the device reads it");

static volatile uint32_t *
queue_register(const struct tx_loop *loop, const struct tx_loop_registers *where, uint32_t offset)
{
	return (volatile uint32_t *)(uintptr_t)(loop->registers + where->first +
						loop->queue * where->stride + offset);
}

/* Everything is compared before anything is believed, and nothing is written. */
int
tx_loop_check_registers(struct tx_loop *loop, const struct tx_loop_registers *where,
			struct error *err)
{
	uint64_t base = (uint64_t)rte_read32(queue_register(loop, where, TDBAH)) << 32 |
			rte_read32(queue_register(loop, where, TDBAL));
	uint32_t octets = rte_read32(queue_register(loop, where, TDLEN));
	uint32_t control = rte_read32(queue_register(loop, where, TXDCTL));
	uint32_t head = rte_read32(queue_register(loop, where, TDH));
	uint32_t tail = rte_read32(queue_register(loop, where, TDT));

	if (base != loop->iova)
		return tx_loop_refuse(loop, err,
				      "the device's ring is at 0x%lx, the driver's memory at 0x%lx",
				      (unsigned long)base, (unsigned long)loop->iova);
	if (octets != loop->descriptors * TX_LOOP_DESCRIPTOR_OCTETS || octets > loop->octets)
		return tx_loop_refuse(loop, err,
				      "the device's ring has %u octets, not the %u of %u "
				      "descriptors",
				      octets, loop->descriptors * TX_LOOP_DESCRIPTOR_OCTETS,
				      loop->descriptors);
	if ((control & TXDCTL_ENABLE) == 0)
		return tx_loop_refuse(loop, err, "the device's queue is switched off");
	if (head != tail || head >= loop->descriptors)
		return tx_loop_refuse(loop, err,
				      "the device is not idle (head %u, tail %u); is its link up?",
				      head, tail);
	loop->ring = (struct loop_ring){
		.head_register = queue_register(loop, where, TDH),
		.tail_register = queue_register(loop, where, TDT),
		.head_mask = UINT32_MAX,
		.size = loop->descriptors,
		.capacity = loop->descriptors - 1,
		.head = head,
		.tail = tail,
	};
	return 0;
}

int
tx_loop_find_registers(struct tx_loop *loop, const struct tx_loop_registers *where,
		       struct error *err)
{
	int code = tx_loop_find_zone(loop, where->zones, err);

	if (code == 0)
		code = pci_device_map(&loop->pci, 0, err);
	if (code != 0)
		return code;
	loop->registers = loop->pci.regions[0].memory;
	if (where->first + (loop->queue + 1u) * where->stride > loop->pci.regions[0].octets)
		return tx_loop_refuse(loop, err, "its registers end before this queue's");
	return tx_loop_check_registers(loop, where, err);
}

/* The first frame lies where the tail is. */
int
tx_loop_fill_advanced(struct tx_loop *loop, struct rte_mbuf *const *frames, struct error *err)
{
	struct descriptor *descriptors = (struct descriptor *)(void *)loop->memory;
	int code = tx_loop_keep(loop, descriptors, loop->descriptors, err);

	for (uint32_t i = 0; i < loop->descriptors && code == 0; i++) {
		const struct rte_mbuf *frame = frames[i % loop->frames];
		struct descriptor *at = &descriptors[(loop->ring.tail + i) % loop->descriptors];
		uint32_t octets = rte_pktmbuf_data_len(frame);

		at->address = rte_cpu_to_le_64(rte_pktmbuf_iova(frame));
		at->command_length =
			rte_cpu_to_le_32(octets | CMD_DATA | CMD_EOP | CMD_FCS | CMD_ADVANCED);
		at->payload_status = rte_cpu_to_le_32(octets << PAYLOAD_SHIFT);
	}
	return code;
}

static const char *const pmds[] = {"net_e1000_igb", NULL};
static const char *const zones[] = {"tx_ring", "igb_tx_ring", "e1000_tx_ring", "ci_tx_ring", NULL};
static const struct tx_loop_registers registers = {0xE000, 0x40, zones};

static int
find(struct tx_loop *loop, struct error *err)
{
	return tx_loop_find_registers(loop, &registers, err);
}

const struct tx_loop_driver tx_loop_igb = {
	.name = "igb",
	.pmds = pmds,
	.proven = true,
	.counts = true,
	.restore = TX_LOOP_RESTORE_START,
	.align = 8, /* TDLEN is a multiple of 128 octets */
	.find = find,
	.fill = tx_loop_fill_advanced,
};
