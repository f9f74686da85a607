/* SPDX-License-Identifier: GPL-2.0-only */
/* Data center bridging: the classes of a port, as `dcb` and lldpad see them. */
#ifndef MERIDIAN_DCB_H
#define MERIDIAN_DCB_H

#include "meridian.h"
#include "meridian_card.h"

/* meridian_dcb.c */
int meridian_set_classes(struct net_device *netdev, const struct meridian_classes *classes);
void meridian_offer_dcb(struct net_device *netdev);

#endif
