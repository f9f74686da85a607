// SPDX-License-Identifier: GPL-2.0-only
/* VFs of a PF: how many. */
#include "meridian.h"
#include "meridian_devlink.h"
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

static int start(struct meridian *m, int count)
{
	bool are_there = pci_num_vf(m->pdev);
	u16 stride;
	u32 first = first_function(m, &stride);
	int error;

	if (m->vfs)
		return -EBUSY;
	if (count > VF_LIMIT || !m->qdma.has_mailbox || !meridian_may_sriov(m->devlink))
		return -EOPNOTSUPP;
	error = meridian_make_vfs(m, first, stride, count, meridian_may_messages(m->devlink));
	if (error)
		return error;
	/* VFs of this very system say hello before this returns. */
	error = are_there ? 0 : pci_enable_sriov(m->pdev, count);
	if (error) {
		meridian_end_vfs(m);
		return error;
	}
	netdev_info(m->netdev, "%d VFs from function %u on\n", count, m->vf[0].function);
	return count;
}

/**
 * meridian_adopt_vfs() - serve VFs that a driver before has left in virtual machines
 * @m: a PF that is attached
 */
void meridian_adopt_vfs(struct meridian *m)
{
	int count = pci_num_vf(m->pdev);
	int error = count ? start(m, count) : 0;

	if (error < 0)
		netdev_err(m->netdev, "the VFs that are there are not served: %d\n", error);
}

/**
 * meridian_leave_vfs() - the driver goes
 * @m: the PF, which serves no VFs any more
 *
 * VFs that virtual machines have cannot be taken from these: they stay, without queues.
 */
void meridian_leave_vfs(struct meridian *m)
{
	if (meridian_end_sriov(m))
		meridian_end_vfs(m);
}

/**
 * meridian_end_sriov() - no VFs any more
 * @m: the PF; its devlink's lock is held
 *
 * Return: 0; -EBUSY if virtual machines have some.
 */
int meridian_end_sriov(struct meridian *m)
{
	if (m->vfs && pci_vfs_assigned(m->pdev)) {
		netdev_warn(m->netdev, "VFs are in use by virtual machines\n");
		return -EBUSY;
	}
	pci_disable_sriov(m->pdev);
	meridian_end_vfs(m);
	return 0;
}

/**
 * meridian_sriov_configure() - so many VFs
 * @m: the PF; its devlink's lock is held
 * @count: 0: none
 *
 * Return: @count or a negative error.
 */
int meridian_sriov_configure(struct meridian *m, int count)
{
	return count ? start(m, count) : meridian_end_sriov(m);
}
