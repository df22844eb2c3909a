/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The captures of a program: keys, types, ranges. Called by config_decode.c; main thread, cold path.
 * Whether a filter is one is found out by whoever compiles it. Source: docs/design/0005-measurement.md, "Capturing".
 */
#include <stdlib.h>

#include "config/config_decode.h"

const char *const capture_formats[] = {"pcap", "pcapng", NULL};

#define CAPTURE struct capture_config

static void
set_defaults(const struct cursor *at, void *out)
{
	struct capture_config *capture = out;

	(void)at;
	capture->octets = CONFIG_CAPTURE_OCTETS_MAX;
}

const struct option capture_options[] = {
	OPTION_THEN(set_defaults),
	OPTION_TEXT(NEEDED, CAPTURE, port),
	OPTION_PATH(NEEDED, CAPTURE, path),
	OPTION_WORD_AS("format", NEEDED, CAPTURE, pcapng, capture_formats, "format of captures"),
	OPTION_UINT32(NEEDED, CAPTURE, frames, 1, CONFIG_CAPTURE_FRAMES_MAX),
	OPTION_TEXT(MAY_LACK, CAPTURE, filter),
	OPTION_UINT32(MAY_LACK, CAPTURE, octets, CONFIG_CAPTURE_OCTETS_MIN,
		      CONFIG_CAPTURE_OCTETS_MAX),
	OPTION_BOOL(MAY_LACK, CAPTURE, overwrite),
	OPTION_BOOL(MAY_LACK, CAPTURE, bad),
	OPTION_END,
};

void
config_free_captures(struct program_config *config)
{
	for (uint32_t i = 0; i < config->n_captures; i++)
		free(config->captures[i].path);
	free(config->captures);
	config->captures = NULL;
	config->n_captures = 0;
}
