// SPDX-License-Identifier: GPL-2.0-only
/* The addresses that a function receives, in the card's filter or in a group of it. */
#include <linux/etherdevice.h>

#include "meridian_filter.h"

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
		meridian_mac_remove(m, entry->address, entry->vid, function);
	list_del(&entry->list);
	kfree(entry);
}

bool meridian_has_address(const struct list_head *list, const u8 *address)
{
	const struct meridian_entry *entry;

	list_for_each_entry(entry, list, list) {
		if (ether_addr_equal(entry->address, address))
			return true;
	}
	return false;
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
