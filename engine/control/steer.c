/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/steer.h"

#include <errno.h>
#include <stdlib.h>

#include "device/port_steer.h"
#include "program/program_ports.h"

static json_t *
steer_port(struct port *port, const struct steer_config *config, struct error *err)
{
	struct steer_reply *replies = calloc(config->n_rules + 1, sizeof(replies[0]));
	json_t *accepted, *reasons, *result = NULL;

	if (replies == NULL) {
		error_set(err, -ENOMEM, "rules", "no memory for %u rules", config->n_rules);
		return NULL;
	}
	if (port_steer(port, config->rules, config->n_rules, replies, err) == 0) {
		accepted = json_array();
		reasons = json_array();
		for (uint32_t i = 0; i < config->n_rules; i++) {
			json_array_append_new(accepted, json_boolean(replies[i].reason[0] == '\0'));
			json_array_append_new(reasons, json_string(replies[i].reason));
		}
		result = json_pack("{s:o, s:o}", "accepted", accepted, "reasons", reasons);
	}
	free(replies);
	return result;
}

json_t *
steer_ports(struct port *ports, uint32_t port_count, const json_t *params, struct error *err)
{
	struct steer_config config;
	json_t *result = NULL;
	int p;

	if (config_decode_steer(params, &config, err) != 0)
		return NULL;
	p = program_find_port(ports, port_count, config.port);
	if (p < 0)
		error_set(err, -EINVAL, "port", "no open port is called \"%s\"", config.port);
	else
		result = steer_port(&ports[p], &config, err);
	config_free_steer(&config);
	return result;
}
