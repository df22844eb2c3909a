/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL for unit tests: one lcore (or EAL_LCORES), 64 MiB of ordinary memory, no device, no file left behind, no
 * privilege. And streams that say in their octets which frame they are.
 *
 * Included by the tests that call DPDK, once each.
 */
#ifndef WR_TESTS_EAL_FIXTURE_H
#define WR_TESTS_EAL_FIXTURE_H

#include <sched.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_eal.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include "tests/test_support.h"

#include "config/config.h"

#ifndef EAL_LCORES
#define EAL_LCORES "0" /* all of them on one CPU */
#endif

enum { NUMBER_OFFSET = 20, OCTETS_MIN = 60 }; /* frame i carries i mod period there, in 4 octets */

static int
eal_up(void **state)
{
	char line[256], *args[16], *rest = line;
	int count = 0;

	(void)state;
	/* CPU 0 may not be ours */
	snprintf(line, sizeof(line),
		 "test --no-huge --no-pci -m 64 --file-prefix=wirerate-test-%d --lcores=" EAL_LCORES
		 "@%d "
		 "--no-telemetry --no-shconf --log-level=error",
		 (int)getpid(), sched_getcpu());
	while (rest != NULL)
		args[count++] = strsep(&rest, " ");
	if (getuid() != 0)
		setenv("XDG_RUNTIME_DIR", "/tmp", 0);
	return rte_eal_init(count, args) < 0 ? -1 : 0;
}

static int
eal_down(void **state)
{
	char dir[256];
	int code;

	(void)state;
	snprintf(dir, sizeof(dir), "%s", rte_eal_get_runtime_dir());
	code = rte_eal_cleanup();
	rmdir(dir); /* EAL leaves it behind, empty */
	return code;
}

/* A stream whose frames repeat after `period`, of `octets` without FCS. Free its template. */
static inline struct stream_config
numbered_stream(struct field_config *field, uint32_t period, uint32_t octets)
{
	*field = (struct field_config){.kind = FIELD_STEPS,
				       .offset = NUMBER_OFFSET,
				       .octets = 4,
				       .bits = 32,
				       .step = 1,
				       .every = 1,
				       .count = period};
	return (struct stream_config){.name = "s0",
				      .template = calloc(1, octets),
				      .frame_len_no_fcs = octets,
				      .fields = field,
				      .n_fields = 1,
				      .period = period};
}

static inline uint32_t
number_of(const struct rte_mbuf *mbuf)
{
	rte_be32_t number;

	memcpy(&number, rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, NUMBER_OFFSET),
	       sizeof(number));
	return rte_be_to_cpu_32(number);
}

#endif
