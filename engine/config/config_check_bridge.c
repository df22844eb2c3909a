/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who puts into which ring, and who takes from it? Called by config_check.c; main thread, cold path. There are few rings,
 * so all are looked through.
 */
#include <stdio.h>
#include <string.h>

#include "config/config_check.h"

enum { PATH_SIZE = sizeof(((struct error *)NULL)->path) };

/* Where the task is that takes from a ring, and how many ways of tasks give. */
struct ring_use {
	bool taken;
	uint32_t worker;
	uint32_t index;
	uint32_t givers;
};

static int
check_names(const struct program_config *config, struct error *err)
{
	char path[PATH_SIZE];

	for (uint32_t i = 0; i < config->n_rings; i++)
		for (uint32_t j = 0; j < i; j++)
			if (strcmp(config->rings[i].name, config->rings[j].name) == 0) {
				snprintf(path, sizeof(path), "rings[%u].name", i);
				return error_set(err, ERROR_PARAMS, path,
						 "\"%s\" is already the name of rings[%u]; names "
						 "must differ",
						 config->rings[i].name, j);
			}
	return 0;
}

static int
find_ring(const struct program_config *config, const char *name, const char *path, uint32_t *index,
	  struct error *err)
{
	for (uint32_t i = 0; i < config->n_rings; i++) {
		if (strcmp(config->rings[i].name, name) == 0) {
			*index = i;
			return 0;
		}
	}
	return error_set(err, ERROR_PARAMS, path, "there is no ring \"%s\"; add it to rings", name);
}

static int
note_taker(const struct program_config *config, struct ring_use *uses, uint32_t w, uint32_t t,
	   struct error *err)
{
	struct bridge_config *bridge = config->workers[w].tasks[t].bridge;
	char path[PATH_SIZE];
	struct ring_use *use;
	int rc;

	if (bridge->from_ring[0] == '\0')
		return 0;
	snprintf(path, sizeof(path), "workers[%u].tasks[%u].from.ring", w, t);
	rc = find_ring(config, bridge->from_ring, path, &bridge->from_ring_index, err);
	if (rc < 0)
		return rc;
	use = &uses[bridge->from_ring_index];
	if (use->taken)
		return error_set(err, ERROR_PARAMS, path,
				 "workers[%u].tasks[%u] takes from ring \"%s\" already; only one "
				 "task may",
				 use->worker, use->index, bridge->from_ring);
	*use = (struct ring_use){true, w, t, use->givers};
	return 0;
}

static int
note_givers(const struct program_config *config, struct ring_use *uses, uint32_t w, uint32_t t,
	    struct error *err)
{
	struct bridge_config *bridge = config->workers[w].tasks[t].bridge;
	char path[PATH_SIZE];

	for (uint32_t i = 0; i < BRIDGE_WAYS; i++) {
		struct bridge_way_config *way = &bridge->ways[i];
		int rc;

		if (way->ring[0] == '\0')
			continue;
		snprintf(path, sizeof(path), "workers[%u].tasks[%u].%s.to.ring", w, t,
			 bridge_way_name(i));
		if (strcmp(way->ring, bridge->from_ring) == 0)
			return error_set(err, ERROR_PARAMS, path,
					 "frames of ring \"%s\" would go back into it; name "
					 "another one",
					 way->ring);
		rc = find_ring(config, way->ring, path, &way->ring_index, err);
		if (rc < 0)
			return rc;
		uses[way->ring_index].givers++;
	}
	return 0;
}

int
config_check_rings(const struct program_config *config, struct error *err)
{
	struct ring_use uses[CONFIG_RINGS_MAX] = {0};
	char path[PATH_SIZE];
	int rc = check_names(config, err);

	for (uint32_t w = 0; w < config->n_workers && rc == 0; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks && rc == 0; t++) {
			if (config->workers[w].tasks[t].kind != TASK_BRIDGE)
				continue;
			rc = note_taker(config, uses, w, t, err);
			if (rc == 0)
				rc = note_givers(config, uses, w, t, err);
		}
	}
	for (uint32_t i = 0; i < config->n_rings && rc == 0; i++) {
		if (uses[i].taken && uses[i].givers > 0)
			continue;
		snprintf(path, sizeof(path), "rings[%u].name", i);
		rc = error_set(err, ERROR_PARAMS, path,
			       "no bridge task %s ring \"%s\"; add one or leave it out",
			       uses[i].taken ? "puts frames into" : "takes frames from",
			       config->rings[i].name);
	}
	return rc;
}
