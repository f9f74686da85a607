/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive side scaling: which queue a frame's hash takes it to. */
#include <rte_random.h>

#include "meridian.h"

/* Spread evenly over the first queues. */
void
meridian_spread(struct meridian *m, uint32_t queues)
{
	unsigned int i;

	for (i = 0; i < MERIDIAN_INDIRECTION; i++)
		m->indirection[i] = i % queues;
}

/* A key of the port's own, in Microsoft's order if the card can. */
void
meridian_default_rss(struct meridian *m)
{
	unsigned int i;

	m->is_microsoft = meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK);
	for (i = 0; i < MERIDIAN_KEY_WORDS; i++)
		m->key[i] = (uint32_t)rte_rand();
}

/**
 * meridian_write_function_rss() - how the frames of a function are spread
 * @m: a PF, whose card's lock is held
 * @function: itself or a VF of its
 * @rss: to be in force on return
 */
void
meridian_write_function_rss(struct meridian *m, uint32_t function, const struct qdma_rss *rss)
{
	uint32_t base = MERIDIAN_FUNCTION_BASE(function);
	unsigned int i;

	for (i = 0; i < MERIDIAN_KEY_WORDS; i++)
		meridian_write(m, base + MERIDIAN_FUNCTION_HASH_KEY(i), rss->key[i]);
	for (i = 0; i < MERIDIAN_INDIRECTION; i++)
		meridian_write(m, base + MERIDIAN_FUNCTION_INDIRECTION(i), rss->entry[i]);
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK))
		meridian_write(m, base + MERIDIAN_FUNCTION_HASH_ORDER, rss->is_microsoft);
	meridian_flush(m);
}

/**
 * meridian_write_rss() - key, indirection and order, as they are to be
 * @m: a PF
 *
 * Return: 0.
 */
int
meridian_write_rss(struct meridian *m)
{
	struct qdma_rss rss = { .is_microsoft = m->is_microsoft };

	static_assert(sizeof(rss.key) == sizeof(m->key) &&
		      sizeof(rss.entry) == sizeof(m->indirection),
		      "the library and the register map have the same RSS");
	memcpy(rss.key, m->key, sizeof(rss.key));
	memcpy(rss.entry, m->indirection, sizeof(rss.entry));
	pthread_mutex_lock(&m->card->lock);
	meridian_write_function_rss(m, m->function, &rss);
	pthread_mutex_unlock(&m->card->lock);
	return 0;
}

/**
 * meridian_rss_types() - what is hashed
 * @m: a port
 *
 * OpenNIC's order takes the four bytes behind any IPv4 header for ports.
 *
 * Return: RTE_ETH_RSS_*.
 */
uint64_t
meridian_rss_types(const struct meridian *m)
{
	uint64_t types = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP |
			 RTE_ETH_RSS_NONFRAG_IPV4_UDP;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK))
		return types;
	return types | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER | RTE_ETH_RSS_IPV6 |
	       RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_TCP |
	       RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_NONFRAG_IPV6_OTHER;
}

static int
put_in_force(struct meridian *m)
{
	return m->is_started ? m->ops->write_rss(m) : 0;
}

int
meridian_reta_set(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	struct meridian *m = meridian_of(dev);
	uint16_t before[MERIDIAN_INDIRECTION];
	unsigned int i;
	int error;

	if (size != MERIDIAN_INDIRECTION)
		return -EINVAL;
	memcpy(before, m->indirection, sizeof(before));
	for (i = 0; i < size; i++) {
		const struct rte_eth_rss_reta_entry64 *part = &reta[i / RTE_ETH_RETA_GROUP_SIZE];
		unsigned int at = i % RTE_ETH_RETA_GROUP_SIZE;

		if (!(part->mask >> at & 1))
			continue;
		if (part->reta[at] >= dev->data->nb_rx_queues) {
			memcpy(m->indirection, before, sizeof(before));
			return -EINVAL;
		}
		m->indirection[i] = part->reta[at];
	}
	error = put_in_force(m);
	if (error)
		memcpy(m->indirection, before, sizeof(before));
	return error;
}

int
meridian_reta_get(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	struct meridian *m = meridian_of(dev);
	unsigned int i;

	if (size != MERIDIAN_INDIRECTION)
		return -EINVAL;
	for (i = 0; i < size; i++) {
		unsigned int at = i % RTE_ETH_RETA_GROUP_SIZE;

		if (reta[i / RTE_ETH_RETA_GROUP_SIZE].mask >> at & 1)
			reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[at] = m->indirection[i];
	}
	return 0;
}

/* What is hashed cannot be chosen; types that the card does not hash are refused by ethdev. */
int
meridian_rss_set(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	struct meridian *m = meridian_of(dev);
	uint32_t before[MERIDIAN_KEY_WORDS];
	int error;

	if (conf->rss_key == NULL)
		return 0;
	if (conf->rss_key_len != MERIDIAN_KEY_BYTES)
		return -EINVAL;
	memcpy(before, m->key, sizeof(before));
	/* The card has the first byte lowest. */
	memcpy(m->key, conf->rss_key, MERIDIAN_KEY_BYTES);
	error = put_in_force(m);
	if (error)
		memcpy(m->key, before, sizeof(before));
	return error;
}

int
meridian_rss_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	struct meridian *m = meridian_of(dev);

	if (conf->rss_key != NULL && conf->rss_key_len >= MERIDIAN_KEY_BYTES) {
		memcpy(conf->rss_key, m->key, MERIDIAN_KEY_BYTES);
		conf->rss_key_len = MERIDIAN_KEY_BYTES;
	}
	conf->rss_hf = dev->data->nb_rx_queues > 1 ? meridian_rss_types(m) : 0;
	return 0;
}
