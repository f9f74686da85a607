// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loops of a port: the card's generator at the MAC sends frames, the transceiver or a loop plug
 * brings them back, and the checker at the MAC compares them. The PS only gives the commands.
 */
#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/ktime.h>

#include "meridian_ps_selftest.h"

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

static const struct meridian_ps_loop loops[] = {
	{ "near-pcs", 1 },
	{ "near-pma", 2 },
};

static const struct meridian_ps_loop external = { "external", 0 };

/* No station has it. */
static const u8 nobody[ETH_ALEN] = { 0x02, 0x4d, 0x52, 0x44, 0xff, 0xfe };

/**
 * struct port_test - a test that is under way
 * @port: that is tested
 * @loop: by which frames come back now
 * @host: what the host wants of the port
 * @largest: bytes of the largest frame
 * @label: of the frames of a batch
 * @batch: frames of a batch
 * @batches: that were good
 * @frames: of these
 * @bytes: of these
 * @was_external: frames were sent to a loop plug
 */
struct port_test {
	struct meridian_ps_port *port;
	const struct meridian_ps_loop *loop;
	u32 host;
	u32 largest;
	u32 label;
	u32 batch;
	u32 batches;
	u64 frames;
	u64 bytes;
	bool was_external;
};

static u64 count(const struct port_test *t, u32 counter)
{
	return meridian_ps_read_counter(t->port->card,
					MERIDIAN_PORT_TEST_PS_BASE(t->port->index) + counter);
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
	if (!meridian_ps_present(t->port->card))
		return -EINPROGRESS;
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!frames[i])
			continue;
		netdev_err(t->port->netdev, "self-test: port loops: %llu of %llu frames in the loop %s of port %u %s: %s\n",
			   frames[i], sent, t->loop->name, t->port->index, faults[i].is,
			   remedy(t));
		return faults[i].error;
	}
	if (sent == t->batch && good == sent)
		return 0;
	netdev_err(t->port->netdev, "self-test: port loops: %llu of %u frames were sent and %llu came back in the loop %s of port %u: %s\n",
		   sent, t->batch, good, t->loop->name, t->port->index, remedy(t));
	return -ENODATA;
}

/* Return: -EINPROGRESS if the batch goes on. */
static int inspect(struct port_test *t)
{
	u32 status = meridian_ps_test_read(t->port, MERIDIAN_PORT_TEST_STATUS), refusal;
	u32 run = meridian_ps_test_read(t->port, MERIDIAN_PORT_TEST_RUN);
	u32 link = meridian_ps_port_read(t->port, MERIDIAN_PORT_LINK_STATUS);
	int error;

	meridian_ps_keep_host_out(t->port, &t->host);
	/* What was read counts if the card answers behind it. */
	error = meridian_ps_loops_interrupted(t->port);
	if (error)
		return error;
	/* A reset takes the test and its settings. */
	if (FIELD_GET(MERIDIAN_PORT_TEST_RUN_LABEL_MASK, run) != t->label) {
		netdev_err(t->port->netdev, "self-test: port loops: the card was reset, which has ended them: try again\n");
		return -ECANCELED;
	}
	refusal = FIELD_GET(MERIDIAN_PORT_TEST_STATUS_REFUSAL_MASK, status);
	if (refusal) {
		netdev_err(t->port->netdev, "self-test: port loops: the card refuses a test of port %u (%u): take driver and bitstream of one commit\n",
			   t->port->index, refusal);
		return -EPROTO;
	}
	if (!(link & MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK)) {
		netdev_err(t->port->netdev, "self-test: port loops: port %u has lost its link in the loop %s: %s\n",
			   t->port->index, t->loop->name, remedy(t));
		return t->loop->mode ? -EIO : -ENOLINK;
	}
	if (FIELD_GET(MERIDIAN_PORT_TEST_STATUS_STATE_MASK, status))
		return -EINPROGRESS;
	if (FIELD_GET(MERIDIAN_PORT_TEST_STATUS_END_MASK, status) ==
	    MERIDIAN_PORT_TEST_END_COMPLETE)
		return judge(t);
	netdev_err(t->port->netdev, "self-test: port loops: a command of somebody else, or a reset of the MAC, has ended the test of port %u: try again\n",
		   t->port->index);
	return -ECANCELED;
}

static int wait_for_batch(struct port_test *t)
{
	ktime_t start = ktime_get();
	int error;

	for (;;) {
		error = inspect(t);
		if (error != -EINPROGRESS)
			return error;
		if (ktime_ms_delta(ktime_get(), start) > BATCH_MSECS) {
			netdev_err(t->port->netdev, "self-test: port loops: time-out: port %u has sent %llu of %u frames and does not end: load the bitstream again\n",
				   t->port->index, count(t, MERIDIAN_PORT_TEST_COUNTER_SENT),
				   t->batch);
			return -ETIMEDOUT;
		}
		usleep_range(50, 100);
	}
}

/* Sizes of a batch go from small to large; the batches together have every size. */
static int run_batch(struct port_test *t)
{
	u32 range = t->largest - ETH_ZLEN, step = range / t->batch + 1;
	struct meridian_ps_port *port = t->port;
	int error;

	t->label = (t->label + 1) & MERIDIAN_PORT_TEST_RUN_LABEL_MASK;
	if (!t->label)
		t->label = 1;
	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_SIZE,
			       FIELD_PREP(MERIDIAN_PORT_TEST_SIZE_FIRST_MASK,
					  ETH_ZLEN + t->batches % min(step, range + 1)) |
			       FIELD_PREP(MERIDIAN_PORT_TEST_SIZE_LAST_MASK, t->largest));
	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_SIZE_STEP, step);
	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_INTERVAL, 0);
	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_FRAMES, t->batch);
	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_RUN,
			       FIELD_PREP(MERIDIAN_PORT_TEST_RUN_LABEL_MASK, t->label) |
			       FIELD_PREP(MERIDIAN_PORT_TEST_RUN_PATIENCE_MASK, PATIENCE_USECS));
	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_DESTINATION_LOW,
			       nobody[0] | nobody[1] << 8 | nobody[2] << 16 |
			       (u32)nobody[3] << 24);
	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_DESTINATION_HIGH,
			       nobody[4] | nobody[5] << 8);
	/* The driver itself has seen to it that nobody uses the port. */
	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_MODE,
			       MERIDIAN_PORT_TEST_MODE_GENERATE_MASK |
			       MERIDIAN_PORT_TEST_MODE_CHECK_MASK |
			       MERIDIAN_PORT_TEST_MODE_FORCE_MASK);
	meridian_ps_test_write(port, MERIDIAN_PORT_TEST_COMMAND,
			       MERIDIAN_PORT_TEST_COMMAND_START_MASK);
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

static int test_loop(struct port_test *t, const struct meridian_ps_loop *loop)
{
	int error;

	t->loop = loop;
	if (loop->mode)
		error = meridian_ps_set_loopback(t->port, loop, &t->host);
	else
		error = meridian_ps_loops_interrupted(t->port);
	if (!error)
		error = meridian_ps_wait_for_loop(t->port, loop, &t->host);
	if (!error) {
		t->was_external |= !loop->mode;
		error = run_loop(t);
	}
	/* Whatever has happened. */
	meridian_ps_end_loops(t->port);
	return error;
}

static int test_all(struct port_test *t, bool is_external)
{
	ktime_t start = ktime_get();
	unsigned int i;
	int error = 0;

	for (i = 0; i < ARRAY_SIZE(loops) && !error; i++)
		error = test_loop(t, &loops[i]);
	if (!error && is_external)
		error = test_loop(t, &external);
	if (!error)
		netdev_info(t->port->netdev, "self-test: port loops: %llu bytes in %llu frames of %u to %u bytes went round port %u (near-pcs, near-pma%s) in %lld ms, all good\n",
			    t->bytes, t->frames, ETH_ZLEN, t->largest, t->port->index,
			    is_external ? ", external" : "", ktime_ms_delta(ktime_get(), start));
	return error;
}

/* Return: a negative error, then the port is detached. */
static int take_from_stack(struct meridian_ps_port *port)
{
	if (!netif_running(port->netdev))
		return 0;
	meridian_ps_stop_service(port);
	netif_carrier_off(port->netdev);
	return test_bit(MERIDIAN_PS_FLAG_UP, &port->flags) ? meridian_ps_down(port) : 0;
}

static void give_to_stack(struct meridian_ps_port *port)
{
	int error;

	if (!netif_running(port->netdev))
		return;
	error = meridian_ps_up(port);
	if (error)
		meridian_ps_detach(port, error);
	else
		meridian_ps_start_service(port);
}

/**
 * meridian_ps_test_loops() - frames go round each loop of the port; takes its traffic away
 * @port: of a card that has the block, up or not; under RTNL
 * @is_external: a loop plug is in the port
 * @was_external: becomes whether frames were sent to it
 *
 * Says in a sentence what it has found. Its frames count in the port's counters, and in none of an
 * interface. The host's are dropped meanwhile.
 *
 * Return: 0 or a negative error.
 */
int meridian_ps_test_loops(struct meridian_ps_port *port, bool is_external, bool *was_external)
{
	struct port_test t = { .port = port, .largest = min(port->card->longest, LARGEST) };
	int error = meridian_ps_loops_interrupted(port);

	t.label = (u16)ktime_to_ms(ktime_get());
	if (!error && meridian_ps_port_is_taken(port))
		error = -EBUSY;
	if (!error)
		error = take_from_stack(port);
	if (error)
		return error;
	meridian_ps_reserve_port(port, &t.host);
	/* The host's driver may have begun before it saw that. */
	error = meridian_ps_port_is_taken(port) ? -EBUSY : test_all(&t, is_external);
	*was_external = t.was_external;
	meridian_ps_release_port(port, t.host);
	give_to_stack(port);
	return error;
}
