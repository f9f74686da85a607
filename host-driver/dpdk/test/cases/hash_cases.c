/* SPDX-License-Identifier: BSD-3-Clause */
/* How frames are spread over queues, and with which keys. */
#include <string.h>

#include <rte_random.h>
#include <rte_version.h>

#include "qdma/service/qdma_rss.h"
#include "cases.h"
#include "port.h"

#define MAC_WORDS	2	/* of the MAC table's key, which has half a word more */

static uint64_t
hashed_types(void)
{
	struct rte_eth_rss_conf conf = { 0 };

	is(rte_eth_dev_rss_hash_conf_get(port, &conf), 0);
	return conf.rss_hf;
}

/* That the card spreads frames over. */
static unsigned int
queues_in_force(void)
{
	uint32_t most = 0, i;

	for (i = 0; i < MERIDIAN_FUNCTION_INDIRECTION_MAX; i++)
		most = RTE_MAX(most, *shell(MERIDIAN_FUNCTION_BASE(0) +
					    MERIDIAN_FUNCTION_INDIRECTION(i)));
	return most + 1;
}

static const struct layout spread = {
	.queues = 4,
	.slots = 64,
	.conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IPV4,
	},
};

static void
hash_is_switched_off_and_on(void)
{
	struct rte_eth_rss_conf conf = { 0 };

	plug("");
	start_port(&spread);
	is(queues_in_force(), 4);
	must(hashed_types() & RTE_ETH_RSS_IPV4, "nothing is hashed");
	is(rte_eth_dev_rss_hash_update(port, &conf), 0);
	is(queues_in_force(), 1);
	is(hashed_types(), 0);
	conf.rss_hf = RTE_ETH_RSS_IPV4;
	is(rte_eth_dev_rss_hash_update(port, &conf), 0);
	is(queues_in_force(), 4);
	must(hashed_types() & RTE_ETH_RSS_IPV4, "nothing is hashed");
}

static void
hash_is_off_without_types(void)
{
	struct layout layout = spread;

	layout.conf.rx_adv_conf.rss_conf.rss_hf = 0;
	plug("");
	start_port(&layout);
	is(queues_in_force(), 1);
	is(hashed_types(), 0);
	is(rte_eth_dev_stop(port), 0);
	layout.conf.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	start_port(&layout);
	is(queues_in_force(), 1);
	is(hashed_types(), 0);
}

/* Of the whole table, then of one entry in its second half. */
static void
entries_of_the_hash_table_are_where_they_were_put(void)
{
	struct rte_eth_rss_reta_entry64 table[2] = { [0 ... 1] = { .mask = UINT64_MAX } };
	struct rte_eth_rss_reta_entry64 one[2] = { { .mask = 0 }, { .mask = 1ull << 36 } };
	uint32_t i;

	plug("");
	start_port(&spread);
	for (i = 0; i < MERIDIAN_FUNCTION_INDIRECTION_MAX; i++)
		table[i / 64].reta[i % 64] = (i ^ i >> 6) & 3;
	is(rte_eth_dev_rss_reta_update(port, table, MERIDIAN_FUNCTION_INDIRECTION_MAX), 0);
	one[1].reta[36] = (table[1].reta[36] + 1) & 3;
	is(rte_eth_dev_rss_reta_update(port, one, MERIDIAN_FUNCTION_INDIRECTION_MAX), 0);
	table[1].reta[36] = one[1].reta[36];
	for (i = 0; i < MERIDIAN_FUNCTION_INDIRECTION_MAX; i++)
		must(*shell(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_INDIRECTION(i)) ==
		     table[i / 64].reta[i % 64], "entry %u", i);
}

static void
key_without_a_length_is_of_40_bytes(void)
{
	static uint8_t key[40] = { [0 ... 39] = 0x6d };
	struct layout layout = spread;

	layout.conf.rx_adv_conf.rss_conf.rss_key = key;
	/* DPDK 23.07 and newer refuse it themselves. */
	layout.conf.rx_adv_conf.rss_conf.rss_key_len =
		RTE_VERSION >= RTE_VERSION_NUM(23, 7, 0, 0) ? sizeof(key) : 0;
	plug("");
	start_port(&layout);
	is(*shell(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_HASH_KEY(0)), 0x6d6d6d6d);
}

/* Of the hash of the card's MAC table, and of the one that spreads frames over queues. */
static void
look_at_keys(uint32_t *key)
{
	memcpy(key, shell(MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_HASH_KEY_0),
	       MAC_WORDS * sizeof(*key));
	memcpy(&key[MAC_WORDS], shell(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_HASH_KEY(0)),
	       QDMA_RSS_WORDS * sizeof(*key));
}

/* Not by rte_rand(), whose seed an application may set: whoever knows it would know the keys. */
static void
keys_are_drawn_anew_for_each_card(void)
{
	uint32_t key[4][MAC_WORDS + QDMA_RSS_WORDS];
	unsigned int one, other, word;

	for (one = 0; one < RTE_DIM(key); one++) {
		rte_srand(1);
		plug("");
		start_port(&plain);
		look_at_keys(key[one]);
		is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
		for (word = 0; word < RTE_DIM(key[0]); word++) {
			for (other = 0; other < one; other++)
				must(key[one][word] != key[other][word], "word %u is as before",
				     word);
		}
	}
}

const struct test_case hash_cases[] = {
	CASE(hash_is_switched_off_and_on),
	CASE(hash_is_off_without_types),
	CASE(entries_of_the_hash_table_are_where_they_were_put),
	CASE(key_without_a_length_is_of_40_bytes),
	CASE(keys_are_drawn_anew_for_each_card),
	{ NULL },
};
