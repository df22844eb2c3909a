/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Give received mbufs back. rte_pktmbuf_free_bulk() reads `next`, in the second cache line of each mbuf, which
 * nobody else needs: a frame in one mbuf that nobody shares has none. Such frames, nearly all, go to their pool in bulk.
 */
#ifndef WR_WORKER_RX_FREE_H
#define WR_WORKER_RX_FREE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

/* As a pool wants it back: direct, whole, not shared. */
static inline bool
rx_is_plain(const struct rte_mbuf *mbuf)
{
	return mbuf->nb_segs == 1 && rte_mbuf_refcnt_read(mbuf) == 1 && RTE_MBUF_DIRECT(mbuf);
}

static inline void
rx_free(struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t from = 0;

	while (from < count) {
		struct rte_mempool *pool = mbufs[from]->pool;
		uint16_t to = from;

		while (to < count && likely(rx_is_plain(mbufs[to]) && mbufs[to]->pool == pool))
			to++;
		if (likely(to > from))
			rte_mempool_put_bulk(pool, (void *const *)&mbufs[from], to - from);
		else
			rte_pktmbuf_free(mbufs[to++]);
		from = to;
	}
}

#endif
