/* SPDX-License-Identifier: GPL-2.0-only */
/* What is counted, and who is told. */
#ifndef MERIDIAN_STATS_H
#define MERIDIAN_STATS_H

#include "meridian.h"

/* meridian_stats.c */
void meridian_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats);
int meridian_stats_count(struct meridian *m);
void meridian_stats_strings(struct meridian *m, u8 *data);
void meridian_stats_values(struct meridian *m, u64 *data);

#endif
