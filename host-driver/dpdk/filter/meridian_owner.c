/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose an address is: of a port it has one owner, in whatever VLAN. */
#include "meridian.h"

/* The card's PS listens to it on the port. */
static bool
is_of_ps(struct meridian *m, const struct rte_ether_addr *address)
{
	uint32_t places = (meridian_read(m, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_TABLES) &
			   MERIDIAN_IDENT_TABLES_PS_ADDRESSES_MASK) >>
			  MERIDIAN_IDENT_TABLES_PS_ADDRESSES_SHIFT;
	uint32_t port = MERIDIAN_PORT_BASE(m->port), low, high, i;
	const uint8_t *byte = address->addr_bytes;

	low = byte[0] | byte[1] << 8 | byte[2] << 16 | (uint32_t)byte[3] << 24;
	high = byte[4] | byte[5] << 8 | MERIDIAN_PORT_PS_ADDRESS_HIGH_VALID_MASK;
	for (i = 0; i < RTE_MIN(places, (uint32_t)MERIDIAN_PORT_PS_ADDRESS_LOW_MAX); i++) {
		if (meridian_read(m, port + MERIDIAN_PORT_PS_ADDRESS_HIGH(i)) == high &&
		    meridian_read(m, port + MERIDIAN_PORT_PS_ADDRESS_LOW(i)) == low)
			return true;
	}
	return false;
}

/**
 * meridian_is_own() - look whether an address is in a port's list of ethdev
 * @m: a port
 * @address: unicast
 *
 * Return: whether it is, started or not.
 */
bool
meridian_is_own(const struct meridian *m, const struct rte_ether_addr *address)
{
	uint32_t i;

	for (i = 0; i < MERIDIAN_ADDRESSES; i++) {
		if (rte_is_same_ether_addr(&m->data->mac_addrs[i], address))
			return true;
	}
	return false;
}

/**
 * meridian_claim() - look whether a function may have an address, and make it free
 * @m: a PF, whose card is locked
 * @function: itself or a VF of its
 * @address: unicast
 *
 * An entry of a function of ours that does not know of it was left by a driver before, and goes. Of
 * what another driver serves, what holds in any VLAN or without a tag is seen.
 *
 * Return: 0; -EADDRINUSE if it is another function's or the PS's, or another negative errno.
 */
int
meridian_claim(struct meridian *m, uint32_t function, const struct rte_ether_addr *address)
{
	static const uint16_t scopes[] = { MERIDIAN_ANY_VLAN, 0 };
	unsigned int i;

	if (function == m->function ? meridian_is_of_vf(m, address) : meridian_is_own(m, address))
		return -EADDRINUSE;
	if (is_of_ps(m, address))
		return -EADDRINUSE;
	for (i = 0; i < RTE_DIM(scopes); i++) {
		int found = meridian_mac_find(m, address, scopes[i]);

		if (found == -ENOENT || found == (int)function)
			continue;
		if (found < 0)
			return found;
		if (found != (int)m->function && !meridian_is_left_by_vf(m, found, address))
			return -EADDRINUSE;
		meridian_mac_remove(m, address, scopes[i], found);
	}
	return 0;
}
