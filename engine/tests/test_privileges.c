/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities are given up in every thread, and kept where they shall be. Run by `meson test`. Source: base/privileges.h. */
#include "tests/test_support.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/prctl.h>

#include "base/privileges.h"

#define THREADS 4

static sem_t end;

/* They wait, as EAL's threads do, and are not disturbed by the signal. */
static void *
wait_for_end(void *user)
{
	while (sem_wait(&end) != 0)
		continue;
	return user;
}

/* The union of a mask over all threads of this process, and their number. */
static uint64_t
of_all_threads(const char *mask, unsigned int *threads)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	uint64_t all = 0;

	assert_non_null(tasks);
	*threads = 0;
	while ((task = readdir(tasks)) != NULL) {
		char path[300], line[256], format[32];
		uint64_t own;
		FILE *file;

		if (task->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
		snprintf(format, sizeof(format), "%s: %%" SCNx64, mask);
		file = fopen(path, "r");
		assert_non_null(file);
		while (fgets(line, sizeof(line), file) != NULL)
			if (sscanf(line, format, &own) == 1)
				all |= own;
		fclose(file);
		++*threads;
	}
	closedir(tasks);
	return all;
}

static void
in_every_thread(void **state)
{
	static const char *const masks[] = {"CapPrm", "CapEff", "CapInh"};
	const uint64_t keep = PRIVILEGE(CAP_NET_ADMIN) | PRIVILEGE(CAP_CHECKPOINT_RESTORE);
	pthread_t thread[THREADS];
	unsigned int threads;
	uint64_t before;

	(void)state;
	assert_int_equal(sem_init(&end, 0, 0), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, wait_for_end, NULL), 0);
	before = of_all_threads("CapEff", &threads);
	assert_true(threads > THREADS);
	if (before == 0)
		print_message("this user has no capabilities: nothing to give up\n");
	assert_int_equal(privileges_keep(keep, NULL), 0);
	for (size_t i = 0; i < COUNT(masks); i++)
		assert_int_equal(of_all_threads(masks[i], &threads) & ~keep, 0);
	assert_int_equal(of_all_threads("CapEff", &threads), before & keep);
	assert_int_equal(privileges_keep(0, NULL), 0);
	assert_int_equal(of_all_threads("CapPrm", &threads), 0);
	assert_true(threads > THREADS); /* nobody died of a signal */
	for (int i = 0; i < THREADS; i++)
		sem_post(&end);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
}

static void
no_new_ones(void **state)
{
	(void)state;
	privileges_no_new();
	assert_int_equal(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_every_thread),
		cmocka_unit_test(no_new_ones),
	};

	return cmocka_run_group_tests_name("privileges", tests, NULL, NULL);
}
