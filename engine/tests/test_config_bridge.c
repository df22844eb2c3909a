/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bridge tasks and rings: what is accepted, with which defaults, and what is refused.
 *
 * Run by `meson test`; pure. Source: docs/design/0009-kernel-path.md, "Engine".
 */
#include "tests/config_refusals.h"

static const char good_bridge[] =
	"{\"workers\": [{\"lcore\": 1, \"tasks\": ["
	" {\"kind\": \"bridge\", \"from\": {\"port\": \"p0\", \"queue\": 3}, \"burst\": 64,"
	"  \"addresses\": [\"10.0.0.1\", \"fd00::1\"],"
	"  \"kernel\": {\"to\": {\"ring\": \"kernel\"}},"
	"  \"fast\": {\"to\": {\"port\": \"p0\", \"queues\": [0, 2]}, \"rewrite\": \"reverse\","
	"   \"work_cycles\": 500, \"checksums\": \"as-is\", \"segments\": \"as-is\"}}]},"
	" {\"lcore\": 2, \"tasks\": ["
	" {\"kind\": \"bridge\", \"from\": {\"ring\": \"kernel\"}, \"burst\": 32,"
	"  \"kernel\": {\"to\": {\"port\": \"k0\", \"queues\": [0]}, \"segments\": \"merge\"}},"
	" {\"kind\": \"bridge\", \"from\": {\"port\": \"k0\", \"queue\": 0}, \"burst\": 32,"
	"  \"addresses\": null, \"fast\": null,"
	"  \"kernel\": {\"to\": {\"port\": \"p0\", \"queues\": [1]}, \"checksums\": \"complete\","
	"   \"segments\": \"split\", \"rewrite\": \"none\"}},"
	" {\"kind\": \"bridge\", \"from\": {\"port\": \"k0\", \"queue\": 1}, \"burst\": 32,"
	"  \"addresses\": [], \"kernel\": {\"to\": null}}]}],"
	" \"streams\": [], \"rings\": [{\"name\": \"kernel\", \"frames\": 2048}]}";

static void
tasks_are_taken(void **state)
{
	json_t *params = load(good_bridge);
	struct program_config config;
	struct error err = {0};
	const struct task_config *task;
	const struct bridge_way_config *way;

	(void)state;
	if (config_decode_program(params, &config, &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	assert_int_equal(config.n_rings, 1);
	assert_string_equal(config.rings[0].name, "kernel");
	assert_int_equal(config.rings[0].frames, 2048);
	task = &config.workers[0].tasks[0];
	assert_int_equal(task->kind, TASK_BRIDGE);
	assert_string_equal(task->port, "p0");
	assert_int_equal(task->queue, 3);
	assert_int_equal(task->burst, 64);
	assert_true(task->bridge->tells_apart);
	assert_int_equal(task->bridge->n_addresses, 2);
	assert_false(task->bridge->addresses[0].ipv6);
	assert_memory_equal(task->bridge->addresses[0].ip, "\x0a\x00\x00\x01", 4);
	assert_true(task->bridge->addresses[1].ipv6);
	assert_string_equal(task->bridge->ways[BRIDGE_KERNEL].ring, "kernel");
	way = &task->bridge->ways[BRIDGE_FAST];
	assert_string_equal(way->port, "p0");
	assert_int_equal(way->n_queues, 2);
	assert_int_equal(way->queues[1], 2);
	assert_int_equal(way->rewrite, REWRITE_REVERSE);
	assert_int_equal(way->work_cycles, 500);
	task = &config.workers[1].tasks[0];
	assert_string_equal(task->port, "");
	assert_string_equal(task->bridge->from_ring, "kernel");
	assert_false(task->bridge->tells_apart);
	way = &task->bridge->ways[BRIDGE_KERNEL];
	assert_int_equal(way->segments, SEGMENTS_MERGE);
	assert_int_equal(way->rewrite, REWRITE_NONE);
	assert_int_equal(way->work_cycles, 0);
	assert_false(way->complete);
	task = &config.workers[1].tasks[1];
	assert_true(task->bridge->ways[BRIDGE_KERNEL].complete);
	assert_int_equal(task->bridge->ways[BRIDGE_KERNEL].segments, SEGMENTS_SPLIT);
	assert_int_equal(task->bridge->ways[BRIDGE_FAST].n_queues, 0);
	task = &config.workers[1].tasks[2];
	assert_true(task->bridge->tells_apart);
	assert_string_equal(task->bridge->ways[BRIDGE_KERNEL].port, "");
	config_free_program(&config);
	json_decref(params);
}

#define FIRST "workers[0].tasks[0]."
#define RING "workers[1].tasks[0]."
#define BACK "workers[1].tasks[1]."
#define FROM_K0(queue) "{\"port\": \"k0\", \"queue\": " #queue "}"

static void
refusals_of_values(void **state)
{
	static const struct refusal rows[] = {
		{FIRST "from", NULL, NULL, "missing"},
		{FIRST "from", "7", NULL, "object"},
		{FIRST "from", "{\"port\": \"p0\"}", FIRST "from.queue", "missing"},
		{FIRST "from", "{\"ring\": \"kernel\", \"queue\": 0}", FIRST "from.queue",
		 "not known"},
		{FIRST "from.queue", "1024", NULL, "1024"},
		{FIRST "from.ring", "\"kernel\"", FIRST "from.port", "not known"},
		{FIRST "burst", "0", NULL, "it is 0"},
		{FIRST "port", "\"p0\"", NULL, "not known"},
		{FIRST "addresses", "\"10.0.0.1\"", NULL, "array"},
		{FIRST "addresses[0]", "7", NULL, "an IP address"},
		{FIRST "addresses[0]", "\"10.0.0\"", NULL, "\"10.0.0\" is no IP address"},
		{FIRST "addresses[0]", "\"224.0.0.1\"", NULL, "of a host"},
		{FIRST "addresses[0]", "\"ff02::1\"", NULL, "of a host"},
		{FIRST "addresses[1]", "\"10.0.0.1\"", NULL, "addresses[0] is the same"},
		{FIRST "kernel", NULL, NULL, "missing"},
		{FIRST "kernel", "null", NULL, "object"},
		{FIRST "kernel.to", NULL, NULL, "missing"},
		{FIRST "kernel.to", "7", NULL, "object"},
		{FIRST "kernel.more", "7", NULL, "not known"},
		{FIRST "fast.to.queues", "[]", NULL, "1 to 64"},
		{FIRST "fast.to.queues", "[0, 1, 0]", FIRST "fast.to.queues[2]", "already"},
		{FIRST "fast.to.queues[0]", "1024", NULL, "1024"},
		{FIRST "fast.to.queue", "0", NULL, "not known"},
		{FIRST "fast.rewrite", "\"mac_swap\"", NULL, "\"none\" or \"reverse\""},
		{FIRST "fast.work_cycles", "-1", NULL, "-1"},
		{FIRST "fast.checksums", "\"on\"", NULL, "\"as-is\" or \"complete\""},
		{FIRST "fast.segments", "\"cut\"", NULL, "\"as-is\", \"split\" or \"merge\""},
		{"rings", "7", NULL, "array"},
		{"rings[0].frames", "63", NULL, "63"},
		{"rings[0].frames", "65537", NULL, "65537"},
		{"rings[0].frames", "1000", NULL, "it is 1000; it must be a power of two"},
		{"rings[0].name", "\"\"", NULL, "0 octets"},
		{"rings[0].size", "1", NULL, "not known"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_bridge);
}

static void
refusals_of_what_does_not_fit(void **state)
{
	static const struct refusal rows[] = {
		{"rings[1]", "{\"name\": \"kernel\", \"frames\": 64}", "rings[1].name", "already"},
		{"rings[1]", "{\"name\": \"r\", \"frames\": 64}", "rings[1].name",
		 "no bridge task takes frames from ring \"r\""},
		{FIRST "kernel.to", "null", "rings[0].name",
		 "no bridge task puts frames into ring \"kernel\""},
		{FIRST "kernel.to.ring", "\"r\"", NULL, "there is no ring \"r\""},
		{RING "from.ring", "\"r\"", NULL, "there is no ring \"r\""},
		{BACK "from", "{\"ring\": \"kernel\"}", BACK "from.ring",
		 "workers[1].tasks[0] takes from ring \"kernel\" already"},
		{RING "kernel.to", "{\"ring\": \"kernel\"}", RING "kernel.to.ring", "go back"},
		{BACK "from", FROM_K0(1), "workers[1].tasks[2].from.queue",
		 "rx queue 1 of port \"k0\" is already served by workers[1].tasks[1]"},
		{BACK "kernel.to.queues[0]", "2", NULL,
		 "tx queue 2 of port \"p0\" is already served by workers[0].tasks[0]"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_bridge);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_are_taken),
		cmocka_unit_test(refusals_of_values),
		cmocka_unit_test(refusals_of_what_does_not_fit),
	};

	return cmocka_run_group_tests_name("config_bridge", tests, NULL, NULL);
}
