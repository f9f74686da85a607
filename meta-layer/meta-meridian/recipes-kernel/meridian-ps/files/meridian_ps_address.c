// SPDX-License-Identifier: GPL-2.0-only
/*
 * The address that a port has from the start: what the device tree or a memory that it names says;
 * else one made of what this chip alone has, so that it is the same at each start; else any.
 */
#include <linux/etherdevice.h>
#include <linux/nvmem-consumer.h>
#include <linux/of.h>
#include <linux/of_net.h>
#include <linux/siphash.h>
#include <linux/slab.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

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

/**
 * meridian_ps_take_address() - give a port its address
 * @port: whose netdev is not registered
 * @node: of the port in the device tree, or NULL
 *
 * Return: 0, or -EPROBE_DEFER if a memory that the device tree names is not there yet.
 */
int meridian_ps_take_address(struct meridian_ps_port *port, struct device_node *node)
{
	int error = node ? of_get_ethdev_address(node, port->netdev) : -ENODEV;
	u8 address[ETH_ALEN];
	u64 hash;

	if (!error || error == -EPROBE_DEFER)
		return error;
	error = hash_of_cell(port->card, &hash);
	if (error == -EPROBE_DEFER)
		return error;
	if (error)
		error = hash_of_serial(&hash);
	if (error) {
		eth_hw_addr_random(port->netdev);
		dev_info(port->card->dev, "port %u: no address in the device tree, %pM by chance\n",
			 port->index, port->netdev->dev_addr);
		return 0;
	}
	u64_to_ether_addr(hash + port->index, address);
	/* Locally administered, of one station. */
	address[0] = (address[0] | 0x02) & ~0x01;
	eth_hw_addr_set(port->netdev, address);
	return 0;
}
