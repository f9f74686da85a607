/* SPDX-License-Identifier: BSD-3-Clause */
/* The card's receive filter: brought in line with what ethdev wants to receive, entry by entry. */
#include <stdlib.h>
#include <string.h>

#include "meridian.h"

/* A list of addresses that are wanted. */
struct wanted {
	struct meridian_entry *entry;
	uint32_t count;
	uint32_t room;
};

static int
install(struct meridian *m, const struct meridian_entry *entry)
{
	if (rte_is_multicast_ether_addr(&entry->address))
		return meridian_join_group(m, m->function, &entry->address, entry->vid);
	return meridian_mac_add(m, &entry->address, entry->vid, m->function);
}

/* An entry of the PF's that is to find room. */
struct newcomer {
	struct meridian *m;
	const struct meridian_entry *entry;
};

static bool
fits(void *argument)
{
	const struct newcomer *new = argument;

	return install(new->m, new->entry) == 0;
}

/* What VFs without trust have asked for gives way. */
static int
install_firmly(struct meridian *m, const struct meridian_entry *entry)
{
	struct newcomer new = { .m = m, .entry = entry };
	int error = install(m, entry);

	return error == -ENOSPC && qdma_make_room(m->card->services, fits, &new) ? 0 : error;
}

static void
uninstall(struct meridian *m, const struct meridian_entry *entry)
{
	if (rte_is_multicast_ether_addr(&entry->address))
		meridian_leave_group(m, m->function, &entry->address, entry->vid);
	else
		meridian_mac_remove(m, &entry->address, entry->vid, m->function);
}

static int
want(struct wanted *wanted, const struct rte_ether_addr *address, uint16_t vid)
{
	struct meridian_entry *more;

	if (wanted->count == wanted->room) {
		wanted->room = RTE_MAX(64u, 2 * wanted->room);
		more = realloc(wanted->entry, wanted->room * sizeof(*more));
		if (more == NULL)
			return -ENOMEM;
		wanted->entry = more;
	}
	wanted->entry[wanted->count++] = (struct meridian_entry){ .address = *address, .vid = vid };
	return 0;
}

static int
want_unicast(struct meridian *m, struct wanted *wanted, const struct rte_ether_addr *address)
{
	uint64_t offloads = m->data->dev_conf.rxmode.offloads;
	uint16_t vid;
	int error;

	if (!(offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER))
		return want(wanted, address, MERIDIAN_ANY_VLAN);
	error = want(wanted, address, 0);
	for (vid = 1; vid < 4095 && !error; vid++) {
		if (m->vlans[vid / 64] >> (vid % 64) & 1)
			error = want(wanted, address, vid);
	}
	return error;
}

/* Sets the flags of what is wanted beside the list. */
static int
collect(struct meridian *m, struct wanted *wanted, uint32_t *flags)
{
	const struct rte_eth_dev_data *data = m->data;
	uint32_t i;
	int error = 0;

	*flags = MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK | MERIDIAN_FUNCTION_FLAGS_TRUSTED_MASK;
	for (i = 0; i < MERIDIAN_ADDRESSES && !error; i++) {
		if (!rte_is_zero_ether_addr(&data->mac_addrs[i]))
			error = want_unicast(m, wanted, &data->mac_addrs[i]);
	}
	if (data->promiscuous)
		*flags |= MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK;
	if (data->promiscuous || data->all_multicast) {
		*flags |= MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK;
		return error;
	}
	for (i = 0; i < m->multicasts && !error; i++)
		error = want(wanted, &m->multicast[i], MERIDIAN_ANY_VLAN);
	return error;
}

static struct meridian_entry *
find(struct meridian_entry *list, uint32_t count, const struct meridian_entry *like)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (list[i].vid == like->vid &&
		    rte_is_same_ether_addr(&list[i].address, &like->address))
			return &list[i];
	}
	return NULL;
}

/* Who goes makes room for who comes; what is in both lists is never away. */
static void
sweep(struct meridian *m, const struct wanted *wanted)
{
	uint32_t i;

	for (i = 0; i < m->entry_count; i++) {
		if (!find(wanted->entry, wanted->count, &m->entries[i]))
			uninstall(m, &m->entries[i]);
	}
}

/* What is received by the flag that is wider than an address. */
static uint32_t
wider_than(const struct meridian_entry *entry)
{
	return rte_is_multicast_ether_addr(&entry->address) ?
	       MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK :
	       MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK;
}

/* An address that does not fit is received by a wider flag, but not what is another's. */
static uint32_t
fall_back(struct meridian *m, const struct meridian_entry *entry, int error)
{
	uint32_t wider = error == -EADDRINUSE ? 0 : wider_than(entry);
	const char *instead = "receiving everything instead";

	/* Who adds addresses one by one need not read it each time. */
	if (wider & m->widened)
		return wider;
	if (!wider)
		instead = "another function has it, or the card's PS";
	else if (wider == MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK)
		instead = "receiving all multicast instead";
	MERIDIAN_LOG(WARNING, "%s: the card's filter does not take " RTE_ETHER_ADDR_PRT_FMT
		     " (%s): %s", m->data->name, RTE_ETHER_ADDR_BYTES(&entry->address),
		     strerror(-error), instead);
	return wider;
}

static bool
has_address(const struct meridian_entry *list, uint32_t count, const struct rte_ether_addr *address)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (rte_is_same_ether_addr(&list[i].address, address))
			return true;
	}
	return false;
}

/* Who has an address in one VLAN has it in all. */
static bool
is_had(const struct meridian *m, const struct wanted *wanted, uint32_t kept,
	const struct rte_ether_addr *address)
{
	return rte_is_multicast_ether_addr(address) || has_address(wanted->entry, kept, address) ||
	       has_address(m->entries, m->entry_count, address);
}

/* What does not fit leaves the list, and so does what the flag receives that comes in its place. */
static uint32_t
install_wanted(struct meridian *m, struct wanted *wanted)
{
	struct rte_ether_addr refused = { 0 };
	uint32_t flags = 0, kept = 0, i;

	for (i = 0; i < wanted->count; i++) {
		struct meridian_entry *entry = &wanted->entry[i];
		bool is_there;
		int error = 0;

		if (find(wanted->entry, kept, entry) ||
		    rte_is_same_ether_addr(&entry->address, &refused))
			continue;
		is_there = find(m->entries, m->entry_count, entry) != NULL;
		if (!is_there && flags & wider_than(entry))
			continue;
		if (!is_had(m, wanted, kept, &entry->address))
			error = meridian_claim(m, m->function, &entry->address);
		if (!error && !is_there)
			error = install_firmly(m, entry);
		if (error == -EADDRINUSE)
			refused = entry->address;
		if (error)
			flags |= fall_back(m, entry, error);
		else
			wanted->entry[kept++] = *entry;
	}
	wanted->count = kept;
	return flags;
}

/**
 * meridian_sync_filter() - bring the card's filter in line with ethdev's lists
 * @m: a PF
 *
 * Return: 0 or a negative errno.
 */
int
meridian_sync_filter(struct meridian *m)
{
	struct wanted wanted = { 0 };
	uint32_t flags;
	int error;

	error = collect(m, &wanted, &flags);
	if (error) {
		free(wanted.entry);
		return error;
	}
	pthread_mutex_lock(&m->card->lock);
	sweep(m, &wanted);
	m->widened = install_wanted(m, &wanted);
	flags |= m->widened;
	free(m->entries);
	m->entries = wanted.entry;
	m->entry_count = wanted.count;
	meridian_write_function(m, MERIDIAN_FUNCTION_FLAGS, flags);
	meridian_flush(m);
	pthread_mutex_unlock(&m->card->lock);
	return meridian_present(m) ? 0 : -EIO;
}

/* Takes all of the function's entries out of the card. */
void
meridian_clear_filter(struct meridian *m)
{
	uint32_t i;

	pthread_mutex_lock(&m->card->lock);
	for (i = 0; i < m->entry_count; i++)
		uninstall(m, &m->entries[i]);
	free(m->entries);
	m->entries = NULL;
	m->entry_count = 0;
	m->widened = 0;
	pthread_mutex_unlock(&m->card->lock);
}
