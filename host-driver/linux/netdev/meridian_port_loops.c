// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loops of a port: the card's generator at the MAC sends frames, the transceiver or a loop plug
 * brings them back, and the checker at the MAC compares them. The host only gives the commands.
 *
 * The driver never forces a port that the card's ARM side (PS) has enabled, because the PS may keep
 * the time of the card by it. The PS has agreed if its interface is down.
 */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "compat.h"
#include "meridian.h"
#include "meridian_frames.h"
#include "meridian_hw.h"
#include "meridian_pattern.h"

/* Frames without FCS; behind the largest that all networks with jumbo frames know. */
#define LARGEST		9596u
/* Each loop is tested for so long, in batches that grow until one takes BATCH_LEAST_MSECS. */
#define LOOP_MSECS	500
#define BATCH_FIRST	64
#define BATCH_MOST	65536
#define BATCH_LEAST_MSECS	100
/* Bounds of a batch, and of its end; a simulated card needs seconds. */
#define BATCH_MSECS	10000
#define END_MSECS	1000
/* The port may not be quiet, as a partner sends; it has a link within LOCK_MSECS of a change. */
#define QUIET_MSECS	100
#define LOCK_MSECS	3000
#define RESET_MSECS	100
/* The checker waits for frames that are under way. */
#define PATIENCE_USECS	100
/* The loopback has reset the receiver, and the MAC sees that. */
#define SETTLE_USECS	1000

struct loop {
	const char *name;
	u32 mode; /* of the transceiver */
};

static const struct loop loops[] = {
	{ "near-pcs", 1 },
	{ "near-pma", 2 },
};

static const struct loop external = { "external", 0 };

struct port_test {
	struct meridian *m;
	const struct loop *loop;
	u32 largest;
	u32 label;
	u32 batch;
	u32 batches;
	u64 frames;
	u64 bytes;
	bool is_changed; /* the loopback */
};

/* One at a time: PFs may share a port. */
static DEFINE_MUTEX(one_at_a_time);

static u32 read_test(const struct port_test *t, u32 offset)
{
	return meridian_read(t->m, MERIDIAN_PORT_TEST_BASE(t->m->port) + offset);
}

static void write_test(const struct port_test *t, u32 offset, u32 value)
{
	meridian_write(t->m, MERIDIAN_PORT_TEST_BASE(t->m->port) + offset, value);
}

static u64 count(const struct port_test *t, u32 counter)
{
	return meridian_read_counter(t->m, MERIDIAN_PORT_TEST_BASE(t->m->port) + counter);
}

static u32 read_lane(const struct port_test *t, u32 offset)
{
	return meridian_read(t->m, MERIDIAN_TRANSCEIVER_BASE(t->m->port) + offset);
}

static u32 read_port(const struct port_test *t, u32 offset)
{
	return meridian_read(t->m, MERIDIAN_PORT_BASE(t->m->port) + offset);
}

static bool has_link(const struct port_test *t)
{
	return read_port(t, MERIDIAN_PORT_LINK_STATUS) & MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK;
}

static u32 state_of(const struct port_test *t)
{
	return FIELD_GET(MERIDIAN_PORT_TEST_STATUS_STATE_MASK,
			 read_test(t, MERIDIAN_PORT_TEST_STATUS));
}

/* Return: what has ended the test whatever it does; 0 if nothing has. */
static int interrupted(const struct port_test *t)
{
	if (!meridian_present(t->m)) {
		netdev_err(t->m->netdev, "self-test: port loops: the card does not answer: look at 'dmesg' and 'lspci -vv'\n");
		return -ENODEV;
	}
	if (read_port(t, MERIDIAN_PORT_PS_FILTER) & MERIDIAN_PORT_PS_FILTER_ENABLE_MASK) {
		netdev_info(t->m->netdev, "self-test: port loops: they are left out, as the card's ARM side uses port %u: have its interface set down there, then try again\n",
			    t->m->port);
		return MERIDIAN_LEFT_OUT;
	}
	if (signal_pending(current)) {
		netdev_info(t->m->netdev, "self-test: port loops: a signal has ended them\n");
		return -EINTR;
	}
	return 0;
}

/* Return: 0 if the card has taken the loopback over; -EAGAIN if frames keep it from that. */
static int write_loopback(struct port_test *t, u32 mode)
{
	u32 at = MERIDIAN_TRANSCEIVER_BASE(t->m->port) + MERIDIAN_TRANSCEIVER_LOOPBACK;

	meridian_write(t->m, at, mode);
	switch (FIELD_GET(MERIDIAN_TRANSCEIVER_STATUS_REFUSAL_MASK,
			  read_lane(t, MERIDIAN_TRANSCEIVER_STATUS))) {
	case MERIDIAN_TRANSCEIVER_REFUSAL_NONE:
		return 0;
	case MERIDIAN_TRANSCEIVER_REFUSAL_TRAFFIC:
	case MERIDIAN_TRANSCEIVER_REFUSAL_PS_ENABLED: /* interrupted() tells of it */
		return -EAGAIN;
	case MERIDIAN_TRANSCEIVER_REFUSAL_HOST_ENABLED:
		return -EBUSY;
	default:
		return -EPROTO;
	}
}

/* The transceiver's data paths come out of their reset. Bounded, and silent. */
static void wait_for_reset(const struct port_test *t)
{
	ktime_t start = ktime_get();

	while (read_lane(t, MERIDIAN_TRANSCEIVER_STATUS) &
	       MERIDIAN_TRANSCEIVER_STATUS_RESETTING_MASK &&
	       meridian_present(t->m) && ktime_ms_delta(ktime_get(), start) < RESET_MSECS)
		usleep_range(50, 100);
	usleep_range(SETTLE_USECS, 2 * SETTLE_USECS);
}

/*
 * The host's frames are kept from the port, so what still comes is from the partner. It is forced
 * away when the card has said that it is only that.
 */
static int set_loopback(struct port_test *t)
{
	ktime_t start = ktime_get();
	int error;

	for (;;) {
		error = interrupted(t);
		if (error)
			return error;
		error = write_loopback(t, t->loop->mode);
		if (error != -EAGAIN)
			break;
		if (ktime_ms_delta(ktime_get(), start) > QUIET_MSECS) {
			error = interrupted(t);
			if (error)
				return error;
			error = write_loopback(t, t->loop->mode |
					       MERIDIAN_TRANSCEIVER_LOOPBACK_FORCE_MASK);
			break;
		}
		usleep_range(500, 1000);
	}
	if (error == -EBUSY) {
		netdev_err(t->m->netdev, "self-test: port loops: another driver has opened port %u for its function: end it, then try again\n",
			   t->m->port);
		return error;
	}
	if (error) {
		netdev_err(t->m->netdev, "self-test: port loops: the card refuses the loopback %s of port %u: take driver and bitstream of one commit\n",
			   t->loop->name, t->m->port);
		return -EPROTO;
	}
	t->is_changed = true;
	wait_for_reset(t);
	return 0;
}

static int wait_for_link(const struct port_test *t)
{
	ktime_t start = ktime_get();
	int error;

	while (!has_link(t)) {
		error = interrupted(t);
		if (error)
			return error;
		if (ktime_ms_delta(ktime_get(), start) < LOCK_MSECS) {
			usleep_range(500, 1000);
			continue;
		}
		if (!t->loop->mode) {
			netdev_err(t->m->netdev, "self-test: port loops: port %u has no link through the loop plug: plug it in, then try again\n",
				   t->m->port);
			return -ENOLINK;
		}
		netdev_err(t->m->netdev, "self-test: port loops: port %u has no link in the loopback %s: look at the board's reference clock, and at its supply of the transceiver\n",
			   t->m->port, t->loop->name);
		return -EIO;
	}
	return 0;
}

static const struct {
	u32 counter;
	int error;
	const char *is;
} faults[] = {
	{ MERIDIAN_PORT_TEST_COUNTER_DAMAGED_FCS, -EBADMSG, "had a wrong FCS" },
	{ MERIDIAN_PORT_TEST_COUNTER_DAMAGED_LENGTH, -EBADMSG, "had another length" },
	{ MERIDIAN_PORT_TEST_COUNTER_DAMAGED_PATTERN, -EBADMSG, "had wrong bits" },
	{ MERIDIAN_PORT_TEST_COUNTER_LATE, -EILSEQ, "came late or twice" },
	{ MERIDIAN_PORT_TEST_COUNTER_REPEATED, -EILSEQ, "came twice" },
	{ MERIDIAN_PORT_TEST_COUNTER_SKIPPED, -ENODATA, "were lost" },
};

/* What may be the cause if frames do not come back as they were sent. */
static const char *remedy(const struct port_test *t)
{
	if (!t->loop->mode)
		return "clean or change the loop plug, and measure the eye by meridian-eye";
	return "look at clocks and supply of the transceiver, and measure the eye by meridian-eye";
}

static int judge(const struct port_test *t)
{
	u64 sent = count(t, MERIDIAN_PORT_TEST_COUNTER_SENT);
	u64 good = count(t, MERIDIAN_PORT_TEST_COUNTER_GOOD);
	unsigned int i;
	u64 frames;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		frames = count(t, faults[i].counter);
		if (!frames)
			continue;
		netdev_err(t->m->netdev, "self-test: port loops: %llu of %llu frames in the loop %s of port %u %s: %s\n",
			   frames, sent,
			   t->loop->name, t->m->port, faults[i].is, remedy(t));
		return faults[i].error;
	}
	if (sent == t->batch && good == sent)
		return 0;
	netdev_err(t->m->netdev, "self-test: port loops: %llu of %u frames were sent and %llu came back in the loop %s of port %u: %s\n",
		   sent, t->batch, good, t->loop->name, t->m->port, remedy(t));
	return -ENODATA;
}

/* Return: -EINPROGRESS if the batch goes on. */
static int inspect(const struct port_test *t)
{
	u32 status = read_test(t, MERIDIAN_PORT_TEST_STATUS), refusal;
	int error = interrupted(t);

	if (error)
		return error;
	/* A reset of the ARM side takes the test and its settings. */
	if (FIELD_GET(MERIDIAN_PORT_TEST_RUN_LABEL_MASK,
		      read_test(t, MERIDIAN_PORT_TEST_RUN)) != t->label) {
		netdev_err(t->m->netdev, "self-test: port loops: the card's ARM side was reset, which has ended them: try again\n");
		return -ECANCELED;
	}
	refusal = FIELD_GET(MERIDIAN_PORT_TEST_STATUS_REFUSAL_MASK, status);
	if (refusal) {
		netdev_err(t->m->netdev, "self-test: port loops: the card refuses a test of port %u (%u): take driver and bitstream of one commit\n",
			   t->m->port, refusal);
		return -EPROTO;
	}
	if (!has_link(t)) {
		netdev_err(t->m->netdev, "self-test: port loops: port %u has lost its link in the loop %s: %s\n",
			   t->m->port,
			   t->loop->name, remedy(t));
		return t->loop->mode ? -EIO : -ENOLINK;
	}
	if (FIELD_GET(MERIDIAN_PORT_TEST_STATUS_STATE_MASK, status))
		return -EINPROGRESS;
	if (FIELD_GET(MERIDIAN_PORT_TEST_STATUS_END_MASK, status) ==
	    MERIDIAN_PORT_TEST_END_COMPLETE)
		return judge(t);
	netdev_err(t->m->netdev, "self-test: port loops: a command of somebody else, or a reset of the MAC, has ended the test of port %u: try again\n",
		   t->m->port);
	return -ECANCELED;
}

static int wait_for_batch(const struct port_test *t)
{
	ktime_t start = ktime_get();
	int error;

	for (;;) {
		error = inspect(t);
		if (error != -EINPROGRESS)
			return error;
		if (ktime_ms_delta(ktime_get(), start) > BATCH_MSECS) {
			netdev_err(t->m->netdev, "self-test: port loops: time-out: port %u has sent %llu of %u frames and does not end: load the bitstream again\n",
				   t->m->port, count(t, MERIDIAN_PORT_TEST_COUNTER_SENT), t->batch);
			return -ETIMEDOUT;
		}
		usleep_range(50, 100);
	}
}

/* Sizes of a batch go from small to large; the batches together have every size. */
static int run_batch(struct port_test *t)
{
	u32 range = t->largest - ETH_ZLEN, step = range / t->batch + 1;
	const u8 *to = meridian_loop_header.h_dest;
	int error;

	t->label = (t->label + 1) & MERIDIAN_PORT_TEST_RUN_LABEL_MASK;
	if (!t->label)
		t->label = 1;
	write_test(t, MERIDIAN_PORT_TEST_SIZE,
		   FIELD_PREP(MERIDIAN_PORT_TEST_SIZE_FIRST_MASK,
			      ETH_ZLEN + t->batches % min(step, range + 1)) |
		   FIELD_PREP(MERIDIAN_PORT_TEST_SIZE_LAST_MASK, t->largest));
	write_test(t, MERIDIAN_PORT_TEST_SIZE_STEP, step);
	write_test(t, MERIDIAN_PORT_TEST_INTERVAL, 0);
	write_test(t, MERIDIAN_PORT_TEST_FRAMES, t->batch);
	write_test(t, MERIDIAN_PORT_TEST_RUN,
		   FIELD_PREP(MERIDIAN_PORT_TEST_RUN_LABEL_MASK, t->label) |
		   FIELD_PREP(MERIDIAN_PORT_TEST_RUN_PATIENCE_MASK, PATIENCE_USECS));
	write_test(t, MERIDIAN_PORT_TEST_DESTINATION_LOW,
		   to[0] | to[1] << 8 | to[2] << 16 | (u32)to[3] << 24);
	write_test(t, MERIDIAN_PORT_TEST_DESTINATION_HIGH, to[4] | to[5] << 8);
	/* The driver itself has seen to it that nobody uses the port. */
	write_test(t, MERIDIAN_PORT_TEST_MODE, MERIDIAN_PORT_TEST_MODE_GENERATE_MASK |
					       MERIDIAN_PORT_TEST_MODE_CHECK_MASK |
					       MERIDIAN_PORT_TEST_MODE_FORCE_MASK);
	write_test(t, MERIDIAN_PORT_TEST_COMMAND, MERIDIAN_PORT_TEST_COMMAND_START_MASK);
	error = wait_for_batch(t);
	if (error)
		return error;
	t->batches++;
	t->frames += t->batch;
	t->bytes += count(t, MERIDIAN_PORT_TEST_COUNTER_RECEIVED_BYTES);
	return 0;
}

static int run_loop(struct port_test *t)
{
	ktime_t start = ktime_get(), now = start, before;
	int error = 0;

	t->batch = BATCH_FIRST;
	while (!error && ktime_ms_delta(now, start) < LOOP_MSECS) {
		before = now;
		error = run_batch(t);
		now = ktime_get();
		if (ktime_ms_delta(now, before) < BATCH_LEAST_MSECS)
			t->batch = min(4 * t->batch, (u32)BATCH_MOST);
	}
	return error;
}

/* Whatever has happened: the generator rests, and the port is as it was. */
static void end(struct port_test *t)
{
	ktime_t start = ktime_get();

	write_test(t, MERIDIAN_PORT_TEST_COMMAND, MERIDIAN_PORT_TEST_COMMAND_OFF_MASK);
	while (meridian_present(t->m) && state_of(t) &&
	       ktime_ms_delta(ktime_get(), start) < END_MSECS)
		usleep_range(100, 200);
	write_test(t, MERIDIAN_PORT_TEST_MODE, 0);
	write_test(t, MERIDIAN_PORT_TEST_FRAMES, 0);
	if (t->is_changed) {
		write_loopback(t, 0);
		wait_for_reset(t);
	}
	t->is_changed = false;
}

static int test_loop(struct port_test *t, const struct loop *loop)
{
	int error;

	t->loop = loop;
	error = loop->mode ? set_loopback(t) : interrupted(t);
	if (!error)
		error = wait_for_link(t);
	if (!error)
		error = run_loop(t);
	end(t);
	return error;
}

static int test_loops(struct port_test *t)
{
	bool is_external = t->m->faults->selftest.is_external;
	ktime_t start = ktime_get();
	unsigned int i;
	int error = 0;

	for (i = 0; i < ARRAY_SIZE(loops) && !error; i++)
		error = test_loop(t, &loops[i]);
	if (!error && is_external)
		error = test_loop(t, &external);
	if (!error)
		netdev_info(t->m->netdev, "self-test: port loops: %llu bytes in %llu frames of %u to %u bytes went round port %u (near-pcs, near-pma%s) in %lld ms, all good\n",
			    t->bytes, t->frames, ETH_ZLEN, t->largest, t->m->port,
			    is_external ? ", external" : "", ktime_ms_delta(ktime_get(), start));
	return error;
}

static bool is_taken(const struct port_test *t)
{
	return state_of(t) || read_lane(t, MERIDIAN_TRANSCEIVER_PRBS) ||
	       read_lane(t, MERIDIAN_TRANSCEIVER_LOOPBACK) ||
	       read_lane(t, MERIDIAN_TRANSCEIVER_EYE_SCAN);
}

/**
 * meridian_test_port_loops() - frames go round each loop of the port; takes its traffic away
 * @m: a PF whose card has the block; under RTNL
 *
 * Says in a sentence what it has found. Its frames count in the port's counters, and in none of an
 * interface. The card's ARM side keeps a port that it has enabled.
 *
 * Return: 0; MERIDIAN_LEFT_OUT because of the ARM side; a negative error.
 */
int meridian_test_port_loops(struct meridian *m)
{
	struct port_test t = { .m = m, .largest = min(m->max_frame, LARGEST) };
	bool is_up = test_bit(MERIDIAN_FLAG_UP, &m->flags);
	int error;

	t.label = (u16)ktime_to_ms(ktime_get());
	mutex_lock(&one_at_a_time);
	error = interrupted(&t);
	if (!error && is_taken(&t)) {
		netdev_err(m->netdev, "self-test: port loops: somebody else tests port %u, or scans its eye: end that, then try again\n",
			   m->port);
		error = -EBUSY;
	}
	if (!error) {
		if (is_up)
			meridian_take_traffic(m);
		meridian_reserve_port(m, true);
		error = test_loops(&t);
		meridian_reserve_port(m, false);
		if (is_up)
			meridian_give_traffic_back(m);
	}
	mutex_unlock(&one_at_a_time);
	return error;
}
