/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The card's multicast groups, of which VFs may not take each other's share nor their PFs'. */
#ifndef QDMA_SHARES_H
#define QDMA_SHARES_H

#include "qdma_os.h"

#define QDMA_SHARE_FUNCTIONS	256
#define QDMA_SHARE_WORDS	(QDMA_SHARE_FUNCTIONS / 32)

/**
 * struct qdma_shares - who has how many of the card's multicast groups
 * @groups: that the card has
 * @pfs: of the card, whose functions come first
 * @vfs: that the card's PFs serve
 * @taken: groups that VFs alone have
 * @others: of PFs, and of a VLAN's broadcasts
 * @charge: of each function, in parts of a group; a group is charged to its members alike
 */
struct qdma_shares {
	u32 groups;
	u32 pfs;
	u32 vfs;
	u32 taken;
	u32 others;
	u16 charge[QDMA_SHARE_FUNCTIONS];
};

void qdma_count_group(struct qdma_shares *shares, const u32 *functions, bool is_broadcast);
bool qdma_may_make_group(const struct qdma_shares *shares, u32 function);

#endif
