/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/port_probe.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ring.h>

#include "device/where.h"

/*
 * A ring port is a loop: Tx queue i feeds the ring that Rx queue i (modulo their number) reads. A port without Rx queues
 * has rings that nobody reads.
 */
static int
open_ring(struct port *port, const char *path, struct error *err)
{
	const struct port_config *config = &port->config;
	uint32_t count = config->rx_queues > 0 ? config->rx_queues : RTE_MAX(config->tx_queues, 1u);
	uint32_t tx_count = RTE_MAX(config->tx_queues, 1u); /* net_ring refuses a port without */
	uint32_t size =
		config->tx_descriptors > 0 ? config->tx_descriptors : PORT_DESCRIPTORS_DEFAULT;
	struct rte_ring **rings = port->rings, *tx[PORT_RINGS_MAX];
	unsigned int flags =
		RING_F_EXACT_SZ | RING_F_SC_DEQ | (config->tx_queues > count ? 0 : RING_F_SP_ENQ);
	struct where where;
	char name[RTE_RING_NAMESIZE];
	int port_id;

	if (config->rx_queues > PORT_RINGS_MAX || config->tx_queues > PORT_RINGS_MAX)
		return error_set(
			err, -EINVAL, key(&where, path, "tx_queues"),
			"%u Rx and %u Tx queues asked, a ring port has %u at most; use fewer lcores in its map",
			config->rx_queues, config->tx_queues, PORT_RINGS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "wr_%.20s_%hhu", port->location.device, (uint8_t)i);
		rings[i] = rte_ring_create(name, size, SOCKET_ID_ANY, flags);
		if (rings[i] == NULL)
			return error_set(err, -rte_errno, key(&where, path, "location"),
					 "ring %s: %s", name, rte_strerror(rte_errno));
	}
	for (uint32_t i = 0; i < tx_count; i++)
		tx[i] = rings[i % count];
	port_id = rte_eth_from_rings(port->location.device, rings, count, tx, tx_count, 0);
	if (port_id < 0)
		return error_set(err, -rte_errno, key(&where, path, "location"), "ring port: %s",
				 rte_strerror(rte_errno));
	port->port_id = (uint16_t)port_id;
	snprintf(port->made, sizeof(port->made), "net_ring_%s", port->location.device);
	return 0;
}

/* What drivers refuse with an errno that explains nothing. */
static int
check_exists(const struct location *location, const char *path, struct error *err)
{
	struct where where;
	char sysfs[128];

	if (location->input[0] != '\0' && access(location->input, R_OK) != 0)
		return error_set(err, -errno, key(&where, path, "location"), "capture file %s: %s",
				 location->input, strerror(errno));
	if (location->kind != LOCATION_AF_PACKET && location->kind != LOCATION_AF_XDP)
		return 0;
	snprintf(sysfs, sizeof(sysfs), "/sys/class/net/%s", location->interface);
	if (access(sysfs, F_OK) == 0)
		return 0;
	return error_set(err, -ENODEV, key(&where, path, "location"),
			 "no network interface \"%s\" here; `ip link` lists them",
			 location->interface);
}

/* What the kernel must have before DPDK can make an interface in it, and must not have yet. */
static int
check_kernel(const struct location *location, const char *path, struct error *err)
{
	const char *module, *device = location_kernel_device(location, &module);
	struct where where;

	if (device == NULL)
		return 0;
	if (access(device, F_OK) != 0)
		return error_set(err, -ENODEV, key(&where, path, "location"),
				 "no %s: modprobe %s%s", device, module,
				 location->kind == LOCATION_KNI
					 ? " (a module of DPDK up to 23.07; newer ones have no KNI)"
					 : "");
	if (access(device, R_OK | W_OK) != 0)
		return error_set(err, -errno, key(&where, path, "location"),
				 "%s: %s; run as root, or give this user the device", device,
				 strerror(errno));
	if (if_nametoindex(location->interface) == 0)
		return 0;
	return error_set(err, -EEXIST, key(&where, path, "location"),
			 "an interface \"%s\" is there already; take another name, or remove it "
			 "(ip link del %s)",
			 location->interface, location->interface);
}

int
port_probe(struct port *port, const char *path, struct error *err)
{
	const struct location *location = &port->location;
	struct where where;
	int code = check_exists(location, path, err);

	if (code == 0)
		code = check_kernel(location, path, err);
	if (code != 0)
		return code;
	if (location->kind == LOCATION_RING)
		return open_ring(port, path, err);
	if (rte_eth_dev_get_port_by_name(location->device, &port->port_id) == 0)
		return 0; /* probed by EAL */
	if (location->kind == LOCATION_PCI)
		return error_set(
			err, -ENODEV, key(&where, path, "location"),
			"%s is no device that DPDK may use: is it bound to vfio-pci? `wirerate doctor` and "
			"`dpdk-devbind.py --status` show it",
			location->device);
	code = rte_eal_hotplug_add("vdev", location->device, location->args);
	if (code == 0)
		snprintf(port->made, sizeof(port->made), "%s", location->device);
	if (code == 0 && rte_eth_dev_get_port_by_name(location->device, &port->port_id) != 0)
		code = -ENODEV;
	if (code == 0)
		return 0;
	/* The bus says -EFAULT when no driver wants a device of that name. */
	return error_set(
		err, code == -EFAULT ? -EINVAL : code, key(&where, path, "location"),
		"DPDK could not open \"%s\" (device %s%s%s): %s; its reason is in the engine's log",
		port->config.location, location->device, location->args[0] != '\0' ? "," : "",
		location->args,
		code == -EFAULT ? "no driver of that name (it is not in this DPDK)"
				: strerror(-code));
}

void
port_unmake(struct port *port)
{
	if (port->made[0] != '\0')
		rte_eal_hotplug_remove("vdev", port->made);
	port->made[0] = '\0';
	for (uint32_t i = 0; i < PORT_RINGS_MAX; i++) {
		rte_ring_free(port->rings[i]);
		port->rings[i] = NULL;
	}
}
