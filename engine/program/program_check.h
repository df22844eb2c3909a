/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of a program configuration against the open ports and the lcores of this engine. Control thread. */
#ifndef WR_PROGRAM_PROGRAM_CHECK_H
#define WR_PROGRAM_PROGRAM_CHECK_H

#include "config/config.h"
#include "device/port.h"

int program_check(const struct program_config *config, const struct port *ports,
		  uint32_t port_count, struct error *err);

#endif
