/* SPDX-License-Identifier: BSD-3-Clause */
/* What tx_loop_virtio.c needs of a device: two structures of registers, wherever they lie (virtio 1.2, 4.1.4). */
#ifndef WR_DEVICE_TX_LOOP_VIRTIO_H
#define WR_DEVICE_TX_LOOP_VIRTIO_H

#include "device/tx_loop.h"

struct virtio_registers {
	uint8_t *common;
	uint8_t *notify;
	uint32_t notify_octets;
	uint32_t notify_multiplier; /* [octets] from one queue's register to the next one's */
};

/* Find them by the device's capabilities. -ENOTSUP for a device before version 1. */
int tx_loop_virtio_map(struct pci_device *pci, struct virtio_registers *out, struct error *err);

/* loop->memory, iova and octets are the driver's ring: check it against the device's registers and set loop->ring. */
int tx_loop_virtio_check(struct tx_loop *loop, const struct virtio_registers *registers,
			 struct error *err);

#endif
