// SPDX-License-Identifier: GPL-2.0-only
/* Errors of the card's IP: they are kept for devlink, told to the log, and repaired if fatal. */
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_fault.h"
#include "meridian_function.h"

#define ERRORS_PERIOD	(HZ / 4)

static void add(struct qdma_errors *sum, const struct qdma_errors *errors)
{
	sum->summary |= errors->summary;
	sum->descriptor |= errors->descriptor;
	sum->doorbell |= errors->doorbell;
	sum->c2h |= errors->c2h;
	sum->c2h_fatal |= errors->c2h_fatal;
	sum->h2c |= errors->h2c;
}

/* Returns how many of the kind the log is to tell of, with all their bits; 0: nothing now. */
static u32 note(struct meridian_card *card, const struct qdma_errors *errors,
		struct qdma_errors *line)
{
	bool is_fatal = qdma_errors_fatal(errors);
	u32 count;

	card->errors = *errors;
	add(&card->errors_untold[is_fatal], errors);
	count = meridian_tell(&card->errors_told[is_fatal], 1);
	if (count) {
		*line = card->errors_untold[is_fatal];
		memset(&card->errors_untold[is_fatal], 0, sizeof(*line));
	}
	return count;
}

/*
 * A VF makes errors as often as it likes, by rings and doorbells that no driver would have. They do
 * not keep a fatal one from the log, nor the bits of others.
 */
static void take(struct meridian *m)
{
	struct qdma_errors errors = {}, line = {};
	u32 count = 0;

	m->errors_next = jiffies + ERRORS_PERIOD;
	mutex_lock(&m->card->lock);
	if (m->card->error_function == m)
		qdma_take_errors(&m->qdma, &errors);
	if (errors.summary)
		count = note(m->card, &errors, &line);
	mutex_unlock(&m->card->lock);
	if (count)
		netdev_warn(m->netdev,
			    "QDMA errors %#x: descriptor %#x doorbell %#x c2h %#x fatal %#x h2c %#x (%u left out before)\n",
			    line.summary, line.descriptor, line.doorbell, line.c2h, line.c2h_fatal,
			    line.h2c, count - 1);
	if (qdma_errors_fatal(&errors))
		meridian_report(m, MERIDIAN_FAULT_QDMA, 0);
}

/**
 * meridian_begin_errors() - errors are taken from now on
 * @m: a PF
 *
 * Context: Does not sleep.
 */
void meridian_begin_errors(struct meridian *m)
{
	m->errors_next = jiffies;
}

/**
 * meridian_take_errors() - take the card's errors, now or by meridian_take_late_errors()
 * @m: a PF whose interrupt may be for them
 *
 * Until they are taken, no further error interrupts.
 *
 * Context: May sleep.
 */
void meridian_take_errors(struct meridian *m)
{
	if (time_before(jiffies, m->errors_next))
		set_bit(MERIDIAN_FLAG_ERRORS, &m->flags);
	else
		take(m);
}

/**
 * meridian_take_late_errors() - take what meridian_take_errors() has left
 * @m: a PF
 *
 * Context: May sleep.
 */
void meridian_take_late_errors(struct meridian *m)
{
	if (test_and_clear_bit(MERIDIAN_FLAG_ERRORS, &m->flags))
		take(m);
}
