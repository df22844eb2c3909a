/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any octets as a capture file, plain or gzip.
 *
 * Called by libFuzzer; with -DWR_FUZZ_STANDALONE a program that replays the files given to it.
 * It is read to its end; every frame must keep what trace_reader.h promises, every refusal must say why.
 */
#include <stdint.h>
#include <stdlib.h>

#include "fuzz/fuzz_standalone.h"
#include "trace/trace_reader.h"

/* A few octets of gzip can hold millions of frames: enough is enough. */
#define FRAMES_MAX 100000

static void
must(int condition)
{
	if (!condition)
		abort();
}

static void
check_frame(const struct trace_frame *frame)
{
	unsigned int sum = 0;

	must(frame->length >= TRACE_FRAME_OCTETS_MIN && frame->length <= TRACE_FRAME_OCTETS_MAX);
	must(frame->captured <= frame->length);
	must(!frame->short_frame || frame->length == TRACE_FRAME_OCTETS_MIN);
	must(frame->truncated || frame->short_frame || frame->captured == frame->length);
	must(frame->time_ns <= INT64_MAX);
	for (uint32_t i = 0; i < frame->captured; i++)
		sum += frame->octets[i];
	must(sum <= UINT8_MAX * frame->captured); /* every octet can be read */
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_reader *reader;
	struct trace_frame frame;
	struct error err = {0};
	int code = trace_reader_open_memory(&reader, data, size, "fuzz", &err);

	must((code == 0) == (reader != NULL));
	if (code == 0) {
		for (int n = 0; n < FRAMES_MAX; n++) {
			code = trace_reader_next(reader, &frame, &err);
			if (code != 1)
				break;
			check_frame(&frame);
		}
		must(code == 1 || trace_reader_next(reader, &frame, NULL) == code);
	}
	must((code < 0) == (err.text[0] != '\0') && (code >= 0 || code == err.code));
	trace_reader_close(reader);
	return 0;
}
