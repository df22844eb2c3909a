/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filters match what pcap-filter(7) says, and what is none is refused in libpcap's words.
 *
 * Run by `meson test`, no DPDK.
 */
#include "tests/test_support.h"

#include "trace/frame_filter.h"

enum { OCTETS = 60 };

/* IPv4, UDP, from port 53 to port 1024, behind a VLAN tag or not. */
static const uint8_t *
make_frame(uint8_t frame[OCTETS], bool tagged)
{
	static const uint8_t tag[4] = {0x81, 0x00, 0x00, 0x07};
	static const uint8_t rest[] = {0x08, 0x00, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0,
				       0,    10,   0,    0, 1, 10, 0, 0, 2, 0, 53, 4,  0};
	uint32_t at = 12;

	memset(frame, 0, OCTETS);
	if (tagged) {
		memcpy(frame + at, tag, sizeof(tag));
		at += sizeof(tag);
	}
	memcpy(frame + at, rest, sizeof(rest));
	return frame;
}

static bool
matches(const char *expression, const uint8_t *frame, uint32_t stored)
{
	struct frame_filter *filter;
	struct error err = {0};
	bool matched;

	if (frame_filter_create(&filter, expression, &err) != 0)
		fail_msg("%s: %s", expression, err.text);
	matched = frame_filter_matches_head(filter, frame, stored, OCTETS);
	if (stored == OCTETS)
		assert_int_equal(frame_filter_matches(filter, frame, OCTETS), matched);
	frame_filter_free(filter);
	return matched;
}

static void
frames_match_as_the_manual_says(void **state)
{
	uint8_t plain[OCTETS], tagged[OCTETS];

	(void)state;
	make_frame(plain, false);
	make_frame(tagged, true);
	assert_true(matches("udp port 53", plain, OCTETS));
	assert_false(matches("udp port 54", plain, OCTETS));
	assert_false(matches("udp port 53", tagged, OCTETS));
	assert_true(matches("vlan 7 and udp port 53", tagged, OCTETS));
	assert_false(matches("arp", plain, OCTETS));
	assert_true(matches("src 10.0.0.1 and dst 10.0.0.2", plain, OCTETS));
	assert_true(matches("greater 60", plain, OCTETS));
	assert_false(matches("greater 61", plain, OCTETS));
}

static void
what_is_not_there_does_not_match(void **state)
{
	uint8_t plain[OCTETS];

	(void)state;
	make_frame(plain, false);
	assert_true(matches("greater 60", plain, 14)); /* the length is the whole frame's */
	assert_true(matches("ip", plain, 14));
	assert_false(matches("udp port 53", plain, 14));
	assert_false(matches("ip", plain, 0));
}

static void
no_expression_matches_everything(void **state)
{
	struct frame_filter *filter = (struct frame_filter *)state; /* not NULL */

	assert_int_equal(frame_filter_create(&filter, "", NULL), 0);
	assert_null(filter);
	assert_true(frame_filter_matches(filter, NULL, 0));
	assert_true(frame_filter_matches_head(filter, NULL, 0, 100));
	frame_filter_free(filter);
}

static void
nonsense_is_refused(void **state)
{
	static const char *const expressions[] = {
		"udp prot 53",  "port",      "(((", "host 1.2.3.4.5",
		"ip broadcast", "gateway x", "\x01"};
	struct frame_filter *filter;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(expressions); i++) {
		assert_int_equal(frame_filter_create(&filter, expressions[i], &err), -EINVAL);
		assert_null(filter);
		assert_non_null(strstr(err.text, "is no filter: "));
		assert_int_equal(frame_filter_create(&filter, expressions[i], NULL), -EINVAL);
	}
	frame_filter_create(&filter, "udp prot 53", &err);
	assert_non_null(strstr(err.text, "syntax error"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_match_as_the_manual_says),
		cmocka_unit_test(what_is_not_there_does_not_match),
		cmocka_unit_test(no_expression_matches_everything),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests_name("frame_filter", tests, NULL, NULL);
}
