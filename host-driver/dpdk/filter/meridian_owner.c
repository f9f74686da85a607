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

/* Whether an address is in a port's list of ethdev, or will be at once; started or not. */
static bool
is_own(const struct meridian *m, const struct rte_ether_addr *address)
{
	uint32_t i;

	for (i = 0; i < MERIDIAN_ADDRESSES; i++) {
		if (rte_is_same_ether_addr(&m->data->mac_addrs[i], address))
			return true;
	}
	return rte_is_same_ether_addr(&m->claimed, address);
}

/**
 * meridian_is_anothers() - look whether this process has an address for another function of a port
 * @m: a PF, whose card is locked
 * @function: itself or one of its VFs
 * @address: unicast
 *
 * Return: whether another PF of the port has it, started or not, or one of that PF's VFs; or the PF
 * of a VF, or a VF of a PF. Other VFs of one PF are in the card.
 */
bool
meridian_is_anothers(const struct meridian *m, uint32_t function,
		     const struct rte_ether_addr *address)
{
	const struct meridian *pf;

	TAILQ_FOREACH(pf, &m->card->pfs, of_card) {
		if (pf->port != m->port)
			continue;
		if (pf->function != function && is_own(pf, address))
			return true;
		if ((pf != m || function == m->function) && meridian_is_of_vf(pf, address))
			return true;
	}
	return false;
}

/**
 * meridian_claim() - look whether a function may have an address, and make it free
 * @m: a PF, whose card is locked
 * @function: itself or one of its VFs
 * @address: unicast
 *
 * An entry of a function of ours that does not know of it was left by a driver before, and goes. Of
 * what another driver serves, what holds in any VLAN or without a tag is seen. A PF that is stopped
 * keeps what it has in ethdev's list.
 *
 * Return: 0; -EADDRINUSE if it is another function's or the PS's, or another negative errno.
 */
int
meridian_claim(struct meridian *m, uint32_t function, const struct rte_ether_addr *address)
{
	static const uint16_t scopes[] = { MERIDIAN_ANY_VLAN, 0 };
	unsigned int i;

	if (meridian_is_anothers(m, function, address) || is_of_ps(m, address))
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

/**
 * meridian_own() - let a PF have an address, from now on and before ethdev has it in its list
 * @m: a PF
 * @address: what ethdev writes into its list next; what is no unicast address is had by anybody
 *
 * Return: 0; -EADDRINUSE if it is another function's or the PS's, or another negative errno.
 */
int
meridian_own(struct meridian *m, const struct rte_ether_addr *address)
{
	int error = 0;

	pthread_mutex_lock(&m->card->lock);
	if (!rte_is_zero_ether_addr(address) && !rte_is_multicast_ether_addr(address))
		error = meridian_claim(m, m->function, address);
	if (!error)
		m->claimed = *address;
	pthread_mutex_unlock(&m->card->lock);
	return error;
}

/* Undoes meridian_own(): ethdev does not write the address. */
void
meridian_disown(struct meridian *m)
{
	static const struct rte_ether_addr none;

	pthread_mutex_lock(&m->card->lock);
	m->claimed = none;
	pthread_mutex_unlock(&m->card->lock);
}
