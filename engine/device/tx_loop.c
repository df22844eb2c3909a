/* SPDX-License-Identifier: BSD-3-Clause */
/* What all families of drivers share: see tx_loop.h. */
#include "device/tx_loop.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_memzone.h>

#include "base/numbers.h"
#include "device/port.h"
#include "device/where.h"

/* As many as a ring of most Intel devices has: 275 us of 64-octet frames at 10 Gbit/s. */
#define DESCRIPTORS_WANTED 4096u

static const struct tx_loop_driver *const drivers[] = {
	&tx_loop_igb,  &tx_loop_ixgbe,  &tx_loop_i40e, &tx_loop_ice,
	&tx_loop_iavf, &tx_loop_virtio, &tx_loop_null,
};

const struct tx_loop_driver *
tx_loop_driver_of(const char *pmd)
{
	for (size_t d = 0; d < RTE_DIM(drivers); d++) {
		for (const char *const *name = drivers[d]->pmds; *name != NULL; name++) {
			if (strcmp(*name, pmd) == 0)
				return drivers[d];
		}
	}
	return NULL;
}

uint32_t
tx_loop_choose(const struct tx_loop_sizes *sizes, uint32_t frames)
{
	uint64_t unit, most = RTE_MIN(sizes->most, RTE_MAX(sizes->least, DESCRIPTORS_WANTED));

	if (!sizes->whole_laps)
		return frames <= sizes->most ? sizes->most : 0;
	unit = (uint64_t)frames / greatest_common_divisor(frames, sizes->align) * sizes->align;
	if (unit > most)
		most = unit <= sizes->most ? unit : 0; /* one lap is more than is wanted */
	most = most / unit * unit;
	return most >= sizes->least ? (uint32_t)most : 0;
}

uint32_t
tx_loop_frames_max(const struct tx_loop_sizes *sizes)
{
	if (!sizes->whole_laps)
		return sizes->most;
	return sizes->most / sizes->align * sizes->align;
}

static int
find_sizes(const struct port *port, const struct rte_eth_dev_info *info,
	   const struct tx_loop_driver *driver, struct tx_loop_sizes *sizes, struct error *err)
{
	uint32_t align = RTE_MAX(info->tx_desc_lim.nb_align, 1u), size = 0;
	struct pci_device pci = {.vfio = -1};
	int code;

	*sizes = (struct tx_loop_sizes){
		.least = RTE_MAX(info->tx_desc_lim.nb_min, 2u),
		.most = info->tx_desc_lim.nb_max > 0 ? info->tx_desc_lim.nb_max : UINT16_MAX,
		.align = align / (uint32_t)greatest_common_divisor(align, driver->align) *
			 driver->align,
		.whole_laps = driver->ring_size == NULL,
	};
	if (driver->ring_size == NULL)
		return 0;
	code = pci_device_open(&pci, port->location.device, err);
	if (code == 0)
		code = driver->ring_size(&pci, 0, &size, err);
	pci_device_close(&pci);
	sizes->most = size;
	return code;
}

int
tx_loop_settle(struct port *port, const struct rte_eth_dev_info *info, const char *path,
	       struct error *err)
{
	const struct tx_loop_driver *driver = tx_loop_driver_of(port->driver);
	uint32_t frames = port->config.tx_loop_frames, descriptors;
	struct tx_loop_sizes sizes;
	struct where where;
	int code;

	if (driver == NULL || driver->lacks != NULL)
		return error_set(err, -ENOTSUP, key(&where, path, "tx_loop_frames"),
				 "%s (%s) has no descriptor loop%s%s; the normal engine can send "
				 "there",
				 port->config.location, port->driver, driver != NULL ? ": " : "",
				 driver != NULL ? driver->lacks : "");
	code = find_sizes(port, info, driver, &sizes, err);
	if (code != 0)
		return error_set(err, code, key(&where, path, "tx_loop_frames"), "%s", err->text);
	descriptors = tx_loop_choose(&sizes, frames);
	if (descriptors == 0)
		return error_set(err, -EINVAL, key(&where, path, "tx_loop_frames"),
				 "a loop of %u frames asked, and a ring of %s (%s) holds no whole "
				 "number of those (%u descriptors at most, a multiple of %u); use "
				 "other frames or the normal engine",
				 frames, port->config.location, port->driver,
				 tx_loop_frames_max(&sizes), sizes.align);
	port->tx_loop = driver;
	port->tx_descriptors = (uint16_t)descriptors;
	return 0;
}

int
tx_loop_refuse(const struct tx_loop *loop, struct error *err, const char *fmt, ...)
{
	char reason[192];
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	return error_set(err, -ENOTSUP, NULL, "%s: %s; the normal engine can send here", loop->name,
			 reason);
}

int
tx_loop_find_zone(struct tx_loop *loop, const char *const *names, struct error *err)
{
	for (const char *const *fmt = names; *fmt != NULL; fmt++) {
		const struct rte_memzone *zone;
		char name[RTE_MEMZONE_NAMESIZE];

		snprintf(name, sizeof(name), "eth_p%u_q%u_%s", loop->port_id, loop->queue, *fmt);
		zone = rte_memzone_lookup(name);
		if (zone == NULL)
			continue;
		loop->memory = zone->addr;
		loop->iova = zone->iova;
		loop->octets = zone->len;
		return 0;
	}
	return tx_loop_refuse(loop, err, "its driver keeps no ring under a name known here (%s)",
			      names[0]);
}

int
tx_loop_keep(struct tx_loop *loop, void *table, uint32_t count, struct error *err)
{
	loop->written = calloc(count, TX_LOOP_DESCRIPTOR_OCTETS);
	if (loop->written == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for a ring of %u descriptors",
				 count);
	loop->written_octets = (size_t)count * TX_LOOP_DESCRIPTOR_OCTETS;
	loop->table = table;
	return 0;
}

int
tx_loop_open(struct tx_loop **out, const struct port *port, uint16_t queue, struct error *err)
{
	struct tx_loop *loop = calloc(1, sizeof(*loop));
	int code;

	if (loop == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for a looped queue");
	loop->driver = port->tx_loop;
	loop->port_id = port->port_id;
	loop->queue = queue;
	loop->descriptors = port->tx_descriptors;
	loop->frames = port->config.tx_loop_frames;
	loop->pci.vfio = -1;
	snprintf(loop->name, sizeof(loop->name), "%s queue %u (%s)", port->config.name, queue,
		 loop->driver->name);
	code = port->location.kind == LOCATION_PCI
		       ? pci_device_open(&loop->pci, port->location.device, err)
		       : 0;
	if (code == 0)
		code = loop->driver->find(loop, err);
	if (code == 0)
		*out = loop;
	else
		tx_loop_close(loop);
	return code;
}

int
tx_loop_check_frames(const struct tx_loop *loop, struct rte_mbuf *const *frames, uint32_t count,
		     struct error *err)
{
	if (count != loop->frames)
		return tx_loop_refuse(loop, err,
				      "%u frames to loop over, the port was opened for %u", count,
				      loop->frames);
	for (uint32_t i = 0; i < count && loop->registers != NULL; i++) {
		rte_iova_t buffer = rte_pktmbuf_iova(frames[i]) - frames[i]->data_off;

		if (frames[i]->nb_segs != 1 || buffer == 0 || buffer == RTE_BAD_IOVA)
			return tx_loop_refuse(loop, err,
					      "frame %u lies where the device cannot read it; give "
					      "the engine hugepages",
					      i);
	}
	return 0;
}

int
tx_loop_fill(struct tx_loop *loop, struct rte_mbuf *const *frames, struct error *err)
{
	int code = loop->driver->fill(loop, frames, err);

	if (code == 0)
		memcpy(loop->written, loop->table, loop->written_octets);
	return code;
}

uint32_t
tx_loop_changed(const struct tx_loop *loop)
{
	const uint8_t *now = loop->table, *then = loop->written;
	uint32_t changed = 0;

	for (size_t at = 0; at < loop->written_octets; at += TX_LOOP_DESCRIPTOR_OCTETS)
		changed += memcmp(now + at, then + at, TX_LOOP_DESCRIPTOR_OCTETS) != 0;
	return changed;
}

void
tx_loop_close(struct tx_loop *loop)
{
	if (loop == NULL)
		return;
	pci_device_close(&loop->pci);
	free(loop->written);
	free(loop->own);
	free(loop);
}
