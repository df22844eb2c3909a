/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capture files made by hand, number by number, so that reader and writer are not judged by each other alone.
 * Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng, RFC 1952 through zlib.
 *
 * Included by trace_fixture.h only.
 */
#ifndef WR_TESTS_TRACE_CAPTURES_H
#define WR_TESTS_TRACE_CAPTURES_H

#include <stdbool.h>

#include <zlib.h>

#include "tests/test_support.h"

enum { PCAP_US = (int)0xa1b2c3d4, PCAP_NS = (int)0xa1b23c4d };
enum { LINK_ETHERNET = 1, LINK_LINUX_SLL = 113 };

struct capture {
	size_t n;
	bool big_endian;
	uint8_t octets[200000];
};

static inline void
add_number(struct capture *capture, uint64_t value, unsigned int octets)
{
	for (unsigned int i = 0; i < octets; i++) {
		unsigned int place = capture->big_endian ? octets - 1 - i : i;

		capture->octets[capture->n++] = (uint8_t)(value >> 8 * place);
	}
}

/* Octet k of the frame that begins with `first`. */
static inline uint8_t
octet_of(uint8_t first, uint32_t k)
{
	return (uint8_t)(first + k);
}

static inline void
add_octets(struct capture *capture, uint8_t first, uint32_t n, uint32_t padded)
{
	for (uint32_t k = 0; k < padded; k++)
		capture->octets[capture->n++] = k < n ? octet_of(first, k) : 0;
}

static inline void
pcap_begin(struct capture *capture, int magic, uint32_t link_type, bool big_endian)
{
	capture->n = 0;
	capture->big_endian = big_endian;
	add_number(capture, (uint32_t)magic, 4);
	add_number(capture, 2, 2);
	add_number(capture, 4, 2);
	add_number(capture, 0, 8);
	add_number(capture, 65535, 4);
	add_number(capture, link_type, 4);
}

static inline void
pcap_frame(struct capture *capture, uint32_t seconds, uint32_t fraction, uint8_t first,
	   uint32_t captured, uint32_t wire)
{
	add_number(capture, seconds, 4);
	add_number(capture, fraction, 4);
	add_number(capture, captured, 4);
	add_number(capture, wire, 4);
	add_octets(capture, first, captured, captured);
}

static inline void
pcapng_begin(struct capture *capture, bool big_endian)
{
	capture->n = 0;
	capture->big_endian = big_endian;
	add_number(capture, 0x0a0d0d0a, 4);
	add_number(capture, 28, 4);
	add_number(capture, 0x1a2b3c4d, 4);
	add_number(capture, 1, 2);
	add_number(capture, 0, 2);
	add_number(capture, UINT64_MAX, 8);
	add_number(capture, 28, 4);
}

/* resolution: a negative power of ten, 0 for no such option, which means 6. */
static inline void
pcapng_interface(struct capture *capture, uint16_t link_type, uint8_t resolution)
{
	uint32_t octets = resolution == 0 ? 20 : 32;

	add_number(capture, 1, 4);
	add_number(capture, octets, 4);
	add_number(capture, link_type, 2);
	add_number(capture, 0, 2);
	add_number(capture, 65535, 4);
	if (resolution != 0) {
		add_number(capture, 9, 2);
		add_number(capture, 1, 2);
		capture->octets[capture->n++] = resolution;
		add_number(capture, 0, 3);
		add_number(capture, 0, 4);
	}
	add_number(capture, octets, 4);
}

static inline void
pcapng_frame(struct capture *capture, uint32_t interface, uint64_t time, uint8_t first,
	     uint32_t captured, uint32_t wire)
{
	uint32_t padded = (captured + 3) / 4 * 4;

	add_number(capture, 6, 4);
	add_number(capture, 32 + padded, 4);
	add_number(capture, interface, 4);
	add_number(capture, time >> 32, 4);
	add_number(capture, time & UINT32_MAX, 4);
	add_number(capture, captured, 4);
	add_number(capture, wire, 4);
	add_octets(capture, first, captured, padded);
	add_number(capture, 32 + padded, 4);
}

/* The same file packed. */
static inline void
pack(struct capture *capture)
{
	static struct capture plain;
	z_stream packer = {.next_in = plain.octets,
			   .avail_in = (unsigned int)capture->n,
			   .next_out = capture->octets,
			   .avail_out = sizeof(capture->octets)};

	plain = *capture;
	assert_int_equal(deflateInit2(&packer, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&packer, Z_FINISH), Z_STREAM_END);
	capture->n = sizeof(capture->octets) - packer.avail_out;
	deflateEnd(&packer);
}

#endif
