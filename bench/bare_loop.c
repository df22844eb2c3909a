/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bare loop: ready frames handed to a device's driver, and nothing else. What a sender can reach at most.
 *
 * Run by bench/bare.py, alternating with the engine: EAL's arguments on the command line, then commands on standard
 * input, one per line: "FRAMES BURST SECONDS". It sends the FRAMES ready frames in order, over and over, in bursts of
 * BURST on queue 0 of port 0, and answers with frames and TSC cycles. Frames are the engine's (program/frame_pool.h:
 * owned mbufs whose free does nothing). The clock is read every BURSTS_PER_LOOK bursts, nothing is counted in between.
 */
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>

#include "program/frame_pool.h"

#define FRAMES_MAX 4096u
#define BURST_MAX 512u
#define BURSTS_PER_LOOK 4096u
#define DESCRIPTORS 1024u

struct bare {
	struct rte_mbuf **mbufs;
	struct rte_mbuf *frames[FRAMES_MAX + BURST_MAX];
	uint32_t length;
	uint32_t position;
};

static uint64_t
send_some(struct bare *bare, uint16_t burst)
{
	uint32_t position = bare->position;
	uint64_t frames = 0;

	for (unsigned int i = 0; i < BURSTS_PER_LOOK; i++) {
		uint16_t sent = rte_eth_tx_burst(0, 0, &bare->frames[position], burst);

		frames += sent;
		position += sent;
		if (position >= bare->length)
			position -= bare->length;
	}
	bare->position = position;
	return frames;
}

static void
send_for(struct bare *bare, uint32_t length, uint16_t burst, double seconds)
{
	uint64_t start, now, end, frames = 0;

	for (uint32_t i = 0; i < length + burst; i++)
		bare->frames[i] = bare->mbufs[i % length];
	bare->length = length;
	bare->position = 0;
	start = rte_rdtsc();
	end = start + (uint64_t)(seconds * (double)rte_get_tsc_hz());
	do {
		frames += send_some(bare, burst);
		now = rte_rdtsc();
	} while (now < end);
	printf("%lu %lu\n", (unsigned long)frames, (unsigned long)(now - start));
	fflush(stdout);
}

static int
open_port(void)
{
	struct rte_eth_conf conf = {0};

	return rte_eth_dev_configure(0, 0, 1, &conf) == 0 &&
			       rte_eth_tx_queue_setup(0, 0, DESCRIPTORS, rte_socket_id(), NULL) ==
				       0 &&
			       rte_eth_dev_start(0) == 0
		       ? 0
		       : -1;
}

/* Sizes as those of an IMIX, mixed: 7 of 64 octets, 4 of 570, 1 of 1,518, all without FCS. */
static int
make_frames(struct bare *bare)
{
	static const uint16_t sizes[] = {60, 566, 60, 60, 566, 60, 1514, 60, 566, 60, 566, 60};
	static uint16_t octets[FRAMES_MAX];
	struct frame_pool *pool;
	struct error err;

	for (uint32_t i = 0; i < FRAMES_MAX; i++)
		octets[i] = sizes[i % RTE_DIM(sizes)];
	if (frame_pool_create(&pool, "bare", octets, FRAMES_MAX, (int)rte_socket_id(), &err) != 0)
		return -1;
	bare->mbufs = frame_pool_mbufs(pool);
	for (uint32_t i = 0; i < FRAMES_MAX; i++) {
		bare->mbufs[i]->data_len = octets[i];
		bare->mbufs[i]->pkt_len = octets[i];
	}
	return 0;
}

int
main(int argc, char **argv)
{
	static struct bare bare;
	unsigned int length, burst;
	double seconds;

	if (rte_eal_init(argc, argv) < 0 || make_frames(&bare) != 0 || open_port() != 0) {
		fprintf(stderr, "bare loop: EAL, the frames or port 0 cannot be had\n");
		return EXIT_FAILURE;
	}
	while (scanf("%u %u %lf", &length, &burst, &seconds) == 3) {
		if (length == 0 || length > FRAMES_MAX || burst == 0 || burst > BURST_MAX)
			return EXIT_FAILURE;
		send_for(&bare, length, (uint16_t)burst, seconds);
	}
	return EXIT_SUCCESS;
}
