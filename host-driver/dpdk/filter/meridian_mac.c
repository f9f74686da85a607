/* SPDX-License-Identifier: BSD-3-Clause */
/* The MAC table of the card's receive filter, entry by entry. */
#include <string.h>
#include <sys/random.h>

#include <rte_cycles.h>

#include "meridian.h"

#define COMMAND_POLLS	1000

static void
write_filter(struct meridian *m, uint32_t offset, uint32_t value)
{
	meridian_write(m, MERIDIAN_FILTER_BASE + offset, value);
}

/**
 * meridian_draw_hash() - give the card's MAC table a hash that no VF can foresee
 * @m: a PF, whose card is locked
 *
 * A table with entries keeps its hash, as another PF uses it.
 */
void
meridian_draw_hash(struct meridian *m)
{
	uint32_t key[3], status;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_HASH_KEY_MASK))
		return;
	/* getrandom() gives up to 256 bytes whole. */
	if (getrandom(key, sizeof(key), 0) != sizeof(key)) {
		MERIDIAN_LOG(ERR, "%s: the system has no random numbers: VFs may know the hash of the MAC table",
			     m->data->name);
		return;
	}
	write_filter(m, MERIDIAN_FILTER_HASH_KEY_0, key[0]);
	write_filter(m, MERIDIAN_FILTER_HASH_KEY_1, key[1]);
	write_filter(m, MERIDIAN_FILTER_HASH_KEY_2, key[2] & MERIDIAN_FILTER_HASH_KEY_2_KEY_MASK);
	explicit_bzero(key, sizeof(key));
	status = meridian_read(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_HASH_STATUS);
	if (!(status & (MERIDIAN_FILTER_HASH_STATUS_BUSY_MASK |
			MERIDIAN_FILTER_HASH_STATUS_DRAWN_MASK)))
		MERIDIAN_LOG(WARNING, "%s: the card's MAC table holds entries of a driver that drew no hash key: VFs may know its hash until the card is reset",
			     m->data->name);
}

/* Returns MERIDIAN_MAC_RESULT_*, or a negative errno. */
static int
command(struct meridian *m, uint32_t operation, const struct rte_ether_addr *address, uint16_t vid,
	uint32_t value)
{
	const uint8_t *byte = address->addr_bytes;
	uint32_t scope = m->port << MERIDIAN_FILTER_MAC_SCOPE_PORT_SHIFT;
	unsigned int polls;

	scope |= vid == MERIDIAN_ANY_VLAN ? MERIDIAN_FILTER_MAC_SCOPE_ANY_VLAN_MASK : vid;
	write_filter(m, MERIDIAN_FILTER_MAC_KEY_LOW,
		     byte[0] | byte[1] << 8 | byte[2] << 16 | (uint32_t)byte[3] << 24);
	write_filter(m, MERIDIAN_FILTER_MAC_KEY_HIGH, byte[4] | byte[5] << 8);
	write_filter(m, MERIDIAN_FILTER_MAC_SCOPE, scope);
	write_filter(m, MERIDIAN_FILTER_MAC_VALUE, value);
	write_filter(m, MERIDIAN_FILTER_MAC_COMMAND, operation);
	for (polls = 0; polls < COMMAND_POLLS; polls++) {
		uint32_t status = meridian_read(m, MERIDIAN_FILTER_BASE +
						MERIDIAN_FILTER_MAC_STATUS);

		if (status == QDMA_ALL_ONES && !meridian_present(m))
			return -ENODEV;
		if (!(status & MERIDIAN_FILTER_MAC_STATUS_BUSY_MASK))
			return (status & MERIDIAN_FILTER_MAC_STATUS_RESULT_MASK) >>
			       MERIDIAN_FILTER_MAC_STATUS_RESULT_SHIFT;
		rte_delay_us_block(1);
	}
	return -EBUSY;
}

/**
 * meridian_mac_find() - look what the card's filter has of an address
 * @m: a PF, whose card is locked
 * @address: of its port
 * @vid: the very scope
 *
 * Return: a function, or a group as MERIDIAN_FILTER_MAC_VALUE_*; -ENOENT or another negative errno.
 */
int
meridian_mac_find(struct meridian *m, const struct rte_ether_addr *address, uint16_t vid)
{
	int result = command(m, MERIDIAN_MAC_OPERATION_FIND, address, vid, 0);
	uint32_t status, found;

	if (result != MERIDIAN_MAC_RESULT_DONE)
		return result < 0 ? result : -ENOENT;
	status = meridian_read(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_MAC_STATUS);
	found = (status & MERIDIAN_FILTER_MAC_STATUS_INDEX_MASK) >>
		MERIDIAN_FILTER_MAC_STATUS_INDEX_SHIFT;
	if (status & MERIDIAN_FILTER_MAC_STATUS_IS_GROUP_MASK)
		found |= MERIDIAN_FILTER_MAC_VALUE_IS_GROUP_MASK;
	return found;
}

/**
 * meridian_mac_add() - have an entry in the card's filter
 * @m: a PF, whose card is locked
 * @address: of its port
 * @vid: the scope
 * @value: a function, or a group as MERIDIAN_FILTER_MAC_VALUE_*
 *
 * The card would replace an entry of another function. Groups are all this driver's.
 *
 * Return: 0; -EADDRINUSE if it is another function's, -ENOSPC, or another negative errno.
 */
int
meridian_mac_add(struct meridian *m, const struct rte_ether_addr *address, uint16_t vid,
		 uint32_t value)
{
	int result = meridian_mac_find(m, address, vid);

	if (result == (int)value)
		return 0;
	if (result >= 0 && !(result & value & MERIDIAN_FILTER_MAC_VALUE_IS_GROUP_MASK))
		return -EADDRINUSE;
	if (result < 0 && result != -ENOENT)
		return result;
	result = command(m, MERIDIAN_MAC_OPERATION_ADD, address, vid, value);
	if (result == MERIDIAN_MAC_RESULT_DONE || result == MERIDIAN_MAC_RESULT_EXISTS)
		return 0;
	return result < 0 ? result : -ENOSPC;
}

/**
 * meridian_mac_remove() - have an entry no longer, if it is what it was
 * @m: a PF, whose card is locked
 * @address: of its port
 * @vid: the scope
 * @value: of meridian_mac_add()
 *
 * Return: 0; -ENOENT if there is no such entry, -EADDRINUSE if it is another function's, or another
 * negative errno.
 */
int
meridian_mac_remove(struct meridian *m, const struct rte_ether_addr *address, uint16_t vid,
		    uint32_t value)
{
	int result = meridian_mac_find(m, address, vid);

	if (result < 0)
		return result;
	if (result != (int)value)
		return -EADDRINUSE;
	result = command(m, MERIDIAN_MAC_OPERATION_REMOVE, address, vid, 0);
	return result > 0 ? -ENOENT : result;
}
