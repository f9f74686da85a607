// SPDX-License-Identifier: GPL-2.0-only
/* What hangs on the clock: pulse per second, periodic output, external timestamps. */
#include <linux/interrupt.h>
#include <linux/math64.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define EDGE_CYCLES	16	/* an output stays high, and low, for as many or more */
#define HEADSTART	(10 * NSEC_PER_MSEC)	/* between arming an output and its first edge */
#define EXTTS_FIFO	8

/* Each has one use. */
const struct ptp_pin_desc meridian_ps_pins[MERIDIAN_PS_PINS] = {
	{ .name = "extts", .index = 0, .func = PTP_PF_EXTTS, .chan = 0 },
	{ .name = "perout", .index = 1, .func = PTP_PF_PEROUT, .chan = 0 },
};

/**
 * meridian_ps_verify_pin() - look whether a pin can be what somebody wants
 * @info: of the clock
 * @pin: index
 * @function: wanted
 * @channel: of the function
 *
 * Context: Does not sleep.
 * Return: 0 if it is that anyway, else -EOPNOTSUPP.
 */
int meridian_ps_verify_pin(struct ptp_clock_info *info, unsigned int pin,
			   enum ptp_pin_function function, unsigned int channel)
{
	if (function != meridian_ps_pins[pin].func || channel != meridian_ps_pins[pin].chan)
		return -EOPNOTSUPP;
	return 0;
}

static void write_events(struct meridian_ps *card, u32 mask, bool on)
{
	struct meridian_ps_ptp *ptp = &card->ptp;

	if (on) {
		WRITE_ONCE(ptp->events, ptp->events | mask);
		meridian_ps_ptp_write(card, MERIDIAN_PTP_EVENT_ENABLE, ptp->events);
		return;
	}
	/* The handler answers for an event as long as the card may raise it. */
	meridian_ps_ptp_write(card, MERIDIAN_PTP_EVENT_ENABLE, ptp->events & ~mask);
	meridian_ps_ptp_read(card, MERIDIAN_PTP_EVENT_ENABLE);
	WRITE_ONCE(ptp->events, ptp->events & ~mask);
	synchronize_irq(card->irq);
}

static void write_span(struct meridian_ps *card, u32 seconds, u32 nanoseconds, u64 span)
{
	u32 rest;

	meridian_ps_ptp_write(card, seconds, div_u64_rem(span, NSEC_PER_SEC, &rest));
	meridian_ps_ptp_write(card, nanoseconds, rest);
}

static void arm_perout(struct meridian_ps *card, u64 start)
{
	u64 seconds;
	u32 rest;

	seconds = div_u64_rem(start, NSEC_PER_SEC, &rest);
	meridian_ps_ptp_write(card, MERIDIAN_PTP_PEROUT, 0);
	meridian_ps_ptp_write(card, MERIDIAN_PTP_PEROUT_START_SECONDS_HIGH, upper_32_bits(seconds));
	meridian_ps_ptp_write(card, MERIDIAN_PTP_PEROUT_START_SECONDS_LOW, lower_32_bits(seconds));
	meridian_ps_ptp_write(card, MERIDIAN_PTP_PEROUT_START_NANOSECONDS, rest);
	write_span(card, MERIDIAN_PTP_PEROUT_PERIOD_SECONDS,
		   MERIDIAN_PTP_PEROUT_PERIOD_NANOSECONDS, card->ptp.perout.period);
	write_span(card, MERIDIAN_PTP_PEROUT_WIDTH_SECONDS,
		   MERIDIAN_PTP_PEROUT_WIDTH_NANOSECONDS, card->ptp.perout.width);
	meridian_ps_ptp_write(card, MERIDIAN_PTP_PEROUT, MERIDIAN_PTP_PEROUT_ENABLE_MASK);
}

static u64 soon(struct meridian_ps *card)
{
	struct timespec64 now;

	meridian_ps_time(card, &now, NULL);
	return timespec64_to_ns(&now) + HEADSTART;
}

/**
 * meridian_ps_restart_perout() - arm the periodic output again, as a step of the clock ends it
 * @card: whose clock was set or adjusted, under its command lock
 *
 * Its edges keep their phase.
 *
 * Context: Does not sleep.
 */
void meridian_ps_restart_perout(struct meridian_ps *card)
{
	u64 period = card->ptp.perout.period, from, phase, first;

	if (!period)
		return;
	div64_u64_rem(card->ptp.perout.start, period, &phase);
	from = soon(card);
	first = phase;
	if (first < from)
		first += DIV64_U64_ROUND_UP(from - first, period) * period;
	arm_perout(card, first);
}

static int enable_perout(struct meridian_ps *card, const struct ptp_perout_request *request, int on)
{
	struct meridian_ps_ptp *ptp = &card->ptp;
	u64 period, start, width, edge;

	if (!on) {
		ptp->perout.period = 0;
		meridian_ps_ptp_write(card, MERIDIAN_PTP_PEROUT, 0);
		return 0;
	}
	if (request->index || request->flags & ~(PTP_PEROUT_DUTY_CYCLE | PTP_PEROUT_PHASE))
		return -EOPNOTSUPP;
	if (request->period.sec < 0 || request->period.sec > U32_MAX ||
	    request->start.sec < 0 || request->start.sec > KTIME_SEC_MAX)
		return -ERANGE;
	edge = (EDGE_CYCLES * ptp->nominal + U32_MAX) >> 32;
	period = request->period.sec * NSEC_PER_SEC + request->period.nsec;
	start = request->start.sec * NSEC_PER_SEC + request->start.nsec;
	width = period / 2;
	if (request->flags & PTP_PEROUT_DUTY_CYCLE)
		width = request->on.sec * NSEC_PER_SEC + request->on.nsec;
	if (period < 2 * edge || width < edge || width > period - edge)
		return -ERANGE;
	ptp->perout.start = start;
	ptp->perout.period = period;
	ptp->perout.width = width;
	/* A start that is past would give all edges since then at once. */
	if (request->flags & PTP_PEROUT_PHASE || start < soon(card))
		meridian_ps_restart_perout(card);
	else
		arm_perout(card, start);
	return 0;
}

static bool is_stamped(struct meridian_ps *card)
{
	return meridian_ps_ptp_read(card, MERIDIAN_PTP_STATUS) & MERIDIAN_PTP_STATUS_STAMPED_MASK;
}

/* Edges that nobody waits for any more are not to be told to who asks next. */
static void drop_stamps(struct meridian_ps *card)
{
	unsigned int i;

	meridian_ps_ptp_write(card, MERIDIAN_PTP_EXTTS, 0);
	/* One that came just before may be on its way. */
	for (i = 0; i < 2 * EXTTS_FIFO && is_stamped(card); i++)
		meridian_ps_ptp_write(card, MERIDIAN_PTP_COMMAND, MERIDIAN_PTP_COMMAND_POP_MASK);
}

static int enable_extts(struct meridian_ps *card, const struct ptp_extts_request *request, int on)
{
	struct meridian_ps_ptp *ptp = &card->ptp;
	u32 edges = 0;

	if (request->index || request->flags & ~(PTP_ENABLE_FEATURE | PTP_EXTTS_EDGES |
						 PTP_STRICT_FLAGS))
		return -EOPNOTSUPP;
	if (on && request->flags & PTP_RISING_EDGE)
		edges |= MERIDIAN_PTP_EXTTS_RISING_MASK;
	if (on && request->flags & PTP_FALLING_EDGE)
		edges |= MERIDIAN_PTP_EXTTS_FALLING_MASK;
	/* Who does not say wants one of them. */
	if (on && !edges)
		edges = MERIDIAN_PTP_EXTTS_RISING_MASK;
	if (!on || !ptp->extts) {
		write_events(card, MERIDIAN_PTP_EVENT_ENABLE_STAMPED_ENABLE_MASK, false);
		drop_stamps(card);
	}
	ptp->extts = edges;
	meridian_ps_ptp_write(card, MERIDIAN_PTP_EXTTS, edges);
	if (on)
		write_events(card, MERIDIAN_PTP_EVENT_ENABLE_STAMPED_ENABLE_MASK, true);
	return 0;
}

static int enable_pps(struct meridian_ps *card, int on)
{
	struct meridian_ps_ptp *ptp = &card->ptp;

	if (on)
		ptp->pps |= MERIDIAN_PTP_PPS_ENABLE_MASK;
	else
		ptp->pps &= ~MERIDIAN_PTP_PPS_ENABLE_MASK;
	meridian_ps_ptp_write(card, MERIDIAN_PTP_PPS, ptp->pps);
	meridian_ps_ptp_write(card, MERIDIAN_PTP_EVENT, MERIDIAN_PTP_EVENT_SECOND_MASK);
	write_events(card, MERIDIAN_PTP_EVENT_ENABLE_SECOND_ENABLE_MASK, on);
	return 0;
}

/**
 * meridian_ps_enable_pins() - switch on or off what hangs on the clock
 * @card: whose, under its command lock
 * @request: what
 * @on: or off
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_enable_pins(struct meridian_ps *card, const struct ptp_clock_request *request,
			    int on)
{
	switch (request->type) {
	case PTP_CLK_REQ_EXTTS:
		return enable_extts(card, &request->extts, on);
	case PTP_CLK_REQ_PEROUT:
		return enable_perout(card, &request->perout, on);
	case PTP_CLK_REQ_PPS:
		return enable_pps(card, on);
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * meridian_ps_write_pins() - tell the card all of it again
 * @card: that was reset, under its command lock
 *
 * Context: Does not sleep.
 */
void meridian_ps_write_pins(struct meridian_ps *card)
{
	meridian_ps_ptp_write(card, MERIDIAN_PTP_PPS, card->ptp.pps);
	meridian_ps_ptp_write(card, MERIDIAN_PTP_EXTTS, card->ptp.extts);
	meridian_ps_restart_perout(card);
	meridian_ps_ptp_write(card, MERIDIAN_PTP_EVENT_ENABLE, card->ptp.events);
}

/**
 * meridian_ps_close_pins() - switch all of it off
 * @card: whose clock nobody can reach
 *
 * Context: Does not sleep.
 */
void meridian_ps_close_pins(struct meridian_ps *card)
{
	WRITE_ONCE(card->ptp.events, 0);
	meridian_ps_ptp_write(card, MERIDIAN_PTP_EVENT_ENABLE, 0);
	card->ptp.pps &= ~MERIDIAN_PTP_PPS_ENABLE_MASK;
	meridian_ps_ptp_write(card, MERIDIAN_PTP_PPS, card->ptp.pps);
	meridian_ps_ptp_write(card, MERIDIAN_PTP_PEROUT, 0);
	drop_stamps(card);
}

static void take_pulse(struct meridian_ps *card)
{
	struct ptp_clock_event event = { .type = PTP_CLOCK_PPS };

	meridian_ps_ptp_write(card, MERIDIAN_PTP_EVENT, MERIDIAN_PTP_EVENT_SECOND_MASK);
	/* The write is posted: until it is there, the level raises one more of nobody. */
	meridian_ps_ptp_read(card, MERIDIAN_PTP_EVENT);
	ptp_clock_event(card->ptp.clock, &event);
}

static bool take_stamp(struct meridian_ps *card)
{
	struct ptp_clock_event event = { .type = PTP_CLOCK_EXTTS };
	u64 high;

	if (!is_stamped(card))
		return false;
	high = meridian_ps_ptp_read(card, MERIDIAN_PTP_EXTTS_SECONDS_HIGH);
	event.timestamp = (high << 32 |
			   meridian_ps_ptp_read(card, MERIDIAN_PTP_EXTTS_SECONDS_LOW)) *
			  NSEC_PER_SEC + meridian_ps_ptp_read(card, MERIDIAN_PTP_EXTTS_NANOSECONDS);
	meridian_ps_ptp_write(card, MERIDIAN_PTP_COMMAND, MERIDIAN_PTP_COMMAND_POP_MASK);
	ptp_clock_event(card->ptp.clock, &event);
	return true;
}

/**
 * meridian_ps_ptp_interrupt() - the clock's part of the card's interrupt
 * @card: whose
 *
 * Context: Does not sleep.
 * Return: whether it had a part in it.
 */
bool meridian_ps_ptp_interrupt(struct meridian_ps *card)
{
	u32 events = READ_ONCE(card->ptp.events);
	unsigned int stamps = 0;
	bool is_ours = false;

	if (events & MERIDIAN_PTP_EVENT_ENABLE_SECOND_ENABLE_MASK &&
	    meridian_ps_ptp_read(card, MERIDIAN_PTP_EVENT) & MERIDIAN_PTP_EVENT_SECOND_MASK) {
		take_pulse(card);
		is_ours = true;
	}
	if (events & MERIDIAN_PTP_EVENT_ENABLE_STAMPED_ENABLE_MASK) {
		/* What comes meanwhile raises the interrupt again. */
		while (stamps < EXTTS_FIFO && take_stamp(card))
			stamps++;
	}
	return is_ours || stamps;
}

/**
 * meridian_ps_mask_events() - mask what the clock raises and nobody asked for
 * @card: whose
 *
 * Context: Does not sleep.
 * Return: whether there was something.
 */
bool meridian_ps_mask_events(struct meridian_ps *card)
{
	u32 enabled = meridian_ps_ptp_read(card, MERIDIAN_PTP_EVENT_ENABLE);
	/* Read second: an event is asked for before it is enabled. */
	u32 events = READ_ONCE(card->ptp.events);

	if (!(enabled & ~events))
		return false;
	meridian_ps_ptp_write(card, MERIDIAN_PTP_EVENT_ENABLE, enabled & events);
	return true;
}
