/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The "rss" of a port, and the params of rss.hash. Main thread, cold path.
 * Source: docs/design/0006-descriptor-loop.md, "RSS".
 */
#include <stdlib.h>
#include <string.h>

#include "config/config_decode.h"

static const char *const field_names[RSS_FIELDS] = {
	"ipv4", "ipv4-udp", "ipv4-tcp", "ipv6", "ipv6-udp", "ipv6-tcp",
};

const char *
rss_field_name(uint32_t i)
{
	return field_names[i];
}

static void
decode_key(const struct cursor *at, struct rss_config *rss)
{
	uint8_t *octets = NULL;

	if (!cursor_has_value(at, "key"))
		return;
	cursor_get_hex(at, "key", 1, CONFIG_RSS_KEY_OCTETS_MAX, &octets, &rss->key_octets);
	if (octets != NULL)
		memcpy(rss->key, octets, rss->key_octets);
	free(octets);
}

static void
decode_fields(const struct cursor *at, struct rss_config *rss)
{
	struct cursor array;
	uint32_t n;

	if (!cursor_has_value(at, "fields"))
		return;
	n = cursor_get_array(at, "fields", 1, RSS_FIELDS, &array);
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const json_t *json = json_array_get(array.json, i);
		const char *name = json_is_string(json) ? json_string_value(json) : "";
		const struct cursor element = cursor_element(&array, i);
		uint32_t f = 0;

		while (f < RSS_FIELDS && strcmp(name, field_names[f]) != 0)
			f++;
		if (f == RSS_FIELDS)
			cursor_refuse_value(&element, NULL, json,
					    "ipv4, ipv4-udp, ipv4-tcp, ipv6, ipv6-udp or ipv6-tcp");
		else
			rss->fields |= 1u << f;
	}
}

static void
decode_reta(const struct cursor *at, uint32_t rx_queues, struct rss_config *rss)
{
	struct cursor array;
	uint32_t n;

	if (!cursor_has_value(at, "reta"))
		return;
	n = cursor_get_array(at, "reta", 1, CONFIG_RETA_MAX, &array);
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		uint32_t queue = 0;

		cursor_element_uint32(&array, i, 0, rx_queues - 1, &queue);
		rss->reta[i] = (uint16_t)queue;
	}
	rss->n_reta = n;
}

void
config_decode_rss(const struct cursor *port, uint32_t rx_queues, struct rss_config *rss)
{
	static const char *const keys[] = {"key", "fields", "reta", NULL};
	struct cursor at;

	if (!cursor_has_value(port, "rss"))
		return;
	if (rx_queues == 0) {
		cursor_refuse(port, "rss",
			      "the port has no Rx queues to spread frames over; give it "
			      "some, or leave rss out");
		return;
	}
	at = cursor_child(port, "rss");
	cursor_closed_object(&at, keys);
	decode_key(&at, rss);
	decode_fields(&at, rss);
	decode_reta(&at, rx_queues, rss);
	rss->asked = true;
}

static void
check_input(const struct cursor *array, uint32_t i, const struct hash_config *config)
{
	const struct hash_input *input = &config->inputs[i];
	const struct cursor at = cursor_element(array, i);
	uint32_t n = input->n_octets;

	if (array->d->rc != 0)
		return;
	if (n != 8 && n != 12 && n != 32 && n != 36)
		cursor_refuse(
			&at, NULL,
			"it has %u octets; an input is two addresses (8 or 32) and, where the "
			"fields have them, two ports (12 or 36)",
			n);
	else if (config->key_octets < n + 4)
		cursor_refuse(&at, NULL,
			      "it has %u octets, for which a key needs %u; the key has %u", n,
			      n + 4, config->key_octets);
}

int
config_decode_hash(const json_t *params, struct hash_config *out, struct error *err)
{
	static const char *const keys[] = {"key", "inputs", NULL};
	struct decoding d = {.err = err};
	const struct cursor root = {.d = &d, .json = params};
	struct cursor array;
	uint32_t n;

	memset(out, 0, sizeof(*out));
	cursor_closed_object(&root, keys);
	cursor_get_hex(&root, "key", 1, CONFIG_RSS_KEY_OCTETS_MAX, &out->key, &out->key_octets);
	n = cursor_get_array(&root, "inputs", 0, CONFIG_HASH_INPUTS_MAX, &array);
	out->inputs = cursor_new_array(&array, n, sizeof(out->inputs[0]));
	for (uint32_t i = 0; i < n && d.rc == 0; i++) {
		struct hash_input *input = &out->inputs[i];

		cursor_element_hex(&array, i, 1, 36, &input->octets, &input->n_octets);
		out->n_inputs++;
		check_input(&array, i, out);
	}
	if (d.rc < 0)
		config_free_hash(out);
	return d.rc;
}

void
config_free_hash(struct hash_config *config)
{
	for (uint32_t i = 0; i < config->n_inputs; i++)
		free(config->inputs[i].octets);
	free(config->inputs);
	free(config->key);
	memset(config, 0, sizeof(*config));
}
