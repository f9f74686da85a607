/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The card's multicast groups, of which VFs may not take each other's share nor their PFs'. */
#ifndef QDMA_SHARES_H
#define QDMA_SHARES_H

#include "../qdma_os.h"

#define QDMA_SHARE_FUNCTIONS	256
#define QDMA_SHARE_WORDS	(QDMA_SHARE_FUNCTIONS / 32)

struct qdma_service;

/**
 * struct qdma_group - a multicast address and who listens
 * @address: of which port
 * @port: see @address
 * @vid: in this VLAN only, or what the driver has for any
 * @functions: a bit for each that listens; none: the group is free
 */
struct qdma_group {
	u8 address[6];
	u16 vid;
	u32 port;
	u32 functions[QDMA_SHARE_WORDS];
};

/**
 * struct qdma_groups - all groups of a card
 * @group: each of them
 * @count: how many the card has
 * @pfs: of the card, whose functions come first
 * @services: of the card's PFs, by @next of struct qdma_service
 */
struct qdma_groups {
	const struct qdma_group *group;
	u32 count;
	u32 pfs;
	struct qdma_service *services;
};

bool qdma_is_group_used(const struct qdma_group *group);
bool qdma_claim_group(const struct qdma_groups *groups, u32 function);

#endif
