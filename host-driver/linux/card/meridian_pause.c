// SPDX-License-Identifier: GPL-2.0-only
/* PAUSE frames (IEEE 802.3, annex 31B) of a port's partner, on a card that can obey them. */
#include <linux/bitfield.h>
#include <linux/ratelimit.h>

#include "meridian.h"
#include "meridian_card.h"
#include "meridian_hw.h"
#include "meridian_pause.h"

/* A step of the card's watchdog is the time of so many bits on the line. */
#define STEP_BITS	BIT_ULL(20)
#define MOST_STEPS	FIELD_MAX(MERIDIAN_FLOW_CONTROL_WATCHDOG_LIMIT_MASK)
#define LEAST_GIGABITS	10

static u64 bits_of_msec(const struct meridian *m)
{
	return 1000000ULL * (m->gigabits ?: LEAST_GIGABITS);
}

static u32 flow_control(const struct meridian *m, u32 offset)
{
	return MERIDIAN_FLOW_CONTROL_BASE(m->port) + offset;
}

/**
 * meridian_has_pause() - whether the function's port can obey PAUSE frames
 * @m: the function; a VF has no say in it
 *
 * Return: whether it can.
 */
bool meridian_has_pause(const struct meridian *m)
{
	return !meridian_is_vf(m->pdev) &&
	       meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_FLOW_CONTROL_MASK);
}

/**
 * meridian_most_stop() - the longest time that the card's watchdog can be set to
 * @m: a PF
 *
 * Return: it, in ms.
 */
u32 meridian_most_stop(const struct meridian *m)
{
	return div64_u64(MOST_STEPS * STEP_BITS, bits_of_msec(m));
}

/**
 * meridian_write_pause() - have the port obey PAUSE frames as it was chosen, or none
 * @m: a PF of the port; under the card's lock
 * @is_used: whether the host uses the port
 */
void meridian_write_pause(struct meridian *m, bool is_used)
{
	const struct meridian_pause *pause = &m->card->pause[m->port];
	bool is_on = is_used && pause->is_obeyed;
	u64 bits = pause->msecs * bits_of_msec(m);
	u32 limit = is_on ? DIV_ROUND_UP_ULL(bits, STEP_BITS) : 0;

	if (!meridian_has_pause(m))
		return;
	meridian_write(m, flow_control(m, MERIDIAN_FLOW_CONTROL_WATCHDOG),
		       FIELD_PREP(MERIDIAN_FLOW_CONTROL_WATCHDOG_LIMIT_MASK,
				  min_t(u32, limit, MOST_STEPS)));
	meridian_write(m, flow_control(m, MERIDIAN_FLOW_CONTROL_RECEIVE),
		       is_on ? MERIDIAN_FLOW_CONTROL_RECEIVE_PAUSE_MASK : 0);
}

/**
 * meridian_pause() - how the port obeys PAUSE frames
 * @m: a PF
 *
 * Return: what was chosen for the port.
 */
struct meridian_pause meridian_pause(struct meridian *m)
{
	struct meridian_pause pause;

	mutex_lock(&m->card->lock);
	pause = m->card->pause[m->port];
	mutex_unlock(&m->card->lock);
	return pause;
}

/**
 * meridian_choose_pause() - choose how the port obeys PAUSE frames
 * @m: a PF whose card can obey them
 * @pause: for all PFs of the port, until the last PF of the card loses its driver
 */
void meridian_choose_pause(struct meridian *m, const struct meridian_pause *pause)
{
	mutex_lock(&m->card->lock);
	m->card->pause[m->port] = *pause;
	meridian_write_pause(m, m->card->port_users[m->port]);
	meridian_flush(m);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_look_after_pause() - say that the partner has stopped the port for too long
 * @m: a PF
 */
void meridian_look_after_pause(struct meridian *m)
{
	u32 offset = flow_control(m, MERIDIAN_FLOW_CONTROL_EVENTS);
	u32 events;

	if (!meridian_has_pause(m))
		return;
	/* Another PF of the port may look at the same time. */
	mutex_lock(&m->card->lock);
	events = meridian_read(m, offset);
	/* A card that does not answer reads as ones. */
	if (events & ~MERIDIAN_FLOW_CONTROL_EVENTS_STORM_MASK)
		events = 0;
	if (events)
		meridian_write(m, offset, events);
	mutex_unlock(&m->card->lock);
	if (events && net_ratelimit())
		netdev_warn(m->netdev,
			    "port %u: its partner sends PAUSE without end; frames are sent again until it stops\n",
			    m->port);
}
