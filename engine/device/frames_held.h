/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many frames a device may still read after it took them: those may not be written to. Pure.
 *
 * Nothing asks a driver for that number, so it is a bound: the ring that the driver can have made of the descriptors
 * asked for, whatever it reports, and no ring below the smallest that drivers use. mlx5 (mlx5_tx_queue_pre_setup) and
 * bnxt (bnxt_init_tx_ring_struct) round up to a power of two, bnxt without reporting it; memif's rings and KNI's queues
 * do not depend on the descriptors at all (rsize of memif's arguments; KNI_FIFO_COUNT_MAX, 1024).
 */
#ifndef WR_DEVICE_FRAMES_HELD_H
#define WR_DEVICE_FRAMES_HELD_H

#include <stdint.h>

/*
 * For one Tx queue of a port at `location` with `descriptors`, the larger of those asked for and those that the driver
 * reports. 0: the driver copies frames before it returns. The frames held are the last ones that were handed over.
 */
uint32_t frames_held_max(const char *driver, const char *location, uint32_t descriptors);

#endif
