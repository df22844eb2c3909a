/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor loop of virtio-net PCI devices with split rings: one descriptor per frame, the virtio header in
 * front of it, and only the available index is moved. A ring's size is a power of two that the device chose, so that
 * a lap need not divide it: the slots of the available ring, which only name descriptors, are written again as they
 * come round (base/loop_ring.h).
 *
 * Sources: Virtual I/O Device 1.2, 2.7 (split virtqueues), 4.1.4 (PCI capabilities), 4.1.4.3 (common configuration),
 * 5.1.6 (header); the name of the ring's memory: DPDK, drivers/net/virtio.
 */
#include "device/tx_loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_memzone.h>

#include "device/tx_loop_virtio.h"

#define CONFIG_CAPABILITIES 0x34
#define CAPABILITY_VENDOR 9
#define CAPABILITIES_MAX 48 /* 192 octets of 4 at least: a list that runs in circles ends */

struct capability {
	uint8_t id;
	uint8_t next;
	uint8_t octets;
	uint8_t type;
	uint8_t bar;
	uint8_t number;
	uint8_t padding[2];
	rte_le32_t offset;
	rte_le32_t length;
};
enum { TYPE_COMMON = 1, TYPE_NOTIFY = 2 };

/* Common configuration, offsets. */
enum {
	DRIVER_FEATURE_SELECT = 8,
	DRIVER_FEATURE = 12,
	QUEUE_SELECT = 22,
	QUEUE_SIZE = 24,
	QUEUE_ENABLE = 28,
	QUEUE_NOTIFY_OFF = 30,
	QUEUE_DESC = 32,
	QUEUE_DRIVER = 40,
	QUEUE_DEVICE = 48,
	COMMON_OCTETS = 56,
};
#define FEATURE_VERSION_1 (UINT64_C(1) << 32)
#define FEATURE_RING_PACKED (UINT64_C(1) << 34)
#define FEATURE_IN_ORDER (UINT64_C(1) << 35)
#define FEATURE_NOTIFICATION_DATA (UINT64_C(1) << 38)
#define FEATURE_EVENT_IDX (UINT64_C(1) << 29)

#define HEADER_OCTETS \
	12 /* of a device with VERSION_1; all zeros: nothing left to do for the device */

struct descriptor {
	rte_le64_t address;
	rte_le32_t octets;
	rte_le16_t flags;
	rte_le16_t next;
};
_Static_assert(sizeof(struct descriptor) == TX_LOOP_DESCRIPTOR_OCTETS, "virtio 1.2, 2.7.5");

static uint16_t
read16(const uint8_t *common, uint32_t offset)
{
	return rte_read16(common + offset);
}

static uint64_t
read64(const uint8_t *common, uint32_t offset)
{
	return (uint64_t)rte_read32(common + offset + 4) << 32 | rte_read32(common + offset);
}

static uint64_t
read_features(uint8_t *common)
{
	uint64_t features = 0;

	for (uint32_t half = 2; half-- > 0;) {
		rte_write32(half, common + DRIVER_FEATURE_SELECT);
		features = features << 32 | rte_read32(common + DRIVER_FEATURE);
	}
	return features;
}

/* Map the structure that the capability at `at` describes. */
static int
map_structure(struct pci_device *pci, const struct capability *capability, uint8_t **out,
	      struct error *err)
{
	uint32_t offset = rte_le_to_cpu_32(capability->offset);
	int code = pci_device_map(pci, capability->bar, err);

	if (code != 0)
		return code;
	if ((uint64_t)offset + rte_le_to_cpu_32(capability->length) >
	    pci->regions[capability->bar].octets)
		return error_set(err, -ENODEV, NULL, "%s: its registers lie outside their region",
				 pci->address);
	*out = (uint8_t *)pci->regions[capability->bar].memory + offset;
	return 0;
}

int
tx_loop_virtio_map(struct pci_device *pci, struct virtio_registers *out, struct error *err)
{
	uint8_t at = 0;
	int code = pci_device_read_config(pci, CONFIG_CAPABILITIES, &at, 1);

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < CAPABILITIES_MAX && at != 0 && code == 0; i++) {
		struct capability capability;
		rte_le32_t multiplier = 0;

		code = pci_device_read_config(pci, at, &capability, sizeof(capability));
		if (code != 0)
			break;
		if (capability.id == CAPABILITY_VENDOR && capability.type == TYPE_COMMON &&
		    out->common == NULL)
			code = map_structure(pci, &capability, &out->common, err);
		if (capability.id == CAPABILITY_VENDOR && capability.type == TYPE_NOTIFY &&
		    out->notify == NULL) {
			code = map_structure(pci, &capability, &out->notify, err);
			if (code == 0)
				code = pci_device_read_config(pci, at + sizeof(capability),
							      &multiplier, sizeof(multiplier));
			out->notify_multiplier = rte_le_to_cpu_32(multiplier);
			out->notify_octets = rte_le_to_cpu_32(capability.length);
		}
		at = capability.next;
	}
	if (code != 0 && err->code != 0)
		return code;
	if (code == 0 && out->common != NULL && out->notify != NULL)
		return 0;
	return error_set(err, -ENOTSUP, NULL,
			 "%s is no virtio device of version 1 (disable-legacy=on in QEMU makes it "
			 "one); the normal engine can send there",
			 pci->address);
}

/* Tx queues are the odd ones (virtio 1.2, 5.1.2). */
static uint16_t
number_of(uint16_t queue)
{
	return (uint16_t)(2 * queue + 1);
}

static int
ring_size(struct pci_device *pci, uint16_t queue, uint32_t *size, struct error *err)
{
	struct virtio_registers registers;
	int code = tx_loop_virtio_map(pci, &registers, err);

	if (code != 0)
		return code;
	rte_write16(number_of(queue), registers.common + QUEUE_SELECT);
	*size = read16(registers.common, QUEUE_SIZE);
	return 0;
}

/* The part of the driver's memory at the device's address `iova`, NULL when that is elsewhere. */
static void *
within(const struct tx_loop *loop, uint64_t iova, size_t octets)
{
	if (iova < loop->iova || iova - loop->iova + octets > loop->octets)
		return NULL;
	return loop->memory + (iova - loop->iova);
}

static int
check_features(struct tx_loop *loop, uint64_t features, struct error *err)
{
	if ((features & FEATURE_VERSION_1) == 0)
		return tx_loop_refuse(loop, err, "the device is run as one before version 1");
	if ((features & FEATURE_RING_PACKED) != 0)
		return tx_loop_refuse(loop, err, "its ring is packed, a loop needs a split one");
	if ((features & (FEATURE_IN_ORDER | FEATURE_EVENT_IDX)) != 0)
		return tx_loop_refuse(loop, err,
				      "the device was promised descriptors in order, or event "
				      "indexes, which a loop does not keep");
	return 0;
}

/* What the two rings beside the descriptors hold: flags, index, one entry for each descriptor. */
static int
check_rings(struct tx_loop *loop, const uint8_t *common, struct loop_virtio *virtio,
	    struct error *err)
{
	uint64_t base = read64(common, QUEUE_DESC);
	uint16_t *avail = within(loop, read64(common, QUEUE_DRIVER), 4 + 2 * loop->descriptors);
	uint16_t *used = within(loop, read64(common, QUEUE_DEVICE), 4 + 8 * loop->descriptors);

	if (base != loop->iova)
		return tx_loop_refuse(loop, err,
				      "the device's ring is at 0x%lx, the driver's memory at 0x%lx",
				      (unsigned long)base, (unsigned long)loop->iova);
	if (avail == NULL || used == NULL ||
	    loop->descriptors * TX_LOOP_DESCRIPTOR_OCTETS > loop->octets)
		return tx_loop_refuse(loop, err,
				      "the device's rings lie outside the driver's memory");
	if (avail[1] != used[1])
		return tx_loop_refuse(loop, err,
				      "the device is not idle (available index %u, used %u)",
				      avail[1], used[1]);
	virtio->avail_index = &avail[1];
	virtio->avail_ring = &avail[2];
	virtio->used_flags = &used[0];
	virtio->used_index = &used[1];
	return 0;
}

int
tx_loop_virtio_check(struct tx_loop *loop, const struct virtio_registers *registers,
		     struct error *err)
{
	uint8_t *common = registers->common;
	uint64_t features = read_features(common), notify;
	struct loop_virtio virtio = {.queue = number_of(loop->queue), .lap = loop->frames};
	int code = check_features(loop, features, err);

	if (code != 0)
		return code;
	rte_write16(virtio.queue, common + QUEUE_SELECT);
	if (read16(common, QUEUE_ENABLE) != 1)
		return tx_loop_refuse(loop, err, "the device's queue is switched off");
	if (read16(common, QUEUE_SIZE) != loop->descriptors)
		return tx_loop_refuse(loop, err,
				      "the device's ring has %u descriptors, not the %u expected",
				      read16(common, QUEUE_SIZE), loop->descriptors);
	code = check_rings(loop, common, &virtio, err);
	if (code != 0)
		return code;
	notify = (uint64_t)read16(common, QUEUE_NOTIFY_OFF) * registers->notify_multiplier;
	if (notify + sizeof(uint32_t) > registers->notify_octets)
		return tx_loop_refuse(loop, err, "its registers end before this queue's");
	virtio.notify = registers->notify + notify;
	virtio.notify_data = (features & FEATURE_NOTIFICATION_DATA) != 0;
	virtio.periodic = loop->descriptors % loop->frames == 0;
	loop->registers = common;
	loop->ring = (struct loop_ring){
		.size = loop->descriptors,
		.capacity = loop->descriptors,
		.head = *virtio.used_index,
		.tail = *virtio.avail_index,
		.virtio = virtio,
	};
	return 0;
}

static int
find(struct tx_loop *loop, struct error *err)
{
	const struct rte_memzone *zone;
	struct virtio_registers registers;
	char name[RTE_MEMZONE_NAMESIZE];
	int code = tx_loop_virtio_map(&loop->pci, &registers, err);

	if (code != 0)
		return code;
	snprintf(name, sizeof(name), "port%u_vq%u", loop->port_id, number_of(loop->queue));
	zone = rte_memzone_lookup(name);
	if (zone == NULL)
		return tx_loop_refuse(
			loop, err, "its driver keeps no ring under a name known here (%s)", name);
	loop->memory = zone->addr;
	loop->iova = zone->iova;
	loop->octets = zone->len;
	return tx_loop_virtio_check(loop, &registers, err);
}

/*
 * Slot s of the available ring names frame (s - tail) of the lap; the pattern is long enough for a whole ring from
 * any frame.
 */
static int
make_pattern(struct tx_loop *loop, struct error *err)
{
	struct loop_virtio *virtio = &loop->ring.virtio;
	uint32_t count = loop->frames + loop->ring.size;
	uint16_t *pattern = calloc(count, sizeof(pattern[0]));

	if (pattern == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for %u slots", count);
	for (uint32_t i = 0; i < count; i++)
		pattern[i] = (uint16_t)(i % loop->frames);
	loop->own = pattern;
	virtio->pattern = pattern;
	return 0;
}

static int
fill(struct tx_loop *loop, struct rte_mbuf *const *frames, struct error *err)
{
	struct descriptor *descriptors = (struct descriptor *)(void *)loop->memory;
	uint16_t *slots = loop->ring.virtio.avail_ring;
	int code = make_pattern(loop, err);

	if (code == 0)
		code = tx_loop_keep(loop, descriptors, loop->frames, err);
	for (uint32_t i = 0; i < loop->frames && code == 0; i++) {
		struct rte_mbuf *frame = frames[i];

		memset(rte_pktmbuf_mtod(frame, uint8_t *) - HEADER_OCTETS, 0, HEADER_OCTETS);
		descriptors[i] = (struct descriptor){
			.address = rte_cpu_to_le_64(rte_pktmbuf_iova(frame) - HEADER_OCTETS),
			.octets = rte_cpu_to_le_32(rte_pktmbuf_data_len(frame) + HEADER_OCTETS),
		};
	}
	for (uint32_t i = 0; i < loop->ring.size && code == 0; i++)
		slots[(loop->ring.tail + i) % loop->ring.size] = (uint16_t)(i % loop->frames);
	return code;
}

static const char *const pmds[] = {"net_virtio", NULL};

const struct tx_loop_driver tx_loop_virtio = {
	.name = "virtio",
	.pmds = pmds,
	.proven = true,
	.restore = TX_LOOP_RESTORE_CONFIGURE,
	.align = 1,
	.ring_size = ring_size,
	.find = find,
	.fill = fill,
};
