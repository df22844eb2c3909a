/* SPDX-License-Identifier: BSD-3-Clause */
/* See pci_device.h. Sources: linux/vfio.h; Documentation/PCI/sysfs-pci.rst of the kernel. */
#include "device/pci_device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/vfio.h>

#define SYSFS "/sys/bus/pci/devices"

/* The number of the device's IOMMU group, "" when it has none. */
static void
find_group(const char *address, char *out, size_t size)
{
	char path[128], target[256];
	const char *last;
	ssize_t n;

	out[0] = '\0';
	snprintf(path, sizeof(path), SYSFS "/%s/iommu_group", address);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = '\0';
	last = strrchr(target, '/');
	snprintf(out, size, "%.31s", last != NULL ? last + 1 : target);
}

/* The group's file, which DPDK's vfio code holds open in this process; -1 when it does not. */
static int
find_group_file(const char *group)
{
	char path[64], plain[64], noiommu[64], target[64];
	DIR *files = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1;

	if (files == NULL)
		return -1;
	snprintf(plain, sizeof(plain), "/dev/vfio/%s", group);
	snprintf(noiommu, sizeof(noiommu), "/dev/vfio/noiommu-%s", group);
	while (found < 0 && (entry = readdir(files)) != NULL) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%.32s", entry->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		if (strcmp(target, plain) == 0 || strcmp(target, noiommu) == 0)
			found = atoi(entry->d_name);
	}
	closedir(files);
	return found;
}

int
pci_device_open(struct pci_device *device, const char *address, struct error *err)
{
	char group[32], path[128];
	struct stat there;
	int file;

	memset(device, 0, sizeof(*device));
	device->vfio = -1;
	device->opened = true;
	snprintf(device->address, sizeof(device->address), "%s", address);
	find_group(address, group, sizeof(group));
	file = group[0] != '\0' ? find_group_file(group) : -1;
	if (file >= 0)
		device->vfio = ioctl(file, VFIO_GROUP_GET_DEVICE_FD, device->address);
	snprintf(path, sizeof(path), SYSFS "/%s", address);
	if (device->vfio >= 0 || stat(path, &there) == 0)
		return 0;
	return error_set(err, -ENODEV, NULL, "%s is no PCI device here", address);
}

static int
map_sysfs(struct pci_device *device, unsigned int bar)
{
	struct stat size;
	char path[128];
	int file, code = 0;

	snprintf(path, sizeof(path), SYSFS "/%s/resource%u", device->address, bar);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return -errno;
	if (fstat(file, &size) != 0)
		code = -errno;
	if (code == 0) {
		device->regions[bar].octets = (size_t)size.st_size;
		device->regions[bar].memory = mmap(NULL, (size_t)size.st_size,
						   PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	}
	if (code == 0 && device->regions[bar].memory == MAP_FAILED)
		code = -errno;
	close(file);
	return code;
}

static int
map_vfio(struct pci_device *device, unsigned int bar)
{
	struct vfio_region_info info = {.argsz = sizeof(info),
					.index = VFIO_PCI_BAR0_REGION_INDEX + bar};

	if (ioctl(device->vfio, VFIO_DEVICE_GET_REGION_INFO, &info) != 0)
		return -errno;
	if (info.size == 0 || (info.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0)
		return -ENODEV;
	device->regions[bar].octets = info.size;
	device->regions[bar].memory = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED,
					   device->vfio, (off_t)info.offset);
	return device->regions[bar].memory == MAP_FAILED ? -errno : 0;
}

int
pci_device_map(struct pci_device *device, unsigned int bar, struct error *err)
{
	int code;

	if (bar >= PCI_REGIONS)
		return error_set(err, -EINVAL, NULL, "%s has no region %u", device->address, bar);
	if (device->regions[bar].memory != NULL)
		return 0;
	code = device->vfio >= 0 ? map_vfio(device, bar) : map_sysfs(device, bar);
	if (code == 0)
		return 0;
	device->regions[bar].memory = NULL;
	return error_set(err, code, NULL, "registers of %s (region %u) cannot be mapped: %s",
			 device->address, bar, strerror(-code));
}

static ssize_t
read_sysfs_config(const char *address, unsigned int offset, void *out, size_t octets)
{
	char path[128];
	ssize_t n;
	int file;

	snprintf(path, sizeof(path), SYSFS "/%s/config", address);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -errno;
	n = pread(file, out, octets, offset);
	close(file);
	return n;
}

int
pci_device_read_config(const struct pci_device *device, unsigned int offset, void *out,
		       size_t octets)
{
	struct vfio_region_info info = {.argsz = sizeof(info),
					.index = VFIO_PCI_CONFIG_REGION_INDEX};
	ssize_t n;

	if (device->vfio < 0)
		n = read_sysfs_config(device->address, offset, out, octets);
	else if (ioctl(device->vfio, VFIO_DEVICE_GET_REGION_INFO, &info) != 0)
		n = -errno;
	else
		n = pread(device->vfio, out, octets, (off_t)(info.offset + offset));
	return n == (ssize_t)octets ? 0 : -EIO;
}

void
pci_device_close(struct pci_device *device)
{
	if (!device->opened)
		return;
	for (unsigned int bar = 0; bar < PCI_REGIONS; bar++) {
		if (device->regions[bar].memory != NULL)
			munmap(device->regions[bar].memory, device->regions[bar].octets);
		device->regions[bar].memory = NULL;
	}
	if (device->vfio >= 0)
		close(device->vfio);
	device->opened = false;
}
