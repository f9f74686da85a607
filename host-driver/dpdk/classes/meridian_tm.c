/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_tm: a hierarchy of nodes is built here, and a commit gives the card what it says. A node of a
 * class has the class in the last three bits of its number.
 */
#include <string.h>

#include "meridian.h"

#define INVALID(type, why)	meridian_tm_refuse(error, EINVAL, RTE_TM_ERROR_TYPE_ ## type, why)

static uint32_t
class_of(uint32_t id)
{
	return id % MERIDIAN_CLASSES;
}

static int
type_get(struct rte_eth_dev *dev, uint32_t id, int *is_leaf, struct rte_tm_error *error)
{
	if (is_leaf == NULL)
		return INVALID(UNSPECIFIED, "there is no place for the type");
	if (meridian_tm_find(meridian_of(dev), id) == NULL)
		return INVALID(NODE_ID, "the hierarchy has no node of this number");
	*is_leaf = 0;
	return 0;
}

/* priorities: that the node's children may have; 0: it has none. */
static int
check_params(const struct rte_tm_node_params *params, uint32_t priorities, uint64_t stats,
	     struct rte_tm_error *error)
{
	uint32_t i;

	if (params->n_shared_shapers)
		return INVALID(NODE_PARAMS_N_SHARED_SHAPERS,
			       "no traffic classes of the card share a shaper");
	if (params->nonleaf.n_sp_priorities > RTE_MAX(priorities, 1u) ||
	    (priorities && !params->nonleaf.n_sp_priorities))
		return INVALID(NODE_PARAMS_N_SP_PRIORITIES,
			       "the port has 1 to 8 priorities, and a class at most 1");
	for (i = 0; params->nonleaf.wfq_weight_mode != NULL && i < params->nonleaf.n_sp_priorities;
	     i++) {
		if (!params->nonleaf.wfq_weight_mode[i])
			return INVALID(NODE_PARAMS_WFQ_WEIGHT_MODE,
				       "the card weighs bytes, and not frames");
	}
	if (params->stats_mask & ~stats)
		return INVALID(NODE_PARAMS_STATS,
			       "a class counts frames, bytes and dropped green frames, the port none of these");
	return 0;
}

static int
add_port(struct meridian *m, const struct meridian_node *node, uint32_t level,
	 const struct rte_tm_node_params *params, struct rte_tm_error *error)
{
	struct meridian_hierarchy *hierarchy = &m->hierarchy;
	int result;

	if (hierarchy->port.is_there)
		return INVALID(NODE_PARENT_NODE_ID, "the hierarchy has a port already");
	if (level != RTE_TM_NODE_LEVEL_ID_ANY && level != 0)
		return INVALID(LEVEL_ID, "a node without a parent is the port, of level 0");
	if (node->priority)
		return INVALID(NODE_PRIORITY, "the port has priority 0");
	if (node->weight != 1)
		return INVALID(NODE_WEIGHT, "the port has weight 1");
	result = meridian_tm_check_shaper(m, node->profile, true, error);
	if (!result)
		result = check_params(params, MERIDIAN_CLASSES, 0, error);
	if (result)
		return result;
	hierarchy->port = *node;
	hierarchy->priorities = params->nonleaf.n_sp_priorities;
	return 0;
}

static int
add_class(struct meridian *m, const struct meridian_node *node, uint32_t parent, uint32_t level,
	  const struct rte_tm_node_params *params, uint64_t stats, struct rte_tm_error *error)
{
	struct meridian_hierarchy *hierarchy = &m->hierarchy;
	int result;

	if (!hierarchy->port.is_there || hierarchy->port.id != parent)
		return INVALID(NODE_PARENT_NODE_ID,
			       "only the port has nodes below it: a frame's priority chooses its class, whatever its queue");
	if (level != RTE_TM_NODE_LEVEL_ID_ANY && level != 1)
		return INVALID(LEVEL_ID, "a node below the port is a traffic class, of level 1");
	if (hierarchy->classes[class_of(node->id)].is_there)
		return INVALID(NODE_ID,
			       "the class has a node already: it is the number of the node modulo 8");
	if (node->priority >= hierarchy->priorities)
		return INVALID(NODE_PRIORITY, "the port's node has fewer priorities");
	if (!node->weight || node->weight > UINT8_MAX)
		return INVALID(NODE_WEIGHT, "a weight is 1 to 255");
	result = meridian_tm_check_shaper(m, node->profile, false, error);
	if (!result)
		result = check_params(params, 0, stats, error);
	if (result)
		return result;
	hierarchy->classes[class_of(node->id)] = *node;
	return 0;
}

static int
node_add(struct rte_eth_dev *dev, uint32_t id, uint32_t parent, uint32_t priority, uint32_t weight,
	 uint32_t level, MERIDIAN_TM_PARAMS params, struct rte_tm_error *error)
{
	struct meridian *m = meridian_of(dev);
	struct meridian_node node = {
		.id = id, .priority = priority, .weight = weight, .is_there = true,
	};
	struct rte_tm_capabilities can;
	int result;

	if (params == NULL)
		return INVALID(NODE_PARAMS, "there are no parameters");
	if (id == RTE_TM_NODE_ID_NULL)
		return INVALID(NODE_ID, "this is the number of no node");
	if (id < m->queue_limit)
		return INVALID(NODE_ID,
			       "the numbers below that of the port's transmit queues are theirs, and queues are no nodes: a frame's priority chooses its class");
	if (meridian_tm_find(m, id) != NULL)
		return INVALID(NODE_ID, "there is a node of this number already");
	node.stats = params->stats_mask;
	node.profile = params->shaper_profile_id;
	if (parent == RTE_TM_NODE_ID_NULL)
		return add_port(m, &node, level, params, error);
	result = meridian_tm_capabilities(dev, &can, error);
	if (!result)
		result = add_class(m, &node, parent, level, params, can.stats_mask, error);
	return result;
}

static bool
has_classes(const struct meridian_hierarchy *hierarchy)
{
	uint32_t i;

	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		if (hierarchy->classes[i].is_there)
			return true;
	}
	return false;
}

static int
node_delete(struct rte_eth_dev *dev, uint32_t id, struct rte_tm_error *error)
{
	struct meridian_hierarchy *hierarchy = &meridian_of(dev)->hierarchy;
	const struct meridian_node *node = meridian_tm_find(meridian_of(dev), id);

	if (node == NULL)
		return INVALID(NODE_ID, "the hierarchy has no node of this number");
	if (node != &hierarchy->port)
		hierarchy->classes[class_of(id)].is_there = false;
	else if (has_classes(hierarchy))
		return INVALID(NODE_ID, "the port still has nodes of classes below it");
	else
		hierarchy->port.is_there = false;
	return 0;
}

/* Of the classes: the one that goes last, and others of its priority with it. */
static uint32_t
last_priority(const struct meridian_hierarchy *hierarchy)
{
	uint32_t last = 0, i;

	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		if (hierarchy->classes[i].is_there)
			last = RTE_MAX(last, hierarchy->classes[i].priority);
	}
	return last;
}

static void
plan_rates(const struct meridian *m, struct meridian_classes *shares)
{
	uint32_t i;

	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		const struct meridian_node *node = &m->hierarchy.classes[i];

		if (node->is_there)
			meridian_tm_shape(m, i, node->profile, shares);
	}
}

/* Classes of the last priority share by weight; those before are strict, the highest class first. */
static int
plan(const struct meridian_hierarchy *hierarchy, struct meridian_classes *shares,
     struct rte_tm_error *error)
{
	uint32_t last = last_priority(hierarchy), before = 0, i;
	bool is_first = true;

	memset(shares, 0, sizeof(*shares));
	for (i = MERIDIAN_CLASSES; i-- > 0;) {
		const struct meridian_node *node = &hierarchy->classes[i];

		if (!node->is_there)
			continue;
		shares->weight[i] = node->weight;
		if (node->priority == last)
			continue;
		if (!is_first && node->priority == before)
			return INVALID(NODE_PRIORITY,
				       "only classes of the last priority can share it by weight");
		if (!is_first && node->priority < before)
			return INVALID(NODE_PRIORITY,
				       "of classes with a priority of their own, the card serves the higher number first");
		shares->strict |= 1u << i;
		before = node->priority;
		is_first = false;
	}
	return 0;
}

static int
check(struct meridian *m, struct meridian_classes *shares, struct rte_tm_error *error)
{
	const struct meridian_hierarchy *hierarchy = &m->hierarchy;
	int result;

	if (m->is_started && m->is_unpaced != hierarchy->port.is_there)
		return meridian_tm_refuse(error, EBUSY, RTE_TM_ERROR_TYPE_UNSPECIFIED,
					  "stop the port first: its transmit queues are held to rates without a hierarchy, and are not with one");
	if (!hierarchy->port.is_there) {
		*shares = meridian_classes_after_reset;
		return 0;
	}
	if (!has_classes(hierarchy))
		return INVALID(UNSPECIFIED, "the port has no nodes of classes below it");
	result = plan(hierarchy, shares, error);
	if (result)
		return result;
	plan_rates(m, shares);
	return meridian_tm_check_committed(m, shares, error);
}

static int
commit(struct rte_eth_dev *dev, int clear_on_fail, struct rte_tm_error *error)
{
	struct meridian *m = meridian_of(dev);
	struct meridian_hierarchy *hierarchy = &m->hierarchy;
	struct meridian_classes shares;
	int result = check(m, &shares, error);
	uint32_t i;

	if (result) {
		if (clear_on_fail) {
			hierarchy->port.is_there = false;
			memset(hierarchy->classes, 0, sizeof(hierarchy->classes));
		}
		return result;
	}
	if (!hierarchy->port.is_there && !hierarchy->is_committed)
		return 0;
	hierarchy->is_committed = hierarchy->port.is_there;
	for (i = 0; i < MERIDIAN_CLASSES; i++)
		hierarchy->classes[i].is_committed = hierarchy->classes[i].is_there;
	meridian_choose_shares(m, &shares);
	return 0;
}

/**
 * meridian_tm_begin_counts() - let the statistics of nodes begin where the card's counters are now
 * @m: a PF or VF
 */
void
meridian_tm_begin_counts(struct meridian *m)
{
	uint32_t i, j;

	if (!meridian_has_classes(m) || !meridian_present(m))
		return;
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		for (j = 0; j < MERIDIAN_CLASS_COUNTS; j++)
			m->hierarchy.before[i][j] = meridian_read_class(m, i, j);
	}
}

/* What the class of a node has counted, and from where on it counts if it is cleared. */
static void
read_counts(struct meridian *m, uint32_t number, struct rte_tm_node_stats *stats, bool clear)
{
	uint64_t *before = m->hierarchy.before[number], now[MERIDIAN_CLASS_COUNTS];
	uint64_t enabled = m->hierarchy.classes[number].stats;
	uint32_t i;

	for (i = 0; i < MERIDIAN_CLASS_COUNTS; i++)
		now[i] = meridian_read_class(m, number, i);
	if (enabled & RTE_TM_STATS_N_PKTS)
		stats->n_pkts = now[MERIDIAN_CLASS_FRAMES] - before[MERIDIAN_CLASS_FRAMES];
	if (enabled & RTE_TM_STATS_N_BYTES)
		stats->n_bytes = now[MERIDIAN_CLASS_BYTES] - before[MERIDIAN_CLASS_BYTES];
	if (enabled & RTE_TM_STATS_N_PKTS_GREEN_DROPPED)
		stats->leaf.n_pkts_dropped[RTE_COLOR_GREEN] = now[MERIDIAN_CLASS_LOST] -
							      before[MERIDIAN_CLASS_LOST];
	if (clear)
		memcpy(before, now, sizeof(now));
}

static int
stats_read(struct rte_eth_dev *dev, uint32_t id, struct rte_tm_node_stats *stats, uint64_t *mask,
	   int clear, struct rte_tm_error *error)
{
	struct meridian *m = meridian_of(dev);
	const struct meridian_node *node = meridian_tm_find(m, id);
	struct rte_tm_node_stats result = { 0 };

	if (node == NULL)
		return INVALID(NODE_ID, "the hierarchy has no node of this number");
	if (!meridian_present(m))
		return meridian_tm_refuse(error, EIO, RTE_TM_ERROR_TYPE_UNSPECIFIED,
					  "the card does not answer");
	if (node != &m->hierarchy.port)
		read_counts(m, class_of(id), &result, clear);
	if (stats != NULL)
		*stats = result;
	if (mask != NULL)
		*mask = node->stats;
	return 0;
}

static const struct rte_tm_ops tm_ops = {
	.node_type_get = type_get,
	.capabilities_get = meridian_tm_capabilities,
	.level_capabilities_get = meridian_tm_level,
	.node_capabilities_get = meridian_tm_node,
	.shaper_profile_add = meridian_tm_add_profile,
	.shaper_profile_delete = meridian_tm_delete_profile,
	.shared_shaper_add_update = meridian_tm_add_shared,
	.node_add = node_add,
	.node_delete = node_delete,
	.node_shaper_update = meridian_tm_update_shaper,
	.hierarchy_commit = commit,
	.node_stats_read = stats_read,
};

/* Only for a PF whose card has traffic classes: -ENOTSUP else, of which rte_tm makes -ENOSYS. */
int
meridian_tm_ops(struct rte_eth_dev *dev, void *ops)
{
	if (!meridian_has_classes(meridian_of(dev)))
		return -ENOTSUP;
	*(const struct rte_tm_ops **)ops = &tm_ops;
	return 0;
}
