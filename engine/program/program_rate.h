/* SPDX-License-Identifier: BSD-3-Clause */
/* The rates of a program's streams while frames move: what traffic.rate changes. Control thread only, cold. */
#ifndef WR_PROGRAM_PROGRAM_RATE_H
#define WR_PROGRAM_PROGRAM_RATE_H

#include <stdint.h>

#include "base/error.h"
#include "config/config.h"
#include "worker/worker.h"

struct program_rates;

/* Those of all streams, as they are loaded, for a clock of `hz`. -ENOMEM. */
int program_rates_create(struct program_rates **out, const struct program_config *config,
			 uint64_t hz, struct error *err);

/* What the tasks of stream number `index` look at; NULL where its rate cannot be changed. Lives as long as rates. */
const struct tx_rate *program_rate_of(const struct program_rates *rates, uint32_t index);

/* From the clock from_tsc on, which is ahead, all tasks of the stream count by fps. Fails as program_set_rate() does. */
int program_rates_set(struct program_rates *rates, struct traffic *traffic, const char *name,
		      double fps, uint64_t from_tsc, struct error *err);

void program_rates_free(struct program_rates *rates);

#endif
