/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries of the card's receive filter, as its files share them. All under the card's lock. */
#ifndef MERIDIAN_FILTER_H
#define MERIDIAN_FILTER_H

#include "meridian.h"

/**
 * struct meridian_entry - an address that the function receives
 * @list: of the function
 * @address: unicast or multicast
 * @vid: only in this VLAN, 0: without a tag; or MERIDIAN_ANY_VLAN
 * @is_wanted: for a sweep
 */
struct meridian_entry {
	struct list_head list;
	u8 address[ETH_ALEN];
	u16 vid;
	bool is_wanted;
};

/* meridian_filter.c */
void meridian_write_filter(struct meridian *m, u32 offset, u32 value);
int meridian_mac_find(struct meridian *m, const u8 *address, u16 vid);
int meridian_mac_add(struct meridian *m, const u8 *address, u16 vid, u32 value);
int meridian_mac_remove(struct meridian *m, const u8 *address, u16 vid, u32 value);
unsigned int meridian_vlan_entries(const struct meridian *m);
void meridian_draw_hash(struct meridian *m);
int meridian_test_filter(struct meridian *m);

/* meridian_owner.c */
int meridian_look_for_owner(struct meridian *m, u32 function, const u8 *address);

/* meridian_group.c */
int meridian_join_group(struct meridian *m, u32 function, const u8 *address, u16 vid);
void meridian_leave_group(struct meridian *m, u32 function, const u8 *address, u16 vid);

/* meridian_entry.c */
int meridian_install(struct meridian *m, u32 function, const struct meridian_entry *entry);
void meridian_uninstall(struct meridian *m, u32 function, struct meridian_entry *entry);
bool meridian_has_address(const struct list_head *list, const u8 *address);
struct meridian_entry *meridian_find_entry(struct list_head *list,
					   const struct meridian_entry *like);

#endif
