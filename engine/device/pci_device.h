/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PCI device beside its driver: its registers mapped once more, its configuration space read.
 *
 * DPDK keeps both to its drivers (their header is not installed). Where the device is bound to vfio-pci, the group
 * that DPDK holds open is asked for a further file of the device (linux/vfio.h); else sysfs has its regions, for who
 * may open them. Neither changes anything of the device. Control thread, cold path. No DPDK.
 */
#ifndef WR_DEVICE_PCI_DEVICE_H
#define WR_DEVICE_PCI_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PCI_REGIONS 6

struct pci_device {
	char address[16]; /* "0000:03:00.0" */
	int vfio;         /* file of the device; -1: sysfs */
	bool opened;
	struct {
		void *memory; /* NULL: not mapped */
		size_t octets;
	} regions[PCI_REGIONS];
};

/* -ENODEV where neither vfio nor sysfs knows it. To be closed afterwards even so. */
int pci_device_open(struct pci_device *device, const char *address, struct error *err);

/* Region `bar`, readable and writable, mapped until the device is closed. -ENODEV, -EACCES… */
int pci_device_map(struct pci_device *device, unsigned int bar, struct error *err);

/* Configuration space: 0 or a negative errno. */
int pci_device_read_config(const struct pci_device *device, unsigned int offset, void *out,
			   size_t octets);

/* All regions are unmapped. A zeroed one is fine. */
void pci_device_close(struct pci_device *device);

#endif
