/* SPDX-License-Identifier: GPL-2.0-only */
/* What the queues count. */
#ifndef MERIDIAN_COUNTS_H
#define MERIDIAN_COUNTS_H

#include "meridian_queue.h"

/* meridian_counts.c */
void meridian_count_channels(struct meridian *m, unsigned int count);
void meridian_all_counts(struct meridian *m, struct meridian_counts *counts);
void meridian_queue_counts(struct meridian *m, unsigned int index, struct meridian_counts *counts);
void meridian_offer_queue_stats(struct net_device *netdev);

#endif
