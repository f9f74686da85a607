// SPDX-License-Identifier: GPL-2.0-only
/* What a card is and has, and the address that it has for a PF. */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>

#include "compat.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_filter.h"
#include "meridian_hw.h"

/* The PS writes addresses as its driver is loaded, and not again. */
#define ADDRESS_TRIES	8

static u32 read_ident(struct meridian *m, u32 offset)
{
	return meridian_read(m, MERIDIAN_IDENT_BASE + offset);
}

/**
 * meridian_check_magic() - look whether this is a card, or a VF of one
 * @m: a function whose BARs are mapped
 *
 * Says in a sentence why not. Does nothing but read.
 *
 * Context: Does not sleep.
 * Return: 0 or -ENODEV.
 */
int meridian_check_magic(struct meridian *m)
{
	u32 magic = meridian_is_vf(m->pdev) ? meridian_read(m, MERIDIAN_VF_MAGIC) :
					      read_ident(m, MERIDIAN_IDENT_MAGIC);
	struct device *dev = &m->pdev->dev;

	if (magic == MERIDIAN_MAGIC)
		return 0;
	if (magic == QDMA_ALL_ONES)
		dev_err(dev, "the card does not answer: every read gives all ones\n");
	else
		dev_info(dev, "this is no Meridian card: its magic is %#010x, not %#010x\n",
			 magic, MERIDIAN_MAGIC);
	return -ENODEV;
}

/**
 * meridian_identify() - look whether this is a card that the driver knows, and what it has
 * @m: a PF with the magic
 *
 * Says in a sentence why not.
 *
 * Context: Does not sleep.
 * Return: 0 or a negative error.
 */
int meridian_identify(struct meridian *m)
{
	u32 version = read_ident(m, MERIDIAN_IDENT_VERSION);
	u32 major = FIELD_GET(MERIDIAN_IDENT_VERSION_MAJOR_MASK, version);
	u32 minor = FIELD_GET(MERIDIAN_IDENT_VERSION_MINOR_MASK, version);
	struct device *dev = &m->pdev->dev;
	u32 geometry, queues;
	int error;

	if (major != MERIDIAN_MAP_MAJOR || minor < MERIDIAN_MAP_MINOR) {
		dev_err(dev, "the card's register map is version %u.%u, this driver knows %u.%u: take the driver that came with the card's image\n",
			major, minor, MERIDIAN_MAP_MAJOR, MERIDIAN_MAP_MINOR);
		return -ENODEV;
	}
	error = qdma_identify(&m->qdma, m->qdma.bar);
	if (error) {
		dev_err(dev, "BAR 0 is not that of a QDMA with streams: %d\n", error);
		return error;
	}
	m->function = m->qdma.function;
	if (m->function >= MERIDIAN_PFS) {
		dev_err(dev, "the card says this is function %u, which is no PF\n", m->function);
		return -ENODEV;
	}
	geometry = read_ident(m, MERIDIAN_IDENT_GEOMETRY);
	m->ports = FIELD_GET(MERIDIAN_IDENT_GEOMETRY_PORTS_MASK, geometry);
	m->functions = FIELD_GET(MERIDIAN_IDENT_GEOMETRY_FUNCTIONS_MASK, geometry);
	m->card->groups = min_t(u32, MERIDIAN_GROUPS,
				FIELD_GET(MERIDIAN_IDENT_QUEUES_GROUPS_MASK,
					  read_ident(m, MERIDIAN_IDENT_QUEUES)));
	m->card->mac_entries = FIELD_GET(MERIDIAN_IDENT_TABLES_MAC_ENTRIES_MASK,
					 read_ident(m, MERIDIAN_IDENT_TABLES));
	m->vlan_entries = meridian_vlan_entries(m);
	m->max_frame = read_ident(m, MERIDIAN_IDENT_MAX_FRAME);
	m->qdma.user_mhz = FIELD_GET(MERIDIAN_IDENT_CLOCKS_HOST_MHZ_MASK,
				     read_ident(m, MERIDIAN_IDENT_CLOCKS));
	m->capabilities = read_ident(m, MERIDIAN_IDENT_CAPABILITIES);
	m->port = FIELD_GET(MERIDIAN_FUNCTION_PORT_PORT_MASK,
			    meridian_read_function(m, MERIDIAN_FUNCTION_PORT));
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_LINK_STATE_MASK))
		m->gigabits = FIELD_GET(MERIDIAN_PORT_LINK_STATUS_GIGABITS_MASK,
					meridian_read(m, MERIDIAN_PORT_BASE(m->port) +
						      MERIDIAN_PORT_LINK_STATUS));
	m->queue_base = MERIDIAN_QUEUES * m->function;
	queues = min_t(u32, m->qdma.queues, FIELD_GET(MERIDIAN_IDENT_QUEUES_QUEUES_MASK,
						      read_ident(m, MERIDIAN_IDENT_QUEUES)));
	m->queue_limit = min(MERIDIAN_QUEUES, (int)queues - (int)m->queue_base);
	if ((int)m->queue_limit < 1 || m->ports > MERIDIAN_PORTS || m->port >= m->ports) {
		dev_err(dev, "the card has %u queues and %u ports: none is left for function %u\n",
			queues, m->ports, m->function);
		return -ENODEV;
	}
	return 0;
}

/* Both registers of one address: the PS may write another meanwhile. Returns the second. */
static u32 read_address(struct meridian *m, u32 low, u32 high, u32 *first)
{
	u32 end = meridian_read(m, high), before;
	unsigned int tries = ADDRESS_TRIES;

	do {
		before = end;
		*first = meridian_read(m, low);
		end = meridian_read(m, high);
	} while (end != before && --tries);
	return end;
}

/**
 * meridian_have_address() - have the address that the card has for a PF on its port
 * @m: a PF whose interface is not registered
 *
 * The card's PS knows it of the board. If the card has none, it keeps one by chance from now on,
 * for any driver of the PF, until its power goes.
 *
 * Context: Does not sleep.
 */
void meridian_have_address(struct meridian *m)
{
	u32 low = MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ADDRESS_LOW(m->function);
	u32 high = MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ADDRESS_HIGH(m->function);
	u8 address[ETH_ALEN];
	u32 first, end;

	end = read_address(m, low, high, &first);
	put_unaligned_le32(first, address);
	put_unaligned_le16(FIELD_GET(MERIDIAN_PORT_HOST_ADDRESS_HIGH_ADDRESS_MASK, end),
			   &address[4]);
	if (end & MERIDIAN_PORT_HOST_ADDRESS_HIGH_VALID_MASK && is_valid_ether_addr(address)) {
		meridian_take_address(m->netdev, address);
		return;
	}
	eth_hw_addr_random(m->netdev);
	ether_addr_copy(address, m->netdev->dev_addr);
	meridian_write(m, low, get_unaligned_le32(address));
	meridian_write(m, high, MERIDIAN_PORT_HOST_ADDRESS_HIGH_VALID_MASK |
				get_unaligned_le16(&address[4]));
	dev_notice(&m->pdev->dev,
		   "the card has no address for the PF: %pM by chance, until the card's power goes\n",
		   address);
}
