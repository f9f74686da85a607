/* SPDX-License-Identifier: GPL-2.0-only */
/* PAUSE frames of a port's partner. */
#ifndef MERIDIAN_PAUSE_H
#define MERIDIAN_PAUSE_H

#include "meridian_card.h"

/* meridian_pause.c */
bool meridian_has_pause(const struct meridian *m);
u32 meridian_most_stop(const struct meridian *m);
void meridian_write_pause(struct meridian *m, unsigned int port, bool is_open);
bool meridian_obeys_pause(struct meridian *m);
int meridian_obey_pause(struct meridian *m, bool on);
u16 meridian_stop_msecs(struct meridian *m);
void meridian_limit_stop(struct meridian *m, u16 msecs);
void meridian_look_after_pause(struct meridian *m);

#endif
