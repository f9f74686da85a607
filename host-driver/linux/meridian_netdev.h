/* SPDX-License-Identifier: GPL-2.0-only */
/* The network interface of a function. */
#ifndef MERIDIAN_NETDEV_H
#define MERIDIAN_NETDEV_H

#include "meridian.h"

/* meridian_netdev.c */
void meridian_init_netdev(struct meridian *m);

#endif
