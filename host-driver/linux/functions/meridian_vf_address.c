// SPDX-License-Identifier: GPL-2.0-only
/* A VF's own address, which its PF has to let it have. */
#include <linux/etherdevice.h>

#include "compat.h"
#include "meridian_function.h"
#include "meridian_vf_wishes.h"

/**
 * meridian_ask_address() - ask the PF to receive an address for the VF, or no longer
 * @m: a VF
 * @address: of one station or a group
 * @is_added: to receive it
 * @is_own: in place of its own
 *
 * Context: May sleep.
 * Return: as meridian_ask_pf().
 */
int meridian_ask_address(struct meridian *m, const u8 *address, bool is_added, bool is_own)
{
	struct qdma_message request;

	qdma_message_init(&request, MERIDIAN_OP_ADDRESS, m->function, 0);
	memcpy(&request.byte[MERIDIAN_ADDRESS_ADDRESS], address, ETH_ALEN);
	request.byte[MERIDIAN_ADDRESS_ADD] = is_added;
	request.byte[MERIDIAN_ADDRESS_OWN] = is_own;
	return meridian_ask_pf(m, &request, NULL);
}

/**
 * meridian_set_own_address() - take another address
 * @m: a VF
 * @address: of Linux's choice
 *
 * A PF that does not answer may have taken it or not: it is told what Linux has when it answers
 * again, by meridian_repeat_own_address().
 *
 * Context: May sleep.
 * Return: 0; -EACCES if the PF refuses, or another negative error.
 */
int meridian_set_own_address(struct meridian *m, const u8 *address)
{
	int error = meridian_ask_address(m, address, true, true);

	if (error == -EACCES)
		netdev_warn(m->netdev, "the PF does not let the VF have %pM\n", address);
	else if (error)
		set_bit(MERIDIAN_FLAG_OWN, &m->flags);
	return error;
}

/**
 * meridian_repeat_own_address() - tell the PF the VF's address if it may have another
 * @m: a VF; under RTNL, for which others wait
 *
 * Context: May sleep.
 */
void meridian_repeat_own_address(struct meridian *m)
{
	if (!test_and_clear_bit(MERIDIAN_FLAG_OWN, &m->flags))
		return;
	meridian_doubt_pf(m);
	meridian_set_own_address(m, m->netdev->dev_addr);
}

/**
 * meridian_settle_address() - whether the VF keeps its address or has the PF's choice
 * @m: a VF that has just said hello
 * @address: that the PF has for it
 *
 * A PF whose driver is a new one has another, and may let the VF keep its own. One that does not
 * answer has not refused it.
 *
 * Context: May sleep.
 * Return: 0; a negative error if the PF does not answer, then Linux has the address of before.
 */
int meridian_settle_address(struct meridian *m, const u8 *address)
{
	int error = -EACCES;

	clear_bit(MERIDIAN_FLAG_OWN, &m->flags);
	if (ether_addr_equal(m->netdev->dev_addr, address))
		return 0;
	if (m->netdev->reg_state == NETREG_REGISTERED)
		error = meridian_set_own_address(m, m->netdev->dev_addr);
	if (error != -EACCES)
		return error;
	meridian_take_address(m->netdev, address);
	return 0;
}
