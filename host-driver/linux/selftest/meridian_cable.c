// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cable from the port to another port of the same card. A user who asks for the test of an
 * external loop does not say where it ends: the driver sends frames and looks where they come.
 */
#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/ktime.h>

#include "compat.h"
#include "meridian.h"
#include "meridian_hw.h"
#include "meridian_port_test.h"
#include "meridian_selftest.h"

/* Frames of a look, and how long the other end may take for its link behind a loopback. */
#define LOOK_FRAMES	16
#define LINK_MSECS	3000

static const struct meridian_port_loop cable = { "cable", 0 };

static bool has_link(struct meridian *m, u32 port)
{
	return meridian_read(m, MERIDIAN_PORT_BASE(port) + MERIDIAN_PORT_LINK_STATUS) &
	       MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK;
}

/* Whether frames of the last look have come, good or not. */
static bool has_taken(const struct meridian_port_test *t, u32 port)
{
	return port_test_count(t, port, MERIDIAN_PORT_TEST_COUNTER_RECEIVED_BYTES) &&
	       meridian_present(t->m);
}

/* Somebody else, as the card's ARM side, may have begun a test behind the look whether one does. */
static bool is_ours(const struct meridian_port_test *t, u32 port)
{
	u32 run = read_port_test(t, port, MERIDIAN_PORT_TEST_RUN);

	return FIELD_GET(MERIDIAN_PORT_TEST_RUN_LABEL_MASK, run) == t->run.label;
}

/*
 * What else comes to the ports passes as always.
 *
 * @ports: is filled with the bitmap of those that listen
 *
 * Return: 0; -EBUSY if somebody else tests one of the others.
 */
static int listen(const struct meridian_port_test *t, unsigned long *ports)
{
	int error = 0;
	u32 port;

	for (port = 0; port < t->m->ports; port++) {
		if (port == t->port[0])
			continue;
		if (meridian_port_is_taken(t->m, port)) {
			error = -EBUSY;
			continue;
		}
		meridian_start_port_test(t, port, MERIDIAN_PORT_TEST_MODE_CHECK_MASK);
		__set_bit(port, ports);
	}
	return error;
}

/*
 * Return: -EAGAIN if nothing has come yet and a port has no link; -EBUSY if it may have come to a
 * port that somebody else tests; else as meridian_look_for_cable().
 */
static int look(struct meridian_port_test *t, u32 *end)
{
	bool is_linked = true, was_found;
	unsigned long ports = 0;
	unsigned int port;
	int busy, error;

	meridian_port_next_label(&t->run);
	busy = listen(t, &ports);
	meridian_start_port_test(t, t->port[0], MERIDIAN_PORT_TEST_MODE_GENERATE_MASK |
						MERIDIAN_PORT_TEST_MODE_CHECK_MASK);
	error = meridian_wait_for_port_test(t);
	*end = t->port[0];
	for_each_set_bit(port, &ports, MERIDIAN_PORTS) {
		if (!error && has_taken(t, port))
			*end = port;
		is_linked &= has_link(t->m, port);
		if (is_ours(t, port) || !meridian_present(t->m))
			meridian_put_port_back(t->m, port);
		else
			busy = -EBUSY;
	}
	was_found = *end != t->port[0] || has_taken(t, *end);
	if (error || was_found)
		return error;
	if (busy)
		return busy;
	return is_linked ? 0 : -EAGAIN;
}

/**
 * meridian_look_for_cable() - find the port that the frames of a port come to
 * @t: a test of one port, which is reserved and has a link
 * @end: the port; the same one if it has a loop plug, or if nothing comes
 *
 * Other ports keep their traffic: their checkers take nothing but the frames of the test.
 *
 * Context: May sleep.
 * Return: 0; MERIDIAN_LEFT_OUT because of the ARM side; a negative error, which it has said.
 */
int meridian_look_for_cable(struct meridian_port_test *t, u32 *end)
{
	ktime_t start = ktime_get();
	int error;

	t->run.batch = LOOK_FRAMES;
	for (;;) {
		error = look(t, end);
		if (error == -EBUSY)
			netdev_err(t->m->netdev, "self-test: port loops: the frames of port %u do not come back, and somebody else tests another port, or scans its eye: end that, then try again\n",
				   t->port[0]);
		if (error != -EAGAIN)
			return error;
		if (ktime_ms_delta(ktime_get(), start) > LINK_MSECS)
			return 0;
		usleep_range(1000, 2000);
	}
}

/**
 * meridian_test_cable() - frames go both ways through the cable to another port, at once
 * @t: a test of one port, which is reserved
 * @end: the other port, which is reserved meanwhile
 *
 * Says in a sentence what is wrong.
 *
 * Context: May sleep.
 * Return: 0; MERIDIAN_LEFT_OUT because of the ARM side; a negative error.
 */
int meridian_test_cable(struct meridian_port_test *t, u32 end)
{
	struct meridian *m = t->m;
	int error;

	error = meridian_loops_interrupted(m, end);
	if (!error && meridian_port_is_of_others(m, end)) {
		netdev_err(m->netdev, "self-test: port loops: another driver has opened port %u for its function: end it, then try again\n",
			   end);
		error = -EBUSY;
	}
	if (error)
		return error;
	t->loop = &cable;
	t->port[1] = end;
	t->ports = 2;
	meridian_reserve_port(m, end, true);
	error = meridian_wait_for_loop(m, end, t->loop);
	if (!error)
		error = meridian_run_port_test(t);
	/* Whatever has happened. */
	meridian_put_port_back(m, end);
	meridian_reserve_port(m, end, false);
	t->ports = 1;
	return error;
}
