// SPDX-License-Identifier: GPL-2.0-only
/*
 * The offline self-test: the card's generator sends frames to every receive queue, the driver sends
 * them back, and the card's checker compares them. They never reach the wire, nor do they need it.
 */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>

#include "compat.h"
#include "meridian.h"
#include "meridian_frames.h"
#include "meridian_hw.h"
#include "meridian_selftest.h"
#include "meridian_ring.h"

/* The test ends with the batch in which the first of these two is reached. */
#define PATTERN_BYTES	SZ_256M
#define PATTERN_MSECS	2000
/* A batch has at most so many frames, or one for each queue; a slow card needs seconds. */
#define BATCH_FRAMES	256
/* Without a frame for so long, the rest of a batch is lost; a batch lasts BATCH_MSECS at most. */
#define SILENT_MSECS	3000
#define BATCH_MSECS	10000
/* How long a test that ends early waits for frames that are under way. */
#define END_MSECS	100

/* The block is the card's, not the function's. */
static DEFINE_MUTEX(one_at_a_time);

static u32 read_block(const struct meridian_pattern *p, u32 offset)
{
	return meridian_read(p->m, MERIDIAN_SELF_TEST_BASE + offset);
}

static void write_block(const struct meridian_pattern *p, u32 offset, u32 value)
{
	meridian_write(p->m, MERIDIAN_SELF_TEST_BASE + offset, value);
}

static u32 status_of(const struct meridian_pattern *p)
{
	return read_block(p, MERIDIAN_SELF_TEST_STATUS);
}

static bool is_idle(u32 status)
{
	return !FIELD_GET(MERIDIAN_SELF_TEST_STATUS_STATE_MASK, status);
}

static void write_address(const struct meridian_pattern *p, u32 low, const u8 *address)
{
	write_block(p, low, address[0] | address[1] << 8 | address[2] << 16 |
			    (u32)address[3] << 24);
	write_block(p, low + 4, address[4] | address[5] << 8);
}

/* Sizes of a batch go from small to large; the batches together have every size. */
static void write_sizes(const struct meridian_pattern *p)
{
	u32 range = p->largest - ETH_ZLEN;
	u32 step = range / p->batch + 1;
	u32 first = ETH_ZLEN + p->batches % min(step, range + 1);

	write_block(p, MERIDIAN_SELF_TEST_SIZE,
		    FIELD_PREP(MERIDIAN_SELF_TEST_SIZE_FIRST_MASK, first) |
		    FIELD_PREP(MERIDIAN_SELF_TEST_SIZE_LAST_MASK, p->largest));
	write_block(p, MERIDIAN_SELF_TEST_SIZE_STEP, step);
}

static void write_settings(struct meridian_pattern *p)
{
	struct meridian *m = p->m;

	write_block(p, MERIDIAN_SELF_TEST_COMMAND, MERIDIAN_SELF_TEST_COMMAND_OFF_MASK);
	write_block(p, MERIDIAN_SELF_TEST_MODE, MERIDIAN_SELF_TEST_MODE_GENERATE_MASK |
						MERIDIAN_SELF_TEST_MODE_CHECK_MASK |
						MERIDIAN_SELF_TEST_MODE_TAKE_MASK |
						MERIDIAN_SELF_TEST_MODE_FORCE_MASK);
	write_block(p, MERIDIAN_SELF_TEST_FUNCTION, m->function);
	write_block(p, MERIDIAN_SELF_TEST_QUEUES,
		    FIELD_PREP(MERIDIAN_SELF_TEST_QUEUES_FIRST_MASK, m->queue_base) |
		    FIELD_PREP(MERIDIAN_SELF_TEST_QUEUES_COUNT_MASK, m->channels));
	write_block(p, MERIDIAN_SELF_TEST_INTERVAL, 0);
	write_block(p, MERIDIAN_SELF_TEST_RATE, 0);
	write_block(p, MERIDIAN_SELF_TEST_BURST, 0);
	write_block(p, MERIDIAN_SELF_TEST_FRAMES, p->batch);
	write_address(p, MERIDIAN_SELF_TEST_DESTINATION_LOW, meridian_loop_header.h_dest);
	write_address(p, MERIDIAN_SELF_TEST_SOURCE_LOW, meridian_loop_header.h_source);
	p->run = FIELD_GET(MERIDIAN_SELF_TEST_STATUS_RUN_MASK, status_of(p));
}

/*
 * Looks at the batch once; @count: frames that came or went. Return: -EINPROGRESS if it goes on.
 * What is shown may be of the run before, until the number changes.
 */
static int inspect(struct meridian_pattern *p, u64 *count)
{
	u32 status = status_of(p), refusal, end;
	u64 back;

	if (!meridian_present(p->m)) {
		netdev_err(p->m->netdev, "self-test: the card does not answer: look at 'dmesg' and 'lspci -vv'\n");
		return -ENODEV;
	}
	refusal = FIELD_GET(MERIDIAN_SELF_TEST_STATUS_REFUSAL_MASK, status);
	if (refusal)
		return meridian_pattern_refused(p, refusal);
	back = pattern_count(p, MERIDIAN_SELF_TEST_COUNTER_CHECKED_FRAMES);
	*count = pattern_count(p, MERIDIAN_SELF_TEST_COUNTER_SENT_FRAMES) + back;
	if (!is_idle(status) || FIELD_GET(MERIDIAN_SELF_TEST_STATUS_RUN_MASK, status) == p->run)
		return -EINPROGRESS;
	end = FIELD_GET(MERIDIAN_SELF_TEST_STATUS_END_MASK, status);
	if (end != MERIDIAN_SELF_TEST_END_COMPLETE)
		return meridian_pattern_ended(p, end);
	if (back < p->batch)
		return -EINPROGRESS;
	return 0;
}

static int wait_for_batch(struct meridian_pattern *p)
{
	ktime_t start = ktime_get(), last = start, now;
	u64 count = 0, before = 0;
	int error;

	for (;;) {
		error = inspect(p, &count);
		if (error != -EINPROGRESS)
			return error ? error : meridian_pattern_judge(p);
		if (signal_pending(current))
			return -EINTR;
		now = ktime_get();
		if (count != before)
			last = now;
		before = count;
		if (ktime_ms_delta(now, last) > SILENT_MSECS ||
		    ktime_ms_delta(now, start) > BATCH_MSECS)
			return meridian_pattern_timed_out(p);
		usleep_range(50, 100);
	}
}

static int run_batch(struct meridian_pattern *p)
{
	int error;

	write_sizes(p);
	write_block(p, MERIDIAN_SELF_TEST_COMMAND, MERIDIAN_SELF_TEST_COMMAND_START_MASK);
	error = wait_for_batch(p);
	if (error)
		return error;
	p->run = FIELD_GET(MERIDIAN_SELF_TEST_STATUS_RUN_MASK, status_of(p));
	p->batches++;
	p->frames += p->batch;
	p->bytes += pattern_count(p, MERIDIAN_SELF_TEST_COUNTER_CHECKED_BYTES);
	return 0;
}

/**
 * meridian_take_traffic() - have the interface to oneself for a test
 * @m: a function that is up; under RTNL
 *
 * No frame of the stack goes or waits in a ring, and Linux's watchdog does not look.
 *
 * Context: May sleep.
 */
void meridian_take_traffic(struct meridian *m)
{
	netif_device_detach(m->netdev);
	clear_bit(MERIDIAN_FLAG_UP, &m->flags);
	synchronize_net();
	netif_tx_disable(m->netdev);
	meridian_drain_tx(m);
}

/**
 * meridian_give_traffic_back() - undo meridian_take_traffic()
 * @m: the function; under RTNL
 *
 * Context: Does not sleep.
 */
void meridian_give_traffic_back(struct meridian *m)
{
	set_bit(MERIDIAN_FLAG_UP, &m->flags);
	if (!test_bit(MERIDIAN_FLAG_GONE, &m->flags))
		netif_device_attach(m->netdev);
	/* Linux may have changed its address lists meanwhile. */
	schedule_work(&m->rx_mode);
}

static void set_loop(struct meridian *m, bool on)
{
	unsigned int i;

	for (i = 0; i < m->channels; i++)
		WRITE_ONCE(m->channel[i].rx.is_looped, on);
	/* Polls that are under way may still use the old value. */
	synchronize_net();
}

/* The checker takes frames until none is under way any more, so that none gets to the wire. */
static void end_block(struct meridian_pattern *p)
{
	unsigned int i;

	write_block(p, MERIDIAN_SELF_TEST_COMMAND, MERIDIAN_SELF_TEST_COMMAND_STOP_MASK);
	for (i = 0; i < END_MSECS && meridian_present(p->m); i++) {
		if (is_idle(status_of(p)) &&
		    pattern_count(p, MERIDIAN_SELF_TEST_COUNTER_CHECKED_FRAMES) >=
		    pattern_count(p, MERIDIAN_SELF_TEST_COUNTER_SENT_FRAMES))
			break;
		usleep_range(1000, 1500);
	}
	set_loop(p->m, false);
	meridian_drain_tx(p->m);
	write_block(p, MERIDIAN_SELF_TEST_COMMAND, MERIDIAN_SELF_TEST_COMMAND_OFF_MASK);
	write_block(p, MERIDIAN_SELF_TEST_MODE, 0);
	write_block(p, MERIDIAN_SELF_TEST_FRAMES, 0);
}

static int run(struct meridian_pattern *p)
{
	struct net_device *netdev = p->m->netdev;
	ktime_t start = ktime_get();
	s64 msecs = 0;
	int error = 0;

	write_settings(p);
	set_loop(p->m, true);
	while (!error && p->bytes < PATTERN_BYTES && msecs < PATTERN_MSECS) {
		error = run_batch(p);
		msecs = ktime_ms_delta(ktime_get(), start);
	}
	if (meridian_pattern_is_fault(error))
		meridian_pattern_note(p);
	end_block(p);
	if (error == -EINTR)
		netdev_info(netdev, "self-test: a signal has ended the pattern\n");
	if (!error)
		netdev_info(netdev, "self-test: %llu bytes in %llu frames of %u to %u bytes went each way through %u queues in %lld ms, all good\n",
			    p->bytes, p->frames, ETH_ZLEN, p->largest, p->m->channels, msecs);
	return error;
}

/**
 * meridian_test_pattern() - a pattern by DMA both ways through every queue; takes traffic away
 * @m: a PF whose card has the block; under RTNL
 *
 * Says in a sentence what it has found. Its frames count as received and sent by the interface, and
 * in no counter of the card but those of the block.
 *
 * Context: May sleep.
 * Return: 0; MERIDIAN_LEFT_OUT because of XDP; a negative error.
 */
int meridian_test_pattern(struct meridian *m)
{
	struct meridian_pattern p = { .m = m };
	int error;

	if (!test_bit(MERIDIAN_FLAG_UP, &m->flags)) {
		netdev_err(m->netdev, "self-test: the interface is down: set it up, then try again\n");
		return -ENETDOWN;
	}
	if (m->xdp || !bitmap_empty(m->xsk_queues, MERIDIAN_QUEUES)) {
		netdev_info(m->netdev, "self-test: the pattern is left out, as XDP or AF_XDP has the queues: detach it, then try again\n");
		return MERIDIAN_LEFT_OUT;
	}
	/* Frames from the wire need room in the rings, too. Each queue gets a frame. */
	p.batch = min3(m->config.rx_slots / 2, m->config.tx_slots / 2, (u32)BATCH_FRAMES);
	p.batch = max(p.batch, m->channels);
	p.largest = min_t(u32, max_t(u32, m->netdev->mtu + ETH_HLEN, ETH_ZLEN), m->max_frame);
	mutex_lock(&one_at_a_time);
	/* A test of somebody else keeps its settings. */
	if (meridian_present(m) && !is_idle(status_of(&p))) {
		error = meridian_pattern_refused(&p, MERIDIAN_SELF_TEST_REFUSAL_RUNNING);
	} else {
		meridian_take_traffic(m);
		error = run(&p);
		meridian_give_traffic_back(m);
	}
	mutex_unlock(&one_at_a_time);
	return error;
}
