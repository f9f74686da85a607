// SPDX-License-Identifier: GPL-2.0-only
/* The card's receive filter: what Linux wants to receive, entry by entry. */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>
#include <linux/random.h>

#include "meridian_filter.h"

#define COMMAND_POLLS	1000

void meridian_write_filter(struct meridian *m, u32 offset, u32 value)
{
	meridian_write(m, MERIDIAN_FILTER_BASE + offset, value);
}

/**
 * meridian_draw_hash() - give the card's MAC table a hash that no VF can foresee
 * @m: a PF, whose card is locked
 *
 * A table with entries keeps its hash, as another PF uses it. May sleep.
 */
void meridian_draw_hash(struct meridian *m)
{
	u32 key[3];
	u32 status;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_HASH_KEY_MASK))
		return;
	get_random_bytes_wait(key, sizeof(key));
	meridian_write_filter(m, MERIDIAN_FILTER_HASH_KEY_0, key[0]);
	meridian_write_filter(m, MERIDIAN_FILTER_HASH_KEY_1, key[1]);
	meridian_write_filter(m, MERIDIAN_FILTER_HASH_KEY_2,
			      key[2] & MERIDIAN_FILTER_HASH_KEY_2_KEY_MASK);
	memzero_explicit(key, sizeof(key));
	status = meridian_read(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_HASH_STATUS);
	if (!(status & (MERIDIAN_FILTER_HASH_STATUS_BUSY_MASK |
			MERIDIAN_FILTER_HASH_STATUS_DRAWN_MASK)))
		dev_warn(&m->pdev->dev,
			 "the card's MAC table holds entries of a driver that drew no hash key: VFs may know its hash until the card is reset\n");
}

/* Returns MERIDIAN_MAC_RESULT_*, or a negative error. */
int meridian_mac_command(struct meridian *m, u32 operation, const u8 *address, u16 vid, u32 value)
{
	u32 scope = FIELD_PREP(MERIDIAN_FILTER_MAC_SCOPE_PORT_MASK, m->port);
	unsigned int polls;

	scope |= vid == MERIDIAN_ANY_VLAN ? MERIDIAN_FILTER_MAC_SCOPE_ANY_VLAN_MASK : vid;
	meridian_write_filter(m, MERIDIAN_FILTER_MAC_KEY_LOW,
			      address[0] | address[1] << 8 | address[2] << 16 |
			      (u32)address[3] << 24);
	meridian_write_filter(m, MERIDIAN_FILTER_MAC_KEY_HIGH, address[4] | address[5] << 8);
	meridian_write_filter(m, MERIDIAN_FILTER_MAC_SCOPE, scope);
	meridian_write_filter(m, MERIDIAN_FILTER_MAC_VALUE, value);
	meridian_write_filter(m, MERIDIAN_FILTER_MAC_COMMAND, operation);
	for (polls = 0; polls < COMMAND_POLLS; polls++) {
		u32 status = meridian_read(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_MAC_STATUS);

		if (status == QDMA_ALL_ONES && !meridian_present(m))
			return -ENODEV;
		if (!(status & MERIDIAN_FILTER_MAC_STATUS_BUSY_MASK))
			return FIELD_GET(MERIDIAN_FILTER_MAC_STATUS_RESULT_MASK, status);
		usleep_range(1, 10);
	}
	return -EBUSY;
}

int meridian_mac_add(struct meridian *m, const u8 *address, u16 vid, u32 value)
{
	int result = meridian_mac_command(m, MERIDIAN_MAC_OPERATION_ADD, address, vid, value);

	if (result == MERIDIAN_MAC_RESULT_DONE || result == MERIDIAN_MAC_RESULT_EXISTS)
		return 0;
	return result < 0 ? result : -ENOSPC;
}

int meridian_install(struct meridian *m, u32 function, const struct meridian_entry *entry)
{
	if (is_multicast_ether_addr(entry->address))
		return meridian_join_group(m, function, entry->address, entry->vid);
	return meridian_mac_add(m, entry->address, entry->vid, function);
}

void meridian_uninstall(struct meridian *m, u32 function, struct meridian_entry *entry)
{
	if (is_multicast_ether_addr(entry->address))
		meridian_leave_group(m, function, entry->address, entry->vid);
	else
		meridian_mac_command(m, MERIDIAN_MAC_OPERATION_REMOVE, entry->address, entry->vid,
				     0);
	list_del(&entry->list);
	kfree(entry);
}

/* What Linux wants, as a list of entries that are not installed. */

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

static int want_unicast(struct meridian *m, struct list_head *wanted, const u8 *address)
{
	unsigned int vid = 1;
	int error;

	if (!(m->netdev->features & NETIF_F_HW_VLAN_CTAG_FILTER))
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
		flags |= MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK;
	else
		netdev_for_each_mc_addr(address, netdev)
			multicast = multicast ? multicast : want(wanted, address->addr,
								 MERIDIAN_ANY_VLAN);
	if (netdev->flags & IFF_PROMISC || unicast)
		flags |= MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK;
	if (multicast)
		flags |= MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK;
	/* The service looks again when there may be memory. */
	if (unicast || multicast)
		set_bit(MERIDIAN_FLAG_FILTER, &m->flags);
	netif_addr_unlock_bh(netdev);
	return flags;
}

struct meridian_entry *meridian_find_entry(struct list_head *list,
					   const struct meridian_entry *like)
{
	struct meridian_entry *entry;

	list_for_each_entry(entry, list, list) {
		if (entry->vid == like->vid && ether_addr_equal(entry->address, like->address))
			return entry;
	}
	return NULL;
}

static void sweep(struct meridian *m)
{
	struct meridian_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &m->entries, list) {
		if (!entry->is_wanted)
			meridian_uninstall(m, m->function, entry);
	}
}

/* An address that does not fit is received by a wider flag. */
static u32 fall_back(struct meridian *m, const struct meridian_entry *entry, int error)
{
	bool is_multicast = is_multicast_ether_addr(entry->address);

	netdev_warn_once(m->netdev, "the card's filter does not take %pM (%d): receiving %s instead\n",
			 entry->address, error, is_multicast ? "all multicast" : "everything");
	return is_multicast ? MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK :
			      MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK;
}

static u32 install_wanted(struct meridian *m, struct list_head *wanted)
{
	struct meridian_entry *entry, *next;
	u32 flags = 0;
	int error;

	list_for_each_entry_safe(entry, next, wanted, list) {
		list_del(&entry->list);
		if (meridian_find_entry(&m->entries, entry)) {
			kfree(entry);
			continue;
		}
		error = meridian_install_firmly(m, m->function, entry);
		if (error) {
			flags |= fall_back(m, entry, error);
			kfree(entry);
			continue;
		}
		entry->is_wanted = true;
		list_add_tail(&entry->list, &m->entries);
	}
	return flags;
}

/**
 * meridian_sync_filter() - bring the card's filter in line with Linux's lists
 * @m: the function
 *
 * May sleep.
 */
void meridian_sync_filter(struct meridian *m)
{
	struct meridian_entry *entry;
	LIST_HEAD(wanted);
	u32 flags;

	mutex_lock(&m->card->lock);
	flags = collect(m, &wanted);
	list_for_each_entry(entry, &m->entries, list)
		entry->is_wanted = meridian_find_entry(&wanted, entry);
	/* Who goes makes room for who comes; what is in both is never away. */
	sweep(m);
	flags |= install_wanted(m, &wanted);
	meridian_write_function(m, MERIDIAN_FUNCTION_FLAGS, flags);
	meridian_flush(m);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_clear_filter() - take all of the function's entries out of the card
 * @m: the function
 */
void meridian_clear_filter(struct meridian *m)
{
	struct meridian_entry *entry, *next;

	mutex_lock(&m->card->lock);
	list_for_each_entry_safe(entry, next, &m->entries, list)
		meridian_uninstall(m, m->function, entry);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_test_filter() - add, find and remove an entry that does no harm
 * @m: the function
 *
 * Return: 0 or a negative error.
 */
int meridian_test_filter(struct meridian *m)
{
	/* Locally administered, and in no VLAN that can be on the wire. */
	static const u8 address[ETH_ALEN] = { 0x02, 0x4d, 0x52, 0x44, 0x4e, 0x00 };
	u16 vid = VLAN_N_VID - 1;
	int result;

	mutex_lock(&m->card->lock);
	result = meridian_mac_add(m, address, vid, m->function);
	if (!result)
		result = meridian_mac_command(m, MERIDIAN_MAC_OPERATION_FIND, address, vid, 0);
	if (!result || result == MERIDIAN_MAC_RESULT_EXISTS)
		result = meridian_mac_command(m, MERIDIAN_MAC_OPERATION_REMOVE, address, vid, 0);
	if (!result) {
		result = meridian_mac_command(m, MERIDIAN_MAC_OPERATION_FIND, address, vid, 0);
		result = result == MERIDIAN_MAC_RESULT_NOT_FOUND ? 0 : -EIO;
	}
	mutex_unlock(&m->card->lock);
	return result > 0 ? -EIO : result;
}
