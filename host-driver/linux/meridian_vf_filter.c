// SPDX-License-Identifier: GPL-2.0-only
/* What VFs have in the card's receive filter. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>

#include "meridian_filter.h"

static u16 vid_of(const struct meridian_vf *vf)
{
	return vf->vlan ? vf->vlan & VLAN_VID_MASK : MERIDIAN_ANY_VLAN;
}

static int look_for_owner(struct meridian *m, const struct meridian_vf *vf, const u8 *address)
{
	int error;

	if (ether_addr_equal(address, m->netdev->dev_addr))
		return -EADDRINUSE;
	error = meridian_mac_command(m, MERIDIAN_MAC_OPERATION_FIND, address, vid_of(vf), 0);
	if (error == MERIDIAN_MAC_RESULT_NOT_FOUND)
		return 0;
	return error < 0 ? error : -EADDRINUSE;
}

/**
 * meridian_is_free() - look whether a VF may have an address
 * @m: its PF, whose card's lock is held
 * @vf: the VF, which does not have it
 * @address: unicast
 *
 * Return: whether it is no other function's.
 */
bool meridian_is_free(struct meridian *m, const struct meridian_vf *vf, const u8 *address)
{
	return !look_for_owner(m, vf, address);
}

/**
 * meridian_add_entry() - let a VF receive an address
 * @m: its PF, whose card's lock is held
 * @vf: the VF
 * @address: in the VF's VLAN, or in any if it has none
 *
 * Return: 0; -EADDRINUSE if it is another function's, or another negative error.
 */
int meridian_add_entry(struct meridian *m, struct meridian_vf *vf, const u8 *address)
{
	struct meridian_entry like = { .vid = vid_of(vf) }, *entry;
	int error;

	ether_addr_copy(like.address, address);
	if (meridian_find_entry(&vf->entries, &like))
		return 0;
	error = is_unicast_ether_addr(address) ? look_for_owner(m, vf, address) : 0;
	if (error)
		return error;
	entry = kmemdup(&like, sizeof(like), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	error = meridian_install(m, vf->function, entry);
	if (error)
		kfree(entry);
	else
		list_add_tail(&entry->list, &vf->entries);
	return error;
}

/**
 * meridian_remove_entry() - undo meridian_add_entry()
 * @m: its PF, whose card's lock is held
 * @vf: the VF
 * @address: that it need not have
 */
void meridian_remove_entry(struct meridian *m, struct meridian_vf *vf, const u8 *address)
{
	struct meridian_entry like = { .vid = vid_of(vf) }, *entry;

	ether_addr_copy(like.address, address);
	entry = meridian_find_entry(&vf->entries, &like);
	if (entry)
		meridian_uninstall(m, vf->function, entry);
}

/**
 * meridian_move_entries() - what a VF has, to the VLAN that it is in now
 * @m: its PF, whose card's lock is held
 * @vf: the VF
 *
 * Return: 0 or the first negative error; an address that finds no place is gone.
 */
int meridian_move_entries(struct meridian *m, struct meridian_vf *vf)
{
	struct meridian_entry *entry, *next;
	LIST_HEAD(before);
	int result = 0;

	list_splice_init(&vf->entries, &before);
	list_for_each_entry_safe(entry, next, &before, list) {
		u8 address[ETH_ALEN];
		int error;

		ether_addr_copy(address, entry->address);
		meridian_uninstall(m, vf->function, entry);
		/* Those come by meridian_sync_broadcasts(). */
		if (is_broadcast_ether_addr(address))
			continue;
		error = meridian_add_entry(m, vf, address);
		result = result ? result : error;
	}
	return result;
}

static bool has_vf_in(const struct meridian *m, u16 vid)
{
	int i;

	for (i = 0; i < m->vfs; i++) {
		if (m->vf[i].vlan && vid_of(&m->vf[i]) == vid)
			return true;
	}
	return false;
}

static void want_broadcasts(struct meridian *m, u32 function, struct list_head *entries, u16 vid)
{
	struct meridian_entry like = { .vid = vid }, *entry;

	eth_broadcast_addr(like.address);
	if (meridian_find_entry(entries, &like))
		return;
	entry = kmemdup(&like, sizeof(like), GFP_KERNEL);
	if (entry && !meridian_install(m, function, entry)) {
		list_add_tail(&entry->list, entries);
		return;
	}
	netdev_warn(m->netdev, "function %u gets no broadcasts of VLAN %u\n", function, vid);
	kfree(entry);
}

/**
 * meridian_take_broadcasts() - a VF gets the broadcasts of its VLAN, or no longer
 * @m: its PF, whose card's lock is held; gets them, too
 * @vf: the VF; in no VLAN it gets all that are in none
 * @is_there: it has queues for them
 */
void meridian_take_broadcasts(struct meridian *m, struct meridian_vf *vf, bool is_there)
{
	u8 all[ETH_ALEN];

	eth_broadcast_addr(all);
	if (!is_there) {
		meridian_remove_entry(m, vf, all);
	} else if (vf->vlan) {
		want_broadcasts(m, vf->function, &vf->entries, vid_of(vf));
		want_broadcasts(m, m->function, &m->broadcasts, vid_of(vf));
	}
}

/**
 * meridian_sync_broadcasts() - who gets the broadcasts of which VLAN
 * @m: a PF, whose card's lock is held
 *
 * Those of a VLAN that VFs are in are for these and for the PF.
 */
void meridian_sync_broadcasts(struct meridian *m)
{
	struct meridian_entry *entry, *next;
	int i;

	for (i = 0; i < m->vfs; i++) {
		if (m->vf_service.vf[i].mapped)
			meridian_take_broadcasts(m, &m->vf[i], true);
	}
	list_for_each_entry_safe(entry, next, &m->broadcasts, list) {
		if (!has_vf_in(m, entry->vid))
			meridian_uninstall(m, m->function, entry);
	}
}
