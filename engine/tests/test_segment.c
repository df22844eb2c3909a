/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared segment as a reader sees it: the header and the description of the file, nothing else.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0002-engine-interface.md, "Counters".
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "tests/test_support.h"

#include "counters/counters.h"
#include "counters/segment.h"

enum { BLOCKS = 40 };

/* A reader's view of the file. */
struct view {
	const uint8_t *base;
	size_t octets;
	json_t *description;
};

struct fixture {
	char dir[64];
	char path[96];
	struct segment *segment;
	enum counters_kind kinds[BLOCKS];
};

static const size_t block_octets[COUNTERS_KINDS] = {
	[COUNTERS_ENGINE] = sizeof(struct engine_counters),
	[COUNTERS_PORT] = sizeof(struct port_counters),
	[COUNTERS_WORKER] = sizeof(struct worker_counters),
	[COUNTERS_TX] = sizeof(struct tx_counters),
	[COUNTERS_RX] = sizeof(struct rx_counters),
	[COUNTERS_FLOW] = sizeof(struct flow_counters),
	[COUNTERS_FORWARD] = sizeof(struct forward_counters),
	[COUNTERS_CAPTURE] = sizeof(struct capture_counters),
	[COUNTERS_REPLY] = sizeof(struct reply_counters),
	[COUNTERS_BRIDGE] = sizeof(struct bridge_counters),
};
static const char *const kind_names[COUNTERS_KINDS] = {
	"engine", "port", "worker", "tx", "rx", "flow", "forward", "capture", "reply", "bridge",
};

static int
set_up(void **state)
{
	const struct segment_labels labels = {"p0", 3, 5, "s0", "p1", NULL},
				    none = {NULL, -1, -1, NULL, NULL, NULL};
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/wirerate-test-XXXXXX");
	if (mkdtemp(f->dir) == NULL)
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/counters-1", f->dir);
	if (segment_create(&f->segment, f->path, 2500000000, NULL) != 0)
		return -1;
	for (int i = 0; i < BLOCKS; i++) {
		f->kinds[i] = (enum counters_kind)(i % COUNTERS_KINDS);
		if (segment_plan(f->segment, f->kinds[i], i % 2 == 0 ? &labels : &none, NULL) != i)
			return -1;
	}
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	segment_close(f->segment);
	unlink(f->path);
	rmdir(f->dir);
	free(f);
	return 0;
}

static uint64_t
word_at(const struct view *view, uint64_t offset)
{
	uint64_t word;

	assert_true(offset % 8 == 0 && offset + 8 <= view->octets);
	memcpy(&word, view->base + offset, sizeof(word));
	return word;
}

static struct view
open_view(const char *path)
{
	struct view view;
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t offset, octets;
	json_error_t error;

	assert_return_code(fd, errno);
	assert_return_code(fstat(fd, &status), errno);
	view.octets = (size_t)status.st_size;
	view.base = mmap(NULL, view.octets, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(view.base, MAP_FAILED);
	close(fd);
	assert_memory_equal(view.base, "WRCNTRS1", 8);
	assert_int_equal(word_at(&view, 8), view.octets);
	offset = word_at(&view, 16);
	octets = word_at(&view, 24);
	assert_true(offset >= 32 && octets > 0 && offset + octets <= view.octets);
	view.description = json_loadb((const char *)view.base + offset, octets,
				      JSON_REJECT_DUPLICATES, &error);
	if (view.description == NULL)
		fail_msg("%s", error.text);
	return view;
}

static void
close_view(struct view *view)
{
	munmap((void *)(uintptr_t)view->base, view->octets);
	json_decref(view->description);
}

static uint64_t
number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		fail_msg("%s is no integer", key);
	return (uint64_t)json_integer_value(value);
}

static const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	if (value == NULL)
		fail_msg("%s is no string", key);
	return value;
}

/* Mark octets [offset, offset + octets) as taken; fails when one is taken already. */
static void
claim(uint8_t *taken, size_t size, uint64_t offset, uint64_t octets)
{
	assert_true(offset + octets <= size);
	for (uint64_t i = offset; i < offset + octets; i++)
		assert_int_equal(taken[i]++, 0);
}

static void
check_words(const json_t *block, uint8_t *taken, size_t size, uint64_t block_end)
{
	const json_t *words = json_object_get(block, "words"), *word;
	size_t i;

	assert_true(json_array_size(words) > 0);
	json_array_foreach(words, i, word) {
		uint64_t at = number(block, "offset") + 8 * number(word, "word");
		const json_t *histogram = json_object_get(word, "histogram");

		claim(taken, size, at, 8 * number(word, "words"));
		assert_true(at + 8 * number(word, "words") <= block_end);
		assert_true(strlen(text(word, "name")) > 0 && strlen(text(word, "meaning")) > 0);
		assert_non_null(text(word, "unit"));
		assert_int_equal(histogram != NULL, number(word, "words") > 1);
		if (histogram != NULL)
			assert_int_equal(number(histogram, "sub_bits"),
					 strcmp(text(word, "name"), "latency_cycles") == 0
						 ? LATENCY_SUB_BITS
						 : HISTOGRAM_SUB_BITS);
	}
}

static void
words_lie_inside_their_blocks_and_apart(void **state)
{
	struct fixture *f = *state;
	const json_t *blocks, *block;
	struct view view;
	uint8_t *taken;
	size_t i;

	assert_int_equal(segment_map(f->segment, NULL), 0);
	view = open_view(f->path);
	blocks = json_object_get(view.description, "blocks");
	taken = calloc(1, view.octets);
	assert_non_null(taken);
	claim(taken, view.octets, 0, 32);
	claim(taken, view.octets, word_at(&view, 16), word_at(&view, 24));
	assert_int_equal(number(view.description, "version"), 1);
	assert_int_equal(number(view.description, "tsc_hz"), 2500000000);
	assert_int_equal(json_array_size(blocks), BLOCKS);
	json_array_foreach(blocks, i, block) {
		uint64_t offset = number(block, "offset");

		assert_int_equal(offset % 128, 0);
		assert_string_equal(text(block, "kind"), kind_names[f->kinds[i]]);
		check_words(block, taken, view.octets, offset + block_octets[f->kinds[i]]);
	}
	free(taken);
	close_view(&view);
}

static void
labels_are_those_given(void **state)
{
	struct fixture *f = *state;
	const json_t *block;
	struct view view;
	size_t i;

	assert_int_equal(segment_map(f->segment, NULL), 0);
	view = open_view(f->path);
	json_array_foreach(json_object_get(view.description, "blocks"), i, block) {
		const json_t *labels = json_object_get(block, "labels");

		assert_true(json_is_object(labels));
		assert_int_equal(json_object_size(labels), i % 2 == 0 ? 5 : 0);
		if (i % 2 != 0)
			continue;
		assert_string_equal(text(labels, "port"), "p0");
		assert_string_equal(text(labels, "stream"), "s0");
		assert_string_equal(text(labels, "to_port"), "p1");
		assert_int_equal(number(labels, "queue"), 3);
		assert_int_equal(number(labels, "lcore"), 5);
	}
	close_view(&view);
}

/* The word of that name as the reader finds it. */
static uint64_t
described(const struct view *view, size_t block, const char *name, uint64_t index)
{
	const json_t *object = json_array_get(json_object_get(view->description, "blocks"), block),
		     *word;
	size_t i;

	json_array_foreach(json_object_get(object, "words"), i, word) {
		if (strcmp(text(word, "name"), name) != 0)
			continue;
		assert_true(index < number(word, "words"));
		return word_at(view, number(object, "offset") + 8 * (number(word, "word") + index));
	}
	fail_msg("block %zu has no word %s", block, name);
	return 0;
}

static void
written_values_are_read_where_described(void **state)
{
	struct fixture *f = *state;
	struct tx_counters *tx;
	struct rx_counters *rx;
	struct view view;

	assert_int_equal(segment_map(f->segment, NULL), 0);
	view = open_view(f->path); /* mapped before the values are written */
	tx = segment_block(f->segment, COUNTERS_TX);
	rx = segment_block(f->segment, COUNTERS_RX + COUNTERS_KINDS);
	assert_int_equal((uintptr_t)tx % 128, 0);
	assert_int_equal(described(&view, COUNTERS_TX, "frames", 0), 0);
	counter_add(&tx->frames, 12);
	counter_set(&tx->state, TASK_DONE);
	histogram_add(tx->lateness_cycles, 1000);
	counter_set(&rx->last_tsc, UINT64_MAX);
	counter_set(&((struct engine_counters *)segment_block(f->segment, 0))->stop_tsc, 77);
	assert_int_equal(described(&view, COUNTERS_TX, "frames", 0), 12);
	assert_int_equal(described(&view, COUNTERS_TX, "state", 0), TASK_DONE);
	assert_int_equal(described(&view, COUNTERS_TX, "lateness_cycles", histogram_bucket(1000)),
			 1);
	assert_int_equal(described(&view, COUNTERS_TX, "burst_cycles", histogram_bucket(1000)), 0);
	assert_int_equal(described(&view, COUNTERS_RX + COUNTERS_KINDS, "last_tsc", 0), UINT64_MAX);
	assert_int_equal(described(&view, COUNTERS_RX, "last_tsc", 0),
			 0); /* another block of the kind */
	assert_int_equal(described(&view, 0, "stop_tsc", 0), 77);
	close_view(&view);
}

static void
all_blocks_start_with_zeros(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(segment_map(f->segment, NULL), 0);
	for (int i = 0; i < BLOCKS; i++) {
		const uint8_t *block = segment_block(f->segment, i);

		for (size_t o = 0; o < block_octets[f->kinds[i]]; o++)
			assert_int_equal(block[o], 0);
	}
}

/* A page that is not there yet is a SIGBUS in a worker where the file system is full by then. */
static void
all_pages_are_reserved(void **state)
{
	const struct fixture *f = *state;
	struct stat stat_buffer;

	assert_int_equal(segment_map(f->segment, NULL), 0);
	assert_int_equal(stat(f->path, &stat_buffer), 0);
	assert_true((uint64_t)stat_buffer.st_blocks * 512 >= (uint64_t)stat_buffer.st_size);
}

/* No room: one error, and no file is left. */
static void
a_full_file_system(void **state)
{
	const struct segment_labels none = {NULL, -1, -1, NULL, NULL, NULL};
	struct rlimit before, small;
	struct segment *segment = NULL;
	struct error err = {0};
	char path[128];
	const struct fixture *f = *state;

	snprintf(path, sizeof(path), "%s/full", f->dir);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){4096, before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(segment_create(&segment, path, 1000, &err), 0);
	assert_true(segment_plan(segment, COUNTERS_FLOW, &none, &err) >= 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_true(segment_map(segment, &err) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_non_null(strstr(err.text, "measure fewer flows"));
	segment_close(segment);
	assert_int_equal(access(path, F_OK), -1);
}

static void
file_is_private_and_removed(void **state)
{
	struct fixture *f = *state;
	struct stat status;
	mode_t mask = umask(0);
	struct view view;
	int code = segment_map(f->segment, NULL);

	umask(mask);
	assert_int_equal(code, 0);
	assert_return_code(stat(f->path, &status), errno);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(status.st_size, segment_octets(f->segment));
	assert_string_equal(segment_path(f->segment), f->path);
	view = open_view(f->path);
	counter_set(&((struct engine_counters *)segment_block(f->segment, 0))->start_tsc, 9);
	segment_close(f->segment);
	f->segment = NULL;
	assert_int_equal(stat(f->path, &status), -1);
	assert_int_equal(described(&view, 0, "start_tsc", 0),
			 9); /* readers keep the final values */
	close_view(&view);
	segment_close(NULL);
}

static void
an_existing_file_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	char octets[4] = "";
	int fd = open(f->path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, "mine", 4), 4);
	assert_int_equal(segment_map(f->segment, &err), -EEXIST);
	assert_int_equal(err.code, -EEXIST);
	assert_non_null(strstr(err.text, f->path));
	segment_close(f->segment);
	f->segment = NULL;
	assert_int_equal(access(f->path, F_OK), 0);
	assert_int_equal(pread(fd, octets, 4, 0), 4);
	assert_memory_equal(octets, "mine", 4);
	close(fd);
}

static void
no_directory(void **state)
{
	struct segment *segment;
	struct error err = {0};

	(void)state;
	assert_int_equal(segment_create(&segment, "/nowhere/counters-1", 1, &err), 0);
	assert_int_equal(segment_map(segment, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/counters-1"));
	segment_close(segment);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(words_lie_inside_their_blocks_and_apart),
		TEST(labels_are_those_given),
		TEST(written_values_are_read_where_described),
		TEST(all_blocks_start_with_zeros),
		TEST(all_pages_are_reserved),
		TEST(a_full_file_system),
		TEST(file_is_private_and_removed),
		TEST(an_existing_file_is_left_alone),
		cmocka_unit_test(no_directory),
	};

	return cmocka_run_group_tests_name("segment", tests, NULL, NULL);
}
