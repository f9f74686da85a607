// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of the generators and checkers at the MACs, at line rate. The host only gives the commands.
 */
#include <linux/bitfield.h>
#include <linux/ktime.h>

#include "compat.h"
#include "include/meridian_port_verdict.h"
#include "meridian.h"
#include "meridian_hw.h"
#include "meridian_port_test.h"
#include "meridian_selftest.h"

/* Of a cable, the other end may begin later. */
#define CABLE_PATIENCE_USECS	400
/* Both ends of a cable have to be armed before the first of them sends. */
#define START_TRIES	5
#define START_READS	100

static bool has_link(const struct meridian_port_test *t, u32 port)
{
	return meridian_read(t->m, MERIDIAN_PORT_BASE(port) + MERIDIAN_PORT_LINK_STATUS) &
	       MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK;
}

static u32 state_of(const struct meridian_port_test *t, u32 port)
{
	return FIELD_GET(MERIDIAN_PORT_TEST_STATUS_STATE_MASK,
			 read_port_test(t, port, MERIDIAN_PORT_TEST_STATUS));
}

/* Return: 0 if the batch of a port is complete; -EINPROGRESS if it goes on. */
static int inspect(const struct meridian_port_test *t, u32 port)
{
	u32 status = read_port_test(t, port, MERIDIAN_PORT_TEST_STATUS);
	u32 named = read_port_test(t, port, MERIDIAN_PORT_TEST_RUN);
	struct meridian_port_end end = meridian_end_of(t, port);
	bool is_linked = has_link(t, port);
	int error;

	/* What was read counts if the card answers behind it. */
	error = meridian_loops_interrupted(t->m, port);
	if (error)
		return error;
	error = meridian_port_inspect(&t->run, &end, status, named, is_linked);
	return error == -ENOLINK ? meridian_port_test_lost_link(t, port) : error;
}

static int inspect_all(const struct meridian_port_test *t)
{
	int all = 0, error;
	unsigned int i;

	for (i = 0; i < t->ports; i++) {
		error = inspect(t, t->port[i]);
		if (error && error != -EINPROGRESS)
			return error;
		if (error)
			all = error;
	}
	return all;
}

static int timed_out(const struct meridian_port_test *t)
{
	struct meridian_port_end end = meridian_end_of(t, t->port[0]);

	if (t->ports > 1 && inspect(t, end.port) != -EINPROGRESS)
		end = meridian_end_of(t, t->port[1]);
	return meridian_port_timed_out(&t->run, &end);
}

/**
 * meridian_wait_for_port_test() - wait until the batches of all ports are complete
 * @t: the test
 *
 * Says in a sentence why not.
 *
 * Context: May sleep.
 * Return: 0; MERIDIAN_LEFT_OUT because of the ARM side; a negative error.
 */
int meridian_wait_for_port_test(const struct meridian_port_test *t)
{
	ktime_t start = ktime_get();
	int error;

	for (;;) {
		error = inspect_all(t);
		if (error != -EINPROGRESS)
			return error;
		if (ktime_ms_delta(ktime_get(), start) > MERIDIAN_PORT_BATCH_MSECS)
			return timed_out(t);
		usleep_range(50, 100);
	}
}

/**
 * meridian_start_port_test() - start a batch at one port
 * @t: the test
 * @port: the port
 * @mode: MERIDIAN_PORT_TEST_MODE_*
 *
 * Context: Does not sleep.
 */
void meridian_start_port_test(const struct meridian_port_test *t, u32 port, u32 mode)
{
	struct meridian_port_end end = meridian_end_of(t, port);

	meridian_port_start(&t->run, &end, mode,
			    t->ports > 1 ? CABLE_PATIENCE_USECS : MERIDIAN_PORT_PATIENCE_USECS);
}

/* The second end is armed, and behind that the first is still armed: no frame has gone. */
static bool are_armed(const struct meridian_port_test *t)
{
	u32 state = MERIDIAN_PORT_TEST_STATE_IDLE;
	unsigned int i;

	for (i = 0; i < START_READS; i++) {
		state = state_of(t, t->port[1]);
		if (state != MERIDIAN_PORT_TEST_STATE_STARTING)
			break;
	}
	return state == MERIDIAN_PORT_TEST_STATE_ARMED && state_of(t, t->port[0]) == state;
}

static bool knows_delay(const struct meridian_port_test *t)
{
	return read_port_test(t, t->port[0], MERIDIAN_PORT_TEST_MODE) &
	       MERIDIAN_PORT_TEST_MODE_DELAY_MASK;
}

/*
 * Nothing of the first start may be missing at the other end, so the generators begin late enough
 * for both checkers; a processor that was away in between tries it again.
 */
static int start_cable(struct meridian_port_test *t, u32 mode)
{
	unsigned int i, tries;
	int error = 0;

	for (tries = 0; tries < START_TRIES; tries++) {
		meridian_port_next_label(&t->run);
		for (i = 0; i < t->ports; i++)
			meridian_start_port_test(t, t->port[i],
						 mode | MERIDIAN_PORT_TEST_MODE_DELAY_MASK);
		if (are_armed(t))
			return 0;
		for (i = 0; i < t->ports && !error; i++)
			error = meridian_loops_interrupted(t->m, t->port[i]);
		if (error)
			return error;
		if (!knows_delay(t)) {
			netdev_err(t->m->netdev, "self-test: port loops: this bitstream cannot start both ends of a cable at once: take driver and bitstream of one commit\n");
			return -EPROTO;
		}
		for (i = 0; i < t->ports; i++)
			meridian_end_port_test(t->m, t->port[i]);
	}
	netdev_err(t->m->netdev, "self-test: port loops: this machine does not start both ends of the cable from port %u to port %u within 130 us: try again when it has less to do\n",
		   t->port[0], t->port[1]);
	return -EBUSY;
}

static int run_batch(void *test)
{
	u32 mode = MERIDIAN_PORT_TEST_MODE_GENERATE_MASK | MERIDIAN_PORT_TEST_MODE_CHECK_MASK;
	struct meridian_port_test *t = test;
	struct meridian_port_end end;
	unsigned int i;
	int error = 0;

	if (t->ports > 1) {
		error = start_cable(t, mode);
	} else {
		meridian_port_next_label(&t->run);
		meridian_start_port_test(t, t->port[0], mode);
	}
	if (!error)
		error = meridian_wait_for_port_test(t);
	if (!error)
		error = meridian_judge_port_test(t);
	if (error == -EINPROGRESS) /* there was no answer, which this tells */
		error = meridian_loops_interrupted(t->m, t->port[0]) ?: -EAGAIN;
	for (i = 0; i < t->ports && !error; i++) {
		end = meridian_end_of(t, t->port[i]);
		meridian_port_add(&t->run, &end);
	}
	return error;
}

/**
 * meridian_run_port_test() - have frames go for a quarter of a second, and compare them
 * @t: the test, whose ports are reserved and have a link
 *
 * Says in a sentence what is wrong.
 *
 * Context: Does not sleep.
 * Return: 0; MERIDIAN_LEFT_OUT because of the ARM side; a negative error.
 */
int meridian_run_port_test(struct meridian_port_test *t)
{
	return meridian_port_run(&t->run, run_batch, t);
}
