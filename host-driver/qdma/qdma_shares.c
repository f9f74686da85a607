// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * A quarter of the groups is kept for PFs and for the broadcasts of VLANs. Each VF is promised an
 * equal part of the rest, but PROMISE groups at most. Groups that are promised to nobody go to the
 * VFs that ask first.
 */
#include "qdma_shares.h"

#define PARTS	256u	/* of a group that is charged */
#define PROMISE	8u	/* groups of a VF at most; IPv6 needs one for each of its addresses */

static bool is_member(const u32 *functions, u32 function)
{
	return functions[function / 32] >> function % 32 & 1;
}

/**
 * qdma_count_group() - add a group that is in use
 * @shares: begun with the numbers of groups, PFs and VFs, and else with zeros
 * @functions: QDMA_SHARE_WORDS words, a bit for each member
 * @is_broadcast: it is for the broadcasts of a VLAN
 *
 * What a PF wants itself costs VFs nothing.
 */
void qdma_count_group(struct qdma_shares *shares, const u32 *functions, bool is_broadcast)
{
	u32 members = 0, i;

	for (i = 0; i < QDMA_SHARE_FUNCTIONS; i++) {
		if (!is_member(functions, i))
			continue;
		if (i < shares->pfs)
			is_broadcast = true;
		members++;
	}
	if (is_broadcast || !members) {
		shares->others += is_broadcast;
		return;
	}
	shares->taken++;
	for (i = shares->pfs; i < QDMA_SHARE_FUNCTIONS; i++) {
		if (is_member(functions, i))
			shares->charge[i] += (PARTS + members - 1) / members;
	}
}

/* Whole groups that a VF is still promised. */
static u32 claim(u32 promise, u32 charge)
{
	return promise > charge ? (promise - charge) / PARTS : 0;
}

static u32 claims_of_others(const struct qdma_shares *shares, u32 function, u32 promise)
{
	u32 claims = 0, idle = shares->vfs, i;

	for (i = shares->pfs; i < QDMA_SHARE_FUNCTIONS; i++) {
		if (!shares->charge[i] && i != function)
			continue;
		idle -= idle > 0;
		claims += i == function ? 0 : claim(promise, shares->charge[i]);
	}
	return claims + idle * claim(promise, 0);
}

/**
 * qdma_may_make_group() - whether a VF may have a group that is nobody's yet
 * @shares: with all groups that are in use
 * @function: of the VF
 *
 * Return: whether it leaves what others are promised; a group that is there may be joined anyway.
 */
bool qdma_may_make_group(const struct qdma_shares *shares, u32 function)
{
	u32 kept = shares->groups / 4, for_vfs = shares->groups - kept;
	u32 room = shares->groups - (shares->others > kept ? shares->others : kept);
	u32 promise = for_vfs * PARTS / (shares->vfs ? shares->vfs : 1);

	if (shares->taken >= room)
		return false;
	promise = promise < PROMISE * PARTS ? promise : PROMISE * PARTS;
	return claim(promise, shares->charge[function]) ||
	       shares->taken + claims_of_others(shares, function, promise) < room;
}
