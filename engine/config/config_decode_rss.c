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
decode_key(const struct cursor *at, void *out)
{
	struct rss_config *rss = &((struct port_config *)out)->rss;
	uint8_t *octets = NULL;

	cursor_get_hex(at, "key", 1, CONFIG_RSS_KEY_OCTETS_MAX, &octets, &rss->key_octets);
	if (octets != NULL)
		memcpy(rss->key, octets, rss->key_octets);
	free(octets);
}

static void
decode_fields(const struct cursor *at, void *out)
{
	struct rss_config *rss = &((struct port_config *)out)->rss;
	struct cursor array;
	uint32_t n = cursor_get_array(at, "fields", 1, RSS_FIELDS, &array);

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
decode_reta(const struct cursor *at, void *out)
{
	struct port_config *port = out;
	struct cursor array;
	uint32_t n = cursor_get_array(at, "reta", 1, CONFIG_RETA_MAX, &array);

	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		uint32_t queue = 0;

		cursor_element_uint32(&array, i, 0, port->rx_queues - 1, &queue);
		port->rss.reta[i] = (uint16_t)queue;
	}
	port->rss.n_reta = n;
}

void
config_decode_rss(const struct cursor *at, void *out)
{
	static const struct option options[] = {
		OPTION_BY("key", MAY_LACK_OR_NULL, decode_key),
		OPTION_BY("fields", MAY_LACK_OR_NULL, decode_fields),
		OPTION_BY("reta", MAY_LACK_OR_NULL, decode_reta),
		OPTION_END,
	};
	struct port_config *port = out;
	const struct cursor rss = cursor_child(at, "rss");

	port->rss.asked = true;
	if (port->rx_queues == 0)
		cursor_refuse(at, "rss",
			      "the port has no Rx queues to spread frames over; give it "
			      "some, or leave rss out");
	else
		options_decode(&rss, options, port);
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

static void
decode_hash_key(const struct cursor *at, void *out)
{
	struct hash_config *config = out;

	cursor_get_hex(at, "key", 1, CONFIG_RSS_KEY_OCTETS_MAX, &config->key, &config->key_octets);
}

static void
decode_inputs(const struct cursor *at, void *out)
{
	struct hash_config *config = out;
	struct cursor array;
	uint32_t n = cursor_get_array(at, "inputs", 0, CONFIG_HASH_INPUTS_MAX, &array);

	config->inputs = cursor_new_array(&array, n, sizeof(config->inputs[0]));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		struct hash_input *input = &config->inputs[i];

		cursor_element_hex(&array, i, 1, 36, &input->octets, &input->n_octets);
		config->n_inputs++;
		check_input(&array, i, config);
	}
}

int
config_decode_hash(const json_t *params, struct hash_config *out, struct error *err)
{
	static const struct option options[] = {
		OPTION_BY("key", NEEDED, decode_hash_key),
		OPTION_BY("inputs", NEEDED, decode_inputs),
		OPTION_END,
	};
	int rc;

	memset(out, 0, sizeof(*out));
	rc = options_decode_params(params, options, out, err);
	if (rc < 0)
		config_free_hash(out);
	return rc;
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
