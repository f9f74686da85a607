/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link, a card that is gone, a function that was reset: looked at four times a second while the
 * port is started. Whether its port is still open for the host, a PF looks once a second.
 */
#include <rte_alarm.h>
#include <rte_cycles.h>

#include "meridian.h"

#define PERIOD_US	250000
#define GLANCE_US	60000	/* of a PF's function, which Linux gives 100 ms for a reset */
#define GLANCES		4	/* from one look to the next */
#define PORT_LOOKS	4	/* from one look at the port's switches to the next */
#define AWAY_LOOKS	40	/* without an answer of PCIe either: a reset lasts no longer */
#define WAIT_POLLS	90	/* of 100 ms, as other drivers wait */
#define SILENT_POLLS	12	/* in a row, longer than resets that the driver waits for */

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
	struct meridian *m = meridian_of(dev);
	int polls = wait && m->is_started ? WAIT_POLLS : 0, silent = 0, error;

	for (;;) {
		error = update(dev);
		/* In a callback of an event nobody else would see that the card is gone. */
		silent = qdma_answers(&m->qdma) ? 0 : silent + 1;
		if (dev->data->dev_link.link_status == RTE_ETH_LINK_UP || m->qdma.gone ||
		    silent > SILENT_POLLS || polls-- == 0)
			return error;
		rte_delay_us_sleep(100000);
	}
}

static bool
is_first(struct rte_eth_dev *dev, bool *is_told, const char *what)
{
	if (*is_told)
		return false;
	*is_told = true;
	MERIDIAN_LOG(ERR, "%s: %s", dev->data->name, what);
	return true;
}

/*
 * Stays set until a driver writes it. Another PF's driver may take it first, and tells then; a PF
 * of this process that is reset before this one has looked takes it, too.
 */
static bool
has_errors(struct meridian *m, uint32_t leaf)
{
	uint32_t word = qdma_read(&m->qdma, leaf);

	return word && word != QDMA_ALL_ONES;
}

/* Without a reset nothing goes on: what qdma_errors_fatal() says where errors interrupt. */
static const char *
fatal_error(struct meridian *m)
{
	if (has_errors(m, QDMA_C2H_FATAL))
		return "the card has ended its receive engine after an error: reset the port";
	if (has_errors(m, QDMA_RAM_DOUBLE_ERROR) || has_errors(m, QDMA_RAM_DOUBLE_ERROR_1))
		return "the card's memory has an error of two bits, which it cannot correct: "
		       "reset the port";
	return NULL;
}

/*
 * PCIe's reset of a function may leave in the card what was set there, and Linux brings back what
 * it takes of PCIe; but what the function had under way is lost. While it lasts, reads give all
 * ones.
 */
static void
glance(struct meridian *m)
{
	if (!m->qdma.gone && !qdma_answers(&m->qdma))
		m->was_away = true;
}

/* A number that every card has tells that the count is one: during a reset, reads give anything. */
static bool
has_lost_queues(struct meridian *m)
{
	return !(meridian_read_function(m, MERIDIAN_FUNCTION_QCONF) &
		 MERIDIAN_FUNCTION_QCONF_COUNT_MASK) &&
	       meridian_read(m, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_MAGIC) == MERIDIAN_MAGIC;
}

/*
 * A reset of the card, or of a VF's PF, may last longer than qdma_watch() waits: while PCIe still
 * finds the function, it is not removed. One that answers late is told as a reset, even after a
 * removal.
 */
static enum rte_eth_event_type
look_for_card(struct rte_eth_dev *dev)
{
	struct meridian *m = meridian_of(dev);
	enum meridian_presence presence;

	if (qdma_answers(&m->qdma)) {
		qdma_watch_anew(&m->qdma);
		m->is_away = false;
		m->is_removed = false;
		return is_first(dev, &m->is_reset, "the card answers again: reset the port") ?
		       RTE_ETH_EVENT_INTR_RESET : RTE_ETH_EVENT_UNKNOWN;
	}
	if (is_first(dev, &m->is_away,
		     "the card does not answer: every read gives all ones, as in a reset"))
		m->away_looks = 0;
	presence = m->bus->ops->presence ? m->bus->ops->presence(m->bus) : MERIDIAN_SILENT;
	m->away_looks = presence == MERIDIAN_PRESENT ? 0 : m->away_looks + 1;
	if (presence == MERIDIAN_UNPLUGGED &&
	    is_first(dev, &m->is_removed,
		     "the card is gone: the function is not in the machine any more"))
		return RTE_ETH_EVENT_INTR_RMV;
	if (m->away_looks > AWAY_LOOKS &&
	    is_first(dev, &m->is_removed,
		     "the card is gone: PCIe has not found the function for 10 s"))
		return RTE_ETH_EVENT_INTR_RMV;
	return RTE_ETH_EVENT_UNKNOWN;
}

/* What is to be told, one thing at a look; a link that has changed meanwhile waits for the next. */
static enum rte_eth_event_type
look(struct rte_eth_dev *dev)
{
	struct meridian *m = meridian_of(dev);
	int error = qdma_watch(&m->qdma);
	enum rte_eth_event_type event;
	const char *fatal;

	if (error == -ENODEV) {
		event = look_for_card(dev);
		if (event != RTE_ETH_EVENT_UNKNOWN)
			return event;
	}
	if (!error && !m->qdma.is_vf && ++m->looks % PORT_LOOKS == 0)
		meridian_look_after_port(m);
	if (!error && m->qdma.is_vf && meridian_was_reset(m) &&
	    is_first(dev, &m->is_reset,
		     "the VF has lost its queues by a reset or by its PF: reset the port"))
		return RTE_ETH_EVENT_INTR_RESET;
	if (!error && !m->qdma.is_vf && (m->was_away || has_lost_queues(m)) &&
	    is_first(dev, &m->is_reset,
		     "the function was reset from outside: reset the port"))
		return RTE_ETH_EVENT_INTR_RESET;
	fatal = error || m->qdma.is_vf ? NULL : fatal_error(m);
	if (fatal != NULL && is_first(dev, &m->is_reset, fatal))
		return RTE_ETH_EVENT_INTR_RESET;
	if (update(dev) == 0 && dev->data->dev_conf.intr_conf.lsc)
		return RTE_ETH_EVENT_INTR_LSC;
	return RTE_ETH_EVENT_UNKNOWN;
}

static void
watch(void *argument)
{
	enum rte_eth_event_type event = RTE_ETH_EVENT_UNKNOWN;
	struct rte_eth_dev *dev = argument;
	struct meridian *m = meridian_of(dev);

	if (!m->qdma.is_vf)
		glance(m);
	if (m->qdma.is_vf || ++m->glances % GLANCES == 0)
		event = look(dev);
	/* Who is told may stop the port, which ends this alarm, or close it: this comes last. */
	rte_eal_alarm_set(m->qdma.is_vf ? PERIOD_US : GLANCE_US, watch, dev);
	if (event != RTE_ETH_EVENT_UNKNOWN)
		rte_eth_dev_callback_process(dev, event, NULL);
}

/* Begins, or ends: when it returns, nothing looks any more. */
void
meridian_watch(struct rte_eth_dev *dev, bool on)
{
	if (on)
		rte_eal_alarm_set(GLANCE_US, watch, dev);
	else
		rte_eal_alarm_cancel(watch, dev);
}
