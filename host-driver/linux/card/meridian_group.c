// SPDX-License-Identifier: GPL-2.0-only
/* Multicast, and broadcast in a VLAN: a group of the card has the functions that listen. */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>

#include "meridian_card.h"
#include "meridian_filter.h"

static bool is_like(const struct qdma_group *group, const struct meridian *m,
		    const u8 *address)
{
	return qdma_is_group_used(group) && group->port == m->port &&
	       ether_addr_equal(group->address, address);
}

/*
 * The card takes the entry of the very VLAN and no other, so whoever listens in any VLAN is a
 * member of each group of the address.
 */
static void write_groups(struct meridian *m, u32 function, const u8 *address)
{
	u32 word = function / 32, any = 0;
	struct qdma_group *group;
	unsigned int i;

	for (i = 0; i < m->card->groups; i++) {
		group = &m->card->group[i];
		if (is_like(group, m, address) && group->vid == MERIDIAN_ANY_VLAN)
			any = group->functions[word];
	}
	for (i = 0; i < m->card->groups; i++) {
		group = &m->card->group[i];
		if (!is_like(group, m, address))
			continue;
		meridian_write_filter(m, MERIDIAN_FILTER_GROUP_SELECT,
				      FIELD_PREP(MERIDIAN_FILTER_GROUP_SELECT_GROUP_MASK, i) |
				      FIELD_PREP(MERIDIAN_FILTER_GROUP_SELECT_WORD_MASK, word));
		meridian_write_filter(m, MERIDIAN_FILTER_GROUP_DATA, group->functions[word] | any);
	}
}

static void clear_group(struct meridian *m, u32 index)
{
	u32 word;

	for (word = 0; word < QDMA_SHARE_WORDS; word++) {
		meridian_write_filter(m, MERIDIAN_FILTER_GROUP_SELECT,
				      FIELD_PREP(MERIDIAN_FILTER_GROUP_SELECT_GROUP_MASK, index) |
				      FIELD_PREP(MERIDIAN_FILTER_GROUP_SELECT_WORD_MASK, word));
		meridian_write_filter(m, MERIDIAN_FILTER_GROUP_DATA, 0);
	}
}

/* The group of an address; -ENOENT: it has none. */
static int find_group(struct meridian *m, const u8 *address, u16 vid)
{
	unsigned int i;

	for (i = 0; i < m->card->groups; i++) {
		const struct qdma_group *group = &m->card->group[i];

		if (is_like(group, m, address) && group->vid == vid)
			return i;
	}
	return -ENOENT;
}

/* Whoever listens in any VLAN comes into a new group of one VLAN with it. */
static void write_all(struct meridian *m, const u8 *address)
{
	u32 word;

	for (word = 0; word < QDMA_SHARE_WORDS; word++)
		write_groups(m, 32 * word, address);
}

/* PFs may have any group, and VFs the broadcasts of their VLAN, which the administrator says. */
static int find_free_group(struct meridian *m, u32 function, const u8 *address)
{
	const struct qdma_groups groups = {
		.group = m->card->group, .count = m->card->groups, .pfs = MERIDIAN_PFS,
		.services = m->card->services,
	};
	unsigned int i;

	if (function >= MERIDIAN_PFS && !is_broadcast_ether_addr(address) &&
	    !qdma_claim_group(&groups, function))
		return -EDQUOT;
	for (i = 0; i < m->card->groups; i++) {
		if (!qdma_is_group_used(&m->card->group[i]))
			return i;
	}
	return -ENOSPC;
}

static u32 value_of(u32 index)
{
	return FIELD_PREP(MERIDIAN_FILTER_MAC_VALUE_INDEX_MASK, index) |
	       MERIDIAN_FILTER_MAC_VALUE_IS_GROUP_MASK;
}

int meridian_join_group(struct meridian *m, u32 function, const u8 *address, u16 vid)
{
	int index = find_group(m, address, vid);
	bool is_new = index < 0;
	struct qdma_group *group;
	int error;

	if (is_new)
		index = find_free_group(m, function, address);
	if (index < 0)
		return index;
	group = &m->card->group[index];
	ether_addr_copy(group->address, address);
	group->port = m->port;
	group->vid = vid;
	group->functions[function / 32] |= BIT(function % 32);
	if (!is_new) {
		write_groups(m, function, address);
		return 0;
	}
	write_all(m, address);
	error = meridian_mac_add(m, address, vid, value_of(index));
	if (error) {
		group->functions[function / 32] &= ~BIT(function % 32);
		clear_group(m, index);
		write_all(m, address);
	}
	return error;
}

void meridian_leave_group(struct meridian *m, u32 function, const u8 *address, u16 vid)
{
	int index = find_group(m, address, vid);
	struct qdma_group *group;

	if (index < 0)
		return;
	group = &m->card->group[index];
	group->functions[function / 32] &= ~BIT(function % 32);
	if (!qdma_is_group_used(group)) {
		meridian_mac_remove(m, address, vid, value_of(index));
		clear_group(m, index);
	}
	write_groups(m, function, address);
}
