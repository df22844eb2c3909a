/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rss of a port, rss.hash and ports.steer: what is accepted, and what is refused.
 *
 * Run by `meson test`; pure. Source: docs/design/0006-descriptor-loop.md.
 */
#include "tests/config_refusals.h"

static const char good_rss[] =
	"{\"ports\": [{\"name\": \"p0\", \"location\": \"ring:demo\", \"rx_queues\": 4,"
	" \"tx_queues\": 1, \"rx_descriptors\": 0, \"tx_descriptors\": 0, \"mbufs\": 8192,"
	" \"frame_size_max\": 1518, \"promiscuous\": true,"
	" \"rss\": {\"key\": \"6d5A01\", \"fields\": [\"ipv4\", \"ipv6-udp\"], \"reta\": [3, 0]}}]}";
static const char good_hash[] =
	"{\"key\": \"" TEN_OCTETS "0000\", \"inputs\": [\"0102030405060708\"]}";
static const char good_steer[] =
	"{\"port\": \"p1\", \"rules\": [{\"ipv4_dst\": \"10.0.0.1\", \"queue\": 2},"
	" {\"ipv6_dst\": \"fd00::9\", \"udp_dst\": 65535, \"queue\": 0}]}";

static int
decode_ports(const json_t *params, struct error *err)
{
	struct ports_config config;
	int rc = config_decode_ports(params, &config, err);

	config_free_ports(&config);
	return rc;
}

static int
decode_hash(const json_t *params, struct error *err)
{
	struct hash_config config;
	int rc = config_decode_hash(params, &config, err);

	config_free_hash(&config);
	return rc;
}

static int
decode_steer(const json_t *params, struct error *err)
{
	struct steer_config config;
	int rc = config_decode_steer(params, &config, err);

	config_free_steer(&config);
	return rc;
}

static void
rss_is_taken(void **state)
{
	json_t *params = load(good_rss);
	const struct rss_config *rss;
	struct ports_config config;

	(void)state;
	assert_int_equal(config_decode_ports(params, &config, NULL), 0);
	rss = &config.ports[0].rss;
	assert_true(rss->asked);
	assert_int_equal(rss->fields, RSS_IPV4 | RSS_IPV6_UDP);
	assert_int_equal(rss->key_octets, 3);
	assert_int_equal(rss->key[1], 0x5a);
	assert_int_equal(rss->n_reta, 2);
	assert_int_equal(rss->reta[0], 3);
	config_free_ports(&config);
	json_decref(params);
}

/* Null leaves all to the device; so does no rss at all, but then it was not asked for. */
static void
null_is_the_devices(void **state)
{
	json_t *params = load(good_rss);
	struct ports_config config;

	(void)state;
	put(params, "ports[0].rss.key", json_null());
	put(params, "ports[0].rss.fields", json_null());
	put(params, "ports[0].rss.reta", json_null());
	assert_int_equal(config_decode_ports(params, &config, NULL), 0);
	assert_true(config.ports[0].rss.asked);
	assert_int_equal(config.ports[0].rss.fields, 0);
	assert_int_equal(config.ports[0].rss.key_octets, 0);
	assert_int_equal(config.ports[0].rss.n_reta, 0);
	config_free_ports(&config);
	put(params, "ports[0].rss", NULL);
	assert_int_equal(config_decode_ports(params, &config, NULL), 0);
	assert_false(config.ports[0].rss.asked);
	config_free_ports(&config);
	json_decref(params);
}

static void
what_is_no_rss_is_refused(void **state)
{
#define RSS "ports[0].rss"
	static const struct refusal rows[] = {
		{RSS, "7", NULL, "7"},
		{RSS ".key", "\"6d5\"", NULL, "hex digits"},
		{RSS ".fields", "[]", NULL, "1 to 6"},
		{RSS ".fields[1]", "\"sctp\"", NULL, "ipv4-udp"},
		{RSS ".fields[1]", "4", NULL, "ipv4-udp"},
		{RSS ".reta", "[]", NULL, "1 to 2048"},
		{RSS ".reta[1]", "4", NULL, "4"},
		{RSS ".extra", "4", NULL, "not known here"},
		{"ports[0].rx_queues", "0", RSS, "no Rx queues"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_ports, good_rss);
}

static void
what_cannot_be_hashed_is_refused(void **state)
{
	static const struct refusal rows[] = {
		{"key", "\"\"", NULL, "hex digits"},
		{"key", "\"" TEN_OCTETS "00\"", "inputs[0]", "a key needs 12"},
		{"inputs[0]", "\"01020304050607\"", NULL, "7 octets"},
		{"inputs[0]", "\"010203040506070809\"", NULL, "9 octets"},
		{"inputs[0]", "\"010203040506070809101112\"", NULL, "a key needs 16"},
		{"inputs", NULL, NULL, "missing"},
	};
	json_t *params = load(good_hash);

	(void)state;
	assert_int_equal(decode_hash(params, NULL), 0);
	json_decref(params);
	assert_all_refused(rows, COUNT(rows), decode_hash, good_hash);
}

static void
rules_are_taken(void **state)
{
	json_t *params = load(good_steer);
	struct steer_config config;

	(void)state;
	assert_int_equal(config_decode_steer(params, &config, NULL), 0);
	assert_string_equal(config.port, "p1");
	assert_int_equal(config.n_rules, 2);
	assert_false(config.rules[0].ipv6 || config.rules[0].has_udp);
	assert_int_equal(config.rules[0].ip[0], 10);
	assert_int_equal(config.rules[0].queue, 2);
	assert_true(config.rules[1].ipv6 && config.rules[1].has_udp);
	assert_int_equal(config.rules[1].ip[15], 9);
	assert_int_equal(config.rules[1].udp_dst, 65535);
	config_free_steer(&config);
	put(params, "rules", json_array());
	assert_int_equal(decode_steer(params, NULL), 0);
	json_decref(params);
}

static void
what_is_no_rule_is_refused(void **state)
{
	static const struct refusal rows[] = {
		{"port", NULL, NULL, "missing"},
		{"rules[0].ipv4_dst", NULL, NULL, "missing"},
		{"rules[0].ipv4_dst", "\"10.0.0\"", NULL, "no IPv4 address"},
		{"rules[1].ipv6_dst", "\"10.0.0.1\"", NULL, "no IPv6 address"},
		{"rules[1].ipv4_dst", "\"10.0.0.1\"", "rules[1].ipv6_dst", "one of them"},
		{"rules[1].udp_dst", "65536", NULL, "65536"},
		{"rules[1].queue", "1024", NULL, "1024"},
		{"rules[1].tcp_dst", "1", NULL, "not known here"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_steer, good_steer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rss_is_taken),
		cmocka_unit_test(null_is_the_devices),
		cmocka_unit_test(what_is_no_rss_is_refused),
		cmocka_unit_test(what_cannot_be_hashed_is_refused),
		cmocka_unit_test(rules_are_taken),
		cmocka_unit_test(what_is_no_rule_is_refused),
	};

	return cmocka_run_group_tests_name("config_rss", tests, NULL, NULL);
}
