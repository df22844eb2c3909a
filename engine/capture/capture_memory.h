/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for captured frames: there, not only promised, before the first one comes. Cold, any thread. */
#ifndef WR_CAPTURE_CAPTURE_MEMORY_H
#define WR_CAPTURE_CAPTURE_MEMORY_H

#include <stdint.h>

#include "base/error.h"

/* Zeroed, aligned to a page, `octets` at least 1. -ENOMEM says how much is wanted and how much there is. */
int capture_memory_map(void **out, uint64_t octets, struct error *err);

/* NULL is allowed. */
void capture_memory_unmap(void *memory, uint64_t octets);

/*
 * Octets that may still be used without swapping or being killed: the kernel's estimate for the machine, and what the
 * process's control groups (version 2) leave of their limits. UINT64_MAX where neither can be read.
 */
uint64_t capture_memory_available(void);

#endif
