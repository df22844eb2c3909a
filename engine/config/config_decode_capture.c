/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The captures of a program: keys, types, ranges. Called by config_decode.c; main thread, cold path.
 * Whether a filter is one is found out by whoever compiles it. Source: docs/design/0005-measurement.md, "Capturing".
 */
#include <stdlib.h>
#include <string.h>

#include "config/config_decode.h"

void
config_decode_format(const struct cursor *at, bool *pcapng)
{
	char format[CONFIG_NAME_SIZE] = "";

	cursor_get_text(at, "format", format, sizeof(format));
	*pcapng = strcmp(format, "pcapng") == 0;
	if (!*pcapng && strcmp(format, "pcap") != 0)
		cursor_refuse(at, "format",
			      "\"%s\" is no format of captures; it must be \"pcap\" or \"pcapng\"",
			      format);
}

static void
decode_capture(const struct cursor *at, struct capture_config *capture)
{
	static const char *const keys[] = {
		"port", "path", "format", "filter", "frames", "octets", "overwrite", "bad", NULL,
	};

	cursor_closed_object(at, keys);
	capture->octets = CONFIG_CAPTURE_OCTETS_MAX;
	cursor_get_text(at, "port", capture->port, sizeof(capture->port));
	cursor_get_file_path(at, "path", CONFIG_PATH_SIZE, &capture->path);
	config_decode_format(at, &capture->pcapng);
	cursor_get_uint32(at, "frames", 1, CONFIG_CAPTURE_FRAMES_MAX, &capture->frames);
	if (cursor_has(at, "filter"))
		cursor_get_text(at, "filter", capture->filter, sizeof(capture->filter));
	if (cursor_has(at, "octets"))
		cursor_get_uint32(at, "octets", CONFIG_CAPTURE_OCTETS_MIN,
				  CONFIG_CAPTURE_OCTETS_MAX, &capture->octets);
	if (cursor_has(at, "overwrite"))
		cursor_get_bool(at, "overwrite", &capture->overwrite);
	if (cursor_has(at, "bad"))
		cursor_get_bool(at, "bad", &capture->bad);
}

void
config_decode_captures(const struct cursor *root, struct program_config *out)
{
	struct cursor array;
	uint32_t n;

	if (!cursor_has(root, "captures"))
		return;
	n = cursor_get_array(root, "captures", 0, CONFIG_CAPTURES_MAX, &array);
	out->captures = cursor_new_array(&array, n, sizeof(*out->captures));
	for (uint32_t i = 0; i < n && root->d->rc == 0; i++) {
		const struct cursor at = cursor_element(&array, i);

		decode_capture(&at, &out->captures[i]);
		out->n_captures++;
	}
}

void
config_free_captures(struct program_config *config)
{
	for (uint32_t i = 0; i < config->n_captures; i++)
		free(config->captures[i].path);
	free(config->captures);
	config->captures = NULL;
	config->n_captures = 0;
}
