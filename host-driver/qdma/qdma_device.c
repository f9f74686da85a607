// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Identification of a function and the card-wide registers, which any PF may write. */
#include "qdma_device.h"

#define H2C_FETCHES		8	/* reads of descriptors under way */
#define C2H_FETCHES		5
#define FETCH_LIMIT		2	/* 32 descriptors a read */
#define STATUS_INTERVAL		3	/* a status entry every 4 << 3 frames */
#define COALESCE_TICKS		25
#define COALESCE_TICK_COUNT	5
#define THROTTLE_REQUESTS	192u
#define THROTTLE_BYTES		24576u

/*
 * Those of the public drivers, as DPDK's and VFs' drivers look for their sizes; receive buffers
 * also have 3072 and 3456 bytes, which leave room in a page of 4 KiB for what Linux wants around
 * them. A ring counts the entry for its status.
 */
const struct qdma_tables qdma_default_tables = {
	.rings = { 2049, 65, 129, 193, 257, 385, 513, 769, 1025, 1537, 3073, 4097, 6145, 8193,
		   12289, 16385 },
	.timers = { 1, 2, 4, 5, 8, 10, 15, 20, 25, 30, 50, 75, 100, 125, 150, 200 },
	.counters = { 2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192 },
	.buffers = { 4096, 256, 512, 1024, 2048, 3968, 3072, 3456, 4096, 4096, 4096, 4096, 4096,
		     8192, 9018, 16384 },
};

/**
 * qdma_answers() - look whether the card answers now
 * @qdma: the function
 *
 * A register of all ones is an answer like another; the identifier never is.
 *
 * Return: false if it does not, as for a moment while the function is reset.
 */
bool qdma_answers(struct qdma_device *qdma)
{
	return qdma_read(qdma, qdma->is_vf ? QDMA_VF_VERSION : QDMA_IDENTIFIER) != QDMA_ALL_ONES;
}

/**
 * qdma_present() - look whether the card answers and has not been given up
 * @qdma: the function
 *
 * One look decides nothing: only qdma_watch() gives a card up.
 *
 * Return: whether it does.
 */
bool qdma_present(struct qdma_device *qdma)
{
	return !qdma->gone && qdma_answers(qdma);
}

/**
 * qdma_watch() - look, at regular intervals, whether the card is to be given up
 * @qdma: the function; one caller at a time, and none while a reset is known to be under way
 *
 * A function level reset lasts 100 ms, others may last longer: intervals of 250 ms leave a second.
 *
 * Return: 0 if the card answers; -EAGAIN if it does not, which may be a reset; -ENODEV at the
 * QDMA_SILENCES-th look in a row without an answer, and from then on until qdma_watch_anew().
 */
int qdma_watch(struct qdma_device *qdma)
{
	if (qdma->gone)
		return -ENODEV;
	if (qdma_answers(qdma)) {
		qdma->silences = 0;
		return 0;
	}
	if (++qdma->silences < QDMA_SILENCES)
		return -EAGAIN;
	qdma->gone = true;
	return -ENODEV;
}

/**
 * qdma_watch_anew() - a card that was given up gets another chance, as after a reset
 * @qdma: the function
 */
void qdma_watch_anew(struct qdma_device *qdma)
{
	qdma->gone = false;
	qdma->silences = 0;
}

/**
 * qdma_identify() - take a PF
 * @qdma: filled in
 * @bar: its BAR0
 *
 * Return: 0; -ENODEV if the card does not answer, -ENXIO if this is no QDMA, -EOPNOTSUPP if it is
 * one without streams.
 */
int qdma_identify(struct qdma_device *qdma, void __iomem *bar)
{
	u32 word;

	memset(qdma, 0, sizeof(*qdma));
	qdma->bar = bar;
	qdma->doorbells = QDMA_PF_DOORBELLS;
	qdma->mailbox = QDMA_PF_MAILBOX;
	if (!qdma_present(qdma))
		return -ENODEV;
	if (qdma_read(qdma, QDMA_IDENTIFIER) >> 16 != QDMA_IDENTIFIER_MAGIC)
		return -ENXIO;
	if ((qdma_read(qdma, QDMA_CHANNEL_STREAM) & QDMA_STREAMS) != QDMA_STREAMS)
		return -EOPNOTSUPP;
	word = qdma_read(qdma, QDMA_MISC_CAPABILITY);
	qdma->ip = word >> 20 & 0xf;
	qdma->has_mailbox = word & 1;
	qdma->has_flr = word >> 1 & 1;
	qdma->function = qdma_read(qdma, QDMA_FUNCTION_NUMBER) & 0xff;
	qdma->queues = qdma_read(qdma, QDMA_CHANNEL_CAPABILITY) & 0xfff;
	return 0;
}

/**
 * qdma_identify_vf() - take a VF
 * @qdma: filled in
 * @bar: its BAR0
 *
 * Return: 0; -ENODEV if the card does not answer, -ENXIO if this is no QDMA.
 */
int qdma_identify_vf(struct qdma_device *qdma, void __iomem *bar)
{
	u32 word;

	memset(qdma, 0, sizeof(*qdma));
	qdma->bar = bar;
	qdma->is_vf = true;
	qdma->doorbells = QDMA_VF_DOORBELLS;
	qdma->mailbox = QDMA_VF_MAILBOX;
	qdma->has_mailbox = true;
	if (!qdma_present(qdma))
		return -ENODEV;
	word = qdma_read(qdma, QDMA_VF_VERSION);
	if (word >> 16 != QDMA_IDENTIFIER_MAGIC)
		return -ENXIO;
	qdma->ip = word >> 4 & 0xf;
	return 0;
}

/**
 * qdma_write_tables() - the tables, and the engines' settings
 * @qdma: a PF that knows its clock; one of a card is enough
 * @tables: kept in the device
 */
void qdma_write_tables(struct qdma_device *qdma, const struct qdma_tables *tables)
{
	u32 cache, depth, i;

	qdma->tables = *tables;
	for (i = 0; i < QDMA_TABLE_ENTRIES; i++) {
		qdma_os_write(qdma->bar, QDMA_RING_SIZE(i), tables->rings[i]);
		qdma_os_write(qdma->bar, QDMA_TIMER(i), tables->timers[i]);
		qdma_os_write(qdma->bar, QDMA_COUNTER(i), tables->counters[i]);
		qdma_os_write(qdma->bar, QDMA_BUFFER_SIZE(i), tables->buffers[i]);
	}
	qdma_os_write(qdma->bar, QDMA_TIMER_TICK, qdma->user_mhz);
	qdma_os_write(qdma->bar, QDMA_DESCRIPTOR_CONFIG,
		      C2H_FETCHES << 20 | H2C_FETCHES << 10 | FETCH_LIMIT << 3 | STATUS_INTERVAL);
	cache = qdma_read(qdma, QDMA_PREFETCH_CACHE) & 0xff;
	if (cache > 4)
		qdma_os_write(qdma->bar, QDMA_PREFETCH_CONFIG_1, (cache - 4) << 16 | (cache - 4));
	qdma_os_write(qdma->bar, QDMA_PREFETCH_CONFIG_2, 1u << 31 | 1024u << 12 | 15u << 6 | 8u);
	depth = qdma_read(qdma, QDMA_COALESCE_DEPTH) & 0x3f;
	qdma_os_write(qdma->bar, QDMA_COALESCE_CONFIG,
		      depth << 26 | COALESCE_TICKS << 14 | COALESCE_TICK_COUNT << 2);
	qdma_os_write(qdma->bar, QDMA_H2C_THROTTLE,
		      1u << 31 | THROTTLE_REQUESTS << 19 | 1u << 18 | THROTTLE_BYTES);
}

/**
 * qdma_check_tables() - whether the card still has the tables that were written
 * @qdma: a PF
 *
 * Return: 0; -EIO if somebody else wrote others, or the writes did not arrive.
 */
int qdma_check_tables(struct qdma_device *qdma)
{
	u32 i;

	if (qdma_read(qdma, QDMA_TIMER_TICK) != qdma->user_mhz)
		return -EIO;
	for (i = 0; i < QDMA_TABLE_ENTRIES; i++) {
		if (qdma_read(qdma, QDMA_RING_SIZE(i)) != qdma->tables.rings[i] ||
		    qdma_read(qdma, QDMA_TIMER(i)) != qdma->tables.timers[i] ||
		    qdma_read(qdma, QDMA_COUNTER(i)) != qdma->tables.counters[i] ||
		    qdma_read(qdma, QDMA_BUFFER_SIZE(i)) != qdma->tables.buffers[i])
			return -EIO;
	}
	return 0;
}

/**
 * qdma_find() - look a value up
 * @table: one of the tables
 * @value: to be found
 *
 * Return: its index, -EINVAL if it is not there.
 */
int qdma_find(const u32 table[QDMA_TABLE_ENTRIES], u32 value)
{
	int i;

	for (i = 0; i < QDMA_TABLE_ENTRIES; i++)
		if (table[i] == value)
			return i;
	return -EINVAL;
}

/**
 * qdma_nearest() - the entry that comes closest
 * @table: one of the tables
 * @value: wanted
 *
 * Return: its index.
 */
int qdma_nearest(const u32 table[QDMA_TABLE_ENTRIES], u32 value)
{
	u32 best_distance = QDMA_ALL_ONES;
	int best = 0, i;

	for (i = 0; i < QDMA_TABLE_ENTRIES; i++) {
		u32 distance = table[i] > value ? table[i] - value : value - table[i];

		if (distance < best_distance) {
			best_distance = distance;
			best = i;
		}
	}
	return best;
}
