/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary of a capture file as JSON; see trace_scan_json.h. */
#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "trace/trace_reader.h"
#include "trace/trace_scan_json.h"

/* Numbers fit into JSON's 63 bits: times by trace_reader.h, the others are sums over a file. */
static json_t *
summary_json(const struct trace_summary *sum)
{
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {{"frames", sum->frames},       {"octets", sum->octets},
		       {"shortest", sum->shortest},   {"longest", sum->longest},
		       {"truncated", sum->truncated}, {"short", sum->short_frames},
		       {"backwards", sum->backwards}, {"first_ns", sum->first_ns},
		       {"last_ns", sum->last_ns},     {"memory_octets", sum->memory_octets}};
	json_t *json = json_pack("{s:s}", "format", sum->pcapng ? "pcapng" : "pcap");

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_object_set_new(json, numbers[i].key,
				    json_integer((json_int_t)numbers[i].value));
	return json;
}

int
trace_scan_print(const char *path, FILE *out, struct error *err)
{
	struct trace_summary sum;
	json_t *json;
	int code = trace_scan(path, &sum, err);

	if (code != 0)
		return code;
	json = summary_json(&sum);
	if (json == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory left for the summary");
	if (json_dumpf(json, out, JSON_COMPACT) != 0 || fputc('\n', out) == EOF || fflush(out) != 0)
		code = error_set(err, -EIO, NULL, "the summary cannot be written: %s",
				 strerror(errno));
	json_decref(json);
	return code;
}
