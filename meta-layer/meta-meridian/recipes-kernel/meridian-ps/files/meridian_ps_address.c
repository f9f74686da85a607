// SPDX-License-Identifier: GPL-2.0-only
/*
 * The address that a port has from the start: what the device tree or a memory that it names says;
 * else one made of what this chip alone has, so that it is the same at each start; else any. The
 * host's PFs have such addresses, too, which the card tells them.
 */
#include <linux/etherdevice.h>
#include <linux/nvmem-consumer.h>
#include <linux/of.h>
#include <linux/of_net.h>
#include <linux/siphash.h>
#include <linux/slab.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define PROPERTY	"meridian,host-mac-addresses"

/* Of the addresses; any constant does. */
static const siphash_key_t key = { { 0x6d6572696469616eULL, 0x2070732061646472ULL } };

/* A number of the chip, as its DNA, by the nvmem cell "unique-id"; 0 or a negative error. */
static int hash_of_cell(struct meridian_ps *card, u64 *hash)
{
	struct nvmem_cell *cell = nvmem_cell_get(card->dev, "unique-id");
	size_t length;
	void *bytes;

	if (IS_ERR(cell))
		return PTR_ERR(cell);
	bytes = nvmem_cell_read(cell, &length);
	nvmem_cell_put(cell);
	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	*hash = siphash(bytes, length, &key);
	/* Fuses that nobody wrote are no number. */
	length = memchr_inv(bytes, 0, length) ? length : 0;
	kfree(bytes);
	return length ? 0 : -ENODATA;
}

/* The board's serial number, as the boot loader has put it into the device tree. */
static int hash_of_serial(u64 *hash)
{
	struct device_node *root = of_find_node_by_path("/");
	const char *serial;
	int error;

	error = of_property_read_string(root, "serial-number", &serial);
	if (!error && !*serial)
		error = -ENODATA;
	if (!error)
		*hash = siphash(serial, strlen(serial), &key);
	of_node_put(root);
	return error;
}

/* Of the board; 0 or a negative error. */
static int hash_of_board(struct meridian_ps *card, u64 *hash)
{
	int error = hash_of_cell(card, hash);

	return error && error != -EPROBE_DEFER ? hash_of_serial(hash) : error;
}

/* Addresses of a board are in a row. */
static void make_address(u8 *address, u64 hash, unsigned int number)
{
	u64_to_ether_addr(hash + number, address);
	/* Locally administered, of one station. */
	address[0] = (address[0] | 0x02) & ~0x01;
}

/*
 * Returns how many addresses the device tree has, or a negative error: -EINVAL if there is no such
 * property, another one if it is not made of addresses.
 */
static int read_addresses(const struct device_node *node, u8 (*address)[ETH_ALEN])
{
	const size_t most = MERIDIAN_PORT_HOST_ADDRESS_LOW_MAX * ETH_ALEN;
	int bytes = -EINVAL;

	if (node)
		bytes = of_property_read_variable_u8_array(node, PROPERTY, address[0], ETH_ALEN,
							   most);
	if (bytes < 0)
		return bytes;
	return bytes && bytes % ETH_ALEN == 0 ? bytes / ETH_ALEN : -EOVERFLOW;
}

/**
 * meridian_ps_take_address() - give a port its address
 * @port: whose netdev is not registered
 * @node: of the port in the device tree, or NULL
 *
 * Waits for all that meridian_ps_tell_host() will need, too. The log hears nothing of it: a probe
 * that is deferred comes here again.
 *
 * Context: May sleep.
 * Return: 0, or -EPROBE_DEFER if a memory that the device tree names is not there yet.
 */
int meridian_ps_take_address(struct meridian_ps_port *port, struct device_node *node)
{
	u8 address[MERIDIAN_PORT_HOST_ADDRESS_LOW_MAX][ETH_ALEN];
	int error = node ? of_get_ethdev_address(node, port->netdev) : -ENODEV;
	int board;
	u64 hash;

	if (error == -EPROBE_DEFER)
		return error;
	if (!error && read_addresses(node, address) > 0)
		return 0;
	board = hash_of_board(port->card, &hash);
	if (board == -EPROBE_DEFER)
		return board;
	if (error && board) {
		eth_hw_addr_random(port->netdev);
	} else if (error) {
		make_address(address[0], hash, port->index);
		eth_hw_addr_set(port->netdev, address[0]);
	}
	return 0;
}

static void tell_host(struct meridian_ps_port *port, unsigned int pf, const u8 *address)
{
	meridian_ps_port_write(port, MERIDIAN_PORT_HOST_ADDRESS_HIGH(pf), 0);
	meridian_ps_port_write(port, MERIDIAN_PORT_HOST_ADDRESS_LOW(pf),
			       get_unaligned_le32(address));
	meridian_ps_port_write(port, MERIDIAN_PORT_HOST_ADDRESS_HIGH(pf),
			       MERIDIAN_PORT_HOST_ADDRESS_HIGH_VALID_MASK |
			       get_unaligned_le16(&address[4]));
}

/**
 * meridian_ps_tell_host() - tell the host's PFs their addresses on a port
 * @port: that has its address by meridian_ps_take_address()
 * @node: of the port in the device tree, or NULL
 *
 * Those of the device tree, of which the log names what is no address; else some that are made of
 * the board as the port's own. Without either the card keeps what a PF's driver has chosen. A PF
 * takes what it is told when its driver is loaded next.
 *
 * Context: May sleep.
 */
void meridian_ps_tell_host(struct meridian_ps_port *port, struct device_node *node)
{
	u8 address[MERIDIAN_PORT_HOST_ADDRESS_LOW_MAX][ETH_ALEN];
	int count = read_addresses(node, address), pf;
	struct device *dev = port->card->dev;
	u64 hash;

	if (port->netdev->addr_assign_type == NET_ADDR_RANDOM)
		dev_info(dev, "port %u: no address in the device tree, %pM by chance\n",
			 port->index, port->netdev->dev_addr);
	if (count < 0 && count != -EINVAL)
		dev_warn(dev,
			 "port %u: %s is ignored: it is not one to four addresses of six bytes\n",
			 port->index, PROPERTY);
	if (count < 0) {
		if (hash_of_board(port->card, &hash))
			return;
		/* Behind those of the PS. */
		for (pf = 0; pf < ARRAY_SIZE(address); pf++)
			make_address(address[pf], hash,
				     (1 + pf) * MERIDIAN_PORT_MAX + port->index);
		count = ARRAY_SIZE(address);
	}
	for (pf = 0; pf < count; pf++) {
		if (is_valid_ether_addr(address[pf]))
			tell_host(port, pf, address[pf]);
		else
			dev_warn(dev, "port %u: %s has no address for PF %d: %pM\n", port->index,
				 PROPERTY, pf, address[pf]);
	}
}
