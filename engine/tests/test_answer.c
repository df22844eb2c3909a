/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers of a host: octet for octet those that Scapy makes; nothing else is answered, and nothing behind the end of a
 * frame is read or written.
 *
 * Run by `meson test`; pure. Source: answer/answer.h; RFC 826, 792, 4443, 4861.
 */
#include "tests/test_support.h"

#include "answer/answer.h"
#include "protocol/checksum.h"
#include "tests/answer_exchanges.h"

static int
set_up(void **state)
{
	struct answer_table *table;

	if (answer_table_create(&table, exchange_addresses, COUNT(exchange_addresses), NULL) != 0)
		return -1;
	*state = table;
	return 0;
}

static int
tear_down(void **state)
{
	answer_table_free(*state);
	return 0;
}

static const struct answer_exchange *
exchange_called(const char *name)
{
	for (size_t i = 0; i < EXCHANGES; i++) {
		if (strcmp(answer_exchanges[i].name, name) == 0)
			return &answer_exchanges[i];
	}
	fail_msg("no exchange is called %s", name);
	return NULL;
}

static void
answers_are_right_to_the_octet(void **state)
{
	const struct answer_table *table = *state;

	for (size_t i = 0; i < EXCHANGES; i++) {
		const struct answer_exchange *row = &answer_exchanges[i];
		uint8_t frame[EXCHANGE_ROOM], wanted[EXCHANGE_ROOM];
		uint32_t octets = octets_of_hex(row->request, frame);
		uint32_t wanted_octets = octets_of_hex(row->answer, wanted);

		assert_true(answer_is_candidate(frame, octets));
		assert_int_equal(answer_asked(table, frame, octets), row->kind);
		assert_int_equal(answer_make(table, frame, &octets, sizeof(frame)), row->kind);
		if (octets != wanted_octets || memcmp(frame, wanted, octets) != 0)
			fail_msg("%s: a wrong answer", row->name);
		assert_int_equal(answer_make(table, frame, &octets, sizeof(frame)), ANSWER_NONE);
	}
}

/* One octet changed, checksums not mended. */
static void
what_is_not_asked_rightly_is_not_answered(void **state)
{
	static const struct {
		const char *name;
		uint32_t offset;
		uint8_t value;
	} rows[] = {
		{"ARP request", 6, 0x03},  /* from a group */
		{"ARP request", 13, 0x08}, /* another EtherType: 0808 */
		{"ARP request", 15, 6},    /* hardware type */
		{"ARP request", 16, 0x86}, /* protocol type */
		{"ARP request", 18, 8},    /* address lengths */
		{"ARP request", 19, 16},
		{"ARP request", 21, 2}, /* a reply */
		{"ARP request", 22, 3}, /* the sender's a group */
		{"ARP request", 31, 1}, /* announces: asks for the sender's own address */
		{"ARP request", 41, 2}, /* not ours */
		{"ARP request to our MAC", 5, 2},
		{"ping", 5, 2},     /* somebody else's MAC */
		{"ping", 14, 0x55}, /* version */
		{"ping", 14, 0x44}, /* header length */
		{"ping", 14, 0x4f},
		{"ping", 16, 0x40}, /* total length */
		{"ping", 17, 27},
		{"ping", 19, 0},    /* header checksum */
		{"ping", 20, 0x60}, /* more fragments */
		{"ping", 21, 1},    /* a fragment */
		{"ping", 23, 17},   /* UDP */
		{"ping", 24, 0},
		{"ping", 26, 224}, /* from a group */
		{"ping", 33, 2},   /* not ours */
		{"ping", 34, 0},   /* a reply */
		{"ping", 35, 1},
		{"ping", 36, 0xff},                     /* checksum */
		{"ping", 50, 0},                        /* payload */
		{"ping with options, tagged", 38, 131}, /* a source route */
		{"ping with options, tagged", 39, 1},   /* an option of one octet */
		{"ping with options, tagged", 39, 9},   /* beyond the header */
		{"ping of IPv6", 14, 0x40},             /* version */
		{"ping of IPv6", 18, 1},                /* payload length */
		{"ping of IPv6", 19, 7},
		{"ping of IPv6", 20, 17},
		{"ping of IPv6", 22, 0xff},             /* from a group */
		{"ping of IPv6", 53, 2},                /* not ours */
		{"ping of IPv6", 54, 129},              /* a reply */
		{"ping of IPv6", 55, 1},                /* code */
		{"ping of IPv6", 57, 0xee},             /* checksum */
		{"ping of IPv6", 70, 0},                /* payload */
		{"solicitation", 21, 254},              /* hop limit: has been forwarded */
		{"solicitation", 55, 1},                /* code */
		{"solicitation", 57, 0xee},             /* checksum */
		{"solicitation", 77, 2},                /* not our address */
		{"solicitation", 79, 0},                /* an option without a length */
		{"solicitation", 79, 2},                /* one beyond the end */
		{"solicitation", 80, 0x03},             /* a group's link-layer address */
		{"duplicate address detection", 53, 2}, /* not to the solicited-node address */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t frame[EXCHANGE_ROOM], before[EXCHANGE_ROOM];
		uint32_t octets = octets_of_hex(exchange_called(rows[i].name)->request, frame);
		uint32_t kept = octets;

		assert_int_not_equal(frame[rows[i].offset], rows[i].value);
		frame[rows[i].offset] = rows[i].value;
		memcpy(before, frame, octets);
		if (answer_make(*state, frame, &octets, sizeof(frame)) != ANSWER_NONE)
			fail_msg("%s with octet %u = 0x%02x was answered", rows[i].name,
				 rows[i].offset, rows[i].value);
		assert_int_equal(octets, kept);
		assert_memory_equal(frame, before, octets);
	}
}

/* By the headers alone: no checksum would save these. */
static void
headers_ask_rightly(void **state)
{
	static const struct {
		const char *name;
		uint32_t offset;
		uint8_t value;
	} rows[] = {
		{"ping", 20, 0x60}, /* more fragments */
		{"ping", 21, 1},    /* a fragment */
		{"ping", 26, 224},  /* from a group */
		{"ping", 35, 1},    /* code */
		{"ping with options, tagged", 38, 131},
		{"ping with options, tagged", 39, 1},
		{"ping with options, tagged", 39, 9},
		{"ping of IPv6", 22, 0xff},
		{"ping of IPv6", 55, 1},
		{"solicitation", 21, 254},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t frame[EXCHANGE_ROOM];
		uint32_t octets = octets_of_hex(exchange_called(rows[i].name)->request, frame);

		frame[rows[i].offset] = rows[i].value;
		if (answer_asked(*state, frame, octets) != ANSWER_NONE)
			fail_msg("%s with octet %u = 0x%02x asks", rows[i].name, rows[i].offset,
				 rows[i].value);
	}
}

/* Put the right checksum into an ICMPv6 message behind an untagged header. */
static void
mend_icmpv6(uint8_t *frame)
{
	uint32_t length = load_16(frame + 18);
	uint16_t sum;

	memset(frame + 56, 0, 2);
	sum = checksum_finish(checksum_sum(frame + 22, 32) + length + 58 +
			      checksum_sum(frame + 54, length));
	frame[56] = (uint8_t)(sum >> 8);
	frame[57] = (uint8_t)sum;
}

/* Right checksums do not make these right. */
static void
solicitations_are_validated(void **state)
{
	static const struct {
		const char *name;
		uint32_t offset;
		uint8_t value;
		enum answer kind;
	} rows[] = {
		{"solicitation", 77, 1, ANSWER_NEIGHBOR}, /* as it was: the mending is right */
		{"solicitation", 77, 2, ANSWER_NONE},
		{"solicitation", 79, 0, ANSWER_NONE},
		{"solicitation", 79, 2, ANSWER_NONE},
		{"solicitation", 80, 0x03, ANSWER_NONE},
		{"solicitation", 55, 1, ANSWER_NONE},
		{"solicitation", 19, 23, ANSWER_NONE},
		{"duplicate address detection", 53, 2, ANSWER_NONE},
		{"duplicate address detection", 78, 1, ANSWER_NONE}, /* with a link-layer address */
		{"duplicate address detection", 78, 200, ANSWER_NEIGHBOR},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t frame[EXCHANGE_ROOM];
		uint32_t octets = octets_of_hex(exchange_called(rows[i].name)->request, frame);

		frame[rows[i].offset] = rows[i].value;
		mend_icmpv6(frame);
		if (answer_make(*state, frame, &octets, sizeof(frame)) != rows[i].kind)
			fail_msg("%s with octet %u = %u", rows[i].name, rows[i].offset,
				 rows[i].value);
	}
}

/* An advertisement may be longer than its solicitation. */
static void
an_answer_without_room_is_none(void **state)
{
	uint8_t frame[EXCHANGE_ROOM];
	uint32_t octets =
		octets_of_hex(exchange_called("probe of reachability, tagged")->request, frame);

	assert_int_equal(octets, 82);
	assert_int_equal(answer_make(*state, frame, &octets, 81), ANSWER_NONE);
	assert_int_equal(answer_make(*state, frame, &octets, 89), ANSWER_NONE);
	assert_int_equal(answer_make(*state, frame, &octets, 90), ANSWER_NEIGHBOR);
	assert_int_equal(octets, 90);
	octets = octets_of_hex(exchange_called("ARP request")->request, frame) + 40;
	assert_int_equal(answer_make(*state, frame, &octets, 99), ANSWER_NONE);
}

/* Cut anywhere; heap memory of just that size, so that the sanitizer sees a step too far. */
static void
truncated_frames_are_harmless(void **state)
{
	for (size_t i = 0; i < EXCHANGES; i++) {
		uint8_t whole[EXCHANGE_ROOM];
		uint32_t octets = octets_of_hex(answer_exchanges[i].request, whole);

		for (uint32_t cut = 0; cut < octets; cut++) {
			uint8_t *frame = malloc(cut + 1);
			uint32_t length = cut;

			memcpy(frame, whole, cut);
			frame[cut] = 0xa5;
			answer_is_candidate(frame, cut);
			answer_asked(*state, frame, cut);
			answer_make(*state, frame, &length, cut);
			assert_true(length <= cut);
			assert_int_equal(frame[cut], 0xa5);
			free(frame);
		}
	}
}

static void
random_frames_are_harmless(void **state)
{
	uint64_t seed = 1, answered = 0;

	for (uint32_t round = 0; round < 300000; round++) {
		size_t row = random_next(&seed) % EXCHANGES;
		uint8_t before[EXCHANGE_ROOM], whole[EXCHANGE_ROOM], *frame;
		uint32_t octets = octets_of_hex(answer_exchanges[row].request, whole), kept;
		uint32_t room = octets + (uint32_t)(random_next(&seed) % 16);
		enum answer kind;

		for (uint64_t n = random_next(&seed) % 4; n > 0; n--)
			whole[random_next(&seed) % octets] = (uint8_t)random_next(&seed);
		if (round % 3 == 0)
			octets = (uint32_t)(random_next(&seed) % octets);
		frame = malloc(room);
		memcpy(frame, whole, octets);
		memcpy(before, whole, octets);
		kept = octets;
		kind = answer_make(*state, frame, &octets, room);
		if (kind == ANSWER_NONE) {
			assert_int_equal(octets, kept);
			assert_memory_equal(frame, before, octets);
		} else {
			answered++;
			assert_in_range(octets, FRAME_OCTETS_MIN, room);
			assert_memory_equal(frame + 6, exchange_addresses[0].mac, MAC_OCTETS);
		}
		free(frame);
	}
	assert_true(answered > 30000); /* the unchanged ones at least */
}

static void
other_frames_are_no_candidates(void **state)
{
	static const uint8_t udp[60] = {[12] = 8, 0, 0x45, [23] = 17};

	(void)state;
	assert_false(answer_is_candidate(udp, sizeof(udp)));
	for (uint32_t octets = 0; octets < 14; octets++)
		assert_false(answer_is_candidate(udp, octets));
}

static void
every_address_is_found(void **state)
{
	static struct host_address addresses[ANSWER_ADDRESSES_MAX];
	struct answer_table *table;
	uint8_t ip[IPV6_OCTETS] = {10, 1};

	(void)state;
	for (uint32_t i = 0; i < ANSWER_ADDRESSES_MAX; i++) {
		addresses[i] = (struct host_address){.ipv6 = i % 2 != 0, .ip = {10, 0}};
		addresses[i].mac[5] = (uint8_t)i;
		addresses[i].mac[4] = (uint8_t)(i >> 8);
		addresses[i].ip[2] = (uint8_t)(i >> 9);
		addresses[i].ip[3] = (uint8_t)(i >> 1);
	}
	assert_int_equal(answer_table_create(&table, addresses, ANSWER_ADDRESSES_MAX, NULL), 0);
	for (uint32_t i = 0; i < ANSWER_ADDRESSES_MAX; i++) {
		const struct host_address *found =
			answer_table_find(table, addresses[i].ip, addresses[i].ipv6);

		assert_non_null(found);
		assert_memory_equal(found->mac, addresses[i].mac, MAC_OCTETS);
	}
	assert_null(answer_table_find(table, ip, false));
	assert_null(answer_table_find(table, ip, true));
	answer_table_free(table);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answers_are_right_to_the_octet),
		TEST(what_is_not_asked_rightly_is_not_answered),
		TEST(headers_ask_rightly),
		TEST(solicitations_are_validated),
		TEST(an_answer_without_room_is_none),
		TEST(truncated_frames_are_harmless),
		TEST(random_frames_are_harmless),
		TEST(other_frames_are_no_candidates),
		TEST(every_address_is_found),
	};

	return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}
