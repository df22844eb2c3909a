/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One stream of a checked configuration: which frames, and when they are due; part of config.h.
 *
 * No DPDK and no jansson here. Source: docs/design/0002-engine-interface.md, "STREAM".
 */
#ifndef WR_CONFIG_STREAM_CONFIG_H
#define WR_CONFIG_STREAM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config_limits.h"

enum field_kind {
	FIELD_STEPS,  /* first + step * k */
	FIELD_VALUES, /* values[k] */
	FIELD_RANDOM, /* first + ((splitmix64(seed, k) * range) >> 64) */
};

/*
 * A big-endian window of `octets` octets at `offset`; the value's low `bits` stand `shift` bits
 * above the window's lowest one, the window's other bits are left alone. In frame i, k = (i / every)
 * mod count; in a ramp, i is the number of the frame's flow.
 */
struct field_config {
	enum field_kind kind;
	uint32_t offset;  /* [octets] from the start of the frame; the window is in every length */
	uint32_t octets;  /* 1…8 */
	uint32_t shift;   /* shift + bits is at most 8 * octets */
	uint32_t bits;    /* 1…64 */
	uint64_t first;   /* STEPS: value of k = 0; RANDOM: the least value */
	uint64_t step;    /* STEPS: modulo 2^64, so a negative step is a large one */
	uint64_t range;   /* RANDOM: greatest - least + 1; 0: all 2^64, and first is 0 */
	uint64_t seed;    /* RANDOM */
	uint64_t count;   /* 1…CONFIG_COUNT_MAX */
	uint64_t every;   /* 1…CONFIG_EVERY_MAX: frames in a row with the same value */
	uint64_t *values; /* VALUES: count of them, each below 2^bits; else NULL */
};

/* Frame length without FCS - less, big-endian; it fits in every length and is never negative. */
struct length_config {
	uint32_t offset; /* [octets] from the start of the frame; in every length */
	uint32_t octets; /* 1, 2 or 4 */
	uint32_t less;   /* [octets] */
};

struct octet_range {
	uint32_t offset; /* [octets] from the start of the frame */
	uint32_t octets; /* even, except in the last range; RANGE_TO_END in the last range only */
};
#define RANGE_TO_END UINT32_MAX

/* RFC 1071 over the ranges in order, with the two octets at offset taken as zero. */
struct checksum_config {
	struct octet_range ranges[CONFIG_RANGES_MAX]; /* disjoint, inside every length */
	uint32_t n_ranges;                            /* at least 1 */
	uint32_t offset;                              /* [octets] where it is stored */
	uint32_t add;                                 /* 0…65535, added to the sum */
	uint32_t add_length_less; /* frame length without FCS - this is added; or ADD_NO_LENGTH */
	bool udp;                 /* zero is sent as 0xffff (RFC 768) */
};
#define ADD_NO_LENGTH UINT32_MAX

/* Octets that replace those of every frame of a trace; no two overlap. */
struct overwrite_config {
	uint8_t *octets; /* n_octets of them */
	uint32_t n_octets;
	uint32_t offset; /* offset + n_octets is at most CONFIG_TEMPLATE_OCTETS_MAX */
};

/* A capture file; path NULL: the stream is made of a template. */
struct trace_config {
	char *path;                          /* absolute */
	struct overwrite_config *overwrites; /* n_overwrites of them, NULL when none */
	uint32_t n_overwrites;               /* 0…16 */
	bool has_speed; /* frames leave by the file's times, divided by speed; then has_fps is false */
	double speed; /* CONFIG_SPEED_MIN…CONFIG_SPEED_MAX when has_speed */
};

/* Flows that become active one after the other: docs/design/0007-flows.md. */
struct ramp_config {
	uint64_t flows;    /* in all, 1…CONFIG_FLOWS_MAX; 0: no ramp */
	uint64_t start;    /* 1…flows: active from the stream's start on */
	double per_second; /* CONFIG_FPS_MIN…CONFIG_FPS_MAX: added, and taken away */
	uint64_t
		hold_ns; /* 0…CONFIG_DURATION_NS_MAX: between the last added and the first taken away */
	bool down;       /* false: they stay */
};

/*
 * Fields, length fields and stored checksums share no bit. No checksum covers one that comes later
 * in the list, so one pass in list order leaves every checksum right.
 */
struct stream_config {
	char name[CONFIG_NAME_SIZE];
	struct trace_config trace;
	uint8_t *template;                   /* frame_len_no_fcs octets; NULL with a trace */
	uint32_t *lengths;                   /* n_lengths of them; NULL: the whole template */
	struct length_config *length_fields; /* n_length_fields of them, NULL when none */
	struct field_config *fields;         /* n_fields of them, NULL when none */
	struct checksum_config *checksums;   /* n_checksums of them, NULL when none */
	uint32_t frame_len_no_fcs;           /* the template's: 60…16380; 0 with a trace */
	uint32_t n_lengths;                  /* 0…CONFIG_PERIOD_MAX */
	uint32_t n_length_fields;            /* 0…16 */
	uint32_t n_fields;                   /* 0…128 */
	uint32_t n_checksums;                /* 0…16 */
	/* [frames] lcm of the counts and n_lengths; UINT64_MAX: above CONFIG_PERIOD_MAX; 0: a trace,
	 * whose frames are counted when it is read */
	uint64_t period;
	bool has_fps;      /* false: as fast as the device takes them, or by a trace's times */
	bool has_frames;   /* false: no limit */
	bool has_duration; /* false: until traffic.stop */
	bool has_burst;    /* then has_fps, not trace.has_speed, and sent by one part */
	bool has_stamp;
	bool whole_bursts; /* then has_fps, and not has_burst: nothing less is sent at a time */
	double fps;        /* CONFIG_FPS_MIN…CONFIG_FPS_MAX when has_fps */
	uint32_t parts;    /* tx tasks that share the stream */
	uint32_t stamp;    /* id of part 0, 0…65535, those of all parts unique; when has_stamp */
	char (*receivers)
		[CONFIG_NAME_SIZE]; /* ports, not resolved; n_receivers of them; NULL: all */
	uint32_t n_receivers;       /* 0 unless has_stamp */
	uint64_t frames;            /* 1…INT64_MAX when has_frames */
	uint64_t delay_ns;          /* 0…CONFIG_DURATION_NS_MAX */
	uint64_t duration_ns;       /* 1…CONFIG_DURATION_NS_MAX when has_duration */
	uint64_t burst_frames;      /* 1…CONFIG_BURST_FRAMES_MAX when has_burst */
	double burst_gap_ns;        /* 0…CONFIG_DURATION_NS_MAX when has_burst */
	struct ramp_config ramp;    /* then n_lengths is 0 or 1, and template is not NULL */
};

#endif
