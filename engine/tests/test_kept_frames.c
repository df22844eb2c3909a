/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of ended programs are freed when as many more as a device holds have followed on each queue, and not before.
 *
 * Run by `meson test`; DPDK without hugepages, devices or privilege. Source: program/kept_frames.h.
 */
#include "tests/eal_fixture.h"

#include <rte_errno.h>

#include "program/kept_frames.h"

enum { QUEUES = 2, TASKS = QUEUES };

/* A program whose only port is a NIC's, with a task for each queue. */
struct ended {
	struct program program;
	struct worker worker;
	struct tx_task tasks[TASKS];
	struct tx_counters counters[TASKS];
	struct frame_pool *pools[1];
	struct answer_queue *answers[1];
};

static struct port nic = {.driver = "net_nic",
			  .config.location = "03:00.0",
			  .location.kind = LOCATION_PCI,
			  .tx_queues = QUEUES,
			  .tx_descriptors = 1024};

static bool
is_there(const char *name)
{
	return rte_mempool_lookup(name) != NULL;
}

/* A program that has handed this many frames to each queue ends. */
static void
end_one(struct kept_frames **kept, const char *name, uint64_t first, uint64_t second)
{
	static const uint16_t octets[64] = {[0 ... 63] = OCTETS_MIN};
	static struct ended ended;

	memset(&ended, 0, sizeof(ended));
	kept_frames_release(kept, false);
	assert_int_equal(frame_pool_create(&ended.pools[0], name, octets, COUNT(octets),
					   SOCKET_ID_ANY, NULL),
			 0);
	for (uint16_t t = 0; t < TASKS; t++)
		ended.tasks[t] = (struct tx_task){.queue_id = t, .counters = &ended.counters[t]};
	ended.counters[0].frames = first;
	ended.counters[1].frames = second;
	ended.worker = (struct worker){.tx = ended.tasks, .tx_count = TASKS};
	ended.program = (struct program){.workers = &ended.worker,
					 .worker_count = 1,
					 .ports = &nic,
					 .port_count = 1,
					 .pools = ended.pools,
					 .answers = ended.answers};
	kept_frames_take(kept, &ended.program);
	assert_null(ended.pools[0]);
}

static void
home_when_others_have_followed(void **state)
{
	uint32_t held = port_frames_held_max(&nic);
	struct kept_frames *kept = NULL;

	(void)state;
	end_one(&kept, "first", 1, 0);
	end_one(&kept, "second", held - 1, 100000);
	kept_frames_release(&kept, false);
	assert_true(is_there("first"));
	end_one(&kept, "third", 1, 0);
	kept_frames_release(&kept, false);
	assert_false(is_there("first"));
	assert_true(is_there("second"));
	end_one(&kept, "fourth", 100000, 0); /* the second one's queue 1 has had nothing since */
	kept_frames_release(&kept, false);
	assert_true(is_there("second"));
	assert_false(is_there("third"));
	kept_frames_release(&kept, true);
	assert_null(kept);
	assert_false(is_there("second") || is_there("fourth"));
}

static void
what_sent_nothing_is_home_at_once(void **state)
{
	struct kept_frames *kept = NULL;

	(void)state;
	end_one(&kept, "idle", 0, 0);
	kept_frames_release(&kept, false);
	assert_null(kept);
	assert_false(is_there("idle"));
}

static void
two_are_there_at_a_time(void **state)
{
	struct kept_frames *kept = NULL;

	(void)state;
	for (unsigned int i = 0; i < 30; i++) {
		char name[32], before[32];

		snprintf(name, sizeof(name), "trial%u", i);
		snprintf(before, sizeof(before), "trial%u", i - 2);
		end_one(&kept, name, 5000, 5000);
		assert_false(i > 1 && is_there(before));
	}
	kept_frames_release(&kept, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(home_when_others_have_followed),
		cmocka_unit_test(what_sent_nothing_is_home_at_once),
		cmocka_unit_test(two_are_there_at_a_time),
	};

	return cmocka_run_group_tests_name("kept_frames", tests, eal_up, eal_down);
}
