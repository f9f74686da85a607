/* SPDX-License-Identifier: BSD-3-Clause */
/* Traffic classes of a card with a pool of transmit queues: by rte_tm, by DCB, and their counters. */
#include <rte_dev.h>

#include "cases.h"
#include "hierarchy.h"

#define COUNTER(name)	(MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_COUNTER_PORT1_ ## name)
#define SWITCHES	(MERIDIAN_QUEUE_BASE + MERIDIAN_QUEUE_SWITCHES(0))

static bool
is_paced(void)
{
	return *shell(SWITCHES) & MERIDIAN_QUEUE_SWITCHES_PACED_MASK;
}

/* Classes 1 and 3 share by 30 and 10. */
static void
share(void)
{
	add_root(1);
	add_class(1, 0, 30);
	add_class(3, 0, 10);
	commit_nodes();
}

static void
card_shares(void)
{
	card_has(OWN_CLASSES, 0, 10u << 24 | 30u << 8, 0);
}

static void
card_without_a_pool_has_no_traffic_manager(void)
{
	struct rte_tm_capabilities capabilities;
	struct rte_eth_dcb_info info;
	uint64_t id;

	plug("");
	is(rte_tm_capabilities_get(port, &capabilities, &tm_error), -ENOSYS);
	is(rte_eth_dev_get_dcb_info(port, &info), -ENOTSUP);
	is(rte_eth_xstats_get_id_by_name(port, "port_tx_class0_frames", &id), -EINVAL);
	start_port(&plain);
	is(*shell(EGRESS(CLASSES)), 0);
}

static void
capabilities_say_what_the_card_does(void)
{
	struct rte_tm_level_capabilities level;
	struct rte_tm_node_capabilities node;
	struct rte_tm_capabilities all;
	int is_leaf = 1;

	plug_classes();
	is(rte_tm_capabilities_get(port, &all, &tm_error), 0);
	is(all.n_nodes_max, 9);
	is(all.n_levels_max, 2);
	is(all.sched_n_children_max, 8);
	is(all.sched_sp_n_priorities_max, 8);
	is(all.sched_wfq_n_children_per_group_max, 8);
	is(all.sched_wfq_n_groups_max, 1);
	is(all.sched_wfq_weight_max, 255);
	is(all.sched_wfq_byte_mode_supported, 1);
	is(all.sched_wfq_packet_mode_supported, 0);
	is(all.cman_wred_context_n_max, 0);
	is(all.stats_mask, STATS);
	is(rte_tm_level_capabilities_get(port, 0, &level, &tm_error), 0);
	is(level.n_nodes_max, 1);
	is(level.n_nodes_leaf_max, 0);
	is(level.nonleaf.sched_n_children_max, 8);
	is(level.nonleaf.stats_mask, 0);
	is(rte_tm_level_capabilities_get(port, 1, &level, &tm_error), 0);
	is(level.n_nodes_max, 8);
	is(level.n_nodes_leaf_max, 0);
	is(level.nonleaf.sched_n_children_max, 0);
	is(level.nonleaf.stats_mask, STATS);
	refused(rte_tm_level_capabilities_get(port, 2, &level, &tm_error), EINVAL, LEVEL_ID);
	share();
	is(rte_tm_node_capabilities_get(port, ROOT, &node, &tm_error), 0);
	is(node.nonleaf.sched_wfq_weight_max, 255);
	is(node.stats_mask, 0);
	is(rte_tm_node_capabilities_get(port, CLASS(3), &node, &tm_error), 0);
	is(node.nonleaf.sched_n_children_max, 0);
	is(node.stats_mask, STATS);
	is(rte_tm_node_type_get(port, CLASS(3), &is_leaf, &tm_error), 0);
	is(is_leaf, 0);
	refused(rte_tm_node_capabilities_get(port, CLASS(2), &node, &tm_error), EINVAL, NODE_ID);
	refused(rte_tm_node_type_get(port, 0, &is_leaf, &tm_error), EINVAL, NODE_ID);
	refused(rte_tm_node_type_get(port, ROOT, NULL, &tm_error), EINVAL, UNSPECIFIED);
	refused(rte_tm_capabilities_get(port, NULL, &tm_error), EINVAL, CAPABILITIES);
	refused(rte_tm_level_capabilities_get(port, 0, NULL, &tm_error), EINVAL, CAPABILITIES);
	refused(rte_tm_node_capabilities_get(port, ROOT, NULL, &tm_error), EINVAL, CAPABILITIES);
}

static void
weights_are_written_while_the_port_is_started(void)
{
	plug_classes();
	share();
	card_is_as_after_reset();
	start_port(&plain);
	card_shares();
	is(*shell(MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_STRICT(0)), 0xff);
	is(rte_eth_dev_stop(port), 0);
	card_is_as_after_reset();
	is(rte_eth_dev_start(port), 0);
	card_shares();
	close_port();
}

static void
classes_before_the_last_priority_are_strict(void)
{
	plug_classes();
	add_root(8);
	add_class(7, 0, 1);
	add_class(5, 3, 1);
	add_class(1, 4, 255);
	add_class(3, 4, 200);
	add_class(6, 4, 1);
	commit_nodes();
	start_port(&plain);
	card_has(OWN_CLASSES, 1 << 7 | 1 << 5, 200u << 24 | 255u << 8, 1 << 24 | 1 << 16 | 1 << 8);
}

/* Only a queue that is not held to a rate gives its classes what they ask for. */
static void
queues_of_a_port_with_a_hierarchy_are_not_paced(void)
{
	plug_classes();
	start_port(&plain);
	must(is_paced(), "it is not paced");
	is(rte_eth_dev_stop(port), 0);
	share();
	is(rte_eth_dev_start(port), 0);
	must(!is_paced(), "it is paced");
	is(rte_eth_dev_stop(port), 0);
	delete_node(CLASS(1));
	delete_node(CLASS(3));
	delete_node(ROOT);
	commit_nodes();
	is(rte_eth_dev_start(port), 0);
	must(is_paced(), "it is not paced");
	card_is_as_after_reset();
}

static void
nodes_of_a_port_that_runs_change_with_the_commit(void)
{
	plug_classes();
	share();
	start_port(&plain);
	delete_node(CLASS(1));
	add_class(2, 0, 7);
	card_shares();
	commit_nodes();
	card_has(OWN_CLASSES, 0, 10u << 24 | 7u << 16, 0);
}

static void
hierarchy_does_not_begin_or_end_while_the_port_runs(void)
{
	plug_classes();
	start_port(&plain);
	add_root(1);
	add_class(1, 0, 30);
	add_class(3, 0, 10);
	refused(rte_tm_hierarchy_commit(port, 0, &tm_error), EBUSY, UNSPECIFIED);
	card_is_as_after_reset();
	is(rte_eth_dev_stop(port), 0);
	commit_nodes();
	is(rte_eth_dev_start(port), 0);
	card_shares();
	delete_node(CLASS(1));
	delete_node(CLASS(3));
	delete_node(ROOT);
	refused(rte_tm_hierarchy_commit(port, 0, &tm_error), EBUSY, UNSPECIFIED);
	card_shares();
}

/* One thing is wrong with it at a time, and nothing in the end. */
static void
port_that_cannot_be_is_refused(void)
{
	struct rte_tm_node_params good = node_params(8), bad;
	int frames[8] = { 1, 1, 1, 1, 0, 1, 1, 1 };

	plug_classes();
	refused(rte_tm_node_add(port, ROOT, UINT32_MAX, 0, 1, 0, NULL, &tm_error), EINVAL,
		NODE_PARAMS);
	refused(rte_tm_node_add(port, UINT32_MAX, UINT32_MAX, 0, 1, 0, &good, &tm_error), EINVAL,
		NODE_ID);
	refused(rte_tm_node_add(port, 63, UINT32_MAX, 0, 1, 0, &good, &tm_error), EINVAL, NODE_ID);
	refused(rte_tm_node_add(port, ROOT, UINT32_MAX, 0, 1, 1, &good, &tm_error), EINVAL,
		LEVEL_ID);
	refused(rte_tm_node_add(port, ROOT, UINT32_MAX, 1, 1, 0, &good, &tm_error), EINVAL,
		NODE_PRIORITY);
	refused(rte_tm_node_add(port, ROOT, UINT32_MAX, 0, 2, 0, &good, &tm_error), EINVAL,
		NODE_WEIGHT);
	bad = node_params(9);
	refused(rte_tm_node_add(port, ROOT, UINT32_MAX, 0, 1, 0, &bad, &tm_error), EINVAL,
		NODE_PARAMS_N_SP_PRIORITIES);
	bad = node_params(0);
	refused(rte_tm_node_add(port, ROOT, UINT32_MAX, 0, 1, 0, &bad, &tm_error), EINVAL,
		NODE_PARAMS_N_SP_PRIORITIES);
	bad = good;
	bad.nonleaf.wfq_weight_mode = frames;
	refused(rte_tm_node_add(port, ROOT, UINT32_MAX, 0, 1, 0, &bad, &tm_error), EINVAL,
		NODE_PARAMS_WFQ_WEIGHT_MODE);
	bad = good;
	bad.stats_mask = RTE_TM_STATS_N_PKTS;
	refused(rte_tm_node_add(port, ROOT, UINT32_MAX, 0, 1, 0, &bad, &tm_error), EINVAL,
		NODE_PARAMS_STATS);
	frames[4] = 1;
	good.nonleaf.wfq_weight_mode = frames;
	is(rte_tm_node_add(port, ROOT, UINT32_MAX, 0, 1, UINT32_MAX, &good, &tm_error), 0);
	refused(rte_tm_node_add(port, ROOT, UINT32_MAX, 0, 1, 0, &good, &tm_error), EINVAL,
		NODE_ID);
	refused(rte_tm_node_add(port, ROOT + 1, UINT32_MAX, 0, 1, 0, &good, &tm_error), EINVAL,
		NODE_PARENT_NODE_ID);
}

static int
try_class(uint32_t id, uint32_t parent, uint32_t priority, uint32_t weight, uint32_t level)
{
	struct rte_tm_node_params of_class = node_params(1);

	return rte_tm_node_add(port, id, parent, priority, weight, level, &of_class, &tm_error);
}

static void
class_that_cannot_be_is_refused(void)
{
	struct rte_tm_node_params bad = node_params(1);

	plug_classes();
	refused(try_class(CLASS(5), ROOT, 0, 1, 1), EINVAL, NODE_PARENT_NODE_ID);
	add_root(2);
	add_class(1, 0, 1);
	refused(try_class(1, ROOT, 0, 1, 1), EINVAL, NODE_ID);
	refused(try_class(CLASS(1), ROOT, 0, 1, 1), EINVAL, NODE_ID);
	refused(try_class(CLASS(9), ROOT, 0, 1, 1), EINVAL, NODE_ID);
	refused(try_class(CLASS(5), CLASS(1), 0, 1, 2), EINVAL, NODE_PARENT_NODE_ID);
	refused(try_class(CLASS(5), ROOT, 0, 1, 2), EINVAL, LEVEL_ID);
	refused(try_class(CLASS(5), ROOT, 2, 1, 1), EINVAL, NODE_PRIORITY);
	refused(try_class(CLASS(5), ROOT, 0, 0, 1), EINVAL, NODE_WEIGHT);
	refused(try_class(CLASS(5), ROOT, 0, 256, 1), EINVAL, NODE_WEIGHT);
	bad.nonleaf.n_sp_priorities = 2;
	refused(rte_tm_node_add(port, CLASS(5), ROOT, 0, 1, 1, &bad, &tm_error), EINVAL,
		NODE_PARAMS_N_SP_PRIORITIES);
	bad = node_params(1);
	bad.stats_mask = RTE_TM_STATS_N_PKTS_QUEUED;
	refused(rte_tm_node_add(port, CLASS(5), ROOT, 0, 1, 1, &bad, &tm_error), EINVAL,
		NODE_PARAMS_STATS);
	refused(rte_tm_node_delete(port, CLASS(5), &tm_error), EINVAL, NODE_ID);
	refused(rte_tm_node_delete(port, ROOT, &tm_error), EINVAL, NODE_ID);
	is(try_class(CLASS(5), ROOT, 1, 255, RTE_TM_NODE_LEVEL_ID_ANY), 0);
	commit_nodes();
}

static void
order_that_the_card_cannot_serve_is_refused(void)
{
	plug_classes();
	add_root(3);
	refused(rte_tm_hierarchy_commit(port, 0, &tm_error), EINVAL, UNSPECIFIED);
	add_class(1, 0, 1);
	add_class(3, 1, 1);
	add_class(0, 2, 1);
	refused(rte_tm_hierarchy_commit(port, 0, &tm_error), EINVAL, NODE_PRIORITY);
	delete_node(CLASS(1));
	add_class(1, 1, 1);
	refused(rte_tm_hierarchy_commit(port, 0, &tm_error), EINVAL, NODE_PRIORITY);
	delete_node(CLASS(1));
	add_class(1, 2, 1);
	commit_nodes();
}

static void
hierarchy_that_is_refused_is_cleared_if_the_commit_says_so(void)
{
	plug_classes();
	add_root(1);
	refused(rte_tm_hierarchy_commit(port, 0, &tm_error), EINVAL, UNSPECIFIED);
	refused(rte_tm_hierarchy_commit(port, 1, &tm_error), EINVAL, UNSPECIFIED);
	share();
	start_port(&plain);
	card_shares();
}

static void
node_counts_what_it_was_asked_for_since_it_was_cleared(void)
{
	struct rte_tm_node_params frames = node_params(1);
	struct rte_tm_node_stats stats;
	uint64_t mask;

	plug_classes();
	share();
	frames.stats_mask = RTE_TM_STATS_N_PKTS;
	is(rte_tm_node_add(port, CLASS(2), ROOT, 0, 1, 1, &frames, &tm_error), 0);
	*shell(COUNTER(CLASS3_FRAMES)) = 11;
	*shell(COUNTER(CLASS3_BYTES)) = 700;
	*shell(COUNTER(CLASS3_LOST) + 4) = 1;
	is(rte_tm_node_stats_read(port, CLASS(3), &stats, &mask, 1, &tm_error), 0);
	is(mask, STATS);
	is(stats.n_pkts, 11);
	is(stats.n_bytes, 700);
	is(stats.leaf.n_pkts_dropped[RTE_COLOR_GREEN], 1l << 32);
	*shell(COUNTER(CLASS3_FRAMES)) = 13;
	is(rte_tm_node_stats_read(port, CLASS(3), &stats, &mask, 0, &tm_error), 0);
	is(stats.n_pkts, 2);
	is(stats.n_bytes, 0);
	is(extended("port_tx_class3_frames"), 13);
	*shell(COUNTER(CLASS2_FRAMES)) = 5;
	*shell(COUNTER(CLASS2_BYTES)) = 400;
	is(rte_tm_node_stats_read(port, CLASS(2), &stats, &mask, 0, &tm_error), 0);
	is(mask, RTE_TM_STATS_N_PKTS);
	is(stats.n_pkts, 5);
	is(stats.n_bytes, 0);
	is(rte_tm_node_stats_read(port, ROOT, NULL, NULL, 0, &tm_error), 0);
	refused(rte_tm_node_stats_read(port, CLASS(4), &stats, &mask, 0, &tm_error), EINVAL,
		NODE_ID);
	test_card->is_silent = true;
	refused(rte_tm_node_stats_read(port, CLASS(3), &stats, &mask, 0, &tm_error), EIO,
		UNSPECIFIED);
}

static void
each_class_has_extended_statistics(void)
{
	plug_classes();
	*shell(COUNTER(CLASS0_FRAMES)) = 7;
	*shell(COUNTER(CLASS5_BYTES)) = 8;
	*shell(COUNTER(CLASS7_LOST)) = 9;
	*shell(COUNTER(CLASS7_MARKED)) = 10;
	is(extended("port_tx_class0_frames"), 7);
	is(extended("port_tx_class5_bytes"), 8);
	is(extended("port_tx_class7_lost"), 9);
	is(extended("port_tx_class7_marked"), 10);
	is(rte_eth_xstats_reset(port), 0);
	is(extended("port_tx_class7_lost"), 0);
}

static void
classes_come_back_after_a_reset_of_the_card(void)
{
	struct rte_tm_node_stats stats;
	uint64_t mask;

	plug_classes();
	share();
	start_port(&plain);
	*shell(COUNTER(CLASS3_FRAMES)) = 11;
	is(rte_tm_node_stats_read(port, CLASS(3), &stats, &mask, 1, &tm_error), 0);
	test_card_reset(test_card);
	*shell(MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_CAPABILITIES) |= test_card_capabilities;
	card_is_as_after_reset();
	is(rte_eth_dev_reset(port), 0);
	start_port(&plain);
	card_shares();
	must(!is_paced(), "it is paced");
	is(rte_tm_node_stats_read(port, CLASS(3), &stats, &mask, 0, &tm_error), 0);
	is(stats.n_pkts, 0);
}

/* Until an application of this driver chooses. */
static void
what_others_have_set_stays(void)
{
	struct rte_eth_dcb_info info;

	plug_classes();
	*shell(EGRESS(STRICT)) = 0xfc;
	*shell(EGRESS(WEIGHTS_0_TO_3)) = 0x01010103;
	start_port(&plain);
	is(rte_eth_dev_get_dcb_info(port, &info), 0);
	is(info.tc_bws[0], 75);
	is(info.tc_bws[1], 25);
	is(info.tc_bws[2], 0);
	commit_nodes();
	is(rte_eth_dev_stop(port), 0);
	card_has(OWN_CLASSES, 0xfc, 0x01010103, ONE_EACH);
}

/* The next process's settings are its own. */
static void
marks_that_others_have_set_end_with_the_first_choice(void)
{
	uint32_t i;

	plug_classes();
	for (i = 0; i < MERIDIAN_EGRESS_MARKS_MAX; i++)
		*shell(MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_MARKS(i)) = 1;
	start_port(&plain);
	is(*shell(MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_MARKS(16)), 1);
	is(rte_eth_dev_stop(port), 0);
	share();
	is(rte_eth_dev_start(port), 0);
	/* Of port 1. */
	for (i = 0; i < MERIDIAN_EGRESS_MARKS_MAX; i++)
		is(*shell(MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_MARKS(i)), i / 16 != 1);
	close_port();
}

static void
port_that_is_plugged_again_has_no_classes_of_before(void)
{
	plug_classes();
	share();
	start_port(&plain);
	close_port();
	is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
	plug("classes=1");
	start_port(&plain);
	card_is_as_after_reset();
}

static struct layout
by_priority(uint8_t classes)
{
	struct layout layout = plain;
	uint32_t i;

	layout.conf.txmode.mq_mode = RTE_ETH_MQ_TX_DCB;
	layout.conf.tx_adv_conf.dcb_tx_conf.nb_tcs = classes;
	for (i = 0; i < RTE_ETH_DCB_NUM_USER_PRIORITIES; i++)
		layout.conf.tx_adv_conf.dcb_tx_conf.dcb_tc[i] = i % classes;
	return layout;
}

static void
priorities_have_the_classes_that_the_configuration_says(void)
{
	struct layout four = by_priority(4);
	struct rte_eth_dcb_info info;

	plug_classes();
	share();
	start_port(&four);
	card_has(0x32103210, 0, 10u << 24 | 30u << 8, 0);
	is(rte_eth_dev_get_dcb_info(port, &info), 0);
	is(info.nb_tcs, 8);
	is(info.prio_tc[3], 3);
	is(info.prio_tc[5], 1);
	is(info.tc_bws[1], 75);
	is(info.tc_bws[3], 25);
	is(info.tc_queue.tc_txq[0][3].nb_queue, 1);
	is(rte_eth_dev_stop(port), 0);
	card_is_as_after_reset();
	start_port(&plain);
	card_shares();
}

static void
class_that_is_not_there_is_refused_for_a_priority(void)
{
	struct layout wrong = by_priority(4);

	plug_classes();
	wrong.conf.tx_adv_conf.dcb_tx_conf.dcb_tc[6] = 4;
	is(rte_eth_dev_configure(port, 1, 1, &wrong.conf), -EINVAL);
	start_port(&plain);
	card_is_as_after_reset();
}

static void
classes_of_priorities_need_a_pool(void)
{
	struct layout eight = by_priority(8);

	plug("");
	is(rte_eth_dev_configure(port, 1, 1, &eight.conf), -ENOTSUP);
	start_port(&plain);
}

const struct test_case class_cases[] = {
	CASE(card_without_a_pool_has_no_traffic_manager),
	CASE(capabilities_say_what_the_card_does),
	CASE(weights_are_written_while_the_port_is_started),
	CASE(classes_before_the_last_priority_are_strict),
	CASE(queues_of_a_port_with_a_hierarchy_are_not_paced),
	CASE(nodes_of_a_port_that_runs_change_with_the_commit),
	CASE(hierarchy_does_not_begin_or_end_while_the_port_runs),
	CASE(port_that_cannot_be_is_refused),
	CASE(class_that_cannot_be_is_refused),
	CASE(order_that_the_card_cannot_serve_is_refused),
	CASE(hierarchy_that_is_refused_is_cleared_if_the_commit_says_so),
	CASE(node_counts_what_it_was_asked_for_since_it_was_cleared),
	CASE(each_class_has_extended_statistics),
	CASE(classes_come_back_after_a_reset_of_the_card),
	CASE(what_others_have_set_stays),
	CASE(marks_that_others_have_set_end_with_the_first_choice),
	CASE(port_that_is_plugged_again_has_no_classes_of_before),
	CASE(priorities_have_the_classes_that_the_configuration_says),
	CASE(class_that_is_not_there_is_refused_for_a_priority),
	CASE(classes_of_priorities_need_a_pool),
	{ NULL },
};
