// SPDX-License-Identifier: GPL-2.0-only
/* What Linux wants a PF to receive, and what of it is in the card's filter. */
#include <linux/bitmap.h>
#include <linux/etherdevice.h>

#include "meridian_card.h"
#include "meridian_hw.h"
#include "meridian_pf_filter.h"

#define ALL_MULTICAST	MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK
#define PROMISCUOUS	MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK

/* Whether entries are of single VLANs. */
static bool is_by_vlan(const struct meridian *m)
{
	return m->netdev->features & NETIF_F_HW_VLAN_CTAG_FILTER && !m->is_any_vlan;
}

/* Frames without a tag are one more. The 8021q module counts them as VLAN 0. */
static unsigned int count_vlans(const struct meridian *m)
{
	return bitmap_weight(m->vlans, VLAN_N_VID) + !test_bit(0, m->vlans);
}

static unsigned int count_entries(struct meridian *m)
{
	unsigned int addresses;

	netif_addr_lock_bh(m->netdev);
	addresses = 1 + netdev_uc_count(m->netdev);
	netif_addr_unlock_bh(m->netdev);
	return addresses * count_vlans(m);
}

/*
 * Each address is there once for each VLAN, so many VLANs would take the whole table from all
 * others. Beyond a part of it, addresses are received in any VLAN, and Linux drops what it does not
 * want; until half of the part would do.
 */
static void choose_scope(struct meridian *m)
{
	unsigned int entries = count_entries(m);

	if (!m->is_any_vlan && entries > m->vlan_entries) {
		m->is_any_vlan = true;
	} else if (m->is_any_vlan && entries <= m->vlan_entries / 2) {
		m->is_any_vlan = false;
		m->vlan_entries = meridian_vlan_entries(m);
	}
}

static int want(struct list_head *wanted, const u8 *address, u16 vid)
{
	struct meridian_entry *entry = kzalloc(sizeof(*entry), GFP_ATOMIC);

	if (!entry)
		return -ENOMEM;
	ether_addr_copy(entry->address, address);
	entry->vid = vid;
	list_add_tail(&entry->list, wanted);
	return 0;
}

/* In all VLANs that there are. */
static int want_unicast(struct meridian *m, struct list_head *wanted, const u8 *address)
{
	unsigned int vid = 1;
	int error;

	if (!is_by_vlan(m))
		return want(wanted, address, MERIDIAN_ANY_VLAN);
	error = want(wanted, address, 0);
	for_each_set_bit_from(vid, m->vlans, VLAN_N_VID)
		error = error ? error : want(wanted, address, vid);
	return error;
}

/* Returns the flags of what is wanted beside the list. */
static u32 collect(struct meridian *m, struct list_head *wanted)
{
	u32 flags = MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK | MERIDIAN_FUNCTION_FLAGS_TRUSTED_MASK;
	struct net_device *netdev = m->netdev;
	struct netdev_hw_addr *address;
	int unicast, multicast = 0;

	netif_addr_lock_bh(netdev);
	unicast = want_unicast(m, wanted, netdev->dev_addr);
	netdev_for_each_uc_addr(address, netdev)
		unicast = unicast ? unicast : want_unicast(m, wanted, address->addr);
	if (netdev->flags & (IFF_ALLMULTI | IFF_PROMISC))
		flags |= ALL_MULTICAST;
	else
		netdev_for_each_mc_addr(address, netdev)
			multicast = multicast ? multicast : want(wanted, address->addr,
								 MERIDIAN_ANY_VLAN);
	if (netdev->flags & IFF_PROMISC || unicast)
		flags |= PROMISCUOUS;
	if (multicast)
		flags |= ALL_MULTICAST;
	/* The service looks again when there may be memory. */
	if (unicast || multicast)
		set_bit(MERIDIAN_FLAG_FILTER, &m->flags);
	netif_addr_unlock_bh(netdev);
	return flags;
}

static void forget(struct meridian_entry *entry)
{
	list_del(&entry->list);
	kfree(entry);
}

static void forget_all(struct list_head *wanted)
{
	struct meridian_entry *entry, *next;

	list_for_each_entry_safe(entry, next, wanted, list)
		forget(entry);
}

/* What is there already need not be wanted. */
static void strike_out(struct meridian *m, struct list_head *wanted)
{
	struct meridian_entry *entry, *next, *there;

	list_for_each_entry(there, &m->entries, list)
		there->is_wanted = false;
	list_for_each_entry_safe(entry, next, wanted, list) {
		there = meridian_find_entry(&m->entries, entry);
		if (!there)
			continue;
		there->is_wanted = true;
		forget(entry);
	}
}

static void sweep(struct meridian *m)
{
	struct meridian_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &m->entries, list) {
		if (!entry->is_wanted)
			meridian_uninstall(m, m->function, entry);
	}
}

/**
 * struct attempt - entries on their way into the card
 * @firmly: others give way to them
 * @full: flags that receive what finds no room; no other of its kind is tried then
 * @refused: address that another function has, or NULL
 * @error: of what is not received by its address
 * @missed: see @error
 */
struct attempt {
	bool firmly;
	u32 full;
	u8 refused[ETH_ALEN];
	u8 missed[ETH_ALEN];
	int error;
};

static int install(struct meridian *m, const struct attempt *attempt,
		   const struct meridian_entry *entry)
{
	int error = 0;

	/* Who has an address in one VLAN has it in all. */
	if (is_unicast_ether_addr(entry->address) &&
	    !meridian_has_address(&m->entries, entry->address))
		error = meridian_look_for_owner(m, m->function, entry->address);
	if (error)
		return error;
	return attempt->firmly ? meridian_install_firmly(m, m->function, entry) :
				 meridian_install(m, m->function, entry);
}

static void note_miss(struct attempt *attempt, const u8 *address, int error)
{
	ether_addr_copy(attempt->missed, address);
	attempt->error = error;
	if (error == -EADDRINUSE)
		ether_addr_copy(attempt->refused, address);
	else
		attempt->full |= is_multicast_ether_addr(address) ? ALL_MULTICAST : PROMISCUOUS;
}

/* What finds no room stays wanted. */
static void install_wanted(struct meridian *m, struct list_head *wanted, struct attempt *attempt)
{
	struct meridian_entry *entry, *next;

	list_for_each_entry_safe(entry, next, wanted, list) {
		u32 wider = is_multicast_ether_addr(entry->address) ? ALL_MULTICAST : PROMISCUOUS;
		int error;

		if (attempt->full & wider)
			continue;
		/* A bridge has the own address in the list, too. */
		if (ether_addr_equal(entry->address, attempt->refused) ||
		    meridian_find_entry(&m->entries, entry)) {
			forget(entry);
			continue;
		}
		error = install(m, attempt, entry);
		if (!error) {
			entry->is_wanted = true;
			list_move_tail(&entry->list, &m->entries);
			continue;
		}
		note_miss(attempt, entry->address, error);
		if (error == -EADDRINUSE)
			forget(entry);
	}
}

static void say_missed(struct meridian *m, const struct attempt *attempt)
{
	const char *instead = "receiving everything instead";

	if (attempt->error == -EADDRINUSE)
		instead = "another function has it, or the card's PS";
	else if (is_multicast_ether_addr(attempt->missed))
		instead = "receiving all multicast instead";
	netdev_warn(m->netdev, "the card's filter does not take %pM (%d): %s\n",
		    attempt->missed, attempt->error, instead);
}

/*
 * Who comes is there before who goes, so what is in both is never away; but who finds no room waits
 * for that. Returns the wider flags that receive what is left then.
 */
static u32 replace(struct meridian *m, struct list_head *wanted, bool is_whole)
{
	struct attempt attempt = {};

	install_wanted(m, wanted, &attempt);
	if (is_whole)
		sweep(m);
	if (!list_empty(wanted)) {
		attempt.firmly = true;
		attempt.full = 0;
		attempt.error = 0;
		/* This is not tried again. */
		if (!is_zero_ether_addr(attempt.refused))
			note_miss(&attempt, attempt.refused, -EADDRINUSE);
		install_wanted(m, wanted, &attempt);
	}
	/* Once until all is received by its address again. */
	if (attempt.error && !m->is_lacking)
		say_missed(m, &attempt);
	if (attempt.error || is_whole)
		m->is_lacking = attempt.error;
	forget_all(wanted);
	return attempt.full;
}

static void sync(struct meridian *m)
{
	LIST_HEAD(wanted);
	u32 flags, full;

	choose_scope(m);
	for (;;) {
		flags = collect(m, &wanted);
		strike_out(m, &wanted);
		full = replace(m, &wanted, true);
		if (!(full & PROMISCUOUS) || !is_by_vlan(m) || count_vlans(m) == 1)
			break;
		/* One entry in any VLAN is narrower than all frames. */
		m->vlan_entries = count_entries(m) - 1;
		m->is_any_vlan = true;
	}
	meridian_write_function(m, MERIDIAN_FUNCTION_FLAGS, flags | full);
	meridian_flush(m);
}

/**
 * meridian_sync_filter() - bring the card's filter in line with Linux's lists
 * @m: a PF
 *
 * May sleep.
 *
 * Context: May sleep.
 */
void meridian_sync_filter(struct meridian *m)
{
	mutex_lock(&m->card->lock);
	sync(m);
	mutex_unlock(&m->card->lock);
}

/* Returns whether there was room. */
static bool add_vlan(struct meridian *m, u16 vid)
{
	struct net_device *netdev = m->netdev;
	struct netdev_hw_addr *address;
	LIST_HEAD(wanted);
	int error;

	netif_addr_lock_bh(netdev);
	error = want(&wanted, netdev->dev_addr, vid);
	netdev_for_each_uc_addr(address, netdev)
		error = error ? error : want(&wanted, address->addr, vid);
	netif_addr_unlock_bh(netdev);
	return !replace(m, &wanted, false) && !error;
}

static void remove_vlan(struct meridian *m, u16 vid)
{
	struct meridian_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &m->entries, list) {
		if (entry->vid == vid && is_unicast_ether_addr(entry->address))
			meridian_uninstall(m, m->function, entry);
	}
}

/**
 * meridian_set_vlan() - receive frames of a VLAN, or no longer
 * @m: a PF
 * @vid: the VLAN
 * @is_wanted: see @m
 *
 * Costs what the one VLAN costs: whoever has all VLANs asks for them one after another. May sleep.
 *
 * Context: May sleep.
 */
void meridian_set_vlan(struct meridian *m, u16 vid, bool is_wanted)
{
	bool was_by_vlan;

	mutex_lock(&m->card->lock);
	if (is_wanted)
		set_bit(vid, m->vlans);
	else
		clear_bit(vid, m->vlans);
	/* Frames without a tag are always received. */
	if (!vid || !test_bit(MERIDIAN_FLAG_UP, &m->flags))
		goto unlock;
	was_by_vlan = is_by_vlan(m);
	choose_scope(m);
	if (is_by_vlan(m) != was_by_vlan)
		sync(m);
	else if (was_by_vlan && !is_wanted)
		remove_vlan(m, vid);
	else if (was_by_vlan && !add_vlan(m, vid))
		sync(m);
	meridian_flush(m);
unlock:
	mutex_unlock(&m->card->lock);
}

/* What a PF that is down has had is for others to have. */
static void leave_address(struct meridian *m, const u8 *address)
{
	struct meridian_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &m->entries, list) {
		if (ether_addr_equal(entry->address, address))
			meridian_uninstall(m, m->function, entry);
	}
	meridian_flush(m);
}

/**
 * meridian_set_pf_address() - take another own address, if it is nobody else's
 * @m: a PF
 * @address: struct sockaddr, which eth_prepare_mac_addr_change() takes
 *
 * Context: May sleep.
 * Return: 0; -EADDRINUSE, then the log says it, or another negative error.
 */
int meridian_set_pf_address(struct meridian *m, void *address)
{
	const u8 *wanted = ((struct sockaddr *)address)->sa_data;
	u8 before[ETH_ALEN] __aligned(2);
	int error;

	mutex_lock(&m->card->lock);
	error = meridian_look_for_owner(m, m->function, wanted);
	if (!error) {
		ether_addr_copy(before, m->netdev->dev_addr);
		eth_commit_mac_addr_change(m->netdev, address);
		if (test_bit(MERIDIAN_FLAG_UP, &m->flags))
			sync(m);
		else if (!ether_addr_equal(before, wanted))
			leave_address(m, before);
	}
	mutex_unlock(&m->card->lock);
	if (error == -EADDRINUSE)
		netdev_err(m->netdev, "%pM is another function's of the port, or the card's PS listens to it: the address stays %pM\n",
			   wanted, m->netdev->dev_addr);
	return error;
}

/**
 * meridian_clear_filter() - take all of the function's entries out of the card
 * @m: a PF
 *
 * Context: May sleep.
 */
void meridian_clear_filter(struct meridian *m)
{
	struct meridian_entry *entry, *next;

	mutex_lock(&m->card->lock);
	list_for_each_entry_safe(entry, next, &m->entries, list)
		meridian_uninstall(m, m->function, entry);
	mutex_unlock(&m->card->lock);
}
