// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets that others do, errors of PCIe, sleep: the function lets go of the card, which may lose
 * all that it knows, and brings everything back when the card is there again.
 */
#include <linux/rtnetlink.h>

#include "compat_netdev.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_configure.h"
#include "meridian_devlink.h"
#include "meridian_function.h"
#include "meridian_hw.h"
#include "meridian_selftest.h"
#include "meridian_pf_filter.h"
#include "meridian_vfs.h"

/* When it returns, nobody who looks at the card by himself is in the middle of it. */
static void announce_reset(struct meridian *m)
{
	mutex_lock(&m->devlink->lock);
	m->devlink->reset_at = jiffies;
	set_bit(MERIDIAN_FLAG_RESET, &m->flags);
	/* Until give_up(). */
	clear_bit(MERIDIAN_FLAG_GONE, &m->flags);
	mutex_unlock(&m->devlink->lock);
	if (!meridian_is_vf(m->pdev))
		synchronize_irq(pci_irq_vector(m->pdev, 0));
}

/**
 * meridian_before_reset() - let go of all that a reset takes
 * @m: the function; not under RTNL
 *
 * Of a PF its VFs lose their queues, too, and begin anew when they see it. The card's filter is
 * left empty: other PFs may have entries there while this one does not know whether it has.
 *
 * Context: May sleep.
 */
void meridian_before_reset(struct meridian *m)
{
	if (test_bit(MERIDIAN_FLAG_RESET, &m->flags)) {
		/* The one before has not ended, so the time for a reload counts anew. */
		mutex_lock(&m->devlink->lock);
		m->devlink->reset_at = jiffies;
		mutex_unlock(&m->devlink->lock);
		return;
	}
	meridian_stop_service(m);
	rtnl_lock();
	meridian_lock(m->netdev);
	netif_device_detach(m->netdev);
	if (test_bit(MERIDIAN_FLAG_UP, &m->flags))
		meridian_down(m);
	meridian_unlock(m->netdev);
	rtnl_unlock();
	announce_reset(m);
	if (meridian_is_vf(m->pdev))
		return;
	meridian_suspend_vfs(m);
	meridian_clear_filter(m);
}

static int restore(struct meridian *m)
{
	int error;

	if (!qdma_answers(&m->qdma))
		return -ENODEV;
	if (meridian_is_vf(m->pdev)) {
		/* Queues that may run end before. */
		if (!test_bit(MERIDIAN_FLAG_FENCED, &m->flags))
			pci_set_master(m->pdev);
		return 0;
	}
	error = meridian_start_function(m);
	if (error)
		return error;
	meridian_recover_port(m);
	meridian_open_port(m);
	mutex_lock(&m->card->lock);
	meridian_restore_pf(m);
	mutex_unlock(&m->card->lock);
	meridian_resume_vfs(m);
	return 0;
}

static void give_up(struct meridian *m)
{
	netdev_err(m->netdev, "the card does not come back from a reset\n");
	m->qdma.gone = true;
	set_bit(MERIDIAN_FLAG_GONE, &m->flags);
}

/**
 * meridian_after_reset() - go on as before meridian_before_reset()
 * @m: the function; not under RTNL
 *
 * Context: May sleep.
 */
void meridian_after_reset(struct meridian *m)
{
	if (!test_bit(MERIDIAN_FLAG_RESET, &m->flags))
		return;
	qdma_watch_anew(&m->qdma);
	clear_bit(MERIDIAN_FLAG_GONE, &m->flags);
	if (restore(m))
		give_up(m);
	clear_bit(MERIDIAN_FLAG_RESET, &m->flags);
	rtnl_lock();
	meridian_lock(m->netdev);
	if (meridian_present(m)) {
		/* Restoring it has used it up. */
		pci_save_state(m->pdev);
		if (netif_running(m->netdev))
			meridian_up_again(m);
		netif_device_attach(m->netdev);
	}
	meridian_unlock(m->netdev);
	rtnl_unlock();
	meridian_start_service(m);
}

/* The recovery has failed, so there is no end of it to come: a reload is not to wait for one. */
static void lose(struct meridian_devlink *devlink)
{
	devlink->is_due = false;
	if (devlink->m)
		give_up(devlink->m);
}

/*
 * Errors of PCIe. Of one that is not fatal the link goes on, but what was under way may be lost.
 * Kernels from 6.18 on come a second time if the recovery has failed, with perm_failure, also if it
 * was a sibling that could not take part; the function may answer then, and a reload tries it.
 */
static pci_ers_result_t error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct meridian_devlink *devlink = pci_get_drvdata(pdev);
	pci_ers_result_t result = PCI_ERS_RESULT_NEED_RESET;
	struct meridian *m;

	if (state == pci_channel_io_perm_failure)
		dev_warn(&pdev->dev, "PCIe has not recovered from an error\n");
	else
		dev_warn(&pdev->dev, "PCIe has told of an error%s\n",
			 state == pci_channel_io_normal ? "" : ", and the function is cut off");
	meridian_devlink_lock(devlink);
	m = devlink->m;
	/* Who is cut off waits for nobody, nor does a VF, whose PF hears of it before. */
	if (m && (state != pci_channel_io_normal || meridian_is_vf(pdev)))
		m->qdma.gone = true;
	if (m)
		meridian_before_reset(m);
	if (state == pci_channel_io_perm_failure)
		result = PCI_ERS_RESULT_DISCONNECT;
	else if (state == pci_channel_io_normal && m && qdma_answers(&m->qdma))
		result = PCI_ERS_RESULT_CAN_RECOVER;
	if (result == PCI_ERS_RESULT_DISCONNECT)
		lose(devlink);
	meridian_devlink_unlock(devlink);
	return result;
}

static bool answers(struct pci_dev *pdev)
{
	struct meridian_devlink *devlink = pci_get_drvdata(pdev);
	bool is_there;

	meridian_devlink_lock(devlink);
	is_there = !devlink->m || qdma_answers(&devlink->m->qdma);
	meridian_devlink_unlock(devlink);
	return is_there;
}

static pci_ers_result_t mmio_enabled(struct pci_dev *pdev)
{
	return answers(pdev) ? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_NEED_RESET;
}

/* Access to memory comes back when the queues have ended. */
static pci_ers_result_t slot_reset(struct pci_dev *pdev)
{
	struct meridian_devlink *devlink = pci_get_drvdata(pdev);

	pci_restore_state(pdev);
	pci_save_state(pdev);
	meridian_devlink_lock(devlink);
	/* A function that a reload has begun anew meanwhile works already. */
	if (!devlink->m || test_bit(MERIDIAN_FLAG_RESET, &devlink->m->flags))
		pci_clear_master(pdev);
	meridian_devlink_unlock(devlink);
	if (answers(pdev))
		return PCI_ERS_RESULT_RECOVERED;
	meridian_devlink_lock(devlink);
	lose(devlink);
	meridian_devlink_unlock(devlink);
	return PCI_ERS_RESULT_DISCONNECT;
}

static void before(struct pci_dev *pdev)
{
	struct meridian_devlink *devlink = pci_get_drvdata(pdev);

	meridian_devlink_lock(devlink);
	if (devlink->m)
		meridian_before_reset(devlink->m);
	meridian_devlink_unlock(devlink);
}

static void after(struct pci_dev *pdev)
{
	struct meridian_devlink *devlink = pci_get_drvdata(pdev);

	meridian_devlink_lock(devlink);
	if (devlink->m)
		meridian_after_reset(devlink->m);
	else
		meridian_end_reload(devlink);
	meridian_devlink_unlock(devlink);
}

const struct pci_error_handlers meridian_error_handlers = {
	.error_detected = error_detected,
	.mmio_enabled = mmio_enabled,
	.slot_reset = slot_reset,
	.resume = after,
	/* Somebody outside the driver resets the function, which is down meanwhile. */
	.reset_prepare = before,
	.reset_done = after,
};

/* PCI's core keeps configuration space, and has the function sleep. */
static int __maybe_unused suspend(struct device *dev)
{
	before(to_pci_dev(dev));
	return 0;
}

static int __maybe_unused resume(struct device *dev)
{
	after(to_pci_dev(dev));
	return 0;
}

const struct dev_pm_ops meridian_pm_ops = {
	SET_SYSTEM_SLEEP_PM_OPS(suspend, resume)
};

/**
 * meridian_shutdown() - leave the function to whatever is started next, which may be by kexec
 * @pdev: the function
 *
 * Nothing runs on, and the card does nothing any more, nor do VFs whose drivers are others.
 *
 * Context: May sleep.
 */
void meridian_shutdown(struct pci_dev *pdev)
{
	/* A report would have the queues start again. */
	meridian_health_hide(pci_get_drvdata(pdev));
	before(pdev);
	pci_clear_master(pdev);
}
