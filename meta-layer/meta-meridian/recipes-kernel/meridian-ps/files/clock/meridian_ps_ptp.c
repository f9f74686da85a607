// SPDX-License-Identifier: GPL-2.0-only
/*
 * The card's PTP clock. There is no getcrosststamp: the card cannot latch its clock and one of the
 * processor's at the same moment.
 */
#include <linux/math64.h>
#include <linux/module.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"
#include "meridian_ps_time.h"

/* The clocks of the MACs, which may be off as well, follow up to 1000 ppm. */
#define MAX_PPB	500000

/* Length of the pulse per second. */
#define PULSE_MS	100

/* What one adjust command takes. */
#define MAX_ADJUST	NSEC_PER_SEC

/* Between reading and setting the clock, with interrupts off. */
#define MAX_PASSED	(10 * NSEC_PER_SEC)

static struct meridian_ps *to_card(struct ptp_clock_info *info)
{
	return container_of(info, struct meridian_ps, ptp.info);
}

static int gettimex64(struct ptp_clock_info *info, struct timespec64 *now,
		      struct ptp_system_timestamp *system)
{
	meridian_ps_time(to_card(info), now, system);
	return 0;
}

/* With MERIDIAN_PTP_COMMAND_LATCH_MASK the card latches the time that it replaces. */
static void set_time(struct meridian_ps *card, const struct timespec64 *time, u32 with)
{
	meridian_ps_ptp_write(card, MERIDIAN_PTP_SET_SECONDS_HIGH, upper_32_bits(time->tv_sec));
	meridian_ps_ptp_write(card, MERIDIAN_PTP_SET_SECONDS_LOW, lower_32_bits(time->tv_sec));
	meridian_ps_ptp_write(card, MERIDIAN_PTP_SET_NANOSECONDS, time->tv_nsec);
	meridian_ps_ptp_write(card, MERIDIAN_PTP_SET_FRACTION, 0);
	meridian_ps_clock_command(card, MERIDIAN_PTP_COMMAND_SET_MASK | with);
}

static bool is_time(const struct timespec64 *time)
{
	return time->tv_sec >= 0 &&
	       !(upper_32_bits(time->tv_sec) & ~MERIDIAN_PTP_SET_SECONDS_HIGH_SECONDS_HIGH_MASK);
}

static int settime64(struct ptp_clock_info *info, const struct timespec64 *time)
{
	struct meridian_ps *card = to_card(info);

	if (!is_time(time))
		return -ERANGE;
	mutex_lock(&card->ptp.command);
	set_time(card, time, 0);
	meridian_ps_restart_perout(card);
	mutex_unlock(&card->ptp.command);
	return 0;
}

/* @fraction is in 2^-32 ns. */
static void adjust(struct meridian_ps *card, s64 delta, u32 fraction)
{
	do {
		s64 part = clamp_t(s64, delta, -MAX_ADJUST, MAX_ADJUST);

		delta -= part;
		meridian_ps_ptp_write(card, MERIDIAN_PTP_ADJUST_NANOSECONDS, (u32)part);
		meridian_ps_ptp_write(card, MERIDIAN_PTP_ADJUST_FRACTION, delta ? 0 : fraction);
		meridian_ps_clock_command(card, MERIDIAN_PTP_COMMAND_ADJUST_MASK);
	} while (delta);
}

/* Sets the clock, then adds the time from @now to the cycle in which the card set it. */
static void jump(struct meridian_ps *card, const struct timespec64 *now,
		 const struct timespec64 *time)
{
	struct timespec64 then;
	s64 passed;
	u64 fine;

	set_time(card, time, MERIDIAN_PTP_COMMAND_LATCH_MASK);
	then.tv_nsec = meridian_ps_ptp_read(card, MERIDIAN_PTP_TIME_NANOSECONDS);
	fine = meridian_ps_ptp_read(card, MERIDIAN_PTP_TIME_FRACTION) + card->ptp.increment;
	meridian_ps_latched_seconds(card, &then);
	then = timespec64_sub(then, *now);
	passed = timespec64_to_ns(&then) + (fine >> 32);
	/* A card that was reset or has gone meanwhile had another time. */
	if (passed >= 0 && passed <= MAX_PASSED)
		adjust(card, passed, lower_32_bits(fine));
}

/* Under the lock of the latch: who reads the clock does not see it between its two commands. */
static int step_locked(struct meridian_ps *card, s64 delta)
{
	struct timespec64 now, time;

	meridian_ps_latch_time(card, &now, NULL);
	time = timespec64_add(now, ns_to_timespec64(delta));
	if (!is_time(&time))
		return -ERANGE;
	if (delta >= -MAX_ADJUST && delta <= MAX_ADJUST)
		adjust(card, delta, 0);
	else
		jump(card, &now, &time);
	return 0;
}

/* Exact, however large. */
static int step(struct meridian_ps *card, s64 delta)
{
	unsigned long flags;
	int error;

	/* A step of the clock ends what hangs on it, also one by nothing. */
	if (!delta)
		return 0;
	spin_lock_irqsave(&card->ptp.latch, flags);
	error = step_locked(card, delta);
	spin_unlock_irqrestore(&card->ptp.latch, flags);
	return error;
}

static int adjtime(struct ptp_clock_info *info, s64 delta)
{
	struct meridian_ps *card = to_card(info);
	int error;

	mutex_lock(&card->ptp.command);
	error = step(card, delta);
	if (!error)
		meridian_ps_restart_perout(card);
	mutex_unlock(&card->ptp.command);
	return error;
}

/* Both parts act with the second. */
static void write_increment(struct meridian_ps *card)
{
	meridian_ps_ptp_write(card, MERIDIAN_PTP_INCREMENT_NANOSECONDS,
			      upper_32_bits(card->ptp.increment));
	meridian_ps_ptp_write(card, MERIDIAN_PTP_INCREMENT_FRACTION,
			      lower_32_bits(card->ptp.increment));
}

static int adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct meridian_ps *card = to_card(info);
	u64 change;

	change = mul_u64_u64_div_u64(card->ptp.nominal, abs(scaled_ppm), 1000000ULL << 16);
	mutex_lock(&card->ptp.command);
	card->ptp.increment = scaled_ppm < 0 ? card->ptp.nominal - change :
					       card->ptp.nominal + change;
	write_increment(card);
	mutex_unlock(&card->ptp.command);
	return 0;
}

static int enable(struct ptp_clock_info *info, struct ptp_clock_request *request, int on)
{
	struct meridian_ps *card = to_card(info);
	int error;

	mutex_lock(&card->ptp.command);
	error = meridian_ps_enable_pins(card, request, on);
	mutex_unlock(&card->ptp.command);
	return error;
}

static const struct ptp_clock_info clock_info = {
	.owner = THIS_MODULE,
	.name = "meridian",
	.max_adj = MAX_PPB,
	.n_ext_ts = 1,
	.n_per_out = 1,
	.n_pins = MERIDIAN_PS_PINS,
	.pps = 1,
	MERIDIAN_PS_PTP_FLAGS
	.adjfine = adjfine,
	.adjtime = adjtime,
	.gettimex64 = gettimex64,
	.settime64 = settime64,
	.enable = enable,
	.verify = meridian_ps_verify_pin,
};

static void end(void *data)
{
	struct meridian_ps *card = data;

	ptp_clock_unregister(card->ptp.clock);
	meridian_ps_close_pins(card);
}

static u64 read_increment(struct meridian_ps *card, u32 nanoseconds, u32 fraction)
{
	return (u64)meridian_ps_ptp_read(card, nanoseconds) << 32 |
	       meridian_ps_ptp_read(card, fraction);
}

/**
 * meridian_ps_init_ptp() - make the clock known; what time it has, and how fast it runs, stays
 * @card: whose
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_init_ptp(struct meridian_ps *card)
{
	struct meridian_ps_ptp *ptp = &card->ptp;

	mutex_init(&ptp->command);
	spin_lock_init(&ptp->latch);
	ptp->pps = FIELD_PREP(MERIDIAN_PTP_PPS_WIDTH_MASK, PULSE_MS);
	meridian_ps_close_pins(card);
	ptp->nominal = read_increment(card, MERIDIAN_PTP_NOMINAL_NANOSECONDS,
				      MERIDIAN_PTP_NOMINAL_FRACTION);
	ptp->increment = read_increment(card, MERIDIAN_PTP_INCREMENT_NANOSECONDS,
					MERIDIAN_PTP_INCREMENT_FRACTION);
	ptp->info = clock_info;
	memcpy(ptp->pin, meridian_ps_pins, sizeof(ptp->pin));
	ptp->info.pin_config = ptp->pin;
	ptp->clock = ptp_clock_register(&ptp->info, card->dev);
	/* A kernel without PTP clocks has no reason to load this. */
	if (!ptp->clock)
		return -EOPNOTSUPP;
	if (IS_ERR(ptp->clock))
		return PTR_ERR(ptp->clock);
	return devm_add_action_or_reset(card->dev, end, card);
}

/**
 * meridian_ps_restore_ptp() - give a clock that was reset its frequency and pins back
 * @card: whose; the time is lost
 *
 * Context: May sleep.
 */
void meridian_ps_restore_ptp(struct meridian_ps *card)
{
	mutex_lock(&card->ptp.command);
	write_increment(card);
	meridian_ps_write_pins(card);
	mutex_unlock(&card->ptp.command);
}
