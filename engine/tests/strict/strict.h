/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The strict device: a test-only port with a real NIC's rules, which counts every breach of them. Never installed.
 *
 * DPDK's driver headers are not installed by distributions, so that this is no driver but a layer: the linker sends the
 * engine's calls of ethdev to strict_ethdev.c (--wrap, meson.build), which answers for ports named net_strictN and
 * passes on the rest. A port net_null stands behind each for what is left to ethdev itself; its burst functions are
 * replaced by those of strict_tx.c and strict_rx.c. Only public headers are used: DPDK 21.11 and later.
 *
 * Control thread: strict_ethdev.c, strict_profile.c, strict_report.c. Workers: one per queue; a device's arrivals and
 * each Tx queue have a lock.
 */
#ifndef WR_TESTS_STRICT_H
#define WR_TESTS_STRICT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_spinlock.h>

enum { STRICT_DEVICES = 8, STRICT_QUEUES = 16, STRICT_RETA = 128, STRICT_KEY = 40 };

enum strict_clock {
	STRICT_NO_CLOCK,
	STRICT_CLOCK_E810, /* read_clock() is the host's clock, the mbuf has the PHC's: DPDK >= 25.07 */
	STRICT_CLOCK_CONNECTX, /* both are one free-running counter */
};

/* What a driver does, by its source in DPDK 22.11 to 25.11. */
struct strict_profile {
	const char *name;
	bool fast_free;       /* offers RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE */
	bool rounds_up;       /* rings to a power of two */
	bool reports_rounded; /* ... and says so in rte_eth_tx_queue_info_get() */
	uint16_t align;       /* of descriptors */
	uint16_t descriptors_min, descriptors_max;
	uint16_t rx_burst; /* vector Rx hands over multiples of this many */
	uint16_t
		rx_room; /* Rx buffers are multiples of this many octets; longer frames come in segments */
	uint16_t
		batch; /* frames freed at a time (tx_rs_thresh), when so few are free (tx_free_thresh) */
	enum strict_clock clock;
};

#define STRICT_BREACHES(X) \
	X(edited_while_held) /* octets or fields changed between tx_burst and delivery or free */ \
	X(foreign_pool) /* FAST_FREE: another pool than the queue's, so that frames go astray */ \
	X(shared)       /* FAST_FREE: reference count is not 1 */ \
	X(freed_pool)   /* a pool freed whose frames the device holds */ \
	X(segments)     /* several segments, not asked for */ \
	X(lengths)      /* pkt_len, data_len and nb_segs disagree, or longer than the MTU */ \
	X(offloads)     /* flags of an offload that is off */ \
	X(held_already) /* handed over, or taken from its pool, while held */ \
	X(not_home)     /* mbufs missing from an Rx pool when it is freed */

#define STRICT_BREACH(name) STRICT_##name,
enum strict_breach { STRICT_BREACHES(STRICT_BREACH) STRICT_BREACHES_COUNT };

struct strict_slot {
	struct rte_mbuf *mbuf; /* NULL: its pool was freed meanwhile */
	struct rte_mempool *pool;
	uint64_t sum; /* of octets and fields when it was handed over */
};

struct strict_tx {
	rte_spinlock_t lock;
	struct strict_device *device;
	struct strict_slot *slots;
	uint64_t mask;                     /* of slots */
	uint64_t capacity;                 /* descriptors, as rounded */
	uint64_t filled, delivered, freed; /* frames so far */
	uint64_t held_max;
	uint16_t asked;
};

struct strict_rx {
	struct strict_device *device;
	struct rte_mempool *pool;
	struct rte_mbuf **posted; /* buffers that wait for frames */
	struct rte_mbuf **done;   /* frames that wait for rx_burst: a ring */
	uint32_t posted_count, descriptors;
	uint64_t arrived, read;
};

/* Frames that come as if from the wire, and what is sent back looked at instead of looped. */
struct strict_source {
	uint64_t frames; /* to make; 0: no source */
	uint64_t made;
	uint32_t ping;   /* every fourth frame is an echo request for it (host order); 0: none */
	uint16_t octets; /* of a frame, without FCS */
	uint64_t plain, replies; /* sent back: numbered frames, and good answers to echo requests */
	uint64_t next;           /* the lowest number that may come: a queue keeps the order */
	uint64_t disordered;
	uint8_t octets_of_frame[2048];
};

struct strict_device {
	char name[32];
	bool probed, started;
	bool sink; /* what is sent goes to the source's end */
	uint16_t port_id;
	const struct strict_profile *profile;
	char wire[32]; /* devices of the same wire are its two ends; "": looped to itself */
	struct strict_device *peer;
	char report[256];
	bool lossy; /* frames without a buffer are missed; else the sender is held up (PAUSE) */
	uint64_t
		link_down_at; /* frames delivered, after which the link is down for 20 ms; 0: never */
	uint64_t link_up_tsc;
	uint64_t
		capacity_fps; /* what comes faster is missed: a device under test in the wire; 0: no limit */
	uint64_t busy_until; /* [TSC] with what has passed */
	uint64_t tx_offloads, rx_offloads, rss_hf;
	uint16_t rx_queues, tx_queues;
	struct strict_rx rx[STRICT_QUEUES];
	struct strict_tx tx[STRICT_QUEUES];
	void *rx_data[STRICT_QUEUES], *tx_data[STRICT_QUEUES];
	rte_spinlock_t arrivals;
	struct rte_eth_stats stats; /* of the device: counted on arrival and on delivery */
	uint64_t unread;            /* frames that nobody had read when it was stopped */
	uint64_t breaches[STRICT_BREACHES_COUNT]; /* atomic */
	uint16_t reta[STRICT_RETA];
	uint8_t key[STRICT_KEY];
	struct strict_source source;
	int time_field;
	uint64_t time_flag;
};

extern struct strict_device strict_devices[STRICT_DEVICES];
extern unsigned int strict_device_count;
extern int strict_held_field; /* of mbufs of ordinary pools: by how many descriptors it is held */

/* strict_profile.c: the arguments of a device into *device; a reason on stderr and -EINVAL for bad ones. */
int strict_parse(struct strict_device *device, const char *args);

/* strict_clock.c: what rte_eth_read_clock() returns and what the device writes into mbufs. */
uint64_t strict_clock_read(const struct strict_device *device);
uint64_t strict_clock_stamp(const struct strict_device *device);

/* strict_tx.c */
uint16_t strict_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count);
void strict_tx_release(struct strict_tx *tx);
void strict_tx_pool_freed(struct strict_tx *tx, const struct rte_mempool *pool);
/* The oldest frame that was not delivered, NULL when there is none; strict_tx_next() delivers it. Lock held. */
struct rte_mbuf *strict_tx_oldest(const struct strict_tx *tx);
void strict_tx_next(struct strict_tx *tx);

/* strict_rx.c */
uint16_t strict_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count);
int strict_rx_fill(struct strict_rx *rx);
void strict_rx_release(struct strict_rx *rx);

/* strict_source.c */
struct strict_frame {
	const uint8_t *octets;
	uint32_t length;
};
struct strict_frame strict_source_make(struct strict_device *device);
void strict_source_take(struct strict_source *source, const struct rte_mbuf *mbuf);

/* strict_report.c */
void strict_report_all(void);

static inline void
strict_breach(struct strict_device *device, enum strict_breach breach, uint64_t times)
{
	__atomic_fetch_add(&device->breaches[breach], times, __ATOMIC_RELAXED);
}

/* Frames of the engine's own pools are sent over and over, and freeing one is nothing (program/frame_pool.h). */
static inline bool
strict_pool_is_owned(const struct rte_mempool *pool)
{
	return strcmp(rte_mempool_get_ops(pool->ops_index)->name, "wirerate_owned") == 0;
}

static inline uint32_t *
strict_held(struct rte_mbuf *mbuf)
{
	return RTE_MBUF_DYNFIELD(mbuf, strict_held_field, uint32_t *);
}

#endif
