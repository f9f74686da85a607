/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rte_tm can have of a port: a node for the port, and below it one for each traffic class. The
 * card chooses the class by a frame's 802.1Q priority, from whichever queue it comes. So transmit
 * queues, which are rte_tm's leaves, are no nodes here, and classes have no children.
 */
#include <string.h>

#include "meridian.h"

#define LEVELS		2
#define RATE_MAX	0x1ffff		/* what the card's word holds */
#define STATS		(RTE_TM_STATS_N_PKTS | RTE_TM_STATS_N_BYTES | \
			 RTE_TM_STATS_N_PKTS_GREEN_DROPPED)

/* Return: -code. */
int
meridian_tm_refuse(struct rte_tm_error *error, int code, enum rte_tm_error_type type,
		   const char *why)
{
	return -rte_tm_error_set(error, code, type, NULL, why);
}

/* In bytes a second. */
uint64_t
meridian_tm_lowest_rate(const struct meridian *m)
{
	return (m->rate_unit + 7u) / 8;
}

/* In bytes a second. */
uint64_t
meridian_tm_highest_rate(const struct meridian *m)
{
	return (uint64_t)m->rate_unit * RATE_MAX / 8;
}

/* Return: the node, NULL if the hierarchy has none of this number. */
const struct meridian_node *
meridian_tm_find(const struct meridian *m, uint32_t id)
{
	const struct meridian_hierarchy *hierarchy = &m->hierarchy;
	uint32_t i;

	if (hierarchy->port.is_there && hierarchy->port.id == id)
		return &hierarchy->port;
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		if (hierarchy->classes[i].is_there && hierarchy->classes[i].id == id)
			return &hierarchy->classes[i];
	}
	return NULL;
}

static void
add_shapers(const struct meridian *m, struct rte_tm_capabilities *capabilities)
{
	capabilities->shaper_n_max = MERIDIAN_CLASSES;
	capabilities->shaper_private_n_max = MERIDIAN_CLASSES;
	capabilities->shaper_private_dual_rate_n_max = MERIDIAN_CLASSES;
	capabilities->shaper_private_rate_min = meridian_tm_lowest_rate(m);
	capabilities->shaper_private_rate_max = meridian_tm_highest_rate(m);
	capabilities->shaper_private_byte_mode_supported = 1;
	capabilities->shaper_pkt_length_adjust_min = RTE_TM_ETH_FRAMING_OVERHEAD_FCS;
	capabilities->shaper_pkt_length_adjust_max = RTE_TM_ETH_FRAMING_OVERHEAD_FCS;
}

int
meridian_tm_capabilities(struct rte_eth_dev *dev, struct rte_tm_capabilities *capabilities,
			 struct rte_tm_error *error)
{
	const struct meridian *m = meridian_of(dev);

	if (capabilities == NULL)
		return meridian_tm_refuse(error, EINVAL, RTE_TM_ERROR_TYPE_CAPABILITIES,
					  "there is no place for the capabilities");
	*capabilities = (struct rte_tm_capabilities){
		.n_nodes_max = 1 + MERIDIAN_CLASSES,
		.n_levels_max = LEVELS,
		.non_leaf_nodes_identical = 1,
		.leaf_nodes_identical = 1,
		.sched_n_children_max = MERIDIAN_CLASSES,
		.sched_sp_n_priorities_max = MERIDIAN_CLASSES,
		.sched_wfq_n_children_per_group_max = MERIDIAN_CLASSES,
		.sched_wfq_n_groups_max = 1,
		.sched_wfq_weight_max = UINT8_MAX,
		.sched_wfq_byte_mode_supported = 1,
		.stats_mask = STATS,
	};
	if (m->rate_unit)
		add_shapers(m, capabilities);
	return 0;
}

static void
add_shapers_of_level(const struct meridian *m, struct rte_tm_level_capabilities *capabilities)
{
	capabilities->nonleaf.shaper_private_supported = 1;
	capabilities->nonleaf.shaper_private_dual_rate_supported = 1;
	capabilities->nonleaf.shaper_private_rate_min = meridian_tm_lowest_rate(m);
	capabilities->nonleaf.shaper_private_rate_max = meridian_tm_highest_rate(m);
	capabilities->nonleaf.shaper_private_byte_mode_supported = 1;
}

int
meridian_tm_level(struct rte_eth_dev *dev, uint32_t level,
		  struct rte_tm_level_capabilities *capabilities, struct rte_tm_error *error)
{
	const struct meridian *m = meridian_of(dev);

	if (capabilities == NULL)
		return meridian_tm_refuse(error, EINVAL, RTE_TM_ERROR_TYPE_CAPABILITIES,
					  "there is no place for the capabilities");
	if (level >= LEVELS)
		return meridian_tm_refuse(error, EINVAL, RTE_TM_ERROR_TYPE_LEVEL_ID,
					  "the levels are 0, the port, and 1, its traffic classes");
	memset(capabilities, 0, sizeof(*capabilities));
	capabilities->n_nodes_max = level ? MERIDIAN_CLASSES : 1;
	capabilities->n_nodes_nonleaf_max = capabilities->n_nodes_max;
	capabilities->non_leaf_nodes_identical = 1;
	/* Of a node without children, 0 would be invalid. */
	capabilities->nonleaf.sched_sp_n_priorities_max = level ? 1 : MERIDIAN_CLASSES;
	capabilities->nonleaf.sched_wfq_n_children_per_group_max = level ? 1 : MERIDIAN_CLASSES;
	capabilities->nonleaf.sched_wfq_weight_max = level ? 1 : UINT8_MAX;
	if (level) {
		capabilities->nonleaf.stats_mask = STATS;
		if (m->rate_unit)
			add_shapers_of_level(m, capabilities);
		return 0;
	}
	capabilities->nonleaf.sched_n_children_max = MERIDIAN_CLASSES;
	capabilities->nonleaf.sched_wfq_n_groups_max = 1;
	capabilities->nonleaf.sched_wfq_byte_mode_supported = 1;
	return 0;
}

static void
add_shaper_of_node(const struct meridian *m, struct rte_tm_node_capabilities *capabilities)
{
	capabilities->shaper_private_supported = 1;
	capabilities->shaper_private_dual_rate_supported = 1;
	capabilities->shaper_private_rate_min = meridian_tm_lowest_rate(m);
	capabilities->shaper_private_rate_max = meridian_tm_highest_rate(m);
	capabilities->shaper_private_byte_mode_supported = 1;
}

int
meridian_tm_node(struct rte_eth_dev *dev, uint32_t id,
		 struct rte_tm_node_capabilities *capabilities, struct rte_tm_error *error)
{
	const struct meridian *m = meridian_of(dev);
	const struct meridian_node *node = meridian_tm_find(m, id);
	bool is_port = node == &m->hierarchy.port;

	if (capabilities == NULL)
		return meridian_tm_refuse(error, EINVAL, RTE_TM_ERROR_TYPE_CAPABILITIES,
					  "there is no place for the capabilities");
	if (node == NULL)
		return meridian_tm_refuse(error, EINVAL, RTE_TM_ERROR_TYPE_NODE_ID,
					  "the hierarchy has no node of this number");
	memset(capabilities, 0, sizeof(*capabilities));
	capabilities->nonleaf.sched_sp_n_priorities_max = is_port ? MERIDIAN_CLASSES : 1;
	capabilities->nonleaf.sched_wfq_n_children_per_group_max = is_port ? MERIDIAN_CLASSES : 1;
	capabilities->nonleaf.sched_wfq_weight_max = is_port ? UINT8_MAX : 1;
	if (!is_port) {
		capabilities->stats_mask = STATS;
		if (m->rate_unit)
			add_shaper_of_node(m, capabilities);
		return 0;
	}
	capabilities->nonleaf.sched_n_children_max = MERIDIAN_CLASSES;
	capabilities->nonleaf.sched_wfq_n_groups_max = 1;
	capabilities->nonleaf.sched_wfq_byte_mode_supported = 1;
	return 0;
}
