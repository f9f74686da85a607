/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of the log that others than the administrator bring about: one a minute of each kind. */
#ifndef MERIDIAN_TOLD_H
#define MERIDIAN_TOLD_H

#include <linux/jiffies.h>

#define MERIDIAN_TELL_PERIOD	(60 * HZ)

/**
 * struct meridian_told - lines of one kind
 * @last: get_jiffies_64() at the last one, made odd, as 32 bits come again; 0: there was none
 * @count: what the next one has to tell
 */
struct meridian_told {
	u64 last;
	u32 count;
};

/**
 * meridian_tell() - whether the log gets another line of a kind
 * @told: the kind; the caller locks it
 * @count: what has come now
 *
 * Context: Does not sleep.
 * Return: what has come since the last line; 0: none is due, and @count is kept for the next.
 */
static inline u32 meridian_tell(struct meridian_told *told, u32 count)
{
	u64 now = get_jiffies_64();

	told->count += count;
	if (told->last && time_before64(now, told->last + MERIDIAN_TELL_PERIOD))
		return 0;
	count = told->count;
	told->count = 0;
	told->last = now | 1;
	return count;
}

#endif
