// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loopback of a port's transceiver for a test: who may have it, and how the port is put back.
 *
 * The driver never forces a port that the card's ARM side (PS) has enabled, because the PS may keep
 * the time of the card by it. The PS has agreed if its interface is down.
 */
#include <linux/bitfield.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "compat.h"
#include "include/meridian_port_run.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_hw.h"
#include "meridian_selftest.h"

/* The port may not be quiet, as a partner sends; it has a link within LOCK_MSECS of a change. */
#define QUIET_MSECS	100
#define LOCK_MSECS	3000
/* Bounds of what the card does by itself. */
#define END_MSECS	1000
#define RESET_MSECS	100
/* The loopback has reset the receiver, and the MAC sees that. */
#define SETTLE_USECS	1000

static u32 read_test(struct meridian *m, u32 port, u32 offset)
{
	return meridian_read(m, MERIDIAN_PORT_TEST_BASE(port) + offset);
}

static void write_test(struct meridian *m, u32 port, u32 offset, u32 value)
{
	meridian_write(m, MERIDIAN_PORT_TEST_BASE(port) + offset, value);
}

static u32 read_lane(struct meridian *m, u32 port, u32 offset)
{
	return meridian_read(m, MERIDIAN_TRANSCEIVER_BASE(port) + offset);
}

static u32 read_port(struct meridian *m, u32 port, u32 offset)
{
	return meridian_read(m, MERIDIAN_PORT_BASE(port) + offset);
}

static bool has_link(struct meridian *m, u32 port)
{
	return read_port(m, port, MERIDIAN_PORT_LINK_STATUS) &
	       MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK;
}

/* A card that does not answer does nothing that could be waited for. */
static bool is_set(u32 value, u32 mask)
{
	return value != QDMA_ALL_ONES && value & mask;
}

static bool runs(struct meridian *m, u32 port)
{
	return is_set(read_test(m, port, MERIDIAN_PORT_TEST_STATUS),
		      MERIDIAN_PORT_TEST_STATUS_STATE_MASK);
}

/**
 * meridian_port_is_taken() - whether somebody else tests the port or scans its eye
 * @m: a PF
 * @port: of its card
 *
 * Context: Does not sleep.
 * Return: whether somebody does.
 */
bool meridian_port_is_taken(struct meridian *m, u32 port)
{
	return runs(m, port) || is_set(read_lane(m, port, MERIDIAN_TRANSCEIVER_PRBS), U32_MAX) ||
	       is_set(read_lane(m, port, MERIDIAN_TRANSCEIVER_LOOPBACK), U32_MAX) ||
	       is_set(read_lane(m, port, MERIDIAN_TRANSCEIVER_EYE_SCAN), U32_MAX);
}

/**
 * meridian_loops_interrupted() - look whether something ends the test whatever it does
 * @m: a PF
 * @port: of its card
 *
 * Says in a sentence what has.
 *
 * Context: Does not sleep.
 * Return: 0 if nothing has; MERIDIAN_LEFT_OUT because of the ARM side; a negative error.
 */
int meridian_loops_interrupted(struct meridian *m, u32 port)
{
	if (!meridian_present(m)) {
		netdev_err(m->netdev, "self-test: port loops: the card does not answer: look at 'dmesg' and 'lspci -vv'\n");
		return -ENODEV;
	}
	if (is_set(read_port(m, port, MERIDIAN_PORT_PS_FILTER),
		   MERIDIAN_PORT_PS_FILTER_ENABLE_MASK)) {
		netdev_info(m->netdev, "self-test: port loops: they are left out, as the card's ARM side uses port %u: have its interface set down there, then try again\n",
			    port);
		return MERIDIAN_LEFT_OUT;
	}
	if (signal_pending(current)) {
		netdev_info(m->netdev, "self-test: port loops: a signal has ended them\n");
		return -EINTR;
	}
	return 0;
}

/*
 * Return: 0 if the card has taken the loopback over; -EAGAIN if frames keep it from that, or if it
 * does not answer.
 */
static int write_loopback(struct meridian *m, u32 port, u32 mode)
{
	u32 status;

	meridian_write(m, MERIDIAN_TRANSCEIVER_BASE(port) + MERIDIAN_TRANSCEIVER_LOOPBACK, mode);
	status = read_lane(m, port, MERIDIAN_TRANSCEIVER_STATUS);
	if (status == QDMA_ALL_ONES)
		return -EAGAIN;
	switch (FIELD_GET(MERIDIAN_TRANSCEIVER_STATUS_REFUSAL_MASK, status)) {
	case MERIDIAN_TRANSCEIVER_REFUSAL_NONE:
		return 0;
	case MERIDIAN_TRANSCEIVER_REFUSAL_TRAFFIC:
	case MERIDIAN_TRANSCEIVER_REFUSAL_PS_ENABLED: /* the next look tells of it */
		return -EAGAIN;
	case MERIDIAN_TRANSCEIVER_REFUSAL_HOST_ENABLED:
		return -EBUSY;
	default:
		return -EPROTO;
	}
}

/* The transceiver's data paths come out of their reset. Bounded, and silent. */
static void wait_for_reset(struct meridian *m, u32 port)
{
	ktime_t start = ktime_get();

	while (is_set(read_lane(m, port, MERIDIAN_TRANSCEIVER_STATUS),
		      MERIDIAN_TRANSCEIVER_STATUS_RESETTING_MASK) &&
	       ktime_ms_delta(ktime_get(), start) < RESET_MSECS)
		usleep_range(50, 100);
	usleep_range(SETTLE_USECS, 2 * SETTLE_USECS);
}

/**
 * meridian_set_loopback() - have the transceiver bring back what the port sends
 * @m: a PF
 * @port: of its card, which it has reserved
 * @loop: the loopback
 *
 * The host's frames are kept from the port, so what still comes is from the partner. It is forced
 * away when the card has said that it is only that. meridian_put_port_back() ends the loopback.
 *
 * Context: May sleep.
 * Return: as meridian_loops_interrupted(), which says why not.
 */
int meridian_set_loopback(struct meridian *m, u32 port, const struct meridian_port_loop *loop)
{
	ktime_t start = ktime_get();
	u32 mode = loop->mode;
	s64 msecs;
	int error;

	for (;;) {
		error = meridian_loops_interrupted(m, port);
		if (error)
			return error;
		error = write_loopback(m, port, mode);
		msecs = ktime_ms_delta(ktime_get(), start);
		if (error != -EAGAIN || msecs > LOCK_MSECS)
			break;
		if (msecs > QUIET_MSECS)
			mode |= MERIDIAN_TRANSCEIVER_LOOPBACK_FORCE_MASK;
		usleep_range(500, 1000);
	}
	if (error == -EBUSY) {
		netdev_err(m->netdev, "self-test: port loops: another driver has opened port %u for its function: end it, then try again\n",
			   port);
		return error;
	}
	if (error) {
		netdev_err(m->netdev, "self-test: port loops: the card refuses the loopback %s of port %u: take driver and bitstream of one commit\n",
			   loop->name, port);
		return -EPROTO;
	}
	wait_for_reset(m, port);
	return 0;
}

/**
 * meridian_wait_for_loop() - wait until the port has a link through the loop
 * @m: a PF
 * @port: of its card
 * @loop: what meridian_set_loopback() has set, or a loop plug or a cable
 *
 * Context: May sleep.
 * Return: as meridian_loops_interrupted(), which says why not.
 */
int meridian_wait_for_loop(struct meridian *m, u32 port, const struct meridian_port_loop *loop)
{
	ktime_t start = ktime_get();
	int error;

	while (!has_link(m, port)) {
		error = meridian_loops_interrupted(m, port);
		if (error)
			return error;
		if (ktime_ms_delta(ktime_get(), start) < LOCK_MSECS) {
			usleep_range(500, 1000);
			continue;
		}
		if (!loop->mode) {
			netdev_err(m->netdev, "self-test: port loops: port %u has no link through the loop plug or the cable: plug it in, then try again\n",
				   port);
			return -ENOLINK;
		}
		netdev_err(m->netdev, "self-test: port loops: port %u has no link in the loopback %s: look at the board's reference clock, and at its supply of the transceiver\n",
			   port, loop->name);
		return -EIO;
	}
	return 0;
}

/**
 * meridian_end_port_test() - end generator and checker, and wait until they rest
 * @m: a PF
 * @port: of its card
 *
 * Context: May sleep.
 */
void meridian_end_port_test(struct meridian *m, u32 port)
{
	ktime_t start = ktime_get();

	write_test(m, port, MERIDIAN_PORT_TEST_COMMAND, MERIDIAN_PORT_TEST_COMMAND_OFF_MASK);
	while (runs(m, port) && ktime_ms_delta(ktime_get(), start) < END_MSECS)
		usleep_range(100, 200);
}

/**
 * meridian_put_port_back() - generator and checker rest, and the loopback is none
 * @m: a PF
 * @port: of its card
 *
 * A card that does not answer does not hear of it, so that meridian_recover_port() does it later.
 *
 * Context: May sleep.
 */
void meridian_put_port_back(struct meridian *m, u32 port)
{
	meridian_end_port_test(m, port);
	write_test(m, port, MERIDIAN_PORT_TEST_MODE, 0);
	write_test(m, port, MERIDIAN_PORT_TEST_FRAMES, 0);
	if (read_lane(m, port, MERIDIAN_TRANSCEIVER_LOOPBACK)) {
		write_loopback(m, port, 0);
		wait_for_reset(m, port);
	}
	mutex_lock(&m->card->lock);
	/* All ones are no answer. */
	if (read_test(m, port, MERIDIAN_PORT_TEST_MODE) ||
	    read_lane(m, port, MERIDIAN_TRANSCEIVER_LOOPBACK))
		__set_bit(port, &m->card->looped);
	else
		__clear_bit(port, &m->card->looped);
	mutex_unlock(&m->card->lock);
}
