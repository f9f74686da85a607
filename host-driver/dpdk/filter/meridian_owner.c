/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose an address is: of a port it has one owner, in whatever VLAN. */
#include "meridian.h"

/* The PS writes addresses as its driver is loaded, and not again. */
#define ADDRESS_TRIES	8

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

/* Both registers of one address: the PS may write another meanwhile. Returns the second. */
static uint32_t
read_address(struct meridian *m, uint32_t low, uint32_t high, uint32_t *first)
{
	uint32_t top = meridian_read(m, high), before;
	unsigned int tries = ADDRESS_TRIES;

	do {
		before = top;
		*first = meridian_read(m, low);
		top = meridian_read(m, high);
	} while (top != before && --tries);
	return top;
}

/**
 * meridian_take_address() - have the address that the card has for a PF on its port
 * @m: a PF, identified
 *
 * The card's PS knows it of the board. If the card has none, or that of another function, it keeps
 * one by chance from now on, for any driver of the PF, until its power goes.
 */
void
meridian_take_address(struct meridian *m)
{
	uint32_t low = MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ADDRESS_LOW(m->function);
	uint32_t high = MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ADDRESS_HIGH(m->function);
	struct rte_ether_addr *address = &m->data->mac_addrs[0];
	uint32_t first, top = read_address(m, low, high, &first);
	rte_le32_t start = rte_cpu_to_le_32(first);
	rte_le16_t end = rte_cpu_to_le_16(top & MERIDIAN_PORT_HOST_ADDRESS_HIGH_ADDRESS_MASK);
	bool is_anothers;

	memcpy(&address->addr_bytes[0], &start, sizeof(start));
	memcpy(&address->addr_bytes[4], &end, sizeof(end));
	pthread_mutex_lock(&m->card->lock);
	is_anothers = meridian_is_anothers(m, m->function, address);
	pthread_mutex_unlock(&m->card->lock);
	if (top & MERIDIAN_PORT_HOST_ADDRESS_HIGH_VALID_MASK && !is_anothers &&
	    rte_is_valid_assigned_ether_addr(address))
		return;
	rte_eth_random_addr(address->addr_bytes);
	memcpy(&start, &address->addr_bytes[0], sizeof(start));
	memcpy(&end, &address->addr_bytes[4], sizeof(end));
	meridian_write(m, low, rte_le_to_cpu_32(start));
	meridian_write(m, high, rte_le_to_cpu_16(end) | MERIDIAN_PORT_HOST_ADDRESS_HIGH_VALID_MASK);
	MERIDIAN_LOG(NOTICE, "%s: the card has no address for the PF: " RTE_ETHER_ADDR_PRT_FMT
		     " by chance, until the card's power goes",
		     m->data->name, RTE_ETHER_ADDR_BYTES(address));
}
