/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast: a group of the card has the functions that listen. All under the card's lock. */
#include "meridian.h"

static bool
is_like(const struct qdma_group *group, const struct meridian *m,
	const struct rte_ether_addr *address)
{
	return qdma_is_group_used(group) && group->port == m->port &&
	       memcmp(group->address, address, sizeof(*address)) == 0;
}

static void
write_word(struct meridian *m, uint32_t index, uint32_t word, uint32_t functions)
{
	meridian_write(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_GROUP_SELECT,
		       index << MERIDIAN_FILTER_GROUP_SELECT_GROUP_SHIFT |
		       word << MERIDIAN_FILTER_GROUP_SELECT_WORD_SHIFT);
	meridian_write(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_GROUP_DATA, functions);
}

/*
 * The card takes the entry of the very VLAN and no other, so whoever listens in any VLAN is a
 * member of each group of the address.
 */
static void
write_groups(struct meridian *m, uint32_t word, const struct rte_ether_addr *address)
{
	const struct qdma_group *group;
	uint32_t any = 0, i;

	for (i = 0; i < m->card->groups; i++) {
		group = &m->card->group[i];
		if (is_like(group, m, address) && group->vid == MERIDIAN_ANY_VLAN)
			any = group->functions[word];
	}
	for (i = 0; i < m->card->groups; i++) {
		group = &m->card->group[i];
		if (is_like(group, m, address))
			write_word(m, i, word, group->functions[word] | any);
	}
}

/* The group of an address; -ENOENT: it has none. */
static int
find_group(struct meridian *m, const struct rte_ether_addr *address, uint16_t vid)
{
	uint32_t i;

	for (i = 0; i < m->card->groups; i++) {
		const struct qdma_group *group = &m->card->group[i];

		if (is_like(group, m, address) && group->vid == vid)
			return i;
	}
	return -ENOENT;
}

static void
clear_group(struct meridian *m, uint32_t index)
{
	uint32_t word;

	for (word = 0; word < QDMA_SHARE_WORDS; word++)
		write_word(m, index, word, 0);
}

static void
write_all(struct meridian *m, const struct rte_ether_addr *address)
{
	uint32_t word;

	for (word = 0; word < QDMA_SHARE_WORDS; word++)
		write_groups(m, word, address);
}

/* PFs may have any group. */
static int
find_free_group(struct meridian *m, uint32_t function)
{
	const struct qdma_groups groups = {
		.group = m->card->group, .count = m->card->groups, .pfs = MERIDIAN_PFS,
		.services = m->card->services,
	};
	uint32_t i;

	if (function >= MERIDIAN_PFS && !qdma_claim_group(&groups, function))
		return -EDQUOT;
	for (i = 0; i < m->card->groups; i++) {
		if (!qdma_is_group_used(&m->card->group[i]))
			return i;
	}
	return -ENOSPC;
}

/* In the card's filter. */
static uint32_t
value_of(uint32_t index)
{
	return index << MERIDIAN_FILTER_MAC_VALUE_INDEX_SHIFT |
	       MERIDIAN_FILTER_MAC_VALUE_IS_GROUP_MASK;
}

/* function: of the PF or of one of its VFs. */
int
meridian_join_group(struct meridian *m, uint32_t function, const struct rte_ether_addr *address,
		    uint16_t vid)
{
	uint32_t word = function / 32, bit = RTE_BIT32(function % 32);
	int index = find_group(m, address, vid), error;
	struct qdma_group *group;
	bool is_new = index < 0;

	if (is_new)
		index = find_free_group(m, function);
	if (index < 0)
		return index;
	group = &m->card->group[index];
	memcpy(group->address, address, sizeof(group->address));
	group->port = m->port;
	group->vid = vid;
	group->functions[word] |= bit;
	if (!is_new) {
		write_groups(m, word, address);
		return 0;
	}
	/* Whoever listens in any VLAN comes into a new group of one VLAN with it. */
	write_all(m, address);
	error = meridian_mac_add(m, address, vid, value_of(index));
	if (error) {
		group->functions[word] &= ~bit;
		clear_group(m, index);
		write_all(m, address);
	}
	return error;
}

void
meridian_leave_group(struct meridian *m, uint32_t function, const struct rte_ether_addr *address,
		     uint16_t vid)
{
	uint32_t word = function / 32;
	int index = find_group(m, address, vid);
	struct qdma_group *group;

	if (index < 0)
		return;
	group = &m->card->group[index];
	group->functions[word] &= ~RTE_BIT32(function % 32);
	if (!qdma_is_group_used(group)) {
		meridian_mac_remove(m, address, vid, value_of(index));
		clear_group(m, index);
	}
	write_groups(m, word, address);
}
