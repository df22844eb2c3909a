/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/privileges.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#define ROUND_US 1000
#define ROUNDS_MAX 10000 /* 10 s: a thread that has no CPU yet takes its signal once it has */

static uint64_t kept; /* written before a signal is sent */

void
privileges_no_new(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* every Linux since 3.5 has it */
}

/* This thread's. In a signal handler: system calls only, and errno stays. */
static void
reduce_own(int signal_number)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	int before = errno;

	(void)signal_number;
	if (syscall(SYS_capget, &header, data) == 0) {
		for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
			uint32_t keep = (uint32_t)(kept >> 32 * i);

			data[i].effective &= keep;
			data[i].permitted &= keep;
			data[i].inheritable &= keep;
		}
		syscall(SYS_capset, &header, data);
	}
	errno = before;
}

/* What a thread may have, 0 when it is gone; its name, at most 15 octets (proc(5), comm). */
static uint64_t
permitted(const char *task, char name[static 16])
{
	char path[64], line[256];
	uint64_t mask = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", task);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "Name: %15s", name) == 1)
			continue;
		if (sscanf(line, "CapPrm: %" SCNx64, &mask) == 1)
			break;
	}
	if (file != NULL)
		fclose(file);
	return mask;
}

/* Ask every thread that has more than it is to have; the number of those, and the name of one. */
static unsigned int
ask_threads(char name[static 16])
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	unsigned int asked = 0;

	while (tasks != NULL && (task = readdir(tasks)) != NULL) {
		char whose[16] = "";

		if (task->d_name[0] == '.' || (permitted(task->d_name, whose) & ~kept) == 0)
			continue;
		memcpy(name, whose, sizeof(whose));
		syscall(SYS_tgkill, getpid(), atoi(task->d_name), SIGUSR2);
		asked++;
	}
	if (tasks != NULL)
		closedir(tasks);
	return asked;
}

int
privileges_keep(uint64_t keep, struct error *err)
{
	/* It stays installed: a thread may find a second signal of ours after it has obeyed the first. */
	const struct sigaction action = {.sa_handler = reduce_own, .sa_flags = SA_RESTART};
	char name[16] = "";

	kept = keep;
	if (sigaction(SIGUSR2, &action, NULL) != 0)
		return error_set(err, -errno, NULL, "capabilities: %s", strerror(errno));
	for (unsigned int round = 0; round < ROUNDS_MAX; round++) {
		if (ask_threads(name) == 0)
			return 0;
		usleep(ROUND_US);
	}
	return error_set(err, -ETIMEDOUT, NULL,
			 "thread %s has not given up its capabilities within 10 s", name);
}
