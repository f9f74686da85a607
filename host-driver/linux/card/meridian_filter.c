// SPDX-License-Identifier: GPL-2.0-only
/* The card's receive filter, entry by entry. */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>
#include <linux/random.h>

#include "compat.h"
#include "meridian_card.h"
#include "meridian_filter.h"
#include "meridian_hw.h"

#define COMMAND_POLLS	1000

void meridian_write_filter(struct meridian *m, u32 offset, u32 value)
{
	meridian_write(m, MERIDIAN_FILTER_BASE + offset, value);
}

/**
 * meridian_vlan_entries() - how many entries a PF may have for single VLANs
 * @m: an identified PF
 *
 * Context: Does not sleep.
 * Return: a quarter of the card's table.
 */
unsigned int meridian_vlan_entries(const struct meridian *m)
{
	return m->card->mac_entries / 4;
}

/**
 * meridian_draw_hash() - give the card's MAC table a hash that no VF can foresee
 * @m: a PF, whose card is locked
 *
 * A table with entries keeps its hash, as another PF uses it. May sleep.
 *
 * Context: May sleep.
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

/* Returns MERIDIAN_MAC_RESULT_*, or a negative error; in @found what the entry had. */
static int command(struct meridian *m, u32 operation, const u8 *address, u16 vid, u32 value,
		   u32 *found)
{
	u32 scope = FIELD_PREP(MERIDIAN_FILTER_MAC_SCOPE_PORT_MASK, m->port);
	unsigned int polls;

	scope |= vid == MERIDIAN_ANY_VLAN ? MERIDIAN_FILTER_MAC_SCOPE_ANY_VLAN_MASK : vid;
	meridian_write_filter(m, MERIDIAN_FILTER_MAC_KEY_LOW, get_unaligned_le32(address));
	meridian_write_filter(m, MERIDIAN_FILTER_MAC_KEY_HIGH, get_unaligned_le16(&address[4]));
	meridian_write_filter(m, MERIDIAN_FILTER_MAC_SCOPE, scope);
	meridian_write_filter(m, MERIDIAN_FILTER_MAC_VALUE, value);
	meridian_write_filter(m, MERIDIAN_FILTER_MAC_COMMAND, operation);
	for (polls = 0; polls < COMMAND_POLLS; polls++) {
		u32 status = meridian_read(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_MAC_STATUS);

		if (status == QDMA_ALL_ONES && !meridian_present(m))
			return -ENODEV;
		if (!(status & MERIDIAN_FILTER_MAC_STATUS_BUSY_MASK)) {
			*found = FIELD_GET(MERIDIAN_FILTER_MAC_STATUS_INDEX_MASK, status);
			if (status & MERIDIAN_FILTER_MAC_STATUS_IS_GROUP_MASK)
				*found |= MERIDIAN_FILTER_MAC_VALUE_IS_GROUP_MASK;
			return FIELD_GET(MERIDIAN_FILTER_MAC_STATUS_RESULT_MASK, status);
		}
		usleep_range(1, 10);
	}
	return -EBUSY;
}

/**
 * meridian_mac_find() - look what the card's filter has of an address
 * @m: a PF
 * @address: of its port
 * @vid: the very scope
 *
 * Context: May sleep.
 * Return: a function or MERIDIAN_FILTER_MAC_VALUE_*; -ENOENT or another negative error.
 */
int meridian_mac_find(struct meridian *m, const u8 *address, u16 vid)
{
	u32 found;
	int result = command(m, MERIDIAN_MAC_OPERATION_FIND, address, vid, 0, &found);

	if (result == MERIDIAN_MAC_RESULT_DONE)
		return found;
	return result < 0 ? result : -ENOENT;
}

/**
 * meridian_mac_add() - have an entry in the card's filter
 * @m: a PF
 * @address: of its port
 * @vid: the scope
 * @value: a function or a group, as MERIDIAN_FILTER_MAC_VALUE_*
 *
 * The card would replace an entry of another function. Groups are all this driver's.
 *
 * Context: May sleep.
 * Return: 0; -EADDRINUSE if it is another function's, -ENOSPC, or another negative error.
 */
int meridian_mac_add(struct meridian *m, const u8 *address, u16 vid, u32 value)
{
	int result = meridian_mac_find(m, address, vid);
	u32 found;

	if (result == value)
		return 0;
	if (result >= 0 && !(result & value & MERIDIAN_FILTER_MAC_VALUE_IS_GROUP_MASK))
		return -EADDRINUSE;
	if (result < 0 && result != -ENOENT)
		return result;
	result = command(m, MERIDIAN_MAC_OPERATION_ADD, address, vid, value, &found);
	if (result == MERIDIAN_MAC_RESULT_DONE || result == MERIDIAN_MAC_RESULT_EXISTS)
		return 0;
	return result < 0 ? result : -ENOSPC;
}

/**
 * meridian_mac_remove() - have an entry no longer, if it is what it was
 * @m: a PF
 * @address: of its port
 * @vid: the scope
 * @value: of meridian_mac_add()
 *
 * Context: May sleep.
 * Return: 0; -ENOENT if there is no such entry, -EADDRINUSE if it is another function's, or
 * another negative error.
 */
int meridian_mac_remove(struct meridian *m, const u8 *address, u16 vid, u32 value)
{
	int result = meridian_mac_find(m, address, vid);
	u32 found;

	if (result < 0)
		return result;
	if (result != value)
		return -EADDRINUSE;
	result = command(m, MERIDIAN_MAC_OPERATION_REMOVE, address, vid, 0, &found);
	return result > 0 ? -ENOENT : result;
}

/**
 * meridian_test_filter() - add, find and remove an entry that does no harm
 * @m: the function
 *
 * Context: May sleep.
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
		result = meridian_mac_remove(m, address, vid, m->function);
	if (!result)
		result = meridian_mac_find(m, address, vid) == -ENOENT ? 0 : -EIO;
	mutex_unlock(&m->card->lock);
	return result;
}
