/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of a program into a file, with the times at which they are due. Cold, control thread. */
#ifndef WR_PROGRAM_PROGRAM_PREVIEW_H
#define WR_PROGRAM_PROGRAM_PREVIEW_H

#include "base/units.h"
#include "program/program.h"

struct preview_counts {
	uint64_t frames;
	uint64_t octets; /* with FCS */
};

/*
 * The clock of a program that is made for a preview, 0.1 ns: times are the same on every machine.
 */
#define PREVIEW_HZ (10 * NS_PER_SECOND)

/*
 * Takes frames from the tasks of a program that is built and does not run, as workers would: same rings, same walks,
 * same schedules. The program is used up by that. Errors are those of the file.
 */
int program_preview(struct program *program, const struct preview_config *config,
		    struct preview_counts *counts, struct error *err);

#endif
