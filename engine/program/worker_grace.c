/* SPDX-License-Identifier: BSD-3-Clause */
/* Cold. See worker_grace.h. */
#include "program/worker_grace.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_lcore.h>

#define PAUSE_US 5u
#define PAUSES_MAX \
	30000u /* some 2 s: who is away for longer is in no burst, or in one that never ends */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct worker *watched;
static uint32_t watched_count;

void
worker_grace_watch(const struct worker *workers, uint32_t count)
{
	pthread_mutex_lock(&lock);
	watched = workers;
	watched_count = count;
	pthread_mutex_unlock(&lock);
}

/* The worker looks at the clock once per loop, when its bursts are over. */
static void
wait_for(const struct worker *worker)
{
	const struct worker_counters *counters = worker->counters;
	uint64_t before = __atomic_load_n(&counters->now_tsc, __ATOMIC_ACQUIRE);

	for (uint32_t pauses = 0; pauses < PAUSES_MAX; pauses++) {
		if (__atomic_load_n(&counters->state, __ATOMIC_ACQUIRE) != TASK_ACTIVE ||
		    __atomic_load_n(&counters->now_tsc, __ATOMIC_ACQUIRE) != before)
			return;
		usleep(PAUSE_US);
	}
}

static bool
is_worker(void)
{
	unsigned int lcore = rte_lcore_id();

	return lcore != LCORE_ID_ANY && lcore != rte_get_main_lcore();
}

void
worker_grace_wait(void)
{
	__atomic_thread_fence(
		__ATOMIC_SEQ_CST); /* what was marked is seen before the clock moves */
	pthread_mutex_lock(&lock);
	for (uint32_t w = 0; w < watched_count; w++)
		wait_for(&watched[w]);
	pthread_mutex_unlock(&lock);
}

int
munmap(void *address, size_t octets)
{
	if (__atomic_load_n(&watched_count, __ATOMIC_RELAXED) > 0 && !is_worker())
		worker_grace_wait();
	return (int)syscall(SYS_munmap, address, octets);
}
