// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of the generators and checkers at the MACs, at line rate. The host only gives the commands.
 */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>
#include <linux/ktime.h>

#include "compat.h"
#include "meridian.h"
#include "meridian_frames.h"
#include "meridian_hw.h"
#include "meridian_port_test.h"
#include "meridian_selftest.h"

/* Each loop and each cable is tested for so long, in batches that grow until one takes
 * BATCH_LEAST_MSECS.
 */
#define RUN_MSECS	500
#define BATCH_FIRST	64
#define BATCH_MOST	65536
#define BATCH_LEAST_MSECS	100
/* Bound of a batch; a simulated card needs seconds. */
#define BATCH_MSECS	10000
/* The checker waits for frames that are under way; of a cable, the other end may begin later. */
#define PATIENCE_USECS	100
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

/* Return: 0 if the run of a port is complete; -EINPROGRESS if it goes on. */
static int inspect(const struct meridian_port_test *t, u32 port)
{
	u32 status = read_port_test(t, port, MERIDIAN_PORT_TEST_STATUS), refusal;
	u32 run = read_port_test(t, port, MERIDIAN_PORT_TEST_RUN);
	bool is_linked = has_link(t, port);
	int error;

	/* What was read counts if the card answers behind it. */
	error = meridian_loops_interrupted(t->m, port);
	if (error)
		return error;
	/* A reset of the ARM side takes the test and its settings. */
	if (FIELD_GET(MERIDIAN_PORT_TEST_RUN_LABEL_MASK, run) != t->label) {
		netdev_err(t->m->netdev, "self-test: port loops: the card's ARM side was reset, which has ended them: try again\n");
		return -ECANCELED;
	}
	refusal = FIELD_GET(MERIDIAN_PORT_TEST_STATUS_REFUSAL_MASK, status);
	if (refusal) {
		netdev_err(t->m->netdev, "self-test: port loops: the card refuses a test of port %u (%u): take driver and bitstream of one commit\n",
			   port, refusal);
		return -EPROTO;
	}
	if (!is_linked)
		return meridian_port_lost_link(t, port);
	if (FIELD_GET(MERIDIAN_PORT_TEST_STATUS_STATE_MASK, status))
		return -EINPROGRESS;
	if (FIELD_GET(MERIDIAN_PORT_TEST_STATUS_END_MASK, status) ==
	    MERIDIAN_PORT_TEST_END_COMPLETE)
		return 0;
	netdev_err(t->m->netdev, "self-test: port loops: a command of somebody else, or a reset of the MAC, has ended the test of port %u: try again\n",
		   port);
	return -ECANCELED;
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

static void say_time_out(const struct meridian_port_test *t)
{
	u32 port = t->port[0];

	if (t->ports > 1 && inspect(t, port) != -EINPROGRESS)
		port = t->port[1];
	netdev_err(t->m->netdev, "self-test: port loops: time-out: port %u has sent %llu of %u frames and does not end: load the bitstream again\n",
		   port, port_test_count(t, port, MERIDIAN_PORT_TEST_COUNTER_SENT), t->batch);
}

/**
 * meridian_wait_for_port_test() - wait until the runs of all ports are complete
 * @t: the test
 *
 * Says in a sentence why not.
 *
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
		if (ktime_ms_delta(ktime_get(), start) > BATCH_MSECS) {
			say_time_out(t);
			return -ETIMEDOUT;
		}
		usleep_range(50, 100);
	}
}

/**
 * meridian_next_label() - have another label for the next run, as frames of the last may come yet
 * @t: the test
 */
void meridian_next_label(struct meridian_port_test *t)
{
	t->label = (t->label + 1) & MERIDIAN_PORT_TEST_RUN_LABEL_MASK;
	if (!t->label)
		t->label = 1;
}

/**
 * meridian_start_port_test() - start a batch at one port
 * @t: the test
 * @port: the port
 * @mode: MERIDIAN_PORT_TEST_MODE_*; it is forced, as the driver has seen to it who uses the port
 *
 * Sizes of a batch go from small to large; the batches together have every size.
 */
void meridian_start_port_test(const struct meridian_port_test *t, u32 port, u32 mode)
{
	u32 range = t->largest - ETH_ZLEN, step = range / t->batch + 1;
	const u8 *to = meridian_loop_header.h_dest;

	write_port_test(t, port, MERIDIAN_PORT_TEST_SIZE,
			FIELD_PREP(MERIDIAN_PORT_TEST_SIZE_FIRST_MASK,
				   ETH_ZLEN + t->batches % min(step, range + 1)) |
			FIELD_PREP(MERIDIAN_PORT_TEST_SIZE_LAST_MASK, t->largest));
	write_port_test(t, port, MERIDIAN_PORT_TEST_SIZE_STEP, step);
	write_port_test(t, port, MERIDIAN_PORT_TEST_INTERVAL, 0);
	write_port_test(t, port, MERIDIAN_PORT_TEST_FRAMES,
			mode & MERIDIAN_PORT_TEST_MODE_GENERATE_MASK ? t->batch : 0);
	write_port_test(t, port, MERIDIAN_PORT_TEST_RUN,
			FIELD_PREP(MERIDIAN_PORT_TEST_RUN_LABEL_MASK, t->label) |
			FIELD_PREP(MERIDIAN_PORT_TEST_RUN_PATIENCE_MASK,
				   t->ports > 1 ? CABLE_PATIENCE_USECS : PATIENCE_USECS));
	write_port_test(t, port, MERIDIAN_PORT_TEST_DESTINATION_LOW,
			to[0] | to[1] << 8 | to[2] << 16 | (u32)to[3] << 24);
	write_port_test(t, port, MERIDIAN_PORT_TEST_DESTINATION_HIGH, to[4] | to[5] << 8);
	write_port_test(t, port, MERIDIAN_PORT_TEST_MODE,
			mode | MERIDIAN_PORT_TEST_MODE_FORCE_MASK);
	write_port_test(t, port, MERIDIAN_PORT_TEST_COMMAND, MERIDIAN_PORT_TEST_COMMAND_START_MASK);
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
		meridian_next_label(t);
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

static int run_batch(struct meridian_port_test *t)
{
	u32 mode = MERIDIAN_PORT_TEST_MODE_GENERATE_MASK | MERIDIAN_PORT_TEST_MODE_CHECK_MASK;
	unsigned int i;
	int error = 0;

	if (t->ports > 1) {
		error = start_cable(t, mode);
	} else {
		meridian_next_label(t);
		meridian_start_port_test(t, t->port[0], mode);
	}
	if (!error)
		error = meridian_wait_for_port_test(t);
	if (!error)
		error = meridian_judge_port_test(t);
	if (error == -EINPROGRESS) /* there was no answer, which this tells */
		error = meridian_loops_interrupted(t->m, t->port[0]) ?: -EAGAIN;
	if (error)
		return error;
	t->batches++;
	t->frames += t->ports * t->batch;
	for (i = 0; i < t->ports; i++)
		t->bytes += port_test_count(t, t->port[i],
					    MERIDIAN_PORT_TEST_COUNTER_RECEIVED_BYTES);
	return 0;
}

/**
 * meridian_run_port_test() - have frames go for half a second, and compare them
 * @t: the test, whose ports are reserved and have a link
 *
 * Says in a sentence what is wrong.
 *
 * Return: 0; MERIDIAN_LEFT_OUT because of the ARM side; a negative error.
 */
int meridian_run_port_test(struct meridian_port_test *t)
{
	ktime_t start = ktime_get(), now = start, before;
	int error = 0;

	t->batch = BATCH_FIRST;
	while (!error && ktime_ms_delta(now, start) < RUN_MSECS) {
		before = now;
		error = run_batch(t);
		now = ktime_get();
		if (ktime_ms_delta(now, before) < BATCH_LEAST_MSECS)
			t->batch = min(4 * t->batch, (u32)BATCH_MOST);
	}
	return error;
}
