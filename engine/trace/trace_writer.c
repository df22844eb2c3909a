/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing frames; see trace_writer.h.
 *
 * All numbers are in host order, which both formats allow: their magics tell.
 * Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "trace/trace_path.h"
#include "trace/trace_writer.h"

#define SNAPLEN 262144u /* what tcpdump and Wireshark take for "everything" */
#define LINKTYPE_ETHERNET 1u
#define PCAP_MAGIC_NS 0xa1b23c4du

#define PCAPNG_SECTION 0x0a0d0d0au
#define PCAPNG_BYTE_ORDER 0x1a2b3c4du
#define PCAPNG_INTERFACE 1u
#define PCAPNG_ENHANCED_PACKET 6u
#define PCAPNG_IF_NAME 2u
#define PCAPNG_IF_TSRESOL 9u
#define PCAPNG_NAME_OCTETS_MAX 1024u
#define PCAPNG_COMMENT 1u
#define PCAPNG_COMMENT_OCTETS_MAX 1024u
#define NANOSECONDS_EXPONENT 9u

#define PART_TRIES 1000

struct pcap_file_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t reserved[2];
	uint32_t snaplen;
	uint32_t link_type;
};
_Static_assert(sizeof(struct pcap_file_header) == 24, "pcap: file header");

struct pcap_frame_header {
	uint32_t seconds, nanoseconds;
	uint32_t captured, length;
};
_Static_assert(sizeof(struct pcap_frame_header) == 16, "pcap: frame header");

struct pcapng_section {
	uint32_t type, octets;
	uint32_t byte_order;
	uint16_t major, minor;
	uint32_t length[2]; /* -1: not told */
	uint32_t octets_again;
};
_Static_assert(sizeof(struct pcapng_section) == 28, "pcapng: section header block");

struct pcapng_interface {
	uint32_t type, octets;
	uint16_t link_type, reserved;
	uint32_t snaplen;
};
_Static_assert(sizeof(struct pcapng_interface) == 16, "pcapng: interface block");

struct pcapng_frame {
	uint32_t type, octets;
	uint32_t interface;
	uint32_t time_high, time_low;
	uint32_t captured, length;
};
_Static_assert(sizeof(struct pcapng_frame) == 28, "pcapng: enhanced packet block");

struct trace_writer {
	FILE *file;
	char *path, *part;
	bool pcapng;
	uint32_t interfaces;
	struct error failure; /* the first */
	char name[TRACE_NAME_OCTETS];
};

static void
put(struct trace_writer *writer, const void *octets, size_t n)
{
	if (writer->failure.code == 0 && n > 0 && fwrite(octets, n, 1, writer->file) != 1)
		error_set(&writer->failure, -errno, NULL,
			  "%s: cannot be written: %s; is there room left?", writer->name,
			  strerror(errno));
}

static void
put_u32(struct trace_writer *writer, uint32_t value)
{
	put(writer, &value, sizeof(value));
}

/* Octets that n lacks to a multiple of four. */
static uint32_t
padding_of(uint32_t n)
{
	return -n & 3;
}

static void
put_padded(struct trace_writer *writer, const void *octets, uint32_t n)
{
	static const uint8_t zeros[3];

	put(writer, octets, n);
	put(writer, zeros, padding_of(n));
}

static void
put_option(struct trace_writer *writer, uint16_t code, const void *octets, uint16_t n)
{
	put(writer, &code, sizeof(code));
	put(writer, &n, sizeof(n));
	put_padded(writer, octets, n);
}

static void
put_pcap_header(struct trace_writer *writer)
{
	const struct pcap_file_header header = {.magic = PCAP_MAGIC_NS,
						.major = 2,
						.minor = 4,
						.snaplen = SNAPLEN,
						.link_type = LINKTYPE_ETHERNET};

	put(writer, &header, sizeof(header));
}

static void
put_section(struct trace_writer *writer)
{
	const struct pcapng_section section = {.type = PCAPNG_SECTION,
					       .octets = sizeof(section),
					       .byte_order = PCAPNG_BYTE_ORDER,
					       .major = 1,
					       .length = {UINT32_MAX, UINT32_MAX},
					       .octets_again = sizeof(section)};

	put(writer, &section, sizeof(section));
}

static void
put_interface(struct trace_writer *writer, const char *name)
{
	uint16_t n = (uint16_t)strnlen(name, PCAPNG_NAME_OCTETS_MAX);
	const uint8_t resolution = NANOSECONDS_EXPONENT;
	const struct pcapng_interface interface = {
		.type = PCAPNG_INTERFACE,
		/* Options: name, resolution and the end's four octets; then the length again. */
		.octets = sizeof(interface) + 4u + n + padding_of(n) + 8u + 4u + 4u,
		.link_type = LINKTYPE_ETHERNET,
		.snaplen = SNAPLEN};

	put(writer, &interface, sizeof(interface));
	put_option(writer, PCAPNG_IF_NAME, name, n);
	put_option(writer, PCAPNG_IF_TSRESOL, &resolution, sizeof(resolution));
	put_u32(writer, 0);
	put_u32(writer, interface.octets);
}

/* A new file beside the target, with the permissions that the target would get. */
static int
create_part(struct trace_writer *writer)
{
	for (int i = 0; i < PART_TRIES; i++) {
		int fd;

		if (asprintf(&writer->part, "%s.%ld-%d.part", writer->path, (long)getpid(), i) <
		    0) {
			writer->part = NULL;
			errno = ENOMEM;
			return -1;
		}
		fd = open(writer->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		free(writer->part);
		writer->part = NULL;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

static void
free_writer(struct trace_writer *writer)
{
	if (writer->file != NULL)
		fclose(writer->file);
	if (writer->part != NULL)
		unlink(writer->part);
	free(writer->part);
	free(writer->path);
	free(writer);
}

/* A file that the caller has open already, perhaps one without a name: it is written in its place. */
static bool
is_open_file(const char *path)
{
	static const char place[] = "/proc/self/fd/";

	return strncmp(path, place, sizeof(place) - 1) == 0;
}

static int
open_part(struct trace_writer *writer, struct error *err)
{
	struct stat is;
	int fd;

	/* rename() would put a file in the place of a device, /dev/null say, and fail late for a directory. */
	if (stat(writer->path, &is) == 0 && !S_ISREG(is.st_mode))
		return error_set(err, S_ISDIR(is.st_mode) ? -EISDIR : -EINVAL, NULL,
				 "%s: %s, which a capture cannot replace; name a file",
				 writer->name,
				 S_ISDIR(is.st_mode) ? "a directory" : "a device or FIFO");
	fd = is_open_file(writer->path) ? open(writer->path, O_WRONLY | O_TRUNC | O_CLOEXEC)
					: create_part(writer);
	writer->file = fd < 0 ? NULL : fdopen(fd, "wb");
	if (writer->file == NULL) {
		int code = -errno;

		if (fd >= 0)
			close(fd);
		return error_set(err, code, NULL,
				 "%s: cannot be written: %s; name a folder you may write to",
				 writer->name, strerror(-code));
	}
	return 0;
}

static struct trace_writer *
make_writer(const char *path)
{
	struct trace_writer *writer = calloc(1, sizeof(*writer));

	if (writer == NULL)
		return NULL;
	trace_path_show(writer->name, path);
	writer->path = strdup(path);
	if (writer->path == NULL) {
		free(writer);
		return NULL;
	}
	return writer;
}

int
trace_writer_open(struct trace_writer **out, const char *path, bool pcapng,
		  const char *const *names, uint32_t n, struct error *err)
{
	struct trace_writer *writer = make_writer(path);
	int code;

	*out = NULL;
	if (writer == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory left to write a capture file");
	code = open_part(writer, err);
	if (code != 0) {
		free_writer(writer);
		return code;
	}
	writer->pcapng = pcapng;
	writer->interfaces = n;
	if (pcapng) {
		put_section(writer);
		for (uint32_t i = 0; i < n; i++)
			put_interface(writer, names[i]);
	} else {
		put_pcap_header(writer);
	}
	*out = writer;
	return 0;
}

static void
put_pcap_frame(struct trace_writer *writer, const struct trace_written *frame)
{
	const struct pcap_frame_header header = {
		.seconds = (uint32_t)(frame->time_ns / NS_PER_SECOND),
		.nanoseconds = (uint32_t)(frame->time_ns % NS_PER_SECOND),
		.captured = frame->stored,
		.length = frame->length};

	if (frame->time_ns / NS_PER_SECOND > UINT32_MAX) {
		error_set(&writer->failure, -EOVERFLOW, NULL,
			  "%s: %" PRIu64 " ns is later than pcap can tell (the year 2106); "
			  "write pcapng",
			  writer->name, frame->time_ns);
		return;
	}
	put(writer, &header, sizeof(header));
	put(writer, frame->octets, frame->stored);
}

static void
put_pcapng_frame(struct trace_writer *writer, const struct trace_written *frame)
{
	uint32_t n = frame->stored, comment = 0;
	struct pcapng_frame block = {.type = PCAPNG_ENHANCED_PACKET,
				     .octets = sizeof(block) + n + padding_of(n) + 4u,
				     .interface = frame->interface,
				     .time_high = (uint32_t)(frame->time_ns >> 32),
				     .time_low = (uint32_t)frame->time_ns,
				     .captured = n,
				     .length = frame->length};

	if (frame->comment != NULL) {
		comment = (uint32_t)strnlen(frame->comment, PCAPNG_COMMENT_OCTETS_MAX);
		block.octets += 4u + comment + padding_of(comment) + 4u;
	}
	put(writer, &block, sizeof(block));
	put_padded(writer, frame->octets, n);
	if (frame->comment != NULL) {
		put_option(writer, PCAPNG_COMMENT, frame->comment, (uint16_t)comment);
		put_u32(writer, 0);
	}
	put_u32(writer, block.octets);
}

void
trace_writer_put(struct trace_writer *writer, const struct trace_written *frame)
{
	if (writer->failure.code != 0)
		return;
	if (frame->interface >= writer->interfaces || frame->stored > SNAPLEN)
		error_set(&writer->failure, -EINVAL, NULL,
			  "%s: a frame of %" PRIu32 " octets of interface %" PRIu32
			  " cannot be written: at most %u octets, %" PRIu32 " interfaces",
			  writer->name, frame->stored, frame->interface, SNAPLEN,
			  writer->interfaces);
	else if (writer->pcapng)
		put_pcapng_frame(writer, frame);
	else
		put_pcap_frame(writer, frame);
}

void
trace_writer_add(struct trace_writer *writer, uint32_t index, uint64_t time_ns,
		 const uint8_t *octets, uint32_t n)
{
	const struct trace_written frame = {
		.time_ns = time_ns, .octets = octets, .stored = n, .length = n, .interface = index};

	trace_writer_put(writer, &frame);
}

void
trace_writer_discard(struct trace_writer *writer)
{
	if (writer != NULL)
		free_writer(writer);
}

/* Rename the complete file; the part is no more then. */
static void
finish(struct trace_writer *writer)
{
	int failed = fclose(writer->file);

	writer->file = NULL;
	if (writer->failure.code != 0)
		return;
	if (failed == 0 && writer->part == NULL)
		return;
	if (failed == 0 && rename(writer->part, writer->path) == 0) {
		free(writer->part);
		writer->part = NULL;
		return;
	}
	error_set(&writer->failure, -errno, NULL, "%s: cannot be written: %s; is there room left?",
		  writer->name, strerror(errno));
}

int
trace_writer_close(struct trace_writer *writer, struct error *err)
{
	int code;

	finish(writer);
	code = writer->failure.code;
	if (code != 0 && err != NULL)
		*err = writer->failure;
	free_writer(writer);
	return code;
}
