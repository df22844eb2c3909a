/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A good document for each decoder, and how to change one thing in it.
 *
 * Included by test_config*.c, once each.
 */
#ifndef WR_TESTS_CONFIG_DOCUMENTS_H
#define WR_TESTS_CONFIG_DOCUMENTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "config/config.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TEN_OCTETS "00000000000000000000"
/* 60 octets, the last one in both cases of hex. */
#define TEMPLATE \
	"02000000000202000000" \
	"00010800450000140000" TEN_OCTETS TEN_OCTETS TEN_OCTETS "0000000000000000" \
	"00fF"

static const char good_ports[] =
	"{\"ports\": [{\"name\": \"p0\", \"location\": \"ring:demo\", \"rx_queues\": 1,"
	" \"tx_queues\": 2, \"rx_descriptors\": 1024, \"tx_descriptors\": 512, \"mbufs\": 8192,"
	" \"frame_size_max\": 1518, \"promiscuous\": true},"
	" {\"name\": \"p1\", \"location\": \"null:n\", \"rx_queues\": 0,"
	" \"tx_queues\": 0, \"rx_descriptors\": 0, \"tx_descriptors\": 0, \"mbufs\": 0,"
	" \"frame_size_max\": 64, \"promiscuous\": false}]}";

static const char good_program[] =
	"{\"workers\": ["
	"  {\"lcore\": 1, \"tasks\": ["
	"    {\"kind\": \"rx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 64},"
	"    {\"kind\": \"tx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 32,"
	"     \"stream\": \"s1\", \"part\": 1, \"parts\": 2},"
	"    {\"kind\": \"tx\", \"port\": \"p0\", \"queue\": 1, \"burst\": 32,"
	"     \"stream\": \"s0\", \"part\": 0, \"parts\": 1}]},"
	"  {\"lcore\": 2, \"tasks\": ["
	"    {\"kind\": \"tx\", \"port\": \"p1\", \"queue\": 0, \"burst\": 512,"
	"     \"stream\": \"s1\", \"part\": 0, \"parts\": 2}]}],"
	" \"streams\": ["
	"  {\"name\": \"s0\", \"template\": \"" TEMPLATE "\","
	"   \"fields\": [{\"offset\": 34, \"octets\": 2, \"first\": 1024, \"step\": 1,"
	" \"count\": 6},"
	"    {\"offset\": 52, \"octets\": 8, \"first\": -1, \"step\": -2, \"count\": 4}],"
	"   \"checksums\": [{\"offset\": 40, \"ranges\": [[26, 8], [34, 25]], \"add\": 43,"
	"    \"udp\": true},"
	"    {\"offset\": 24, \"ranges\": [[14, 20]], \"add\": 0, \"udp\": false}],"
	"   \"fps\": 14880952.38, \"frames\": 20000},"
	"  {\"name\": \"s1\", \"template\": \"" TEMPLATE "\", \"fields\": [], \"checksums\": [],"
	"   \"fps\": null, \"frames\": null}]}";

/* Whatever good_program has not: 64 octets, two traces, queues shared by streams. */
#define TASK_OF(queue, stream) \
	"{\"kind\": \"tx\", \"port\": \"p0\", \"queue\": " #queue \
	", \"burst\": 32, \"stream\": \"" stream "\", \"part\": 0, \"parts\": 1}"
static const char good_features[] =
	"{\"workers\": [{\"lcore\": 1, \"sleep_ns\": 5000000, \"tasks\": ["
	" " TASK_OF(1, "f0") ", " TASK_OF(1, "f1") ", " TASK_OF(
		0,
		"f2") "]}],"
		      " \"streams\": ["
		      "  {\"name\": \"f0\", \"template\": \"" TEMPLATE
		      "00000000\", \"lengths\": [60, 64, 61],"
		      "   \"length_fields\": [{\"offset\": 16, \"octets\": 2, \"less\": 14},"
		      "    {\"offset\": 12, \"octets\": 1, \"less\": 60},"
		      "    {\"offset\": 20, \"octets\": 4, \"less\": 0}],"
		      "   \"fields\": [{\"offset\": 14, \"octets\": 2, \"shift\": 4, \"bits\": 6,"
		      "     \"values\": [1, 63, 5]},"
		      "    {\"offset\": 15, \"octets\": 1, \"bits\": 4, \"first\": 15, \"step\": -15, \"count\": 4},"
		      "    {\"offset\": 26, \"octets\": 4, \"random\":"
		      "     {\"min\": 10, \"max\": 4294967295, \"seed\": 7, \"count\": 1000}},"
		      "    {\"offset\": 52, \"octets\": 8, \"random\":"
		      "     {\"min\": 0, \"max\": -1, \"seed\": -1, \"count\": 281474976710656}}],"
		      "   \"checksums\": [{\"offset\": 40, \"ranges\": [[26, 8], [34, null]], \"add\": 17,"
		      "     \"add_length_less\": 34, \"udp\": true},"
		      "    {\"offset\": 24, \"ranges\": [[14, 20]], \"add\": 0, \"add_length_less\": null,"
		      "     \"udp\": false}],"
		      "   \"fps\": 1000, \"frames\": null, \"delay_ns\": 5, \"duration_ns\": 1000000,"
		      "   \"burst\": {\"frames\": 64, \"gap_ns\": 1000.5}},"
		      "  {\"name\": \"f1\", \"trace\": {\"path\": \"/captures/a.pcap\", \"overwrite\": ["
		      "    {\"offset\": 6, \"octets\": \"025752000001\"}, {\"offset\": 0, \"octets\": \"02\"}],"
		      "    \"speed\": 2.5}, \"fps\": null, \"frames\": 3},"
		      "  {\"name\": \"f2\", \"trace\": {\"path\": \"/b.pcapng\", \"overwrite\": [], \"speed\": null},"
		      "   \"fps\": 100, \"frames\": null, \"delay_ns\": 0, \"duration_ns\": null,"
		      "   \"burst\": {\"frames\": 4294967296, \"gap_ns\": 0}}]}";

static json_t *
load(const char *text)
{
	json_error_t why;
	json_t *json = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &why);

	if (json == NULL)
		fail_msg("%s in %s", why.text, text);
	return json;
}

/* Put value at a path like "streams[0].fields[1].offset"; value NULL removes the key. */
static void
put(json_t *json, const char *path, json_t *value)
{
	char key[64];
	int n = 0;

	while (json != NULL) {
		json_t *child;
		unsigned int index;

		if (sscanf(path, "[%u]%n", &index, &n) == 1) {
			child = json_array_get(json, index);
			if (path[n] == '\0') {
				if (index < json_array_size(json))
					json_array_set_new(json, index, value);
				else
					json_array_append_new(json, value);
				return;
			}
		} else if (sscanf(path, "%63[^.[]%n", key, &n) == 1) {
			child = json_object_get(json, key);
			if (path[n] == '\0') {
				if (value == NULL)
					json_object_del(json, key);
				else
					json_object_set_new(json, key, value);
				return;
			}
		} else
			break;
		path += n + (path[n] == '.');
		json = child;
	}
	fail_msg("no way to %s", path);
}

/* Decode and free; a refusal must leave nothing behind. */
static inline int
decode_program(const json_t *params, struct error *err)
{
	struct program_config config;
	int rc = config_decode_program(params, &config, err);

	if (rc < 0)
		assert_true(config.workers == NULL && config.streams == NULL);
	config_free_program(&config);
	return rc;
}

#endif
