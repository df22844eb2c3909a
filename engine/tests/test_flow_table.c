/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distinct 5-tuples: which octets make a tuple, that different ones are never taken for one, and what happens when there
 * is no room.
 *
 * Run by `meson test`; DPDK without hugepages, devices or privilege. Source: flowtable/.
 */
#include "tests/eal_fixture.h"

#include "flowtable/flow_tuple.h"
#include "program/flow_table_build.h"

enum { FRAME = 200, BURST = 100 };

/* Ethernet, `tags` VLAN tags, IPv4, ports. Returns the octets. */
static uint32_t
make_ipv4(uint8_t *frame, uint32_t tags, uint32_t source, uint16_t port, uint8_t protocol)
{
	uint32_t at = 12;

	memset(frame, 0, FRAME);
	for (uint32_t t = 0; t < tags; t++, at += 4)
		memcpy(frame + at, t == 0 && tags > 1 ? "\x88\xa8\x00\x05" : "\x81\x00\x00\x07", 4);
	memcpy(frame + at, "\x08\x00\x45", 3);
	at += 2;
	frame[at + 9] = protocol;
	memcpy(frame + at + 12, &source, 4);
	memcpy(frame + at + 16, "\xc6\x13\x00\x01", 4);
	memcpy(frame + at + 20, &port, 2);
	memcpy(frame + at + 22, "\x00\x35", 2);
	return at + 28;
}

/* Ethernet, IPv6, `headers` extension headers of 8 octets each, ports. */
static uint32_t
make_ipv6(uint8_t *frame, uint32_t source, uint16_t port, uint32_t headers)
{
	uint32_t at = 14 + 40;

	memset(frame, 0, FRAME);
	memcpy(frame + 12, "\x86\xdd\x60", 3);
	frame[20] = headers > 0 ? 60 : 17;
	memcpy(frame + 22 + 12, &source, 4);
	frame[53] = 1;
	for (uint32_t h = 0; h < headers; h++, at += 8)
		frame[at] = h + 1 < headers ? 60 : 17;
	memcpy(frame + at, &port, 2);
	return at + 8;
}

static struct flow_tuple
tuple_of(const uint8_t *frame, uint32_t octets)
{
	struct flow_tuple tuple;

	assert_true(tuple_read(&tuple, frame, octets));
	return tuple;
}

static bool
same(struct flow_tuple a, struct flow_tuple b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static void
tuples_are_addresses_protocol_and_ports(void **state)
{
	uint8_t frame[FRAME], other[FRAME];
	uint32_t octets = make_ipv4(frame, 0, 1, 1, 17);
	struct flow_tuple tuple = tuple_of(frame, octets);
	static const uint32_t of_tuple[] = {23, 26, 29, 30, 33, 34, 35, 36, 37};
	static const uint32_t not_of_tuple[] = {0, 11, 15, 16, 19, 22, 24, 38};

	(void)state;
	for (size_t i = 0; i < COUNT(of_tuple); i++) {
		memcpy(other, frame, FRAME);
		other[of_tuple[i]] ^= of_tuple[i] == 23 ? 17 ^ 6 : 1;
		assert_false(same(tuple, tuple_of(other, octets)));
	}
	for (size_t i = 0; i < COUNT(not_of_tuple); i++) {
		memcpy(other, frame, FRAME);
		other[not_of_tuple[i]] ^= 0x80;
		assert_true(same(tuple, tuple_of(other, octets)));
	}
	for (uint32_t tags = 1; tags <= 4; tags++) {
		octets = make_ipv4(other, tags, 1, 1, 17);
		assert_true(same(tuple, tuple_of(other, octets)));
	}
	octets = make_ipv4(other, 5, 1, 1, 17);
	assert_false(tuple_read(&tuple, other, octets));
}

/* Fragments, other protocols, and what is cut: the ports do not matter. */
static void
ports_are_of_whole_udp_and_tcp(void **state)
{
	uint8_t frame[FRAME], other[FRAME];
	static const uint8_t fragments[][2] = {{0x20, 0}, {0, 1}, {0x1f, 0xff}};

	(void)state;
	for (size_t i = 0; i < COUNT(fragments); i++) {
		uint32_t octets = make_ipv4(frame, 0, 1, 1, 6);

		make_ipv4(other, 0, 1, 2, 6);
		assert_false(same(tuple_of(frame, octets), tuple_of(other, octets)));
		memcpy(frame + 20, fragments[i], 2);
		memcpy(other + 20, fragments[i], 2);
		assert_true(same(tuple_of(frame, octets), tuple_of(other, octets)));
	}
	make_ipv4(frame, 0, 1, 1, 1);
	make_ipv4(other, 0, 1, 2, 1);
	assert_true(same(tuple_of(frame, 42), tuple_of(other, 42)));
	make_ipv4(frame, 0, 1, 1, 17);
	make_ipv4(other, 0, 1, 2, 17);
	assert_true(same(tuple_of(frame, 37), tuple_of(other, 37)));
	assert_false(same(tuple_of(frame, 38), tuple_of(other, 38)));
	memcpy(frame + 14, "\x46", 1); /* options: the ports are further behind */
	memcpy(other + 14, "\x46", 1);
	assert_true(same(tuple_of(frame, 42), tuple_of(other, 42)));
}

static void
ports_of_ipv6_are_behind_its_extensions(void **state)
{
	uint8_t frame[FRAME], other[FRAME];

	(void)state;
	for (uint32_t headers = 0; headers <= TUPLE_EXTENSIONS_MAX; headers++) {
		uint32_t octets = make_ipv6(frame, 1, 1, headers);

		make_ipv6(other, 1, 2, 0);
		assert_false(same(tuple_of(frame, octets), tuple_of(other, octets)));
		make_ipv6(other, 1, 1, 0);
		assert_true(same(tuple_of(frame, octets), tuple_of(other, octets)));
	}
	make_ipv6(frame, 1, 1, 1);
	make_ipv6(other, 1, 2, 1);
	frame[20] = other[20] = 44; /* a fragment that is the only one */
	assert_false(same(tuple_of(frame, 70), tuple_of(other, 70)));
	frame[57] = other[57] = 1;
	assert_true(same(tuple_of(frame, 70), tuple_of(other, 70)));
}

static void
what_is_no_ip_is_no_tuple(void **state)
{
	uint8_t frame[FRAME];
	struct flow_tuple tuple;

	(void)state;
	make_ipv4(frame, 0, 1, 1, 17);
	assert_true(tuple_read(&tuple, frame, 34));
	for (uint32_t octets = 0; octets < 34; octets++)
		assert_false(tuple_read(&tuple, frame, octets));
	frame[14] = 0x44;
	assert_false(tuple_read(&tuple, frame, 42));
	frame[14] = 0x65;
	assert_false(tuple_read(&tuple, frame, 42));
	make_ipv6(frame, 1, 1, 0);
	assert_true(tuple_read(&tuple, frame, 54));
	assert_false(tuple_read(&tuple, frame, 53));
	memcpy(frame + 12, "\x08\x06", 2);
	assert_false(tuple_read(&tuple, frame, 62));
}

/* A burst in mbufs of its own. */
struct burst {
	struct rte_mbuf mbufs[BURST];
	struct rte_mbuf *pointers[BURST];
	uint8_t frames[BURST][FRAME];
	uint16_t count;
	uint64_t distinct, overflow;
};

static struct burst burst;

static void
note(struct flow_table *table)
{
	flow_table_note(table, burst.pointers, burst.count, &burst.distinct, &burst.overflow);
	burst.count = 0;
}

/* The frame of flow n; every third one is of IPv6. */
static void
add(struct flow_table *table, uint32_t n)
{
	uint16_t i = burst.count++;
	struct rte_mbuf *mbuf = &burst.mbufs[i];

	*mbuf = (struct rte_mbuf){.buf_addr = burst.frames[i], .nb_segs = 1};
	mbuf->data_len =
		(uint16_t)(n % 3 == 0 ? make_ipv6(burst.frames[i], n >> 8, n & 0xff, 0)
				      : make_ipv4(burst.frames[i], 0, n >> 8, n & 0xff, 6));
	mbuf->pkt_len = mbuf->data_len;
	burst.pointers[i] = mbuf;
	if (burst.count == BURST)
		note(table);
}

static struct flow_table *
table_for(uint32_t tuples)
{
	struct flow_table *table = NULL;
	struct error err = {0};

	if (flow_table_create(&table, tuples, SOCKET_ID_ANY, &err) != 0)
		fail_msg("%s", err.text);
	burst.count = 0;
	burst.distinct = burst.overflow = 0;
	return table;
}

static void
each_tuple_counts_once(void **state)
{
	static const uint32_t counts[] = {1, 2, 3, 31, 32, 33, 1000, 65536, 100003};

	(void)state;
	for (size_t c = 0; c < COUNT(counts); c++) {
		struct flow_table *table = table_for(counts[c]);
		uint64_t seed = c;

		for (uint32_t n = 0; n < counts[c]; n++) {
			add(table, n);
			if (n % 7 == 0)
				add(table, (uint32_t)(random_next(&seed) % (n + 1)));
		}
		note(table);
		assert_int_equal(burst.distinct, counts[c]);
		assert_int_equal(burst.overflow, 0);
		flow_table_free(table);
	}
}

/* What is in stays in, what is not is counted, frame by frame. */
static void
a_full_table_counts_what_has_no_room(void **state)
{
	struct flow_table *table = table_for(1000);

	(void)state;
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t n = 0; n < 1500; n++)
			add(table, n);
	}
	note(table);
	assert_int_equal(burst.distinct, 1000);
	assert_int_equal(burst.overflow, 2 * 500);
	flow_table_free(table);
}

/* Headers in two segments; a frame without a tuple between others. */
static void
frames_may_be_cut_or_strange(void **state)
{
	struct flow_table *table = table_for(10);
	static struct rte_mbuf tail;

	(void)state;
	add(table, 1);
	add(table, 2);
	burst.frames[1][12] = 0xff;
	add(table, 1);
	tail = (struct rte_mbuf){.buf_addr = burst.frames[2] + 20, .nb_segs = 1};
	tail.data_len = (uint16_t)(burst.mbufs[2].data_len - 20);
	burst.mbufs[2].data_len = 20;
	burst.mbufs[2].nb_segs = 2;
	burst.mbufs[2].next = &tail;
	note(table);
	assert_int_equal(burst.distinct, 1);
	add(table, 4);
	note(table);
	assert_int_equal(burst.distinct, 2);
	assert_int_equal(burst.overflow, 0);
	flow_table_free(table);
}

static void
no_memory_is_told(void **state)
{
	struct flow_table *table = NULL;
	struct error err = {0};

	(void)state;
	assert_int_equal(flow_table_create(&table, 1u << 24, SOCKET_ID_ANY, &err), -ENOMEM);
	assert_null(table);
	assert_non_null(strstr(err.text, "16777216 flows apart; lower distinct_max"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tuples_are_addresses_protocol_and_ports),
		cmocka_unit_test(ports_are_of_whole_udp_and_tcp),
		cmocka_unit_test(ports_of_ipv6_are_behind_its_extensions),
		cmocka_unit_test(what_is_no_ip_is_no_tuple),
		cmocka_unit_test(each_tuple_counts_once),
		cmocka_unit_test(a_full_table_counts_what_has_no_room),
		cmocka_unit_test(frames_may_be_cut_or_strange),
		cmocka_unit_test(no_memory_is_told),
	};

	return cmocka_run_group_tests_name("flow_table", tests, eal_up, eal_down);
}
