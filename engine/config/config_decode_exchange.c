/* SPDX-License-Identifier: BSD-3-Clause */
/* The params of ports.exchange. Main thread, cold path. Source: docs/design/0005-measurement.md, "Answering". */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "config/config_decode.h"

static void
decode_frames(const struct cursor *root, void *into)
{
	struct exchange_config *out = into;
	struct cursor array;
	uint32_t n = cursor_get_array(root, "frames", 0, CONFIG_EXCHANGE_FRAMES_MAX, &array);

	out->frames = cursor_new_array(&array, n, sizeof(out->frames[0]));
	for (uint32_t i = 0; i < n && root->d->rc == 0; i++) {
		struct exchange_frame *frame = &out->frames[i];

		cursor_element_hex(&array, i, ETHERNET_HEADER_OCTETS, CONFIG_TEMPLATE_OCTETS_MAX,
				   &frame->octets, &frame->n_octets);
		out->n_frames++;
	}
}

static void
decode_filter(const struct cursor *root, void *into)
{
	char **filter = &((struct exchange_config *)into)->filter;
	const json_t *json = cursor_get(root, "filter");

	if (json == NULL)
		return;
	*filter = json_is_string(json) ? strdup(json_string_value(json)) : NULL;
	if (!json_is_string(json))
		cursor_refuse_value(root, "filter", json, "a string, \"\" for all frames");
	else if (json_string_length(json) >= CONFIG_FILTER_SIZE)
		cursor_refuse(root, "filter", "it has %zu octets; it may have %d",
			      json_string_length(json), CONFIG_FILTER_SIZE - 1);
	else if (*filter == NULL)
		cursor_no_memory(root);
}

/* Frames are received where they were sent, unless another port is named. */
static void
decode_receive(const struct cursor *root, void *into)
{
	struct exchange_config *out = into;

	memcpy(out->receive, out->port, sizeof(out->receive));
	if (cursor_has(root, "receive"))
		cursor_get_text(root, "receive", out->receive, sizeof(out->receive));
}

int
config_decode_exchange(const json_t *params, struct exchange_config *out, struct error *err)
{
	static const struct option options[] = {
		OPTION_TEXT(NEEDED, struct exchange_config, port),
		OPTION_KEY("receive"),
		OPTION_THEN(decode_receive),
		OPTION_UINT32(NEEDED, struct exchange_config, queue, 0, CONFIG_QUEUES_MAX - 1),
		OPTION_BY("frames", NEEDED, decode_frames),
		OPTION_BY("filter", NEEDED, decode_filter),
		OPTION_UINT32(NEEDED, struct exchange_config, answers, 1,
			      CONFIG_EXCHANGE_FRAMES_MAX),
		OPTION_UINT64(NEEDED, struct exchange_config, timeout_ns, 1,
			      CONFIG_EXCHANGE_NS_MAX),
		OPTION_END,
	};
	int rc;

	memset(out, 0, sizeof(*out));
	rc = options_decode_params(params, options, out, err);
	if (rc < 0)
		config_free_exchange(out);
	return rc;
}

void
config_free_exchange(struct exchange_config *config)
{
	for (uint32_t i = 0; i < config->n_frames; i++)
		free(config->frames[i].octets);
	free(config->frames);
	free(config->filter);
	memset(config, 0, sizeof(*config));
}
