/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shell in the programmable logic (PL) of a ZynqMP, as its processing system
 * (PS) sees it.
 */
#ifndef HW_NET_MERIDIAN_PL_H
#define HW_NET_MERIDIAN_PL_H

/*
 * A sysbus device: region 0 the shell's registers, interrupt 0 its line. Property
 * "socket": of a running card process.
 */
#define TYPE_MERIDIAN_PL "meridian-pl"

#define MERIDIAN_PL_BYTES 0x100000 /* of M_AXI_HPM0_FPD: with registers of users' modules */

#endif
