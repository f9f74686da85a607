// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * A quarter of the groups is kept for PFs and for the broadcasts of VLANs. Each VF is promised an
 * equal part of the rest, but PROMISE groups at most. Groups that are promised to nobody go to the
 * VFs that ask first, until somebody asks who is promised one.
 *
 * A group is charged to its VFs in equal parts: one that all are in costs each next to nothing, and
 * who leaves one gives its part to those who stay. What a PF wants itself costs VFs nothing. So VFs
 * are charged as much as they have, and if that is all that VFs may have while one of them has less
 * than it is promised, another has more.
 */
#include "qdma_service.h"
#include "qdma_shares.h"

#define PARTS	256u	/* of a group that is charged */
#define PROMISE	8u	/* groups of a VF at most; IPv6 needs one for each of its addresses */

/* What VFs are charged in parts of a group, and what that leaves. */
struct shares {
	u32 vfs;
	u32 taken;	/* groups that VFs alone have */
	u32 room;	/* of these at most */
	u32 promise;
	u16 charge[QDMA_SHARE_FUNCTIONS];
};

static bool is_member(const struct qdma_group *group, u32 function)
{
	return group->functions[function / 32] >> function % 32 & 1;
}

/**
 * qdma_is_group_used() - whether a group has somebody who listens
 * @group: of the card
 */
bool qdma_is_group_used(const struct qdma_group *group)
{
	u32 any = 0, word;

	for (word = 0; word < QDMA_SHARE_WORDS; word++)
		any |= group->functions[word];
	return any;
}

/* Returns how many VFs pay for a group: none for what PFs want or what is a VLAN's broadcasts. */
static u32 payers_of(const struct qdma_groups *groups, const struct qdma_group *group)
{
	static const u8 broadcast[QDMA_ADDRESS_BYTES] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	u32 payers = 0, i;

	if (!memcmp(group->address, broadcast, sizeof(broadcast)))
		return 0;
	for (i = 0; i < groups->pfs; i++) {
		if (is_member(group, i))
			return 0;
	}
	for (i = 0; i < QDMA_SHARE_WORDS; i++) {
		u32 word;

		for (word = group->functions[i]; word; word &= word - 1)
			payers++;
	}
	return payers;
}

/* Rounded up, so that charges are never less than what is taken. */
static u32 part_of(u32 payers)
{
	return (PARTS + payers - 1) / payers;
}

static void charge_group(struct shares *shares, const struct qdma_group *group, u32 payers)
{
	u32 i;

	for (i = 0; i < QDMA_SHARE_FUNCTIONS; i++) {
		if (is_member(group, i))
			shares->charge[i] += part_of(payers);
	}
}

static void count(const struct qdma_groups *groups, struct shares *shares)
{
	u32 kept = groups->count / 4, others = 0, for_vfs = groups->count - kept, i;
	const struct qdma_service *service;

	memset(shares, 0, sizeof(*shares));
	for (service = groups->services; service; service = service->next)
		shares->vfs += service->vfs;
	for (i = 0; i < groups->count; i++) {
		const struct qdma_group *group = &groups->group[i];
		u32 payers = payers_of(groups, group);

		if (payers) {
			shares->taken++;
			charge_group(shares, group, payers);
		} else {
			others += qdma_is_group_used(group);
		}
	}
	shares->room = groups->count - (others > kept ? others : kept);
	shares->promise = for_vfs * PARTS / (shares->vfs ? shares->vfs : 1);
	if (shares->promise > PROMISE * PARTS)
		shares->promise = PROMISE * PARTS;
}

/* Whole groups that a VF is still promised. */
static u32 claim(const struct shares *shares, u32 charge)
{
	return shares->promise > charge ? (shares->promise - charge) / PARTS : 0;
}

/* A VF that has no group has no charge, whatever its number. */
static u32 claims_of_others(const struct shares *shares, u32 function)
{
	u32 claims = 0, idle = shares->vfs, i;

	for (i = 0; i < QDMA_SHARE_FUNCTIONS; i++) {
		if (!shares->charge[i] && i != function)
			continue;
		idle -= idle > 0;
		claims += i == function ? 0 : claim(shares, shares->charge[i]);
	}
	return claims + idle * claim(shares, 0);
}

/* What the VF pays most for, of that the newest; the number of its addresses if it pays nothing. */
static u32 find_dearest(const struct qdma_groups *groups, const struct qdma_vf *vf)
{
	u32 found = vf->addresses, best = 0, place, i;

	for (place = 0; place < vf->addresses; place++) {
		for (i = 0; i < groups->count; i++) {
			const struct qdma_group *group = &groups->group[i];
			u32 payers;

			if (!is_member(group, vf->function) ||
			    memcmp(group->address, vf->address[place], QDMA_ADDRESS_BYTES))
				continue;
			payers = payers_of(groups, group);
			if (payers && part_of(payers) >= best) {
				best = part_of(payers);
				found = place;
			}
		}
	}
	return found;
}

/* Of the VF that has most beyond what it is promised, one group; false if nobody has. */
static bool take_from_greedy(const struct qdma_groups *groups, const struct shares *shares)
{
	struct qdma_service *service, *its = NULL;
	u32 most = shares->promise, place = 0, i;
	struct qdma_vf *greedy = NULL;

	for (service = groups->services; service; service = service->next) {
		for (i = 0; i < service->vfs; i++) {
			struct qdma_vf *vf = &service->vf[i];
			u32 dearest;

			if (vf->is_away || shares->charge[vf->function] <= most)
				continue;
			dearest = find_dearest(groups, vf);
			if (dearest == vf->addresses)
				continue;
			most = shares->charge[vf->function];
			its = service;
			greedy = vf;
			place = dearest;
		}
	}
	if (greedy)
		qdma_take_address(its, greedy, place);
	return greedy;
}

/**
 * qdma_claim_group() - whether a VF may have a group that is nobody's yet
 * @groups: of its card
 * @function: of the VF
 *
 * If it is promised one and others have all, those who have more than they are promised lose groups
 * until there is one. Who has no more groups than it is promised loses none.
 *
 * Return: whether one of @groups is free now that the VF may have. One that is there may be joined
 * anyway.
 */
bool qdma_claim_group(const struct qdma_groups *groups, u32 function)
{
	struct shares shares;

	do {
		bool is_promised;

		count(groups, &shares);
		is_promised = claim(&shares, shares.charge[function]);
		if (shares.taken < shares.room &&
		    (is_promised ||
		     shares.taken + claims_of_others(&shares, function) < shares.room))
			return true;
		if (!is_promised)
			return false;
	} while (take_from_greedy(groups, &shares));
	return false;
}
