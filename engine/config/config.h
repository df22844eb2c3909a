/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checked configuration: params of the control methods as plain structs.
 *
 * control/ decodes into these; device/ and program/ read them, without ever seeing JSON.
 * Main thread, cold path; no DPDK, no jansson. Source: docs/design/0002-engine-interface.md, "Control".
 */
#ifndef WR_CONFIG_CONFIG_H
#define WR_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "config/bridge_config.h"
#include "config/config_limits.h"
#include "config/offloads_config.h"
#include "config/rss_config.h"
#include "config/stream_config.h"
#include "protocol/host_address.h"

struct json_t; /* jansson's json_t */

struct port_config {
	char name[CONFIG_NAME_SIZE];
	char location[CONFIG_LOCATION_SIZE];     /* not parsed yet: device/ does */
	uint32_t rx_queues, tx_queues;           /* 0…1024 */
	uint32_t rx_descriptors, tx_descriptors; /* per queue; 0: 1024 (Rx of PCI: 4096), fitted */
	uint32_t mbufs;                          /* receive mbufs, 0 only without receive queues */
	uint32_t frame_size_max;                 /* [octets] with FCS, 64…16384 */
	bool promiscuous;
	struct rss_config rss;
	struct offloads_config offloads; /* switched on where the device has them */
	bool one_pool;                   /* program/tx_pools.h */
	bool rx_times; /* frames are measured there: by the device's clock, if it has one */
	uint32_t tx_loop_frames; /* the Tx queues are looped over so many; 0: they are not */
};

struct ports_config {
	struct port_config *ports; /* n_ports of them, names all different */
	uint32_t n_ports;          /* 1…64 */
	bool any_files; /* files of any user are read or written later: traces, captures */
};

enum task_kind {
	TASK_RX,
	TASK_TX,
	TASK_FORWARD,
	TASK_REPLY,
	TASK_LOOP,
	TASK_BRIDGE,
};

/* What a forward task does besides: docs/design/0005-measurement.md. */
struct forward_config {
	char to_port[CONFIG_NAME_SIZE]; /* not resolved */
	uint32_t to_queue;
	enum rewrite rewrite;
	uint64_t work_cycles; /* spun for each frame, of the TSC; 0…CONFIG_WORK_CYCLES_MAX */
	double drop;          /* probabilities, 0…1 */
	double duplicate;
	double reorder;
	uint64_t delay_ns; /* 0…CONFIG_DELAY_NS_MAX */
	uint64_t seed;
};

struct task_config {
	char port
		[CONFIG_NAME_SIZE]; /* not resolved: whoever knows the open ports does; "": a ring */
	char stream[CONFIG_NAME_SIZE]; /* tx and loop only, as the next three; a loop is one part */
	enum task_kind kind;
	uint32_t queue;        /* 0…1023; of one worker per port and direction, of one task if rx */
	uint32_t burst;        /* [frames] 1…512 */
	uint32_t stream_index; /* streams[stream_index].name is stream */
	uint32_t part;         /* 0…parts-1; every part of a stream is in one task */
	uint32_t parts;        /* 1…65536, the same in all tasks of a stream */
	bool measure;          /* rx only: look for stamps */
	bool verify;           /* rx only, with measure: checksums and lengths */
	uint32_t distinct_max; /* rx and forward: 5-tuples to tell apart; 0: they are not counted */
	bool answer; /* rx and forward: requests go to the reply task of the port, which exists */
	struct forward_config forward;  /* forward only: port and queue are those it receives on */
	struct host_address *addresses; /* reply only: n_addresses of them, all different */
	uint32_t n_addresses;           /* 1…CONFIG_ADDRESSES_MAX */
	struct bridge_config *bridge;   /* bridge only */
};

struct worker_config {
	struct task_config *tasks;
	uint32_t n_tasks;  /* 1…65536 */
	uint32_t lcore;    /* 0…1023, all different; whether it exists is not checked here */
	uint64_t sleep_ns; /* 0: never; at most CONFIG_SLEEP_NS_MAX */
};

/* What a port receives, into a file: docs/design/0005-measurement.md. */
struct capture_config {
	char port[CONFIG_NAME_SIZE];     /* of at least one task that receives */
	char filter[CONFIG_FILTER_SIZE]; /* libpcap's, not compiled; "": everything */
	char *path;                      /* absolute; all different */
	uint32_t frames; /* 1…CONFIG_CAPTURE_FRAMES_MAX, at least one for each task */
	uint32_t octets; /* of each frame at most */
	bool pcapng;     /* else pcap */
	bool overwrite;  /* the oldest, when full */
	bool bad;        /* only what came duplicated, reordered or damaged */
};

struct program_config {
	struct worker_config *workers;
	struct stream_config *streams;   /* NULL when none; names all different; each has a task */
	struct capture_config *captures; /* NULL when none */
	struct ring_config *rings;       /* NULL when none; names all different */
	uint32_t n_captures;
	uint32_t n_rings;
	uint32_t n_workers;   /* 1…256 */
	uint32_t n_streams;   /* 0…65536 */
	uint32_t stamp_magic; /* 0…65535: of this program's stamps */
};

/* What program.preview asks for besides a program. */
struct preview_config {
	char *path;      /* absolute */
	bool pcapng;     /* else pcap */
	uint64_t frames; /* 1…CONFIG_PREVIEW_FRAMES_MAX */
};

/* What ports.exchange asks for. */
struct exchange_config {
	char port[CONFIG_NAME_SIZE]; /* not resolved */
	char receive
		[CONFIG_NAME_SIZE]; /* the port that receives, not resolved: port, or another one */
	uint32_t queue;             /* Tx, 0…1023 */
	struct exchange_frame {
		uint8_t *octets;
		uint32_t n_octets; /* without FCS */
	} *frames;
	uint32_t n_frames;   /* 0…CONFIG_EXCHANGE_FRAMES_MAX */
	char *filter;        /* libpcap's expression; "": everything */
	uint32_t answers;    /* 1…CONFIG_EXCHANGE_FRAMES_MAX: so many end it */
	uint64_t timeout_ns; /* 1…CONFIG_EXCHANGE_NS_MAX */
};

struct start_config {
	bool has_duration;    /* false: until stopped or all frames are sent */
	uint64_t duration_ns; /* 1…CONFIG_DURATION_NS_MAX when has_duration */
};

/* What traffic.rate asks for. */
struct rate_config {
	char stream[CONFIG_NAME_SIZE]; /* not resolved */
	double fps;                    /* CONFIG_FPS_MIN…CONFIG_FPS_MAX */
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
/* params has the keys of program.preview beside those of program.load. Captures are left out: nothing is received. */
int config_decode_preview(const struct json_t *params, struct program_config *program,
			  struct preview_config *out, struct error *err);
int config_decode_exchange(const struct json_t *params, struct exchange_config *out,
			   struct error *err);
int config_decode_hash(const struct json_t *params, struct hash_config *out, struct error *err);
int config_decode_steer(const struct json_t *params, struct steer_config *out, struct error *err);
int config_decode_start(const struct json_t *params, struct start_config *out, struct error *err);
int config_decode_rate(const struct json_t *params, struct rate_config *out, struct error *err);

/* For the methods whose params are {}. */
int config_decode_nothing(const struct json_t *params, struct error *err);

/* Does the task send a stream? */
static inline bool
config_task_streams(const struct task_config *task)
{
	return task->kind == TASK_TX || task->kind == TASK_LOOP;
}

/* Does the task receive from a queue of a port? */
static inline bool
config_task_receives(const struct task_config *task)
{
	return task->kind == TASK_RX || task->kind == TASK_FORWARD ||
	       (task->kind == TASK_BRIDGE && task->port[0] != '\0');
}

/* Does the capture see what the task receives? */
bool config_task_captures(const struct task_config *task, const struct capture_config *capture);

/* Free what a decoder filled and leave *config empty. An empty one is fine. */
void config_free_ports(struct ports_config *config);
void config_free_program(struct program_config *config);
void config_free_preview(struct preview_config *config);
void config_free_exchange(struct exchange_config *config);
void config_free_hash(struct hash_config *config);
void config_free_steer(struct steer_config *config);

#endif
