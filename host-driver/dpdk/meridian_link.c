/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link, a card that is gone, a VF that was reset: looked at four times a second while the port is
 * started.
 */
#include <rte_alarm.h>
#include <rte_cycles.h>

#include "meridian.h"

#define PERIOD_US	250000
#define WAIT_POLLS	90	/* of 100 ms, as other drivers wait */

static uint32_t
speed_of(uint32_t gigabits)
{
	return gigabits ? 1000 * gigabits : RTE_ETH_SPEED_NUM_UNKNOWN;
}

static int
update(struct rte_eth_dev *dev)
{
	struct meridian *m = meridian_of(dev);
	struct rte_eth_link link = {
		.link_speed = RTE_ETH_SPEED_NUM_NONE,
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_autoneg = RTE_ETH_LINK_FIXED,
		.link_status = RTE_ETH_LINK_DOWN,
	};

	if (m->is_started && !m->qdma.gone && qdma_answers(&m->qdma) && m->ops->is_link_up(m)) {
		link.link_speed = speed_of(m->gigabits);
		link.link_status = RTE_ETH_LINK_UP;
	}
	return rte_eth_linkstatus_set(dev, &link);
}

int
meridian_link_update(struct rte_eth_dev *dev, int wait)
{
	int polls = wait ? WAIT_POLLS : 0, error;

	for (;;) {
		error = update(dev);
		if (dev->data->dev_link.link_status == RTE_ETH_LINK_UP || polls-- == 0)
			return error;
		rte_delay_us_sleep(100000);
	}
}

static void
tell_once(struct rte_eth_dev *dev, bool *is_told, enum rte_eth_event_type event, const char *what)
{
	if (*is_told)
		return;
	*is_told = true;
	MERIDIAN_LOG(ERR, "%s: %s", dev->data->name, what);
	rte_eth_dev_callback_process(dev, event, NULL);
}

static void
watch(void *argument)
{
	struct rte_eth_dev *dev = argument;
	struct meridian *m = meridian_of(dev);
	int error;

	if (update(dev) == 0 && dev->data->dev_conf.intr_conf.lsc)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_LSC, NULL);
	error = qdma_watch(&m->qdma);
	if (error == -EAGAIN)
		goto again;
	if (error)
		tell_once(dev, &m->is_removed, RTE_ETH_EVENT_INTR_RMV,
			  "the card does not answer any more: every read gives all ones");
	else if (m->qdma.is_vf && meridian_was_reset(m))
		tell_once(dev, &m->is_reset, RTE_ETH_EVENT_INTR_RESET,
			  "the VF has lost its queues by a reset or by its PF: reset the port");
again:
	rte_eal_alarm_set(PERIOD_US, watch, dev);
}

/* Begins, or ends: when it returns, nothing looks any more. */
void
meridian_watch(struct rte_eth_dev *dev, bool on)
{
	if (on)
		rte_eal_alarm_set(PERIOD_US, watch, dev);
	else
		rte_eal_alarm_cancel(watch, dev);
}
