/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening a capture file; see trace_stream.h.
 *
 * Everything is read through zlib, which hands plain files on as they are (and unread into our buffer, so that it costs
 * nothing), and through a FILE with functions of our own, since a FILE is all that libpcap takes.
 * Magic numbers: RFC 1952 (gzip, looked at by zlib), RFC 8878 (zstd), the .xz, bzip2 and LZ4 frame formats.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace_stream.h"

#define GZ_BUFFER_OCTETS 32768 /* at most half of what is asked for at once, or zlib copies */

/* zlib says "<fd:3>: why": without what only it calls the file. */
static const char *
gzip_error(gzFile gz, int *code)
{
	const char *text = gzerror(gz, code), *why = strstr(text, ">: ");

	return why != NULL ? why + 3 : text;
}

/*
 * A pcap header's snaplen, octets 16 to 19, reads as 0, "no limit": where a record is longer than it, libpcap cuts the
 * frame and says nothing.
 */
static void
lift_snaplen(const struct trace_stream *stream, z_off_t at, char *octets, size_t n)
{
	if (stream->pcapng)
		return;
	for (z_off_t i = 16; i < 20; i++)
		if (i >= at && i < at + (z_off_t)n)
			octets[i - at] = 0;
}

static ssize_t
read_unpacked(void *cookie, char *octets, size_t n)
{
	struct trace_stream *stream = cookie;
	z_off_t at = gztell(stream->gz);
	int got = gzread(stream->gz, octets, (unsigned int)n);
	int code = Z_OK;
	const char *why;

	if (got > 0) {
		lift_snaplen(stream, at, octets, (size_t)got);
		return got;
	}
	why = gzip_error(stream->gz, &code);
	if (code == Z_OK) /* a gzip file that is cut off: Z_BUF_ERROR */
		return 0;
	snprintf(stream->trouble, sizeof(stream->trouble), "%s%s",
		 code == Z_ERRNO ? "" : "gzip: ", why);
	errno = EIO;
	return -1;
}

static int
close_unpacked(void *cookie)
{
	struct trace_stream *stream = cookie;

	return gzclose(stream->gz) == Z_OK ? 0 : EOF;
}

static const char *
kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO (which can be read only once)";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

static int
refuse_irregular(const struct stat *is, const char *name, struct error *err)
{
	if (S_ISREG(is->st_mode))
		return 0;
	return error_set(err, S_ISDIR(is->st_mode) ? -EISDIR : -EINVAL, NULL,
			 "%s: %s, not a capture file; name a pcap or pcapng file", name,
			 kind_of(is->st_mode));
}

static const char *
packed_with(const uint8_t magic[4])
{
	static const struct {
		const char *name;
		uint8_t magic[4];
		uint8_t n;
	} known[] = {{"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4},
		     {"lz4", {0x04, 0x22, 0x4d, 0x18}, 4},
		     {"xz", {0xfd, '7', 'z', 'X'}, 4},
		     {"bzip2", {'B', 'Z', 'h'}, 3},
		     {"zip", {'P', 'K', 3, 4}, 4}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (memcmp(magic, known[i].magic, known[i].n) == 0)
			return known[i].name;
	return NULL;
}

/* Look at the beginning, then go back to it. */
static int
look(struct trace_stream *stream, struct error *err)
{
	static const uint8_t pcapng_magic[4] = {0x0a, 0x0d, 0x0d, 0x0a};
	uint8_t magic[4] = {0};
	ssize_t got = read_unpacked(stream, (char *)magic, sizeof(magic));

	if (got < 0)
		return error_set(err, -EINVAL, NULL, "%s: cannot be read: %s; copy the file again",
				 stream->name, stream->trouble);
	if (got == 0)
		return error_set(err, -EINVAL, NULL, "%s: is empty; capture it again",
				 stream->name);
	if (packed_with(magic) != NULL)
		return error_set(err, -EINVAL, NULL,
				 "%s: is packed with %s; unpack it first (gzip need not be)",
				 stream->name, packed_with(magic));
	stream->pcapng = memcmp(magic, pcapng_magic, sizeof(magic)) == 0;
	if (gzrewind(stream->gz) != 0)
		return error_set(err, -EIO, NULL, "%s: cannot be read twice: %s", stream->name,
				 strerror(errno));
	return 0;
}

static int
no_memory(const struct trace_stream *stream, struct error *err)
{
	return error_set(err, -ENOMEM, NULL, "%s: no memory left to read it", stream->name);
}

/* Takes over fd. */
static int
open_fd(struct trace_stream *stream, int fd, struct error *err)
{
	static const cookie_io_functions_t functions = {.read = read_unpacked,
							.close = close_unpacked};
	int code;

	stream->gz = gzdopen(fd, "r");
	if (stream->gz == NULL) {
		close(fd);
		return no_memory(stream, err);
	}
	gzbuffer(stream->gz, GZ_BUFFER_OCTETS);
	code = look(stream, err);
	if (code == 0) {
		stream->file = fopencookie(stream, "r", functions);
		if (stream->file == NULL)
			code = no_memory(stream, err);
	}
	if (code != 0)
		gzclose(stream->gz);
	else
		setvbuf(stream->file, stream->buffer, _IOFBF, sizeof(stream->buffer));
	return code;
}

static int
cannot_open(const struct trace_stream *stream, struct error *err)
{
	int code = -errno;

	return error_set(err, code, NULL, "%s: cannot be opened: %s; name a file you may read",
			 stream->name, strerror(-code));
}

int
trace_stream_open(struct trace_stream *stream, const char *path, struct error *err)
{
	struct stat is;
	int fd, code;

	memset(stream, 0, offsetof(struct trace_stream, buffer));
	trace_path_show(stream->name, path);
	/* Before open(), which fails for a socket and may do something to a device; again after it, for the same file. */
	if (stat(path, &is) != 0)
		return cannot_open(stream, err);
	code = refuse_irregular(&is, stream->name, err);
	if (code != 0)
		return code;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return cannot_open(stream, err);
	code = fstat(fd, &is) == 0 ? refuse_irregular(&is, stream->name, err)
				   : cannot_open(stream, err);
	if (code != 0) {
		close(fd);
		return code;
	}
	return open_fd(stream, fd, err);
}

int
trace_stream_open_memory(struct trace_stream *stream, const void *octets, size_t n,
			 const char *name, struct error *err)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	memset(stream, 0, offsetof(struct trace_stream, buffer));
	trace_path_show(stream->name, name);
	if (fd < 0)
		return no_memory(stream, err);
	if (pwrite(fd, octets, n, 0) != (ssize_t)n) {
		close(fd);
		return no_memory(stream, err);
	}
	return open_fd(stream, fd, err);
}
