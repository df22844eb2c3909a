/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/rss_hash.h"

#include <stdio.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_thash.h>

#include "config/config.h"

enum { INPUT_WORDS_MAX = 9 }; /* two addresses of IPv6 and two ports */

/* rte_softrss() reads words: of the input in host order, of the key as they are. */
static uint32_t
hash_of(const struct hash_config *config, const struct hash_input *input)
{
	uint32_t words[INPUT_WORDS_MAX], key[INPUT_WORDS_MAX + 1], n = input->n_octets / 4;

	memcpy(words, input->octets, input->n_octets);
	memcpy(key, config->key, input->n_octets + 4);
	for (uint32_t i = 0; i < n; i++)
		words[i] = rte_be_to_cpu_32(words[i]);
	return rte_softrss(words, n, (const uint8_t *)key);
}

json_t *
rss_hash(const json_t *params, struct error *err)
{
	struct hash_config config;
	json_t *hashes;

	if (config_decode_hash(params, &config, err) != 0)
		return NULL;
	hashes = json_array();
	for (uint32_t i = 0; i < config.n_inputs; i++)
		json_array_append_new(hashes, json_integer(hash_of(&config, &config.inputs[i])));
	config_free_hash(&config);
	return json_pack("{s:o}", "hashes", hashes);
}

static json_t *
describe_key(const struct port_rss *rss)
{
	char text[2 * CONFIG_RSS_KEY_OCTETS_MAX + 1];

	if (rss->key_octets == 0)
		return json_null();
	for (uint32_t i = 0; i < rss->key_octets; i++)
		snprintf(&text[2 * i], 3, "%02x", rss->key[i]);
	return json_string(text);
}

json_t *
rss_describe(const struct port *port)
{
	const struct port_rss *rss = &port->rss;
	json_t *fields, *reta;

	if (!rss->on)
		return json_null();
	fields = json_array();
	reta = json_array();
	for (uint32_t i = 0; i < RSS_FIELDS; i++) {
		if ((rss->fields & 1u << i) != 0)
			json_array_append_new(fields, json_string(rss_field_name(i)));
	}
	for (uint32_t i = 0; i < rss->n_reta; i++)
		json_array_append_new(reta, json_integer(rss->reta[i]));
	return json_pack("{s:o, s:o, s:o, s:s}", "key", describe_key(rss), "fields", fields, "reta",
			 reta, "hash", "toeplitz");
}
