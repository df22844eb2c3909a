/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/exchange.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#include "base/units.h"
#include "program/program_ports.h"
#include "program/tx_pools.h"
#include "trace/frame_filter.h"

enum { EXCHANGE_BURST = 32, FRAME_OCTETS_MIN = CONFIG_TEMPLATE_OCTETS_MIN };

/* One call of the method. */
struct call {
	const struct exchange_config *config;
	struct port *port;
	const struct port *receiver; /* the same, or another one */
	struct exchange *exchange;
	struct frame_filter *filter;
	json_t *received; /* array of hex strings; and of each its Rx queue and the device's hash or null */
	json_t *queues, *hashes;
	uint32_t sent;
	uint64_t hz;
	uint64_t deadline; /* [cycles] */
};

static int
check_ports(const struct exchange_config *config, const struct port *port,
	    const struct port *receiver, struct error *err)
{
	char path[32];

	if (config->queue >= port->config.tx_queues)
		return error_set(err, -EINVAL, "queue",
				 "queue %u: port %s was opened with %u Tx queues", config->queue,
				 config->port, port->config.tx_queues);
	if (receiver->config.rx_queues == 0)
		return error_set(err, -EINVAL, receiver == port ? "port" : "receive",
				 "port %s was opened without Rx queues, so nothing can come back; "
				 "open it with one",
				 config->receive);
	for (uint32_t i = 0; i < config->n_frames; i++) {
		uint32_t frame_size = config->frames[i].n_octets + FCS_OCTETS;

		if (frame_size <= port->config.frame_size_max)
			continue;
		snprintf(path, sizeof(path), "frames[%u]", i);
		return error_set(err, -EINVAL, path,
				 "a frame of %u octets with FCS; port %s was opened for %u",
				 frame_size, config->port, port->config.frame_size_max);
	}
	return 0;
}

static int
create_frames(struct exchange *exchange, const struct port *port, struct error *err)
{
	uint32_t count = port_frames_held_max(port) + EXCHANGE_BURST;
	uint16_t *room;
	char name[24];
	int code;

	if (exchange->pool != NULL)
		return 0;
	room = malloc(count * sizeof(room[0]));
	if (room == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for %u frames", count);
	for (uint32_t i = 0; i < count; i++)
		room[i] = (uint16_t)(port->config.frame_size_max - FCS_OCTETS);
	snprintf(name, sizeof(name), "wr_exchange_%u", port->port_id);
	code = frame_pool_create(&exchange->pool, name, room, count, port_socket(port), err);
	free(room);
	if (code != 0)
		return code;
	exchange->frames = frame_pool_mbufs(exchange->pool);
	exchange->frame_count = count;
	return 0;
}

static struct rte_mbuf *
write_frame(struct exchange *exchange, const struct exchange_frame *frame)
{
	struct rte_mbuf *mbuf = exchange->frames[exchange->filled % exchange->frame_count];
	uint16_t octets = (uint16_t)RTE_MAX(frame->n_octets, (uint32_t)FRAME_OCTETS_MIN);

	memset(rte_pktmbuf_mtod(mbuf, void *), 0, octets);
	memcpy(rte_pktmbuf_mtod(mbuf, void *), frame->octets, frame->n_octets);
	mbuf->data_len = octets;
	mbuf->pkt_len = octets;
	return mbuf;
}

/* As many of the frames as the device takes now. */
static void
send_some(struct call *call)
{
	const struct exchange_config *config = call->config;

	while (call->sent < config->n_frames) {
		struct rte_mbuf *mbuf = write_frame(call->exchange, &config->frames[call->sent]);

		if (rte_eth_tx_burst(call->port->port_id, (uint16_t)config->queue, &mbuf, 1) == 0)
			return;
		call->exchange->filled++;
		call->sent++;
	}
}

static bool
keep_hex(struct call *call, const uint8_t *octets, uint32_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *text = malloc(2 * (size_t)n + 1);

	if (text == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		text[2 * i] = digits[octets[i] >> 4];
		text[2 * i + 1] = digits[octets[i] & 15];
	}
	json_array_append_new(call->received, json_stringn(text, 2 * (size_t)n));
	free(text);
	return true;
}

/* Where a frame that was kept came in. */
static void
keep_place(struct call *call, const struct rte_mbuf *mbuf, uint16_t queue)
{
	bool hashed = (mbuf->ol_flags & RTE_MBUF_F_RX_RSS_HASH) != 0;

	json_array_append_new(call->queues, json_integer(queue));
	json_array_append_new(call->hashes, hashed ? json_integer(mbuf->hash.rss) : json_null());
}

static void
keep_match(struct call *call, const struct rte_mbuf *mbuf, uint16_t queue)
{
	uint32_t octets = rte_pktmbuf_pkt_len(mbuf);
	uint8_t *copy = malloc(octets + 1);
	const uint8_t *frame = copy != NULL ? rte_pktmbuf_read(mbuf, 0, octets, copy) : NULL;

	if (frame != NULL && json_array_size(call->received) < call->config->answers &&
	    frame_filter_matches(call->filter, frame, octets) && keep_hex(call, frame, octets))
		keep_place(call, mbuf, queue);
	free(copy);
}

static void
receive_some(struct call *call)
{
	struct rte_mbuf *mbufs[EXCHANGE_BURST];

	for (uint16_t q = 0; q < call->receiver->rx_queues; q++) {
		uint16_t n = rte_eth_rx_burst(call->receiver->port_id, q, mbufs, EXCHANGE_BURST);

		for (uint16_t i = 0; i < n; i++)
			keep_match(call, mbufs[i], q);
		rte_pktmbuf_free_bulk(mbufs, n);
	}
}

static json_t *
exchange(struct call *call)
{
	call->received = json_array();
	call->queues = json_array();
	call->hashes = json_array();
	call->deadline = rte_rdtsc() + cycles_of_ns(call->config->timeout_ns, call->hz);
	do {
		send_some(call);
		receive_some(call);
		rte_pause();
	} while (json_array_size(call->received) < call->config->answers &&
		 rte_rdtsc() < call->deadline);
	return json_pack("{s:o, s:o, s:o, s:i}", "frames", call->received, "queues", call->queues,
			 "hashes", call->hashes, "sent", (int)call->sent);
}

static json_t *
exchange_on_port(struct exchange *exchanges, struct port *ports, uint32_t port_count, uint64_t hz,
		 const struct exchange_config *config, struct error *err)
{
	int p = program_find_port(ports, port_count, config->port);
	int receiver = program_find_port(ports, port_count, config->receive);
	struct call call = {.config = config, .hz = hz};
	json_t *result = NULL;

	if (p < 0) {
		error_set(err, -EINVAL, "port", "no open port is called \"%s\"", config->port);
		return NULL;
	}
	if (receiver < 0) {
		error_set(err, -EINVAL, "receive", "no open port is called \"%s\"",
			  config->receive);
		return NULL;
	}
	call.port = &ports[p];
	call.receiver = &ports[receiver];
	call.exchange = &exchanges[p];
	if (check_ports(config, call.port, call.receiver, err) != 0 ||
	    (config->n_frames > 0 && tx_pools_claim_ready(call.port, "port", err) != 0))
		return NULL;
	if (frame_filter_create(&call.filter, config->filter, err) != 0) {
		error_set(err, err->code, "filter", "%s", err->text);
		return NULL;
	}
	if (create_frames(call.exchange, call.port, err) == 0)
		result = exchange(&call);
	frame_filter_free(call.filter);
	return result;
}

json_t *
exchange_frames(struct exchange *exchanges, struct port *ports, uint32_t port_count, uint64_t hz,
		const json_t *params, struct error *err)
{
	struct exchange_config config;
	json_t *result;

	if (config_decode_exchange(params, &config, err) != 0)
		return NULL;
	result = exchange_on_port(exchanges, ports, port_count, hz, &config, err);
	config_free_exchange(&config);
	return result;
}
