/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The platform management unit (PMU) of a ZynqMP, as far as TF-A and U-Boot talk
 * to it. A model of the firmware that runs on it: there is no processor.
 */
#ifndef HW_NET_MERIDIAN_PMU_H
#define HW_NET_MERIDIAN_PMU_H

/*
 * A sysbus device: region 0 the message buffers of the inter-processor interrupts,
 * region 1 + i bank i of meridian_pmu_registers.h. GPIO input 0: an interrupt to it.
 */
#define TYPE_MERIDIAN_PMU "meridian-pmu"

#define MERIDIAN_PMU_BUFFERS 0xff990000

/* Where the first stage's boot loader leaves what TF-A is to start (OCM). */
#define MERIDIAN_HANDOFF 0xfffc0000

#endif
