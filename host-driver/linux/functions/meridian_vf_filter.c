// SPDX-License-Identifier: GPL-2.0-only
/* What VFs have in the card's receive filter. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>

#include "meridian_card.h"
#include "meridian_pf_filter.h"
#include "meridian_vfs.h"

static u16 vid_of(const struct meridian_vf *vf)
{
	return vf->vlan ? vf->vlan & VLAN_VID_MASK : MERIDIAN_ANY_VLAN;
}

/**
 * meridian_is_free() - look whether a VF may have an address
 * @m: its PF, whose card's lock is held
 * @vf: the VF, which does not have it
 * @address: unicast
 *
 * Context: May sleep.
 * Return: whether it is no other function's.
 */
bool meridian_is_free(struct meridian *m, const struct meridian_vf *vf, const u8 *address)
{
	return !meridian_look_for_owner(m, vf->function, address);
}

/**
 * meridian_add_entry() - let a VF receive an address
 * @m: its PF, whose card's lock is held
 * @vf: the VF
 * @address: in the VF's VLAN, or in any if it has none
 *
 * Context: May sleep.
 * Return: 0; -EADDRINUSE if it is another function's, or another negative error.
 */
int meridian_add_entry(struct meridian *m, struct meridian_vf *vf, const u8 *address)
{
	struct meridian_entry like = { .vid = vid_of(vf) }, *entry;
	int error;

	ether_addr_copy(like.address, address);
	if (meridian_find_entry(&vf->entries, &like))
		return 0;
	if (is_unicast_ether_addr(address)) {
		error = meridian_look_for_owner(m, vf->function, address);
		if (error)
			return error;
	}
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
 *
 * Context: May sleep.
 */
void meridian_remove_entry(struct meridian *m, struct meridian_vf *vf, const u8 *address)
{
	struct meridian_entry like = { .vid = vid_of(vf) }, *entry;

	ether_addr_copy(like.address, address);
	entry = meridian_find_entry(&vf->entries, &like);
	if (entry)
		meridian_uninstall(m, vf->function, entry);
}

/* An entry that is to find room in the card's filter. */
struct newcomer {
	struct meridian *m;
	u32 function;
	const struct meridian_entry *entry;
};

static bool fits(void *argument)
{
	const struct newcomer *new = argument;

	return !meridian_install(new->m, new->function, new->entry);
}

/**
 * meridian_install_firmly() - put an entry into the card's filter, and make room for it
 * @m: the PF, whose card's lock is held
 * @function: of the PF or of one of its VFs
 * @entry: what VFs without trust have asked for gives way to it
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_install_firmly(struct meridian *m, u32 function, const struct meridian_entry *entry)
{
	struct newcomer new = { .m = m, .function = function, .entry = entry };
	int error = meridian_install(m, function, entry);

	if (error == -ENOSPC && qdma_make_room(m->card->services, fits, &new))
		return 0;
	return error;
}

static struct qdma_vf *service_of(struct meridian *m, const struct meridian_vf *vf)
{
	return &m->vf_service.vf[vf - m->vf];
}

/* A VF's own address is in its new VLAN before it leaves the old one, unless it goes back. */
static int move_own(struct meridian *m, struct meridian_vf *vf)
{
	struct qdma_vf *service = service_of(m, vf);
	struct meridian_entry like = { .vid = vid_of(vf) }, *entry;
	int error;

	ether_addr_copy(like.address, service->own);
	if (!service->has_own || meridian_find_entry(&vf->entries, &like))
		return 0;
	entry = kmemdup(&like, sizeof(like), GFP_KERNEL);
	error = entry ? meridian_install_firmly(m, vf->function, entry) : -ENOMEM;
	if (error)
		kfree(entry);
	else
		list_add(&entry->list, &vf->entries);
	return error;
}

/*
 * To the VF's VLAN what it receives beside its own address and is not there. Of one that finds no
 * place: if the VF may lose it, the VF is told; else the error, which the caller goes back for.
 */
static int add_others(struct meridian *m, struct meridian_vf *vf, bool may_lose)
{
	struct qdma_vf *service = service_of(m, vf);
	int result = 0;
	u32 i;

	if (service->is_away)
		return 0;
	/* One that is lost leaves its place to the last one, which has been looked at. */
	for (i = service->addresses; i-- > 0;) {
		u8 address[ETH_ALEN];
		int error;

		ether_addr_copy(address, service->address[i]);
		error = meridian_add_entry(m, vf, address);
		if (error && may_lose)
			qdma_lose_address(&m->vf_service, service, address);
		else if (error && !result)
			result = error;
	}
	return result;
}

static bool is_wanted(const struct qdma_vf *service, const u8 *address)
{
	u32 i;

	if (is_broadcast_ether_addr(address) || ether_addr_equal(address, service->own))
		return true;
	for (i = 0; i < service->addresses; i++) {
		if (ether_addr_equal(address, service->address[i]))
			return true;
	}
	return false;
}

/*
 * All that is in another VLAN, and what the VF has lost while it was said to be there: that was not
 * found here. Broadcasts come by meridian_sync_broadcasts().
 */
static void leave(struct meridian *m, struct meridian_vf *vf)
{
	struct meridian_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &vf->entries, list) {
		if (entry->vid != vid_of(vf) || !is_wanted(service_of(m, vf), entry->address))
			meridian_uninstall(m, vf->function, entry);
	}
}

/**
 * meridian_move_entries() - what a VF has, to the VLAN that it is in now
 * @m: its PF, whose card's lock is held
 * @vf: the VF
 * @is_back: the move before has failed, and the VF is where it was before that
 *
 * A VF without trust loses those beside its own that find no place there: it is not to keep itself
 * out of a VLAN by the groups that it has joined. A trusted one loses them only if it goes back and
 * they find no place there either.
 *
 * Context: May sleep.
 * Return: 0 or the first negative error: if its own address finds no place, all stay where they
 * were; of a trusted VF's others those that find none are in no VLAN, until it goes back.
 */
int meridian_move_entries(struct meridian *m, struct meridian_vf *vf, bool is_back)
{
	int error, missed;

	/* What has its places has to leave them first. */
	if (is_back)
		leave(m, vf);
	error = move_own(m, vf);
	if (error && !is_back)
		return error;
	if (!is_back)
		leave(m, vf);
	missed = add_others(m, vf, is_back || !service_of(m, vf)->is_trusted);
	return error ? error : missed;
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

static int want_broadcasts(struct meridian *m, u32 function, struct list_head *entries, u16 vid)
{
	struct meridian_entry like = { .vid = vid }, *entry;
	int error;

	eth_broadcast_addr(like.address);
	if (meridian_find_entry(entries, &like))
		return 0;
	entry = kmemdup(&like, sizeof(like), GFP_KERNEL);
	error = entry ? meridian_install_firmly(m, function, entry) : -ENOMEM;
	if (error) {
		netdev_warn(m->netdev, "function %u gets no broadcasts of VLAN %u: %d\n", function,
			    vid, error);
		kfree(entry);
		return error;
	}
	list_add_tail(&entry->list, entries);
	return 0;
}

/**
 * meridian_sync_broadcasts() - who gets the broadcasts of which VLAN
 * @m: a PF, whose card's lock is held
 *
 * Those of a VLAN that VFs are in are for these, with or without queues, and for the PF.
 *
 * Context: May sleep.
 * Return: 0 or the first negative error, which the log has, too.
 */
int meridian_sync_broadcasts(struct meridian *m)
{
	struct meridian_entry *entry, *next;
	int result = 0, error, i;

	/* Those of a VLAN that was left may have the place that another needs. */
	list_for_each_entry_safe(entry, next, &m->broadcasts, list) {
		if (!has_vf_in(m, entry->vid))
			meridian_uninstall(m, m->function, entry);
	}
	for (i = 0; i < m->vfs; i++) {
		struct meridian_vf *vf = &m->vf[i];

		if (!vf->vlan)
			continue;
		error = want_broadcasts(m, vf->function, &vf->entries, vid_of(vf));
		result = result ? result : error;
		error = want_broadcasts(m, m->function, &m->broadcasts, vid_of(vf));
		result = result ? result : error;
	}
	return result;
}

/**
 * meridian_clear_entries() - take all that a VF has out of the card's filter
 * @m: its PF, whose card's lock is held
 * @vf: the VF
 *
 * Context: May sleep.
 */
void meridian_clear_entries(struct meridian *m, struct meridian_vf *vf)
{
	struct meridian_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &vf->entries, list)
		meridian_uninstall(m, vf->function, entry);
}

/**
 * meridian_clear_broadcasts() - take the broadcasts of its VFs' VLANs from a PF
 * @m: the PF, whose card's lock is held
 *
 * Context: May sleep.
 */
void meridian_clear_broadcasts(struct meridian *m)
{
	struct meridian_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &m->broadcasts, list)
		meridian_uninstall(m, m->function, entry);
}
