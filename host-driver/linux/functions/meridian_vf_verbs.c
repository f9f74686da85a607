// SPDX-License-Identifier: GPL-2.0-only
/* What the administrator says of a VF, and sees of it. */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <net/netlink.h>

#include "meridian.h"
#include "meridian_card.h"
#include "meridian_hw.h"
#include "meridian_vfs.h"

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
	u8 other[ETH_ALEN];
	struct qdma_vf *vf;
	int error = 0;

	if (!lock_vf(m, index))
		return -EINVAL;
	vf = &m->vf_service.vf[index];
	if (is_zero_ether_addr(address)) {
		eth_random_addr(other);
		qdma_free_address(&m->vf_service, vf, other);
	} else if (!is_valid_ether_addr(address)) {
		error = -EINVAL;
	} else if (qdma_give_address(&m->vf_service, vf, address)) {
		netdev_err(netdev, "VF %d: %pM is somebody else's, or the card's filter is full\n",
			   index, address);
		error = -EADDRINUSE;
	} else {
		netdev_info(netdev, "VF %d has address %pM: reload its driver\n", index, address);
	}
	unlock_vf(m);
	return error;
}

int meridian_set_vf_trust(struct net_device *netdev, int index, bool is_trusted)
{
	struct meridian *m = netdev_priv(netdev);

	if (!lock_vf(m, index))
		return -EINVAL;
	qdma_trust_vf(&m->vf_service, &m->vf_service.vf[index], is_trusted);
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
	meridian_write_vf_switches(m, vf);
	unlock_vf(m);
	return 0;
}

/* The sum of the minimum rates of the other VFs, in Mb/s. */
static u32 promised(const struct meridian *m, const struct meridian_vf *but)
{
	u32 sum = 0;
	int i;

	for (i = 0; i < m->vfs; i++)
		sum += &m->vf[i] == but ? 0 : m->vf[i].min_rate;
	return sum;
}

int meridian_set_vf_rate(struct net_device *netdev, int index, int min, int max)
{
	struct meridian *m = netdev_priv(netdev);
	u32 line = 1000 * m->gigabits;
	struct meridian_vf *vf;
	int error = -EINVAL;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PACING_MASK))
		return -EOPNOTSUPP;
	vf = lock_vf(m, index);
	if (!vf)
		return -EINVAL;
	if (min < 0 || max < 0 || (max && min > max)) {
		netdev_err(netdev, "VF %d: a minimum of %d Mb/s and a maximum of %d do not agree\n",
			   index, min, max);
	} else if (line && (max > line || min > line)) {
		netdev_err(netdev, "VF %d: the port has %u Mb/s\n", index, line);
	} else if (line && promised(m, vf) + min > line) {
		netdev_err(netdev,
			   "VF %d: the port has %u Mb/s, of which other VFs have %u guaranteed\n",
			   index, line, promised(m, vf));
	} else {
		vf->min_rate = min;
		vf->max_rate = max;
		meridian_write_vf_policy(m, vf);
		error = 0;
	}
	unlock_vf(m);
	return error;
}

int meridian_set_vf_link_state(struct net_device *netdev, int index, int state)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_vf *vf;

	static_assert(IFLA_VF_LINK_STATE_AUTO == 0 && IFLA_VF_LINK_STATE_ENABLE == 1 &&
		      IFLA_VF_LINK_STATE_DISABLE == 2);
	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_LINK_STATE_MASK))
		return -EOPNOTSUPP;
	if (state < IFLA_VF_LINK_STATE_AUTO || state > IFLA_VF_LINK_STATE_DISABLE)
		return -EINVAL;
	vf = lock_vf(m, index);
	if (!vf)
		return -EINVAL;
	vf->link_state = state;
	meridian_write_vf_policy(m, vf);
	unlock_vf(m);
	return 0;
}

/*
 * Its places where it was are free until it is where it is to be: it can always go back. A VLAN
 * that nobody enters gets no places for broadcasts.
 */
static int move_vf(struct meridian *m, struct meridian_vf *vf, u16 vlan, bool is_back)
{
	int error, missed;

	vf->vlan = vlan;
	meridian_write_vf_switches(m, vf);
	error = meridian_move_entries(m, vf, is_back);
	if (error && !is_back)
		return error;
	missed = meridian_sync_broadcasts(m);
	return error ? error : missed;
}

int meridian_set_vf_vlan(struct net_device *netdev, int index, u16 vid, u8 qos, __be16 protocol)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_vf *vf;
	int error, back;
	u16 before;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VLAN_INSERT_MASK))
		return -EOPNOTSUPP;
	if (protocol != htons(ETH_P_8021Q))
		return -EPROTONOSUPPORT;
	if (vid >= VLAN_N_VID - 1 || qos > 7 || (qos && !vid))
		return -EINVAL;
	vf = lock_vf(m, index);
	if (!vf)
		return -EINVAL;
	before = vf->vlan;
	error = move_vf(m, vf, vid | qos << VLAN_PRIO_SHIFT, false);
	if (error) {
		netdev_err(netdev, "VF %d: the card's filter does not take its addresses: %d\n",
			   index, error);
		back = move_vf(m, vf, before, true);
		if (back)
			netdev_err(netdev,
				   "VF %d: it is in the old VLAN, but lacks filter entries: %d\n",
				   index, back);
	}
	unlock_vf(m);
	return error;
}

/* Switching inside the card: VEB, on; or VEPA, all goes to the switch outside. */

int meridian_set_bridge(struct net_device *netdev, struct nlmsghdr *message, u16 flags,
			struct netlink_ext_ack *extack)
{
	struct meridian *m = netdev_priv(netdev);
	struct nlattr *spec, *attribute;
	int rest;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VEB_MASK))
		return -EOPNOTSUPP;
	spec = nlmsg_find_attr(message, sizeof(struct ifinfomsg), IFLA_AF_SPEC);
	if (!spec)
		return -EINVAL;
	nla_for_each_nested(attribute, spec, rest) {
		u16 mode;

		if (nla_type(attribute) != IFLA_BRIDGE_MODE)
			continue;
		if (nla_len(attribute) < sizeof(mode))
			return -EINVAL;
		mode = nla_get_u16(attribute);
		if (mode != BRIDGE_MODE_VEB && mode != BRIDGE_MODE_VEPA) {
			NL_SET_ERR_MSG_MOD(extack, "choose veb or vepa");
			return -EOPNOTSUPP;
		}
		meridian_set_vepa(m, mode == BRIDGE_MODE_VEPA);
		return 0;
	}
	return -EINVAL;
}

int meridian_get_bridge(struct sk_buff *skb, u32 pid, u32 seq, struct net_device *netdev,
			u32 mask, int flags)
{
	struct meridian *m = netdev_priv(netdev);
	u16 mode = meridian_switching(m) ? BRIDGE_MODE_VEB : BRIDGE_MODE_VEPA;

	return ndo_dflt_bridge_getlink(skb, pid, seq, netdev, mode, 0, 0, flags, mask, NULL);
}

int meridian_get_vf_config(struct net_device *netdev, int index, struct ifla_vf_info *info)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_vf *vf = lock_vf(m, index);

	if (!vf)
		return -EINVAL;
	info->vf = index;
	ether_addr_copy(info->mac, m->vf_service.vf[index].own);
	info->spoofchk = !vf->may_spoof;
	info->trusted = m->vf_service.vf[index].is_trusted;
	info->linkstate = vf->link_state;
	info->max_tx_rate = vf->max_rate;
	info->min_tx_rate = vf->min_rate;
	info->vlan = vf->vlan & VLAN_VID_MASK;
	info->qos = vf->vlan >> VLAN_PRIO_SHIFT;
	info->vlan_proto = htons(ETH_P_8021Q);
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
	stats->tx_packets = meridian_read_counter(m, base + MERIDIAN_FUNCTION_COUNTER_TX_SENT) +
			    meridian_read_counter(m, base + MERIDIAN_FUNCTION_COUNTER_TX_SWITCHED) +
			    meridian_read_counter(m, base + MERIDIAN_FUNCTION_COUNTER_TX_TO_PS);
	stats->tx_bytes = meridian_read_counter(m, base + MERIDIAN_FUNCTION_COUNTER_TX_BYTES);
	stats->rx_dropped = meridian_read_counter(m,
						  base + MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL);
	stats->tx_dropped = meridian_read_counter(m, base + MERIDIAN_FUNCTION_COUNTER_TX_SPOOF) +
			    meridian_read_counter(m, base +
						     MERIDIAN_FUNCTION_COUNTER_TX_CONTROL_FRAME);
	unlock_vf(m);
	return 0;
}
