/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources: proc(5) for MemAvailable, the kernel's admin-guide/cgroup-v2.rst for memory.max and memory.current. */
#include "capture/capture_memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RESERVE_OCTETS (64ull << 20) /* left for everybody else */

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
machine_available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kib = 0, found = UINT64_MAX;
	char line[128];

	if (file == NULL)
		return UINT64_MAX;
	while (found == UINT64_MAX && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
			found = kib * 1024;
	}
	fclose(file);
	return found;
}

/* A number in a control group's file; UINT64_MAX for "max" and where there is none. */
static uint64_t
group_number(const char *group, const char *name)
{
	char path[PATH_MAX];
	uint64_t number = UINT64_MAX;
	FILE *file;

	if (snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", group, name) >= (int)sizeof(path))
		return UINT64_MAX;
	file = fopen(path, "re");
	if (file == NULL)
		return UINT64_MAX;
	if (fscanf(file, "%" SCNu64, &number) != 1)
		number = UINT64_MAX;
	fclose(file);
	return number;
}

/* The process's control group, "" for the root. */
static void
read_group(char *group, size_t size)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];

	group[0] = '\0';
	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::/", 4) == 0)
			snprintf(group, size, "%s", line + 3);
	}
	fclose(file);
}

static uint64_t
groups_available(void)
{
	uint64_t available = UINT64_MAX;
	char group[PATH_MAX];
	char *end;

	read_group(group, sizeof(group));
	do { /* from the process's own group up to the root */
		uint64_t most = group_number(group, "memory.max");
		uint64_t current = group_number(group, "memory.current");

		if (most != UINT64_MAX && current != UINT64_MAX)
			available = least(available, most > current ? most - current : 0);
		end = strrchr(group, '/');
		if (end != NULL)
			*end = '\0';
	} while (end != NULL);
	return available;
}

uint64_t
capture_memory_available(void)
{
	return least(machine_available(), groups_available());
}

static int
refuse(uint64_t octets, uint64_t available, struct error *err)
{
	return error_set(err, -ENOMEM, NULL,
			 "the captured frames need %" PRIu64 " MiB of memory, and %" PRIu64
			 " MiB are available; capture fewer frames, or fewer octets of each",
			 (octets >> 20) + 1, available >> 20);
}

int
capture_memory_map(void **out, uint64_t octets, struct error *err)
{
	uint64_t available = capture_memory_available(), page = (uint64_t)sysconf(_SC_PAGESIZE);
	volatile uint8_t *touched;
	void *memory;

	*out = NULL;
	if (available < RESERVE_OCTETS || octets > available - RESERVE_OCTETS)
		return refuse(octets, available, err);
	memory = mmap(NULL, octets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return refuse(octets, available, err);
	madvise(memory, octets, MADV_HUGEPAGE); /* where the kernel can: fewer page-table walks */
	touched = memory;
	for (uint64_t at = 0; at < octets; at += page)
		touched[at] = 0;
	*out = memory;
	return 0;
}

void
capture_memory_unmap(void *memory, uint64_t octets)
{
	if (memory != NULL)
		munmap(memory, octets);
}
