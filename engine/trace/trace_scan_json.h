/* SPDX-License-Identifier: BSD-3-Clause */
/* `wirerate-engine --scan-trace FILE`: docs/design/0002-engine-interface.md. Cold, no EAL. */
#ifndef WR_TRACE_TRACE_SCAN_JSON_H
#define WR_TRACE_TRACE_SCAN_JSON_H

#include <stdio.h>

#include "base/error.h"

/* Scan the file and print what it holds to out, one line of JSON. After an error nothing is printed. */
int trace_scan_print(const char *path, FILE *out, struct error *err);

#endif
