/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checked configuration: params of the control methods as plain structs.
 *
 * control/ decodes into these; device/ and program/ read them, without ever seeing JSON.
 * Main thread, cold path. No DPDK and no jansson here.
 * Source: docs/design/0002-engine-interface.md, "Control".
 */
#ifndef WR_CONFIG_CONFIG_H
#define WR_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct json_t; /* jansson's json_t */

/*
 * Limits of what one client may ask. They bound memory and keep arithmetic downstream free of
 * overflow; what the device or the machine allows is checked by whoever knows it.
 */
enum config_limit {
	CONFIG_NAME_SIZE = 32,      /* of port and stream names, with the final NUL */
	CONFIG_LOCATION_SIZE = 256, /* with the final NUL */
	CONFIG_PORTS_MAX = 64,
	CONFIG_QUEUES_MAX = 1024,
	CONFIG_DESCRIPTORS_MAX = 65535, /* rte_ethdev counts descriptors in 16 bits */
	CONFIG_MBUFS_MAX = 1 << 24,
	CONFIG_FRAME_SIZE_MIN = 64,
	CONFIG_FRAME_SIZE_MAX = 16384,
	CONFIG_TEMPLATE_OCTETS_MIN = CONFIG_FRAME_SIZE_MIN - 4, /* a template has no FCS */
	CONFIG_TEMPLATE_OCTETS_MAX = CONFIG_FRAME_SIZE_MAX - 4,
	CONFIG_LCORE_MAX = 1023,
	CONFIG_WORKERS_MAX = 256,
	CONFIG_TASKS_MAX = 65536, /* per worker */
	CONFIG_BURST_MAX = 512,
	CONFIG_STREAMS_MAX = 65536,
	CONFIG_PARTS_MAX = 65536,
	CONFIG_FIELDS_MAX = 128,   /* per stream */
	CONFIG_VALUES_MAX = 65536, /* per field */
	CONFIG_CHECKSUMS_MAX = 16, /* per stream */
	CONFIG_LENGTH_FIELDS_MAX = 16,
	CONFIG_OVERWRITES_MAX = 16,
	CONFIG_RANGES_MAX = 8,     /* per checksum */
	CONFIG_PERIOD_MAX = 1 << 20,
	CONFIG_PREVIEW_FRAMES_MAX = 1 << 24,
};
#define CONFIG_COUNT_MAX (UINT64_C(1) << 48)
#define CONFIG_FPS_MIN 1e-6 /* [fps] one frame in 11.6 days */
#define CONFIG_FPS_MAX 1e12 /* [fps] a thousand frames per nanosecond */
#define CONFIG_SPEED_MIN 1e-6
#define CONFIG_SPEED_MAX 1e6
#define CONFIG_SLEEP_NS_MAX UINT64_C(5000000) /* half of what makes a frame too late */
#define CONFIG_DURATION_NS_MAX (UINT64_C(366) * 86400 * 1000000000)

struct port_config {
	char name[CONFIG_NAME_SIZE];
	char location[CONFIG_LOCATION_SIZE]; /* not parsed yet: device/ does */
	uint32_t rx_queues;                  /* 0…1024 */
	uint32_t tx_queues;                  /* 0…1024 */
	uint32_t rx_descriptors;             /* per queue; 0: 1024, fitted to the device */
	uint32_t tx_descriptors;             /* per queue; 0: 1024, fitted to the device */
	uint32_t mbufs;                      /* receive mbufs, 0 only without receive queues */
	uint32_t frame_size_max;             /* [octets] with FCS, 64…16384 */
	bool promiscuous;
};

struct ports_config {
	struct port_config *ports; /* n_ports of them, names all different */
	uint32_t n_ports;          /* 1…64 */
};

enum field_kind {
	FIELD_STEPS,  /* first + step * k */
	FIELD_VALUES, /* values[k] */
	FIELD_RANDOM, /* first + ((splitmix64(seed, k) * range) >> 64) */
};

/*
 * A big-endian window of `octets` octets at `offset`; the value's low `bits` stand `shift` bits above the window's
 * lowest one, the window's other bits are left alone. In frame i, k = i mod count.
 */
struct field_config {
	enum field_kind kind;
	uint32_t offset; /* [octets] from the start of the frame; the window is in every length */
	uint32_t octets; /* 1…8 */
	uint32_t shift;  /* shift + bits is at most 8 * octets */
	uint32_t bits;   /* 1…64 */
	uint64_t first;  /* STEPS: value of k = 0; RANDOM: the least value */
	uint64_t step;   /* STEPS: modulo 2^64, so a negative step is a large one */
	uint64_t range;  /* RANDOM: greatest - least + 1; 0: all 2^64 */
	uint64_t seed;   /* RANDOM */
	uint64_t count;  /* 1…CONFIG_COUNT_MAX */
	uint64_t *values; /* VALUES: count of them, else NULL */
};

/* frame length without FCS - less, big-endian. */
struct length_config {
	uint32_t offset;
	uint32_t octets; /* 1, 2 or 4 */
	uint32_t less;
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

/* Octets that replace those of every frame of a trace. */
struct overwrite_config {
	uint8_t *octets; /* n_octets of them */
	uint32_t n_octets;
	uint32_t offset;
};

/* A capture file; path NULL: the stream is made of a template. */
struct trace_config {
	char *path;
	struct overwrite_config *overwrites; /* n_overwrites of them, NULL when none */
	uint32_t n_overwrites;
	bool has_speed; /* frames leave by the file's times, divided by speed */
	double speed;   /* CONFIG_SPEED_MIN…CONFIG_SPEED_MAX */
};

/*
 * Fields, length fields and stored checksums share no bit. No checksum covers one that comes later
 * in the list, so one pass in list order leaves every checksum right.
 */
struct stream_config {
	char name[CONFIG_NAME_SIZE];
	struct trace_config trace;
	uint8_t *template;                 /* frame_len_no_fcs octets; NULL with a trace */
	uint32_t *lengths;                 /* n_lengths of them, NULL when none: all as long as the template */
	struct length_config *length_fields; /* n_length_fields of them, NULL when none */
	struct field_config *fields;       /* n_fields of them, NULL when none */
	struct checksum_config *checksums; /* n_checksums of them, NULL when none */
	uint32_t frame_len_no_fcs;         /* the greatest: 60…16380; 0 with a trace */
	uint32_t n_lengths;                /* 0…CONFIG_PERIOD_MAX */
	uint32_t n_length_fields;          /* 0…16 */
	uint32_t n_fields;                 /* 0…128 */
	uint32_t n_checksums;              /* 0…16 */
	uint64_t period; /* [frames] lcm of the counts and n_lengths; UINT64_MAX: above CONFIG_PERIOD_MAX */
	bool has_fps;                      /* false: as fast as the device takes them, or by the trace's times */
	bool has_frames;                   /* false: no limit */
	bool has_duration;                 /* false: until traffic.stop */
	bool has_burst;
	double fps;           /* CONFIG_FPS_MIN…CONFIG_FPS_MAX when has_fps */
	uint64_t frames;      /* 1…INT64_MAX when has_frames */
	uint64_t delay_ns;    /* 0…CONFIG_DURATION_NS_MAX */
	uint64_t duration_ns; /* 1…CONFIG_DURATION_NS_MAX when has_duration */
	uint64_t burst_frames; /* 1…2^32 when has_burst */
	double burst_gap_ns;   /* 0…CONFIG_DURATION_NS_MAX when has_burst */
};

enum task_kind {
	TASK_RX,
	TASK_TX,
};

struct task_config {
	char port[CONFIG_NAME_SIZE];   /* not resolved: whoever knows the open ports does */
	char stream[CONFIG_NAME_SIZE]; /* tx only */
	enum task_kind kind;
	uint32_t queue;        /* 0…1023; of one worker per port and direction, of one task if rx */
	uint32_t burst;        /* [frames] 1…512 */
	uint32_t stream_index; /* tx only: streams[stream_index].name is stream */
	uint32_t part;         /* tx only: 0…parts-1; every part of a stream is in one task */
	uint32_t parts;        /* tx only: 1…65536, the same in all tasks of a stream */
};

struct worker_config {
	struct task_config *tasks;
	uint32_t n_tasks; /* 1…1024 */
	uint32_t lcore;    /* 0…1023, all different; whether it exists is not checked here */
	uint64_t sleep_ns; /* 0: never; at most CONFIG_SLEEP_NS_MAX */
};

struct program_config {
	struct worker_config *workers;
	struct stream_config *streams; /* NULL when none; names all different; each has a task */
	uint32_t n_workers;            /* 1…256 */
	uint32_t n_streams;            /* 0…65536 */
};

/* What program.preview asks for besides a program. */
struct preview_config {
	char *path;
	bool pcapng;     /* else pcap */
	uint64_t frames; /* 1…CONFIG_PREVIEW_FRAMES_MAX */
};

struct start_config {
	bool has_duration;    /* false: until stopped or all frames are sent */
	uint64_t duration_ns; /* 1…CONFIG_DURATION_NS_MAX when has_duration */
};

/*
 * Decode and check the params of one method. 0, and *out is valid until freed; or
 * ERROR_PARAMS (err->path says where: "streams[0].fields[1].offset") or -ENOMEM, and *out is
 * empty. Strict: an unknown, missing or mistyped key, a value out of range, a double or dangling
 * name are all refused. params stays the caller's.
 */
int config_decode_ports(const struct json_t *params, struct ports_config *out, struct error *err);
int config_decode_program(const struct json_t *params, struct program_config *out,
			  struct error *err);
/* params has the keys of program.preview beside those of program.load. */
int config_decode_preview(const struct json_t *params, struct program_config *program,
			  struct preview_config *out, struct error *err);
int config_decode_start(const struct json_t *params, struct start_config *out, struct error *err);

/* For the methods whose params are {}. */
int config_decode_nothing(const struct json_t *params, struct error *err);

/* Free what a decoder filled and leave *config empty. An empty one is fine. */
void config_free_ports(struct ports_config *config);
void config_free_program(struct program_config *config);
void config_free_preview(struct preview_config *config);

#endif
