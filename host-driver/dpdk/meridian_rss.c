/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive side scaling: which queue a frame's hash takes it to. */
#include <sys/random.h>

#include <rte_random.h>

#include "meridian.h"

/**
 * meridian_draw_key() - a key that nobody has had
 * @m: a port
 * @function: whose key it is to be
 * @rss: gets it
 *
 * A key of zeros would send all frames to one queue, so there is one in any case.
 */
void
meridian_draw_key(const struct meridian *m, uint32_t function, struct qdma_rss *rss)
{
	size_t i;

	/* getrandom() gives up to 256 bytes whole. */
	if (getrandom(rss->key, sizeof(rss->key), 0) == sizeof(rss->key))
		return;
	MERIDIAN_LOG(ERR, "%s: the system has no random numbers: the hash key of function %u can be guessed",
		     m->data->name, function);
	for (i = 0; i < RTE_DIM(rss->key); i++)
		rss->key[i] = (uint32_t)rte_rand();
}

/* A key of the port's own, in Microsoft's order if the card can. */
void
meridian_default_rss(struct meridian *m)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK))
		m->rss.order = MERIDIAN_FUNCTION_HASH_ORDER_MICROSOFT_MASK;
	meridian_draw_key(m, m->function, &m->rss);
}

/**
 * meridian_rss_in_force() - what the card is to have
 * @m: a port
 * @rss: result; all frames go to the first queue if the port does not spread them
 */
void
meridian_rss_in_force(const struct meridian *m, struct qdma_rss *rss)
{
	*rss = m->rss;
	if (!m->is_spreading)
		qdma_spread(rss, 1);
}

/**
 * meridian_configure_rss() - spread frames as a new configuration says
 * @dev: a port that is stopped
 *
 * Return: 0 or a negative errno.
 */
int
meridian_configure_rss(struct rte_eth_dev *dev)
{
	struct rte_eth_rss_conf *conf = &dev->data->dev_conf.rx_adv_conf.rss_conf;
	bool is_rss = dev->data->dev_conf.rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG;
	struct meridian *m = meridian_of(dev);

	m->is_spreading = is_rss && conf->rss_hf;
	qdma_spread(&m->rss, RTE_MAX(dev->data->nb_rx_queues, 1));
	return is_rss ? meridian_rss_set(dev, conf) : 0;
}

/**
 * meridian_write_function_rss() - how the frames of a function are spread
 * @m: a PF, whose card's lock is held
 * @function: itself or one of its VFs
 * @rss: to be in force on return
 */
void
meridian_write_function_rss(struct meridian *m, uint32_t function, const struct qdma_rss *rss)
{
	uint32_t base = MERIDIAN_FUNCTION_BASE(function);
	unsigned int i;

	static_assert(QDMA_RSS_WORDS == MERIDIAN_FUNCTION_HASH_KEY_MAX,
		      "the library and the register map have the same key of RSS");
	static_assert(QDMA_RSS_ENTRIES == MERIDIAN_FUNCTION_INDIRECTION_MAX,
		      "the library and the register map have the same table of RSS");
	for (i = 0; i < QDMA_RSS_WORDS; i++)
		meridian_write(m, base + MERIDIAN_FUNCTION_HASH_KEY(i), rss->key[i]);
	for (i = 0; i < QDMA_RSS_ENTRIES; i++)
		meridian_write(m, base + MERIDIAN_FUNCTION_INDIRECTION(i), rss->entry[i]);
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK))
		meridian_write(m, base + MERIDIAN_FUNCTION_HASH_ORDER, rss->order);
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
	struct qdma_rss rss;

	meridian_rss_in_force(m, &rss);
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
	const struct qdma_rss before = m->rss;
	unsigned int i;
	int error;

	if (size != QDMA_RSS_ENTRIES)
		return -EINVAL;
	if (!meridian_can_spread(m))
		return -ENOTSUP;
	for (i = 0; i < size; i++) {
		const struct rte_eth_rss_reta_entry64 *part = &reta[i / RTE_ETH_RETA_GROUP_SIZE];
		unsigned int at = i % RTE_ETH_RETA_GROUP_SIZE;

		if (!(part->mask >> at & 1))
			continue;
		if (part->reta[at] >= dev->data->nb_rx_queues) {
			m->rss = before;
			return -EINVAL;
		}
		m->rss.entry[i] = part->reta[at];
	}
	error = put_in_force(m);
	if (error)
		m->rss = before;
	return error;
}

int
meridian_reta_get(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	struct meridian *m = meridian_of(dev);
	unsigned int i;

	if (size != QDMA_RSS_ENTRIES)
		return -EINVAL;
	for (i = 0; i < size; i++) {
		unsigned int at = i % RTE_ETH_RETA_GROUP_SIZE;

		if (reta[i / RTE_ETH_RETA_GROUP_SIZE].mask >> at & 1)
			reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[at] = m->rss.entry[i];
	}
	return 0;
}

/* A PF of messages of version 1 spreads the frames of its VFs as it will. */
bool
meridian_can_spread(const struct meridian *m)
{
	return !m->qdma.is_vf || m->pf_version >= 2;
}

/*
 * What is hashed cannot be chosen but all or nothing; types that the card does not hash are refused
 * by ethdev.
 */
int
meridian_rss_set(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	struct meridian *m = meridian_of(dev);
	const struct qdma_rss before = m->rss;
	bool was_spreading = m->is_spreading;
	int error;

	/* Without a length it is the driver's. */
	if (conf->rss_key != NULL && conf->rss_key_len && conf->rss_key_len != MERIDIAN_KEY_BYTES)
		return -EINVAL;
	if (!meridian_can_spread(m) &&
	    (conf->rss_key != NULL || (!conf->rss_hf && dev->data->nb_rx_queues > 1)))
		return -ENOTSUP;
	/* The card has the first byte lowest. */
	if (conf->rss_key != NULL)
		memcpy(m->rss.key, conf->rss_key, MERIDIAN_KEY_BYTES);
	m->is_spreading = conf->rss_hf != 0;
	error = put_in_force(m);
	if (!error)
		return 0;
	m->rss = before;
	m->is_spreading = was_spreading;
	return error;
}

int
meridian_rss_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	struct meridian *m = meridian_of(dev);

	if (conf->rss_key != NULL && conf->rss_key_len >= MERIDIAN_KEY_BYTES) {
		memcpy(conf->rss_key, m->rss.key, MERIDIAN_KEY_BYTES);
		conf->rss_key_len = MERIDIAN_KEY_BYTES;
	}
	conf->rss_hf = m->is_spreading ? meridian_rss_types(m) : 0;
	return 0;
}
