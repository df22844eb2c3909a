/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rss.hash against Microsoft's verification vectors; RSS of net_null, whose key cannot be set and whose table can; what
 * a device without RSS or without rules says.
 *
 * Run by `meson test`; DPDK without hugepages or privilege. Source: docs/design/0006-descriptor-loop.md; "Verifying the
 * RSS Hash Calculation", Microsoft's NDIS documentation.
 */
#include "tests/eal_fixture.h"

#include "control/rss_hash.h"
#include "control/steer.h"
#include "device/port.h"

#define KEY "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa"

static const struct port_config four_queues = {
	.name = "p0",
	.location = "null:n",
	.rx_queues = 4,
	.tx_queues = 1,
	.mbufs = 64,
	.frame_size_max = 1518,
	.rx_descriptors = 64,
	.tx_descriptors = 64,
	.rss = {.asked = true},
};

/* A device that was closed stays plugged in, so each port has one of its own. */
static int
open_port(struct port *port, const struct port_config *config, struct error *err)
{
	static unsigned int index;

	return port_open(port, config, index++, rte_get_tsc_hz(), "ports[0]", err);
}

static uint32_t
hash_of(const char *input)
{
	json_t *params = json_pack("{s:s, s:[s]}", "key", KEY, "inputs", input);
	json_t *result = rss_hash(params, NULL);
	uint32_t hash;

	assert_non_null(result);
	hash = (uint32_t)json_integer_value(json_array_get(json_object_get(result, "hashes"), 0));
	json_decref(result);
	json_decref(params);
	return hash;
}

/* Source and destination address, source and destination port. */
static void
hashes_are_as_specified(void **state)
{
	(void)state;
	assert_int_equal(hash_of("420995bb"
				 "a18e6450"),
			 0x323e8fc2);
	assert_int_equal(hash_of("420995bb"
				 "a18e6450"
				 "0aea06e6"),
			 0x51ccc178);
	assert_int_equal(hash_of("c75c6f02"
				 "41458c53"),
			 0xd718262a);
	assert_int_equal(hash_of("c75c6f02"
				 "41458c53"
				 "37961283"),
			 0xc626b0ea);
	assert_int_equal(hash_of("3ffe250102001fff0000000000000007"
				 "3ffe2501020000030000000000000001"),
			 0x2cc18cd5);
	assert_int_equal(hash_of("3ffe250102001fff0000000000000007"
				 "3ffe2501020000030000000000000001"
				 "0aea06e6"),
			 0x40207d3d);
}

static void
what_is_set_is_read_back(void **state)
{
	struct port_config config = four_queues;
	struct error err = {0};
	struct port port;
	json_t *rss;

	(void)state;
	config.rss.n_reta = 3;
	config.rss.reta[0] = 3;
	config.rss.fields = RSS_IPV4 | RSS_IPV4_UDP;
	if (open_port(&port, &config, &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	rss = rss_describe(&port);
	assert_string_equal(json_string_value(json_object_get(rss, "key")), KEY);
	assert_int_equal(json_array_size(json_object_get(rss, "fields")), 2);
	assert_int_equal(json_array_size(json_object_get(rss, "reta")), 128);
	for (uint32_t i = 0; i < 128; i++)
		assert_int_equal(port.rss.reta[i], i % 3 == 0 ? 3 : 0);
	json_decref(rss);
	port_close(&port);
	port_free(&port);
}

/* Nobody asked: on with several queues as ever, off with one. */
static void
several_queues_have_it_unasked(void **state)
{
	struct port_config config = four_queues;
	struct port port;
	json_t *rss;

	(void)state;
	config.rss.asked = false;
	assert_int_equal(open_port(&port, &config, NULL), 0);
	assert_true(port.rss.on);
	port_close(&port);
	port_free(&port);
	config.rx_queues = 1;
	assert_int_equal(open_port(&port, &config, NULL), 0);
	rss = rss_describe(&port);
	assert_true(json_is_null(rss));
	json_decref(rss);
	port_close(&port);
	port_free(&port);
}

static void
assert_refused(const struct port_config *config, const char *path, const char *words)
{
	struct error err = {0};
	struct port port;

	assert_int_not_equal(open_port(&port, config, &err), 0);
	assert_string_equal(err.path, path);
	if (strstr(err.text, words) == NULL)
		fail_msg("%s", err.text);
}

static void
what_is_not_kept_is_refused(void **state)
{
	struct port_config config = four_queues;

	(void)state;
	config.rss.key_octets = 40;
	assert_refused(&config, "ports[0].rss.key", "took the key and has another one");
	config.rss.key_octets = 10;
	assert_refused(&config, "ports[0].rss.key", "a key of 10 octets asked");
	config.rss.key_octets = 0;
	config.rss.n_reta = 129;
	assert_refused(&config, "ports[0].rss.reta", "has 128");
	config.rss.n_reta = 0;
	snprintf(config.location, sizeof(config.location), "ring:r");
	config.rss.fields = RSS_IPV4;
	assert_refused(&config, "ports[0].rss", "has no RSS");
}

static json_t *
steer(struct port *port, const char *rules, struct error *err)
{
	json_t *params = json_pack("{s:s, s:o}", "port", "p0", "rules", json_loads(rules, 0, NULL));
	json_t *result = steer_ports(port, 1, params, err);

	json_decref(params);
	return result;
}

static void
drivers_without_rules_say_so(void **state)
{
	struct error err = {0};
	struct port port;
	json_t *result;

	(void)state;
	assert_int_equal(open_port(&port, &four_queues, NULL), 0);
	result = steer(&port, "[{\"ipv4_dst\": \"10.0.0.1\", \"udp_dst\": 9, \"queue\": 3}]", &err);
	assert_false(json_is_true(json_array_get(json_object_get(result, "accepted"), 0)));
	assert_true(json_string_length(json_array_get(json_object_get(result, "reasons"), 0)) > 0);
	json_decref(result);
	result = steer(&port, "[]", &err);
	assert_int_equal(json_array_size(json_object_get(result, "accepted")), 0);
	json_decref(result);
	assert_null(steer(&port, "[{\"ipv4_dst\": \"10.0.0.1\", \"queue\": 4}]", &err));
	assert_string_equal(err.path, "rules[0].queue");
	port_close(&port);
	port_free(&port);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_are_as_specified),
		cmocka_unit_test(what_is_set_is_read_back),
		cmocka_unit_test(several_queues_have_it_unasked),
		cmocka_unit_test(what_is_not_kept_is_refused),
		cmocka_unit_test(drivers_without_rules_say_so),
	};

	return cmocka_run_group_tests_name("port_rss", tests, eal_up, eal_down);
}
