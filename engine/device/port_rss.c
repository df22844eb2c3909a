/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/port_rss.h"

#include <errno.h>
#include <string.h>

#include "device/port.h"
#include "device/where.h"

#define KEY_OCTETS_USUAL 40u /* rte_ethdev.h: of devices that do not tell their key's size */
#define GROUP ((uint32_t)RTE_ETH_RETA_GROUP_SIZE)

/* Field number i in ethdev's words: any of these bits will do, drivers differ in which they have. */
static const uint64_t bits_of_field[RSS_FIELDS] = {
	RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER,
	RTE_ETH_RSS_NONFRAG_IPV4_UDP,
	RTE_ETH_RSS_NONFRAG_IPV4_TCP,
	RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER |
		RTE_ETH_RSS_IPV6_EX,
	RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_IPV6_UDP_EX,
	RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV6_TCP_EX,
};

static uint32_t
fields_of(uint64_t bits)
{
	uint32_t fields = 0;

	for (uint32_t i = 0; i < RSS_FIELDS; i++)
		fields |= (bits & bits_of_field[i]) != 0 ? 1u << i : 0;
	return fields;
}

static uint64_t
bits_of(uint32_t fields)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < RSS_FIELDS; i++)
		bits |= (fields & 1u << i) != 0 ? bits_of_field[i] : 0;
	return bits;
}

/* The fields in words, for errors. */
struct fields_text {
	char text[64];
};

static const char *
say_fields(struct fields_text *out, uint32_t fields)
{
	size_t used = 0;

	snprintf(out->text, sizeof(out->text), "nothing");
	for (uint32_t i = 0; i < RSS_FIELDS; i++) {
		if ((fields & 1u << i) != 0 && used < sizeof(out->text))
			used += (size_t)snprintf(out->text + used, sizeof(out->text) - used, "%s%s",
						 used > 0 ? ", " : "", rss_field_name(i));
	}
	return out->text;
}

static uint32_t
key_octets_of(const struct rte_eth_dev_info *info)
{
	return info->hash_key_size > 0 ? info->hash_key_size : KEY_OCTETS_USUAL;
}

static int
check_fields(const struct port *port, uint32_t can, const char *path, struct error *err)
{
	uint32_t wanted = port->config.rss.fields;
	struct fields_text asked, able;
	struct where where;

	if ((wanted & ~can) == 0)
		return 0;
	return error_set(err, -EINVAL, key(&where, path, "rss.fields"),
			 "%s asked, %s (%s) hashes %s", say_fields(&asked, wanted),
			 port->config.location, port->driver, say_fields(&able, can));
}

/* A key of the usual size goes on from its start in a longer one: no hash of two addresses and two ports sees that. */
static int
fit_key(struct port *port, const struct rte_eth_dev_info *info, const char *path, struct error *err)
{
	struct rss_config *rss = &port->config.rss;
	uint32_t asked = rss->key_octets, taken = key_octets_of(info);
	struct where where;

	if (asked == 0 || asked == taken)
		return 0;
	if (asked != KEY_OCTETS_USUAL || taken < asked || taken > CONFIG_RSS_KEY_OCTETS_MAX)
		return error_set(err, -EINVAL, key(&where, path, "rss.key"),
				 "a key of %u octets asked, %s (%s) takes %u", asked,
				 port->config.location, port->driver, taken);
	for (uint32_t i = asked; i < taken; i++)
		rss->key[i] = rss->key[i - asked];
	rss->key_octets = taken;
	return 0;
}

static int
fit_reta(struct port *port, const struct rte_eth_dev_info *info, const char *path,
	 struct error *err)
{
	struct rss_config *rss = &port->config.rss;
	uint32_t asked = rss->n_reta, taken = info->reta_size;
	struct where where;

	if (asked == 0)
		return 0;
	if (taken == 0 || taken > CONFIG_RETA_MAX)
		return error_set(err, -ENOTSUP, key(&where, path, "rss.reta"),
				 "%s (%s) has no table that can be set; leave it out",
				 port->config.location, port->driver);
	if (asked > taken)
		return error_set(err, -EINVAL, key(&where, path, "rss.reta"),
				 "%u entries asked, the table of %s (%s) has %u; a shorter one is "
				 "repeated",
				 asked, port->config.location, port->driver, taken);
	for (uint32_t i = asked; i < taken; i++)
		rss->reta[i] = rss->reta[i - asked];
	rss->n_reta = taken;
	return 0;
}

static bool
asks_something(const struct rss_config *rss)
{
	return rss->fields != 0 || rss->key_octets > 0 || rss->n_reta > 0;
}

int
port_rss_configure(struct port *port, const struct rte_eth_dev_info *info,
		   struct rte_eth_conf *conf, const char *path, struct error *err)
{
	uint64_t can =
		info->flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP);
	struct rss_config *rss = &port->config.rss;
	struct where where;
	int code;

	if (port->config.rx_queues < 2 && !rss->asked)
		return 0;
	if (can == 0 && asks_something(rss))
		return error_set(err, -ENOTSUP, key(&where, path, "rss"),
				 "%s (%s) has no RSS; leave it out, or use another device",
				 port->config.location, port->driver);
	if (can == 0)
		return 0;
	code = check_fields(port, fields_of(can), path, err);
	if (code == 0)
		code = fit_key(port, info, path, err);
	if (code == 0)
		code = fit_reta(port, info, path, err);
	if (code != 0)
		return code;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf.rss_hf = rss->fields != 0 ? can & bits_of(rss->fields) : can;
	if (rss->key_octets > 0) {
		conf->rx_adv_conf.rss_conf.rss_key = rss->key;
		conf->rx_adv_conf.rss_conf.rss_key_len = (uint8_t)rss->key_octets;
	}
	if (rss->asked)
		conf->rxmode.offloads |= info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_RSS_HASH;
	port->rss.on = true;
	return 0;
}

/* Entry i of the table. */
static uint16_t *
entry(struct rte_eth_rss_reta_entry64 *groups, uint32_t i)
{
	return &groups[i / GROUP].reta[i % GROUP];
}

static int
write_reta(const struct port *port, const char *path, struct error *err)
{
	struct rte_eth_rss_reta_entry64 groups[CONFIG_RETA_MAX / RTE_ETH_RETA_GROUP_SIZE];
	const struct rss_config *rss = &port->config.rss;
	struct where where;
	int code;

	if (rss->n_reta == 0)
		return 0;
	memset(groups, 0, sizeof(groups));
	for (uint32_t i = 0; i < rss->n_reta; i++) {
		groups[i / GROUP].mask |= UINT64_C(1) << (i % GROUP);
		*entry(groups, i) = rss->reta[i];
	}
	code = rte_eth_dev_rss_reta_update(port->port_id, groups, (uint16_t)rss->n_reta);
	if (code == 0)
		return 0;
	return error_set(err, code, key(&where, path, "rss.reta"),
			 "%s (%s) refused the table: %s; its reason is in the engine's log",
			 port->config.location, port->driver, strerror(-code));
}

static void
read_reta(struct port *port, uint32_t entries)
{
	struct rte_eth_rss_reta_entry64 groups[CONFIG_RETA_MAX / RTE_ETH_RETA_GROUP_SIZE];

	if (entries == 0 || entries > CONFIG_RETA_MAX)
		return;
	memset(groups, 0, sizeof(groups));
	for (uint32_t i = 0; i < entries; i++)
		groups[i / GROUP].mask |= UINT64_C(1) << (i % GROUP);
	if (rte_eth_dev_rss_reta_query(port->port_id, groups, (uint16_t)entries) != 0)
		return;
	for (uint32_t i = 0; i < entries; i++)
		port->rss.reta[i] = *entry(groups, i);
	port->rss.n_reta = entries;
}

/* What a device keeps to itself stays 0. */
static void
read_back(struct port *port, const struct rte_eth_dev_info *info)
{
	struct port_rss *rss = &port->rss;
	uint32_t key_octets = RTE_MIN(key_octets_of(info), CONFIG_RSS_KEY_OCTETS_MAX - 1);
	struct rte_eth_rss_conf conf = {.rss_key = rss->key, .rss_key_len = (uint8_t)key_octets};

	memset(rss, 0, sizeof(*rss));
	if (rte_eth_dev_rss_hash_conf_get(port->port_id, &conf) != 0)
		return;
	rss->fields = fields_of(conf.rss_hf);
	rss->on = rss->fields != 0;
	if (!rss->on)
		return;
	for (uint32_t i = 0; i < key_octets && rss->key_octets == 0; i++)
		rss->key_octets = rss->key[i] != 0 ? key_octets : 0;
	read_reta(port, info->reta_size);
}

/* Did the device keep what it was told? */
static int
compare(const struct port *port, const char *path, struct error *err)
{
	const struct rss_config *asked = &port->config.rss;
	const struct port_rss *has = &port->rss;
	struct fields_text wanted, kept;
	struct where where;

	if ((asked->fields & ~has->fields) != 0)
		return error_set(err, -ENOTSUP, key(&where, path, "rss.fields"),
				 "%s asked and taken, but %s (%s) hashes %s now",
				 say_fields(&wanted, asked->fields), port->config.location,
				 port->driver, say_fields(&kept, has->fields));
	if (asked->key_octets > 0 && (asked->key_octets != has->key_octets ||
				      memcmp(asked->key, has->key, has->key_octets) != 0))
		return error_set(err, -ENOTSUP, key(&where, path, "rss.key"),
				 "%s (%s) took the key and has another one; leave it out, and the "
				 "device's is shown",
				 port->config.location, port->driver);
	for (uint32_t i = 0; i < asked->n_reta; i++) {
		if (has->n_reta == asked->n_reta && asked->reta[i] == has->reta[i])
			continue;
		return error_set(
			err, -ENOTSUP, key(&where, path, "rss.reta"),
			"%s (%s) took the table and has another one: entry %u is %u, asked %u",
			port->config.location, port->driver, i, has->reta[i], asked->reta[i]);
	}
	return 0;
}

int
port_rss_start(struct port *port, const struct rte_eth_dev_info *info, const char *path,
	       struct error *err)
{
	int code;

	if (!port->rss.on)
		return 0;
	code = write_reta(port, path, err);
	if (code != 0)
		return code;
	read_back(port, info);
	return compare(port, path, err);
}
