/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of what a caller makes of an engine that dies: with --die-at the engine ends itself by a signal when it reaches a
 * stage. A stage is a method's name ("program.load"; with " done" when its reply is ready), or one of the end: "close",
 * "port closed" (each), "ports closed", "closed", "cleaned up". Main thread.
 */
#ifndef WR_BASE_STAGE_H
#define WR_BASE_STAGE_H

/* "STAGE" (SIGKILL) or "STAGE,SIGNAL-NUMBER"; kept by the caller. */
void stage_die_at(const char *text);

/* The engine has reached stage `name`, followed by `more`. */
void stage_reached(const char *name, const char *more);

#endif
