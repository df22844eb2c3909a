/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * STREAM: a template or a trace, and when its frames are due. Keys, types and ranges of values.
 *
 * Called through config_decode.c for each stream; main thread, cold path.
 * What relates values to each other is in config_check_stream.c.
 * Source: docs/design/0002-engine-interface.md, "STREAM".
 */
#include <stdlib.h>

#include "config/config_check.h"
#include "config/config_decode.h"

#define STREAM struct stream_config

static void
decode_template(const struct cursor *at, void *out)
{
	struct stream_config *stream = out;

	cursor_get_hex(at, "template", CONFIG_TEMPLATE_OCTETS_MIN, CONFIG_TEMPLATE_OCTETS_MAX,
		       &stream->template, &stream->frame_len_no_fcs);
}

static void
decode_lengths(const struct cursor *at, void *out)
{
	struct stream_config *stream = out;
	struct cursor array;
	uint32_t n = cursor_get_array(at, "lengths", 0, CONFIG_PERIOD_MAX, &array);

	stream->lengths = cursor_new_array(&array, n, sizeof(*stream->lengths));
	stream->n_lengths = at->d->rc == 0 ? n : 0;
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++)
		cursor_element_uint32(&array, i, CONFIG_TEMPLATE_OCTETS_MIN,
				      stream->frame_len_no_fcs, &stream->lengths[i]);
}

static void
refuse_three(const struct cursor *at, void *out)
{
	if (((struct length_config *)out)->octets == 3)
		cursor_refuse(at, "octets", "it is 3; it must be 1, 2 or 4");
}

static const struct option length_field_options[] = {
	OPTION_UINT32(NEEDED, struct length_config, offset, 0, CONFIG_TEMPLATE_OCTETS_MAX - 1),
	OPTION_UINT32(NEEDED, struct length_config, octets, 1, 4),
	OPTION_THEN(refuse_three),
	OPTION_UINT32(NEEDED, struct length_config, less, 0, CONFIG_TEMPLATE_OCTETS_MAX),
	OPTION_END,
};

/* One [offset, octets], octets null for all that follows. */
static void
decode_range(const struct cursor *at, struct octet_range *range)
{
	if (!json_is_array(at->json) || json_array_size(at->json) != 2) {
		cursor_refuse(at, NULL,
			      "it must be an array of two integers, [offset, octets], or [offset, "
			      "null]");
		return;
	}
	cursor_element_uint32(at, 0, 0, CONFIG_TEMPLATE_OCTETS_MAX - 1, &range->offset);
	if (json_is_null(json_array_get(at->json, 1)))
		range->octets = RANGE_TO_END;
	else
		cursor_element_uint32(at, 1, 1, CONFIG_TEMPLATE_OCTETS_MAX, &range->octets);
}

static void
decode_ranges(const struct cursor *at, void *out)
{
	struct checksum_config *checksum = out;
	struct cursor array;
	uint32_t n = cursor_get_array(at, "ranges", 1, CONFIG_RANGES_MAX, &array);

	checksum->add_length_less = ADD_NO_LENGTH; /* unless a later row says otherwise */
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);

		decode_range(&element, &checksum->ranges[i]);
		checksum->n_ranges++;
	}
}

static const struct option checksum_options[] = {
	OPTION_UINT32(NEEDED, struct checksum_config, offset, 0, CONFIG_TEMPLATE_OCTETS_MAX - 1),
	OPTION_BY("ranges", NEEDED, decode_ranges),
	OPTION_UINT32(NEEDED, struct checksum_config, add, 0, UINT16_MAX),
	OPTION_UINT32(MAY_LACK_OR_NULL, struct checksum_config, add_length_less, 0,
		      CONFIG_TEMPLATE_OCTETS_MAX),
	OPTION_BOOL(NEEDED, struct checksum_config, udp),
	OPTION_END,
};

static void
decode_octets(const struct cursor *at, void *out)
{
	struct overwrite_config *overwrite = out;

	cursor_get_hex(at, "octets", 1, CONFIG_TEMPLATE_OCTETS_MAX - overwrite->offset,
		       &overwrite->octets, &overwrite->n_octets);
}

static const struct option overwrite_options[] = {
	OPTION_UINT32(NEEDED, struct overwrite_config, offset, 0, CONFIG_TEMPLATE_OCTETS_MAX - 1),
	OPTION_BY("octets", NEEDED, decode_octets),
	OPTION_END,
};

static const struct option trace_options[] = {
	OPTION_PATH(NEEDED, struct trace_config, path),
	OPTION_OBJECTS_AS("overwrite", NEEDED, struct trace_config, overwrites, 0,
			  CONFIG_OVERWRITES_MAX, overwrite_options),
	OPTION_DOUBLE(OR_NULL, struct trace_config, speed, CONFIG_SPEED_MIN, CONFIG_SPEED_MAX,
		      OPTION_IF(struct trace_config, has_speed)),
	OPTION_END,
};

static const struct option burst_options[] = {
	OPTION_UINT64_AS("frames", NEEDED, STREAM, burst_frames, 1, CONFIG_BURST_FRAMES_MAX),
	OPTION_DOUBLE_AS("gap_ns", NEEDED, STREAM, burst_gap_ns, 0, (double)CONFIG_DURATION_NS_MAX),
	OPTION_END,
};

static void
decode_burst(const struct cursor *at, void *out)
{
	const struct cursor burst = cursor_child(at, "burst");

	((struct stream_config *)out)->has_burst = true;
	options_decode(&burst, burst_options, out);
}

static void
decode_start(const struct cursor *at, void *out)
{
	struct ramp_config *ramp = out;

	ramp->start = 1;
	if (cursor_has(at, "start"))
		cursor_get_uint64(at, "start", 1, ramp->flows, &ramp->start);
}

static void
check_hold(const struct cursor *at, void *out)
{
	if (((struct ramp_config *)out)->down && !cursor_has_value(at, "hold_ns"))
		cursor_refuse(at, "down",
			      "it is not said when the flows become fewer; give hold_ns as well");
}

static const struct option ramp_options[] = {
	OPTION_UINT64(NEEDED, struct ramp_config, flows, 1, CONFIG_FLOWS_MAX),
	OPTION_DOUBLE(NEEDED, struct ramp_config, per_second, CONFIG_FPS_MIN, CONFIG_FPS_MAX),
	OPTION_KEY("start"),
	OPTION_THEN(decode_start),
	OPTION_UINT64(MAY_LACK_OR_NULL, struct ramp_config, hold_ns, 0, CONFIG_DURATION_NS_MAX),
	OPTION_BOOL(MAY_LACK, struct ramp_config, down),
	OPTION_THEN(check_hold),
	OPTION_END,
};

static void
check_ramp(const struct cursor *at, void *out)
{
	const struct stream_config *stream = out;

	if (stream->ramp.flows > 0 && stream->n_lengths > 1)
		cursor_refuse(at, "ramp",
			      "the frames have %u lengths; flows of a ramp have one length only",
			      stream->n_lengths);
}

static void
decode_receivers(const struct cursor *at, void *out)
{
	struct stream_config *stream = out;
	struct cursor array;
	uint32_t n = cursor_get_array(at, "receivers", 1, CONFIG_PORTS_MAX, &array);

	if (!stream->has_stamp)
		cursor_refuse(at, "receivers",
			      "only a stamped stream has receivers; give it a stamp as well");
	stream->receivers = cursor_new_array(&array, n, sizeof(*stream->receivers));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		cursor_element_text(&array, i, stream->receivers[i], sizeof(stream->receivers[i]));
		stream->n_receivers++;
	}
}

/* Frames of a template. */
static const struct option template_options[] = {
	OPTION_BY("template", NEEDED, decode_template),
	OPTION_BY("lengths", MAY_LACK, decode_lengths),
	OPTION_OBJECTS(MAY_LACK, STREAM, length_fields, 0, CONFIG_LENGTH_FIELDS_MAX,
		       length_field_options),
	OPTION_OBJECTS(NEEDED, STREAM, fields, 0, CONFIG_FIELDS_MAX, field_options),
	OPTION_OBJECTS(NEEDED, STREAM, checksums, 0, CONFIG_CHECKSUMS_MAX, checksum_options),
	OPTION_END,
};

static const struct option schedule_options[] = {
	OPTION_DOUBLE(OR_NULL, STREAM, fps, CONFIG_FPS_MIN, CONFIG_FPS_MAX,
		      OPTION_IF(STREAM, has_fps)),
	OPTION_UINT64(OR_NULL, STREAM, frames, 1, INT64_MAX, OPTION_IF(STREAM, has_frames)),
	OPTION_UINT64(MAY_LACK, STREAM, delay_ns, 0, CONFIG_DURATION_NS_MAX),
	OPTION_UINT64(MAY_LACK_OR_NULL, STREAM, duration_ns, 1, CONFIG_DURATION_NS_MAX,
		      OPTION_IF(STREAM, has_duration)),
	OPTION_BY("burst", MAY_LACK_OR_NULL, decode_burst),
	OPTION_BOOL(MAY_LACK, STREAM, whole_bursts),
	OPTION_END,
};

/* Flows of a template are told apart, and their number may change. */
static const struct option flow_options[] = {
	OPTION_UINT32(MAY_LACK_OR_NULL, STREAM, stamp, 0, CONFIG_STAMPS_MAX - 1,
		      OPTION_IF(STREAM, has_stamp)),
	OPTION_BY("receivers", MAY_LACK, decode_receivers),
	OPTION_OBJECT(MAY_LACK_OR_NULL, STREAM, ramp, ramp_options),
	OPTION_THEN(check_ramp),
	OPTION_END,
};

static void
check_stream(const struct cursor *at, void *out)
{
	at->d->rc = config_check_stream(out, (uint32_t)at->index, at->d->err);
}

/* What the frames are made of: the keys of the other one are refused. */
static void
decode_stream(const struct cursor *at, void *out)
{
	static const struct option of_trace[] = {
		OPTION_TEXT(NEEDED, STREAM, name),
		OPTION_OBJECT(NEEDED, STREAM, trace, trace_options),
		OPTION_ROWS(schedule_options),
		OPTION_THEN(check_stream),
		OPTION_END,
	};
	static const struct option of_template[] = {
		OPTION_TEXT(NEEDED, STREAM, name),
		OPTION_ROWS(template_options),
		OPTION_KEY("trace"), /* which there might be instead */
		OPTION_ROWS(schedule_options),
		OPTION_ROWS(flow_options),
		OPTION_THEN(check_stream),
		OPTION_END,
	};

	if (cursor_has(at, "trace") && cursor_has(at, "template"))
		cursor_refuse(at, "trace",
			      "a stream has a template or a trace; leave one of them out");
	else if (cursor_has(at, "trace"))
		options_decode(at, of_trace, out);
	else if (cursor_has(at, "template"))
		options_decode(at, of_template, out);
	else
		cursor_refuse(at, "template",
			      "it is missing; give the stream a template or a trace");
}

const struct option stream_options[] = {OPTION_CHOICE(decode_stream), OPTION_END};

void
config_free_stream(struct stream_config *stream)
{
	for (uint32_t i = 0; i < stream->n_fields; i++)
		free(stream->fields[i].values);
	for (uint32_t i = 0; i < stream->trace.n_overwrites; i++)
		free(stream->trace.overwrites[i].octets);
	free(stream->trace.path);
	free(stream->trace.overwrites);
	free(stream->receivers);
	free(stream->template);
	free(stream->lengths);
	free(stream->length_fields);
	free(stream->fields);
	free(stream->checksums);
}
