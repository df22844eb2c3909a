/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for counting distinct 5-tuples. Cold, control thread. */
#ifndef WR_PROGRAM_FLOW_TABLE_BUILD_H
#define WR_PROGRAM_FLOW_TABLE_BUILD_H

#include <stdint.h>

#include "base/error.h"
#include "flowtable/flow_table.h"

/* An empty table for `tuples_max` of them, at least 1, on NUMA node `socket`: 64 to 96 octets for each. -ENOMEM. */
int flow_table_create(struct flow_table **out, uint32_t tuples_max, int socket, struct error *err);
void flow_table_free(struct flow_table *table);

#endif
