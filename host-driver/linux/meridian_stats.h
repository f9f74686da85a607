/* SPDX-License-Identifier: GPL-2.0-only */
/* What is counted, and who is told. */
#ifndef MERIDIAN_STATS_H
#define MERIDIAN_STATS_H

#include "meridian.h"

/* meridian_counts.c */
void meridian_count_channels(struct meridian *m, unsigned int count);
void meridian_all_counts(struct meridian *m, struct meridian_counts *counts);
void meridian_queue_counts(struct meridian *m, unsigned int index, struct meridian_counts *counts);
void meridian_offer_queue_stats(struct net_device *netdev);

/* meridian_stats.c */
u64 meridian_read_counter(struct meridian *m, u32 offset);
u64 meridian_read_function_counter(struct meridian *m, u32 offset);
u64 meridian_read_port_counter(struct meridian *m, u32 offset);
void meridian_read_missed(struct meridian *m);
void meridian_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats);
int meridian_stats_count(struct meridian *m);
void meridian_stats_strings(struct meridian *m, u8 *data);
void meridian_stats_values(struct meridian *m, u64 *data);

#endif
