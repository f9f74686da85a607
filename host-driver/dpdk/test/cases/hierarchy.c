/* SPDX-License-Identifier: BSD-3-Clause */
#include "hierarchy.h"

struct rte_tm_error tm_error;

/* Of a node whose children may have so many priorities. */
struct rte_tm_node_params
node_params(uint32_t priorities)
{
	return (struct rte_tm_node_params){
		.shaper_profile_id = RTE_TM_SHAPER_PROFILE_ID_NONE,
		.nonleaf.n_sp_priorities = priorities,
	};
}

void
add_root(uint32_t priorities)
{
	struct rte_tm_node_params of_port = node_params(priorities);

	is(rte_tm_node_add(port, ROOT, RTE_TM_NODE_ID_NULL, 0, 1, 0, &of_port, &tm_error), 0);
}

void
add_class(uint32_t number, uint32_t priority, uint32_t weight)
{
	struct rte_tm_node_params of_class = node_params(1);

	of_class.stats_mask = STATS;
	is(rte_tm_node_add(port, CLASS(number), ROOT, priority, weight, 1, &of_class, &tm_error),
	   0);
}

void
delete_node(uint32_t id)
{
	is(rte_tm_node_delete(port, id, &tm_error), 0);
}

void
commit_nodes(void)
{
	is(rte_tm_hierarchy_commit(port, 0, &tm_error), 0);
}

void
card_has(uint32_t classes, uint32_t strict, uint32_t low, uint32_t high)
{
	is(*shell(EGRESS(CLASSES)), classes);
	is(*shell(EGRESS(STRICT)), strict);
	is(*shell(EGRESS(WEIGHTS_0_TO_3)), low);
	is(*shell(EGRESS(WEIGHTS_4_TO_7)), high);
}

void
card_is_as_after_reset(void)
{
	card_has(OWN_CLASSES, 0xff, ONE_EACH, ONE_EACH);
}

/* A card with classes, whose queues may be held to rates; the port is its second one. */
void
plug_classes(void)
{
	test_card_port = 1;
	test_card_capabilities = MERIDIAN_IDENT_CAPABILITIES_PACING_MASK;
	plug("classes=1");
	card_is_as_after_reset();
}
