// SPDX-License-Identifier: GPL-2.0-only
/* Meridian's card on PCIe: probe and remove. */
#include <linux/module.h>
#include <linux/sizes.h>

#include "compat.h"
#include "compat_devlink.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_devlink.h"
#include "meridian_frames.h"
#include "meridian_function.h"
#include "meridian_hw.h"
#include "meridian_interface.h"
#include "meridian_interrupt.h"
#include "meridian_pf_filter.h"
#include "meridian_rss.h"
#include "meridian_vfs.h"

#define BAR_QDMA	0
#define BAR_SHELL	2
#define BAR_WINDOW	4

/* Other designs around the IP have its vendor's and device's ids, too. */
#define SUBSYSTEM	0x4d52

/* Bytes of each BAR, as the IP is set up with. */
#define PF_QDMA_BYTES	SZ_256K
#define PF_SHELL_BYTES	SZ_4M
#define VF_QDMA_BYTES	SZ_32K
#define VF_SHELL_BYTES	SZ_4K

static const struct pci_device_id meridian_ids[] = {
	{ PCI_DEVICE_SUB(PCI_VENDOR_ID_XILINX, 0x903f, PCI_VENDOR_ID_XILINX, SUBSYSTEM) },
	{ PCI_DEVICE_SUB(PCI_VENDOR_ID_XILINX, 0x913f, PCI_VENDOR_ID_XILINX, SUBSYSTEM) },
	{ PCI_DEVICE_SUB(PCI_VENDOR_ID_XILINX, 0x923f, PCI_VENDOR_ID_XILINX, SUBSYSTEM) },
	{ PCI_DEVICE_SUB(PCI_VENDOR_ID_XILINX, 0x933f, PCI_VENDOR_ID_XILINX, SUBSYSTEM) },
	/* VFs of each. No setting of the IP says what their subsystem is. */
	{ PCI_VDEVICE(XILINX, 0xa03f) },
	{ PCI_VDEVICE(XILINX, 0xa13f) },
	{ PCI_VDEVICE(XILINX, 0xa23f) },
	{ PCI_VDEVICE(XILINX, 0xa33f) },
	{ }
};
MODULE_DEVICE_TABLE(pci, meridian_ids);

static bool has_bar(struct pci_dev *pdev, int bar, resource_size_t least)
{
	if (pci_resource_flags(pdev, bar) & IORESOURCE_MEM && pci_resource_len(pdev, bar) >= least)
		return true;
	dev_info(&pdev->dev, "this is no Meridian card: its BAR %d has no memory of %llu bytes\n",
		 bar, (unsigned long long)least);
	return false;
}

static int check_bars(struct pci_dev *pdev)
{
	bool is_vf = meridian_is_vf(pdev);

	if (has_bar(pdev, BAR_QDMA, is_vf ? VF_QDMA_BYTES : PF_QDMA_BYTES) &&
	    has_bar(pdev, BAR_SHELL, is_vf ? VF_SHELL_BYTES : PF_SHELL_BYTES))
		return 0;
	return -ENODEV;
}

/* Without it nothing is pushed. */
static void map_window(struct meridian *m)
{
	struct pci_dev *pdev = m->pdev;

	if (!(pci_resource_flags(pdev, BAR_WINDOW) & IORESOURCE_MEM))
		return;
	m->window = pci_ioremap_wc_bar(pdev, BAR_WINDOW);
	m->window_queues = pci_resource_len(pdev, BAR_WINDOW) / QDMA_WINDOW_BYTES;
}

static int map_bars(struct meridian *m)
{
	m->qdma.bar = pci_ioremap_bar(m->pdev, BAR_QDMA);
	m->shell = pci_ioremap_bar(m->pdev, BAR_SHELL);
	map_window(m);
	if (m->qdma.bar && m->shell)
		return 0;
	dev_err(&m->pdev->dev, "BAR %d cannot be mapped\n", m->qdma.bar ? BAR_SHELL : BAR_QDMA);
	return -ENOMEM;
}

static void unmap_bars(struct meridian *m)
{
	if (m->window)
		iounmap(m->window);
	if (m->shell)
		iounmap(m->shell);
	if (m->qdma.bar)
		iounmap(m->qdma.bar);
}

/* Takes what PCIe has of whoever had the function before; its queues are init_function()'s. */
static int reset_function(struct pci_dev *pdev)
{
	int error;

	pci_save_state(pdev);
	error = __pci_reset_function_locked(pdev);
	pci_restore_state(pdev);
	return error == -ENOTTY ? 0 : error;
}

static int init_function(struct meridian *m)
{
	int error;

	if (meridian_is_vf(m->pdev))
		return meridian_identify_vf(m);
	error = meridian_identify(m);
	if (error)
		return error;
	meridian_settle_push(m);
	error = meridian_start_function(m);
	meridian_default_hash(m);
	return error;
}

/* The administrator's limit is for PFs. */
static unsigned int most_vectors(struct meridian_devlink *devlink)
{
	return meridian_is_vf(devlink->pdev) ? UINT_MAX : meridian_may_vectors(devlink);
}

static struct meridian *alloc_function(struct meridian_devlink *devlink)
{
	struct net_device *netdev = alloc_etherdev_mq(sizeof(struct meridian), MERIDIAN_QUEUES);
	struct pci_dev *pdev = devlink->pdev;
	struct meridian *m;

	if (!netdev)
		return NULL;
	SET_NETDEV_DEV(netdev, &pdev->dev);
	dev_net_set(netdev, devlink_net(priv_to_devlink(devlink)));
	m = netdev_priv(netdev);
	m->pdev = pdev;
	m->devlink = devlink;
	m->faults = &devlink->faults;
	m->card = devlink->card;
	m->netdev = netdev;
	m->config.tx_slots = MERIDIAN_RING_DEFAULT;
	m->config.rx_slots = MERIDIAN_RING_DEFAULT;
	m->push_wish = MERIDIAN_PUSH_DEFAULT;
	meridian_default_coalesce(m);
	spin_lock_init(&m->stats_lock);
	INIT_LIST_HEAD(&m->entries);
	INIT_LIST_HEAD(&m->broadcasts);
	meridian_init_service(m);
	mutex_init(&m->mailbox_lock);
	m->ops = meridian_is_vf(pdev) ? &meridian_vf_ops : &meridian_pf_ops;
	return m;
}

static void set_function(struct meridian_devlink *devlink, struct meridian *m)
{
	mutex_lock(&devlink->lock);
	devlink->m = m;
	mutex_unlock(&devlink->lock);
}

static int start_pci(struct pci_dev *pdev)
{
	int error = check_bars(pdev);

	if (error)
		return error;
	error = pci_enable_device_mem(pdev);
	if (error)
		return error;
	error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (error)
		goto disable;
	error = pci_request_mem_regions(pdev, MERIDIAN_NAME);
	if (!error)
		return 0;
disable:
	pci_disable_device(pdev);
	return error;
}

static void stop_pci(struct pci_dev *pdev)
{
	pci_clear_master(pdev);
	pci_release_mem_regions(pdev);
	pci_disable_device(pdev);
}

/**
 * attach() - from a function on PCIe to an interface
 * @devlink: of a function that is not attached; its lock is held
 *
 * Return: 0 or a negative error, then nothing is kept.
 */
static int attach(struct meridian_devlink *devlink)
{
	struct pci_dev *pdev = devlink->pdev;
	struct meridian *m;
	int error;

	error = start_pci(pdev);
	if (error)
		return error;
	m = alloc_function(devlink);
	if (!m) {
		error = -ENOMEM;
		goto stop;
	}
	error = map_bars(m);
	if (error)
		goto unmap;
	/* What is not ours is not reset. */
	error = meridian_check_magic(m);
	if (error)
		goto unmap;
	error = reset_function(pdev);
	if (error)
		goto unmap;
	error = init_function(m);
	if (error)
		goto unmap;
	error = meridian_alloc_vectors(m, most_vectors(devlink));
	if (error)
		goto unmap;
	meridian_default_indirection(m);
	if (!meridian_is_vf(pdev))
		error = meridian_request_misc_irq(m);
	if (error)
		goto vectors;
	meridian_init_netdev(m);
	netif_carrier_off(m->netdev);
	if (!meridian_is_vf(pdev)) {
		meridian_card_join(m);
		meridian_show_box_irqs(m);
	}
	error = meridian_begin_port(m);
	if (error)
		goto leave;
	error = register_netdev(m->netdev);
	if (error)
		goto port;
	meridian_port_has_netdev(&devlink->port, m->netdev);
	if (!meridian_is_vf(pdev)) {
		meridian_enable_port(m, true);
		meridian_limit_vfs(m);
		meridian_adopt_vfs(m);
	}
	meridian_start_service(m);
	meridian_tell_errors(pdev);
	/* For what follows such an error: it is restored. */
	pci_save_state(pdev);
	set_function(devlink, m);
	netdev_info(m->netdev, "function %u, port %u of %u, %u queues\n", m->function, m->port,
		    m->ports, m->config.queues);
	return 0;

port:
	meridian_end_port(m);
leave:
	if (!meridian_is_vf(pdev)) {
		meridian_end_box_irqs(m);
		meridian_card_leave(m);
		meridian_free_misc_irq(m);
	}
vectors:
	meridian_free_vectors(m);
unmap:
	unmap_bars(m);
	free_netdev(m->netdev);
stop:
	stop_pci(pdev);
	return error;
}

/**
 * detach() - undo attach()
 * @devlink: of a function, which serves no VFs; its lock is held
 */
static void detach(struct meridian_devlink *devlink)
{
	struct pci_dev *pdev = devlink->pdev;
	struct meridian *m = devlink->m;

	if (!m)
		return;
	set_function(devlink, NULL);
	meridian_port_loses_netdev(&devlink->port);
	if (!meridian_is_vf(pdev))
		meridian_end_box_irqs(m);
	unregister_netdev(m->netdev);
	meridian_end_port(m);
	meridian_stop_service(m);
	if (meridian_is_vf(pdev)) {
		meridian_leave_pf(m);
	} else {
		meridian_clear_filter(m);
		meridian_card_leave(m);
		meridian_leave_function(m);
		meridian_enable_port(m, false);
		meridian_free_misc_irq(m);
	}
	meridian_free_vectors(m);
	unmap_bars(m);
	free_netdev(m->netdev);
	stop_pci(pdev);
}

static const struct meridian_lifecycle lifecycle = {
	.attach = attach,
	.detach = detach,
};

/* A VF asks its PF for everything, so it sleeps before its PF and wakes after it. */
static void link_to_pf(struct pci_dev *pdev, bool on)
{
	struct pci_dev *pf = pci_physfn(pdev);

	if (pf == pdev)
		return;
	if (!on)
		device_link_remove(&pdev->dev, &pf->dev);
	else if (!device_link_add(&pdev->dev, &pf->dev, DL_FLAG_STATELESS))
		dev_warn(&pdev->dev, "the VF may wake before its PF\n");
}

static int meridian_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct meridian_devlink *devlink = meridian_devlink_alloc(pdev, &lifecycle);
	int error;

	if (!devlink)
		return -ENOMEM;
	meridian_devlink_lock(devlink);
	error = attach(devlink);
	meridian_devlink_unlock(devlink);
	if (error) {
		meridian_devlink_free(devlink);
		return error;
	}
	link_to_pf(pdev, true);
	meridian_devlink_show(devlink);
	return 0;
}

static void meridian_remove(struct pci_dev *pdev)
{
	struct meridian_devlink *devlink = pci_get_drvdata(pdev);

	meridian_devlink_hide(devlink);
	link_to_pf(pdev, false);
	meridian_devlink_lock(devlink);
	/* One that was pulled is not waited for. */
	if (devlink->m && !qdma_answers(&devlink->m->qdma))
		devlink->m->qdma.gone = true;
	meridian_devlink_unlock(devlink);
	if (!meridian_is_vf(pdev))
		meridian_leave_vfs(devlink);
	meridian_devlink_lock(devlink);
	detach(devlink);
	meridian_devlink_unlock(devlink);
	meridian_devlink_free(devlink);
}

static struct pci_driver meridian_driver = {
	.name = MERIDIAN_NAME,
	.id_table = meridian_ids,
	.probe = meridian_probe,
	.remove = meridian_remove,
	.shutdown = meridian_shutdown,
	.sriov_configure = meridian_sriov_configure,
	.err_handler = &meridian_error_handlers,
	.driver.pm = &meridian_pm_ops,
};
module_pci_driver(meridian_driver);

MODULE_DESCRIPTION("Meridian SmartNIC");
MODULE_AUTHOR("Meridian maintainers");
MODULE_LICENSE("GPL");
MODULE_VERSION(MERIDIAN_VERSION);
