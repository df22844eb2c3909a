/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading frames; see trace_reader.h.
 *
 * libpcap bounds what a damaged file can make it allocate: a frame of Ethernet by 262,144 octets, a block of pcapng by
 * 16 MiB. Nothing is allocated per frame.
 * Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <pcap/pcap.h>

#include "base/units.h"
#include "trace/trace_reader.h"
#include "trace/trace_stream.h"

/* Later, nanoseconds do not fit into 63 bits: JSON has no more. In the year 2262. */
#define SECONDS_MAX (INT64_MAX / (int64_t)NS_PER_SECOND - 1)

struct trace_reader {
	pcap_t *pcap;
	uint64_t frames;     /* read so far */
	uint32_t fcs_octets; /* that the file says every frame ends with */
	struct error failure;
	struct trace_stream stream;
};

static int
refuse_link_type(struct trace_reader *reader, struct error *err)
{
	int type = pcap_datalink(reader->pcap);
	const char *name = pcap_datalink_val_to_name(type);

	if (type == DLT_EN10MB)
		return 0;
	return error_set(
		err, -EINVAL, NULL,
		"%s: its link type is %s (%d), not Ethernet; capture on an Ethernet interface",
		reader->stream.name, name != NULL ? name : "unknown", type);
}

static int
open_capture(struct trace_reader *reader, struct error *err)
{
	struct trace_stream *stream = &reader->stream;
	char why[PCAP_ERRBUF_SIZE] = "";
	int link;

	reader->pcap = pcap_fopen_offline_with_tstamp_precision(stream->file,
								PCAP_TSTAMP_PRECISION_NANO, why);
	if (reader->pcap == NULL)
		return error_set(err, -EINVAL, NULL,
				 "%s: no capture file: %.90s; name a pcap or pcapng file",
				 stream->name, stream->trouble[0] != '\0' ? stream->trouble : why);
	link = pcap_datalink_ext(reader->pcap);
	if (LT_FCS_LENGTH_PRESENT(link))
		reader->fcs_octets = 2 * LT_FCS_LENGTH((uint32_t)link);
	return refuse_link_type(reader, err);
}

/* After the stream was opened with that code. */
static int
finish_open(struct trace_reader **out, struct trace_reader *reader, int code, struct error *err)
{
	if (code == 0)
		code = open_capture(reader, err);
	if (code == 0)
		*out = reader;
	else
		trace_reader_close(reader);
	return code;
}

static struct trace_reader *
make_reader(struct trace_reader **out, struct error *err)
{
	struct trace_reader *reader = calloc(1, sizeof(*reader));

	*out = NULL;
	if (reader == NULL)
		error_set(err, -ENOMEM, NULL, "no memory left to read a capture file");
	return reader;
}

int
trace_reader_open(struct trace_reader **out, const char *path, struct error *err)
{
	struct trace_reader *reader = make_reader(out, err);

	if (reader == NULL)
		return -ENOMEM;
	return finish_open(out, reader, trace_stream_open(&reader->stream, path, err), err);
}

int
trace_reader_open_memory(struct trace_reader **out, const void *octets, size_t n, const char *name,
			 struct error *err)
{
	struct trace_reader *reader = make_reader(out, err);

	if (reader == NULL)
		return -ENOMEM;
	return finish_open(out, reader,
			   trace_stream_open_memory(&reader->stream, octets, n, name, err), err);
}

void
trace_reader_close(struct trace_reader *reader)
{
	if (reader == NULL)
		return;
	if (reader->pcap != NULL)
		pcap_close(reader->pcap); /* closes the stream */
	else if (reader->stream.file != NULL)
		fclose(reader->stream.file);
	free(reader);
}

bool
trace_reader_is_pcapng(const struct trace_reader *reader)
{
	return reader->stream.pcapng;
}

/* Keep the failure, for whoever asks again, and hand it out. */
static int
hand_out_failure(struct trace_reader *reader, struct error *err)
{
	if (err != NULL)
		*err = reader->failure;
	return reader->failure.code;
}

static int
fail_unreadable(struct trace_reader *reader, struct error *err)
{
	const char *trouble = reader->stream.trouble;

	error_set(&reader->failure, -EINVAL, NULL,
		  "%s: frame %" PRIu64 ": %.80s; `editcap IN OUT` keeps the %" PRIu64 " before it",
		  reader->stream.name, reader->frames + 1,
		  trouble[0] != '\0' ? trouble : pcap_geterr(reader->pcap), reader->frames);
	return hand_out_failure(reader, err);
}

static int
fail_too_long(struct trace_reader *reader, uint32_t octets, struct error *err)
{
	error_set(&reader->failure, -EINVAL, NULL,
		  "%s: frame %" PRIu64 " has %" PRIu32 " octets, the longest to be sent %u; "
		  "`tshark -r IN -Y 'frame.len <= %u' -w OUT` drops such",
		  reader->stream.name, reader->frames + 1, octets, TRACE_FRAME_OCTETS_MAX,
		  TRACE_FRAME_OCTETS_MAX);
	return hand_out_failure(reader, err);
}

/* What was captured was on the wire, and an Ethernet frame has octets: other lengths are no frame's. */
static int
fail_lengths(struct trace_reader *reader, const struct pcap_pkthdr *header, struct error *err)
{
	error_set(&reader->failure, -EINVAL, NULL,
		  "%s: frame %" PRIu64 " had %" PRIu32
		  " octets on the wire, says the file, which keeps "
		  "%" PRIu32
		  " of it; the file is damaged, capture again, or `editcap IN OUT %" PRIu64
		  "` leaves the frame out",
		  reader->stream.name, reader->frames + 1, header->len, header->caplen,
		  reader->frames + 1);
	return hand_out_failure(reader, err);
}

static int
fail_time(struct trace_reader *reader, const struct timeval *time, struct error *err)
{
	error_set(&reader->failure, -EINVAL, NULL,
		  "%s: frame %" PRIu64 " has no time between 1970 and 2262: %" PRId64 " s %" PRId64
		  " ns; the file is damaged, capture again",
		  reader->stream.name, reader->frames + 1, (int64_t)time->tv_sec,
		  (int64_t)time->tv_usec);
	return hand_out_failure(reader, err);
}

/* libpcap keeps nanoseconds in tv_usec, as asked for, and takes pcap's seconds, which are unsigned, for signed. */
static struct timeval
time_of(const struct trace_reader *reader, const struct pcap_pkthdr *header)
{
	struct timeval time = header->ts;

	if (time.tv_sec < 0 && !reader->stream.pcapng)
		time.tv_sec = (uint32_t)time.tv_sec;
	return time;
}

static bool
time_is_possible(const struct timeval *time)
{
	return time->tv_sec >= 0 && time->tv_sec <= SECONDS_MAX && time->tv_usec >= 0 &&
	       (uint64_t)time->tv_usec < NS_PER_SECOND;
}

int
trace_reader_next(struct trace_reader *reader, struct trace_frame *frame, struct error *err)
{
	struct pcap_pkthdr *header;
	struct timeval time;
	uint32_t wire;
	int got;

	if (reader->failure.code != 0)
		return hand_out_failure(reader, err);
	got = pcap_next_ex(reader->pcap, &header, &frame->octets);
	if (got == PCAP_ERROR_BREAK)
		return 0;
	if (got != 1)
		return fail_unreadable(reader, err);
	if (header->caplen > header->len || header->len <= reader->fcs_octets)
		return fail_lengths(reader, header, err);
	wire = header->len - reader->fcs_octets;
	if (wire > TRACE_FRAME_OCTETS_MAX)
		return fail_too_long(reader, wire, err);
	time = time_of(reader, header);
	if (!time_is_possible(&time))
		return fail_time(reader, &time, err);
	frame->time_ns = (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_usec;
	frame->captured = header->caplen < wire ? header->caplen : wire;
	frame->truncated = frame->captured < wire;
	frame->short_frame = wire < TRACE_FRAME_OCTETS_MIN;
	frame->length = frame->short_frame ? TRACE_FRAME_OCTETS_MIN : wire;
	reader->frames++;
	return 1;
}
