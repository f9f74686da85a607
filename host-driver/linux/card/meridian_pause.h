/* SPDX-License-Identifier: GPL-2.0-only */
/* PAUSE frames of a port's partner. */
#ifndef MERIDIAN_PAUSE_H
#define MERIDIAN_PAUSE_H

#include "meridian_card.h"

/* meridian_pause.c */
bool meridian_has_pause(const struct meridian *m);
u32 meridian_most_stop(const struct meridian *m);
void meridian_write_pause(struct meridian *m, bool is_used);
struct meridian_pause meridian_pause(struct meridian *m);
void meridian_choose_pause(struct meridian *m, const struct meridian_pause *pause);
void meridian_look_after_pause(struct meridian *m);

#endif
