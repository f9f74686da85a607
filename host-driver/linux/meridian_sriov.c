// SPDX-License-Identifier: GPL-2.0-only
/* VFs of a PF: how many. */
#include <linux/etherdevice.h>

#include "compat.h"
#include "meridian.h"
#include "meridian_devlink.h"

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

static int make_vfs(struct meridian *m, int count)
{
	struct meridian_vf *vf = kcalloc(count, sizeof(*vf), GFP_KERNEL);
	u16 stride;
	u32 first = first_function(m, &stride);
	int i;

	if (!vf)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		vf[i].function = first + i * stride;
		eth_random_addr(vf[i].address);
		INIT_LIST_HEAD(&vf[i].entries);
	}
	mutex_lock(&m->card->lock);
	m->vf = vf;
	m->vfs = count;
	m->message_us = USEC_PER_SEC / meridian_may_messages(m->devlink);
	for (i = 0; i < count; i++) {
		meridian_write_vf(m, &vf[i]);
		meridian_write_vf_policy(m, &vf[i]);
	}
	qdma_mailbox_clear(&m->qdma);
	qdma_mailbox_interrupt(&m->qdma, 0, true);
	mutex_unlock(&m->card->lock);
	return 0;
}

static void end_vfs(struct meridian *m)
{
	unsigned int i;

	mutex_lock(&m->card->lock);
	qdma_mailbox_interrupt(&m->qdma, 0, false);
	for (i = 0; i < m->vfs; i++) {
		struct meridian_vf *vf = &m->vf[i];

		vf->min_rate = 0;
		vf->max_rate = 0;
		vf->link_state = 0;
		vf->vlan = 0;
		meridian_drop_vf(m, vf);
		meridian_write_vf_policy(m, vf);
	}
	meridian_sync_broadcasts(m);
	kfree(m->vf);
	m->vf = NULL;
	m->vfs = 0;
	mutex_unlock(&m->card->lock);
}

static int start(struct meridian *m, int count)
{
	u16 stride;
	u32 first = first_function(m, &stride);
	int error;

	if (m->vfs)
		return -EBUSY;
	if (count > VF_LIMIT || !m->qdma.has_mailbox || !meridian_may_sriov(m->devlink))
		return -EOPNOTSUPP;
	/* What PCIe offers is a setting of the IP and may be more than the shell was built with. */
	if (first + (count - 1) * stride >= m->functions) {
		netdev_err(m->netdev, "no room for %d VFs: the card has %u functions, VFs begin at %u\n",
			   count, m->functions, first);
		return -ENOSPC;
	}
	error = make_vfs(m, count);
	if (error)
		return error;
	/* VFs of this very system say hello before this returns. */
	error = pci_enable_sriov(m->pdev, count);
	if (error) {
		end_vfs(m);
		return error;
	}
	netdev_info(m->netdev, "%d VFs from function %u on\n", count, m->vf[0].function);
	return count;
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
	end_vfs(m);
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
