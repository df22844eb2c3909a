/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor loop's side of a device: a Tx ring that is filled once with ready frames and whose tail alone is
 * moved from then on (base/loop_ring.h). docs/design/0006-descriptor-loop.md.
 *
 * DPDK opens and starts the port as ever. Its ring is found by the name of the driver's memory zone, and believed
 * only if the device's own registers say the same: base, length, format, switched on, nothing under way. Otherwise
 * nothing has been written and the caller is refused. Descriptors carry no request for a report (RS), so that the
 * device never writes into the ring. Control thread, cold path.
 */
#ifndef WR_DEVICE_TX_LOOP_H
#define WR_DEVICE_TX_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "base/error.h"
#include "base/loop_ring.h"
#include "device/pci_device.h"

/* Of all families known here. */
#define TX_LOOP_DESCRIPTOR_OCTETS 16u

struct port;

/* How a driver gets its ring back. */
enum tx_loop_restore {
	TX_LOOP_RESTORE_NOTHING,   /* it never knew */
	TX_LOOP_RESTORE_START,     /* it writes the ring anew when it starts */
	TX_LOOP_RESTORE_CONFIGURE, /* only when features change */
};

/* One looped queue. */
struct tx_loop {
	const struct tx_loop_driver *driver;
	char name[64]; /* "p0 queue 0 (igb)", for errors */
	uint16_t port_id;
	uint16_t queue;
	uint32_t descriptors; /* as the port was opened */
	uint32_t frames;      /* of a lap */
	struct pci_device pci;
	uint8_t *registers; /* of the queue's region, NULL: none */
	uint8_t *memory;    /* the driver's ring */
	uint64_t iova;      /* as the device addresses it */
	size_t octets;
	void *table;   /* within memory: the descriptors that fill() wrote */
	void *written; /* a copy of them */
	size_t written_octets;
	void *own; /* allocated by the driver's file */
	struct loop_ring ring;
};

/* One family of drivers. */
struct tx_loop_driver {
	const char *name;        /* "igb" */
	const char *const *pmds; /* rte_eth_dev_info.driver_name; the last is NULL */
	bool proven;             /* has run in the lab */
	bool counts;             /* the device counts looped frames itself, and DPDK shows it */
	enum tx_loop_restore restore;
	uint32_t align; /* ring sizes are a multiple, beside what ethdev says [descriptors] */
	/* NULL: it works. Else why none of these can. */
	const char *lacks;
	/* The ring's size is the device's own: store it. NULL: the driver is told how many [descriptors]. */
	int (*ring_size)(struct pci_device *pci, uint16_t queue, uint32_t *size, struct error *err);
	/* Find the ring and check that it is what is expected. Reads only, but for selectors. */
	int (*find)(struct tx_loop *loop, struct error *err);
	/* Write the frames into the ring; sets table and written. -ENOMEM before it writes. */
	int (*fill)(struct tx_loop *loop, struct rte_mbuf *const *frames, struct error *err);
};

/* The sizes that a device takes [descriptors]. */
struct tx_loop_sizes {
	uint32_t least;
	uint32_t most;
	uint32_t align;
	bool whole_laps; /* false: any size that holds a lap */
};

/* Who loops that driver's devices, NULL when nobody does. */
const struct tx_loop_driver *tx_loop_driver_of(const char *pmd);

/* The ring for laps of `frames`, 0 when there is none. The larger, the longer may a worker leave it alone. */
uint32_t tx_loop_choose(const struct tx_loop_sizes *sizes, uint32_t frames);

/* The greatest lap that a device takes. */
uint32_t tx_loop_frames_max(const struct tx_loop_sizes *sizes);

/*
 * A port that is to be looped: port->tx_loop and port->tx_descriptors. `path` names the port in the parameters.
 * Refuses drivers without a loop and laps that the device's ring cannot hold; nothing is written to the device.
 */
int tx_loop_settle(struct port *port, const struct rte_eth_dev_info *info, const char *path,
		   struct error *err);

/* Find and check the ring of a queue of a started port. Nothing is written yet. */
int tx_loop_open(struct tx_loop **out, const struct port *port, uint16_t queue, struct error *err);

/* Are the frames as many as the port was opened for, and where the device can read them? */
int tx_loop_check_frames(const struct tx_loop *loop, struct rte_mbuf *const *frames, uint32_t count,
			 struct error *err);

/* The ring is ours from here on: the checked frames, over and over. -ENOMEM. */
int tx_loop_fill(struct tx_loop *loop, struct rte_mbuf *const *frames, struct error *err);

/* How many descriptors are not as tx_loop_fill() wrote them. */
uint32_t tx_loop_changed(const struct tx_loop *loop);

/* Forget it; the device is as it is. NULL is fine. */
void tx_loop_close(struct tx_loop *loop);

/*
 * For the drivers' files: the memory zone that the driver made for a queue, by the names that DPDK's releases gave
 * it.
 */
int tx_loop_find_zone(struct tx_loop *loop, const char *const *names, struct error *err);

/* For them, too: what is wrong, as "p0 queue 0 (igb): …; the normal engine can send here". Returns -ENOTSUP. */
int tx_loop_refuse(const struct tx_loop *loop, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

extern const struct tx_loop_driver tx_loop_igb, tx_loop_ixgbe, tx_loop_i40e, tx_loop_ice,
	tx_loop_iavf, tx_loop_virtio, tx_loop_null;

/* Room for a copy of the ring's `count` descriptors, in `written`; -ENOMEM. */
int tx_loop_keep(struct tx_loop *loop, void *table, uint32_t count, struct error *err);

/* Families with one block of registers per queue (Intel's 82575 to X550): where they lie. tx_loop_igb.c. */
struct tx_loop_registers {
	uint32_t first;  /* offset of queue 0's TDBAL; the others follow as in the 82576 */
	uint32_t stride; /* to the next queue's */
	const char *const *zones;
};
int tx_loop_find_registers(struct tx_loop *loop, const struct tx_loop_registers *where,
			   struct error *err);
int tx_loop_check_registers(struct tx_loop *loop, const struct tx_loop_registers *where,
			    struct error *err);
int tx_loop_fill_advanced(struct tx_loop *loop, struct rte_mbuf *const *frames, struct error *err);

#endif
