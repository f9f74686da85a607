// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a VF asks its PF to receive. A PF keeps few addresses of a VF, and takes wider wishes of a
 * VF only that is trusted.
 */
#include <linux/etherdevice.h>

#include "compat.h"
#include "meridian_card.h"
#include "meridian_function.h"
#include "meridian_hw.h"
#include "meridian_vf_wishes.h"

#define ALL_MULTICAST	MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK
#define PROMISCUOUS	MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK

/* No flags that can be asked for: what the PF has of this VF is not known. */
#define UNKNOWN		QDMA_ALL_ONES

/* Addresses that may come while there is no lock, and how often the list is tried. */
#define SPARE		16
#define TRIES		4

/*
 * An address that the PF has been told of. Whether it has it (@is_held) is not known when it did
 * not answer, or has taken some: then the VF tells it again, or that it does not want it any more.
 */
struct known {
	struct list_head list;
	u8 address[ETH_ALEN];
	bool is_held;
};

/*
 * What Linux wants: flags, and addresses that are @count * ETH_ALEN bytes; and whether the PF has
 * not answered to some of it, though it may have answered to the rest.
 */
struct wishes {
	u32 flags;
	u32 count;
	u8 *address;
	bool is_unheard;
};

static const u8 *wish(const struct wishes *wishes, u32 index)
{
	return &wishes->address[index * ETH_ALEN];
}

/*
 * Returns 0 if they are in force: in a VLAN of the administrator's a VF has none, whatever its PF
 * grants. What was refused is not asked for again.
 */
static int ask_flags(struct meridian *m, u32 flags)
{
	struct qdma_message request;
	int error = 0;

	if (flags & m->refused_flags)
		return -EACCES;
	if (flags != m->granted_flags) {
		qdma_message_init(&request, MERIDIAN_OP_FLAGS, m->function, 0);
		put_unaligned_le32(flags, &request.byte[MERIDIAN_FLAGS_FLAGS]);
		error = meridian_ask_pf(m, &request, NULL);
	}
	if (error == -EACCES)
		m->refused_flags |= flags;
	if (error)
		return error;
	m->granted_flags = flags;
	return flags & ~meridian_read(m, MERIDIAN_VF_FLAGS) ? -EACCES : 0;
}

static void take_wishes(struct net_device *netdev, struct wishes *wishes)
{
	struct netdev_hw_addr *address;

	wishes->count = 0;
	netdev_for_each_uc_addr(address, netdev)
		ether_addr_copy(&wishes->address[ETH_ALEN * wishes->count++], address->addr);
	netdev_for_each_mc_addr(address, netdev)
		ether_addr_copy(&wishes->address[ETH_ALEN * wishes->count++], address->addr);
}

/* Returns a negative error if there is no memory for the addresses. They may be kvfree()d. */
static int collect(struct meridian *m, struct wishes *wishes)
{
	struct net_device *netdev = m->netdev;
	int error = -ENOMEM, tries;
	u32 room = SPARE, wanted;

	memset(wishes, 0, sizeof(*wishes));
	for (tries = 0; tries < TRIES && error; tries++) {
		kvfree(wishes->address);
		wishes->address = kvmalloc_array(room, ETH_ALEN, GFP_KERNEL);
		netif_addr_lock_bh(netdev);
		wanted = netdev_uc_count(netdev) + netdev_mc_count(netdev);
		wishes->flags = netdev->flags & IFF_PROMISC ? PROMISCUOUS | ALL_MULTICAST : 0;
		if (netdev->flags & IFF_ALLMULTI)
			wishes->flags |= ALL_MULTICAST;
		if (wishes->address && wanted <= room) {
			take_wishes(netdev, wishes);
			error = 0;
		}
		netif_addr_unlock_bh(netdev);
		room = wanted + SPARE;
	}
	return error;
}

static struct known *find_known(struct meridian *m, const u8 *address)
{
	struct known *known;

	list_for_each_entry(known, &m->entries, list) {
		if (ether_addr_equal(known->address, address))
			return known;
	}
	return NULL;
}

static bool is_wished(const struct wishes *wishes, const u8 *address)
{
	u32 i;

	for (i = 0; i < wishes->count; i++) {
		if (ether_addr_equal(wish(wishes, i), address))
			return true;
	}
	return false;
}

static void forget(struct known *known)
{
	list_del(&known->list);
	kfree(known);
}

/* Takes what came of a question, and returns it. One for which there was no memory was not put. */
static int note(struct wishes *wishes, int error)
{
	if (error && error != -EACCES && error != -ENOMEM)
		wishes->is_unheard = true;
	return error;
}

/* One that the PF does not let go stays known, and is asked for again. */
static void drop_unwished(struct meridian *m, struct wishes *wishes)
{
	struct known *known, *next;

	list_for_each_entry_safe(known, next, &m->entries, list) {
		if (is_wished(wishes, known->address))
			continue;
		if (!note(wishes, meridian_ask_address(m, known->address, false, false)))
			forget(known);
		if (wishes->is_unheard)
			break;
	}
}

/*
 * The list has it before the PF has: an answer may be lost. Where there is no memory for that, the
 * lists are looked at again later.
 */
static int tell_address(struct meridian *m, const u8 *address)
{
	struct known *known = find_known(m, address);
	int error;

	if (!known) {
		known = kzalloc(sizeof(*known), GFP_KERNEL);
		if (!known) {
			set_bit(MERIDIAN_FLAG_FILTER, &m->flags);
			return -ENOMEM;
		}
		ether_addr_copy(known->address, address);
		list_add_tail(&known->list, &m->entries);
	}
	error = meridian_ask_address(m, address, true, false);
	known->is_held = !error;
	if (error == -EACCES)
		forget(known);
	return error;
}

static bool is_held(struct meridian *m, const u8 *address)
{
	const struct known *known = find_known(m, address);

	return known && known->is_held;
}

/* Whether anything is received in another way is known from what is in force. */
static void say_missed(struct meridian *m, const u8 *address, int error, u32 covered)
{
	const char *instead = "others may not come either";

	if (covered & PROMISCUOUS)
		instead = "receiving everything instead";
	else if (covered & ALL_MULTICAST)
		instead = "receiving all multicast instead";
	netdev_warn(m->netdev, "the PF does not take %pM (%d): %s\n", address, error, instead);
}

/*
 * An address that the PF does not take is received by a wider flag, if that comes into force; then
 * others of its kind need not be told. A PF that does not answer is not asked on.
 */
static void tell_addresses(struct meridian *m, struct wishes *wishes)
{
	u32 before = m->granted_flags == UNKNOWN ? 0 : m->granted_flags;
	u32 covered = 0, needed = 0, wider, i;
	const u8 *missed = NULL;
	int error = 0, result;

	if (!note(wishes, ask_flags(m, wishes->flags | before)))
		covered = wishes->flags | before;
	for (i = 0; i < wishes->count && !wishes->is_unheard; i++) {
		const u8 *address = wish(wishes, i);

		wider = is_multicast_ether_addr(address) ? ALL_MULTICAST : PROMISCUOUS;
		if (is_held(m, address) || needed & covered & wider)
			continue;
		result = note(wishes, tell_address(m, address));
		/* Who has asked for the wider flag anyway loses nothing. */
		if (!result || wishes->is_unheard || wishes->flags & covered & wider)
			continue;
		if (result != -ENOMEM) {
			missed = address;
			error = result;
		}
		needed |= wider;
		if (!(covered & wider) && !note(wishes, ask_flags(m, covered | wider)))
			covered |= wider;
	}
	if (wishes->is_unheard)
		return;
	/* As narrow as can be. */
	note(wishes, ask_flags(m, wishes->flags | (needed & covered)));
	/* What is taken and not given back may be so again and again. */
	if (missed && !m->is_lacking && meridian_tell(&m->missed_told, 1)) {
		say_missed(m, missed, error, needed & covered);
		m->is_lacking = true;
	}
	/* If there was no line for it now, there is one at a change after the minute. */
	if (!missed)
		m->is_lacking = false;
}

static void forget_flags(struct meridian *m)
{
	m->granted_flags = UNKNOWN;
	m->refused_flags = 0;
}

/**
 * meridian_sync_vf() - bring what the PF lets the VF receive in line with Linux's lists
 * @m: a VF
 *
 * May sleep, for as long as a PF is waited for.
 *
 * Context: May sleep.
 */
void meridian_sync_vf(struct meridian *m)
{
	u32 flags = meridian_read(m, MERIDIAN_VF_FLAGS);
	struct wishes wishes;

	mutex_lock(&m->card->lock);
	/* The administrator has said another thing of the VF. */
	if (flags != m->seen_flags)
		forget_flags(m);
	WRITE_ONCE(m->seen_flags, flags);
	if (collect(m, &wishes)) {
		set_bit(MERIDIAN_FLAG_FILTER, &m->flags);
		ask_flags(m, PROMISCUOUS | ALL_MULTICAST);
	} else {
		/* Who goes makes room for who comes. */
		drop_unwished(m, &wishes);
		if (!wishes.is_unheard)
			tell_addresses(m, &wishes);
	}
	/* A PF that comes back is not to miss what it was not told. */
	if (wishes.is_unheard)
		set_bit(MERIDIAN_FLAG_UNHEARD, &m->flags);
	else
		clear_bit(MERIDIAN_FLAG_UNHEARD, &m->flags);
	kvfree(wishes.address);
	mutex_unlock(&m->card->lock);
}

/* The PF may have any of them. */
static void doubt_addresses(struct meridian *m)
{
	struct known *known;

	list_for_each_entry(known, &m->entries, list)
		known->is_held = false;
}

/* Another VF that joins groups and leaves them can bring it about again and again. */
static void say_lost(struct meridian *m, u32 count)
{
	count = meridian_tell(&m->lost_told, count);
	if (count)
		netdev_warn(m->netdev,
			    "the PF has taken %u addresses from the VF: they are asked for again\n",
			    count);
}

/* Returns 0 or a negative error. */
static int ask_lost(struct meridian *m, u32 *lost)
{
	struct qdma_message request, answer;
	int error;

	qdma_message_init(&request, MERIDIAN_OP_CONFIG, m->function, 0);
	error = meridian_ask_pf_briefly(m, &request, &answer);
	if (!error)
		*lost = get_unaligned_le32(&answer.byte[MERIDIAN_CONFIG_LOST]);
	return error;
}

/**
 * meridian_see_losses() - ask whether the PF has taken addresses from the VF
 * @m: a VF that is up
 *
 * It does so where others need the room, or had an address while the VF had no queues.
 *
 * Context: May sleep.
 * Return: whether it has; then the VF is to ask for all again.
 */
bool meridian_see_losses(struct meridian *m)
{
	bool is_more = false;
	u32 lost;

	mutex_lock(&m->card->lock);
	if (!list_empty(&m->entries) && !ask_lost(m, &lost)) {
		is_more = lost > m->lost;
		if (is_more) {
			say_lost(m, lost - m->lost);
			doubt_addresses(m);
		}
		m->lost = lost;
	}
	mutex_unlock(&m->card->lock);
	return is_more;
}

/**
 * meridian_see_flags() - look whether the administrator trusts the VF now, or no longer
 * @m: a VF that is up
 *
 * Context: Does not sleep.
 * Return: whether the VF is to ask its PF again.
 */
bool meridian_see_flags(struct meridian *m)
{
	u32 flags = meridian_read(m, MERIDIAN_VF_FLAGS);

	return flags != QDMA_ALL_ONES && flags != READ_ONCE(m->seen_flags);
}

/**
 * meridian_forget_addresses() - the PF forgets what it was told
 * @m: a VF
 *
 * Context: Does not sleep.
 */
void meridian_forget_addresses(struct meridian *m)
{
	struct known *known, *next;

	list_for_each_entry_safe(known, next, &m->entries, list)
		forget(known);
}
