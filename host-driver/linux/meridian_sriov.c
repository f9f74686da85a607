// SPDX-License-Identifier: GPL-2.0-only
/* VFs of a PF: how many, and what the administrator says of each. */
#include <linux/etherdevice.h>
#include <linux/if_link.h>

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
	for (i = 0; i < count; i++)
		meridian_write_vf(m, &vf[i]);
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
	for (i = 0; i < m->vfs; i++)
		meridian_drop_vf(m, &m->vf[i]);
	kfree(m->vf);
	m->vf = NULL;
	m->vfs = 0;
	mutex_unlock(&m->card->lock);
}

static int start(struct meridian *m, int count)
{
	int error;

	if (m->vfs)
		return -EBUSY;
	if (count > VF_LIMIT || !m->qdma.has_mailbox || !meridian_may_sriov(m->devlink))
		return -EOPNOTSUPP;
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

static struct meridian_vf *lock_vf(struct meridian *m, int index)
{
	mutex_lock(&m->card->lock);
	if (index >= 0 && index < m->vfs)
		return &m->vf[index];
	mutex_unlock(&m->card->lock);
	return NULL;
}

static void unlock_vf(struct meridian *m)
{
	mutex_unlock(&m->card->lock);
}

int meridian_set_vf_mac(struct net_device *netdev, int index, u8 *address)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_vf *vf = lock_vf(m, index);
	int error = 0;

	if (!vf)
		return -EINVAL;
	if (is_zero_ether_addr(address)) {
		vf->is_fixed = false;
	} else if (!is_valid_ether_addr(address)) {
		error = -EINVAL;
	} else if (vf->is_known && !ether_addr_equal(address, vf->address)) {
		error = meridian_add_entry(m, &vf->entries, vf->function, address);
		if (!error)
			meridian_remove_entry(m, &vf->entries, vf->function, vf->address);
	}
	if (!error && !is_zero_ether_addr(address)) {
		ether_addr_copy(vf->address, address);
		vf->is_fixed = true;
		netdev_info(netdev, "VF %d has address %pM: reload its driver\n", index, address);
	}
	unlock_vf(m);
	return error;
}

int meridian_set_vf_trust(struct net_device *netdev, int index, bool is_trusted)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_vf *vf = lock_vf(m, index);

	if (!vf)
		return -EINVAL;
	vf->is_trusted = is_trusted;
	if (!is_trusted)
		vf->flags = 0;
	meridian_write_vf(m, vf);
	unlock_vf(m);
	return 0;
}

int meridian_set_vf_spoofchk(struct net_device *netdev, int index, bool is_checked)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_vf *vf = lock_vf(m, index);

	if (!vf)
		return -EINVAL;
	vf->may_spoof = !is_checked;
	meridian_write_vf(m, vf);
	unlock_vf(m);
	return 0;
}

int meridian_get_vf_config(struct net_device *netdev, int index, struct ifla_vf_info *info)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_vf *vf = lock_vf(m, index);

	if (!vf)
		return -EINVAL;
	info->vf = index;
	ether_addr_copy(info->mac, vf->address);
	info->spoofchk = !vf->may_spoof;
	info->trusted = vf->is_trusted;
	info->linkstate = IFLA_VF_LINK_STATE_AUTO;
	unlock_vf(m);
	return 0;
}

int meridian_get_vf_stats(struct net_device *netdev, int index, struct ifla_vf_stats *stats)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_vf *vf = lock_vf(m, index);
	u32 base;

	if (!vf)
		return -EINVAL;
	base = MERIDIAN_FUNCTION_BASE(vf->function);
	stats->rx_packets = meridian_read_counter(m, base + MERIDIAN_FUNCTION_COUNTER_RX_DELIVERED);
	stats->rx_bytes = meridian_read_counter(m, base + MERIDIAN_FUNCTION_COUNTER_RX_BYTES);
	stats->tx_packets = meridian_read_counter(m, base + MERIDIAN_FUNCTION_COUNTER_TX_SENT);
	stats->tx_bytes = meridian_read_counter(m, base + MERIDIAN_FUNCTION_COUNTER_TX_BYTES);
	stats->rx_dropped = meridian_read_counter(m,
						  base + MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL);
	stats->tx_dropped = meridian_read_counter(m, base + MERIDIAN_FUNCTION_COUNTER_TX_SPOOF);
	unlock_vf(m);
	return 0;
}
