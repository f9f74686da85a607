// SPDX-License-Identifier: GPL-2.0-only
/* A port of the card: open or closed to the host, and its switch between functions. */
#include <linux/bitfield.h>

#include "meridian.h"
#include "meridian_card.h"
#include "meridian_classes.h"
#include "meridian_hw.h"
#include "meridian_pause.h"

#define PORT_IS_OPEN	(MERIDIAN_PORT_HOST_ENABLE_RX_MASK | MERIDIAN_PORT_HOST_ENABLE_TX_MASK)

static u32 switching_register(u32 port)
{
	return MERIDIAN_HOST_PORT_BASE + MERIDIAN_HOST_PORT_SWITCHING(port);
}

static void set_switching(struct meridian *m, u32 port, bool on)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VEB_MASK))
		meridian_write(m, switching_register(port),
			       on ? MERIDIAN_HOST_PORT_SWITCHING_VEB_MASK : 0);
}

/* Whether frames of a port would come back: the card's ARM side tests it, or a program does. */
static bool is_looped(struct meridian *m, u32 port)
{
	u32 loopback;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SELF_TEST_MASK))
		return false;
	loopback = meridian_read(m, MERIDIAN_TRANSCEIVER_BASE(port) +
				    MERIDIAN_TRANSCEIVER_LOOPBACK);
	return loopback && loopback != QDMA_ALL_ONES;
}

static void write_port(struct meridian *m, u32 port)
{
	bool has_users = m->card->port_users[port];
	bool is_open = has_users && !test_bit(port, &m->card->tested);

	if (is_open && is_looped(m, port)) {
		netdev_notice(m->netdev,
			      "port %u is closed to the host while somebody has its loopback on\n",
			      port);
		is_open = false;
	}

	meridian_write(m, MERIDIAN_PORT_BASE(port) + MERIDIAN_PORT_HOST_ENABLE,
		       is_open ? PORT_IS_OPEN : 0);
	set_switching(m, port, has_users && !m->card->is_vepa[port]);
	meridian_write_pause(m, port, is_open);
	meridian_write_classes(m, port, is_open);
	meridian_flush(m);
}

/**
 * meridian_enable_port() - open or close the function's port for the host
 * @m: the function
 * @on: the last one to close it closes it, with frames inside the card as after a reset: none
 *
 * Context: May sleep.
 */
void meridian_enable_port(struct meridian *m, bool on)
{
	mutex_lock(&m->card->lock);
	m->card->port_users[m->port] += on ? 1 : -1;
	write_port(m, m->port);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_open_port() - have the port as it was before the card, or its ARM, was reset
 * @m: a PF that has opened it
 *
 * Context: May sleep.
 */
void meridian_open_port(struct meridian *m)
{
	mutex_lock(&m->card->lock);
	write_port(m, m->port);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_port_is_of_others() - whether a driver that shares nothing with this one has a port open
 * @m: a PF, of whatever port
 * @port: of the same card
 *
 * A PF of the port may be bound to another driver, or be in a virtual machine.
 *
 * Context: May sleep.
 * Return: whether one has.
 */
bool meridian_port_is_of_others(struct meridian *m, u32 port)
{
	u32 enable = meridian_read(m, MERIDIAN_PORT_BASE(port) + MERIDIAN_PORT_HOST_ENABLE);
	bool is_ours;

	mutex_lock(&m->card->lock);
	is_ours = m->card->port_users[port];
	mutex_unlock(&m->card->lock);
	return !is_ours && enable && enable != QDMA_ALL_ONES;
}

/**
 * meridian_reserve_port() - keep the host's frames from a port, for a test of it
 * @m: a PF, of whatever port
 * @port: of the same card
 * @on: until the next call; frames from function to function pass meanwhile
 *
 * Context: May sleep.
 */
void meridian_reserve_port(struct meridian *m, u32 port, bool on)
{
	mutex_lock(&m->card->lock);
	if (on)
		__set_bit(port, &m->card->tested);
	else
		__clear_bit(port, &m->card->tested);
	write_port(m, port);
	mutex_unlock(&m->card->lock);
}

static bool is_port_open(struct meridian *m)
{
	u32 offset = MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ENABLE;

	return (meridian_read(m, offset) & PORT_IS_OPEN) == PORT_IS_OPEN;
}

/**
 * meridian_look_after_port() - open the port again if somebody has closed it
 * @m: a PF that has opened it
 *
 * It is the one setting of the host's that a reset of the card's ARM takes. A card that does not
 * answer, or whose ARM is in reset, reads as if the port were open. A port whose frames would come
 * back stays closed.
 *
 * Context: May sleep.
 */
void meridian_look_after_port(struct meridian *m)
{
	bool is_opened = false;

	mutex_lock(&m->card->lock);
	if (m->card->port_users[m->port] && !test_bit(m->port, &m->card->tested) &&
	    !is_port_open(m) && !is_looped(m, m->port)) {
		write_port(m, m->port);
		/* While the ARM is in reset, its registers cannot be written. */
		is_opened = is_port_open(m);
	}
	mutex_unlock(&m->card->lock);
	if (is_opened)
		netdev_notice(m->netdev,
			      "port %u was closed to the host, by a reset of the card's ARM or a test there: it is open again\n",
			      m->port);
}

/**
 * meridian_set_vepa() - let frames between the port's functions leave the card, or stay inside
 * @m: a function of the port
 * @is_vepa: all go to the switch outside, until the last PF of the card loses its driver
 *
 * Context: May sleep.
 */
void meridian_set_vepa(struct meridian *m, bool is_vepa)
{
	mutex_lock(&m->card->lock);
	m->card->is_vepa[m->port] = is_vepa;
	set_switching(m, m->port, !is_vepa);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_switching() - whether frames between the port's functions stay inside the card
 * @m: a function of the port
 *
 * Context: Does not sleep.
 * Return: whether they do.
 */
bool meridian_switching(struct meridian *m)
{
	return meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VEB_MASK) &&
	       meridian_read(m, switching_register(m->port)) &
		       MERIDIAN_HOST_PORT_SWITCHING_VEB_MASK;
}
