/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands to the card's clock, and the time that it has latched. */
#ifndef MERIDIAN_PS_TIME_H
#define MERIDIAN_PS_TIME_H

#include "meridian_ps.h"

void meridian_ps_clock_command(struct meridian_ps *card, u32 mask);
void meridian_ps_latched_seconds(struct meridian_ps *card, struct timespec64 *latched);
void meridian_ps_latch_time(struct meridian_ps *card, struct timespec64 *now,
			    struct ptp_system_timestamp *system);

#endif
