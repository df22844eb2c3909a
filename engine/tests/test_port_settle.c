/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device counters against software's: a simulated device that goes on receiving, and counts frames as they arrive or as
 * they are read, at once or late, is explained; one that has lost frames, or counts others, is not.
 *
 * Run by `meson test`; no EAL. Source: device/port_settle.h.
 */
#include <rte_common.h>

#include "tests/test_support.h"

#include "device/port_settle.h"

#define RING 1024u

struct nic {
	uint32_t arriving; /* frames that arrive during each call */
	uint32_t in_ring;
	uint64_t arrived, read, base_arrived, base_read;
	uint64_t sent;
	uint32_t sends; /* frames that leave during each wait */
	bool on_reading;
	bool never_empty;
	uint32_t late_readings; /* readings that show what was true at the first */
	uint64_t stale;
	uint32_t readings;
	int64_t wrong; /* counted too many, or lost */
};

static void
arrive(struct nic *nic, uint32_t frames)
{
	nic->arrived += frames;
	nic->in_ring += frames;
}

/* Half of what arrives meanwhile is found, half comes too late for this call. */
static uint32_t
drain(void *user, bool *emptied)
{
	struct nic *nic = user;
	uint32_t found;

	arrive(nic, nic->arriving / 2);
	found = nic->in_ring;
	if (nic->never_empty && found > 100)
		found = 100;
	nic->in_ring -= found;
	nic->read += found;
	arrive(nic, nic->arriving - nic->arriving / 2);
	*emptied = !nic->never_empty;
	return found;
}

static void
read_counters(void *user, uint64_t *received, uint64_t *sent)
{
	struct nic *nic = user;
	uint64_t counted;

	arrive(nic, nic->arriving / 2);
	counted = nic->on_reading ? nic->read - nic->base_read : nic->arrived - nic->base_arrived;
	arrive(nic, nic->arriving - nic->arriving / 2);
	if (nic->readings++ == 0)
		nic->stale = counted - RTE_MIN(counted, 50u);
	*received =
		(uint64_t)((int64_t)(nic->readings <= nic->late_readings ? nic->stale : counted) +
			   nic->wrong);
	*sent = nic->sent;
}

static void
wait_a_little(void *user)
{
	struct nic *nic = user;

	arrive(nic, nic->arriving);
	nic->sent += nic->sends;
}

struct ending {
	bool explained;
	struct settled settled;
	struct nic nic;
};

/* A program's life: the counters' first reading, workers that read and send 10,000 frames, the end. */
static struct ending
live(struct nic nic, uint64_t sent)
{
	const struct settle_device device = {drain, read_counters, wait_a_little, &nic, RING};
	struct ending end;
	uint64_t begun, received;
	bool emptied;

	nic.base_arrived = nic.arrived;
	nic.base_read = nic.read;
	arrive(&nic, nic.arriving / 2);
	begun = settle_begin(&device);
	received = nic.read;
	arrive(&nic, 10000);
	drain(&nic, &emptied);
	received = nic.read - received;
	end.explained = settle_end(&device, begun, received, sent, &end.settled);
	end.nic = nic;
	return end;
}

static void
a_quiet_device_agrees_to_the_frame(void **state)
{
	(void)state;
	for (int on_reading = 0; on_reading < 2; on_reading++) {
		struct ending end = live((struct nic){.on_reading = on_reading}, 0);

		assert_true(end.explained);
		assert_int_equal(end.settled.drained, 0);
		assert_int_equal(end.settled.uncertain, 0);
		assert_int_equal(end.nic.readings, 1);
	}
}

static void
traffic_that_goes_on_is_explained(void **state)
{
	static const uint32_t rates[] = {1, 2, 3, 17, 1000};

	(void)state;
	for (size_t r = 0; r < COUNT(rates); r++)
		for (int on_reading = 0; on_reading < 2; on_reading++) {
			struct nic nic = {.arriving = rates[r], .on_reading = on_reading};
			struct ending end = live(nic, 0);

			assert_true(end.explained);
			assert_true(end.settled.uncertain <= 10ULL * rates[r]);
		}
}

static void
queues_that_never_empty_are_allowed_a_ring(void **state)
{
	struct nic nic = {.arriving = 300, .never_empty = true};
	struct ending end = live(nic, 0);

	(void)state;
	assert_true(end.settled.uncertain >= 2 * RING);
}

static void
late_counters_are_read_again(void **state)
{
	struct ending end = live((struct nic){.late_readings = 5}, 0);

	(void)state;
	assert_true(end.explained);
	assert_int_equal(end.nic.readings, 6);
	end = live((struct nic){.sends = 100}, 700); /* a NIC that is still sending */
	assert_true(end.explained);
	assert_int_equal(end.nic.readings, 8);
}

static void
what_time_does_not_explain_is_said(void **state)
{
	static const struct nic wrong[] = {
		{.wrong = -1},
		{.wrong = 1},
		{.arriving = 10, .wrong = -100},
		{.arriving = 10, .wrong = 100},
		{.arriving = 10, .wrong = -100, .on_reading = true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct ending end = live(wrong[i], 0);

		assert_false(end.explained);
		assert_int_equal(end.nic.readings, SETTLE_READINGS);
	}
	assert_false(live((struct nic){.sent = 6}, 7).explained);
}

static void
what_no_worker_received_is_not_compared(void **state)
{
	struct nic nic = {.arriving = 10, .wrong = 5000};
	const struct settle_device device = {drain, read_counters, wait_a_little, &nic, RING};
	struct settled settled;

	(void)state;
	assert_true(settle_end(&device, 0, UINT64_MAX, 0, &settled));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_device_agrees_to_the_frame),
		cmocka_unit_test(traffic_that_goes_on_is_explained),
		cmocka_unit_test(queues_that_never_empty_are_allowed_a_ring),
		cmocka_unit_test(late_counters_are_read_again),
		cmocka_unit_test(what_time_does_not_explain_is_said),
		cmocka_unit_test(what_no_worker_received_is_not_compared),
	};

	return cmocka_run_group_tests_name("port_settle", tests, NULL, NULL);
}
