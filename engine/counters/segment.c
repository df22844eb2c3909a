/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>

#include "counters/counters_words.h"

#define MAGIC "WRCNTRS1"
#define HEADER_OCTETS 128
#define PAGE_OCTETS 4096
/* Mapped of each block: all of its plain words, and of a flow's latencies those up to some 10 us. */
#define RESIDENT_OCTETS 65536u

struct header {
	char magic[8];
	uint64_t octets;
	uint64_t description_offset;
	uint64_t description_octets;
};

struct planned {
	size_t offset;
	size_t octets;
};

struct segment {
	char *path;
	uint64_t tsc_hz;
	json_t *blocks; /* the description's "blocks"; freed by segment_map() */
	struct planned *planned;
	size_t count;
	size_t next_offset;
	uint8_t *base; /* NULL until mapped */
	size_t octets;
};

static int
no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, NULL, "no memory for the counters");
}

int
segment_create(struct segment **out, const char *path, uint64_t tsc_hz, struct error *err)
{
	struct segment *segment = calloc(1, sizeof(*segment));

	if (segment == NULL)
		return no_memory(err);
	segment->path = strdup(path);
	segment->blocks = json_array();
	segment->tsc_hz = tsc_hz;
	segment->next_offset = HEADER_OCTETS;
	if (segment->path == NULL || segment->blocks == NULL) {
		segment_close(segment);
		return no_memory(err);
	}
	*out = segment;
	return 0;
}

static json_t *
describe_labels(const struct segment_labels *labels)
{
	json_t *object = json_object();

	if (labels->port != NULL)
		json_object_set_new(object, "port", json_string(labels->port));
	if (labels->queue >= 0)
		json_object_set_new(object, "queue", json_integer(labels->queue));
	if (labels->lcore >= 0)
		json_object_set_new(object, "lcore", json_integer(labels->lcore));
	if (labels->to_port != NULL)
		json_object_set_new(object, "to_port", json_string(labels->to_port));
	if (labels->from != NULL)
		json_object_set_new(object, "from", json_string(labels->from));
	if (labels->stream != NULL)
		json_object_set_new(object, "stream", json_string(labels->stream));
	return object;
}

static json_t *
describe_words(const struct counters_layout *layout)
{
	json_t *words = json_array();

	for (uint32_t i = 0; i < layout->word_count; i++) {
		const struct counters_word *w = &layout->words[i];
		json_t *word = json_pack("{s:s, s:s, s:i, s:i, s:s}", "name", w->name, "unit",
					 w->unit, "word", (int)w->word, "words", (int)w->words,
					 "meaning", w->meaning);

		if (w->words > 1)
			json_object_set_new(word, "histogram",
					    json_pack("{s:i}", "sub_bits", (int)w->sub_bits));
		json_array_append_new(words, word);
	}
	return words;
}

int
segment_plan(struct segment *segment, enum counters_kind kind, const struct segment_labels *labels,
	     struct error *err)
{
	const struct counters_layout *layout = &counters_layouts[kind];
	struct planned *grown = realloc(segment->planned, (segment->count + 1) * sizeof(*grown));
	json_t *block;

	if (grown == NULL)
		return no_memory(err);
	segment->planned = grown;
	block = json_pack("{s:s, s:o, s:I, s:o}", "kind", layout->kind, "labels",
			  describe_labels(labels), "offset", (json_int_t)segment->next_offset,
			  "words", describe_words(layout));
	if (block == NULL || json_array_append_new(segment->blocks, block) != 0)
		return no_memory(err);
	grown[segment->count].offset = segment->next_offset;
	grown[segment->count].octets = layout->octets;
	segment->next_offset +=
		(layout->octets + COUNTERS_ALIGN - 1) / COUNTERS_ALIGN * COUNTERS_ALIGN;
	return (int)segment->count++;
}

static char *
render_description(struct segment *segment)
{
	json_t *root = json_pack("{s:i, s:I, s:o}", "version", 1, "tsc_hz",
				 (json_int_t)segment->tsc_hz, "blocks", segment->blocks);
	char *text = json_dumps(root, JSON_COMPACT);

	segment->blocks = NULL; /* stolen by root */
	json_decref(root);
	return text;
}

/* Up to where a block's pages are mapped before workers run; all of them are reserved. */
static size_t
resident_end(const struct planned *block)
{
	return block->offset + (block->octets < RESIDENT_OCTETS ? block->octets : RESIDENT_OCTETS);
}

/* Take all pages now, so that a full file system is an error here and no SIGBUS when a latency is the first so long. */
static int
reserve(const struct segment *segment, int fd)
{
	errno = posix_fallocate(fd, 0, (off_t)segment->octets);
	return errno == 0 ? 0 : -1;
}

/* Map the first ones: a page fault takes a microsecond from a worker. */
static void
touch(const struct segment *segment)
{
	for (size_t b = 0; b < segment->count; b++) {
		const struct planned *block = &segment->planned[b];

		for (size_t at = block->offset; at < resident_end(block); at += PAGE_OCTETS)
			__atomic_store_n(segment->base + at, 0, __ATOMIC_RELAXED);
	}
}

static int
map_file(struct segment *segment, struct error *err)
{
	int code, fd = open(segment->path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	void *base;

	if (fd < 0)
		return error_set(err, -errno, NULL, "counters file %s: %s", segment->path,
				 strerror(errno));
	if (ftruncate(fd, (off_t)segment->octets) != 0 || reserve(segment, fd) != 0)
		goto failed;
	base = mmap(NULL, segment->octets, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		goto failed;
	close(fd);
	segment->base = base;
	touch(segment);
	return 0;
failed:
	code = error_set(
		err, -errno, NULL,
		"counters file %s (%zu MiB): %s; measure fewer flows, or give its file system "
		"more room (WIRERATE_RUNTIME_DIR)",
		segment->path, (segment->octets >> 20) + 1, strerror(errno));
	close(fd);
	unlink(segment->path);
	return code;
}

int
segment_map(struct segment *segment, struct error *err)
{
	char *text = render_description(segment);
	size_t text_octets;
	struct header header;
	int code;

	if (text == NULL)
		return no_memory(err);
	text_octets = strlen(text);
	segment->octets = segment->next_offset + text_octets;
	code = map_file(segment, err);
	if (code == 0) {
		memcpy(header.magic, MAGIC, sizeof(header.magic));
		header.octets = segment->octets;
		header.description_offset = segment->next_offset;
		header.description_octets = text_octets;
		memcpy(segment->base + segment->next_offset, text, text_octets);
		memcpy(segment->base, &header, sizeof(header));
	}
	free(text);
	return code;
}

void *
segment_block(const struct segment *segment, int index)
{
	return segment->base + segment->planned[index].offset;
}

const char *
segment_path(const struct segment *segment)
{
	return segment->path;
}

size_t
segment_octets(const struct segment *segment)
{
	return segment->octets;
}

void
segment_close(struct segment *segment)
{
	if (segment == NULL)
		return;
	if (segment->base != NULL) {
		munmap(segment->base, segment->octets);
		unlink(segment->path);
	}
	json_decref(segment->blocks);
	free(segment->planned);
	free(segment->path);
	free(segment);
}
