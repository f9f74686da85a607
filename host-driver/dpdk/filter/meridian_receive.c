/* SPDX-License-Identifier: BSD-3-Clause */
/* What ethdev says of the addresses and VLANs that a port receives. */
#include "meridian.h"

/* ethdev has its lists changed before or after it calls; the filter follows them. */
static int
sync_filter(struct meridian *m)
{
	return m->is_started ? m->ops->sync_filter(m) : 0;
}

static int
set_flag(struct rte_eth_dev *dev, bool is_promiscuous, bool on)
{
	struct meridian *m = meridian_of(dev);
	bool promiscuous = dev->data->promiscuous, all_multicast = dev->data->all_multicast;
	int error;

	/* ethdev writes its own flag when this has returned. A VF's PF has its word at once. */
	if (is_promiscuous)
		dev->data->promiscuous = on;
	else
		dev->data->all_multicast = on;
	error = m->qdma.is_vf ? meridian_ask_flags(m) : sync_filter(m);
	dev->data->promiscuous = promiscuous;
	dev->data->all_multicast = all_multicast;
	return error;
}

int
meridian_promiscuous_on(struct rte_eth_dev *dev)
{
	return set_flag(dev, true, true);
}

int
meridian_promiscuous_off(struct rte_eth_dev *dev)
{
	return set_flag(dev, true, false);
}

int
meridian_all_multicast_on(struct rte_eth_dev *dev)
{
	return set_flag(dev, false, true);
}

int
meridian_all_multicast_off(struct rte_eth_dev *dev)
{
	return set_flag(dev, false, false);
}

/* Calls sync with ethdev's list as it will be. Whose a VF's address is, its PF says. */
static int
replace(struct rte_eth_dev *dev, uint32_t index, const struct rte_ether_addr *address)
{
	struct rte_ether_addr *place = &dev->data->mac_addrs[index], before = *place;
	struct meridian *m = meridian_of(dev);
	int error = m->qdma.is_vf ? 0 : meridian_own(m, address);

	if (error)
		return error;
	*place = *address;
	error = sync_filter(m);
	*place = before;
	if (error && !m->qdma.is_vf)
		meridian_disown(m);
	return error;
}

int
meridian_mac_set(struct rte_eth_dev *dev, struct rte_ether_addr *address)
{
	if (meridian_of(dev)->qdma.is_vf)
		return meridian_set_own_address(meridian_of(dev), address);
	return replace(dev, 0, address);
}

int
meridian_mac_new(struct rte_eth_dev *dev, struct rte_ether_addr *address, uint32_t index,
		 uint32_t pool)
{
	if (pool)
		return -EINVAL;
	return replace(dev, index, address);
}

void
meridian_mac_gone(struct rte_eth_dev *dev, uint32_t index)
{
	static const struct rte_ether_addr none;

	replace(dev, index, &none);
}

int
meridian_multicast_set(struct rte_eth_dev *dev, struct rte_ether_addr *list, uint32_t count)
{
	struct rte_ether_addr before[MERIDIAN_MULTICAST];
	struct meridian *m = meridian_of(dev);
	uint32_t had = m->multicasts, i;
	int error;

	if (count > MERIDIAN_MULTICAST)
		return -ENOSPC;
	for (i = 0; i < count; i++) {
		if (!rte_is_multicast_ether_addr(&list[i]))
			return -EINVAL;
	}
	memcpy(before, m->multicast, sizeof(before));
	if (count)
		memcpy(m->multicast, list, count * sizeof(*list));
	m->multicasts = count;
	error = sync_filter(m);
	if (!error)
		return 0;
	memcpy(m->multicast, before, sizeof(before));
	m->multicasts = had;
	sync_filter(m);
	return error;
}

int
meridian_vlan_filter(struct rte_eth_dev *dev, uint16_t vid, int on)
{
	struct meridian *m = meridian_of(dev);
	uint64_t bit = RTE_BIT64(vid % 64);

	if (on)
		m->vlans[vid / 64] |= bit;
	else
		m->vlans[vid / 64] &= ~bit;
	return sync_filter(m);
}

int
meridian_vlan_offload(struct rte_eth_dev *dev, int mask)
{
	uint64_t offloads = dev->data->dev_conf.rxmode.offloads;
	struct meridian *m = meridian_of(dev);
	int error = 0;

	if (mask & RTE_ETH_VLAN_STRIP_MASK &&
	    meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_MASK))
		error = m->ops->set_strip(m, (offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0);
	if (!error && mask & RTE_ETH_VLAN_FILTER_MASK)
		error = sync_filter(m);
	return error;
}
