/* SPDX-License-Identifier: GPL-2.0-only */
/* Queueing disciplines that the card takes over. */
#ifndef MERIDIAN_RED_H
#define MERIDIAN_RED_H

#include "meridian.h"

/* meridian_red.c */
int meridian_setup_tc(struct net_device *netdev, enum tc_setup_type type, void *data);
netdev_features_t meridian_red_needs(struct meridian *m, netdev_features_t features);
void meridian_offer_red(struct net_device *netdev);

#endif
