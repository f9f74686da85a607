/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Runs of the generators and checkers at the MACs, for Linux's drivers on both sides of the card. A
 * run is several batches of frames.
 */
#ifndef MERIDIAN_PORT_RUN_H
#define MERIDIAN_PORT_RUN_H

#include <linux/bitfield.h>
#include <linux/etherdevice.h>
#include <linux/kernel.h>
#include <linux/ktime.h>

#include "meridian_regs.h"

/* Frames without FCS; behind the largest that all networks with jumbo frames know. */
#define MERIDIAN_PORT_LARGEST		9596u
/* Each way is tested for so long, in batches that grow until one takes BATCH_LEAST_MSECS. */
#define MERIDIAN_PORT_RUN_MSECS		250
#define MERIDIAN_PORT_BATCH_FIRST	64
#define MERIDIAN_PORT_BATCH_MOST	65536
#define MERIDIAN_PORT_BATCH_LEAST_MSECS	100
/* Bound of a batch; a slow card needs seconds. */
#define MERIDIAN_PORT_BATCH_MSECS	10000
/* The checker waits for frames that are under way. */
#define MERIDIAN_PORT_PATIENCE_USECS	100

/**
 * struct meridian_port_loop - the way by which frames come back
 * @name: as docs/selftest.md has it
 * @mode: of the transceiver; 0 for a loop plug or a cable
 */
struct meridian_port_loop {
	const char *name;
	u32 mode;
};

/**
 * meridian_port_loop() - the loops of a transceiver
 * @index: from 0 on
 *
 * Return: the loop; NULL behind the last.
 */
static inline const struct meridian_port_loop *meridian_port_loop(unsigned int index)
{
	static const struct meridian_port_loop loops[] = {
		{ "near-pcs", 1 },
		{ "near-pma", 2 },
	};

	return index < ARRAY_SIZE(loops) ? &loops[index] : NULL;
}

/**
 * struct meridian_port_end - a port that sends and checks frames
 * @netdev: says what is wrong
 * @port: its number
 * @base: of its registers; MERIDIAN_PORT_TEST_BASE() or MERIDIAN_PORT_TEST_PS_BASE()
 * @card: what the functions are given
 * @is_present: whether the card answers
 * @write: sets a register
 * @count: reads a counter
 * @resets: whose reset takes the settings of the test
 */
struct meridian_port_end {
	struct net_device *netdev;
	u32 port;
	u32 base;
	void *card;
	bool (*is_present)(void *card);
	void (*write)(void *card, u32 offset, u32 value);
	u64 (*count)(void *card, u32 offset);
	const char *resets;
};

/**
 * struct meridian_port_run - a run that is under way
 * @largest: bytes of the largest frame
 * @label: of the frames of this batch
 * @batch: frames that a port sends in this batch
 * @batches: that were good
 * @frames: of these, of all ports
 * @bytes: of these
 */
struct meridian_port_run {
	u32 largest;
	u32 label;
	u32 batch;
	u32 batches;
	u64 frames;
	u64 bytes;
};

static inline void meridian_port_write(const struct meridian_port_end *end, u32 offset, u32 value)
{
	end->write(end->card, end->base + offset, value);
}

/* A counter of the last batch; MERIDIAN_PORT_TEST_COUNTER_*. */
static inline u64 meridian_port_count(const struct meridian_port_end *end, u32 counter)
{
	return end->count(end->card, end->base + counter);
}

/**
 * meridian_port_next_label() - have another label, as frames of the last batch may come yet
 * @run: the run
 */
static inline void meridian_port_next_label(struct meridian_port_run *run)
{
	run->label = (run->label + 1) & MERIDIAN_PORT_TEST_RUN_LABEL_MASK;
	if (!run->label)
		run->label = 1;
}

/**
 * meridian_port_start() - start a batch at one port
 * @run: the run
 * @end: the port
 * @mode: MERIDIAN_PORT_TEST_MODE_*; it is forced, as the driver has seen to it who uses the port
 * @patience: microseconds for which the checker waits for frames
 *
 * Sizes of a batch go from small to large; the batches together have every size.
 */
static inline void meridian_port_start(const struct meridian_port_run *run,
				       const struct meridian_port_end *end, u32 mode, u32 patience)
{
	/* No station has it. */
	static const u8 to[ETH_ALEN] = { 0x02, 0x4d, 0x52, 0x44, 0xff, 0xfe };
	u32 range = run->largest - ETH_ZLEN, step = range / run->batch + 1;

	meridian_port_write(end, MERIDIAN_PORT_TEST_SIZE,
			    FIELD_PREP(MERIDIAN_PORT_TEST_SIZE_FIRST_MASK,
				       ETH_ZLEN + run->batches % min(step, range + 1)) |
			    FIELD_PREP(MERIDIAN_PORT_TEST_SIZE_LAST_MASK, run->largest));
	meridian_port_write(end, MERIDIAN_PORT_TEST_SIZE_STEP, step);
	meridian_port_write(end, MERIDIAN_PORT_TEST_INTERVAL, 0);
	meridian_port_write(end, MERIDIAN_PORT_TEST_RATE, 0);
	meridian_port_write(end, MERIDIAN_PORT_TEST_FRAMES,
			    mode & MERIDIAN_PORT_TEST_MODE_GENERATE_MASK ? run->batch : 0);
	meridian_port_write(end, MERIDIAN_PORT_TEST_RUN,
			    FIELD_PREP(MERIDIAN_PORT_TEST_RUN_LABEL_MASK, run->label) |
			    FIELD_PREP(MERIDIAN_PORT_TEST_RUN_PATIENCE_MASK, patience));
	meridian_port_write(end, MERIDIAN_PORT_TEST_DESTINATION_LOW,
			    to[0] | to[1] << 8 | to[2] << 16 | (u32)to[3] << 24);
	meridian_port_write(end, MERIDIAN_PORT_TEST_DESTINATION_HIGH, to[4] | to[5] << 8);
	meridian_port_write(end, MERIDIAN_PORT_TEST_MODE,
			    mode | MERIDIAN_PORT_TEST_MODE_FORCE_MASK);
	meridian_port_write(end, MERIDIAN_PORT_TEST_COMMAND, MERIDIAN_PORT_TEST_COMMAND_START_MASK);
}

/**
 * meridian_port_add() - count the frames of a batch that was good
 * @run: the run
 * @end: one of its ports
 */
static inline void meridian_port_add(struct meridian_port_run *run,
				     const struct meridian_port_end *end)
{
	run->frames += run->batch;
	run->bytes += meridian_port_count(end, MERIDIAN_PORT_TEST_COUNTER_RECEIVED_BYTES);
}

/**
 * meridian_port_run() - have batches go for a quarter of a second
 * @run: the run
 * @batch: has one go, compares its frames, and returns 0 or what is wrong
 * @test: its argument
 *
 * Return: what the last batch has returned.
 */
static inline int meridian_port_run(struct meridian_port_run *run, int (*batch)(void *test),
				    void *test)
{
	ktime_t start = ktime_get(), now = start, before;
	int error = 0;

	run->batch = MERIDIAN_PORT_BATCH_FIRST;
	while (!error && ktime_ms_delta(now, start) < MERIDIAN_PORT_RUN_MSECS) {
		before = now;
		error = batch(test);
		if (!error)
			run->batches++;
		now = ktime_get();
		if (ktime_ms_delta(now, before) < MERIDIAN_PORT_BATCH_LEAST_MSECS)
			run->batch = min(4 * run->batch, (u32)MERIDIAN_PORT_BATCH_MOST);
	}
	return error;
}

#endif
