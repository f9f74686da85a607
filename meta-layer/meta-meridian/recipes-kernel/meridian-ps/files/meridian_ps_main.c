// SPDX-License-Identifier: GPL-2.0-only
/* The card as a platform device: what it is, its memory, its one interrupt. */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/rtnetlink.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

/* The registers that the PS sees. */
#define WINDOW		MERIDIAN_PS_RING_PS_BASE(MERIDIAN_PS_PORTS)
#define ADDRESS_BITS	40

/* The first minor version of the register map that has the counts of the MACs' clocks. */
#define CLOCKS_MINOR	19

/* Whether this is a card that the driver knows; says in a sentence why not. */
static int identify(struct meridian_ps *card)
{
	u32 needed = MERIDIAN_IDENT_CAPABILITIES_PTP_CLOCK_MASK |
		     MERIDIAN_IDENT_CAPABILITIES_PS_PORT_MASK;
	u32 magic = meridian_ps_read(card, MERIDIAN_IDENT_PS_BASE + MERIDIAN_IDENT_MAGIC);
	u32 version = meridian_ps_read(card, MERIDIAN_IDENT_PS_BASE + MERIDIAN_IDENT_VERSION);
	u32 major = FIELD_GET(MERIDIAN_IDENT_VERSION_MAJOR_MASK, version);
	u32 minor = FIELD_GET(MERIDIAN_IDENT_VERSION_MINOR_MASK, version);
	struct device *dev = card->dev;

	if (magic != MERIDIAN_MAGIC)
		return dev_err_probe(dev, -ENODEV,
				     "no Meridian shell here: its magic is %#010x, not %#010x; is its bitstream loaded?\n",
				     magic, MERIDIAN_MAGIC);
	if (major != MERIDIAN_MAP_MAJOR)
		return dev_err_probe(dev, -ENODEV,
				     "the shell's register map is version %u.%u, this driver knows %u.%u: take the driver that came with the bitstream\n",
				     major, minor, MERIDIAN_MAP_MAJOR, MERIDIAN_MAP_MINOR);
	card->has_clocks = minor >= CLOCKS_MINOR;
	card->capabilities = meridian_ps_read(card, MERIDIAN_IDENT_PS_BASE +
						    MERIDIAN_IDENT_CAPABILITIES);
	if ((card->capabilities & needed) != needed)
		return dev_err_probe(dev, -ENODEV,
				     "the shell has no PS port or no PTP clock: its capabilities are %#x\n",
				     card->capabilities);
	card->ports = FIELD_GET(MERIDIAN_IDENT_GEOMETRY_PORTS_MASK,
				meridian_ps_read(card, MERIDIAN_IDENT_PS_BASE +
						       MERIDIAN_IDENT_GEOMETRY));
	card->addresses = FIELD_GET(MERIDIAN_IDENT_TABLES_PS_ADDRESSES_MASK,
				    meridian_ps_read(card, MERIDIAN_IDENT_PS_BASE +
							   MERIDIAN_IDENT_TABLES));
	card->longest = min_t(u32, MERIDIAN_PS_LONGEST,
			      meridian_ps_read(card, MERIDIAN_IDENT_PS_BASE +
						     MERIDIAN_IDENT_MAX_FRAME));
	if (!card->ports || card->ports > MERIDIAN_PS_PORTS || !card->addresses ||
	    card->addresses > MERIDIAN_PS_ADDRESSES || card->longest < ETH_FRAME_LEN + VLAN_HLEN)
		return dev_err_probe(dev, -ENODEV,
				     "the shell has %u ports, %u addresses a port and frames of %u bytes, which cannot be\n",
				     card->ports, card->addresses, card->longest);
	return 0;
}

/* A probe that is deferred does not come here: the log has it once. */
static void tell_shell(struct meridian_ps *card)
{
	u32 version = meridian_ps_read(card, MERIDIAN_IDENT_PS_BASE + MERIDIAN_IDENT_VERSION);

	dev_info(card->dev, "register map %u.%u, build %08x, %u ports\n",
		 FIELD_GET(MERIDIAN_IDENT_VERSION_MAJOR_MASK, version),
		 FIELD_GET(MERIDIAN_IDENT_VERSION_MINOR_MASK, version),
		 meridian_ps_read(card, MERIDIAN_IDENT_PS_BASE + MERIDIAN_IDENT_BUILD_HASH),
		 card->ports);
}

/* Masks what is enabled and has nobody to look after it; whether there was something. */
static bool mask_others(struct meridian_ps *card)
{
	bool is_ours = meridian_ps_mask_events(card);
	unsigned int i;

	for (i = 0; i < card->ports; i++)
		is_ours |= meridian_ps_mask_port(card->port[i]);
	return is_ours;
}

static irqreturn_t interrupt(int irq, void *data)
{
	struct meridian_ps *card = data;
	bool is_ours = meridian_ps_ptp_interrupt(card);
	unsigned int i;

	is_ours |= meridian_ps_box_interrupt(card);
	for (i = 0; i < card->ports; i++)
		is_ours |= meridian_ps_port_interrupt(card->port[i]);
	return IRQ_RETVAL(is_ours || mask_others(card));
}

static int probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct meridian_ps *card;
	struct resource *window;
	int error;
	unsigned int i;

	card = devm_kzalloc(dev, sizeof(*card), GFP_KERNEL);
	if (!card)
		return -ENOMEM;
	card->dev = dev;
	spin_lock_init(&card->counter_lock);
	platform_set_drvdata(pdev, card);
	card->regs = devm_platform_get_and_ioremap_resource(pdev, 0, &window);
	if (IS_ERR(card->regs))
		return PTR_ERR(card->regs);
	if (resource_size(window) < WINDOW)
		return dev_err_probe(dev, -EINVAL, "reg is %pR, the shell has %#x bytes\n",
				     window, WINDOW);
	error = identify(card);
	if (error)
		return error;
	error = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(ADDRESS_BITS));
	if (error)
		return dev_err_probe(dev, error, "no memory within %u bits\n", ADDRESS_BITS);
	card->irq = platform_get_irq(pdev, 0);
	if (card->irq < 0)
		return card->irq;
	/* Whatever ran here before may have left causes enabled, and rings that write to memory. */
	error = meridian_ps_init_ptp(card) ?: meridian_ps_init_box(card) ?:
		meridian_ps_init_watch(card);
	for (i = 0; !error && i < card->ports; i++)
		error = meridian_ps_add_port(card, i);
	if (!error)
		tell_shell(card);
	for (i = 0; !error && i < card->ports; i++)
		error = meridian_ps_begin_port(card->port[i]);
	if (!error)
		error = meridian_ps_init_devlink(card);
	if (!error)
		error = devm_request_irq(dev, card->irq, interrupt, 0, dev_name(dev), card) ?:
			meridian_ps_add_box_files(card);
	if (error)
		return dev_err_probe(dev, error, "cannot start\n");
	/* Users see the ports when all else is there. */
	for (i = 0; !error && i < card->ports; i++)
		error = devm_register_netdev(dev, card->port[i]->netdev) ?:
			meridian_ps_add_latency_files(card->port[i]);
	return error;
}

/* The next kernel finds no ring that writes to its memory. */
static void shutdown(struct platform_device *pdev)
{
	struct meridian_ps *card = platform_get_drvdata(pdev);
	unsigned int i;

	rtnl_lock();
	for (i = 0; i < card->ports; i++)
		dev_close(card->port[i]->netdev);
	rtnl_unlock();
}

static const struct of_device_id matches[] = {
	{ .compatible = "meridian,shell-1" },
	/* What trees had before the register map's major version was in the name. */
	{ .compatible = "meridian,shell" },
	{}
};
MODULE_DEVICE_TABLE(of, matches);

static struct platform_driver meridian_ps_driver = {
	.probe = probe,
	.shutdown = shutdown,
	.driver = {
		.name = MERIDIAN_PS_NAME,
		.of_match_table = matches,
		.pm = pm_sleep_ptr(&meridian_ps_pm_ops),
	},
};
module_platform_driver(meridian_ps_driver);

MODULE_DESCRIPTION("The ARM side of the Meridian SmartNIC shell");
MODULE_LICENSE("GPL");
