// SPDX-License-Identifier: GPL-2.0-only
/*
 * A card that was reset, or whose logic was loaded anew, runs its clock at the nominal frequency
 * and has no pins on. It is noticed whether a port is up or not, and told all of it again; the
 * time itself is lost.
 */
#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define PERIOD	(HZ / 4)

static u64 read_increment(struct meridian_ps *card)
{
	return (u64)meridian_ps_ptp_read(card, MERIDIAN_PTP_INCREMENT_NANOSECONDS) << 32 |
	       meridian_ps_ptp_read(card, MERIDIAN_PTP_INCREMENT_FRACTION);
}

/* Whether the clock has other settings than it was told; under its command lock. */
static bool is_another(struct meridian_ps *card)
{
	u32 edges = MERIDIAN_PTP_EXTTS_RISING_MASK | MERIDIAN_PTP_EXTTS_FALLING_MASK;

	return read_increment(card) != card->ptp.increment ||
	       meridian_ps_ptp_read(card, MERIDIAN_PTP_PPS) != card->ptp.pps ||
	       meridian_ps_ptp_read(card, MERIDIAN_PTP_EVENT_ENABLE) != card->ptp.events ||
	       (meridian_ps_ptp_read(card, MERIDIAN_PTP_EXTTS) & edges) != card->ptp.extts ||
	       !(meridian_ps_ptp_read(card, MERIDIAN_PTP_PEROUT) &
		 MERIDIAN_PTP_PEROUT_ENABLE_MASK) != !card->ptp.perout.period;
}

/**
 * meridian_ps_check_clock() - tell a clock that was reset its frequency and pins again
 * @card: whose
 *
 * Context: May sleep.
 */
void meridian_ps_check_clock(struct meridian_ps *card)
{
	bool was_reset;

	if (!meridian_ps_present(card))
		return;
	/* A clock that has its first settings does not show that the card was reset. */
	meridian_ps_restore_box(card);
	mutex_lock(&card->ptp.command);
	/* A card that has gone meanwhile reads as another, too. */
	was_reset = is_another(card) && meridian_ps_present(card);
	mutex_unlock(&card->ptp.command);
	if (!was_reset)
		return;
	dev_warn(card->dev, "the clock was reset: its frequency and pins are set again\n");
	meridian_ps_restore_ptp(card);
}

static void do_watch(struct work_struct *work)
{
	struct meridian_ps *card = container_of(work, struct meridian_ps, watch.work);

	meridian_ps_check_clock(card);
	meridian_ps_start_watch(card);
}

/**
 * meridian_ps_start_watch() - look after the clock from now on
 * @card: whose
 *
 * Context: Does not sleep.
 */
void meridian_ps_start_watch(struct meridian_ps *card)
{
	schedule_delayed_work(&card->watch, PERIOD);
}

static void stop(void *data)
{
	struct meridian_ps *card = data;

	cancel_delayed_work_sync(&card->watch);
}

/**
 * meridian_ps_init_watch() - make the work that looks after the clock, and start it
 * @card: whose clock is there
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_init_watch(struct meridian_ps *card)
{
	INIT_DELAYED_WORK(&card->watch, do_watch);
	meridian_ps_start_watch(card);
	return devm_add_action_or_reset(card->dev, stop, card);
}
