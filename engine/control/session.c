/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>

#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include "base/privileges.h"
#include "base/stage.h"
#include "config/config.h"
#include "control/rss_hash.h"
#include "control/steer.h"
#include "device/memory_node.h"
#include "device/port_privileges.h"
#include "device/tx_loop.h"
#include "program/capture_build.h"
#include "program/kept_frames.h"
#include "program/loop_run.h"
#include "program/program_preview.h"

static json_t *
describe_lcores(void)
{
	json_t *lcores = json_array();
	unsigned int lcore;

	RTE_LCORE_FOREACH_WORKER(lcore) {
		json_array_append_new(lcores, json_pack("{s:i, s:i}", "lcore", (int)lcore, "socket",
							(int)rte_lcore_to_socket_id(lcore)));
	}
	return lcores;
}

static json_t *
engine_info(struct session *session, const json_t *params, struct error *err)
{
	if (config_decode_nothing(params, err) != 0)
		return NULL;
	return json_pack("{s:s, s:s, s:i, s:I, s:i, s:b, s:o, s:s}", "version", WR_VERSION, "dpdk",
			 rte_version(), "pid", (int)getpid(), "tsc_hz",
			 (json_int_t)tsc_clock_hz(&session->clock), "main_lcore",
			 (int)rte_get_main_lcore(), "hugepages", rte_eal_has_hugepages(), "lcores",
			 describe_lcores(), "transmit", WR_DPDK_LINK);
}

/* The Tx ring that a port is looped over, null on a port of the normal engine. */
static json_t *
describe_tx_loop(const struct port *port)
{
	if (port->tx_loop == NULL)
		return json_null();
	return json_pack("{s:s, s:b, s:i, s:i}", "driver", port->tx_loop->name, "proven",
			 port->tx_loop->proven, "descriptors", (int)port->tx_descriptors, "laps",
			 (int)(port->tx_descriptors / port->config.tx_loop_frames));
}

static json_t *
describe_offloads(const struct port_offloads *on)
{
	return json_pack("{s:b, s:b, s:b, s:b, s:b}", "tx_checksums", on->tx_checksums,
			 "rx_checksums", on->rx_checksums, "tso", on->tso, "lro", on->lro,
			 "fast_free", on->fast_free);
}

static json_t *
describe_port(const struct port *port)
{
	uint64_t line_bps = port_line_bps(port);
	char mac[RTE_ETHER_ADDR_FMT_SIZE] = "", device[RTE_ETH_NAME_MAX_LEN] = "", firmware[128];
	struct rte_ether_addr address;
	uint16_t mtu = 0;

	if (rte_eth_macaddr_get(port->port_id, &address) == 0)
		rte_ether_format_addr(mac, sizeof(mac), &address);
	rte_eth_dev_get_name_by_port(port->port_id, device);
	rte_eth_dev_get_mtu(port->port_id, &mtu);
	port_firmware(port, firmware, sizeof(firmware));
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:i, s:s, s:b, s:o, s:b, s:b, s:i, s:i, s:i, s:i, s:i, s:i, s:i, "
		"s:o, s:o, s:o, s:s?}",
		"firmware", firmware, "rx_clock",
		port_clock_is_used(&port->clock) ? "device" : "tsc", "name", port->config.name,
		"location", port->config.location, "port_id", (int)port->port_id, "device", device,
		"driver", port->driver, "socket", port_socket(port), "mac", mac, "link_up",
		port->link.link_status == RTE_ETH_LINK_UP, "link_speed_bps",
		line_bps > 0 ? json_integer((json_int_t)line_bps) : json_null(), "full_duplex",
		port->link.link_duplex == RTE_ETH_LINK_FULL_DUPLEX, "autoneg",
		port->link.link_autoneg == RTE_ETH_LINK_AUTONEG, "rx_queues",
		(int)port->config.rx_queues, "tx_queues", (int)port->config.tx_queues,
		"rx_descriptors", (int)port->rx_descriptors, "tx_descriptors",
		(int)port->tx_descriptors, "max_rx_queues", (int)port->max_rx_queues,
		"max_tx_queues", (int)port->max_tx_queues, "mtu", (int)mtu, "rss",
		rss_describe(port), "tx_loop", describe_tx_loop(port), "offloads",
		describe_offloads(&port->offloads), "flow_control",
		port_flow_ctrl_mode(port->port_id));
}

/* A device may hold frames of any pool until it is closed: first all devices, then the pools. */
static void
close_ports(struct session *session)
{
	for (uint32_t i = 0; i < session->port_count; i++) {
		port_close(&session->ports[i]);
		stage_reached("port closed", "");
	}
	stage_reached("ports closed", "");
	for (uint32_t i = 0; i < session->port_count; i++) {
		port_free(&session->ports[i]);
		frame_pool_destroy(session->exchanges[i].pool);
	}
	free(session->exchanges);
	free(session->ports);
	session->exchanges = NULL;
	session->ports = NULL;
	session->port_count = 0;
}

static int
open_ports(struct session *session, const struct ports_config *config, struct error *err)
{
	session->ports = calloc(config->n_ports, sizeof(session->ports[0]));
	session->exchanges = calloc(config->n_ports, sizeof(session->exchanges[0]));
	if (session->ports == NULL || session->exchanges == NULL) {
		close_ports(session);
		return error_set(err, -ENOMEM, NULL, "no memory for %u ports", config->n_ports);
	}
	for (uint32_t i = 0; i < config->n_ports; i++) {
		char path[32];
		int code;

		snprintf(path, sizeof(path), "ports[%u]", i);
		code = port_open(&session->ports[i], &config->ports[i], i,
				 tsc_clock_hz(&session->clock), path, err);
		if (code != 0) {
			close_ports(session);
			return code;
		}
		session->port_count = i + 1;
	}
	return 0;
}

/*
 * From here on nothing is opened but what these ports make anew. A thread that does not obey, a driver's that takes no
 * signals, is no reason to measure nothing.
 */
static void
give_up_privileges(const struct session *session, bool any_files)
{
	uint64_t keep = any_files ? PRIVILEGE(CAP_DAC_OVERRIDE) : 0;
	struct error err = {0, "", ""};

	for (uint32_t i = 0; i < session->port_count; i++) {
		const struct port *port = &session->ports[i];

		keep |= port_privileges(&port->location, port->config.location, port->driver);
	}
	/* New memory's physical addresses: /proc/self/pagemap shows them to CAP_SYS_ADMIN only. */
	if (rte_eal_iova_mode() == RTE_IOVA_PA)
		keep |= PRIVILEGE(CAP_SYS_ADMIN);
	if (privileges_keep(keep, &err) != 0)
		fprintf(stderr, "wirerate-engine: %s\n", err.text);
}

static json_t *
ports_open(struct session *session, const json_t *params, struct error *err)
{
	struct ports_config config;
	bool any_files;
	json_t *infos;
	int code;

	if (session->ports != NULL) {
		error_set(err, -EBUSY, NULL, "ports are open already; one ports.open per session");
		return NULL;
	}
	if (config_decode_ports(params, &config, err) != 0)
		return NULL;
	any_files = config.any_files;
	code = open_ports(session, &config, err);
	config_free_ports(&config);
	if (code != 0)
		return NULL;
	give_up_privileges(session, any_files);
	ports_link_wait(session->ports, session->port_count);
	infos = json_array();
	for (uint32_t i = 0; i < session->port_count; i++)
		json_array_append_new(infos, describe_port(&session->ports[i]));
	return json_pack("{s:o}", "ports", infos);
}

/* The numbers of the bits that are set. */
static json_t *
describe_nodes(uint64_t nodes)
{
	json_t *list = json_array();

	for (int node = 0; node < MEMORY_NODES_MAX; node++)
		if ((nodes >> node & 1) != 0)
			json_array_append_new(list, json_integer(node));
	return list;
}

static json_t *
ports_memory(struct session *session, const json_t *params, struct error *err)
{
	json_t *ports;

	if (config_decode_nothing(params, err) != 0)
		return NULL;
	ports = json_array();
	for (uint32_t i = 0; i < session->port_count; i++) {
		const struct port *port = &session->ports[i];
		uint64_t nodes = memory_nodes_of_pool(port->rx_pool);

		if (session->program != NULL)
			nodes |= frame_pool_nodes(session->program->pools[i]);
		json_array_append_new(ports, json_pack("{s:s, s:o}", "port", port->config.name,
						       "nodes", describe_nodes(nodes)));
	}
	return json_pack("{s:o}", "ports", ports);
}

static json_t *
ports_exchange(struct session *session, const json_t *params, struct error *err)
{
	if (session->program != NULL) {
		error_set(err, -EBUSY, NULL,
			  "a program is loaded, whose workers receive; program.unload it first");
		return NULL;
	}
	return exchange_frames(session->exchanges, session->ports, session->port_count,
			       tsc_clock_hz(&session->clock), params, err);
}

static json_t *
ports_steer(struct session *session, const json_t *params, struct error *err)
{
	return steer_ports(session->ports, session->port_count, params, err);
}

static json_t *
hash_inputs(struct session *session, const json_t *params, struct error *err)
{
	(void)session;
	return rss_hash(params, err);
}

static int
create_program(struct session *session, const struct program_config *config, uint64_t hz,
	       struct program **out, struct error *err)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/counters-%u", session->run_dir, ++session->programs);
	return program_create(out, config, session->ports, session->port_count, session->programs,
			      path, hz, err);
}

static void
end_program(struct session *session, struct program *program)
{
	kept_frames_take(&session->kept, program);
	program_destroy(program);
}

/* What ended programs have left in devices may be what memory is short of. */
static int
create_program_anyhow(struct session *session, const struct program_config *config,
		      struct program **out, struct error *err)
{
	int code;

	kept_frames_release(&session->kept, false);
	code = create_program(session, config, tsc_clock_hz(&session->clock), out, err);
	if (code != -ENOMEM || session->kept == NULL)
		return code;
	code = kept_frames_recall(&session->kept, session->ports, session->port_count, err);
	ports_link_wait(session->ports, session->port_count);
	return code != 0 ? code
			 : create_program(session, config, tsc_clock_hz(&session->clock), out, err);
}

static json_t *
program_load(struct session *session, const json_t *params, struct error *err)
{
	struct program_config config;
	struct program *program = NULL;
	int code;

	if (session->program != NULL) {
		error_set(err, -EBUSY, NULL, "a program is loaded; program.unload it first");
		return NULL;
	}
	if (config_decode_program(params, &config, err) != 0)
		return NULL;
	tsc_clock_settle(&session->clock);
	code = create_program_anyhow(session, &config, &program, err);
	config_free_program(&config);
	if (code != 0)
		return NULL;
	if (program_run(program, err) != 0) {
		end_program(session, program);
		return NULL;
	}
	session->program = program;
	return json_pack("{s:s, s:I}", "counters", segment_path(program->segment), "octets",
			 (json_int_t)segment_octets(program->segment));
}

/* No device sees these frames, so that they can be freed at once. */
static json_t *
preview(struct session *session, const json_t *params, struct error *err)
{
	struct preview_config config;
	struct preview_counts counts = {0, 0};
	struct program_config program_config;
	struct program *program = NULL;
	int code;

	if (config_decode_preview(params, &program_config, &config, err) != 0)
		return NULL;
	code = create_program(session, &program_config, PREVIEW_HZ, &program, err);
	if (code == 0)
		code = program_preview(program, &config, &counts, err);
	program_destroy(program);
	config_free_program(&program_config);
	config_free_preview(&config);
	if (code != 0)
		return NULL;
	return json_pack("{s:I, s:I}", "frames", (json_int_t)counts.frames, "octets",
			 (json_int_t)counts.octets);
}

static int
need_program(const struct session *session, struct error *err)
{
	if (session->program != NULL)
		return 0;
	return error_set(err, -ENOENT, NULL, "no program is loaded; program.load comes first");
}

static json_t *
traffic_start(struct session *session, const json_t *params, struct error *err)
{
	struct start_config config;

	if (config_decode_start(params, &config, err) != 0 || need_program(session, err) != 0)
		return NULL;
	if (atomic_load(&session->program->traffic.start_tsc) != TRAFFIC_NOT_STARTED) {
		error_set(err, -EALREADY, NULL,
			  "traffic was started already; load the program anew for another trial");
		return NULL;
	}
	return json_pack("{s:I}", "start_tsc",
			 (json_int_t)program_start(session->program,
						   config.has_duration ? config.duration_ns : 0));
}

static json_t *
traffic_rate(struct session *session, const json_t *params, struct error *err)
{
	struct rate_config config;
	uint64_t from_tsc;

	if (config_decode_rate(params, &config, err) != 0 || need_program(session, err) != 0)
		return NULL;
	if (program_set_rate(session->program, config.stream, config.fps, &from_tsc, err) != 0)
		return NULL;
	return json_pack("{s:I}", "from_tsc", (json_int_t)from_tsc);
}

static json_t *
traffic_stop(struct session *session, const json_t *params, struct error *err)
{
	if (config_decode_nothing(params, err) != 0 || need_program(session, err) != 0)
		return NULL;
	program_stop_tx(session->program);
	return json_object();
}

/* Whatever becomes of the files, the program is no more. */
static json_t *
write_captures(struct program *program, struct error *err)
{
	const struct program_captures *captures = program->captures;
	json_t *written;

	if (captures_write(program, err) != 0)
		return NULL;
	written = json_array();
	for (uint32_t i = 0; i < captures_count(captures); i++)
		json_array_append_new(written, json_pack("{s:s, s:I}", "path",
							 captures_path(captures, i), "frames",
							 (json_int_t)captures_frames(captures, i)));
	return json_pack("{s:o}", "captures", written);
}

/* What became of the looped queues; their ports' links are waited for, which a restart has taken down. */
static json_t *
describe_loops(const struct session *session, const struct program *program)
{
	json_t *loops = json_array();

	for (uint32_t l = 0; l < program->loop_count; l++) {
		const struct program_loop *loop = &program->loops[l];

		json_array_append_new(loops, json_pack("{s:s, s:i, s:i, s:i, s:I}", "port",
						       loop->port->config.name, "queue",
						       (int)loop->task->tx.queue_id, "descriptors",
						       (int)loop->port->tx_descriptors, "changed",
						       (int)loop->changed, "unfetched",
						       (json_int_t)loop->task->ring.in_flight));
	}
	if (program->loop_count > 0)
		ports_link_wait(session->ports, session->port_count);
	return loops;
}

static json_t *
program_unload(struct session *session, const json_t *params, struct error *err)
{
	struct program *program = session->program;
	json_t *result;

	if (config_decode_nothing(params, err) != 0 || need_program(session, err) != 0)
		return NULL;
	program_halt(program);
	session->program = NULL;
	result = write_captures(program, err);
	if (result != NULL)
		json_object_set_new(result, "loops", describe_loops(session, program));
	if (loops_failed(program, err) != 0) {
		json_decref(result);
		result = NULL;
	}
	end_program(session, program);
	return result;
}

static json_t *
engine_shutdown(struct session *session, const json_t *params, struct error *err)
{
	if (config_decode_nothing(params, err) != 0)
		return NULL;
	session->shutdown = true;
	return json_object();
}

static const struct method {
	const char *name;
	json_t *(*call)(struct session *, const json_t *, struct error *);
} methods[] = {
	{"engine.info", engine_info},
	{"ports.open", ports_open},
	{"ports.memory", ports_memory},
	{"ports.steer", ports_steer},
	{"rss.hash", hash_inputs},
	{"ports.exchange", ports_exchange},
	{"program.load", program_load},
	{"program.preview", preview},
	{"traffic.start", traffic_start},
	{"traffic.rate", traffic_rate},
	{"traffic.stop", traffic_stop},
	{"program.unload", program_unload},
	{"engine.shutdown", engine_shutdown},
};

json_t *
session_dispatch(void *user, const char *method, const json_t *params, struct error *err)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		json_t *result;

		if (strcmp(methods[i].name, method) != 0)
			continue;
		stage_reached(method, "");
		result = methods[i].call(user, params, err);
		stage_reached(method, " done");
		return result;
	}
	error_set(err, -ENOSYS, "method", "unknown method \"%.64s\"", method);
	return NULL;
}

void
session_end_traffic(struct session *session)
{
	if (session->program != NULL)
		program_stop_tx(session->program);
}

void
session_tick(struct session *session)
{
	struct clock_reading now = clock_read();

	tsc_clock_note(&session->clock, &now);
	if (session->program != NULL)
		program_sample(session->program);
}

void
session_close(struct session *session)
{
	stage_reached("close", "");
	if (session->program != NULL)
		program_halt(session->program);
	close_ports(session);
	program_destroy(session->program);
	kept_frames_release(&session->kept, true);
	stage_reached("closed", "");
}
