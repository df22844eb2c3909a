/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/program_rate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* A stream's rate as it is now; frames_per_cycle_q64 0: it has none that could be changed. */
struct stream_rate {
	char name[CONFIG_NAME_SIZE];
	uint32_t parts;
	uint64_t delay_cycles;
	uint64_t duration_cycles; /* UINT64_MAX: to the end of traffic */
	uint64_t frames_per_cycle_q64;
	unsigned __int128 shift_q64;
};

struct program_rates {
	uint64_t hz;
	uint32_t count;
	struct stream_rate *streams;
	struct tx_rate *shared; /* with the tasks */
};

static void
note_stream(struct stream_rate *rate, const struct stream_config *stream, uint64_t hz)
{
	struct pacing pacing;

	memcpy(rate->name, stream->name, sizeof(rate->name));
	rate->parts = stream->parts;
	rate->delay_cycles = cycles_of_ns(stream->delay_ns, hz);
	rate->duration_cycles =
		stream->has_duration ? cycles_of_ns(stream->duration_ns, hz) : UINT64_MAX;
	if (stream->has_fps && !stream->has_burst &&
	    pacing_init(&pacing, stream->fps, 0, stream->parts, hz))
		rate->frames_per_cycle_q64 = pacing.frames_per_cycle_q64;
}

int
program_rates_create(struct program_rates **out, const struct program_config *config, uint64_t hz,
		     struct error *err)
{
	struct program_rates *rates = calloc(1, sizeof(*rates));
	uint32_t room = config->n_streams + 1; /* none of size 0 */

	*out = rates;
	if (rates == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for the program");
	rates->hz = hz;
	rates->streams = calloc(room, sizeof(rates->streams[0]));
	rates->shared = aligned_alloc(alignof(struct tx_rate), room * sizeof(rates->shared[0]));
	if (rates->streams == NULL || rates->shared == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for the rates of %u streams",
				 config->n_streams);
	memset(rates->shared, 0, room * sizeof(rates->shared[0]));
	rates->count = config->n_streams;
	for (uint32_t i = 0; i < config->n_streams; i++)
		note_stream(&rates->streams[i], &config->streams[i], hz);
	return 0;
}

const struct tx_rate *
program_rate_of(const struct program_rates *rates, uint32_t index)
{
	return rates->streams[index].frames_per_cycle_q64 != 0 ? &rates->shared[index] : NULL;
}

/* The stream, if its rate can be changed at all. */
static int
find_stream(const struct program_rates *rates, const char *name, struct stream_rate **out,
	    struct error *err)
{
	for (uint32_t i = 0; i < rates->count; i++) {
		struct stream_rate *stream = &rates->streams[i];

		if (strcmp(stream->name, name) != 0)
			continue;
		*out = stream;
		if (stream->frames_per_cycle_q64 != 0)
			return 0;
		return error_set(err, -EINVAL, "stream",
				 "stream \"%s\" has no rate that could be changed: it has bursts, "
				 "times of its own, or is sent as fast as can be; load it with fps "
				 "alone",
				 name);
	}
	return error_set(err, -ENOENT, "stream",
			 "no stream is called \"%s\"; program.load names them", name);
}

/* How long the stream will have been sent at from_tsc; refused when nothing of it is sent by then. */
static int
stream_elapsed(const struct stream_rate *stream, const struct traffic *traffic, uint64_t from_tsc,
	       uint64_t *elapsed, struct error *err)
{
	uint64_t start = atomic_load_explicit(&traffic->start_tsc, memory_order_relaxed);
	uint64_t stop = atomic_load_explicit(&traffic->stop_tsc, memory_order_relaxed);

	if (start == TRAFFIC_NOT_STARTED)
		return error_set(err, -EINVAL, NULL,
				 "nothing is sent yet; traffic.start comes first");
	start += stream->delay_cycles;
	if (stream->duration_cycles != UINT64_MAX && start + stream->duration_cycles < stop)
		stop = start + stream->duration_cycles;
	if (from_tsc >= stop)
		return error_set(
			err, -EINVAL, "stream",
			"stream \"%s\" has ended, or will within a millisecond; change its "
			"rate before",
			stream->name);
	*elapsed = from_tsc > start ? from_tsc - start : 0;
	return 0;
}

/* All words at once, as far as readers can tell. */
static void
share(struct tx_rate *shared, struct traffic *traffic, const struct stream_rate *stream,
      uint64_t from_tsc)
{
	uint64_t changes = atomic_load_explicit(&traffic->rate_changes, memory_order_relaxed);

	atomic_store_explicit(&traffic->rate_changes, changes + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&shared->from_tsc, from_tsc, memory_order_relaxed);
	atomic_store_explicit(&shared->frames_per_cycle_q64, stream->frames_per_cycle_q64,
			      memory_order_relaxed);
	atomic_store_explicit(&shared->shift_low, (uint64_t)stream->shift_q64,
			      memory_order_relaxed);
	atomic_store_explicit(&shared->shift_high, (uint64_t)(stream->shift_q64 >> 64),
			      memory_order_relaxed);
	atomic_store_explicit(&traffic->rate_changes, changes + 2, memory_order_release);
}

int
program_rates_set(struct program_rates *rates, struct traffic *traffic, const char *name,
		  double fps, uint64_t from_tsc, struct error *err)
{
	struct stream_rate *stream = NULL;
	struct pacing pacing;
	uint64_t elapsed = 0;
	int code = find_stream(rates, name, &stream, err);

	if (code == 0)
		code = stream_elapsed(stream, traffic, from_tsc, &elapsed, err);
	if (code != 0)
		return code;
	if (!pacing_init(&pacing, fps, 0, stream->parts, rates->hz))
		return error_set(err, -EINVAL, "fps",
				 "%g frames/s cannot be paced by a clock of %lu Hz", fps,
				 (unsigned long)rates->hz);
	stream->shift_q64 +=
		pacing_shift(elapsed, stream->frames_per_cycle_q64, pacing.frames_per_cycle_q64);
	stream->frames_per_cycle_q64 = pacing.frames_per_cycle_q64;
	share(&rates->shared[stream - rates->streams], traffic, stream, from_tsc);
	return 0;
}

void
program_rates_free(struct program_rates *rates)
{
	if (rates == NULL)
		return;
	free(rates->streams);
	free(rates->shared);
	free(rates);
}
