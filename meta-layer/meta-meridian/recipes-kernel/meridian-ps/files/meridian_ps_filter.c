// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which frames of the wire the PS gets. The card matches a few addresses; frames to them are not
 * the host's unless they are multicast, and find room in the card's buffers when a storm of others
 * fills them. So the port's own address and the groups of PTP come first, and what does not fit is
 * got by the wider switches: all multicast, or a copy of everything.
 */
#include <linux/etherdevice.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define VALID	BIT_ULL(63)	/* as in the registers, high word above low word */

/* What a filter is to hold. */
struct wanted {
	u64 address[MERIDIAN_PS_ADDRESSES];
	u32 count;
	u32 limit;
};

/* First byte on the wire lowest. */
static u64 entry_of(const u8 *address)
{
	u64 entry = VALID;
	int i;

	for (i = 0; i < ETH_ALEN; i++)
		entry |= (u64)address[i] << 8 * i;
	return entry;
}

static bool add(struct wanted *wanted, const u8 *address)
{
	u64 entry = entry_of(address);
	u32 i;

	for (i = 0; i < wanted->count; i++) {
		if (wanted->address[i] == entry)
			return true;
	}
	if (wanted->count == wanted->limit)
		return false;
	wanted->address[wanted->count++] = entry;
	return true;
}

/* The addresses of IEEE 1588 over Ethernet, IPv4 and IPv6 of any scope. */
static bool is_ptp(const u8 *address)
{
	static const u8 known[][ETH_ALEN] = {
		{ 0x01, 0x1b, 0x19, 0x00, 0x00, 0x00 },
		{ 0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e },
		{ 0x01, 0x00, 0x5e, 0x00, 0x01, 0x81 },
		{ 0x01, 0x00, 0x5e, 0x00, 0x00, 0x6b },
		{ 0x33, 0x33, 0x00, 0x00, 0x01, 0x81 },
		{ 0x33, 0x33, 0x00, 0x00, 0x00, 0x6b },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (ether_addr_equal(address, known[i]))
			return true;
	}
	return false;
}

static bool add_multicast(struct wanted *wanted, struct net_device *netdev, bool of_ptp)
{
	struct netdev_hw_addr *address;
	bool ok = true;

	netdev_for_each_mc_addr(address, netdev) {
		if (is_ptp(address->addr) == of_ptp)
			ok &= add(wanted, address->addr);
	}
	return ok;
}

static bool add_unicast(struct wanted *wanted, struct net_device *netdev)
{
	struct netdev_hw_addr *address;
	bool ok = true;

	netdev_for_each_uc_addr(address, netdev)
		ok &= add(wanted, address->addr);
	return ok;
}

static void write_entry(struct meridian_ps_port *port, u32 index, u64 entry)
{
	meridian_ps_port_write(port, MERIDIAN_PORT_PS_ADDRESS_HIGH(index), 0);
	port->address[index] = entry;
	if (!entry)
		return;
	meridian_ps_port_write(port, MERIDIAN_PORT_PS_ADDRESS_LOW(index), lower_32_bits(entry));
	meridian_ps_port_write(port, MERIDIAN_PORT_PS_ADDRESS_HIGH(index), upper_32_bits(entry));
}

static bool take(struct wanted *wanted, u64 entry)
{
	u32 i;

	for (i = 0; i < wanted->count; i++) {
		if (wanted->address[i] == entry) {
			wanted->address[i] = wanted->address[--wanted->count];
			return true;
		}
	}
	return false;
}

/* What stays is not touched: no frame to it is missed. */
static void write_entries(struct meridian_ps_port *port, struct wanted *wanted)
{
	u32 i;

	for (i = 0; i < port->card->addresses; i++) {
		if (port->address[i] && !take(wanted, port->address[i]))
			write_entry(port, i, 0);
	}
	for (i = 0; i < port->card->addresses && wanted->count; i++) {
		if (!port->address[i])
			write_entry(port, i, wanted->address[--wanted->count]);
	}
}

/**
 * meridian_ps_set_rx_mode() - bring the card's filter to what the netdev wants
 * @netdev: of the port, whose address lock is held
 *
 * Context: Does not sleep.
 */
void meridian_ps_set_rx_mode(struct net_device *netdev)
{
	u32 filter = MERIDIAN_PORT_PS_FILTER_ENABLE_MASK | MERIDIAN_PORT_PS_FILTER_BROADCAST_MASK;
	struct meridian_ps_port *port = netdev_priv(netdev);
	struct wanted wanted = { .limit = port->card->addresses };

	if (!test_bit(MERIDIAN_PS_FLAG_UP, &port->flags))
		return;
	add(&wanted, netdev->dev_addr);
	if (!add_multicast(&wanted, netdev, true))
		filter |= MERIDIAN_PORT_PS_FILTER_ALL_MULTICAST_MASK;
	if (!add_unicast(&wanted, netdev) || netdev->flags & IFF_PROMISC)
		filter |= MERIDIAN_PORT_PS_FILTER_PROMISCUOUS_MASK;
	if (!add_multicast(&wanted, netdev, false) || netdev->flags & IFF_ALLMULTI)
		filter |= MERIDIAN_PORT_PS_FILTER_ALL_MULTICAST_MASK;
	write_entries(port, &wanted);
	meridian_ps_port_write(port, MERIDIAN_PORT_PS_FILTER, filter);
}

/**
 * meridian_ps_close_filter() - receive nothing
 * @port: whatever its filter holds; its netdev's address lock is held, if others know it
 *
 * Context: Does not sleep.
 */
void meridian_ps_close_filter(struct meridian_ps_port *port)
{
	u32 i;

	meridian_ps_port_write(port, MERIDIAN_PORT_PS_FILTER, 0);
	for (i = 0; i < port->card->addresses; i++)
		write_entry(port, i, 0);
}

/**
 * meridian_ps_set_mac_address() - take another address of the netdev's own
 * @netdev: of the port
 * @data: struct sockaddr
 *
 * Context: Does not sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_set_mac_address(struct net_device *netdev, void *data)
{
	int error = eth_prepare_mac_addr_change(netdev, data);

	if (error)
		return error;
	netif_addr_lock_bh(netdev);
	eth_commit_mac_addr_change(netdev, data);
	meridian_ps_set_rx_mode(netdev);
	netif_addr_unlock_bh(netdev);
	return 0;
}
