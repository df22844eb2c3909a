/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * STREAM: a template or a trace, and when its frames are due. Keys, types and ranges of values.
 *
 * Called by config_decode.c for each stream; main thread, cold path.
 * What relates values to each other is in config_check_stream.c.
 * Source: docs/design/0002-engine-interface.md, "STREAM".
 */
#include <stdlib.h>

#include "config/config_decode.h"

static void
decode_lengths(const struct cursor *at, struct stream_config *stream)
{
	struct cursor array;
	uint32_t n = cursor_get_array(at, "lengths", 0, CONFIG_PERIOD_MAX, &array);

	stream->lengths = cursor_new_array(&array, n, sizeof(*stream->lengths));
	stream->n_lengths = at->d->rc == 0 ? n : 0;
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++)
		cursor_element_uint32(&array, i, CONFIG_TEMPLATE_OCTETS_MIN,
				      stream->frame_len_no_fcs, &stream->lengths[i]);
}

static void
decode_length_field(const struct cursor *at, struct length_config *field)
{
	static const char *const keys[] = {"offset", "octets", "less", NULL};

	cursor_closed_object(at, keys);
	cursor_get_uint32(at, "offset", 0, CONFIG_TEMPLATE_OCTETS_MAX - 1, &field->offset);
	cursor_get_uint32(at, "octets", 1, 4, &field->octets);
	if (field->octets == 3)
		cursor_refuse(at, "octets", "it is 3; it must be 1, 2 or 4");
	cursor_get_uint32(at, "less", 0, CONFIG_TEMPLATE_OCTETS_MAX, &field->less);
}

static void
decode_length_fields(const struct cursor *at, struct stream_config *stream)
{
	struct cursor array;
	uint32_t n = cursor_get_array(at, "length_fields", 0, CONFIG_LENGTH_FIELDS_MAX, &array);

	stream->length_fields = cursor_new_array(&array, n, sizeof(*stream->length_fields));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);

		decode_length_field(&element, &stream->length_fields[i]);
		stream->n_length_fields++;
	}
}

static void
decode_fields(const struct cursor *at, struct stream_config *stream)
{
	struct cursor array;
	uint32_t n = cursor_get_array(at, "fields", 0, CONFIG_FIELDS_MAX, &array);

	stream->fields = cursor_new_array(&array, n, sizeof(*stream->fields));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);

		config_decode_field(&element, &stream->fields[i]);
		stream->n_fields++;
	}
}

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
decode_ranges(const struct cursor *at, struct checksum_config *checksum)
{
	struct cursor array;
	uint32_t n = cursor_get_array(at, "ranges", 1, CONFIG_RANGES_MAX, &array);

	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);

		decode_range(&element, &checksum->ranges[i]);
		checksum->n_ranges++;
	}
}

static void
decode_checksum(const struct cursor *at, struct checksum_config *checksum)
{
	static const char *const keys[] = {
		"offset", "ranges", "add", "add_length_less", "udp", NULL,
	};

	cursor_closed_object(at, keys);
	cursor_get_uint32(at, "offset", 0, CONFIG_TEMPLATE_OCTETS_MAX - 1, &checksum->offset);
	decode_ranges(at, checksum);
	cursor_get_uint32(at, "add", 0, UINT16_MAX, &checksum->add);
	checksum->add_length_less = ADD_NO_LENGTH;
	if (cursor_has_value(at, "add_length_less"))
		cursor_get_uint32(at, "add_length_less", 0, CONFIG_TEMPLATE_OCTETS_MAX,
				  &checksum->add_length_less);
	cursor_get_bool(at, "udp", &checksum->udp);
}

static void
decode_checksums(const struct cursor *at, struct stream_config *stream)
{
	struct cursor array;
	uint32_t n = cursor_get_array(at, "checksums", 0, CONFIG_CHECKSUMS_MAX, &array);

	stream->checksums = cursor_new_array(&array, n, sizeof(*stream->checksums));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);

		decode_checksum(&element, &stream->checksums[i]);
		stream->n_checksums++;
	}
}

static void
decode_template(const struct cursor *at, struct stream_config *stream)
{
	cursor_get_hex(at, "template", CONFIG_TEMPLATE_OCTETS_MIN, CONFIG_TEMPLATE_OCTETS_MAX,
		       &stream->template, &stream->frame_len_no_fcs);
	if (cursor_has(at, "lengths"))
		decode_lengths(at, stream);
	if (cursor_has(at, "length_fields"))
		decode_length_fields(at, stream);
	decode_fields(at, stream);
	decode_checksums(at, stream);
}

static void
decode_overwrites(const struct cursor *at, struct trace_config *trace)
{
	static const char *const keys[] = {"offset", "octets", NULL};
	struct cursor array;
	uint32_t n = cursor_get_array(at, "overwrite", 0, CONFIG_OVERWRITES_MAX, &array);

	trace->overwrites = cursor_new_array(&array, n, sizeof(*trace->overwrites));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);
		struct overwrite_config *overwrite = &trace->overwrites[i];

		trace->n_overwrites++;
		cursor_closed_object(&element, keys);
		cursor_get_uint32(&element, "offset", 0, CONFIG_TEMPLATE_OCTETS_MAX - 1,
				  &overwrite->offset);
		cursor_get_hex(&element, "octets", 1,
			       CONFIG_TEMPLATE_OCTETS_MAX - overwrite->offset, &overwrite->octets,
			       &overwrite->n_octets);
	}
}

static void
decode_trace(const struct cursor *at, struct trace_config *trace)
{
	static const char *const keys[] = {"path", "overwrite", "speed", NULL};

	cursor_closed_object(at, keys);
	cursor_get_file_path(at, "path", CONFIG_PATH_SIZE, &trace->path);
	decode_overwrites(at, trace);
	cursor_get_double_or_null(at, "speed", CONFIG_SPEED_MIN, CONFIG_SPEED_MAX,
				  &trace->has_speed, &trace->speed);
}

/* What the frames are made of: the keys of the other one are refused. */
static void
decode_frames(const struct cursor *at, struct stream_config *stream)
{
	static const char *const trace_keys[] = {
		"name",        "trace", "fps",          "frames", "delay_ns",
		"duration_ns", "burst", "whole_bursts", NULL,
	};

	if (!cursor_has(at, "trace") && !cursor_has(at, "template"))
		cursor_refuse(at, "template",
			      "it is missing; give the stream a template or a trace");
	else if (!cursor_has(at, "trace"))
		decode_template(at, stream);
	else if (cursor_has(at, "template"))
		cursor_refuse(at, "trace",
			      "a stream has a template or a trace; leave one of them out");
	else {
		const struct cursor trace = cursor_child(at, "trace");

		cursor_closed_object(at, trace_keys);
		decode_trace(&trace, &stream->trace);
	}
}

static void
decode_burst(const struct cursor *at, struct stream_config *stream)
{
	static const char *const keys[] = {"frames", "gap_ns", NULL};

	cursor_closed_object(at, keys);
	cursor_get_uint64(at, "frames", 1, CONFIG_BURST_FRAMES_MAX, &stream->burst_frames);
	cursor_get_double(at, "gap_ns", 0, (double)CONFIG_DURATION_NS_MAX, &stream->burst_gap_ns);
	stream->has_burst = true;
}

static void
decode_ramp(const struct cursor *at, struct stream_config *stream)
{
	static const char *const keys[] = {"flows", "per_second", "start", "hold_ns", "down", NULL};
	struct ramp_config *ramp = &stream->ramp;
	bool held = false;

	cursor_closed_object(at, keys);
	cursor_get_uint64(at, "flows", 1, CONFIG_FLOWS_MAX, &ramp->flows);
	cursor_get_double(at, "per_second", CONFIG_FPS_MIN, CONFIG_FPS_MAX, &ramp->per_second);
	ramp->start = 1;
	if (cursor_has(at, "start"))
		cursor_get_uint64(at, "start", 1, ramp->flows, &ramp->start);
	if (cursor_has(at, "hold_ns"))
		cursor_get_uint64_or_null(at, "hold_ns", 0, CONFIG_DURATION_NS_MAX, &held,
					  &ramp->hold_ns);
	if (cursor_has(at, "down"))
		cursor_get_bool(at, "down", &ramp->down);
	if (ramp->down && !held)
		cursor_refuse(at, "down",
			      "it is not said when the flows become fewer; give hold_ns as well");
	if (stream->n_lengths > 1)
		cursor_refuse(at, NULL,
			      "the frames have %u lengths; flows of a ramp have one length only",
			      stream->n_lengths);
}

static void
decode_receivers(const struct cursor *at, struct stream_config *stream)
{
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

static void
decode_schedule(const struct cursor *at, struct stream_config *stream)
{
	cursor_get_double_or_null(at, "fps", CONFIG_FPS_MIN, CONFIG_FPS_MAX, &stream->has_fps,
				  &stream->fps);
	cursor_get_uint64_or_null(at, "frames", 1, INT64_MAX, &stream->has_frames, &stream->frames);
	if (cursor_has(at, "delay_ns"))
		cursor_get_uint64(at, "delay_ns", 0, CONFIG_DURATION_NS_MAX, &stream->delay_ns);
	if (cursor_has(at, "duration_ns"))
		cursor_get_uint64_or_null(at, "duration_ns", 1, CONFIG_DURATION_NS_MAX,
					  &stream->has_duration, &stream->duration_ns);
	if (cursor_has(at, "whole_bursts"))
		cursor_get_bool(at, "whole_bursts", &stream->whole_bursts);
	if (cursor_has_value(at, "stamp")) {
		cursor_get_uint32(at, "stamp", 0, CONFIG_STAMPS_MAX - 1, &stream->stamp);
		stream->has_stamp = true;
	}
	if (cursor_has(at, "receivers"))
		decode_receivers(at, stream);
	if (cursor_has_value(at, "burst")) {
		const struct cursor burst = cursor_child(at, "burst");

		decode_burst(&burst, stream);
	}
	if (cursor_has_value(at, "ramp")) {
		const struct cursor ramp = cursor_child(at, "ramp");

		decode_ramp(&ramp, stream);
	}
}

void
config_decode_stream(const struct cursor *at, struct stream_config *stream)
{
	static const char *const keys[] = {
		"name",  "template",     "lengths", "length_fields", "fields",      "checksums",
		"trace", "fps",          "frames",  "delay_ns",      "duration_ns", "burst",
		"stamp", "whole_bursts", "ramp",    "receivers",     NULL,
	};

	cursor_closed_object(at, keys);
	cursor_get_text(at, "name", stream->name, sizeof(stream->name));
	decode_frames(at, stream);
	decode_schedule(at, stream);
}

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
