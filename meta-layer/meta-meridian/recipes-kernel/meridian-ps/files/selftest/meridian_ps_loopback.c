// SPDX-License-Identifier: GPL-2.0-only
/*
 * A port for a test: who may have it, the loopback of its transceiver, and how it is put back.
 *
 * While the filter of the PS is enabled the card lets nobody on the host force a loopback, and the
 * host's driver leaves its own test out. So the test enables the filter, with no address in it.
 */
#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "meridian_port_run.h"
#include "meridian_ps_selftest.h"

/* The port may not be quiet, as a partner sends; it has a link within LOCK_MSECS of a change. */
#define QUIET_MSECS	100
#define LOCK_MSECS	3000
/* Bounds of what the card does by itself. */
#define END_MSECS	1000
#define RESET_MSECS	100
/* The loopback has reset the receiver, and the MAC sees that. */
#define SETTLE_USECS	1000

static u32 read_lane(struct meridian_ps_port *port, u32 offset)
{
	return meridian_ps_read(port->card, MERIDIAN_TRANSCEIVER_PS_BASE(port->index) + offset);
}

static void write_lane(struct meridian_ps_port *port, u32 offset, u32 value)
{
	meridian_ps_write(port->card, MERIDIAN_TRANSCEIVER_PS_BASE(port->index) + offset, value);
}

/* A card that does not answer, so reads as ones, does nothing that could be waited for. */
static bool is_set(u32 value, u32 mask)
{
	return value != U32_MAX && value & mask;
}

static bool runs(struct meridian_ps_port *port)
{
	return is_set(meridian_ps_test_read(port, MERIDIAN_PORT_TEST_STATUS),
		      MERIDIAN_PORT_TEST_STATUS_STATE_MASK);
}

/**
 * meridian_ps_port_is_taken() - whether somebody else tests the port or scans its eye
 * @port: it
 *
 * Context: Does not sleep.
 * Return: whether somebody does.
 */
bool meridian_ps_port_is_taken(struct meridian_ps_port *port)
{
	if (!runs(port) && !is_set(read_lane(port, MERIDIAN_TRANSCEIVER_PRBS), U32_MAX) &&
	    !is_set(read_lane(port, MERIDIAN_TRANSCEIVER_LOOPBACK), U32_MAX) &&
	    !is_set(read_lane(port, MERIDIAN_TRANSCEIVER_EYE_SCAN), U32_MAX))
		return false;
	netdev_err(port->netdev, "self-test: port loops: somebody else tests port %u, or scans its eye: end that, then try again\n",
		   port->index);
	return true;
}

/**
 * meridian_ps_loops_interrupted() - look whether something ends the test whatever it does
 * @port: that is tested
 *
 * Says in a sentence what has.
 *
 * Context: Does not sleep.
 * Return: 0 if nothing has, or a negative error.
 */
int meridian_ps_loops_interrupted(struct meridian_ps_port *port)
{
	if (!meridian_ps_present(port->card)) {
		netdev_err(port->netdev, "self-test: port loops: the card does not answer: see whether its bitstream is loaded\n");
		return -ENODEV;
	}
	if (signal_pending(current)) {
		netdev_info(port->netdev, "self-test: port loops: a signal has ended them\n");
		return -EINTR;
	}
	return 0;
}

static void write_host(struct meridian_ps_port *port, u32 value)
{
	meridian_ps_port_write(port, MERIDIAN_PORT_HOST_ENABLE, value);
}

/**
 * meridian_ps_keep_host_out() - the host's frames are dropped and counted
 * @port: that is reserved
 * @host: what the host wants of the port, if it has said so anew
 *
 * The receive bit stays as the host has set it, so what the host says meanwhile is noticed. Drivers
 * of the host that do not know this test open a port again that somebody has closed.
 *
 * Context: Does not sleep.
 */
void meridian_ps_keep_host_out(struct meridian_ps_port *port, u32 *host)
{
	u32 now = meridian_ps_port_read(port, MERIDIAN_PORT_HOST_ENABLE);

	if (!is_set(now, MERIDIAN_PORT_HOST_ENABLE_TX_MASK))
		return;
	*host = now;
	write_host(port, now & ~MERIDIAN_PORT_HOST_ENABLE_TX_MASK);
}

/**
 * meridian_ps_reserve_port() - keep the host from a port
 * @port: whose rings do not run
 * @host: becomes what the host wants of the port, for meridian_ps_release_port()
 *
 * Context: Does not sleep.
 */
void meridian_ps_reserve_port(struct meridian_ps_port *port, u32 *host)
{
	meridian_ps_port_write(port, MERIDIAN_PORT_PS_FILTER, MERIDIAN_PORT_PS_FILTER_ENABLE_MASK);
	*host = meridian_ps_port_read(port, MERIDIAN_PORT_HOST_ENABLE);
	meridian_ps_keep_host_out(port, host);
}

/**
 * meridian_ps_release_port() - undo meridian_ps_reserve_port()
 * @port: it
 * @host: what the host wanted; what it says now goes first
 *
 * Context: Does not sleep.
 */
void meridian_ps_release_port(struct meridian_ps_port *port, u32 host)
{
	u32 now = meridian_ps_port_read(port, MERIDIAN_PORT_HOST_ENABLE);

	if (now == (host & ~MERIDIAN_PORT_HOST_ENABLE_TX_MASK))
		write_host(port, host);
	meridian_ps_port_write(port, MERIDIAN_PORT_PS_FILTER, 0);
}

/* The transceiver's data paths come out of their reset. Bounded, and silent. */
static void wait_for_reset(struct meridian_ps_port *port)
{
	ktime_t start = ktime_get();

	while (is_set(read_lane(port, MERIDIAN_TRANSCEIVER_STATUS),
		      MERIDIAN_TRANSCEIVER_STATUS_RESETTING_MASK) &&
	       ktime_ms_delta(ktime_get(), start) < RESET_MSECS)
		usleep_range(50, 100);
	usleep_range(SETTLE_USECS, 2 * SETTLE_USECS);
}

/* Frames of the host and of the PS have ended; what still comes is from the partner. */
static void wait_for_quiet(struct meridian_ps_port *port)
{
	ktime_t start = ktime_get();

	while (is_set(read_lane(port, MERIDIAN_TRANSCEIVER_STATUS),
		      MERIDIAN_TRANSCEIVER_STATUS_TRAFFIC_MASK) &&
	       ktime_ms_delta(ktime_get(), start) < QUIET_MSECS)
		usleep_range(500, 1000);
}

/**
 * meridian_ps_set_loopback() - have the transceiver bring back what the port sends
 * @port: that is reserved
 * @loop: the loopback
 * @host: what the host wants of the port
 *
 * meridian_ps_end_loops() ends it.
 *
 * Context: May sleep.
 * Return: as meridian_ps_loops_interrupted(), which says why not.
 */
int meridian_ps_set_loopback(struct meridian_ps_port *port, const struct meridian_port_loop *loop,
			     u32 *host)
{
	int error = meridian_ps_loops_interrupted(port);
	u32 refusal;

	if (error)
		return error;
	wait_for_quiet(port);
	/* The PS itself has enabled the port. */
	write_lane(port, MERIDIAN_TRANSCEIVER_LOOPBACK,
		   loop->mode | MERIDIAN_TRANSCEIVER_LOOPBACK_FORCE_MASK);
	/* The host's driver may have opened the port again until now. */
	meridian_ps_keep_host_out(port, host);
	refusal = FIELD_GET(MERIDIAN_TRANSCEIVER_STATUS_REFUSAL_MASK,
			    read_lane(port, MERIDIAN_TRANSCEIVER_STATUS));
	error = meridian_ps_loops_interrupted(port);
	if (error)
		return error;
	if (refusal != MERIDIAN_TRANSCEIVER_REFUSAL_NONE) {
		netdev_err(port->netdev, "self-test: port loops: the card refuses the loopback %s of port %u (%u): take driver and bitstream of one commit\n",
			   loop->name, port->index, refusal);
		return -EPROTO;
	}
	wait_for_reset(port);
	return 0;
}

/**
 * meridian_ps_wait_for_loop() - wait until the port has a link through the loop
 * @port: that is reserved
 * @loop: what meridian_ps_set_loopback() has set, or a loop plug
 * @host: what the host wants of the port
 *
 * Context: May sleep.
 * Return: as meridian_ps_loops_interrupted(), which says why not.
 */
int meridian_ps_wait_for_loop(struct meridian_ps_port *port, const struct meridian_port_loop *loop,
			      u32 *host)
{
	ktime_t start = ktime_get();
	int error;

	while (!is_set(meridian_ps_port_read(port, MERIDIAN_PORT_LINK_STATUS),
		       MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK)) {
		meridian_ps_keep_host_out(port, host);
		error = meridian_ps_loops_interrupted(port);
		if (error)
			return error;
		if (ktime_ms_delta(ktime_get(), start) < LOCK_MSECS) {
			usleep_range(500, 1000);
			continue;
		}
		if (!loop->mode) {
			netdev_err(port->netdev, "self-test: port loops: port %u has no link through the loop plug: plug it in, then try again\n",
				   port->index);
			return -ENOLINK;
		}
		netdev_err(port->netdev, "self-test: port loops: port %u has no link in the loopback %s: look at the board's reference clock, and at its supply of the transceiver\n",
			   port->index, loop->name);
		return -EIO;
	}
	return 0;
}

/**
 * meridian_ps_end_loops() - generator and checker rest, and the loopback is none
 * @port: that is reserved
 *
 * A card that does not answer has lost its logic, and with that the test.
 *
 * Context: May sleep.
 */
void meridian_ps_end_loops(struct meridian_ps_port *port)
{
	ktime_t start = ktime_get();

	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_COMMAND,
			       MERIDIAN_PORT_TEST_COMMAND_OFF_MASK);
	while (runs(port) && ktime_ms_delta(ktime_get(), start) < END_MSECS)
		usleep_range(100, 200);
	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_MODE, 0);
	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_FRAMES, 0);
	if (!is_set(read_lane(port, MERIDIAN_TRANSCEIVER_LOOPBACK), U32_MAX))
		return;
	write_lane(port, MERIDIAN_TRANSCEIVER_LOOPBACK, 0);
	wait_for_reset(port);
}
