/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reply tasks, tasks that answer, and ports.exchange: what is accepted, with which defaults, and what is refused.
 *
 * Run by `meson test`; pure. Source: docs/design/0005-measurement.md, "Answering".
 */
#include "tests/config_refusals.h"

#define REPLY(worker_port, queue) \
	"{\"kind\": \"reply\", \"port\": \"" worker_port "\", \"queue\": " #queue \
	", \"burst\": 32, \"addresses\": [{\"mac\": \"02:57:52:00:00:01\", \"ipv4\": \"10.0.0.1\"}," \
	" {\"mac\": \"02:57:52:00:00:fE\", \"ipv6\": \"fd00::1\"}]}"

static const char good_reply[] =
	"{\"workers\": [{\"lcore\": 1, \"tasks\": ["
	" {\"kind\": \"rx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 64, \"answer\": true},"
	" " REPLY("p0", 1) ","
			   " {\"kind\": \"forward\", \"port\": \"p1\", \"queue\": 0, \"burst\": 32,"
			   "  \"to_port\": \"p0\", \"to_queue\": 1}]},"
			   " {\"lcore\": 2, \"tasks\": ["
			   " {\"kind\": \"forward\", \"port\": \"p0\", \"queue\": 1, \"burst\": 32,"
			   "  \"to_port\": \"p1\", \"to_queue\": 0, \"answer\": true}, " REPLY(
				   "p1", 0) "]}],"
					    " \"streams\": []}";

static void
everything_is_taken(void **state)
{
	static const uint8_t mac[MAC_OCTETS] = {0x02, 0x57, 0x52, 0, 0, 0xfe};
	static const uint8_t ipv4[IPV6_OCTETS] = {10, 0, 0, 1},
			     ipv6[IPV6_OCTETS] = {0xfd, [15] = 1};
	json_t *params = load(good_reply);
	struct program_config config;
	struct error err = {0};
	const struct task_config *reply;

	(void)state;
	if (config_decode_program(params, &config, &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	assert_true(config.workers[0].tasks[0].answer);
	assert_false(config.workers[0].tasks[2].answer);
	assert_true(config.workers[1].tasks[0].answer);
	reply = &config.workers[0].tasks[1];
	assert_int_equal(reply->kind, TASK_REPLY);
	assert_int_equal(reply->n_addresses, 2);
	assert_false(reply->addresses[0].ipv6);
	assert_memory_equal(reply->addresses[0].ip, ipv4, IPV6_OCTETS);
	assert_true(reply->addresses[1].ipv6);
	assert_memory_equal(reply->addresses[1].ip, ipv6, IPV6_OCTETS);
	assert_memory_equal(reply->addresses[1].mac, mac, MAC_OCTETS);
	config_free_program(&config);
	json_decref(params);
}

static void
what_makes_no_sense_is_refused(void **state)
{
#define TASK "workers[0].tasks[1]."
#define FIRST TASK "addresses[0]."
	static const struct refusal rows[] = {
		{TASK "kind", "\"answer\"", NULL, "\"reply\", \"loop\" or \"bridge\""},
		{TASK "addresses", NULL, NULL, "missing"},
		{TASK "addresses", "[]", NULL, "1 to 1024"},
		{TASK "answer", "true", NULL, "not known here"},
		{TASK "measure", "true", NULL, "not known here"},
		{FIRST "mac", NULL, NULL, "missing"},
		{FIRST "mac", "\"03:57:52:00:00:01\"", NULL, "no Ethernet address of a host"},
		{FIRST "mac", "\"00:00:00:00:00:00\"", NULL, "no Ethernet address of a host"},
		{FIRST "mac", "\"02:57:52:00:00\"", NULL, "no Ethernet address of a host"},
		{FIRST "mac", "\"02:57:52:00:00:0:\"", NULL, "no Ethernet address of a host"},
		{FIRST "mac", "\"02:57:52:00:00:011\"", NULL, "no Ethernet address of a host"},
		{FIRST "ipv4", NULL, NULL, "missing"},
		{FIRST "ipv4", "\"10.0.0\"", NULL, "no IPv4 address of a host"},
		{FIRST "ipv4", "\"224.0.0.1\"", NULL, "no IPv4 address of a host"},
		{FIRST "ipv4", "\"127.0.0.1\"", NULL, "no IPv4 address of a host"},
		{FIRST "ipv4", "\"0.0.0.0\"", NULL, "no IPv4 address of a host"},
		{FIRST "ipv6", "\"fd00::2\"", NULL, "give each its own entry"},
		{TASK "addresses[1].ipv6", "\"ff02::1\"", NULL, "no IPv6 address of a host"},
		{TASK "addresses[1].ipv6", "\"::\"", NULL, "no IPv6 address of a host"},
		{TASK "addresses[1].ipv6", "\"::1\"", NULL, "no IPv6 address of a host"},
		{TASK "addresses[1].ipv6", "\"10.0.0.1\"", NULL, "no IPv6 address of a host"},
		{TASK "addresses[2]", "{\"mac\": \"02:57:52:00:00:03\", \"ipv4\": \"10.0.0.1\"}",
		 TASK "addresses[2].ipv4", "addresses[0] has it already"},
		{TASK "port", "\"p1\"", "workers[1].tasks[1].port",
		 "answers for port \"p1\" already"},
		{TASK "port", "\"p2\"", "workers[0].tasks[0].answer", "\"p0\" has no reply task"},
		{"workers[0].tasks[0].answer", "1", NULL, "1"},
		{TASK "queue", "1024", NULL, "1024"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_reply);
}

/* The Tx queue of a reply task belongs to its worker. */
static void
queues_are_of_one_worker(void **state)
{
	json_t *params = load(good_reply);
	struct error err = {0};

	(void)state;
	put(params, "workers[1].tasks[0].to_port", json_string("p0"));
	put(params, "workers[1].tasks[0].to_queue", json_integer(1));
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	assert_string_equal(err.path, "workers[1].tasks[0].to_queue");
	assert_non_null(strstr(err.text, "put all tasks of a queue in one worker"));
	json_decref(params);
}

/* A reply task between two tasks of a stream does not hide that these share a queue. */
static void
a_stream_is_on_a_queue_once(void **state)
{
#define PART(part) \
	"{\"kind\": \"tx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 32, \"stream\": \"s0\"," \
	" \"part\": " #part ", \"parts\": 2}"
	static const char text[] =
		"{\"workers\": [{\"lcore\": 1, \"tasks\": [" PART(0) ", " REPLY("p0", 0) ", " PART(
			1) "]}],"
			   " \"streams\": [{\"name\": \"s0\", \"template\": \"" TEMPLATE
			   "\", \"fields\": [], \"checksums\": [], \"fps\": null, \"frames\": null}]}";
	json_t *params = load(text);
	struct error err = {0};

	(void)state;
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	assert_non_null(strstr(err.text, "already sends stream \"s0\""));
	put(params, "workers[0].tasks[2].queue", json_integer(1));
	assert_int_equal(decode_program(params, NULL), 0);
	json_decref(params);
}

static const char good_exchange[] =
	"{\"port\": \"p0\", \"queue\": 3, \"frames\": [\"0102030405060708090a0b0c0806\", \"" TEMPLATE
	"\"], \"filter\": \"arp\", \"answers\": 2, \"timeout_ns\": 200000000}";

static int
decode_exchange(const json_t *params, struct error *err)
{
	struct exchange_config config;
	int rc = config_decode_exchange(params, &config, err);

	if (rc < 0)
		assert_true(config.frames == NULL && config.filter == NULL);
	config_free_exchange(&config);
	return rc;
}

static void
an_exchange_is_taken(void **state)
{
	json_t *params = load(good_exchange);
	struct exchange_config config;

	(void)state;
	assert_int_equal(config_decode_exchange(params, &config, NULL), 0);
	assert_string_equal(config.port, "p0");
	assert_int_equal(config.queue, 3);
	assert_int_equal(config.n_frames, 2);
	assert_int_equal(config.frames[0].n_octets, 14);
	assert_int_equal(config.frames[0].octets[11], 12);
	assert_int_equal(config.frames[1].n_octets, 60);
	assert_string_equal(config.filter, "arp");
	assert_int_equal(config.answers, 2);
	assert_int_equal(config.timeout_ns, 200000000);
	config_free_exchange(&config);
	put(params, "filter", json_string(""));
	put(params, "frames", json_array());
	assert_int_equal(decode_exchange(params, NULL), 0);
	json_decref(params);
}

static void
what_is_no_exchange_is_refused(void **state)
{
	static const struct refusal rows[] = {
		{"port", NULL, NULL, "missing"},
		{"queue", "1024", NULL, "1024"},
		{"frames", "7", NULL, "7"},
		{"frames[0]", "\"0102\"", NULL, "4 hex digits"},
		{"frames[1]", "\"zz02030405060708090a0b0c0806\"", NULL, "no hex digit"},
		{"frames[0]", "7", NULL, "a string of hex digits"},
		{"filter", NULL, NULL, "missing"},
		{"filter", "7", NULL, "a string"},
		{"answers", "0", NULL, "1 to 1024"},
		{"answers", "1025", NULL, "1 to 1024"},
		{"timeout_ns", "2000000001", NULL, "2000000001"},
		{"timeout_ns", "0", NULL, "0"},
		{"extra", "0", NULL, "not known here"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_exchange, good_exchange);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_taken),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(queues_are_of_one_worker),
		cmocka_unit_test(a_stream_is_on_a_queue_once),
		cmocka_unit_test(an_exchange_is_taken),
		cmocka_unit_test(what_is_no_exchange_is_refused),
	};

	return cmocka_run_group_tests_name("config_answer", tests, NULL, NULL);
}
