// SPDX-License-Identifier: GPL-2.0-only
/* VFs of a PF: how many. */
#include "meridian.h"
#include "meridian_devlink.h"
#include "meridian_hw.h"
#include "meridian_vfs.h"

#define VF_LIMIT	32	/* queues are left for so many */

/* Functions count as routing identifiers do, from the card's first PF on. */
static u32 first_function(struct meridian *m, u16 *stride)
{
	int position = pci_find_ext_capability(m->pdev, PCI_EXT_CAP_ID_SRIOV);
	u16 offset;

	pci_read_config_word(m->pdev, position + PCI_SRIOV_VF_OFFSET, &offset);
	pci_read_config_word(m->pdev, position + PCI_SRIOV_VF_STRIDE, stride);
	return m->function + offset;
}

/**
 * meridian_limit_vfs() - let sriov_totalvfs say how many VFs there can be
 * @m: a PF
 *
 * What PCIe offers is a setting of the IP and may be more than the shell was built with. Who asks
 * for more than the limit gets -ERANGE from the kernel, before this driver hears of it.
 *
 * Context: Does not sleep.
 */
void meridian_limit_vfs(struct meridian *m)
{
	int position = pci_find_ext_capability(m->pdev, PCI_EXT_CAP_ID_SRIOV);
	u16 offered, stride;
	u32 count, first;

	if (!position)
		return;
	/* A capability may offer none; then the kernel has no limit to set. */
	pci_read_config_word(m->pdev, position + PCI_SRIOV_TOTAL_VF, &offered);
	if (!offered)
		return;
	first = first_function(m, &stride);
	count = first < m->functions ? (m->functions - 1 - first) / max_t(u16, stride, 1) + 1 : 0;
	count = min3(count, (u32)offered, (u32)VF_LIMIT);
	if (pci_sriov_set_totalvfs(m->pdev, count))
		netdev_warn(m->netdev, "sriov_totalvfs stays as it is while there are VFs\n");
	else if (count < offered)
		netdev_info(m->netdev, "%u VFs at most: the card has %u functions, VFs begin at %u\n",
			    count, m->functions, first);
}

/*
 * A network namespace that ends hands its devlink instances to the first one by a reload, which a
 * PF refuses while it serves VFs: the instance would keep a namespace that is no more. So a PF that
 * is in another namespace has no VFs, and one with VFs does not go there.
 */
static bool is_at_home(struct meridian *m)
{
	return net_eq(devlink_net(priv_to_devlink(m->devlink)), &init_net);
}

static int make_vfs(struct meridian *m, int count)
{
	u16 stride;
	u32 first = first_function(m, &stride);

	if (m->vfs)
		return -EBUSY;
	if (!meridian_present(m)) {
		netdev_err(m->netdev, "there are no VFs while the card does not answer, or PCIe resets it or a sibling: try again in a minute, then try devlink dev reload\n");
		return -EBUSY;
	}
	if (count > VF_LIMIT || !m->qdma.has_mailbox || !meridian_may_sriov(m->devlink))
		return -EOPNOTSUPP;
	if (!is_at_home(m)) {
		netdev_err(m->netdev,
			   "there are no VFs while the PF's devlink is in another network namespace: bring it back by devlink dev reload ... netns 1\n");
		return -EOPNOTSUPP;
	}
	return meridian_make_vfs(m, first, stride, count, meridian_may_messages(m->devlink));
}

static void tell_vfs(struct meridian *m)
{
	netdev_info(m->netdev, "%d VFs from function %u on\n", m->vfs, m->vf[0].function);
}

/**
 * meridian_adopt_vfs() - serve VFs that a driver before has left in virtual machines
 * @m: a PF that is attached; its devlink's lock is held
 *
 * Context: May sleep.
 */
void meridian_adopt_vfs(struct meridian *m)
{
	int count = pci_num_vf(m->pdev);
	int error = count ? make_vfs(m, count) : 0;

	if (error)
		netdev_err(m->netdev, "the VFs that are there are not served: %d\n", error);
	else if (count)
		tell_vfs(m);
}

/*
 * PCI's core adds and removes VFs under the lock of its buses. It holds that, too, when it tells of
 * an error, and the function then takes its devlink's lock. So the latter is let go meanwhile, and
 * is in no such circle. The device's lock, which all callers hold, keeps errors, resets and removal
 * away, and a reload is refused as long as the PF serves VFs.
 */
static int begin_sriov(struct meridian_devlink *devlink, int count)
{
	struct meridian *m;
	int error;

	meridian_devlink_lock(devlink);
	m = devlink->m;
	error = m ? make_vfs(m, count) : -ENODEV;
	meridian_devlink_unlock(devlink);
	if (error)
		return error;
	/* VFs of this very system say hello before this returns. */
	error = pci_num_vf(m->pdev) ? 0 : pci_enable_sriov(m->pdev, count);
	meridian_devlink_lock(devlink);
	if (error)
		meridian_end_vfs(m);
	else
		tell_vfs(m);
	meridian_devlink_unlock(devlink);
	return error ?: count;
}

/* VFs that virtual machines have cannot be taken from these. */
static bool are_assigned(struct meridian *m)
{
	return m && m->vfs && pci_vfs_assigned(m->pdev);
}

static void end_vfs(struct meridian_devlink *devlink)
{
	meridian_devlink_lock(devlink);
	if (devlink->m)
		meridian_end_vfs(devlink->m);
	meridian_devlink_unlock(devlink);
}

static int end_sriov(struct meridian_devlink *devlink)
{
	bool is_busy;

	meridian_devlink_lock(devlink);
	is_busy = are_assigned(devlink->m);
	if (is_busy)
		netdev_warn(devlink->m->netdev, "VFs are in use by virtual machines\n");
	meridian_devlink_unlock(devlink);
	if (is_busy)
		return -EBUSY;
	pci_disable_sriov(devlink->pdev);
	end_vfs(devlink);
	return 0;
}

/**
 * meridian_leave_vfs() - the driver goes
 * @devlink: of the PF, which serves no VFs any more; the device's lock is held, devlink's is not
 *
 * VFs that virtual machines have stay, without queues.
 *
 * Context: May sleep.
 */
void meridian_leave_vfs(struct meridian_devlink *devlink)
{
	if (end_sriov(devlink))
		end_vfs(devlink);
}

/**
 * meridian_sriov_configure() - so many VFs
 * @pdev: the PF; its device's lock is held, its devlink's is not
 * @count: 0: none
 *
 * Context: May sleep.
 * Return: @count; -EBUSY if there are VFs already, virtual machines have some, or the card is in a
 * reset; another negative error.
 */
int meridian_sriov_configure(struct pci_dev *pdev, int count)
{
	struct meridian_devlink *devlink = pci_get_drvdata(pdev);

	return count ? begin_sriov(devlink, count) : end_sriov(devlink);
}
