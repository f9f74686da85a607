// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loops of a port: the card's generator at the MAC sends frames, the transceiver or a loop plug
 * brings them back, and the checker at the MAC compares them. The host only gives the commands.
 */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>
#include <linux/ktime.h>

#include "compat.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_frames.h"
#include "meridian_hw.h"
#include "meridian_selftest.h"

/* Frames without FCS; behind the largest that all networks with jumbo frames know. */
#define LARGEST		9596u
/* Each loop is tested for so long, in batches that grow until one takes BATCH_LEAST_MSECS. */
#define LOOP_MSECS	500
#define BATCH_FIRST	64
#define BATCH_MOST	65536
#define BATCH_LEAST_MSECS	100
/* Bound of a batch; a simulated card needs seconds. */
#define BATCH_MSECS	10000
/* The checker waits for frames that are under way. */
#define PATIENCE_USECS	100

static const struct meridian_loop loops[] = {
	{ "near-pcs", 1 },
	{ "near-pma", 2 },
};

static const struct meridian_loop external = { "external", 0 };

struct port_test {
	struct meridian *m;
	const struct meridian_loop *loop;
	u32 largest;
	u32 label;
	u32 batch;
	u32 batches;
	u64 frames;
	u64 bytes;
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

static bool has_link(const struct port_test *t)
{
	return meridian_read(t->m, MERIDIAN_PORT_BASE(t->m->port) + MERIDIAN_PORT_LINK_STATUS) &
	       MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK;
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
	u64 frames[ARRAY_SIZE(faults)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++)
		frames[i] = count(t, faults[i].counter);
	/* All ones are no counters. */
	if (!meridian_present(t->m))
		return -EINPROGRESS;
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!frames[i])
			continue;
		netdev_err(t->m->netdev, "self-test: port loops: %llu of %llu frames in the loop %s of port %u %s: %s\n",
			   frames[i], sent,
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
	u32 run = read_test(t, MERIDIAN_PORT_TEST_RUN);
	bool is_linked = has_link(t);
	int error;

	/* What was read counts if the card answers behind it. */
	error = meridian_loops_interrupted(t->m);
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
			   t->m->port, refusal);
		return -EPROTO;
	}
	if (!is_linked) {
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

static int test_loop(struct port_test *t, const struct meridian_loop *loop)
{
	int error;

	t->loop = loop;
	if (loop->mode)
		error = meridian_set_loopback(t->m, loop);
	else
		error = meridian_loops_interrupted(t->m);
	if (!error)
		error = meridian_wait_for_loop(t->m, loop);
	if (!error)
		error = run_loop(t);
	/* Whatever has happened. */
	meridian_put_port_back(t->m);
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
	if (!error && is_external) {
		t->m->faults->selftest.was_external = true;
		error = test_loop(t, &external);
	}
	if (!error)
		netdev_info(t->m->netdev, "self-test: port loops: %llu bytes in %llu frames of %u to %u bytes went round port %u (near-pcs, near-pma%s) in %lld ms, all good\n",
			    t->bytes, t->frames, ETH_ZLEN, t->largest, t->m->port,
			    is_external ? ", external" : "", ktime_ms_delta(ktime_get(), start));
	return error;
}

static void recover(struct meridian *m)
{
	if (test_bit(m->port, &m->card->looped))
		meridian_put_port_back(m);
}

/**
 * meridian_recover_port() - put back what a test could not, as the card did not answer
 * @m: a PF whose card answers
 */
void meridian_recover_port(struct meridian *m)
{
	/* A test that runs does it itself. */
	if (!mutex_trylock(&one_at_a_time))
		return;
	recover(m);
	mutex_unlock(&one_at_a_time);
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
	error = meridian_loops_interrupted(m);
	if (!error)
		recover(m);
	if (!error && meridian_port_is_taken(m)) {
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
