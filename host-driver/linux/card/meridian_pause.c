// SPDX-License-Identifier: GPL-2.0-only
/* PAUSE frames (IEEE 802.3, annex 31B) of a port's partner, on a card that can obey them. */
#include <linux/bitfield.h>

#include "meridian.h"
#include "meridian_card.h"
#include "meridian_hw.h"
#include "meridian_pause.h"

/* A step of the card's watchdog is the time of so many bits on the line. */
#define STEP_BITS	BIT_ULL(20)
#define MOST_STEPS	FIELD_MAX(MERIDIAN_FLOW_CONTROL_WATCHDOG_LIMIT_MASK)
#define LEAST_GIGABITS	10

/* A storm is told at most so often. */
#define TOLD_PERIOD	(60 * HZ)

static u64 bits_of_msec(const struct meridian *m)
{
	return 1000000ULL * (m->gigabits ?: LEAST_GIGABITS);
}

static u32 read_flow(struct meridian *m, unsigned int port, u32 offset)
{
	return meridian_read(m, MERIDIAN_FLOW_CONTROL_BASE(port) + offset);
}

static void write_flow(struct meridian *m, unsigned int port, u32 offset, u32 value)
{
	meridian_write(m, MERIDIAN_FLOW_CONTROL_BASE(port) + offset, value);
}

/**
 * meridian_has_pause() - whether the function's port can obey PAUSE frames
 * @m: the function; a VF has no say in it
 *
 * Context: Does not sleep.
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
 * Context: Does not sleep.
 * Return: it, in ms.
 */
u32 meridian_most_stop(const struct meridian *m)
{
	return div64_u64(MOST_STEPS * STEP_BITS, bits_of_msec(m));
}

static void obey(struct meridian *m, unsigned int port, bool on)
{
	u64 bits = m->card->pause[port].msecs * bits_of_msec(m);
	u32 limit = min_t(u64, DIV_ROUND_UP_ULL(bits, STEP_BITS), MOST_STEPS);
	u32 receive = read_flow(m, port, MERIDIAN_FLOW_CONTROL_RECEIVE) &
		      MERIDIAN_FLOW_CONTROL_RECEIVE_PFC_MASK;

	write_flow(m, port, MERIDIAN_FLOW_CONTROL_WATCHDOG,
		   on ? FIELD_PREP(MERIDIAN_FLOW_CONTROL_WATCHDOG_LIMIT_MASK, limit) : 0);
	write_flow(m, port, MERIDIAN_FLOW_CONTROL_RECEIVE,
		   on ? receive | MERIDIAN_FLOW_CONTROL_RECEIVE_PAUSE_MASK : receive);
}

/**
 * meridian_write_pause() - have a port obey PAUSE frames as it was chosen, or none
 * @m: a PF; under the card's lock
 * @port: of its card
 * @is_open: whether the port is open to the host
 *
 * What others have set stays until somebody chooses.
 *
 * Context: Does not sleep.
 */
void meridian_write_pause(struct meridian *m, unsigned int port, bool is_open)
{
	struct meridian_pause *pause = &m->card->pause[port];
	bool on = is_open && pause->is_obeyed;

	if (!meridian_has_pause(m) || (!on && !pause->is_written))
		return;
	obey(m, port, on);
	pause->is_written = on;
}

/**
 * meridian_obeys_pause() - whether the function's port obeys PAUSE frames
 * @m: a PF whose card can
 *
 * Context: Does not sleep.
 * Return: whether it does, whoever has switched it on.
 */
bool meridian_obeys_pause(struct meridian *m)
{
	u32 receive = read_flow(m, m->port, MERIDIAN_FLOW_CONTROL_RECEIVE);

	return receive != U32_MAX && receive & MERIDIAN_FLOW_CONTROL_RECEIVE_PAUSE_MASK;
}

static void write_chosen(struct meridian *m)
{
	bool is_open = m->card->port_users[m->port] && !test_bit(m->port, &m->card->tested);

	/* Somebody else may have switched it on. */
	m->card->pause[m->port].is_written |= is_open;
	meridian_write_pause(m, m->port, is_open);
	meridian_flush(m);
}

/**
 * meridian_obey_pause() - have the function's port obey PAUSE frames, or ignore them
 * @m: a PF whose card can obey them
 * @on: for all PFs of the port, until the last PF of the card loses its driver
 *
 * Context: May sleep.
 * Return: 0; -EBUSY while somebody has the port obey PFC frames.
 */
int meridian_obey_pause(struct meridian *m, bool on)
{
	int error = 0;

	mutex_lock(&m->card->lock);
	if (on && read_flow(m, m->port, MERIDIAN_FLOW_CONTROL_RECEIVE) &
		  MERIDIAN_FLOW_CONTROL_RECEIVE_PFC_MASK)
		error = -EBUSY;
	if (!error) {
		m->card->pause[m->port].is_obeyed = on;
		write_chosen(m);
	}
	mutex_unlock(&m->card->lock);
	return error;
}

/**
 * meridian_stop_msecs() - for how long PAUSE frames may stop the function's port
 * @m: a PF
 *
 * Context: Does not sleep.
 * Return: that, in ms; 0: for ever.
 */
u16 meridian_stop_msecs(struct meridian *m)
{
	return READ_ONCE(m->card->pause[m->port].msecs);
}

/**
 * meridian_limit_stop() - choose for how long PAUSE frames may stop the function's port
 * @m: a PF whose card can obey them
 * @msecs: at most meridian_most_stop(); 0: for ever
 *
 * Context: May sleep.
 */
void meridian_limit_stop(struct meridian *m, u16 msecs)
{
	mutex_lock(&m->card->lock);
	WRITE_ONCE(m->card->pause[m->port].msecs, msecs);
	if (m->card->pause[m->port].is_obeyed)
		write_chosen(m);
	mutex_unlock(&m->card->lock);
}

static bool take_storm(struct meridian *m)
{
	struct meridian_pause *pause = &m->card->pause[m->port];
	u32 events = read_flow(m, m->port, MERIDIAN_FLOW_CONTROL_EVENTS);

	/* A card that does not answer reads as ones. */
	if (!events || events & ~MERIDIAN_FLOW_CONTROL_EVENTS_STORM_MASK)
		return false;
	/* Until this one is told, it stays there. */
	if (pause->told && time_before(jiffies, pause->told + TOLD_PERIOD))
		return false;
	write_flow(m, m->port, MERIDIAN_FLOW_CONTROL_EVENTS, events);
	pause->told = jiffies | 1;
	return true;
}

/**
 * meridian_look_after_pause() - say that the partner has stopped the port for too long
 * @m: a PF
 *
 * Context: May sleep.
 */
void meridian_look_after_pause(struct meridian *m)
{
	bool is_storm;

	if (!meridian_has_pause(m))
		return;
	/* Another PF of the port may look at the same time. */
	mutex_lock(&m->card->lock);
	is_storm = take_storm(m);
	mutex_unlock(&m->card->lock);
	if (is_storm)
		netdev_warn(m->netdev,
			    "port %u: its partner sends PAUSE without end; frames are sent again until it stops\n",
			    m->port);
}
