/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/measure_build.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

uint32_t
measure_flows(const struct program_config *config)
{
	uint32_t count = 0;

	for (uint32_t s = 0; s < config->n_streams; s++)
		count += config->streams[s].has_stamp ? config->streams[s].parts : 0;
	return count;
}

int
measure_plan(struct segment *segment, const struct program_config *config,
	     const struct segment_labels *task, struct error *err)
{
	struct segment_labels labels = *task;

	for (uint32_t s = 0; s < config->n_streams; s++) {
		if (!config->streams[s].has_stamp)
			continue;
		labels.stream = config->streams[s].name;
		for (uint32_t part = 0; part < config->streams[s].parts; part++) {
			if (segment_plan(segment, COUNTERS_FLOW, &labels, err) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

int
measure_index(uint16_t **out, const struct program_config *config, struct error *err)
{
	uint16_t *index = malloc((UINT16_MAX + 1) * sizeof(index[0])), next = 0;

	if (index == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for the program's stamps");
	for (uint32_t i = 0; i <= UINT16_MAX; i++)
		index[i] = MEASURE_UNKNOWN;
	for (uint32_t s = 0; s < config->n_streams; s++) {
		const struct stream_config *stream = &config->streams[s];

		for (uint32_t part = 0; stream->has_stamp && part < stream->parts; part++)
			index[stream->stamp + part] = next++;
	}
	*out = index;
	return 0;
}

int
measure_create(struct measure **out, const struct program_config *config,
	       const struct segment *segment, int first, const uint16_t *index, int socket,
	       struct error *err)
{
	uint32_t flows = measure_flows(config);
	struct measure *measure =
		rte_zmalloc_socket("measure", sizeof(*measure), COUNTERS_ALIGN, socket);

	if (measure != NULL)
		measure->flows =
			rte_zmalloc_socket("flows", RTE_MAX(flows, 1u) * sizeof(measure->flows[0]),
					   COUNTERS_ALIGN, socket);
	if (measure == NULL || measure->flows == NULL) {
		measure_free(measure);
		return error_set(err, -ENOMEM, NULL, "no memory to measure %u flows", flows);
	}
	measure->magic = config->stamp_magic;
	measure->index_of = index;
	for (uint32_t f = 0; f < flows; f++)
		measure->flows[f].counters = segment_block(segment, first + (int)f);
	*out = measure;
	return 0;
}

void
measure_free(struct measure *measure)
{
	if (measure == NULL)
		return;
	rte_free(measure->flows);
	rte_free(measure);
}
