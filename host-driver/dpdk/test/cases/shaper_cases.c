/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates of traffic classes, by rte_tm's private shapers. */
#include <rte_dev.h>

#include "cases.h"
#include "hierarchy.h"

#define UNIT		488281	/* bit/s, of the null card */
#define LOWEST		61036	/* the next whole byte a second */
#define HIGHEST		7999934868	/* in whole bytes a second, less than 2^17 - 1 units */
#define FIVE_GIGABITS	625000000ul
#define FIVE_IN_UNITS	10240
#define LARGEST		4194303	/* bytes of a bucket */
#define CHOSEN		256	/* by the driver, in 64 bytes: 16 KiB */
#define OVERHEAD	24
#define PROFILE		7

enum word { MAX_RATE, MAX_BURST, MIN_RATE, MIN_BURST, WORDS };

static uint32_t *
rate_word(uint32_t of_port, uint32_t class, enum word word)
{
	return shell(MERIDIAN_EGRESS_BASE +
		     MERIDIAN_EGRESS_RATES(32 * of_port + WORDS * class + word));
}

static void
class_has(uint32_t class, uint32_t max, uint32_t max_burst, uint32_t min, uint32_t min_burst)
{
	is(*rate_word(test_card_port, class, MAX_RATE), max);
	is(*rate_word(test_card_port, class, MAX_BURST), max_burst);
	is(*rate_word(test_card_port, class, MIN_RATE), min);
	is(*rate_word(test_card_port, class, MIN_BURST), min_burst);
}

/* But for one class of the port; 8: for none. */
static void
others_have_no_rates(uint32_t class)
{
	uint32_t of_port, i, word;

	for (of_port = 0; of_port < 4; of_port++) {
		for (i = 0; i < 8; i++) {
			if (of_port == test_card_port && i == class)
				continue;
			for (word = 0; word < WORDS; word++)
				is(*rate_word(of_port, i, word), 0);
		}
	}
}

static struct rte_tm_shaper_params
peak(uint64_t rate, uint64_t size)
{
	return (struct rte_tm_shaper_params){
		.peak = { rate, size }, .pkt_length_adjust = OVERHEAD,
	};
}

static int
try_profile(uint32_t id, struct rte_tm_shaper_params profile)
{
	return rte_tm_shaper_profile_add(port, id, &profile, &tm_error);
}

static int
try_shaped(uint32_t id, uint32_t parent, uint32_t profile)
{
	struct rte_tm_node_params params = node_params(1);

	params.shaper_profile_id = profile;
	return rte_tm_node_add(port, id, parent, 0, 1, RTE_TM_NODE_LEVEL_ID_ANY, &params,
			       &tm_error);
}

static void
add_profile(uint32_t id, struct rte_tm_shaper_params profile)
{
	is(try_profile(id, profile), 0);
}

static void
shape(uint32_t class, uint32_t profile)
{
	is(try_shaped(CLASS(class), ROOT, profile), 0);
}

/* Class 3 has 5 Gb/s at most, and the port runs. */
static void
shape_and_start(void)
{
	add_profile(PROFILE, peak(FIVE_GIGABITS, 6400));
	add_root(1);
	add_class(1, 0, 1);
	shape(3, PROFILE);
	commit_nodes();
	start_port(&plain);
}

static void
start_shaped(void)
{
	plug_classes();
	shape_and_start();
}

static void
card_with_rates_says_so(void)
{
	struct rte_tm_level_capabilities level;
	struct rte_tm_node_capabilities node;
	struct rte_tm_capabilities all;

	plug_classes();
	is(rte_tm_capabilities_get(port, &all, &tm_error), 0);
	is(all.shaper_n_max, 8);
	is(all.shaper_private_n_max, 8);
	is(all.shaper_private_dual_rate_n_max, 8);
	is(all.shaper_private_rate_min, LOWEST);
	is(all.shaper_private_rate_max, HIGHEST);
	is(all.shaper_private_packet_mode_supported, 0);
	is(all.shaper_private_byte_mode_supported, 1);
	is(all.shaper_shared_n_max, 0);
	is(all.shaper_pkt_length_adjust_min, OVERHEAD);
	is(all.shaper_pkt_length_adjust_max, OVERHEAD);
	is(rte_tm_level_capabilities_get(port, 0, &level, &tm_error), 0);
	is(level.nonleaf.shaper_private_supported, 0);
	is(level.nonleaf.shaper_private_rate_max, 0);
	is(rte_tm_level_capabilities_get(port, 1, &level, &tm_error), 0);
	is(level.nonleaf.shaper_private_supported, 1);
	is(level.nonleaf.shaper_private_dual_rate_supported, 1);
	is(level.nonleaf.shaper_private_rate_min, LOWEST);
	is(level.nonleaf.shaper_private_rate_max, HIGHEST);
	is(level.nonleaf.shaper_private_packet_mode_supported, 0);
	is(level.nonleaf.shaper_private_byte_mode_supported, 1);
	is(level.nonleaf.shaper_shared_n_max, 0);
	add_root(1);
	add_class(3, 0, 1);
	is(rte_tm_node_capabilities_get(port, ROOT, &node, &tm_error), 0);
	is(node.shaper_private_supported, 0);
	is(rte_tm_node_capabilities_get(port, CLASS(3), &node, &tm_error), 0);
	is(node.shaper_private_supported, 1);
	is(node.shaper_private_dual_rate_supported, 1);
	is(node.shaper_private_rate_min, LOWEST);
	is(node.shaper_private_rate_max, HIGHEST);
	is(node.shaper_private_byte_mode_supported, 1);
	is(node.shaper_shared_n_max, 0);
}

static void
card_without_rates_has_classes_and_no_shapers(void)
{
	struct rte_tm_level_capabilities level;
	struct rte_tm_node_capabilities node;
	struct rte_tm_capabilities all;

	test_card_has_no_rates = true;
	plug_classes();
	*rate_word(1, 1, MAX_RATE) = 1;
	is(rte_tm_capabilities_get(port, &all, &tm_error), 0);
	is(all.shaper_n_max, 0);
	is(all.shaper_private_n_max, 0);
	is(all.shaper_private_byte_mode_supported, 0);
	is(all.shaper_pkt_length_adjust_max, 0);
	is(rte_tm_level_capabilities_get(port, 1, &level, &tm_error), 0);
	is(level.nonleaf.shaper_private_supported, 0);
	refused(try_profile(PROFILE, peak(FIVE_GIGABITS, 0)), EINVAL, SHAPER_PROFILE);
	add_root(1);
	refused(try_shaped(CLASS(1), ROOT, PROFILE), EINVAL, NODE_PARAMS_SHAPER_PROFILE_ID);
	add_class(1, 0, 9);
	is(rte_tm_node_capabilities_get(port, CLASS(1), &node, &tm_error), 0);
	is(node.shaper_private_supported, 0);
	commit_nodes();
	start_port(&plain);
	card_has(OWN_CLASSES, 0, 9 << 8, 0);
	is(*rate_word(1, 1, MAX_RATE), 1);	/* nothing was written there */
}

static void
peak_rate_is_on_the_card_while_the_port_is_started(void)
{
	start_shaped();
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	others_have_no_rates(3);
	is(rte_eth_dev_stop(port), 0);
	others_have_no_rates(8);
	is(rte_eth_dev_start(port), 0);
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	close_port();
}

static void
committed_rate_is_on_the_card_beside_the_peak_rate(void)
{
	struct rte_tm_shaper_params both = peak(FIVE_GIGABITS, 0);

	both.committed = (struct rte_tm_token_bucket){ FIVE_GIGABITS / 2, 640 };
	plug_classes();
	add_profile(PROFILE, both);
	add_root(1);
	shape(6, PROFILE);
	commit_nodes();
	others_have_no_rates(8);
	start_port(&plain);
	class_has(6, FIVE_IN_UNITS, CHOSEN, FIVE_IN_UNITS / 2, 10);
	others_have_no_rates(6);
}

/* A size counts in whole 64 bytes, and a rate in whole units. */
static void
all_classes_have_rates_of_their_own(void)
{
	uint32_t i;

	plug_classes();
	add_root(1);
	for (i = 0; i < 8; i++) {
		struct rte_tm_shaper_params both = peak((uint64_t)(i + 2) * UNIT / 8 + 1,
							64 * (i + 1) + 63);

		both.committed = (struct rte_tm_token_bucket){ UNIT / 8 + 1, 64 * (i + 21) };
		add_profile(i, both);
		shape(i, i);
	}
	commit_nodes();
	start_port(&plain);
	for (i = 0; i < 8; i++)
		class_has(i, i + 2, i + 1, 1, i + 21);
	for (i = 0; i < 8; i++)
		is(*rate_word(0, i, MAX_RATE), 0);
}

static void
several_classes_have_the_rates_of_one_profile(void)
{
	plug_classes();
	add_profile(PROFILE, peak(FIVE_GIGABITS, 0));
	add_root(1);
	shape(0, PROFILE);
	shape(7, PROFILE);
	commit_nodes();
	start_port(&plain);
	class_has(0, FIVE_IN_UNITS, CHOSEN, 0, 0);
	class_has(7, FIVE_IN_UNITS, CHOSEN, 0, 0);
}

static void
lowest_and_highest_rates_and_sizes_are_what_the_card_holds(void)
{
	plug_classes();
	add_profile(1, peak(LOWEST, 64));
	add_profile(2, peak(HIGHEST, LARGEST));
	add_root(1);
	shape(1, 1);
	shape(2, 2);
	commit_nodes();
	start_port(&plain);
	class_has(1, 1, 1, 0, 0);
	class_has(2, HIGHEST * 8 / UNIT, 0xffff, 0, 0);
}

static void
rates_of_a_port_that_runs_change_with_the_commit(void)
{
	start_shaped();
	add_profile(PROFILE + 1, peak(2 * FIVE_GIGABITS, 128));
	delete_node(CLASS(3));
	shape(3, PROFILE + 1);
	is(rte_tm_shaper_profile_delete(port, PROFILE, &tm_error), 0);
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	commit_nodes();
	class_has(3, 2 * FIVE_IN_UNITS, 2, 0, 0);
	others_have_no_rates(3);
	delete_node(CLASS(3));
	class_has(3, 2 * FIVE_IN_UNITS, 2, 0, 0);
	commit_nodes();
	others_have_no_rates(8);
	card_has(OWN_CLASSES, 0, 1 << 8, 0);
}

/* A node that is new has them with the commit; and what is wrong changes nothing. */
static void
rates_of_a_node_change_at_once_by_an_update(void)
{
	start_shaped();
	add_profile(PROFILE + 1, peak(2 * FIVE_GIGABITS, 128));
	shape(2, PROFILE);
	is(rte_tm_node_shaper_update(port, CLASS(2), PROFILE + 1, &tm_error), 0);
	others_have_no_rates(3);
	is(rte_tm_node_shaper_update(port, CLASS(3), PROFILE + 1, &tm_error), 0);
	class_has(3, 2 * FIVE_IN_UNITS, 2, 0, 0);
	others_have_no_rates(3);
	card_has(OWN_CLASSES, 0, 1 << 24 | 1 << 8, 0);
	is(rte_tm_shaper_profile_delete(port, PROFILE, &tm_error), 0);
	refused(rte_tm_node_shaper_update(port, CLASS(3), PROFILE, &tm_error), EINVAL,
		NODE_PARAMS_SHAPER_PROFILE_ID);
	refused(rte_tm_node_shaper_update(port, ROOT, PROFILE + 1, &tm_error), EINVAL,
		NODE_PARAMS_SHAPER_PROFILE_ID);
	refused(rte_tm_node_shaper_update(port, CLASS(4), PROFILE + 1, &tm_error), EINVAL,
		NODE_ID);
	class_has(3, 2 * FIVE_IN_UNITS, 2, 0, 0);
	is(rte_tm_node_shaper_update(port, CLASS(3), UINT32_MAX, &tm_error), 0);
	others_have_no_rates(8);
	commit_nodes();
	class_has(2, 2 * FIVE_IN_UNITS, 2, 0, 0);
	others_have_no_rates(2);
}

static void
update_to_more_committed_rates_than_the_line_has_changes_nothing(void)
{
	struct rte_tm_shaper_params both = peak(4 * FIVE_GIGABITS, 0);

	both.committed.rate = 3 * FIVE_GIGABITS;
	plug("classes=1");
	add_profile(PROFILE + 1, both);
	shape_and_start();
	is(rte_tm_node_shaper_update(port, CLASS(1), PROFILE + 1, &tm_error), 0);
	refused(rte_tm_node_shaper_update(port, CLASS(3), PROFILE + 1, &tm_error), EINVAL,
		NODE_PARAMS_SHAPER_PROFILE_ID);
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	commit_nodes();
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	class_has(1, 4 * FIVE_IN_UNITS, CHOSEN, 3 * FIVE_IN_UNITS, CHOSEN);
}

static void
node_that_is_added_again_without_a_profile_has_no_rate(void)
{
	start_shaped();
	delete_node(CLASS(3));
	add_class(3, 0, 1);
	commit_nodes();
	others_have_no_rates(8);
	card_has(OWN_CLASSES, 0, 1 << 24 | 1 << 8, 0);
}

static void
hierarchy_that_ends_takes_its_rates_along(void)
{
	start_shaped();
	is(rte_eth_dev_stop(port), 0);
	delete_node(CLASS(1));
	delete_node(CLASS(3));
	delete_node(ROOT);
	commit_nodes();
	is(rte_eth_dev_start(port), 0);
	others_have_no_rates(8);
	card_is_as_after_reset();
}

/* The map of priorities is chosen by another call than rates are. */
static void
classes_of_priorities_leave_rates_as_they_are(void)
{
	struct layout four = plain;
	uint32_t i;

	start_shaped();
	is(rte_eth_dev_stop(port), 0);
	four.conf.txmode.mq_mode = RTE_ETH_MQ_TX_DCB;
	four.conf.tx_adv_conf.dcb_tx_conf.nb_tcs = 4;
	for (i = 0; i < RTE_ETH_DCB_NUM_USER_PRIORITIES; i++)
		four.conf.tx_adv_conf.dcb_tx_conf.dcb_tc[i] = i % 4;
	start_port(&four);
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	card_has(0x32103210, 0, 1 << 24 | 1 << 8, 0);
	commit_nodes();
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	card_has(0x32103210, 0, 1 << 24 | 1 << 8, 0);
}

/* One thing is wrong with it at a time. */
static void
profile_that_the_card_cannot_hold_is_refused(void)
{
	struct rte_tm_shaper_params bad;

	plug_classes();
	refused(rte_tm_shaper_profile_add(port, PROFILE, NULL, &tm_error), EINVAL,
		SHAPER_PROFILE);
	refused(try_profile(UINT32_MAX, peak(FIVE_GIGABITS, 0)), EINVAL, SHAPER_PROFILE_ID);
	refused(try_profile(PROFILE, peak(0, 0)), EINVAL, SHAPER_PROFILE_PEAK_RATE);
	refused(try_profile(PROFILE, peak(LOWEST - 1, 0)), EINVAL, SHAPER_PROFILE_PEAK_RATE);
	refused(try_profile(PROFILE, peak(HIGHEST + 1, 0)), EINVAL, SHAPER_PROFILE_PEAK_RATE);
	refused(try_profile(PROFILE, peak(UINT64_MAX, 0)), EINVAL, SHAPER_PROFILE_PEAK_RATE);
	refused(try_profile(PROFILE, peak(LOWEST, 63)), EINVAL, SHAPER_PROFILE_PEAK_SIZE);
	refused(try_profile(PROFILE, peak(LOWEST, LARGEST + 1)), EINVAL,
		SHAPER_PROFILE_PEAK_SIZE);
	bad = peak(FIVE_GIGABITS, 0);
	bad.committed.rate = LOWEST - 1;
	refused(try_profile(PROFILE, bad), EINVAL, SHAPER_PROFILE_COMMITTED_RATE);
	bad.committed.rate = FIVE_GIGABITS + 1;
	refused(try_profile(PROFILE, bad), EINVAL, SHAPER_PROFILE_COMMITTED_RATE);
	bad.committed = (struct rte_tm_token_bucket){ FIVE_GIGABITS, LARGEST + 1 };
	refused(try_profile(PROFILE, bad), EINVAL, SHAPER_PROFILE_COMMITTED_SIZE);
	bad = peak(FIVE_GIGABITS, 0);
	bad.packet_mode = 1;
	refused(try_profile(PROFILE, bad), EINVAL, SHAPER_PROFILE_PACKET_MODE);
	bad = peak(FIVE_GIGABITS, 0);
	bad.pkt_length_adjust = 0;
	refused(try_profile(PROFILE, bad), EINVAL, SHAPER_PROFILE_PKT_ADJUST_LEN);
	refused(rte_tm_shaper_profile_delete(port, PROFILE, &tm_error), EINVAL,
		SHAPER_PROFILE_ID);
	add_profile(PROFILE, peak(FIVE_GIGABITS, 0));
	refused(try_profile(PROFILE, peak(FIVE_GIGABITS, 0)), EINVAL, SHAPER_PROFILE_ID);
}

static void
more_profiles_than_two_for_each_class_are_refused(void)
{
	uint32_t i;

	plug_classes();
	for (i = 0; i < 16; i++)
		add_profile(i, peak(FIVE_GIGABITS, 0));
	refused(try_profile(16, peak(FIVE_GIGABITS, 0)), ENOSPC, SHAPER_PROFILE_ID);
	is(rte_tm_shaper_profile_delete(port, 5, &tm_error), 0);
	add_profile(16, peak(FIVE_GIGABITS, 0));
}

static void
node_that_the_card_cannot_shape_is_refused(void)
{
	struct rte_tm_node_params of_port = node_params(1), shared = node_params(1);

	plug_classes();
	add_profile(PROFILE, peak(FIVE_GIGABITS, 0));
	of_port.shaper_profile_id = PROFILE;
	refused(rte_tm_node_add(port, ROOT, UINT32_MAX, 0, 1, 0, &of_port, &tm_error), EINVAL,
		NODE_PARAMS_SHAPER_PROFILE_ID);
	add_root(1);
	refused(try_shaped(0, CLASS(1), PROFILE), EINVAL, NODE_ID);
	refused(try_shaped(CLASS(1), ROOT, PROFILE + 1), EINVAL, NODE_PARAMS_SHAPER_PROFILE_ID);
	shared.n_shared_shapers = 1;
	refused(rte_tm_node_add(port, CLASS(1), ROOT, 0, 1, 1, &shared, &tm_error), EINVAL,
		NODE_PARAMS_N_SHARED_SHAPERS);
	refused(rte_tm_shared_shaper_add_update(port, 1, PROFILE, &tm_error), EINVAL,
		SHARED_SHAPER_ID);
	shape(1, PROFILE);
}

static void
profile_of_a_node_is_not_deleted(void)
{
	start_shaped();
	refused(rte_tm_shaper_profile_delete(port, PROFILE, &tm_error), EBUSY,
		SHAPER_PROFILE_ID);
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	delete_node(CLASS(3));
	is(rte_tm_shaper_profile_delete(port, PROFILE, &tm_error), 0);
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	commit_nodes();
	others_have_no_rates(8);
	refused(try_shaped(CLASS(3), ROOT, PROFILE), EINVAL, NODE_PARAMS_SHAPER_PROFILE_ID);
}

/* The line of the first port has 25 Gb/s: enough for five classes, and not for a sixth. */
static void
commit_of_more_committed_rates_than_the_line_has_changes_nothing(void)
{
	struct rte_tm_shaper_params both = peak(FIVE_GIGABITS, 0);
	uint32_t i;

	both.committed.rate = FIVE_GIGABITS;
	plug("classes=1");
	shape_and_start();
	add_profile(PROFILE + 1, both);
	delete_node(CLASS(3));
	for (i = 2; i < 8; i++)
		shape(i, PROFILE + 1);
	refused(rte_tm_hierarchy_commit(port, 0, &tm_error), EINVAL,
		NODE_PARAMS_SHAPER_PROFILE_ID);
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	others_have_no_rates(3);
	card_has(OWN_CLASSES, 0, 1 << 24 | 1 << 8, 0);
	delete_node(CLASS(7));
	commit_nodes();
	class_has(6, FIVE_IN_UNITS, CHOSEN, FIVE_IN_UNITS, CHOSEN);
	class_has(7, 0, 0, 0, 0);
}

/* Its profiles stay, and no node has them. */
static void
commit_that_fails_clears_nodes_and_not_profiles(void)
{
	start_shaped();
	add_profile(PROFILE + 1, peak(LOWEST, 64));
	delete_node(CLASS(3));
	delete_node(CLASS(1));
	refused(rte_tm_hierarchy_commit(port, 1, &tm_error), EINVAL, UNSPECIFIED);
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	add_root(1);
	shape(3, PROFILE + 1);
	is(rte_tm_shaper_profile_delete(port, PROFILE, &tm_error), 0);
	commit_nodes();
	class_has(3, 1, 1, 0, 0);
	others_have_no_rates(3);
}

static void
rates_come_back_after_a_reset_of_the_card(void)
{
	start_shaped();
	test_card_reset(test_card);
	*shell(MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_CAPABILITIES) |= test_card_capabilities;
	others_have_no_rates(8);
	is(rte_eth_dev_reset(port), 0);
	start_port(&plain);
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	others_have_no_rates(3);
}

/* What the application says meanwhile reaches the card as the port starts again. */
static void
rates_that_a_card_does_not_hear_are_written_as_the_port_starts_again(void)
{
	start_shaped();
	test_card->is_silent = true;
	delete_node(CLASS(3));
	shape(2, PROFILE);
	commit_nodes();
	test_card->is_silent = false;
	class_has(3, FIVE_IN_UNITS, 100, 0, 0);
	is(rte_eth_dev_stop(port), 0);
	is(rte_eth_dev_start(port), 0);
	class_has(2, FIVE_IN_UNITS, 100, 0, 0);
	others_have_no_rates(2);
}

/* Its hierarchy is in the middle of a change then, and the next process's profiles are its own. */
static void
port_that_is_closed_has_no_rates_and_no_profiles(void)
{
	start_shaped();
	delete_node(CLASS(3));
	shape(2, PROFILE);
	close_port();
	is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
	plug("classes=1");
	others_have_no_rates(8);
	refused(rte_tm_shaper_profile_delete(port, PROFILE, &tm_error), EINVAL,
		SHAPER_PROFILE_ID);
	add_profile(PROFILE, peak(LOWEST, 64));
	start_port(&plain);
	others_have_no_rates(8);
}

const struct test_case shaper_cases[] = {
	CASE(card_with_rates_says_so),
	CASE(card_without_rates_has_classes_and_no_shapers),
	CASE(peak_rate_is_on_the_card_while_the_port_is_started),
	CASE(committed_rate_is_on_the_card_beside_the_peak_rate),
	CASE(all_classes_have_rates_of_their_own),
	CASE(several_classes_have_the_rates_of_one_profile),
	CASE(lowest_and_highest_rates_and_sizes_are_what_the_card_holds),
	CASE(rates_of_a_port_that_runs_change_with_the_commit),
	CASE(rates_of_a_node_change_at_once_by_an_update),
	CASE(update_to_more_committed_rates_than_the_line_has_changes_nothing),
	CASE(node_that_is_added_again_without_a_profile_has_no_rate),
	CASE(hierarchy_that_ends_takes_its_rates_along),
	CASE(classes_of_priorities_leave_rates_as_they_are),
	CASE(profile_that_the_card_cannot_hold_is_refused),
	CASE(more_profiles_than_two_for_each_class_are_refused),
	CASE(node_that_the_card_cannot_shape_is_refused),
	CASE(profile_of_a_node_is_not_deleted),
	CASE(commit_of_more_committed_rates_than_the_line_has_changes_nothing),
	CASE(commit_that_fails_clears_nodes_and_not_profiles),
	CASE(rates_come_back_after_a_reset_of_the_card),
	CASE(rates_that_a_card_does_not_hear_are_written_as_the_port_starts_again),
	CASE(port_that_is_closed_has_no_rates_and_no_profiles),
	{ NULL },
};
