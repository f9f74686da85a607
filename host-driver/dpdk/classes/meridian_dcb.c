/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ethdev says of a port with traffic classes as data center bridging: the class of each
 * priority, and shares of the line. A class is not one of queues: each of these sends and receives
 * frames of all.
 */
#include "meridian.h"

#define WHOLE	100

static const uint8_t *
after_reset(void)
{
	return meridian_classes_after_reset.of_priority;
}

static int
check_map(const struct meridian *m, const struct rte_eth_dcb_tx_conf *conf)
{
	uint32_t i;

	if (!meridian_has_classes(m)) {
		MERIDIAN_LOG(ERR, "%s: the function has no traffic classes: the card was built without a pool of transmit queues, or this is a VF",
			     m->data->name);
		return -ENOTSUP;
	}
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		if (conf->dcb_tc[i] < MERIDIAN_CLASSES && conf->dcb_tc[i] < conf->nb_tcs)
			continue;
		MERIDIAN_LOG(ERR, "%s: priority %u: there is no traffic class %u of %u",
			     m->data->name, i, conf->dcb_tc[i], conf->nb_tcs);
		return -EINVAL;
	}
	return 0;
}

/**
 * meridian_configure_map() - give priorities the classes that the port's configuration says
 * @dev: whose queues are configured; without DCB for transmit, it takes back what it has said
 *
 * Return: 0 or a negative errno; the log says why.
 */
int
meridian_configure_map(struct rte_eth_dev *dev)
{
	const struct rte_eth_dcb_tx_conf *conf = &dev->data->dev_conf.tx_adv_conf.dcb_tx_conf;
	bool on = dev->data->dev_conf.txmode.mq_mode == RTE_ETH_MQ_TX_DCB;
	struct meridian *m = meridian_of(dev);
	int error = on ? check_map(m, conf) : 0;

	if (error || (!on && !m->has_map))
		return error;
	meridian_choose_map(m, on ? conf->dcb_tc : after_reset());
	m->has_map = on;
	return 0;
}

static uint32_t
sum_of_weights(const struct meridian_classes *classes)
{
	uint32_t sum = 0, i;

	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		if (!(classes->strict & 1u << i))
			sum += classes->weight[i];
	}
	return sum;
}

/* The shares in whole percents: one at least, and the largest makes up for what rounding does. */
static void
tell_shares(const struct meridian_classes *classes, uint8_t *percent)
{
	uint32_t sum = sum_of_weights(classes), largest = 0, i;
	int left = WHOLE;

	if (!sum)
		return;
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		if (classes->strict & 1u << i || !classes->weight[i])
			continue;
		percent[i] = RTE_MAX(WHOLE * classes->weight[i] / sum, 1u);
		left -= percent[i];
		if (percent[i] > percent[largest])
			largest = i;
	}
	percent[largest] += left;
}

/* A class that is strict has no share, nor has one of weight 0. */
int
meridian_dcb_info(struct rte_eth_dev *dev, struct rte_eth_dcb_info *info)
{
	struct meridian *m = meridian_of(dev);
	struct meridian_classes classes;
	uint32_t i;
	int error;

	if (!meridian_has_classes(m))
		return -ENOTSUP;
	error = meridian_get_classes(m, &classes);
	if (error)
		return error;
	memset(info, 0, sizeof(*info));
	info->nb_tcs = MERIDIAN_CLASSES;
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		info->prio_tc[i] = classes.of_priority[i];
		info->tc_queue.tc_rxq[0][i].nb_queue = dev->data->nb_rx_queues;
		info->tc_queue.tc_txq[0][i].nb_queue = dev->data->nb_tx_queues;
	}
	tell_shares(&classes, info->tc_bws);
	return 0;
}
