/* SPDX-License-Identifier: GPL-2.0-only */
/* ethtool, and what it has a driver tell of the hardware. */
#ifndef MERIDIAN_ETHTOOL_H
#define MERIDIAN_ETHTOOL_H

#include "meridian.h"

/* meridian_ethtool.c */
extern const struct ethtool_ops meridian_ethtool_ops;
/* For a PF whose port can obey PAUSE frames. For others, ethtool says that it is not supported. */
extern const struct ethtool_ops meridian_pause_ethtool_ops;

/* meridian_diag.c */
int meridian_regs_len(struct net_device *netdev);
void meridian_get_regs(struct net_device *netdev, struct ethtool_regs *regs, void *data);

/* meridian_flow.c */
void meridian_get_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *param);
int meridian_set_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *param);
void meridian_get_pause_stats(struct net_device *netdev, struct ethtool_pause_stats *stats);
int meridian_get_pause_tunable(struct net_device *netdev, const struct ethtool_tunable *tunable,
			       void *data);
int meridian_set_pause_tunable(struct net_device *netdev, const struct ethtool_tunable *tunable,
			       const void *data);

/* meridian_tunable.c */
int meridian_get_tunable(struct net_device *netdev, const struct ethtool_tunable *tunable,
			 void *data);
int meridian_set_tunable(struct net_device *netdev, const struct ethtool_tunable *tunable,
			 const void *data);

#endif
