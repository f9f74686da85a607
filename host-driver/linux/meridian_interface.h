/* SPDX-License-Identifier: GPL-2.0-only */
/* The network interface of a function. */
#ifndef MERIDIAN_INTERFACE_H
#define MERIDIAN_INTERFACE_H

#include "meridian.h"

/* meridian_interface.c */
void meridian_init_netdev(struct meridian *m);

#endif
