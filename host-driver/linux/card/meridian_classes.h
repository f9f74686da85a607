/* SPDX-License-Identifier: GPL-2.0-only */
/* Traffic classes of a port's transmit queues. */
#ifndef MERIDIAN_CLASSES_H
#define MERIDIAN_CLASSES_H

#include "meridian_card.h"

/* Counters of a class, in the order of meridian_read_class() */
enum {
	MERIDIAN_CLASS_FRAMES, MERIDIAN_CLASS_BYTES, MERIDIAN_CLASS_LOST, MERIDIAN_CLASS_MARKED,
	MERIDIAN_CLASS_COUNTS
};

/* meridian_classes.c */
bool meridian_has_classes(const struct meridian *m);
void meridian_write_classes(struct meridian *m, unsigned int port, bool is_open);
int meridian_get_classes(struct meridian *m, struct meridian_classes *classes);
void meridian_choose_classes(struct meridian *m, const struct meridian_classes *classes);
bool meridian_is_paced(const struct meridian *m);
bool meridian_other_has_red(struct meridian *m);
void meridian_read_rates(struct meridian *m, u64 *lowest, u64 *highest);
u32 meridian_read_most_marks(struct meridian *m, struct meridian_marks *most);
u64 meridian_read_class(struct meridian *m, unsigned int class, unsigned int count);

#endif
