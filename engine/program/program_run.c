/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's life: workers up, transmission on and off, workers down, counters taken. */
#include <sys/resource.h>
#include <sys/time.h>

#include <rte_cycles.h>

#include "answer/answer_queue.h"
#include "base/units.h"
#include "program/bridge_build.h"
#include "program/capture_build.h"
#include "program/loop_run.h"
#include "program/program.h"
#include "program/program_rate.h"
#include "program/worker_launch.h"

/* All workers see a start or a stop before it comes, so that the schedule ends for all at once. */
#define ADVANCE_NS 1000000ULL

static uint64_t
in_advance(const struct program *program)
{
	return rte_rdtsc() + cycles_of_ns(ADVANCE_NS, program->hz);
}

int
program_run(struct program *program, struct error *err)
{
	int code;

	for (uint32_t p = 0; p < program->port_count; p++) {
		port_drain(&program->ports[p]);
		port_begin_counting(&program->ports[p]);
	}
	code = loops_attach(program, err);
	if (code == 0)
		code = worker_launch_all(program->workers, program->worker_count, err);
	program->running = code == 0;
	if (!program->running) {
		bridges_drain(program);
		loops_detach(program);
		captures_close(program->captures);
		program->captures = NULL;
	}
	program_sample(program);
	return code;
}

static void
sample_workers(struct program *program)
{
	for (uint32_t w = 0; w < program->worker_count; w++)
		cpu_time_sample(&program->workers[w].cpu);
}

uint64_t
program_start(struct program *program, uint64_t duration_ns)
{
	uint64_t start = in_advance(program);
	uint64_t stop =
		duration_ns > 0 ? start + cycles_of_ns(duration_ns, program->hz) : UINT64_MAX;

	sample_workers(program);
	counter_set(&program->engine_counters->start_tsc, start);
	counter_set(&program->engine_counters->stop_tsc, stop);
	atomic_store_explicit(&program->traffic.stop_tsc, stop, memory_order_relaxed);
	atomic_store_explicit(&program->traffic.start_tsc, start, memory_order_release);
	return start;
}

int
program_set_rate(struct program *program, const char *stream, double fps, uint64_t *from_tsc,
		 struct error *err)
{
	*from_tsc = in_advance(program);
	return program_rates_set(program->rates, &program->traffic, stream, fps, *from_tsc, err);
}

void
program_stop_tx(struct program *program)
{
	uint64_t start = atomic_load_explicit(&program->traffic.start_tsc, memory_order_relaxed);
	uint64_t stop = atomic_load_explicit(&program->traffic.stop_tsc, memory_order_relaxed);
	uint64_t soon = in_advance(program);

	sample_workers(program);
	if (start == TRAFFIC_NOT_STARTED || stop <= soon)
		return;
	stop = RTE_MAX(soon, start);
	counter_set(&program->engine_counters->stop_tsc, stop);
	atomic_store_explicit(&program->traffic.stop_tsc, stop, memory_order_relaxed);
}

/* Workers send what is due until the stop, and have as long again to end by themselves. */
static void
wait_for_end(const struct program *program)
{
	const struct traffic *traffic = &program->traffic;
	uint64_t stop = atomic_load_explicit(&traffic->stop_tsc, memory_order_relaxed);
	uint64_t end = stop + cycles_of_ns(ADVANCE_NS, program->hz), now = rte_rdtsc();

	if (atomic_load_explicit(&traffic->start_tsc, memory_order_relaxed) == TRAFFIC_NOT_STARTED)
		return;
	for (; now < end; now = rte_rdtsc())
		rte_delay_us_sleep(100);
}

/* Other tasks move frames past these counts, and no verdict compares theirs with the device's. */
static bool
counts_compare(const struct program *program)
{
	for (uint32_t w = 0; w < program->worker_count; w++) {
		const struct worker *worker = &program->workers[w];

		if (worker->forward_count + worker->bridge_count + worker->loop_count > 0)
			return false;
	}
	return true;
}

static void
end_counting(struct program *program, uint32_t p)
{
	const uint16_t id = program->ports[p].port_id;
	uint64_t received = 0, sent = 0;
	bool receives = false;

	for (uint32_t w = 0; w < program->worker_count; w++) {
		const struct worker *worker = &program->workers[w];

		for (uint32_t t = 0; t < worker->rx_count; t++) {
			if (worker->rx[t].port_id != id)
				continue;
			received += worker->rx[t].counters->frames;
			receives = true;
		}
		for (uint32_t t = 0; t < worker->tx_count; t++)
			sent += worker->tx[t].port_id == id ? worker->tx[t].counters->frames : 0;
	}
	if (program->answers[p] != NULL)
		sent += program->answers[p]->counters->frames;
	port_end_counting(&program->ports[p], program->port_counters[p],
			  receives ? received : UINT64_MAX, sent);
}

void
program_halt(struct program *program)
{
	if (!program->running)
		return;
	program_stop_tx(program);
	wait_for_end(program);
	worker_stop_all(program->workers, program->worker_count);
	bridges_drain(program);
	for (uint32_t p = 0; p < program->port_count; p++) {
		if (program->answers[p] != NULL)
			answer_queue_end(program->answers[p]);
	}
	program->running = false;
	for (uint32_t p = 0; p < program->port_count && counts_compare(program); p++)
		end_counting(program, p);
	program_sample(program);
	loops_detach(program);
}

static uint64_t
ns_of_timeval(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_usec * 1000;
}

static void
note_clocks(struct program *program)
{
	struct clock_reading now = clock_read();

	clock_watch_note(&program->clocks, &now, program->hz);
	counter_set(&program->engine_counters->clock_error_ns, program->clocks.error_ns);
	counter_set(&program->engine_counters->time_jump_ns, program->clocks.jump_ns);
	counter_set(&program->engine_counters->clock_drift_ns, program->clocks.drift_ns);
	counter_set(&program->engine_counters->clock_watched_ns, program->clocks.watched_ns);
	counter_set(&program->engine_counters->run_hz, (uint64_t)(program->clocks.hz + 0.5));
}

void
program_sample(struct program *program)
{
	struct engine_counters *engine = program->engine_counters;
	struct rusage usage;

	for (uint32_t p = 0; p < program->port_count; p++)
		port_sample(&program->ports[p], program->port_counters[p]);
	loops_sample(program);
	sample_workers(program);
	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		counter_set(&engine->user_ns, ns_of_timeval(&usage.ru_utime));
		counter_set(&engine->system_ns, ns_of_timeval(&usage.ru_stime));
		counter_set(&engine->resident_max_octets, (uint64_t)usage.ru_maxrss * 1024);
	}
	note_clocks(program);
	counter_set(&engine->heartbeat_tsc, rte_rdtsc());
}
