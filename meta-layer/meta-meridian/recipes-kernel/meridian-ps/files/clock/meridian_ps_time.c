// SPDX-License-Identifier: GPL-2.0-only
/* The time of the card's clock, as the card latches it for whoever reads it. */
#include "meridian_ps_compat.h"
#include "meridian_ps.h"
#include "meridian_ps_time.h"

void meridian_ps_clock_command(struct meridian_ps *card, u32 mask)
{
	meridian_ps_ptp_write(card, MERIDIAN_PTP_COMMAND, mask);
}

void meridian_ps_latched_seconds(struct meridian_ps *card, struct timespec64 *latched)
{
	u64 high = meridian_ps_ptp_read(card, MERIDIAN_PTP_TIME_SECONDS_HIGH);

	latched->tv_sec = high << 32 | meridian_ps_ptp_read(card, MERIDIAN_PTP_TIME_SECONDS_LOW);
}

/**
 * meridian_ps_latch_time() - read the clock, under the lock of the latch
 * @card: whose
 * @now: its time
 * @system: the system's before and after, or NULL
 *
 * Context: Does not sleep.
 */
void meridian_ps_latch_time(struct meridian_ps *card, struct timespec64 *now,
			    struct ptp_system_timestamp *system)
{
	ptp_read_system_prets(system);
	meridian_ps_clock_command(card, MERIDIAN_PTP_COMMAND_LATCH_MASK);
	/* The command is at the clock when what is read behind it has come. */
	now->tv_nsec = meridian_ps_ptp_read(card, MERIDIAN_PTP_TIME_NANOSECONDS);
	ptp_read_system_postts(system);
	meridian_ps_latched_seconds(card, now);
}

/**
 * meridian_ps_time() - read the clock
 * @card: whose
 * @now: its time
 * @system: the system's before and after, or NULL
 *
 * Context: Does not sleep.
 */
void meridian_ps_time(struct meridian_ps *card, struct timespec64 *now,
		      struct ptp_system_timestamp *system)
{
	unsigned long flags;

	spin_lock_irqsave(&card->ptp.latch, flags);
	meridian_ps_latch_time(card, now, system);
	spin_unlock_irqrestore(&card->ptp.latch, flags);
}
