/* SPDX-License-Identifier: GPL-2.0-only */
/* Flow control of a port: PAUSE and PFC. */
#ifndef MERIDIAN_PAUSE_H
#define MERIDIAN_PAUSE_H

#include "meridian_card.h"

/* meridian_pause.c */
bool meridian_has_pause(const struct meridian *m);
u32 meridian_most_stop(const struct meridian *m);
bool meridian_sends_pause(const struct meridian *m);
void meridian_write_pause(struct meridian *m, unsigned int port, bool is_open);
void meridian_get_pause(struct meridian *m, bool *rx, bool *tx);
int meridian_choose_pause(struct meridian *m, bool rx, bool tx);
u8 meridian_get_pfc(struct meridian *m, u16 *delay);
int meridian_choose_pfc(struct meridian *m, u8 priorities, u16 delay);
u16 meridian_stop_msecs(struct meridian *m);
void meridian_limit_stop(struct meridian *m, u16 msecs);
void meridian_look_after_pause(struct meridian *m);

#endif
