/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this process may do, and how it gives that up. Capabilities are of each thread (capabilities(7)), and most threads
 * of an engine are EAL's and its drivers'.
 *
 * Called by main.c and by control/; main thread only. Pure: the kernel's own calls, no library. libcap knows the calling
 * thread only, its libpsx wraps pthread_create(), which a shared DPDK does not pass.
 */
#ifndef WR_BASE_PRIVILEGES_H
#define WR_BASE_PRIVILEGES_H

#include <stdint.h>

#include "base/error.h"

/* The bit of CAP_… of <linux/capability.h>. */
#define PRIVILEGE(capability) (UINT64_C(1) << (capability))
#define PRIVILEGES_ALL UINT64_MAX

/* No program that this thread or one made by it starts, ever gets a privilege that it lacks: before EAL makes threads. */
void privileges_no_new(void);

/*
 * Let every thread of this process have no capability that is not in `keep`, for good: by SIGUSR2, which is this module's
 * from the first call on. Threads that are made later have what their makers have. Nothing happens where no thread has
 * more. -ETIMEDOUT, err names a thread, when one has not taken the signal within 10 s; the others have given theirs up.
 */
int privileges_keep(uint64_t keep, struct error *err);

#endif
