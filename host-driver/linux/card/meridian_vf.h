/* SPDX-License-Identifier: GPL-2.0-only */
/* What a PF knows of one of its VFs, as far as the card's tables have it. */
#ifndef MERIDIAN_VF_H
#define MERIDIAN_VF_H

#include <linux/list.h>
#include <linux/types.h>

/**
 * struct meridian_vf - what the administrator says of a VF beside struct qdma_vf
 * @function: its number within the card
 * @may_spoof: it may send with any source address
 * @entries: what it has in the card's filter
 * @vlan: control information of the tag that its frames get; 0: none
 * @min_rate: Mb/s that it gets before others
 * @max_rate: Mb/s that it does not exceed; 0: none
 * @link_state: IFLA_VF_LINK_STATE_*
 * @command: of its configuration space, as it was before a reset of its PF
 */
struct meridian_vf {
	u32 function;
	bool may_spoof;
	struct list_head entries;
	u16 vlan;
	u32 min_rate;
	u32 max_rate;
	u32 link_state;
	u16 command;
};

#endif
