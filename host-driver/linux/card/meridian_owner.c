// SPDX-License-Identifier: GPL-2.0-only
/* Whose an address is: of a port it has one owner, in whatever VLAN. */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>

#include "compat.h"
#include "meridian_card.h"
#include "meridian_filter.h"
#include "meridian_hw.h"
#include "meridian_vf.h"

/* The card's PS listens to it on the port. */
static bool is_of_ps(struct meridian *m, const u8 *address)
{
	u32 places = FIELD_GET(MERIDIAN_IDENT_TABLES_PS_ADDRESSES_MASK,
			       meridian_read(m, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_TABLES));
	u32 port = MERIDIAN_PORT_BASE(m->port), i;

	for (i = 0; i < min_t(u32, places, MERIDIAN_PORT_PS_ADDRESS_LOW_MAX); i++) {
		u32 high = meridian_read(m, port + MERIDIAN_PORT_PS_ADDRESS_HIGH(i));

		if (!(high & MERIDIAN_PORT_PS_ADDRESS_HIGH_VALID_MASK) ||
		    FIELD_GET(MERIDIAN_PORT_PS_ADDRESS_HIGH_ADDRESS_MASK, high) !=
		    get_unaligned_le16(&address[4]))
			continue;
		if (meridian_read(m, port + MERIDIAN_PORT_PS_ADDRESS_LOW(i)) ==
		    get_unaligned_le32(address))
			return true;
	}
	return false;
}

/* A PF that is down keeps its own address. */
static bool pf_has(const struct meridian *pf, u32 but, const u8 *address)
{
	return pf->function != but && (ether_addr_equal(pf->netdev->dev_addr, address) ||
				       meridian_has_address(&pf->entries, address));
}

/* So does a VF without queues, or without a driver. */
static bool vfs_have(const struct meridian *pf, u32 but, const u8 *address)
{
	const struct qdma_vf *asking = NULL;
	unsigned int i;

	for (i = 0; i < pf->vfs; i++) {
		if (pf->vf[i].function == but)
			asking = &pf->vf_service.vf[i];
		else if (meridian_has_address(&pf->vf[i].entries, address))
			return true;
	}
	return qdma_is_kept(&pf->vf_service, asking, address);
}

/* Functions that another driver serves are in the card only. */
static int ask_card(struct meridian *m, u32 function, const u8 *address)
{
	static const u16 scopes[] = { MERIDIAN_ANY_VLAN, 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(scopes); i++) {
		int found = meridian_mac_find(m, address, scopes[i]);

		if (found >= 0 && found != function)
			return -EADDRINUSE;
		if (found < 0 && found != -ENOENT)
			return found;
	}
	return 0;
}

/**
 * meridian_look_for_owner() - look whether a function may have an address
 * @m: a PF, whose card's lock is held
 * @function: itself or one of its VFs; what it has by itself is no obstacle
 * @address: unicast
 *
 * Of what another driver serves, it sees what holds in any VLAN or without a tag.
 *
 * Context: May sleep.
 * Return: 0; -EADDRINUSE if it is another function's or the PS's, or another negative error.
 */
int meridian_look_for_owner(struct meridian *m, u32 function, const u8 *address)
{
	const struct meridian *pf;

	list_for_each_entry(pf, &m->card->pfs, of_card) {
		if (pf->port == m->port && (pf_has(pf, function, address) ||
					    vfs_have(pf, function, address)))
			return -EADDRINUSE;
	}
	if (is_of_ps(m, address))
		return -EADDRINUSE;
	return ask_card(m, function, address);
}
