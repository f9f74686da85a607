/* SPDX-License-Identifier: GPL-2.0-only */
/* How received frames are spread over queues. */
#ifndef MERIDIAN_RSS_H
#define MERIDIAN_RSS_H

#include "meridian.h"

/* meridian_rss.c */
void meridian_default_indirection(struct meridian *m);
void meridian_default_order(struct meridian *m);
void meridian_default_hash(struct meridian *m);
int meridian_write_rss(struct meridian *m);
void meridian_write_function_rss(struct meridian *m, u32 function, const struct qdma_rss *rss);
void meridian_reset_rss(struct meridian *m, u32 function);

struct ethtool_rxfh_param;

u32 meridian_rxfh_key_size(struct net_device *netdev);
u32 meridian_rxfh_indir_size(struct net_device *netdev);
u32 meridian_ring_count(struct net_device *netdev);
int meridian_get_rxfh(struct net_device *netdev, struct ethtool_rxfh_param *rxfh);
int meridian_set_rxfh(struct net_device *netdev, struct ethtool_rxfh_param *rxfh,
		      struct netlink_ext_ack *extack);
int meridian_hash_fields(struct net_device *netdev, u32 flow);
int meridian_set_hash_fields(struct net_device *netdev, u32 flow, u64 fields,
			     struct netlink_ext_ack *extack);
int meridian_priv_flag_count(struct meridian *m);
void meridian_priv_flag_strings(u8 *data);
u32 meridian_priv_flags(struct net_device *netdev);
int meridian_set_priv_flags(struct net_device *netdev, u32 flags);

#endif
